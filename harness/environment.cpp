#include "harness/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

std::vector<std::string> lines_of(const Variables& variables) {
  std::vector<std::string> lines;
  lines.reserve(variables.size());
  for (const auto& [name, value] : variables) {
    lines.push_back(name);
    lines.back().append("=").append(value);
  }
  return lines;
}

/// Variables of boxes that hakmem arms set, with their defaults: other libraries get them as well,
/// since all arms carry the same names.
Variables shared_boxes(const Experiment& experiment) {
  Variables shared;
  for (const Arm& arm : experiment.arms) {
    for (const auto& [name, value] : arm.env) {
      const boxes::NamedBox* const entry = find_box(name);
      if (entry != nullptr) shared[name] = std::to_string(entry->box.default_value);
    }
  }
  return shared;
}

}  // namespace

Variables allow_list(const std::string& temporary) {
  // Nothing of the caller's own: a result shall not depend on who ran it.
  return {{"PATH", kRunPath}, {"HOME", temporary}, {"LC_ALL", "C"}, {"TMPDIR", temporary}};
}

std::string report_path(const std::string& temporary) { return temporary + "/report.jsonl"; }

std::string preload_path(const Library& library, const std::string& temporary) {
  if (library.path.find_first_of(" :") == std::string::npos) return library.path;
  std::string link = temporary + "/" + library.sha256.substr(0, 16) + ".so";
  if (symlink(library.path.c_str(), link.c_str()) != 0 && errno != EEXIST) {
    throw Failure(Exit::io, link + ": cannot link to " + library.path + ": " + errno_text(errno));
  }
  return link;
}

std::vector<std::vector<std::string>> arm_environments(const Experiment& experiment,
                                                       const std::string& temporary) {
  Variables common = allow_list(temporary);
  const bool ours = std::any_of(experiment.arms.begin(), experiment.arms.end(),
                                [](const Arm& arm) { return arm.library.hakmem; });
  if (ours) {
    common["HAKMEM_STRICT"] = "1";
    common["HAKMEM_REPORT"] = report_path(temporary);
  }
  common.merge(shared_boxes(experiment));
  std::vector<std::vector<std::string>> environments;
  for (const Arm& arm : experiment.arms) {
    Variables variables = common;
    variables["LD_PRELOAD"] = preload_path(arm.library, temporary);
    for (const auto& [name, value] : arm.env) variables[name] = value;
    environments.push_back(lines_of(variables));
  }
  pad_environments(&environments);
  return environments;
}

void pad_environments(std::vector<std::vector<std::string>>* environments) {
  std::size_t most = 0;
  for (const auto& environment : *environments) most = std::max(most, environment.size());
  for (auto& environment : *environments) {
    for (std::size_t i = environment.size(); i < most; ++i) {
      environment.push_back("HAK_FILL_" + std::to_string(i) + "=");
    }
  }
  std::size_t bytes = 0;
  for (const auto& environment : *environments) {
    bytes = std::max(bytes, environment_bytes(environment));
  }
  for (auto& environment : *environments) {
    const std::size_t missing = bytes - environment_bytes(environment);
    environment.push_back("HAK_PAD=" + std::string(missing, 'x'));
  }
}

std::size_t environment_bytes(const std::vector<std::string>& environment) {
  std::size_t bytes = 0;
  for (const std::string& line : environment) bytes += line.size() + 1;
  return bytes;
}

}  // namespace hakmem::harness
