#include "harness/profile_command.hpp"

#include <cstdio>
#include <ctime>
#include <filesystem>

#include "harness/analysis.hpp"
#include "harness/callgrind.hpp"
#include "harness/environment.hpp"
#include "harness/files.hpp"
#include "harness/machine.hpp"
#include "harness/machine_lock.hpp"
#include "harness/perf_tool.hpp"
#include "harness/profile_plan.hpp"
#include "harness/result_folder.hpp"
#include "harness/sample.hpp"
#include "harness/session.hpp"
#include "harness/signals.hpp"
#include "harness/temporary.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr std::uint64_t kCountedOps = 200'000;  // callgrind is some fifty times slower
constexpr unsigned kBandSizes[] = {8, 16, 32, 64, 128, 256, 512, 1024};
constexpr double kCountSeconds = 600;
constexpr double kReportSeconds = 300;

void say(const std::string& line) { std::fprintf(stderr, "hak: %s\n", line.c_str()); }

class ProfileCommand {
 public:
  ProfileCommand(const ProfileOptions& options, const Places& places)
      : options_(options),
        places_(places),
        cpus_(plan_cpus()),
        plan_(plan_profile(options, places, temporary_.path())),
        environments_(arm_environments(plan_.experiment, temporary_.path())) {}

  Exit run() {
    ability_ =
        try_perf(request(plan_.arms[0], plan_.cell, 0), options_.call_graph, temporary_.path());
    if (!ability_.reason.empty()) {
      say("perf samples " + ability_.event + " (" + ability_.reason + ")");
    }
    pin_harness(cpus_);
    const MachineLock lock(true);
    folder_ =
        make_run_folder((options_.results.empty() ? places_.root + "/results" : options_.results) +
                        "/profile/" + name());
    make_folders(folder_ + "/raw");
    describe();
    for (unsigned i = 0; i < options_.runs; ++i) {
      for (std::size_t arm = 0; arm < plan_.arms.size(); ++arm) record(arm, i);
    }
    for (std::size_t arm = 0; arm < plan_.arms.size(); ++arm) count(arm);
    write_whole(folder_ + "/profile.json", profile_.dump(1) + "\n");
    return report();
  }

 private:
  /// "quickstart" for experiments/quickstart.json, else the workload.
  [[nodiscard]] std::string name() const {
    const std::string base = base_of(options_.target);
    return base.substr(0, base.find(".json"));
  }

  [[nodiscard]] const Arm& arm_at(std::size_t index) const {
    return plan_.experiment.arms[plan_.arms[index]];
  }

  [[nodiscard]] RunRequest request(std::size_t arm, const Cell& cell, double seconds) const {
    RunRequest request;
    request.helper = places_.spawn_helper();
    request.command = cell_command(cell, places_, plan_.experiment.seeds.front(), seconds);
    request.environment = environments_[arm];
    request.cpus = cpus_.for_threads(cell.threads);
    request.timeout_s = plan_.experiment.timeout_seconds;
    return request;
  }

  void describe() {
    Json missing = Json::object();
    profile_ = {{"format", 1},
                {"target", name()},
                {"phase", plan_.experiment.phase},
                {"started", iso_time(std::time(nullptr))},
                {"cell", plan_.cell.name},
                {"workload", plan_.cell.workload},
                {"params", plan_.cell.params},
                {"command", plan_.cell.command},
                {"program", plan_.cell.program() ? "" : base_of(places_.hakbench())},
                {"event", ability_.event},
                {"event_reason", ability_.reason},
                {"call_graph", ability_.call_graph},
                {"frequency", options_.frequency},
                {"perf", ability_.version},
                {"arms", Json::array()}};
    profile_["git"] = git_json(places_.root, &missing);
    profile_["machine"] = machine_json(cpus_, &missing);
    for (std::size_t i = 0; i < plan_.arms.size(); ++i) {
      const Arm& arm = arm_at(i);
      const Json facts = build_facts(arm.library);
      profile_["arms"].push_back(
          {{"name", arm.name},
           {"library", arm.library.name},
           {"file", arm.library.path.empty() ? "libc.so.6" : base_of(arm.library.path)},
           {"path", arm.library.path},
           {"sha256", arm.library.sha256},
           {"ours", arm.library.hakmem},
           {"build", facts},
           {"env", arm.env},
           {"boxes", arm.boxes},
           {"recordings", Json::array()},
           {"counts", Json::array()}});
    }
    profile_["missing"] = std::move(missing);
  }

  /// Throws where the program did not run on the arm's library: such a profile says nothing.
  Json proven_record(const Arm& arm, const ProcessResult& ran) const {
    if (plan_.cell.program()) return nullptr;
    std::string problem;
    Json record = find_record(ran.out, &problem);
    if (!record.is_object()) throw Failure(Exit::invalid, "arm " + arm.name + ": " + problem);
    const std::string serving = real_path(record.value("malloc_library", ""));
    const bool right = arm.library.path.empty() ? base_of(serving).starts_with("libc")
                                                : serving == arm.library.path;
    if (!right) {
      throw Failure(Exit::invalid,
                    "arm " + arm.name + ": malloc was served by " + base_of(serving));
    }
    return record;
  }

