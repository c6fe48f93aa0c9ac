#include "harness/doctor.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "harness/files.hpp"
#include "harness/machine.hpp"
#include "harness/perf_counters.hpp"
#include "harness/system_load.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr const char* kCpu = "/sys/devices/system/cpu/";

Check governor(const CpuPlan& plan) {
  const std::string state = read_line(std::string(kCpu) + "cpu" + std::to_string(plan.workload) +
                                      "/cpufreq/scaling_governor");
  const char* const effect =
      "a governor that follows the load changes the clock within a run: first runs look slow";
  if (state.empty()) {
    return {"governor", "unknown: no cpufreq in /sys", "note",
            std::string(effect) + "; here the host decides and nothing shows it", ""};
  }
  const bool fine = state == "performance";
  return {"governor", state, fine ? "ok" : "warn", effect,
          fine ? "" : "sudo cpupower frequency-set -g performance"};
}

Check turbo() {
  const char* const effect =
      "the clock depends on heat and on what other cores do: 5 to 20 % drift";
  const std::string no_turbo = read_line(std::string(kCpu) + "intel_pstate/no_turbo");
  if (!no_turbo.empty()) {
    return {
        "turbo", no_turbo == "1" ? "off" : "on", no_turbo == "1" ? "ok" : "note", effect,
        no_turbo == "1" ? "" : "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"};
  }
  const std::string boost = read_line(std::string(kCpu) + "cpufreq/boost");
  if (!boost.empty()) {
    return {"turbo", boost == "0" ? "off" : "on", boost == "0" ? "ok" : "note", effect,
            boost == "0" ? "" : "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"};
  }
  return {"turbo", "unknown: no switch in /sys", "note", effect, ""};
}

Check smt(const CpuPlan& plan) {
  const std::string siblings = read_line(std::string(kCpu) + "cpu" + std::to_string(plan.workload) +
                                         "/topology/thread_siblings_list");
  const char* const effect =
      "a busy sibling takes a third or more of the core's speed without showing as load on it";
  if (siblings.empty()) return {"smt", "unknown: no topology in /sys", "note", effect, ""};
  const bool alone = parse_cpu_list(siblings).size() <= 1;
  const bool mine = !plan.shared() && parse_cpu_list(siblings).size() > 1 &&
                    read_line(std::string(kCpu) + "cpu" + std::to_string(plan.harness) +
                              "/topology/thread_siblings_list") == siblings;
  std::string state = alone ? "CPU " + std::to_string(plan.workload) + " has no sibling"
                            : "CPUs " + siblings + " share a core";
  if (mine) state += "; the harness must sit there (it sleeps while a run lasts)";
  return {"smt", state, alone ? "ok" : "note", effect,
          alone ? "" : "echo off | sudo tee /sys/devices/system/cpu/smt/control"};
}

Check aslr() {
  const std::string value = read_line("/proc/sys/kernel/randomize_va_space");
  return {"aslr", value.empty() ? "unknown" : value + (value == "0" ? " (off)" : " (on)"), "ok",
          "addresses differ from run to run, so caches and TLB collide differently: noise, but no "
          "bias; off, one accidental layout would be measured again and again",
          value == "0" ? "sudo sysctl kernel.randomize_va_space=2" : ""};
}

Check thp() {
  const std::string state = chosen_of("/sys/kernel/mm/transparent_hugepage/enabled");
  return {
      "thp", state.empty() ? "unknown: not in /sys" : state, state == "always" ? "note" : "ok",
      "with \"always\" huge pages come when the kernel finds some: memory and speed differ from "
      "run to run",
      state == "always" ? "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
                        : ""};
}

Check swap() {
  const std::string text = read_file("/proc/swaps").value_or("");
  const bool on = std::count(text.begin(), text.end(), '\n') > 1;
  return {"swap", on ? "on" : "off", on ? "note" : "ok",
          "a workload that is swapped out measures the disk (major_faults in the samples shows it)",
          on ? "sudo swapoff -a" : ""};
}

