// Which CPUs the workload and the harness use, inside the set that this process may use.
#pragma once

#include <string>
#include <vector>

namespace hakmem::harness {

struct CpuPlan {
  std::vector<int> allowed;  ///< in rising order
  int workload = 0;          ///< CPU of single-threaded workloads
  int harness = 0;           ///< CPU of the harness; equal to `workload` where only one is allowed

  [[nodiscard]] bool shared() const { return workload == harness; }
  /// CPUs of a workload with that many threads.
  [[nodiscard]] std::vector<int> for_threads(unsigned threads) const;
};

/// "0,2-3" as {0, 2, 3}; anything that is no such list gives what was read up to there.
std::vector<int> parse_cpu_list(const std::string& text);

/// {0, 1} as "0,1".
std::string cpu_list(const std::vector<int>& cpus);

/// Chooses from the affinity mask: the workload gets an isolated CPU, else the last one; the
/// harness another one, on another core where there is one.
CpuPlan plan_cpus();

/// The same for a given set and the SMT siblings of the workload's CPU, without asking the machine.
CpuPlan plan_cpus(const std::vector<int>& allowed, const std::vector<int>& isolated,
                  std::vector<int> (*siblings)(int));

/// Pins this process (and so what it starts) to the harness's CPU.
void pin_harness(const CpuPlan& plan);

}  // namespace hakmem::harness
