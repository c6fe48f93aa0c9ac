#include "harness/experiment.hpp"

#include <cerrno>
#include <cstring>
#include <optional>

#include "harness/checker.hpp"
#include "harness/errors.hpp"
#include "harness/experiment_parts.hpp"
#include "harness/files.hpp"
#include "harness/sha256.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

const std::vector<std::string> kKeys = {"phase",         "title",
                                        "hypothesis",    "forecast",
                                        "box",           "values",
                                        "arms",          "references",
                                        "base_env",      "library",
                                        "workloads",     "metric",
                                        "runs",          "neutral_threshold_pct",
                                        "seeds",         "order_seed",
                                        "guards",        "timeout_seconds",
                                        "void_limits",   "min_seconds",
                                        "until_decided", "looks",
                                        "mode",          "slices",
                                        "factors",       "report",
                                        "libraries"};

const std::vector<std::string> kMetrics = {
    "ops_per_s",      "ns_per_op",        "wall_s",       "user_s",       "system_s",
    "peak_rss_kib",   "final_rss_kib",    "minor_faults", "major_faults", "latency_ns.p50",
    "latency_ns.p99", "latency_ns.p99_9", "instructions", "cycles"};

const std::vector<std::string> kDirections = {"higher", "lower"};

void read_head(const Checker& check, const Json& root, Experiment* result) {
  result->phase = check.line("phase", check.need("", root, "phase"));
  if (!is_plain_name(result->phase)) {
    check.fail("phase", "may hold letters, digits, '.', '_' and '-' only, as it names a folder");
  }
  result->title = check.line("title", check.need("", root, "title"));
  result->hypothesis = check.line("hypothesis", check.need("", root, "hypothesis"));
  const Json& forecast = check.need("", root, "forecast");
  check.keys("forecast", forecast, {"low", "high"});
  result->forecast_low =
      check.number("forecast.low", check.need("forecast", forecast, "low"), -100, 10000);
  result->forecast_high =
      check.number("forecast.high", check.need("forecast", forecast, "high"), -100, 10000);
  if (result->forecast_low > result->forecast_high) check.fail("forecast", "low is above high");
}

void read_metric(const Checker& check, const Json& root, Experiment* result) {
  if (const Json* const metric = Checker::find(root, "metric")) {
    check.keys("metric", *metric, {"name", "direction"});
    result->metric = check.word("metric.name", check.need("metric", *metric, "name"), kMetrics);
    result->direction =
        check.word("metric.direction", check.need("metric", *metric, "direction"), kDirections);
  }
  const Json* const guards = Checker::find(root, "guards");
  if (guards == nullptr) return;
  check.list("guards", *guards, 0);
  for (std::size_t i = 0; i < guards->size(); ++i) {
    const std::string path = child_path("guards", i);
    const Json& guard = (*guards)[i];
    check.keys(path, guard, {"metric", "direction", "margin_pct"});
    result->guards.push_back(
        {check.word(path + ".metric", check.need(path, guard, "metric"), kMetrics),
         check.word(path + ".direction", check.need(path, guard, "direction"), kDirections),
         check.number(path + ".margin_pct", check.need(path, guard, "margin_pct"), 0, 1000)});
  }
}

void read_seeds(const Checker& check, const Json& root, Experiment* result) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;  // exact in every JSON reader
  if (const Json* const seed = Checker::find(root, "order_seed")) {
    result->order_seed = check.whole("order_seed", *seed, 0, kMost);
  }
  const Json* const seeds = Checker::find(root, "seeds");
  if (seeds == nullptr) return;
  check.list("seeds", *seeds, 1);
  result->seeds.clear();
  for (std::size_t i = 0; i < seeds->size(); ++i) {
    result->seeds.push_back(check.whole(child_path("seeds", i), (*seeds)[i], 0, kMost));
  }
}

void read_looks(const Checker& check, const Json& root, Experiment* result) {
  if (const Json* const looks = Checker::find(root, "looks")) {
    check.list("looks", *looks, 2);
    result->looks.clear();
    for (std::size_t i = 0; i < looks->size(); ++i) {
      const std::string path = child_path("looks", i);
      const auto count = static_cast<unsigned>(check.whole(path, (*looks)[i], 2, 10000));
      if (!result->looks.empty() && count <= result->looks.back()) {
        check.fail(path, "must be more blocks than the look before it");
      }
      result->looks.push_back(count);
    }
  }
  const Json* const sequential = Checker::find(root, "until_decided");
  if (sequential == nullptr || !check.boolean("until_decided", *sequential)) return;
  if (root.contains("runs")) {
    check.fail("runs", "is for a fixed number of blocks; a run until_decided has looks");
  }
  result->declare_sequential();
}

void read_report(const Checker& check, const Json& root, Experiment* result) {
  if (const Json* const report = Checker::find(root, "report")) {
    result->report = check.word("report", *report, {"verdict", "compare"});
  }
}

