#include "harness/observe.hpp"

#include <unistd.h>

#include <algorithm>

#include "harness/environment.hpp"
#include "harness/proof.hpp"

namespace hakmem::harness {

namespace {

constexpr double kSeconds = 0.05;            // it counts, it does not measure
constexpr std::uint64_t kMostOps = 1 << 20;  // of one pass

bool ours(const Arm& arm) { return !arm.library.build.empty(); }

const Cell& primary(const Experiment& experiment) {
  return *std::find_if(experiment.cells.begin(), experiment.cells.end(),
                       [](const Cell& cell) { return cell.primary; });
}

/// Counts of the boxes that the arm sets, from the allocator's report.
Json counts_of(const Arm& arm, const Json& report) {
  Json counts = Json::object();
  const Json boxes = report.value("boxes", Json::object());
  for (const auto& [name, value] : arm.env) {
    const Json box = boxes.value(name, Json(nullptr));
    if (!box.is_object()) continue;
    const Json uses = box.value("uses", Json(nullptr));
    if (uses.is_number()) counts[name] = {{"executed", uses}};
  }
  return counts;
}

/// One pre-run. Null with `problem` set where it gave no report.
Json observe_one(const SessionSetup& setup, const std::vector<std::string>& environment,
                 const std::string& library, std::string* problem) {
  const Cell cell = shortened(primary(setup.experiment), kMostOps);
  RunRequest request;
  request.helper = setup.places.spawn_helper();
  request.command = cell_command(cell, setup.places, setup.experiment.seeds.front(), kSeconds);
  request.environment = environment;
  request.cpus = setup.plan.for_threads(cell.threads);
  request.timeout_s = setup.experiment.timeout_seconds;
  request.wanted_library = library;
  const std::string path = report_path(setup.temporary);
  unlink(path.c_str());
  const ProcessResult result = run_process(request);
  const Json report = find_report(read_file(path).value_or(""), result.pid);
  if (!report.is_object()) *problem = "it wrote no report";
  if (report.is_object() && report.value("profile", Json(nullptr)) != "observe") {
    *problem = "it is not of the profile observe";
  }
  return problem->empty() ? report : Json(nullptr);
}

}  // namespace

Json observe_arms(const SessionSetup& setup, std::vector<std::string>* notices) {
  Json observed = Json::object();
  const std::vector<Arm>& arms = setup.experiment.arms;
  if (std::none_of(arms.begin(), arms.end(), ours)) return observed;
  Library library;
  library.path = setup.places.observe_library();
  if (library.path.empty()) {
    notices->emplace_back(
        "no observe build beside this one: executions of shape boxes are not counted "
        "(type: ./hak build observe)");
    return observed;
  }
  library.path = real_path(library.path);
  const std::string preload = "LD_PRELOAD=" + preload_path(library, setup.temporary);
  std::vector<std::vector<std::string>> environments =
      arm_environments(setup.experiment, setup.temporary);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (!ours(arms[i])) continue;
    for (std::string& line : environments[i]) {
      if (line.starts_with("LD_PRELOAD=")) line = preload;
    }
    std::string problem;
    const Json report = observe_one(setup, environments[i], library.path, &problem);
    if (problem.empty()) {
      observed[arms[i].name] = counts_of(arms[i], report);
    } else {
      notices->push_back("the observe pre-run of arm " + arms[i].name +
                         " gave nothing: " + problem);
    }
  }
  return observed;
}

}  // namespace hakmem::harness
