#include "harness/hakbench/call_times.hpp"

#include <dlfcn.h>

namespace hakbench {

namespace {

constexpr double kTail = 0.999;

struct Quantile {
  std::string_view name;
  double share;
};
constexpr Quantile kQuantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99_9", kTail}};

void write_times(Text& text, const Histogram& times, double ns_per_tick,
                 std::span<const Quantile> quantiles) {
  for (const Quantile& quantile : quantiles) {
    text.quoted(quantile.name) << ": ";
    text.fixed(times.quantile(quantile.share) * ns_per_tick, 2) << ", ";
  }
  text << "\"max\": ";
  text.fixed(static_cast<double>(times.max()) * ns_per_tick, 2)
      << ", \"samples\": " << times.samples();
}

}  // namespace

Path path_between(const PathCounts& before, const PathCounts& after) {
  if (after.front != before.front) return Path::thread;
  if (after.purges != before.purges) return Path::purge;
  if (after.system_calls != before.system_calls) return Path::system;
  if (after.slabs != before.slabs) return Path::slab;
  if (after.remote != before.remote) return Path::remote;
  return after.refills != before.refills ? Path::refill : Path::fast;
}

PathReader find_path_reader() {
  return reinterpret_cast<PathReader>(::dlsym(RTLD_DEFAULT, "hakmem_thread_paths"));
}

void CallTimes::add(const TimedCall& call) {
  all_.add(call.ticks);
  by_path_[static_cast<unsigned>(call.path)].add(call.ticks);
  keep(call);
}

void CallTimes::add(const CallTimes& other) {
  all_.add(other.all_);
  for (unsigned i = 0; i < kPaths; ++i) by_path_[i].add(other.by_path_[i]);
  for (const TimedCall& call : other.slowest()) keep(call);
}

void CallTimes::clear() {
  all_.clear();
  for (Histogram& times : by_path_) times.clear();
  kept_ = 0;
}

void CallTimes::keep(const TimedCall& call) {
  if (kept_ == kSlowest && call.ticks <= slowest_[kSlowest - 1].ticks) return;
  unsigned at = kept_ < kSlowest ? kept_++ : kSlowest - 1;
  for (; at > 0 && slowest_[at - 1].ticks < call.ticks; --at) slowest_[at] = slowest_[at - 1];
  slowest_[at] = call;
}

void CallTimes::write(Text& text, double ns_per_tick, bool has_paths) const {
  text << "{";
  write_times(text, all_, ns_per_tick, kQuantiles);
  text << ", \"paths\": ";
  if (has_paths) {
    write_paths(text, ns_per_tick);
  } else {
    text << "null";
  }
  text << ", \"slowest\": ";
  write_slowest(text, ns_per_tick, has_paths);
  text << "}";
}

/// Only paths that some call took.
void CallTimes::write_paths(Text& text, double ns_per_tick) const {
  const std::size_t tail = all_.bucket_at(kTail);
  std::string_view comma = "{";
  for (unsigned i = 0; i < kPaths; ++i) {
    const Histogram& times = by_path_[i];
    if (times.samples() == 0) continue;
    text << comma;
    text.quoted(kPathNames[i]) << ": {";
    write_times(text, times, ns_per_tick, std::span(kQuantiles).first(2));
    text << ", \"total\": ";
    text.fixed(static_cast<double>(times.total()) * ns_per_tick, 2)
        << ", \"beyond_p99_9\": " << times.samples_above(tail) << "}";
    comma = ", ";
  }
  text << (comma == "{" ? "{}" : "}");
}

void CallTimes::write_slowest(Text& text, double ns_per_tick, bool has_paths) const {
  text << "[";
  std::string_view comma;
  for (const TimedCall& call : slowest()) {
    text << comma << "{\"ns\": ";
    text.fixed(static_cast<double>(call.ticks) * ns_per_tick, 2) << ", \"call\": ";
    text.quoted(call.name) << ", \"size\": " << std::uint64_t{call.size} << ", \"path\": ";
    if (has_paths) {
      text.quoted(kPathNames[static_cast<unsigned>(call.path)]);
    } else {
      text << "null";
    }
    text << "}";
    comma = ", ";
  }
  text << "]";
}

}  // namespace hakbench
