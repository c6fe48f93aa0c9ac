#include "harness/run_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <optional>

#include "harness/analysis.hpp"
#include "harness/count_arms.hpp"
#include "harness/earlier.hpp"
#include "harness/environment.hpp"
#include "harness/experiment_parts.hpp"
#include "harness/files.hpp"
#include "harness/machine.hpp"
#include "harness/machine_lock.hpp"
#include "harness/manifest.hpp"
#include "harness/observe.hpp"
#include "harness/session.hpp"
#include "harness/signals.hpp"
#include "harness/slices.hpp"
#include "harness/temporary.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr unsigned kQuickRuns = 3;
constexpr double kQuickSeconds = 0.2;
constexpr double kQuickSlices = 1.0;
constexpr std::size_t kEarlierShown = 5;
constexpr unsigned kQuotedBlocks = 5;  // of the peer whose percentage every report quotes
constexpr double kReportSeconds = 600;
constexpr double kEvidenceSeconds = 300;

void say(const std::string& line) { std::fprintf(stderr, "hak: %s\n", line.c_str()); }

/// Finds a program as a run will; "" where there is none that may be executed.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  for (const std::string& folder : split(kRunPath, ':')) {
    std::string candidate = folder;
    candidate.append("/").append(name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

/// Everything that a run starts must be there before anything starts.
void check_programs(const Experiment& experiment, const Places& places) {
  if (find_program(places.spawn_helper()).empty()) {
    throw Failure(Exit::missing, places.spawn_helper() + " is not built; type: ./hak build");
  }
  for (const Cell& cell : experiment.cells) {
    if (cell.program() && find_program(cell.command[0]).empty()) {
      throw Failure(Exit::usage, experiment.file + ": the program " + cell.command[0] +
                                     " is not found or not executable");
    }
    if (!cell.process.empty() && find_program(cell.process).empty()) {
      throw Failure(Exit::missing, experiment.file + ": the program " + cell.process +
                                       " is not there; type: ./hak setup programs");
    }
    if (!cell.program() && find_program(places.hakbench()).empty()) {
      throw Failure(Exit::missing, places.hakbench() + " is not built; type: ./hak build");
    }
  }
}

class RunCommand {
 public:
  RunCommand(const RunOptions& options, const Places& places)
      : options_(options), places_(places), plan_(plan_cpus()) {}

  Exit run() {
    read();
    check_programs(experiment_, places_);
    std::vector<std::string> known = plan_notices(experiment_, plan_);
    known.insert(known.end(), options_.notices.begin(), options_.notices.end());
    notices_.insert(notices_.begin(), known.begin(), known.end());
    if (options_.quick) {
      notices_.emplace_back("--quick: three short blocks show that it works, not which is better");
    }
    show_before();
    pin_harness(plan_);
    const MachineLock lock(!options_.no_wait);
    if (!lock.problem().empty()) {
      notices_.push_back("no lock against a second hak run: " + lock.problem());
    }
    open();
    const bool complete = measure();
    if (!complete) {
      say("stopped; go on with: hak run --resume " + shell_quoted(folder_->path()));
      return Exit::interrupted;
    }
    if (options_.no_report) return Exit::ok;
    const bool is_verdict = experiment_.report == "verdict";
    if (is_verdict && !options_.quick && !options_.no_code) look_at_code();
    return report();
  }

  /// The result's folder; "" before it was made.
  [[nodiscard]] std::string folder() const { return folder_ ? folder_->path() : std::string(); }

 private:
  void read() {
    const bool resumed = !options_.resume.empty();
    if (!resumed && options_.file.empty()) {
      throw Failure(Exit::usage, "run needs an experiment file, or --resume DIR");
    }
    if (resumed && (options_.runs != 0 || options_.quick || options_.until_decided ||
                    !options_.mode.empty() || !options_.libraries.empty())) {
      throw Failure(Exit::usage,
                    "--resume keeps the declared plan; --runs, --mode, --quick, --until-decided "
                    "and --lib do not go with it");
    }
    if (!resumed) {
      experiment_ = parse_experiment(options_.file, experiment_text(), places_);
      if (options_.until_decided) experiment_.declare_sequential();
      if (experiment_.until_decided && (options_.runs != 0 || options_.quick)) {
        throw Failure(Exit::usage,
                      "a sequential run has looks; --runs and --quick are for a fixed number of "
                      "blocks");
      }
      if (!options_.mode.empty()) experiment_.mode = options_.mode;
      if (experiment_.mode == "slices") use_slices(&experiment_, &notices_);
      if (options_.runs != 0) experiment_.runs = options_.runs;
      if (options_.quick) {
        if (options_.runs == 0) experiment_.runs = kQuickRuns;
        experiment_.min_seconds = kQuickSeconds;
        experiment_.slices_seconds = kQuickSlices;
      }
      if (options_.no_peer) return;
      const std::string lack = add_quoted_peer(places_, kQuotedBlocks, &experiment_);
      if (!lack.empty()) notices_.push_back(lack);
      return;
    }
    folder_.emplace(ResultFolder::open(options_.resume));
    experiment_ = read_experiment(folder_->path() + "/experiment.json", places_);
    check_resumed();
  }

  /// The experiment with what the command line adds to it.
  [[nodiscard]] std::string experiment_text() const {
    std::string text = options_.text.empty() ? read_experiment_text(options_.file) : options_.text;
    if (options_.libraries.empty()) return text;
    Json root = parse_placed(options_.file, text).value;
    Json& list = root["libraries"];
    if (!list.is_array()) list = Json::array();
    for (const std::string& library : options_.libraries) {
      list.push_back(library_argument(library));
    }
    return root.dump(1) + "\n";
  }

  /// A resumed run must be the one that began: same plan, same libraries.
  void check_resumed() {
    manifest_ = folder_->manifest();
    if (!manifest_.is_object()) {
      throw Failure(Exit::usage, folder_->path() + "/manifest.json is damaged; restore it");
    }
    const auto must_match = [&](const std::string& sha, const std::string& what) {
      if (manifest_.value("experiment_sha256", Json(nullptr)) != sha) say(what);
    };
    must_match(experiment_.sha256,
               "warning: " + folder_->path() + "/experiment.json was edited after the run began");
    if (!options_.file.empty()) {
      must_match(read_experiment(options_.file, places_).sha256,
                 "notice: " + options_.file +
                     " was edited since this run began; the run goes on with its own copy");
    }
    const Json plan = manifest_.value("experiment", Json::object());
    experiment_.mode = plan.value("mode", "process");
    if (experiment_.mode == "slices") {
      use_slices(&experiment_, &notices_);
      experiment_.slices_seconds =
          plan.value("slices", Json::object()).value("seconds", experiment_.slices_seconds);
    }
    experiment_.runs = plan.value("runs", experiment_.runs);
    experiment_.min_seconds = plan.value("min_seconds", experiment_.min_seconds);
    experiment_.until_decided = plan.value("until_decided", false);
    if (experiment_.until_decided) experiment_.looks = plan.value("looks", experiment_.looks);
    for (const Json& arm : manifest_.value("arms", Json::array())) {
      const unsigned blocks = arm.value("blocks", 0U);
      if (blocks == 0) continue;
      const std::string lack = add_quoted_peer(places_, blocks, &experiment_);
      if (!lack.empty()) throw Failure(Exit::missing, folder_->path() + ": " + lack);
    }
    const std::string problem = resume_problem(manifest_, experiment_);
    if (!problem.empty()) throw Failure(Exit::usage, folder_->path() + ": " + problem);
    if (!folder_->warning().empty()) say("warning: " + folder_->warning());
    check_machine();
  }

  /// Blocks of unlike machines are not one sample.
  void check_machine() {
    const Json machine = manifest_.value("machine", Json::object());
    if (!machine.is_object()) return;
    const std::string difference =
        machine_difference(machine.value("fingerprint_of", machine), machine_identity());
    if (difference.empty()) return;
    if (!options_.force) {
      throw Failure(Exit::usage, folder_->path() + ": it began on another machine (" + difference +
                                     "); start a new run, or go on with --force");
    }
    notices_.push_back("--force: blocks of unlike machines stand side by side (" + difference +
                       ")");
  }

  [[nodiscard]] std::string results() const {
    return options_.results.empty() ? places_.root + "/results" : options_.results;
  }

  /// What a person should know before the machine is busy for minutes.
  void show_before() {
    checks_ = examine(plan_);
    for (const Check& check : checks_) {
      if (check.severity == "warn" && !options_.quiet)
        say("doctor: " + check.name + ": " + check.state);
    }
    if (!options_.quiet) {
      for (const std::string& line : earlier_results(results(), experiment_, kEarlierShown)) {
        say("earlier: " + line);
      }
    }
    bool loud = false;
    for (const std::string& notice : notices_) {
      if (!options_.quiet) say("NOTICE: " + notice);
      loud = loud || notice.starts_with("A/A");
    }
    const bool can_ask = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
    if (!loud || options_.yes || !can_ask) return;
    std::fputs("hak: nothing can differ between the arms. Go on? [y/N] ", stderr);
    std::string answer;
    if (!std::getline(std::cin, answer) || answer.empty() || lower(answer)[0] != 'y') {
      throw Failure(caught_signal() != 0 ? Exit::interrupted : Exit::usage, "not started");
    }
  }

  void open() {
    if (!folder_) folder_.emplace(ResultFolder::create(results(), experiment_));
    folder_->use_names(PathNames(places_, temporary_.path()));
    if (manifest_.is_object()) {
      add_session(&manifest_, plan_);
    } else {
      manifest_ = first_manifest(experiment_, folder_->run(), places_, plan_, checks_,
                                 allow_list(temporary_.path()));
    }
    if (experiment_.mode == "slices") add_process_mode();
    add_notices(&manifest_, notices_);
    folder_->write_manifest(manifest_);
    if (!options_.quiet) say("results go to " + folder_->path());
  }

  /// The result in process mode that a slices verdict must not contradict.
  void add_process_mode() {
    if (manifest_.contains("process_mode")) return;
    const Json process = process_mode_result(results(), experiment_);
    if (process.is_object()) {
      manifest_["process_mode"] = process;
      return;
    }
    notices_.emplace_back(
        "there is no result of this comparison in process mode to hold the slices against "
        "(type: hak run " +
        shell_quoted(experiment_.file) + " --mode process)");
    say("NOTICE: " + notices_.back());
  }

  /// Runs all blocks; the manifest says in the end how it went. False where a signal came.
  bool measure() {
    const SessionSetup setup = {experiment_, places_, plan_, temporary_.path(),
                                last_session(manifest_)};
    try {
      if (manifest_["observe"].empty()) {
        std::vector<std::string> notices;
        manifest_["observe"] = observe_arms(setup, &notices);
        for (const std::string& notice : notices) say("NOTICE: " + notice);
        add_notices(&manifest_, notices);
        folder_->write_manifest(manifest_);
      }
      if (experiment_.until_decided) declare_looks();
      Session session(setup, &*folder_);
      const bool complete = caught_signal() == 0 && session.run();
      add_notices(&manifest_, session.notices());
      if (session.stopped_at() != 0) manifest_["sequential"]["stopped_at"] = session.stopped_at();
      manifest_["status"] = complete ? "complete" : "interrupted";
      folder_->write_manifest(manifest_);
      return complete;
    } catch (const Failure&) {
      note_failure();
      throw;
    }
  }

  /// Looks and levels stand in the manifest before the first block.
  void declare_looks() {
    if (manifest_.contains("sequential")) return;
    const Json levels = Watch(places_).levels(folder_->path());
    if (!levels.is_object()) return;  // a signal: nothing was measured
    manifest_["sequential"] = levels;
    folder_->write_manifest(manifest_);
  }

  /// The manifest of a run that the machine ended; the disk may refuse that too.
  void note_failure() {
    try {
      manifest_["status"] = "failed";
      folder_->write_manifest(manifest_);
    } catch (const Failure& second) {
      say(second.what());
    }
    say("all samples so far are kept; go on with: hak run --resume " +
        shell_quoted(folder_->path()));
  }

  /// Writes counts.json, mechanism.json and compliance.json; the report does without them where
  /// that fails.
  void look_at_code() {
    say("counting instructions and checking the box");
    const SessionSetup setup = {experiment_, places_, plan_, temporary_.path(),
                                last_session(manifest_)};
    write_whole(folder_->path() + "/counts.json", count_arms(setup).dump(1) + "\n");
    const std::vector<std::string> command = {python_program(), places_.root + "/boxes/evidence.py",
                                              folder_->path()};
    const ToolResult made =
        run_tool(command, analysis_environment(places_), kEvidenceSeconds, true);
    if (made.status != 0 && caught_signal() == 0) {
      say("NOTICE: the report lacks mechanism or compliance (boxes/evidence.py failed)");
    }
  }

  Exit report() {
    std::vector<std::string> words = {"report", folder_->path()};
    if (options_.force) words.emplace_back("--force");
    const ToolResult made =
        run_tool(analysis_command(words), analysis_environment(places_), kReportSeconds, true);
    if (caught_signal() != 0) return Exit::interrupted;
    const bool sweep = experiment_.report == "compare";
    const std::string file = folder_->path() + (sweep ? "/compare.json" : "/verdict.json");
    Json verdict = Json::parse(read_file(file).value_or(""), nullptr, false);
    if (made.status < 0 || !verdict.is_object() ||
        !verdict.contains(sweep ? "headline" : "decision")) {
      throw Failure(Exit::missing, "the samples are complete, but the analysis gave no verdict" +
                                       (made.error.empty() ? "" : " (" + made.error + ")") +
                                       "; type: hak report " + shell_quoted(folder_->path()));
    }
    if (sweep) verdict["decision"] = nullptr;  // it describes and decides nothing
    const Json headline = verdict.value("headline", verdict["decision"]);
    std::printf("%s\nreport: %s/report.md\n",
                headline.is_string() ? headline.get<std::string>().c_str() : "?",
                folder_->path().c_str());
    return gate(verdict["decision"].is_string() ? verdict["decision"].get<std::string>() : "");
  }

  [[nodiscard]] Exit gate(const std::string& decision) const {
    if (decision.starts_with("INVALID")) return Exit::invalid;
    const bool closed = options_.gate == "no-go" || options_.gate == "undecided";
    if (closed && decision.starts_with("NO-GO")) return Exit::no_go;
    if (options_.gate == "undecided" && decision.starts_with("UNDECIDED")) return Exit::undecided;
    return Exit::ok;
  }

  const RunOptions& options_;
  const Places& places_;
  CpuPlan plan_;
  TemporaryFolder temporary_;
  Experiment experiment_;
  std::optional<ResultFolder> folder_;
  Json manifest_;
  std::vector<Check> checks_;
  std::vector<std::string> notices_;
};

}  // namespace

Exit run_command(const RunOptions& options, const Places& places, std::string* folder) {
  RunCommand command(options, places);
  const Exit code = command.run();
  if (folder != nullptr) *folder = command.folder();
  return code;
}

}  // namespace hakmem::harness
