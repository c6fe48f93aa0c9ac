#include "harness/slices.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

namespace fs = std::filesystem;

const Arm& baseline(const Experiment& experiment) { return experiment.arms.at(0); }
const Arm& treatment(const Experiment& experiment) { return experiment.arms.at(1); }

/// Boxes whose values differ between the arms.
std::vector<const boxes::NamedBox*> switched(const Experiment& experiment) {
  std::vector<const boxes::NamedBox*> found;
  for (const boxes::NamedBox& entry : boxes::kBoxes) {
    const auto first = baseline(experiment).boxes.find(entry.box.env);
    const auto second = treatment(experiment).boxes.find(entry.box.env);
    if (first == baseline(experiment).boxes.end() || second == treatment(experiment).boxes.end()) {
      continue;
    }
    if (first->second != second->second) found.push_back(&entry);
  }
  return found;
}

/// "NAME:BOX=VALUE,..." for the boxes that are switched, or any live one where none differs.
std::string side(const Experiment& experiment, const Arm& arm) {
  std::string text = arm.name + ":";
  for (const boxes::NamedBox* entry : switched(experiment)) {
    if (text.back() != ':') text += ",";
    text.append(entry->box.env).append("=").append(std::to_string(arm.boxes.at(entry->box.env)));
  }
  return text;
}

/// Environment of an arm beside the values of boxes: must be the same in both.
std::map<std::string, std::string> other_environment(const Arm& arm) {
  std::map<std::string, std::string> other;
  for (const auto& [name, value] : arm.env) {
    if (find_box(name) == nullptr) other[name] = value;
  }
  return other;
}

std::string problem_of(const Experiment& experiment) {
  if (experiment.until_decided) return "a sequential run is for process mode";
  if (experiment.arms.size() != 2) return "it takes two arms, a baseline and a treatment";
  const Arm& first = baseline(experiment);
  const Arm& second = treatment(experiment);
  for (const Arm* arm : {&first, &second}) {
    if (arm->library.name != "lab") {
      return "the arm " + arm->name + " is not served by the library \"lab\"";
    }
  }
  if (other_environment(first) != other_environment(second)) {
    return "the arms have different environments";
  }
  for (const boxes::NamedBox* entry : switched(experiment)) {
    if (!entry->box.live) {
      return std::string(entry->box.env) + " cannot be switched in a running process (not live)";
    }
  }
  for (const Cell& cell : experiment.cells) {
    if (cell.program()) return "the cell " + cell.name + " is no workload of hakbench";
    if (cell.params.value("latency", Json(0)) != 0) {
      return "the cell " + cell.name + " asks for latencies, which slices do not tell apart";
    }
  }
  if (experiment.metric != "ops_per_s" && experiment.metric != "ns_per_op") {
    return "the metric " + experiment.metric + " cannot be told apart by slices";
  }
  return {};
}

/// What makes two manifests the same comparison: arms without their files, and cells.
Json comparison_of(const Json& experiment) {
  Json same = {{"workloads", experiment.value("workloads", Json())},
               {"metric", experiment.value("metric", Json())}};
  for (const Json& arm : experiment.value("arms", Json::array())) {
    if (arm.value("role", Json()) == "reference") continue;
    same["arms"].push_back(
        {arm.value("name", Json()), arm.value("library", Json()), arm.value("env", Json())});
  }
  return same;
}

Json parse_in(const fs::path& folder, const char* file) {
  return Json::parse(read_file((folder / file).string()).value_or(""), nullptr, false);
}

/// {"run", "decision"} of a result folder that is the wanted comparison in process mode, else null.
Json result_in(const fs::path& folder, const Json& wanted) {
  const Json manifest = parse_in(folder, "manifest.json");
  if (!manifest.is_object() || manifest.value("status", Json()) != "complete") return nullptr;
  const Json experiment = manifest.value("experiment", Json::object());
  if (experiment.value("mode", Json("process")) != "process") return nullptr;
  if (comparison_of(experiment) != wanted) return nullptr;
  const Json verdict = parse_in(folder, "verdict.json");
  if (!verdict.is_object() || !verdict.contains("decision")) return nullptr;
  return {{"run", folder.parent_path().filename().string() + "/" + folder.filename().string()},
          {"decision", verdict["decision"]}};
}

}  // namespace

void use_slices(Experiment* experiment, std::vector<std::string>* notices) {
  const auto first_reference = std::find_if(experiment->arms.begin(), experiment->arms.end(),
                                            [](const Arm& arm) { return arm.role == "reference"; });
  if (first_reference != experiment->arms.end()) {
    notices->emplace_back("slices mode runs no references: they are other libraries");
    experiment->arms.erase(first_reference, experiment->arms.end());
  }
  const std::string problem = problem_of(*experiment);
  if (!problem.empty()) {
    throw Failure(Exit::usage, experiment->file + ": --mode slices: " + problem);
  }
  experiment->mode = "slices";
  experiment->runs = experiment->slices_processes;
}

std::vector<std::string> slices_arguments(const Experiment& experiment) {
  return {"--slices",
          side(experiment, baseline(experiment)) + "/" + side(experiment, treatment(experiment)),
          "--slices-seconds", fixed(experiment.slices_seconds, 3)};
}

std::vector<std::string> slices_problems(const Experiment& experiment, const Json& record) {
  const Json proof = record.is_object() ? record.value("slices_proof", Json()) : Json();
  if (!proof.is_object()) return {"the record has no slices_proof"};
  std::vector<std::string> problems;
  std::vector<Json> variants;
  for (const Arm* arm : {&baseline(experiment), &treatment(experiment)}) {
    const Json ran = proof.value(arm->name, Json::object());
    const Json uses = ran.value("uses", Json::object());
    variants.push_back(ran.value("variant", Json()));
    for (const boxes::NamedBox* entry : switched(experiment)) {
      const boxes::Box& box = entry->box;
      const std::int64_t value = arm->boxes.at(box.env);
      if (box.kind == boxes::Kind::shape || value == box.default_value) continue;
      if (uses.value(box.env, Json(0)) == 0) {
        problems.push_back(std::string(box.env) + " was set to " + std::to_string(value) +
                           " and never used in the slices of " + arm->name + " (0 " + box.counter +
                           ")");
      }
    }
  }
  const std::vector<const boxes::NamedBox*> boxes = switched(experiment);
  const bool shapes = std::any_of(boxes.begin(), boxes.end(), [](const boxes::NamedBox* entry) {
    return entry->box.kind == boxes::Kind::shape;
  });
  if (shapes == (variants[0] == variants[1])) {
    problems.push_back("the slices of both arms were served by the variants " + variants[0].dump() +
                       " and " + variants[1].dump());
  }
  return problems;
}

Json process_mode_result(const std::string& results, const Experiment& experiment) {
  const Json wanted = comparison_of(experiment.normalised());
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::directory_entry& run :
       fs::directory_iterator(results + "/" + experiment.folder(), error)) {
    folders.push_back(run.path());
  }
  std::sort(folders.rbegin(), folders.rend());
  for (const fs::path& folder : folders) {
    try {
      Json found = result_in(folder, wanted);
      if (!found.is_null()) return found;
    } catch (const Json::exception&) {
      continue;  // a damaged folder; `hak history` says more
    }
  }
  return nullptr;
}

}  // namespace hakmem::harness
