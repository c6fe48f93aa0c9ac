// Cells of an experiment: the product of each workload's listed parameters.
#include <algorithm>

#include "harness/experiment_parts.hpp"
#include "harness/files.hpp"
#include "harness/hakbench/catalogue.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr std::size_t kMostCells = 4096;

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const hakbench::Workload& workload : hakbench::kCatalogue) names.emplace_back(workload.name);
  names.emplace_back("program");
  return names;
}

std::vector<std::string> parameter_names(const hakbench::Workload& workload) {
  std::vector<std::string> names;
  for (const hakbench::Parameter& parameter : workload.parameters) {
    names.emplace_back(parameter.name);
  }
  for (const hakbench::Parameter& parameter : hakbench::kCommonParameters) {
    if (parameter.name != "seed") names.emplace_back(parameter.name);
  }
  return names;
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// What an axis adds to the name of a cell: " size=64", of a trace its file " sqlite3".
std::string axis_text(const std::string& name, const Json& value) {
  if (name != "file") return " " + name + "=" + value_text(value);
  const std::string file = base_of(value.get<std::string>());
  return " " + file.substr(0, file.rfind('.'));
}

/// Checks one value of a parameter and gives it as hakbench wants it.
Json parameter_value(const Checker& check, const std::string& path,
                     const hakbench::Parameter& parameter, const Json& value) {
  if (value.is_boolean() && parameter.max == 1 && parameter.words.empty()) {
    return value.get<bool>() ? 1 : 0;
  }
  if (value.is_string() && !parameter.words.empty()) {
    return check.word(path, value, split(parameter.words, '|'));
  }
  return check.whole(path, value, parameter.min, parameter.max);
}

/// The parameters of one workload entry: each a list of at least one value.
struct Axes {
  std::vector<std::string> names;
  std::vector<std::vector<Json>> values;
};

/// The files that a workload replays; a relative name starts at the repository.
void read_files(const Checker& check, const std::string& place, const Json& value, Axes* axes) {
  axes->names.emplace_back("file");
  std::vector<Json>& values = axes->values.emplace_back();
  const Json list = value.is_array() ? value : Json::array({value});
  check.list(place, list, 1);
  for (const Json& file : list) {
    if (!file.is_string() || file.get<std::string>().empty()) {
      check.fail(place, "must be the name of a file");
    }
    values.push_back(file);
  }
}

Axes read_axes(const Checker& check, const std::string& path, const hakbench::Workload& workload,
               const Json* params) {
  Axes axes;
  if (params == nullptr) return axes;
  if (!params->is_object()) check.fail(path, "must be an object of names and values");
  for (const auto& [name, value] : params->items()) {
    const std::string place = child_path(path, name);
    if (name == "seed") check.fail(place, "seeds stand in the key \"seeds\" of the experiment");
    if (name == "file" && workload.reads_file) {
      read_files(check, place, value, &axes);
      continue;
    }
    const hakbench::Parameter* const parameter = hakbench::find_parameter(workload, name);
    if (parameter == nullptr) {
      check.fail(place, std::string(workload.name) + " has no such parameter" +
                            nearest_hint(name, parameter_names(workload)));
    }
    axes.names.push_back(name);
    std::vector<Json>& values = axes.values.emplace_back();
    if (value.is_array()) {
      check.list(place, value, 1);
      for (std::size_t i = 0; i < value.size(); ++i) {
        values.push_back(parameter_value(check, child_path(place, i), *parameter, value[i]));
      }
    } else {
      values.push_back(parameter_value(check, place, *parameter, value));
    }
  }
  return axes;
}

std::uint64_t number_or(const Json& params, const char* name, std::uint64_t fallback) {
  const auto found = params.find(name);
  return found != params.end() && found->is_number() ? found->get<std::uint64_t>() : fallback;
}

/// Fills in the defaults of the workload's own parameters and counts its threads.
void complete(const hakbench::Workload& workload, Cell* cell) {
  for (const hakbench::Parameter& parameter : workload.parameters) {
    const std::string name(parameter.name);
    if (!cell->params.contains(name)) cell->params[name] = parameter.fallback;
  }
  cell->threads = static_cast<unsigned>(number_or(cell->params, "threads", 1));
  if (cell->threads == 0) cell->threads = 2;  // as many as the file has: not pinned to one CPU
  if (cell->params.contains("producers")) {
    cell->threads = static_cast<unsigned>(number_or(cell->params, "producers", 1) +
                                          number_or(cell->params, "consumers", 1));
  }
}

/// What an entry of either kind may say of its cells beside what they run: "cell" names them,
/// "runs" gives them fewer blocks.
void read_common(const Checker& check, const std::string& path, const Json& entry, Cell* cell) {
  if (const Json* const name = Checker::find(entry, "cell")) {
    cell->name = check.line(path + ".cell", *name);
  }
  if (const Json* const runs = Checker::find(entry, "runs")) {
    cell->runs = static_cast<unsigned>(check.whole(path + ".runs", *runs, 1, 10000));
  }
}

/// All cells of one hakbench entry, named by the parameters that vary.
std::vector<Cell> expand(const Checker& check, const std::string& path, const Json& entry,
                         const hakbench::Workload& workload, const Axes& axes, bool all_names) {
  std::vector<Cell> cells(1);
  cells[0].name = cells[0].workload = std::string(workload.name);
  read_common(check, path, entry, &cells[0]);
  for (std::size_t axis = 0; axis < axes.names.size(); ++axis) {
    std::vector<Cell> next;
    for (const Cell& cell : cells) {
      for (const Json& value : axes.values[axis]) {
        Cell& copy = next.emplace_back(cell);
        copy.params[axes.names[axis]] = value;
        if (all_names || axes.values[axis].size() > 1) {
          copy.name += axis_text(axes.names[axis], value);
        }
      }
    }
    if (next.size() > kMostCells) check.fail(path, "the product of its lists is too large");
    cells = std::move(next);
  }
  for (Cell& cell : cells) complete(workload, &cell);
  return cells;
}

Cell read_program(const Checker& check, const std::string& path, const Json& entry) {
  check.keys(path, entry,
             {"name", "command", "metric_from", "threads", "primary", "cell", "runs", "process"});
  Cell cell;
  cell.workload = "program";
  const std::string place = path + ".command";
  const Json& command = check.list(place, check.need(path, entry, "command"), 1);
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string word_place = child_path(place, i);
    if (!command[i].is_string()) check.fail(word_place, "must be a text");
    cell.command.push_back(command[i].get<std::string>());
    if (cell.command.back().find('\0') != std::string::npos) {
      check.fail(word_place, "must not hold a zero byte");
    }
  }
  if (cell.command[0].empty()) check.fail(child_path(place, std::size_t{0}), "must not be empty");
  if (const Json* const from = Checker::find(entry, "metric_from")) {
    check.word(path + ".metric_from", *from, {"wall"});
  }
  if (const Json* const process = Checker::find(entry, "process")) {
    cell.process = check.line(path + ".process", *process);
    if (cell.process.front() != '/') check.fail(path + ".process", "must be an absolute path");
  }
  if (const Json* const threads = Checker::find(entry, "threads")) {
    cell.threads = static_cast<unsigned>(check.whole(path + ".threads", *threads, 1, 4096));
  }
  cell.name = cell.command[0].substr(cell.command[0].rfind('/') + 1);
  read_common(check, path, entry, &cell);
  return cell;
}