Check numa() {
  const std::string nodes = read_line("/sys/devices/system/node/online");
  const bool many = parse_cpu_list(nodes).size() > 1;
  return {
      "numa", nodes.empty() ? "unknown: not in /sys" : "nodes " + nodes, many ? "note" : "ok",
      "memory of another node costs 1.5 to 2 times; runs of several threads may get it by chance",
      many ? "numactl --cpunodebind=0 --membind=0 ./hak run …" : ""};
}

Check isolated() {
  const std::string cpus = read_line(std::string(kCpu) + "isolated");
  return {"isolated", cpus.empty() ? "none" : "CPUs " + cpus, cpus.empty() ? "note" : "ok",
          "on an isolated CPU the scheduler puts nothing beside the workload",
          cpus.empty() ? "add isolcpus=N nohz_full=N to the kernel's command line" : ""};
}

/// Processes other than this one that used CPU time between two looks at /proc.
class Users {
 public:
  void first() { before_ = times(); }
  /// Names with their share of one CPU in percent, busiest first.
  std::vector<std::string> second(double seconds) {
    std::vector<std::pair<double, std::string>> busy;
    for (const auto& [pid, ticks] : times()) {
      const auto old = before_.find(pid);
      const double used = static_cast<double>(ticks - (old == before_.end() ? ticks : old->second));
      const double share = used / static_cast<double>(sysconf(_SC_CLK_TCK)) / seconds * 100;
      if (share < 5 || pid == getpid()) continue;
      busy.emplace_back(share, to_utf8(read_line("/proc/" + std::to_string(pid) + "/comm")) + " (" +
                                   std::to_string(pid) + ", " + fixed(share, 0) + " %)");
    }
    std::sort(busy.rbegin(), busy.rend());
    std::vector<std::string> names;
    names.reserve(busy.size());
    for (const auto& user : busy) names.push_back(user.second);
    return names;
  }

 private:
  static std::map<int, long long> times() {
    std::map<int, long long> result;
    DIR* const folder = opendir("/proc");
    if (folder == nullptr) return result;
    while (const dirent* const entry = readdir(folder)) {
      std::int64_t pid = 0;
      if (!parse_integer(entry->d_name, &pid)) continue;
      const std::string stat =
          read_file("/proc/" + std::string(entry->d_name) + "/stat").value_or("");
      const std::size_t name_end = stat.rfind(')');
      if (name_end == std::string::npos) continue;
      const std::vector<std::string> fields = split(stat.substr(name_end + 1), ' ');
      if (fields.size() < 13) continue;
      result[static_cast<int>(pid)] =
          std::atoll(fields[11].c_str()) + std::atoll(fields[12].c_str());
    }
    closedir(folder);
    return result;
  }

  std::map<int, long long> before_;
};

/// Checks that need two looks with time between them.
void moving(const CpuPlan& plan, std::vector<Check>* checks) {
  Users users;
  users.first();
  const LoadSnapshot start = load_snapshot();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  const LoadSnapshot end = load_snapshot();
  const double seconds = end.monotonic_s - start.monotonic_s;
  const std::vector<std::string> names = users.second(seconds);
  const LoadDuring now = load_between(start, end, plan.allowed, 0);

  const double load = now.foreign_load_pct.value_or(0);
  std::string state = fixed(load, 0) + " % of CPUs " + cpu_list(plan.allowed) +
                      " now, load average " + read_line("/proc/loadavg").substr(0, 14);
  if (!names.empty()) state += "; " + join(names, ", ");
  checks->push_back(
      {"load", state,
       load > 20  ? "warn"
       : load > 5 ? "note"
                  : "ok",
       "others on the workload's CPUs lengthen runs and empty its caches; blocks beyond "
       "the declared limit are void and repeated",
       load > 5 ? "stop them, or run when the machine is idle" : ""});

  const LoadSnapshot::Times total = [&] {
    LoadSnapshot::Times sum;
    for (const auto& [cpu, times] : end.cpus) {
      sum.busy_s += times.busy_s;
      sum.steal_s += times.steal_s;
    }
    return sum;
  }();
  const double since_boot = total.busy_s > 0 ? total.steal_s / total.busy_s * 100 : 0;
  const double steal = now.steal_pct.value_or(0);
  checks->push_back(
      {"steal",
       fixed(steal, 1) + " % now, " + fixed(since_boot, 1) + " % of the busy time since boot",
       steal > 2 || since_boot > 5 ? "warn"
       : since_boot > 0.5          ? "note"
                                   : "ok",
       "time that the hypervisor gave to other guests reads as a slower program", ""});

  const std::string pressure = read_line("/proc/pressure/cpu");
  const std::size_t avg = pressure.find("avg10=");
  const double waiting =
      avg == std::string::npos ? 0 : std::strtod(pressure.c_str() + avg + 6, nullptr);
  checks->push_back({"psi",
                     pressure.empty() ? "unknown: no /proc/pressure/cpu"
                                      : fixed(waiting, 1) + " % of the last 10 s",
                     pressure.empty() ? "note"
                     : waiting > 10   ? "warn"
                     : waiting > 1    ? "note"
                                      : "ok",
                     "tasks that wait for a CPU: the machine has fewer CPUs than it needs", ""});
}

