#include "harness/profile_plan.hpp"

#include <algorithm>

#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

/// "size=64" as a number where it is one, else as text.
Json parameters(const std::vector<std::string>& words) {
  Json params = Json::object();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Failure(Exit::usage, "--param takes NAME=VALUE, not \"" + word + "\"");
    }
    const std::string value = word.substr(equals + 1);
    std::int64_t number = 0;
    params[word.substr(0, equals)] = parse_integer(value, &number) ? Json(number) : Json(value);
  }
  return params;
}

/// Libraries of a workload's arms. An experiment has two: the second of a single one never runs.
std::vector<std::string> libraries_of(const ProfileOptions& options) {
  const std::string first = options.arm.empty() ? "standard" : options.arm;
  if (!options.against.empty()) return {first, options.against};
  return {first, first == "glibc" ? "standard" : "glibc"};
}

/// The experiment that stands for a workload by name, so that one reader checks both.
std::string write_stand_in(const ProfileOptions& options, const std::string& temporary) {
  Json arms = Json::array();
  for (const std::string& library : libraries_of(options)) {
    arms.push_back({{"name", base_of(library)}, {"library", library}});
  }
  const Json experiment = {
      {"phase", "profile"},
      {"title", "profile of " + options.target},
      {"hypothesis", "none"},
      {"forecast", {{"low", 0}, {"high", 0}}},
      {"arms", arms},
      {"workloads", {{{"name", options.target}, {"params", parameters(options.params)}}}}};
  std::string path = temporary + "/profile.json";
  write_whole(path, experiment.dump(1));
  return path;
}

std::size_t arm_index(const Experiment& experiment, const std::string& name) {
  std::vector<std::string> names;
  for (const Arm& arm : experiment.arms) names.push_back(arm.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Failure(Exit::usage, "no arm is called \"" + name + "\"" + nearest_hint(name, names) +
                                   "; there are " + join(names, ", "));
  }
  return static_cast<std::size_t>(found - names.begin());
}

Cell cell_of(const Experiment& experiment, const std::string& name) {
  std::vector<std::string> names;
  for (const Cell& cell : experiment.cells) {
    if (name.empty() ? cell.primary : cell.name == name) return cell;
    names.push_back(cell.name);
  }
  throw Failure(Exit::usage, "no cell is called \"" + name + "\"" + nearest_hint(name, names));
}

}  // namespace

ProfilePlan plan_profile(const ProfileOptions& options, const Places& places,
                         const std::string& temporary) {
  const bool is_file = options.target.ends_with(".json") || exists(options.target);
  if (is_file && !options.params.empty()) {
    throw Failure(Exit::usage, "--param goes with a workload; an experiment has its own");
  }
  ProfilePlan plan;
  plan.experiment =
      read_experiment(is_file ? options.target : write_stand_in(options, temporary), places);
  plan.cell = cell_of(plan.experiment, options.cell);
  if (!is_file) {
    plan.arms.push_back(0);
    if (!options.against.empty()) plan.arms.push_back(1);
    return plan;
  }
  // Without a name the arm under test: it is what a profile is asked about.
  plan.arms.push_back(options.arm.empty() ? 1 : arm_index(plan.experiment, options.arm));
  if (!options.against.empty()) plan.arms.push_back(arm_index(plan.experiment, options.against));
  if (plan.arms.size() == 2 && plan.arms[0] == plan.arms[1]) {
    throw Failure(Exit::usage, "--against names the arm that is profiled; give another");
  }
  return plan;
}

}  // namespace hakmem::harness