std::vector<Cell> read_entry(const Checker& check, const std::string& path, const Json& entry,
                             bool all_names) {
  check.keys(path, entry,
             {"name", "params", "primary", "command", "metric_from", "threads", "cell", "runs",
              "process"});
  const std::string name =
      check.word(path + ".name", check.need(path, entry, "name"), workload_names());
  if (name == "program") return {read_program(check, path, entry)};
  check.keys(path, entry, {"name", "params", "primary", "cell", "runs"});
  const hakbench::Workload& workload = *hakbench::find_workload(name);
  const Json* const params = Checker::find(entry, "params");
  if (workload.reads_file && (params == nullptr || !params->contains("file"))) {
    check.fail(path + ".params", name + " needs \"file\", the trace that it replays");
  }
  const Axes axes = read_axes(check, path + ".params", workload, params);
  return expand(check, path, entry, workload, axes, all_names);
}

bool has_cell(const std::vector<Cell>& cells, const std::string& name) {
  return std::any_of(cells.begin(), cells.end(),
                     [&](const Cell& cell) { return cell.name == name; });
}

/// Appends the cells of one entry; a name that is taken gets a number (programs only).
void append(const Checker& check, const std::string& path, std::vector<Cell> added,
            std::vector<Cell>* cells) {
  for (Cell& cell : added) {
    const std::string plain = cell.name;
    for (int i = 2; cell.program() && has_cell(*cells, cell.name); ++i) {
      cell.name = plain + " " + std::to_string(i);
    }
    const bool again = std::any_of(cells->begin(), cells->end(), [&](const Cell& other) {
      return other.workload == cell.workload && other.params == cell.params && !cell.program();
    });
    if (again || has_cell(*cells, cell.name)) {
      check.fail(path, "the cell " + plain + " stands here twice");
    }
    if (cells->size() == kMostCells) check.fail("workloads", "too many cells");
    cells->push_back(std::move(cell));
  }
}

}  // namespace

Cell shortened(Cell cell, std::uint64_t most_ops) {
  for (const char* const name : {"ops", "items", "objects"}) {
    if (cell.params.contains(name) && cell.params[name] > most_ops) cell.params[name] = most_ops;
  }
  if (cell.params.contains("seconds")) cell.params["seconds"] = 0;
  return cell;
}

void read_cells(const Checker& check, const Json& root, Experiment* experiment) {
  const Json& entries = check.list("workloads", check.need("", root, "workloads"), 1);
  std::string primary;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string path = child_path("workloads", i);
    std::vector<Cell> added = read_entry(check, path, entries[i], false);
    const bool taken = std::any_of(added.begin(), added.end(), [&](const Cell& cell) {
      return has_cell(experiment->cells, cell.name);
    });
    if (taken && !added[0].program()) added = read_entry(check, path, entries[i], true);
    const Json* const marked = Checker::find(entries[i], "primary");
    if (marked != nullptr && check.boolean(path + ".primary", *marked)) {
      if (!primary.empty()) check.fail(path + ".primary", "a second workload is primary");
      primary = "set";
      added[0].primary = true;
    }
    append(check, path, std::move(added), &experiment->cells);
  }
  if (primary.empty()) experiment->cells[0].primary = true;
}

}  // namespace hakmem::harness