Check perf() {
  const std::string refusal = perf_refusal();
  const std::string paranoid = read_line("/proc/sys/kernel/perf_event_paranoid");
  const std::string level = paranoid.empty() ? "" : ", perf_event_paranoid " + paranoid;
  if (refusal.empty()) {
    return {"perf", "instructions can be counted" + level, "ok", "counters explain a difference",
            ""};
  }
  const bool forbidden = refusal == "Permission denied" || refusal == "Operation not permitted";
  return {"perf", "no counters: " + refusal + level, "note",
          "times are measured all the same; instructions, cycles and misses are null",
          forbidden ? "sudo sysctl kernel.perf_event_paranoid=2" : ""};
}

Check hypervisor() {
  const std::string name = virtualisation();
  return {
      "virtualisation", name, name == "none" ? "ok" : "note",
      "a guest shares caches and memory with neighbours that it cannot see; paired blocks cancel "
      "slow drift, not bursts",
      ""};
}

Check clock_source() {
  const std::string name =
      read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const bool fast = name == "tsc" || name == "kvm-clock" || name == "arch_sys_counter";
  return {
      "clock", name.empty() ? "unknown: not in /sys" : name, fast || name.empty() ? "ok" : "warn",
      "a clock that needs a system call or a device costs up to a microsecond a reading",
      fast || name.empty() ? ""
                           : "echo tsc | sudo tee "
                             "/sys/devices/system/clocksource/clocksource0/current_clocksource"};
}

Check cpus(const CpuPlan& plan) {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return {"cpus",
          "may use " + cpu_list(plan.allowed) + " of " + std::to_string(online) + "; workload on " +
              std::to_string(plan.workload) + ", harness on " + std::to_string(plan.harness),
          plan.shared() ? "warn" : "ok",
          "with one CPU the harness wakes on the workload's (it sleeps while a run lasts)", ""};
}

}  // namespace

std::vector<Check> examine(const CpuPlan& plan) {
  std::vector<Check> checks = {cpus(plan), governor(plan), turbo(), smt(plan), aslr(),
                               thp(),      swap(),         numa(),  isolated()};
  for (Check& check : examine_limits(plan)) checks.push_back(std::move(check));
  moving(plan, &checks);
  checks.push_back(perf());
  checks.push_back(hypervisor());
  checks.push_back(clock_source());
  return checks;
}

Json doctor_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"check", check.name},
                    {"state", check.state},
                    {"severity", check.severity},
                    {"effect", check.effect},
                    {"command", check.command}});
  }
  return list;
}

std::string doctor_text(const std::vector<Check>& checks, bool everything) {
  std::string text;
  for (const Check& check : checks) {
    if (!everything && check.severity == "ok") continue;
    std::string head = check.severity + std::string(6 - check.severity.size(), ' ') + check.name;
    head.append(head.size() < 22 ? 22 - head.size() : 1, ' ');
    text += head + check.state + "\n";
    if (check.severity == "ok") continue;
    text += std::string(22, ' ') + check.effect + "\n";
    if (!check.command.empty())
      text += std::string(22, ' ') + "you may type: " + check.command + "\n";
  }
  return text;
}

}  // namespace hakmem::harness
