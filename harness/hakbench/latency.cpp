#include "harness/hakbench/latency.hpp"

#include "harness/hakbench/clock.hpp"
#include "harness/hakbench/memory.hpp"

namespace hakbench {

// What is zero is not written: most buckets stay empty, and their pages untouched.

void Histogram::add(const Histogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (other.counts_[i] != 0) counts_[i] += other.counts_[i];
  }
  if (other.max_ > max_) max_ = other.max_;
  total_ += other.total_;
}

void Histogram::clear() {
  for (std::uint64_t& count : counts_) {
    if (count != 0) count = 0;
  }
  max_ = total_ = 0;
}

std::uint64_t Histogram::samples() const {
  std::uint64_t sum = 0;
  for (std::uint64_t count : counts_) sum += count;
  return sum;
}

double Histogram::middle_of(std::size_t bucket) {
  if (bucket < 64) return static_cast<double>(bucket);
  const std::size_t shift = bucket / 32 - 1;
  const std::uint64_t first = static_cast<std::uint64_t>(bucket - shift * 32) << shift;
  return static_cast<double>(first) + static_cast<double>((std::uint64_t{1} << shift) - 1) / 2;
}

std::size_t Histogram::bucket_at(double share) const {
  const double wanted = share * static_cast<double>(samples());
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen != 0 && static_cast<double>(seen) >= wanted) return i;
  }
  return 0;
}

std::uint64_t Histogram::samples_above(std::size_t bucket) const {
  std::uint64_t sum = 0;
  for (std::size_t i = bucket + 1; i < kBuckets; ++i) sum += counts_[i];
  return sum;
}

std::uint64_t empty_sample_ticks() {
  auto* histogram = map_array<Histogram>(1);
  for (int i = 0; i < 4096; ++i) {
    const std::uint64_t before = ticks_before();
    histogram->add(ticks_after() - before);
  }
  return static_cast<std::uint64_t>(histogram->quantile(0.5));
}

TickScale::TickScale() : start_ns_(now_ns()), start_ticks_(ticks_before()) {}

double TickScale::nanoseconds_per_tick() const {
  // Not ticks_after(): valgrind does not know its instruction.
  const std::uint64_t ticks = ticks_before() - start_ticks_;
  if (ticks == 0) return 1;
  return static_cast<double>(now_ns() - start_ns_) / static_cast<double>(ticks);
}

}  // namespace hakbench
