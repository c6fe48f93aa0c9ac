#include "harness/cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "harness/files.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::vector<int> machine_siblings(int cpu) {
  return parse_cpu_list(read_line("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                  "/topology/thread_siblings_list"));
}

}  // namespace

std::vector<int> CpuPlan::for_threads(unsigned threads) const {
  return threads > 1 ? allowed : std::vector<int>{workload};
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  for (const std::string& part : split(text, ',')) {
    char* end = nullptr;
    const long first = std::strtol(part.c_str(), &end, 10);
    if (end == part.c_str() || first < 0 || first > 65535) return cpus;
    const long last = *end == '-' ? std::strtol(end + 1, nullptr, 10) : first;
    for (long cpu = first; cpu <= last && cpu <= 65535; ++cpu) {
      cpus.push_back(static_cast<int>(cpu));
    }
  }
  return cpus;
}

std::string cpu_list(const std::vector<int>& cpus) {
  std::vector<std::string> names;
  names.reserve(cpus.size());
  for (const int cpu : cpus) names.push_back(std::to_string(cpu));
  return join(names, ",");
}

CpuPlan plan_cpus(const std::vector<int>& allowed, const std::vector<int>& isolated,
                  std::vector<int> (*siblings)(int)) {
  CpuPlan plan;
  plan.allowed = allowed;
  plan.workload = allowed.back();
  for (const int cpu : allowed) {
    if (contains(isolated, cpu)) plan.workload = cpu;
  }
  plan.harness = plan.workload;
  const std::vector<int> near = siblings(plan.workload);
  for (const int cpu : allowed) {
    if (cpu == plan.workload) continue;
    const bool better = plan.shared() || (contains(near, plan.harness) && !contains(near, cpu));
    if (better) plan.harness = cpu;
  }
  return plan;
}

CpuPlan plan_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> allowed;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) allowed.push_back(cpu);
    }
  }
  if (allowed.empty()) allowed.push_back(0);
  return plan_cpus(allowed, parse_cpu_list(read_line("/sys/devices/system/cpu/isolated")),
                   machine_siblings);
}

void pin_harness(const CpuPlan& plan) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(plan.harness), &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace hakmem::harness
