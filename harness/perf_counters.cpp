#include "harness/perf_counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

struct Event {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
  bool leads;   ///< first of a group: its members count at the same times
  bool kernel;  ///< happens in the kernel only, so that is counted too
};

constexpr std::uint64_t cache(std::uint64_t which, std::uint64_t result) {
  return which | PERF_COUNT_HW_CACHE_OP_READ << 8 | result << 16;
}

// A group fits the counters of any x86 core (two fixed, four general); groups take turns where
// there are not enough for all.
constexpr Event kEvents[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true, false},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false, false},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false, false},
    {"cache_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, true, false},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false, false},
    {"dtlb_misses", PERF_TYPE_HW_CACHE,
     cache(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_RESULT_MISS), true, false},
    {"itlb_misses", PERF_TYPE_HW_CACHE,
     cache(PERF_COUNT_HW_CACHE_ITLB, PERF_COUNT_HW_CACHE_RESULT_MISS), false, false},
    {"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, true, false},
    {"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true, true},
};

/// Opens one event, into the group of `leader` unless that is -1; on failure errno is the kernel's.
int open_event(const Event& event, pid_t pid, int leader) {
  perf_event_attr attributes{};
  attributes.type = event.type;
  attributes.size = sizeof attributes;
  attributes.config = event.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  if (leader < 0) {  // a member starts with its leader
    attributes.disabled = 1;
    attributes.enable_on_exec = 1;
  }
  attributes.inherit = 1;
  attributes.exclude_kernel = event.kernel ? 0 : 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, pid, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

PerfCounters::PerfCounters(pid_t pid) {
  int leader = -1;
  for (const Event& event : kEvents) {
    if (event.leads) leader = -1;
    Counter counter{event.name, Fd(open_event(event, pid, leader)), ""};
    if (!counter.fd.open()) counter.reason = "perf_event_open: " + errno_text(errno);
    if (leader < 0) leader = counter.fd.get();
    counters_.push_back(std::move(counter));
  }
}

CounterValue scaled(std::uint64_t count, std::uint64_t enabled, std::uint64_t running) {
  CounterValue result;
  if (enabled == 0) {
    result.reason = "never enabled: the program did not start";
  } else if (running == 0) {
    result.reason = "never counted: other users hold the machine's counters";
  } else {
    result.share = std::min(1.0, static_cast<double>(running) / static_cast<double>(enabled));
    result.value = count;
    if (result.share < 1.0) {
      result.value = static_cast<std::uint64_t>(static_cast<double>(count) / result.share + 0.5);
    }
  }
  return result;
}

std::vector<CounterValue> PerfCounters::read() const {
  std::vector<CounterValue> values;
  for (const Counter& counter : counters_) {
    CounterValue result;
    std::uint64_t raw[3] = {};  // count, time enabled, time running
    if (!counter.fd.open()) {
      result.reason = counter.reason;
    } else if (::read(counter.fd.get(), raw, sizeof raw) != static_cast<ssize_t>(sizeof raw)) {
      result.reason = "read: " + errno_text(errno);
    } else {
      result = scaled(raw[0], raw[1], raw[2]);
    }
    result.name = counter.name;
    values.push_back(std::move(result));
  }
  return values;
}

std::string perf_refusal() {
  const Fd fd(open_event(kEvents[0], 0, -1));
  return fd.open() ? std::string() : errno_text(errno);
}

}  // namespace hakmem::harness
