#include "harness/machine.hpp"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "harness/build_info.hpp"
#include "harness/files.hpp"
#include "harness/sha256.hpp"
#include "harness/spawner.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

/// Value of "name : value" in /proc/cpuinfo or /proc/meminfo.
std::string field_of(const std::string& path, const std::string& name) {
  std::istringstream lines(read_file(path).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trim(line.substr(0, colon)) == name) {
      return trim(line.substr(colon + 1));
    }
  }
  return {};
}

std::string cpu_model() {
  std::string model = field_of("/proc/cpuinfo", "model name");
  if (model.empty()) model = field_of("/proc/cpuinfo", "CPU part");
  const std::string family = field_of("/proc/cpuinfo", "cpu family");
  const std::string number = field_of("/proc/cpuinfo", "model");
  if (!family.empty()) model += " (family " + family + " model " + number + ")";
  return model;
}

std::string hypervisor_signature() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 31) == 0) return {};
  __cpuid(0x40000000, a, b, c, d);
  std::array<char, 13> name{};
  std::memcpy(name.data(), &b, 4);
  std::memcpy(name.data() + 4, &c, 4);
  std::memcpy(name.data() + 8, &d, 4);
  return name.data();
#else
  return {};
#endif
}

}  // namespace

std::string virtualisation() {
  const std::string signature = hypervisor_signature();
  constexpr std::pair<const char*, const char*> kKnown[] = {
      {"KVMKVMKVM", "kvm"},          {"VMwareVMware", "vmware"}, {"Microsoft Hv", "hyper-v"},
      {"XenVMMXenVMM", "xen"},       {"TCGTCGTCGTCG", "qemu"},   {"bhyve bhyve ", "bhyve"},
      {"VBoxVBoxVBox", "virtualbox"}};
  for (const auto& [text, name] : kKnown) {
    if (signature == text) return name;
  }
  if (!signature.empty()) return trim(to_utf8(signature));
  return field_of("/proc/cpuinfo", "flags").find(" hypervisor") == std::string::npos ? "none"
                                                                                     : "unknown";
}

std::string chosen_of(const std::string& path) {
  const std::string line = read_line(path);
  const std::size_t open = line.find('['), shut = line.find(']');
  return open != std::string::npos && shut != std::string::npos
             ? line.substr(open + 1, shut - open - 1)
             : line;
}

std::string boot_id() { return read_line("/proc/sys/kernel/random/boot_id"); }

std::string build_profile() { return HAK_BUILD_PROFILE; }

Json machine_json(const CpuPlan& plan, Json* missing) {
  utsname names{};
  uname(&names);
  const std::string libc = std::string("glibc ") + gnu_get_libc_version();
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const std::string memory = field_of("/proc/meminfo", "MemTotal");
  const auto text_or_null = [missing](const char* name, const std::string& value,
                                      const char* reason) {
    if (value.empty()) (*missing)[std::string("machine.") + name] = reason;
    return value.empty() ? Json(nullptr) : Json(value);
  };
  Json machine = {{"cpu", cpu_model()},
                  {"cores", cores},
                  {"allowed_cpus", plan.allowed},
                  {"workload_cpu", plan.workload},
                  {"harness_cpu", plan.harness},
                  {"kernel", std::string(names.release) + " " + names.machine},
                  {"libc", libc}};
  machine["governor"] =
      text_or_null("governor",
                   read_line("/sys/devices/system/cpu/cpu" + std::to_string(plan.workload) +
                             "/cpufreq/scaling_governor"),
                   "no cpufreq in /sys");
  machine["thp"] = text_or_null("thp", chosen_of("/sys/kernel/mm/transparent_hugepage/enabled"),
                                "no transparent_hugepage in /sys");
  machine["virtualisation"] = virtualisation();
  machine["memory_kib"] = std::strtoll(memory.c_str(), nullptr, 10);
  const Json identity = machine_identity();
  machine["fingerprint"] = fingerprint(identity);
  machine["fingerprint_of"] = identity;
  return machine;
}

Json machine_identity() {
  utsname names{};
  uname(&names);
  constexpr double kKibInGib = 1024 * 1024;
  const double memory = std::strtod(field_of("/proc/meminfo", "MemTotal").c_str(), nullptr);
  return {{"cpu", cpu_model()},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"kernel", std::string(names.release) + " " + names.machine},
          {"memory_gib", static_cast<long>(std::ceil(memory / kKibInGib))},
          {"libc", std::string("glibc ") + gnu_get_libc_version()},
          {"virtualisation", virtualisation()}};
}

std::string fingerprint(const Json& identity) { return sha256(identity.dump()).substr(0, 16); }

std::string machine_difference(const Json& before, const Json& now) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : now.items()) {
    const Json old = before.is_object() ? before.value(key, Json(nullptr)) : Json(nullptr);
    if (old == value || old.is_null()) continue;
    const auto shown = [](const Json& item) {
      return item.is_string() ? item.get<std::string>() : item.dump();
    };
    parts.push_back(key + ": " + shown(old) + " then, " + shown(value) + " now");
  }
  return join(parts, "; ");
}

Json build_json() {
  return {{"compiler", HAK_BUILD_COMPILER},
          {"flags", HAK_BUILD_FLAGS},
          {"options", Json::parse(HAK_BUILD_OPTIONS)},
          {"profile", HAK_BUILD_PROFILE}};
}

Json git_json(const std::string& root, Json* missing) {
  Json git = {{"commit", nullptr}, {"dirty", nullptr}};
  const ToolResult commit = run_tool({"git", "-C", root, "rev-parse", "HEAD"}, {}, 10, false);
  if (commit.status != 0) {
    const std::string reason = commit.status < 0 ? "git: " + commit.error : "not a git repository";
    (*missing)["git.commit"] = reason;
    (*missing)["git.dirty"] = reason;
    return git;
  }
  git["commit"] = trim(commit.out);
  // Results are not what is measured: a new folder of them does not make the tree dirty.
  const ToolResult status = run_tool({"git", "-C", root, "--no-optional-locks", "status",
                                      "--porcelain", "--", ".", ":(exclude)results"},
                                     {}, 30, false);
  if (status.status == 0) {
    git["dirty"] = !trim(status.out).empty();
  } else {
    (*missing)["git.dirty"] = "git status failed or took too long";
  }
  return git;
}

}  // namespace hakmem::harness
