#include "harness/manifest.hpp"

#include <algorithm>
#include <ctime>

#include "harness/machine.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

Json arms_json(const Experiment& experiment, Json* missing) {
  Json list = Json::array();
  for (const Arm& arm : experiment.arms) {
    const Library& library = arm.library;
    const Json facts = build_facts(library);
    const auto or_null = [](const std::string& text) {
      return text.empty() ? Json(nullptr) : Json(text);
    };
    list.push_back({{"name", arm.name},
                    {"role", arm.role},
                    {"library", library.name},
                    {"path", or_null(library.path)},
                    {"sha256", or_null(library.sha256)},
                    {"build_id", or_null(library.build_id)},
                    {"env", arm.env}});
    if (arm.blocks != 0) list.back()["blocks"] = arm.blocks;
    for (const char* const key : {"profile", "compiler", "flags", "training"}) {
      if (facts.is_object() && facts.contains(key)) list.back()[key] = facts[key];
    }
    if (facts.is_object()) continue;
    const std::string reason =
        library.path.empty() ? "the C library is not preloaded" : "the library was not built here";
    for (const char* const key : {"profile", "compiler"}) {
      list.back()[key] = nullptr;
      (*missing)["arms." + arm.name + "." + key] = reason;
    }
  }
  return list;
}

Json cells_json(const Experiment& experiment) {
  Json list = Json::array();
  for (const Cell& cell : experiment.cells) {
    Json entry = {{"cell", cell.name},
                  {"workload", cell.workload},
                  {"params", cell.params},
                  {"threads", cell.threads},
                  {"primary", cell.primary}};
    if (cell.program()) entry["command"] = cell.command;
    list.push_back(std::move(entry));
  }
  return list;
}

Json session_json(unsigned number, const CpuPlan& plan) {
  return {{"session", number},
          {"boot_id", boot_id()},
          {"started", iso_time(std::time(nullptr))},
          {"fingerprint", fingerprint(machine_identity())},
          {"allowed_cpus", plan.allowed}};
}

/// Whether a training entry is what a cell measures: the same workload, and no parameter that both
/// name differs. Seeds do not tell two workloads apart.
bool trained_on(const Json& entry, const Cell& cell) {
  if (entry.value("workload", Json(nullptr)) != cell.workload) return false;
  const Json params = entry.value("params", Json::object());
  return std::none_of(
      cell.params.items().begin(), cell.params.items().end(), [&](const auto& item) {
        const bool extent =
            item.key() == "ops" || item.key() == "rounds" || item.key() == "seconds";
        return !extent && params.contains(item.key()) && params[item.key()] != item.value();
      });
}

void add_training_notices(const Arm& arm, const std::vector<Cell>& cells,
                          std::vector<std::string>* notices) {
  const Json facts = build_facts(arm.library);
  if (!facts.is_object() || !facts.contains("training")) return;
  for (const Cell& cell : cells) {
    for (const Json& entry : facts["training"].value("workloads", Json::array())) {
      if (!trained_on(entry, cell)) continue;
      notices->push_back("the arm " + arm.name + " was trained on " + cell.workload +
                         ", which the cell " + cell.name +
                         " measures: its gain there is more than other programs will see");
      break;
    }
  }
}

}  // namespace

Json first_manifest(const Experiment& experiment, const std::string& run, const Places& places,
                    const CpuPlan& plan, const std::vector<Check>& checks,
                    const Variables& common) {
  Json missing = Json::object();
  Json manifest = {{"format", 1},
                   {"phase", experiment.phase},
                   {"run", run},
                   {"experiment_sha256", experiment.sha256},
                   {"started", iso_time(std::time(nullptr))},
                   {"status", "running"},
                   {"experiment", experiment.normalised()}};
  manifest["arms"] = arms_json(experiment, &missing);
  manifest["cells"] = cells_json(experiment);
  manifest["environment"] = {{"allow_list", common}};
  manifest["build"] = build_json();
  manifest["git"] = git_json(places.root, &missing);
  manifest["machine"] = machine_json(plan, &missing);
  manifest["doctor"] = doctor_json(checks);
  manifest["notices"] = Json::array();
  manifest["observe"] = Json::object();
  manifest["sessions"] = Json::array({session_json(1, plan)});
  manifest["missing"] = std::move(missing);
  return manifest;
}

void add_session(Json* manifest, const CpuPlan& plan) {
  const unsigned number = last_session(*manifest) + 1;
  Json session = session_json(number, plan);
  const Json identity = machine_identity();
  const Json first = manifest->value("machine", Json::object());
  if (machine_difference(first.value("fingerprint_of", first), identity) != "") {
    session["machine"] = identity;
  }
  (*manifest)["sessions"].push_back(std::move(session));
  (*manifest)["status"] = "running";
}

unsigned last_session(const Json& manifest) {
  const auto sessions = manifest.find("sessions");
  return sessions != manifest.end() ? static_cast<unsigned>(sessions->size()) : 0;
}

void add_notices(Json* manifest, const std::vector<std::string>& notices) {
  Json& list = (*manifest)["notices"];
  if (!list.is_array()) list = Json::array();
  for (const std::string& notice : notices) {
    if (std::find(list.begin(), list.end(), Json(notice)) == list.end()) list.push_back(notice);
  }
}

std::string resume_problem(const Json& manifest, const Experiment& experiment) {
  const Json arms = manifest.value("arms", Json::array());
  if (arms.size() != experiment.arms.size()) return "its manifest lists other arms";
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Arm& arm = experiment.arms[i];
    if (arms[i].value("name", Json(nullptr)) != arm.name) return "its manifest lists other arms";
    const Json hash = arms[i].value("sha256", Json(nullptr));
    if (hash.is_string() && hash != arm.library.sha256) {
      return "the library of arm " + arm.name + " (" + arm.library.path +
             ") is not the one that it began with; build that one again or start a new run";
    }
  }
  return {};
}

std::vector<std::string> plan_notices(const Experiment& experiment, const CpuPlan& plan) {
  std::vector<std::string> notices;
  const Arm& baseline = experiment.arms[0];
  const Arm& treatment = experiment.arms[1];
  const bool same_library = baseline.library.sha256 == treatment.library.sha256;
  if (same_library && baseline.boxes == treatment.boxes && baseline.env == treatment.env) {
    notices.emplace_back("A/A: both arms have the same library and the same effective boxes");
  } else if (same_library && baseline.library.name != treatment.library.name) {
    notices.push_back("the libraries " + baseline.library.name + " and " + treatment.library.name +
                      " are the same file (sha256)");
  }
  if (plan.shared()) {
    notices.emplace_back(
        "only one CPU is allowed: the harness shares it with the workload and sleeps while a run "
        "lasts");
  }
  if (build_profile() != "standard") {
    notices.push_back("this is a build of the profile " + build_profile() +
                      ": its figures decide nothing");
  }
  for (const Arm& arm : experiment.arms) add_training_notices(arm, experiment.cells, &notices);
  return notices;
}

}  // namespace hakmem::harness
