#include "harness/calibrate_command.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

#include "harness/analysis.hpp"
#include "harness/files.hpp"
#include "harness/placed_json.hpp"
#include "harness/signals.hpp"
#include "harness/spawner.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

namespace fs = std::filesystem;

constexpr double kAnalysisSeconds = 600;

/// Runs the analysis and prints what it says.
Exit analyse(const std::vector<std::string>& words, const Places& places) {
  const ToolResult made =
      run_tool(analysis_command(words), analysis_environment(places), kAnalysisSeconds, true);
  if (caught_signal() != 0) return Exit::interrupted;
  std::fputs(made.out.c_str(), stdout);
  if (made.status == 0) return Exit::ok;
  if (made.status == static_cast<int>(Exit::invalid)) return Exit::invalid;
  throw Failure(Exit::missing, "the samples are complete, but the analysis failed" +
                                   (made.error.empty() ? "" : " (" + made.error + ")") +
                                   "; type: hak " + words[0] + " " + shell_quoted(words[1]));
}

Exit calibrate_long(RunOptions options, const Places& places) {
  if (options.file.empty() && options.resume.empty()) {
    options.file = places.root + "/experiments/calibrate.json";
  }
  const std::string results = options.results.empty() ? places.root + "/results" : options.results;
  std::string folder;
  const Exit code = run_command(options, places, &folder);
  if (code != Exit::ok && code != Exit::invalid) return code;
  const Exit found =
      analyse({"calibrate-report", folder, "--keep", results + "/calibration.json"}, places);
  return code == Exit::ok ? found : code;
}

/// The short runs that are there, in order; "" where a folder has no manifest that can be read.
std::vector<std::pair<std::string, std::string>> runs_and_states(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> found;
  std::error_code error;
  for (const fs::directory_entry& phase : fs::directory_iterator(folder + "/runs", error)) {
    std::error_code inner;
    for (const fs::directory_entry& run : fs::directory_iterator(phase.path(), inner)) {
      const Json manifest = Json::parse(
          read_file(run.path().string() + "/manifest.json").value_or(""), nullptr, false);
      const bool known =
          manifest.is_object() && manifest.contains("status") && manifest["status"].is_string();
      found.emplace_back(run.path().string(), known ? manifest["status"].get<std::string>() : "");
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Exit calibrate_times(RunOptions options, unsigned times, const Places& places) {
  const std::string results = options.results.empty() ? places.root + "/results" : options.results;
  const std::string folder = options.resume.empty()
                                 ? results + "/calibrate/" + run_name(std::time(nullptr))
                                 : real_path(options.resume);
  if (folder.empty() || (!options.resume.empty() && !exists(folder + "/runs"))) {
    throw Failure(Exit::usage, options.resume + " holds no short A/A runs (no folder runs/)");
  }
  const std::string file =
      options.file.empty() ? places.root + "/experiments/calibrate_short.json" : options.file;
  options.yes = options.no_report = true;
  options.results = folder + "/runs";
  for (;;) {
    unsigned done = 0;
    std::string broken_off;
    for (const auto& [run, state] : runs_and_states(folder)) {
      done += state == "complete" ? 1 : 0;
      if (state != "complete" && !state.empty()) broken_off = run;
    }
    if (done >= times) break;
    std::fprintf(stderr, "hak: A/A run %u of %u\n", done + 1, times);
    options.resume = broken_off;
    options.file = broken_off.empty() ? file : "";
    const Exit code = run_command(options, places);
    if (code == Exit::interrupted) {
      std::fprintf(stderr, "hak: go on with: hak calibrate --times %u --resume %s\n", times,
                   shell_quoted(folder).c_str());
    }
    if (code != Exit::ok) return code;
    options.quiet = true;
  }
  return analyse({"calibrate-times", folder}, places);
}

}  // namespace

Exit calibrate_command(const RunOptions& options, unsigned times, const Places& places) {
  RunOptions run = options;
  run.yes = true;      // that nothing can differ is the point
  run.no_peer = true;  // a third arm would change what stands beside what
  return times == 0 ? calibrate_long(run, places) : calibrate_times(run, times, places);
}

}  // namespace hakmem::harness
