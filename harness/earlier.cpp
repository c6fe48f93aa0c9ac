#include "harness/earlier.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "harness/files.hpp"
#include "harness/machine.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

namespace fs = std::filesystem;

struct Found {
  std::string run, line;
};

std::string text_of(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Names of the boxes that the arms of a manifest set.
std::set<std::string> boxes_of(const Json& manifest) {
  std::set<std::string> names;
  for (const Json& arm : manifest.value("arms", Json::array())) {
    const Json env = arm.is_object() ? arm.value("env", Json::object()) : Json::object();
    for (const auto& [name, value] : env.items()) names.insert(name);
  }
  return names;
}

std::string shared_with(const Json& manifest, const Experiment& experiment) {
  std::vector<std::string> shared;
  const std::set<std::string> boxes = boxes_of(manifest);
  std::set<std::string> mine, workloads;
  if (!experiment.box.empty()) mine.insert(experiment.box);
  for (const Arm& arm : experiment.arms) {
    if (!experiment.box.empty()) break;
    for (const auto& [name, value] : arm.env) mine.insert(name);
  }
  for (const std::string& name : mine) {
    if (boxes.contains(name)) shared.push_back(name);
  }
  for (const Cell& cell : experiment.cells) workloads.insert(cell.name);
  for (const Json& cell : manifest.value("cells", Json::array())) {
    const std::string name = text_of(cell, "cell");
    if (workloads.contains(name) && shared.size() < 3) shared.push_back(name);
  }
  return join(shared, ", ");
}

std::optional<Found> read_result(const fs::path& folder, const Experiment& experiment) {
  const auto parse = [&](const char* file) {
    return Json::parse(read_file((folder / file).string()).value_or(""), nullptr, false);
  };
  const Json manifest = parse("manifest.json");
  if (!manifest.is_object()) return std::nullopt;
  const std::string shared = shared_with(manifest, experiment);
  if (shared.empty()) return std::nullopt;
  const Json verdict = parse("verdict.json");
  std::string outcome = text_of(verdict, "headline");
  if (outcome.empty()) outcome = "no verdict (" + text_of(manifest, "status") + ")";
  const Json machine = manifest.value("machine", Json::object());
  if (machine.is_object() &&
      !machine_difference(machine.value("fingerprint_of", machine), machine_identity()).empty()) {
    outcome += " (on another machine)";
  }
  const std::string run = folder.filename().string();
  return Found{run, folder.parent_path().filename().string() + "/" + run + " (same " + shared +
                        "): " + outcome};
}

/// The card of a box that was retired, where the experiment is about it.
std::optional<Found> read_card(const fs::path& file, const Experiment& experiment) {
  const Json card = Json::parse(read_file(file.string()).value_or(""), nullptr, false);
  const std::string box = text_of(card, "box");
  const bool mine =
      !box.empty() &&
      (box == experiment.box ||
       std::any_of(experiment.arms.begin(), experiment.arms.end(), [&](const Arm& arm) {
         return experiment.box.empty() && arm.env.contains(box);
       }));
  if (!mine) return std::nullopt;
  std::string day = text_of(card, "removed");
  day.erase(std::remove(day.begin(), day.end(), '-'), day.end());
  return Found{day, "card of " + box + ", retired " + text_of(card, "removed") + ": " +
                        text_of(card, "decision") + ": " + text_of(card, "reason")};
}

}  // namespace

std::vector<std::string> earlier_results(const std::string& results, const Experiment& experiment,
                                         std::size_t most) {
  std::vector<Found> found;
  std::error_code error;
  for (const fs::directory_entry& phase : fs::directory_iterator(results, error)) {
    if (!phase.is_directory(error)) continue;
    std::error_code inner;
    for (const fs::directory_entry& run : fs::directory_iterator(phase.path(), inner)) {
      std::optional<Found> result;
      try {
        result = read_result(run.path(), experiment);
      } catch (const Json::exception&) {
        continue;  // a damaged folder; `hak history` says more
      }
      if (result) found.push_back(std::move(*result));
    }
  }
  std::error_code none;
  for (const fs::directory_entry& file : fs::directory_iterator(results + "/cards", none)) {
    if (file.path().extension() != ".json") continue;
    try {
      std::optional<Found> card = read_card(file.path(), experiment);
      if (card) found.push_back(std::move(*card));
    } catch (const Json::exception&) {
      continue;
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.run > b.run; });
  if (found.size() > most) found.resize(most);
  std::vector<std::string> lines;
  lines.reserve(found.size());
  for (Found& result : found) lines.push_back(std::move(result.line));
  return lines;
}

}  // namespace hakmem::harness
