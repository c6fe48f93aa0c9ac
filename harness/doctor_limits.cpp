// Checks of what takes CPU time or memory away from outside the program: interrupts, kernel
// threads, quotas, other users of memory, batteries.
#include <dirent.h>

#include <algorithm>
#include <cstdlib>

#include "harness/doctor.hpp"
#include "harness/files.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr const char* kCpu = "/sys/devices/system/cpu/";

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* const entry = readdir(open)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

bool holds(const std::vector<int>& cpus, int cpu) {
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

Check frequency(const CpuPlan& plan) {
  const std::string folder =
      std::string(kCpu) + "cpu" + std::to_string(plan.workload) + "/cpufreq/";
  const std::string low = read_line(folder + "scaling_min_freq");
  const std::string high = read_line(folder + "scaling_max_freq");
  const char* const effect = "between these the clock moves while a run lasts";
  if (low.empty() || high.empty()) {
    return {"frequency", "unknown: no cpufreq in /sys", "note", effect, ""};
  }
  const auto mhz = [](const std::string& khz) {
    return fixed(std::strtod(khz.c_str(), nullptr) / 1000, 0) + " MHz";
  };
  const bool fixed_clock = low == high;
  return {"frequency", fixed_clock ? mhz(low) : mhz(low) + " to " + mhz(high),
          fixed_clock ? "ok" : "note", effect,
          fixed_clock ? "" : "sudo cpupower frequency-set -d " + mhz(high) + " -u " + mhz(high)};
}

Check interrupts(const CpuPlan& plan) {
  std::size_t here = 0, all = 0;
  for (const std::string& number : entries_of("/proc/irq")) {
    const std::string list = read_line("/proc/irq/" + number + "/smp_affinity_list");
    if (list.empty()) continue;
    ++all;
    if (holds(parse_cpu_list(list), plan.workload)) ++here;
  }
  const char* const effect =
      "an interrupt served on the workload's CPU stops it and evicts some of its cache";
  if (all == 0) return {"interrupts", "unknown: no /proc/irq", "note", effect, ""};
  return {"interrupts",
          std::to_string(here) + " of " + std::to_string(all) + " may be served on CPU " +
              std::to_string(plan.workload),
          here == 0 ? "ok" : "note", effect,
          here == 0 || plan.shared()
              ? ""
              : "sudo sh -c 'for i in /proc/irq/*/smp_affinity_list; do echo " +
                    std::to_string(plan.harness) + " >$i; done'"};
}

Check balancer() {
  bool runs = false;
  for (const std::string& name : entries_of("/proc")) {
    std::int64_t pid = 0;
    runs =
        runs || (parse_integer(name, &pid) && read_line("/proc/" + name + "/comm") == "irqbalance");
  }
  return {"irqbalance", runs ? "runs" : "does not run", runs ? "note" : "ok",
          "it moves interrupts to other CPUs while a run lasts, the workload's among them",
          runs ? "sudo systemctl stop irqbalance" : ""};
}

Check kernel_ticks(const CpuPlan& plan) {
  const std::string list = read_line(std::string(kCpu) + "nohz_full");
  const bool quiet = holds(parse_cpu_list(list), plan.workload);
  const std::string cpu = std::to_string(plan.workload);
  return {
      "nohz_full", quiet ? "CPU " + cpu + " has no tick" : "CPU " + cpu + " ticks",
      quiet ? "ok" : "note",
      "the scheduler's tick and RCU callbacks interrupt the workload 100 to 1000 times a second",
      quiet ? "" : "add nohz_full=" + cpu + " rcu_nocbs=" + cpu + " to the kernel's command line"};
}

/// The folder of this process's cgroup (version 2) below /sys/fs/cgroup; "" where there is none.
std::string cgroup_folder() {
  for (const std::string& line : split(read_file("/proc/self/cgroup").value_or(""), '\n')) {
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  }
  return {};
}

/// The tightest value of a limit over this cgroup and those above it; "" where none is set.
std::string tightest(const char* file) {
  std::string found;
  double least = 0;
  for (std::string folder = cgroup_folder(); folder.starts_with("/sys/fs/cgroup/");
       folder = folder_of(folder)) {
    const std::string value = read_line(folder + "/" + file);
    if (value.empty() || value.starts_with("max")) continue;
    const double number = std::strtod(value.c_str(), nullptr);
    if (found.empty() || number < least) {
      found = value;
      least = number;
    }
  }
  return found;
}

Check quota() {
  const std::string limit = tightest("cpu.max");
  const char* const effect =
      "a process that used up its share stands still until the next period: runs fall into two "
      "groups";
  if (limit.empty() && !exists("/sys/fs/cgroup/cgroup.controllers")) {
    return {"quota", "unknown: no cgroups of version 2", "note", effect, ""};
  }
  if (limit.empty()) return {"quota", "none", "ok", effect, ""};
  const std::vector<std::string> parts = split(limit, ' ');
  const double period = parts.size() > 1 ? std::strtod(parts[1].c_str(), nullptr) : 100'000;
  const double cpus = std::strtod(parts[0].c_str(), nullptr) / period;
  return {"quota", fixed(cpus, 2) + " CPUs (cpu.max " + limit + ")", cpus < 1 ? "warn" : "note",
          effect, "start the container without a CPU quota, or pin it with --cpuset-cpus"};
}

double kib_of(const std::string& field) {
  for (const std::string& line : split(read_file("/proc/meminfo").value_or(""), '\n')) {
    if (line.starts_with(field + ":")) return std::strtod(line.c_str() + field.size() + 1, nullptr);
  }
  return 0;
}

Check memory() {
  constexpr double kKibInMib = 1024;
  const double free_mib = kib_of("MemAvailable") / kKibInMib;
  const std::string limit = tightest("memory.max");
  const double limit_mib = std::strtod(limit.c_str(), nullptr) / kKibInMib / kKibInMib;
  std::string state = fixed(free_mib, 0) + " MiB available";
  if (!limit.empty()) state += ", cgroup limit " + fixed(limit_mib, 0) + " MiB";
  const bool tight = free_mib < 512 || (!limit.empty() && limit_mib < 512);
  return {"memory", state, tight ? "warn" : "ok",
          "near the limit the kernel reclaims pages in the middle of a run, or kills it",
          tight ? "stop what uses the memory, or raise the limit" : ""};
}

Check overcommit() {
  const std::string mode = read_line("/proc/sys/vm/overcommit_memory");
  return {"overcommit", mode.empty() ? "unknown" : mode + (mode == "2" ? " (off)" : ""),
          mode == "2" ? "note" : "ok",
          "where it is off, allocators that reserve much address space get less or other memory",
          mode == "2" ? "sudo sysctl vm.overcommit_memory=0" : ""};
}

Check same_page_merging() {
  const bool runs = read_line("/sys/kernel/mm/ksm/run") == "1";
  return {"ksm", runs ? "runs" : "off", runs ? "note" : "ok",
          "it scans memory and shares equal pages: the next write to one costs a page fault",
          runs ? "echo 0 | sudo tee /sys/kernel/mm/ksm/run" : ""};
}

Check sample_rate() {
  const std::string rate = read_line("/proc/sys/kernel/perf_event_max_sample_rate");
  const bool high = std::atol(rate.c_str()) > 1;
  return {"perf_rate", rate.empty() ? "unknown" : "at most " + rate + " samples a second",
          high && std::atol(rate.c_str()) > 100'000 ? "note" : "ok",
          "somebody else's profiler may interrupt the workload this often",
          high && std::atol(rate.c_str()) > 100'000
              ? "sudo sysctl kernel.perf_event_max_sample_rate=1"
              : ""};
}

Check power() {
  const std::string folder = "/sys/class/power_supply/";
  bool battery = false, mains = false;
  for (const std::string& name : entries_of(folder)) {
    const std::string type = read_line(folder + name + "/type");
    battery = battery || type == "Battery";
    mains = mains || (type == "Mains" && read_line(folder + name + "/online") == "1");
  }
  const bool draining = battery && !mains;
  return {"power",
          draining  ? "battery"
          : battery ? "mains"
                    : "no battery",
          draining ? "warn" : "ok", "on battery the firmware lowers the clock as it likes",
          draining ? "plug in the charger" : ""};
}

}  // namespace

std::vector<Check> examine_limits(const CpuPlan& plan) {
  return {frequency(plan), interrupts(plan), balancer(),          kernel_ticks(plan), quota(),
          memory(),        overcommit(),     same_page_merging(), sample_rate(),      power()};
}

}  // namespace hakmem::harness
