// Counters of the processor and the kernel for one child by perf_event_open, from its exec to its
// end, its children and threads included. A counter that the machine refuses has the kernel's
// reason instead of a value.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/files.hpp"

namespace hakmem::harness {

struct CounterValue {
  std::string name;                    ///< instructions, cycles, branches, …
  std::optional<std::uint64_t> value;  ///< events in user mode, scaled to the whole time
  double share = 1.0;                  ///< part of the time that it counted; the rest is assumed
  std::string reason;                  ///< why there is no value
};

/// The value of a counter that ran for `running` of the `enabled` nanoseconds.
CounterValue scaled(std::uint64_t count, std::uint64_t enabled, std::uint64_t running);

class PerfCounters {
 public:
  /// Opens all counters on a process that has not called exec yet; they start at its exec.
  explicit PerfCounters(pid_t pid);

  /// Values so far; final once the process has ended.
  [[nodiscard]] std::vector<CounterValue> read() const;

 private:
  struct Counter {
    const char* name;
    Fd fd;
    std::string reason;
  };
  std::vector<Counter> counters_;
};

/// Why this process may not count instructions, or "" where it may: for `hak doctor`.
std::string perf_refusal();

}  // namespace hakmem::harness