  void stop_at_signal() const {
    if (caught_signal() != 0) throw Failure(Exit::interrupted, "stopped; nothing was analysed");
  }

  void record(std::size_t index, unsigned number) {
    const Arm& arm = arm_at(index);
    const std::string file = "raw/samples-" + arm.name + "-" + std::to_string(number) + ".txt";
    const Recording made =
        record_samples(request(plan_.arms[index], plan_.cell, options_.seconds), ability_,
                       options_.frequency, temporary_.path(), folder_ + "/" + file);
    stop_at_signal();
    if (!made.problem.empty()) {
      throw Failure(Exit::invalid, "arm " + arm.name + ", recording " + std::to_string(number + 1) +
                                       ": " + made.problem);
    }
    const Json record = proven_record(arm, made.result);
    Json entry = {{"file", file}, {"wall_s", made.result.wall_s}};
    entry["ops"] = record.is_object() ? record["ops"] : Json(nullptr);
    profile_["arms"][index]["recordings"].push_back(entry);
    say("arm " + arm.name + ": recording " + std::to_string(number + 1) + " of " +
        std::to_string(options_.runs));
  }

  /// Instruction counts of the cell, and of each size band where asked for. A machine without
  /// valgrind keeps the samples.
  void count(std::size_t index) {
    Json& arm = profile_["arms"][index];
    const std::string refusal = callgrind_refusal();
    if (!refusal.empty() || plan_.cell.program()) {
      arm["counts_missing"] = refusal.empty() ? "programs are not counted" : refusal;
      return;
    }
    disassemble(arm_at(index), &arm);
    count_cell(index, shortened(plan_.cell, kCountedOps), "cell");
    if (!options_.bands) return;
    if (!plan_.cell.params.contains("size")) {
      arm["bands_missing"] = plan_.cell.workload + " has no parameter size";
      return;
    }
    for (const unsigned size : kBandSizes) {
      Cell cell = shortened(plan_.cell, kCountedOps);
      cell.params["size"] = size;
      count_cell(index, cell, "size " + std::to_string(size));
    }
  }

  void count_cell(std::size_t index, const Cell& cell, const std::string& what) {
    stop_at_signal();
    RunRequest slow = request(plan_.arms[index], cell, 0);
    slow.timeout_s = kCountSeconds;
    const CallCounts counts = count_calls(slow, arm_at(index).library.path, temporary_.path());
    Json entry = counts_json(counts);
    entry["what"] = what;
    entry["params"] = cell.params;
    profile_["arms"][index]["counts"].push_back(entry);
  }

  /// The code of malloc and free, so that counted offsets can be shown as instructions.
  void disassemble(const Arm& arm, Json* entry) const {
    if (arm.library.path.empty()) return;
    const std::string file = "code-" + arm.name + ".txt";
    const std::string library = shell_quoted(arm.library.path);
    std::string script;
    for (const char* const part :
         {"-j .hakmem.hot", "-j .hakmem.variants", "--disassemble=malloc", "--disassemble=free"}) {
      script += "objdump -d -C --no-show-raw-insn " + std::string(part) + " " + library + ";";
    }
    const ToolResult made = run_tool(
        {"sh", "-c", "{ " + script + "} >" + shell_quoted(folder_ + "/" + file) + " 2>/dev/null"},
        {}, 60, false);
    if (made.status >= 0) (*entry)["code"] = file;
  }

  Exit report() {
    const ToolResult made = run_tool(analysis_command({"profile-report", folder_}),
                                     analysis_environment(places_), kReportSeconds, true);
    stop_at_signal();
    if (made.status != 0) {
      throw Failure(Exit::missing, "the recordings are complete, but the analysis failed" +
                                       (made.error.empty() ? "" : " (" + made.error + ")") +
                                       "; what perf wrote is in " + folder_ + "/raw");
    }
    if (!options_.keep_raw) {
      std::error_code ignored;
      std::filesystem::remove_all(folder_ + "/raw", ignored);
    }
    std::fputs(made.out.c_str(), stdout);
    return Exit::ok;
  }

  const ProfileOptions& options_;
  const Places& places_;
  CpuPlan cpus_;
  TemporaryFolder temporary_;
  ProfilePlan plan_;
  std::vector<std::vector<std::string>> environments_;
  PerfAbility ability_;
  std::string folder_;
  Json profile_;
};

}  // namespace

Exit profile_command(const ProfileOptions& options, const Places& places) {
  return ProfileCommand(options, places).run();
}

}  // namespace hakmem::harness
