#include "harness/hakbench/slices.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "harness/hakbench/clock.hpp"
#include "harness/hakbench/failure.hpp"
#include "harness/hakbench/memory.hpp"
#include "harness/hakbench/split.hpp"

namespace hakbench {

namespace {

constexpr std::uint64_t kSameEvery = 5;  // one group of so many is A/A
constexpr unsigned kOrders[2][4] = {{0, 1, 1, 0}, {1, 0, 0, 1}};

/// The control calls of the lab library that serves this process.
struct Control {
  int (*set_box)(const char*, std::int64_t);
  int (*apply)();
  void (*flush)();
  std::uint64_t (*uses)(const char*);
  const char* (*variant)();
};

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  Text text(STDERR_FILENO);
  text << "hakbench: --slices: ";
  (text << ... << parts) << '\n';
  text.flush();
  _exit(kExitUsage);
}

template <class Function>
void find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) {
    refuse("the allocator has no ", name, "; preload libhakmem-lab.so");
  }
}

const Control& control() {
  static Control found{};
  if (found.variant == nullptr) {
    find(found.set_box, "hakmem_lab_set_box");
    find(found.apply, "hakmem_lab_apply");
    find(found.flush, "hakmem_lab_flush");
    find(found.uses, "hakmem_lab_uses");
    find(found.variant, "hakmem_lab_variant");
  }
  return found;
}

/// The text with a final zero.
const char* kept(std::string_view text) {
  char* copy = static_cast<char*>(map_bytes(text.size() + 1));
  std::copy(text.begin(), text.end(), copy);
  return copy;
}

std::int64_t whole(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? behind(text, 0) : text;
  std::int64_t value = 0;
  if (digits.empty() || digits.size() > 18) refuse("'", text, "' is not a whole number");
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') refuse("'", text, "' is not a whole number");
    value = value * 10 + (digit - '0');
  }
  return negative ? -value : value;
}

SlicePlan::Side parse_side(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) {
    refuse("'", text, "' is not NAME:BOX=VALUE[,BOX=VALUE...]");
  }
  SlicePlan::Side side{};
  side.name = kept(first_of(text, colon));
  for (std::string_view rest = behind(text, colon); !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = first_of(rest, comma);
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string_view::npos) refuse("'", word, "' is not BOX=VALUE");
    if (side.count == SlicePlan::kMostSettings) refuse("too many boxes");
    side.settings[side.count++] = {kept(first_of(word, equals)), whole(behind(word, equals))};
    rest = behind(rest, comma);
  }
  return side;
}

}  // namespace

SlicePlan::SlicePlan(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) refuse("needs two sides with a '/' between them");
  sides_[0] = parse_side(first_of(text, slash));
  sides_[1] = parse_side(behind(text, slash));
}

Slices::Slices(const SlicePlan& plan) : plan_(plan), groups_(map_array<Group>(kMostSlices / 4)) {
  control();
}

void Slices::flush_own_front() { control().flush(); }

/// Counts of use up to here belong to the side that ran; the threads are at rest.
void Slices::switch_to(unsigned index) {
  const SlicePlan::Side& side = plan_.side(index);
  for (unsigned i = 0; i < side.count; ++i) {
    if (control().set_box(side.settings[i].box, side.settings[i].value) != 0) {
      refuse(side.settings[i].box, " cannot be set to what ", side.name,
             " asks for: not a live box of this allocator, or out of its range");
    }
  }
  if (control().apply() != 0) refuse("this allocator has no variant for ", side.name);
  variants_[index] = control().variant();
  current_ = index;
}

/// Four slices. In each one the pass behind the switch is not counted.
void Slices::group(const Steps& steps, Team& team, std::uint64_t passes, std::uint64_t number,
                   Outcome& outcome) {
  Group& group = groups_[count_++];
  group.same = number % kSameEvery == kSameEvery / 2;
  for (unsigned slot = 0; slot < 4; ++slot) {
    Slice& slice = group.slices[slot];
    slice.side = kOrders[number % 2][slot];
    const unsigned ran = group.same ? 0 : slice.side;
    switch_to(ran);
    const SlicePlan::Side& side = plan_.side(ran);
    std::uint64_t before[SlicePlan::kMostSettings];
    for (unsigned i = 0; i < side.count; ++i) before[i] = control().uses(side.settings[i].box);
    team.pass(true);
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      const PassTimes times = team.pass(false);
      ++outcome.passes;
      slice.ops += steps.ops(steps.workload);
      slice.run_ns += times.run_ns;
      outcome.drain_ns += times.drain_ns;
      const std::uint64_t checksum = steps.checksum(steps.workload);
      if (checksum != outcome.checksum) fail_checksum(outcome.passes, checksum, outcome.checksum);
    }
    for (unsigned i = 0; i < side.count; ++i) {
      uses_[ran][i] += control().uses(side.settings[i].box) - before[i];
    }
    outcome.ops += slice.ops;
    outcome.run_ns += slice.run_ns;
  }
}

void Slices::run(const Options& options, const Steps& steps, Team& team, double seconds,
                 Outcome& outcome) {
  switch_to(0);
  team.pass(true);
  outcome.checksum = steps.checksum(steps.workload);
  const std::uint64_t pass_ns = team.pass(false).run_ns;
  const auto wanted_ns = static_cast<std::uint64_t>(options.min_seconds() * 1e9);
  const std::uint64_t passes =
      std::max<std::uint64_t>(1, (wanted_ns + pass_ns - 1) / (pass_ns + 1));
  const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  for (std::uint64_t number = 0; number == 0 || now_ns() < end; ++number) {
    if (count_ == kMostSlices / 4) break;
    group(steps, team, passes, number, outcome);
  }
  switch_to(0);  // the state in which the allocator's own report at exit shall find it
}

void Slices::write_part(Text& text, std::string_view name, bool same) const {
  text << ", ";
  text.quoted(name) << ": [";
  std::string_view comma;
  for (std::size_t i = 0; i < count_; ++i) {
    if (groups_[i].same != same) continue;
    for (const Slice& slice : groups_[i].slices) {
      text << comma << "{\"arm\": ";
      text.quoted(plan_.side(slice.side).name) << ", \"ops\": " << slice.ops << ", \"seconds\": ";
      text.fixed(static_cast<double>(slice.run_ns) * 1e-9, 9) << "}";
      comma = ", ";
    }
  }
  text << "]";
}

void Slices::write_proof(Text& text) const {
  text << ", \"slices_proof\": {";
  for (unsigned index = 0; index < 2; ++index) {
    const SlicePlan::Side& side = plan_.side(index);
    text << (index == 0 ? "" : ", ");
    text.quoted(side.name) << ": {\"variant\": ";
    text.quoted(variants_[index] == nullptr ? "" : variants_[index]) << ", \"uses\": {";
    for (unsigned i = 0; i < side.count; ++i) {
      text << (i == 0 ? "" : ", ");
      text.quoted(side.settings[i].box) << ": " << uses_[index][i];
    }
    text << "}}";
  }
  text << "}";
}

void Slices::write(Text& text) const {
  write_part(text, "slices", false);
  write_part(text, "slices_aa", true);
  write_proof(text);
}

}  // namespace hakbench
