// What else the machine did during a run: time stolen by the hypervisor, load of others on the
// workload's CPUs, CPU pressure. Differences of kernel counters at the start and the end.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hakmem::harness {

/// Kernel counters at one moment.
struct LoadSnapshot {
  struct Times {
    double busy_s = 0;   ///< user, nice, system, irq, softirq
    double steal_s = 0;  ///< taken by the hypervisor
  };
  std::map<int, Times> cpus;
  std::optional<double> pressure_s;  ///< /proc/pressure/cpu, "some"
  double monotonic_s = 0;
};

/// Reads /proc/stat and /proc/pressure/cpu.
LoadSnapshot load_snapshot();

/// The same from text of those files, for tests. `ticks` are a second's clock ticks.
LoadSnapshot parse_load(const std::string& stat, const std::string& pressure, double ticks);

/// Shares of the run's time, in percent.
struct LoadDuring {
  std::optional<double> steal_pct, foreign_load_pct, pressure_pct;
};

/// `own_s` is the CPU time of the workload itself (user and system). Foreign load is what the
/// workload's CPUs did beyond that. The counters step by a clock tick (10 ms), so a run of 0.1 s
/// cannot show less than about 10 %.
LoadDuring load_between(const LoadSnapshot& start, const LoadSnapshot& end,
                        const std::vector<int>& cpus, double own_s);

/// Percentage points that one clock tick makes of a run of `wall_s`: what a void rule must
/// tolerate.
double tick_share_pct(double wall_s);

/// Frequency of a CPU in MHz from cpufreq, or nothing where the machine does not tell.
std::optional<double> cpu_mhz(int cpu);

}  // namespace hakmem::harness
