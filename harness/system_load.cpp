#include "harness/system_load.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "harness/files.hpp"

namespace hakmem::harness {

namespace {

double ticks_per_second() { return static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK))); }

double monotonic_seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

LoadSnapshot parse_load(const std::string& stat, const std::string& pressure, double ticks) {
  LoadSnapshot snapshot;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    std::istringstream fields(line.substr(3));
    int cpu = 0;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    if (fields >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal) {
      snapshot.cpus[cpu] = {(user + nice + system + irq + softirq) / ticks, steal / ticks};
    }
  }
  const std::size_t some = pressure.find("some ");
  const std::size_t total = pressure.find("total=", some == std::string::npos ? 0 : some);
  if (some != std::string::npos && total != std::string::npos) {
    snapshot.pressure_s = std::strtod(pressure.c_str() + total + 6, nullptr) * 1e-6;
  }
  return snapshot;
}

LoadSnapshot load_snapshot() {
  LoadSnapshot snapshot =
      parse_load(read_file("/proc/stat").value_or(""), read_file("/proc/pressure/cpu").value_or(""),
                 ticks_per_second());
  snapshot.monotonic_s = monotonic_seconds();
  return snapshot;
}

LoadDuring load_between(const LoadSnapshot& start, const LoadSnapshot& end,
                        const std::vector<int>& cpus, double own_s) {
  LoadDuring load;
  const double seconds = end.monotonic_s - start.monotonic_s;
  if (seconds <= 0) return load;
  if (start.pressure_s && end.pressure_s) {
    load.pressure_pct = std::max(0.0, *end.pressure_s - *start.pressure_s) / seconds * 100;
  }
  double busy = 0, steal = 0;
  for (const int cpu : cpus) {
    const auto from = start.cpus.find(cpu), to = end.cpus.find(cpu);
    if (from == start.cpus.end() || to == end.cpus.end()) return load;
    busy += to->second.busy_s - from->second.busy_s;
    steal += to->second.steal_s - from->second.steal_s;
  }
  const double available = seconds * static_cast<double>(cpus.size());
  load.steal_pct = std::max(0.0, steal) / available * 100;
  load.foreign_load_pct = std::max(0.0, busy - own_s) / available * 100;
  return load;
}

double tick_share_pct(double wall_s) {
  return wall_s <= 0 ? 100.0 : 100.0 / (ticks_per_second() * wall_s);
}

std::optional<double> cpu_mhz(int cpu) {
  const std::string text =
      read_line("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_cur_freq");
  if (text.empty()) return std::nullopt;
  return std::strtod(text.c_str(), nullptr) / 1000;
}

}  // namespace hakmem::harness