void read_limits(const Checker& check, const Json& root, Experiment* result) {
  const auto number = [&](const char* key, double least, double most, double* value) {
    if (const Json* const found = Checker::find(root, key)) {
      *value = check.number(key, *found, least, most);
    }
  };
  number("neutral_threshold_pct", 0.01, 50, &result->neutral_threshold_pct);
  number("timeout_seconds", 0.1, 86400, &result->timeout_seconds);
  number("min_seconds", 0.001, 3600, &result->min_seconds);
  if (const Json* const runs = Checker::find(root, "runs")) {
    result->runs = static_cast<unsigned>(check.whole("runs", *runs, 1, 10000));
  }
  read_looks(check, root, result);
  if (const Json* const limits = Checker::find(root, "void_limits")) {
    check.keys("void_limits", *limits, {"steal_pct", "foreign_load_pct"});
    if (const Json* const steal = Checker::find(*limits, "steal_pct")) {
      result->void_steal_pct = check.number("void_limits.steal_pct", *steal, 0, 100);
    }
    if (const Json* const load = Checker::find(*limits, "foreign_load_pct")) {
      result->void_foreign_load_pct = check.number("void_limits.foreign_load_pct", *load, 0, 100);
    }
  }
}

void read_mode(const Checker& check, const Json& root, Experiment* result) {
  if (const Json* const mode = Checker::find(root, "mode")) {
    result->mode = check.word("mode", *mode, {"process", "slices"});
  }
  const Json* const slices = Checker::find(root, "slices");
  if (slices == nullptr) return;
  check.keys("slices", *slices, {"processes", "seconds", "slice_ms"});
  if (const Json* const processes = Checker::find(*slices, "processes")) {
    result->slices_processes =
        static_cast<unsigned>(check.whole("slices.processes", *processes, 1, 10000));
  }
  if (const Json* const seconds = Checker::find(*slices, "seconds")) {
    result->slices_seconds = check.number("slices.seconds", *seconds, 0.01, 3600);
  }
  if (const Json* const length = Checker::find(*slices, "slice_ms")) {
    result->slice_ms = check.number("slices.slice_ms", *length, 0.1, 1000);
  }
}

Json arm_json(const Arm& arm) {
  Json json = {{"name", arm.name},
               {"library", arm.library.name},
               {"path", arm.library.path},
               {"env", arm.env},
               {"role", arm.role}};
  if (arm.blocks != 0) json["blocks"] = arm.blocks;
  return json;
}

Json cell_json(const Cell& cell) {
  Json json = {{"name", cell.workload}, {"cell", cell.name}};
  if (cell.program()) {
    json["command"] = cell.command;
    json["metric_from"] = "wall";
    if (!cell.process.empty()) json["process"] = cell.process;
  } else {
    json["params"] = cell.params;
  }
  json["threads"] = cell.threads;
  json["primary"] = cell.primary;
  if (cell.runs != 0) json["runs"] = cell.runs;
  return json;
}

}  // namespace

bool is_plain_name(const std::string& name) {
  static constexpr char kLetters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= 80 && name.front() != '.' && name.front() != '-' &&
         name.find_first_not_of(kLetters) == std::string::npos;
}

Json Experiment::normalised() const {
  Json json = {{"phase", phase},
               {"title", title},
               {"hypothesis", hypothesis},
               {"forecast", {{"low", forecast_low}, {"high", forecast_high}}}};
  if (!box.empty()) {
    json["box"] = box;
    json["values"] = {arms[0].env.at(box), arms[1].env.at(box)};
  }
  json["arms"] = Json::array();
  for (const Arm& arm : arms) json["arms"].push_back(arm_json(arm));
  json["workloads"] = Json::array();
  for (const Cell& cell : cells) json["workloads"].push_back(cell_json(cell));
  json["metric"] = {{"name", metric}, {"direction", direction}};
  json["neutral_threshold_pct"] = neutral_threshold_pct;
  json["runs"] = runs;
  json["until_decided"] = until_decided;
  if (until_decided) json["looks"] = looks;
  json["seeds"] = seeds;
  json["order_seed"] = order_seed;
  json["guards"] = Json::array();
  for (const Guard& guard : guards) {
    json["guards"].push_back({{"metric", guard.metric},
                              {"direction", guard.direction},
                              {"margin_pct", guard.margin_pct}});
  }
  json["timeout_seconds"] = timeout_seconds;
  json["void_limits"] = {{"steal_pct", void_steal_pct},
                         {"foreign_load_pct", void_foreign_load_pct}};
  json["min_seconds"] = min_seconds;
  json["mode"] = mode;
  if (mode == "slices") {
    json["slices"] = {
        {"processes", slices_processes}, {"seconds", slices_seconds}, {"slice_ms", slice_ms}};
  }
  json["report"] = report;
  return json;
}

void Experiment::declare_sequential() {
  until_decided = true;
  runs = looks.back();
}

std::string Experiment::folder() const { return lower(phase); }

std::string read_experiment_text(const std::string& file) {
  const std::optional<std::string> text = read_file(file);
  if (!text) {
    throw Failure(Exit::usage, file + ": cannot read this experiment: " + errno_text(errno));
  }
  return *text;
}

Experiment read_experiment(const std::string& file, const Places& places) {
  return parse_experiment(file, read_experiment_text(file), places);
}

Experiment parse_experiment(const std::string& file, const std::string& text,
                            const Places& places) {
  const PlacedJson document = parse_placed(file, text);
  const Checker check(document);
  check.keys("", document.value, kKeys);
  Experiment result;
  result.file = file;
  result.text = text;
  result.sha256 = sha256(text);
  read_head(check, document.value, &result);
  read_metric(check, document.value, &result);
  read_seeds(check, document.value, &result);
  read_limits(check, document.value, &result);
  read_mode(check, document.value, &result);
  read_report(check, document.value, &result);
  read_cells(check, document.value, &result);
  read_arms(check, document.value, places, &result);
  return result;
}

}  // namespace hakmem::harness
