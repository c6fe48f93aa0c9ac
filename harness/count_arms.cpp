#include "harness/count_arms.hpp"

#include <algorithm>

#include "harness/callgrind.hpp"
#include "harness/environment.hpp"

namespace hakmem::harness {

namespace {

constexpr std::uint64_t kMostOps = 200'000;  ///< a counted run is some fifty times slower
constexpr double kSeconds = 0.001;           ///< one pass
constexpr double kLimitSeconds = 60;

Json count_one(const SessionSetup& setup, const Cell& cell, const Arm& arm,
               const std::vector<std::string>& environment) {
  if (!arm.library.hakmem) return {{"problem", "the library is not ours"}};
  RunRequest request;
  request.helper = setup.places.spawn_helper();
  request.command = cell_command(cell, setup.places, setup.experiment.seeds.front(), kSeconds);
  request.environment = environment;
  request.cpus = setup.plan.for_threads(cell.threads);
  request.timeout_s = kLimitSeconds;
  request.wanted_library = arm.library.path;
  Json counts = counts_json(count_calls(request, arm.library.path, setup.temporary));
  counts.erase("functions");  // a report needs the sums
  return counts;
}

}  // namespace

Json count_arms(const SessionSetup& setup) {
  const std::vector<Cell>& cells = setup.experiment.cells;
  const auto primary =
      std::find_if(cells.begin(), cells.end(), [](const Cell& c) { return c.primary; });
  const Cell cell = shortened(*primary, kMostOps);
  const std::string refusal = callgrind_refusal();
  const std::vector<std::vector<std::string>> environments =
      arm_environments(setup.experiment, setup.temporary);
  Json arms = Json::object();
  for (std::size_t i = 0; i < environments.size(); ++i) {
    const Arm& arm = setup.experiment.arms[i];
    if (arm.role == "reference") continue;
    arms[arm.name] =
        refusal.empty() ? count_one(setup, cell, arm, environments[i]) : Json{{"problem", refusal}};
  }
  return {{"format", 1}, {"arms", std::move(arms)}};
}

}  // namespace hakmem::harness
