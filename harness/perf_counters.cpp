#include "harness/perf_counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

struct Event {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

// Two fixed and four general counters: what every x86 core counts at once, without taking turns.
constexpr Event kEvents[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cache_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

/// Opens one event; on failure errno is the kernel's.
int open_event(const Event& event, pid_t pid) {
  perf_event_attr attributes{};
  attributes.type = event.type;
  attributes.size = sizeof attributes;
  attributes.config = event.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.enable_on_exec = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

PerfCounters::PerfCounters(pid_t pid) {
  for (const Event& event : kEvents) {
    Counter counter{event.name, Fd(open_event(event, pid)), ""};
    if (!counter.fd.open()) counter.reason = "perf_event_open: " + errno_text(errno);
    counters_.push_back(std::move(counter));
  }
}

std::vector<CounterValue> PerfCounters::read() const {
  std::vector<CounterValue> values;
  for (const Counter& counter : counters_) {
    CounterValue& result = values.emplace_back();
    result.name = counter.name;
    result.reason = counter.reason;
    if (!counter.fd.open()) continue;
    std::uint64_t raw[3] = {};  // value, time enabled, time running
    if (::read(counter.fd.get(), raw, sizeof raw) != static_cast<ssize_t>(sizeof raw)) {
      result.reason = "read: " + errno_text(errno);
    } else if (raw[1] == 0 || raw[2] == 0) {
      result.reason = "never counted: other users hold the machine's counters";
    } else if (raw[2] < raw[1]) {
      const double share = static_cast<double>(raw[2]) / static_cast<double>(raw[1]) * 100;
      result.reason = "counted " + fixed(share, 1) + " % of the time only";
    } else {
      result.value = raw[0];
    }
  }
  return values;
}

std::string perf_refusal() {
  const Fd fd(open_event(kEvents[0], 0));
  return fd.open() ? std::string() : errno_text(errno);
}

}  // namespace hakmem::harness
