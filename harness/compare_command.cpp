#include "harness/compare_command.hpp"

#include <algorithm>
#include <cerrno>

#include "harness/checker.hpp"
#include "harness/errors.hpp"
#include "harness/experiment_parts.hpp"
#include "harness/files.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr const char* kSuite = "compare";
constexpr const char* kMore[] = {"compare_more", "traces", "programs"};
constexpr unsigned kQuickRuns = 3;
constexpr double kQuickSeconds = 0.35;
constexpr unsigned kLatencyRuns = 2;  // a percentile needs few: each run samples 100,000 calls

PlacedJson read_placed(const Places& places, const std::string& name) {
  const std::string file = places.root + "/experiments/" + name + ".json";
  const std::optional<std::string> text = read_file(file);
  if (!text) throw Failure(Exit::usage, file + ": cannot read: " + errno_text(errno));
  return parse_placed(file, *text);
}

std::vector<Cell> cells_of(const PlacedJson& document) {
  Experiment experiment;
  read_cells(Checker(document), document.value, &experiment);
  return experiment.cells;
}

/// The same work with its calls timed: a cell of its own, since timing costs throughput.
Cell timed(const Cell& cell) {
  Cell twin = cell;
  twin.name += " latency";
  twin.params["latency"] = 1;
  twin.runs = kLatencyRuns;
  return twin;
}

Json entry_of(const Cell& cell) {
  Json entry = {{"name", cell.workload}, {"cell", cell.name}};
  if (cell.program()) {
    entry["command"] = cell.command;
    entry["threads"] = cell.threads;
    if (!cell.process.empty()) entry["process"] = cell.process;
  } else {
    entry["params"] = cell.params;
  }
  if (cell.runs != 0) entry["runs"] = cell.runs;
  return entry;
}

bool means(const std::string& word, const Cell& cell) {
  return word == cell.name || word == cell.workload || cell.name.starts_with(word + " ");
}

class Suite {
 public:
  Suite(const CompareOptions& options, const Places& places, RunOptions* run)
      : options_(options), places_(places), run_(run) {}

  void plan() {
    const PlacedJson suite = read_placed(places_, kSuite);
    Json root = suite.value;
    root["arms"] = arms(root["arms"]);
    std::vector<Cell> cells = cells_of(suite);
    for (const char* const name : kMore) {
      if (!options_.all) break;
      for (Cell& cell : cells_of(read_placed(places_, name))) add(std::move(cell), &cells);
    }
    choose(&cells);
    root["workloads"] = Json::array();
    for (const Cell& cell : cells) root["workloads"].push_back(entry_of(cell));
    for (const Cell& cell : cells) {
      if (!cell.program()) root["workloads"].push_back(entry_of(timed(cell)));
    }
    if (options_.quick) {
      root["runs"] = kQuickRuns;
      root["min_seconds"] = kQuickSeconds;
      run_->notices.emplace_back("--quick: three short blocks give a first look, no figures");
    }
    if (options_.runs != 0) root["runs"] = options_.runs;
    if (options_.void_above >= 0) {
      root["void_limits"] = {{"steal_pct", options_.void_above},
                             {"foreign_load_pct", options_.void_above}};
    }
    run_->file = suite.file;
    run_->text = root.dump(1) + "\n";
  }

 private:
  /// Programs that the machine lacks are left out.
  void add(Cell cell, std::vector<Cell>* cells) {
    const std::string program = !cell.program()        ? std::string()
                                : cell.process.empty() ? cell.command[0]
                                                       : cell.process;
    if (!program.empty() && !exists(program)) {
      run_->notices.push_back("the cell " + cell.name + " is left out: " + program +
                              " is not there (type: ./hak setup programs)");
      return;
    }
    cells->push_back(std::move(cell));
  }

  void choose(std::vector<Cell>* cells) const {
    std::vector<std::string> names;
    for (const Cell& cell : *cells) names.insert(names.end(), {cell.name, cell.workload});
    for (const std::string& word : options_.only) {
      if (std::any_of(cells->begin(), cells->end(),
                      [&](const Cell& cell) { return means(word, cell); })) {
        continue;
      }
      throw Failure(Exit::usage, "--only " + word + ": no such cell or workload" +
                                     nearest_hint(word, names) +
                                     (options_.all ? "" : "; --all has more of them"));
    }
    std::erase_if(*cells, [&](const Cell& cell) {
      return !options_.only.empty() &&
             std::none_of(options_.only.begin(), options_.only.end(),
                          [&](const std::string& word) { return means(word, cell); });
    });
  }

  Json arms(const Json& wanted) {
    Json found = Json::array();
    for (const Json& arm : wanted) {
      try {
        find_library(arm["library"].get<std::string>(), places_);
        found.push_back(arm);
      } catch (const Failure& failure) {
        if (failure.code() != Exit::missing || arm["role"] != "reference") throw;
        run_->notices.push_back(arm["name"].get<std::string>() +
                                " is not compared: " + failure.what());
      }
    }
    for (const std::string& text : options_.libraries) {
      Json arm = library_argument(text);
      arm["role"] = "reference";
      found.push_back(std::move(arm));
    }
    return found;
  }

  const CompareOptions& options_;
  const Places& places_;
  RunOptions* run_;
};

}  // namespace

void plan_compare(const CompareOptions& options, const Places& places, RunOptions* run) {
  Suite(options, places, run).plan();
}

}  // namespace hakmem::harness
