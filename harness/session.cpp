#include "harness/session.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "harness/clock.hpp"
#include "harness/environment.hpp"
#include "harness/sample.hpp"
#include "harness/schedule.hpp"
#include "harness/signals.hpp"
#include "harness/slices.hpp"
#include "harness/system_load.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr unsigned kPatience = 3;  // failures in a row before an arm is given up in a cell

VoidLimits limits_of(const Experiment& experiment) {
  return {experiment.void_steal_pct, experiment.void_foreign_load_pct};
}

/// Blocks that will be run in any case.
unsigned first_blocks(const Experiment& experiment) {
  return experiment.until_decided ? experiment.looks.front() : experiment.runs;
}

bool on_terminal() { return isatty(STDERR_FILENO) == 1; }

/// The metric of a run with four digits, or its status where it has none.
std::string outcome_text(const Json& sample, const std::string& metric) {
  const Json value = sample["metrics"].value(metric, Json(nullptr));
  if (sample["status"] != "ok" || !value.is_number()) return sample["status"].get<std::string>();
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", value.get<double>());
  return text;
}

/// After a void block: sleeps until others leave the CPUs alone, at most 1 s after the first, then
/// 2, 4, 8 and 16 s, so that a burst does not use up the blocks that may be void.
void wait_for_calm(const std::vector<int>& cpus, double limit_pct, unsigned voids) {
  const double end = now_s() + static_cast<double>(1U << std::min(voids - 1, 4U));
  while (now_s() < end && caught_signal() == 0) {
    const LoadSnapshot start = load_snapshot();
    pollfd stop = {signal_fd(), POLLIN, 0};
    poll(&stop, 1, 500);
    const LoadDuring load = load_between(start, load_snapshot(), cpus, 0);
    if (load.foreign_load_pct.value_or(0) < limit_pct) return;
  }
}

std::vector<std::vector<std::vector<std::size_t>>> all_orders(const Experiment& experiment) {
  std::vector<std::vector<std::vector<std::size_t>>> orders;
  // A process of slices mode holds all arms.
  const bool sliced = experiment.mode == "slices";
  const auto steady =
      sliced
          ? std::size_t{1}
          : static_cast<std::size_t>(std::count_if(experiment.arms.begin(), experiment.arms.end(),
                                                   [](const Arm& arm) { return arm.blocks == 0; }));
  for (std::size_t i = 0; i < experiment.cells.size(); ++i) {
    const Cell& cell = experiment.cells[i];
    const std::uint64_t seed = experiment.order_seed + i;
    orders.push_back(balanced_orders(steady, experiment.runs_of(cell), seed));
    for (std::size_t arm = steady; cell.primary && !sliced && arm < experiment.arms.size(); ++arm) {
      add_now_and_then(&orders.back(), arm, experiment.arms[arm].blocks, first_blocks(experiment),
                       seed);
    }
  }
  return orders;
}

bool failed(const Json& sample) { return sample["status"] != "ok"; }

}  // namespace

std::vector<std::string> cell_command(const Cell& cell, const Places& places, std::uint64_t seed,
                                      double min_seconds) {
  if (cell.program()) return cell.command;
  std::vector<std::string> command = {places.hakbench(), cell.workload};
  for (const auto& [name, value] : cell.params.items()) {
    if (name == "verify" || name == "latency") {  // switches take no value
      if (value != 0) command.push_back("--" + name);
      continue;
    }
    command.push_back("--" + name);
    if (name == "file") {
      const std::string file = value.get<std::string>();
      command.push_back(file.starts_with("/") ? file : places.root + "/" + file);
      continue;
    }
    command.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  command.insert(command.end(), {"--seed", std::to_string(seed)});
  command.insert(command.end(), {"--min-seconds", fixed(min_seconds, 3)});
  return command;
}

Session::Session(const SessionSetup& setup, ResultFolder* folder)
    : setup_(setup),
      folder_(folder),
      environments_(arm_environments(setup.experiment, setup.temporary)),
      orders_(all_orders(setup.experiment)),
      machine_voids_(setup.experiment.cells.size()),
      failures_in_a_row_(setup.experiment.cells.size(),
                         std::vector<unsigned>(setup.experiment.arms.size())),
      given_up_(setup.experiment.cells.size()),
      progress_(planned_runs(0, first_blocks(setup.experiment)), on_terminal()) {
  remember_checksums();
  if (progress_.terminal() || setup.experiment.until_decided) watch_.emplace(setup.places);
}

bool Session::run() {
  Random random(setup_.experiment.order_seed);
  for (unsigned block = 0; block < setup_.experiment.runs; ++block) {
    for (const std::size_t cell : random.permutation(setup_.experiment.cells.size())) {
      if (block >= setup_.experiment.runs_of(setup_.experiment.cells[cell])) continue;
      if (!run_block(cell, block)) return false;
    }
    const Next next = take_look(block + 1);
    if (next != Next::go_on) return next == Next::stop;
  }
  return true;
}

Session::Next Session::take_look(unsigned blocks) {
  const Experiment& experiment = setup_.experiment;
  const auto look = std::find(experiment.looks.begin(), experiment.looks.end(), blocks);
  if (!experiment.until_decided || look == experiment.looks.end()) return Next::go_on;
  const std::optional<Look> found = watch_->look(folder_->path());
  if (!found) return Next::interrupted;
  const bool is_last = look + 1 == experiment.looks.end();
  bool can_decide = true;
  for (std::size_t cell = 0; cell < experiment.cells.size(); ++cell) {
    if (experiment.cells[cell].primary && given_up_[cell]) can_decide = false;
  }
  if (found->stop || is_last || !can_decide) stopped_at_ = blocks;
  progress_.say("hak: look at " + std::to_string(blocks) + " blocks: " + found->decision +
                (stopped_at_ != 0 ? ", the run ends" : ", the run goes on"));
  if (stopped_at_ != 0) return Next::stop;
  progress_.add_runs(planned_runs(blocks, *(look + 1)));
  return Next::go_on;
}

BlockState Session::settle(std::size_t cell_index, unsigned block, bool ran) {
  const Experiment& experiment = setup_.experiment;
  const Cell& cell = experiment.cells[cell_index];
  for (;;) {
    BlockState state = block_state(folder_->samples().all(), cell.name, block,
                                   order_of(cell_index, block).size(), limits_of(experiment));
    if (state.cause.empty() && !state.broken_off) return state;
    const bool machine = !state.cause.empty();
    folder_->samples().void_attempt(cell.name, block, state.attempts,
                                    machine ? state.cause : kBrokenOff);
    if (!machine || !ran) continue;
    ++machine_voids_[cell_index];
    progress_.say("hak: " + cell.name + " block " + std::to_string(block + 1) +
                  " is void and will be repeated: " + state.cause);
    wait_for_calm(setup_.plan.for_threads(cell.threads), experiment.void_foreign_load_pct,
                  machine_voids_[cell_index]);
  }
}

std::size_t Session::planned_runs(std::size_t from, std::size_t to) const {
  std::size_t runs = 0;
  for (const auto& cell : orders_) {
    for (std::size_t block = from; block < std::min(to, cell.size()); ++block) {
      runs += cell[block].size();
    }
  }
  return runs;
}

std::vector<std::size_t> Session::order_of(std::size_t cell, unsigned block) const {
  std::vector<std::size_t> order = orders_[cell][block];
  std::erase_if(order, [&](std::size_t arm) { return failures_in_a_row_[cell][arm] >= kPatience; });
  return order;
}

/// Without it the blocks of a cell say nothing: a sweep needs two libraries, a verdict its baseline
/// and a treatment.
bool Session::can_compare(std::size_t cell) const {
  std::size_t left = 0, baselines = 0, treatments = 0;
  const std::vector<Arm>& arms = setup_.experiment.arms;
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    if (failures_in_a_row_[cell][arm] >= kPatience) continue;
    ++left;
    if (arms[arm].role == "baseline") ++baselines;
    if (arms[arm].role == "treatment") ++treatments;
  }
  return setup_.experiment.report == "compare" ? left >= 2 : baselines > 0 && treatments > 0;
}

void Session::count_failures(std::size_t cell_index, unsigned block, const BlockState& state) {
  const std::string& cell = setup_.experiment.cells[cell_index].name;
  const std::vector<Arm>& arms = setup_.experiment.arms;
  const bool sliced = setup_.experiment.mode == "slices";
  for (const Json& sample : folder_->samples().all()) {
    if (sample["cell"] != cell || sample["block"] != block || sample["attempt"] != state.attempts) {
      continue;
    }
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      if (!sliced && sample["arm"] != arms[arm].name) continue;
      unsigned& failures = failures_in_a_row_[cell_index][arm];
      failures = failed(sample) ? failures + 1 : 0;
      if (sliced || failures != kPatience) continue;
      notices_.push_back("the arm " + arms[arm].name + " was given up in the cell " + cell + ": " +
                         std::to_string(kPatience) + " of its runs in a row failed");
      progress_.say("hak: " + notices_.back());
    }
  }
}

void Session::end_block(std::size_t cell_index, unsigned block, const BlockState& state, bool ran) {
  if (ran) {
    show_estimate(setup_.experiment.cells[cell_index]);
  } else {
    progress_.skip_runs(order_of(cell_index, block).size());
  }
  count_failures(cell_index, block, state);
  if (!given_up_[cell_index] && !can_compare(cell_index)) {
    give_up(cell_index, std::to_string(kPatience) + " blocks in a row failed");
  }
}

bool Session::run_block(std::size_t cell_index, unsigned block) {
  const unsigned most = setup_.experiment.runs;
  for (bool ran = false;; ran = true) {
    const BlockState state = settle(cell_index, block, ran);
    if (!ran) machine_voids_[cell_index] += state.machine_voids;
    if (state.complete) {
      end_block(cell_index, block, state, ran);
      return true;
    }
    if (given_up_[cell_index]) return true;
    if (machine_voids_[cell_index] >= most) {
      give_up(cell_index, std::to_string(most) +
                              " blocks were void for a machine cause; the machine is too busy");
      return true;
    }
    if (ran) progress_.add_runs(order_of(cell_index, block).size());
    if (!run_attempt(cell_index, block, state.attempts + 1)) return false;
  }
}

bool Session::run_attempt(std::size_t cell_index, unsigned block, unsigned attempt) {
  const Cell& cell = setup_.experiment.cells[cell_index];
  const std::vector<std::size_t> order = order_of(cell_index, block);
  for (unsigned slot = 0; slot < order.size(); ++slot) {
    if (!run_one(cell_index, order[slot], block, slot, attempt)) {
      folder_->samples().void_attempt(cell.name, block, attempt, kBrokenOff);
      return false;
    }
    const Json& sample = folder_->samples().all().back();
    if (!machine_cause(sample, limits_of(setup_.experiment)).empty()) return true;
  }
  return true;
}

bool Session::run_one(std::size_t cell_index, std::size_t arm_index, unsigned block, unsigned slot,
                      unsigned attempt) {
  const Experiment& experiment = setup_.experiment;
  const Cell& cell = experiment.cells[cell_index];
  const Arm& arm = experiment.arms[arm_index];
  if (caught_signal() != 0) return false;
  const bool sliced = experiment.mode == "slices";
  progress_.begin_run(cell.name, sliced ? kSlicesArm : arm.name, block, experiment.runs_of(cell));
  const Position position = {block, slot, setup_.number, attempt,
                             experiment.seeds[block % experiment.seeds.size()]};
  RunRequest request;
  request.helper = setup_.places.spawn_helper();
  request.command = cell_command(cell, setup_.places, position.seed,
                                 sliced ? experiment.slice_ms / 1000 : experiment.min_seconds);
  if (sliced) {
    const std::vector<std::string> more = slices_arguments(experiment);
    request.command.insert(request.command.end(), more.begin(), more.end());
  }
  request.environment = environments_[arm_index];
  request.cpus = setup_.plan.for_threads(cell.threads);
  request.timeout_s = experiment.timeout_seconds;
  request.wanted_library = arm.library.path;
  if (!cell.process.empty()) request.wanted_program = real_path(cell.process);
  const std::string report = report_path(setup_.temporary);
  unlink(report.c_str());
  const double start = now_s();
  const std::string started = iso_time(std::time(nullptr));
  const ProcessResult result = run_process(request);
  progress_.end_run(now_s() - start);
  Json sample = make_sample(arm, cell, position, started, request.cpus, result,
                            read_file(report).value_or(""));
  if (sliced) mark_slices(&sample);
  compare_checksum(cell, &sample);
  const std::string status = sample["status"].get<std::string>();
  if (status != "ok" && status != "interrupted") {
    folder_->keep_output(sample, result.out, result.err);
    progress_.say("hak: " + cell.name + " block " + std::to_string(block + 1) + " " + arm.name +
                  ": " + status + ": " + sample["detail"].get<std::string>());
  }
  folder_->append(std::move(sample));
  return status != "interrupted";
}

/// The process began and ended as the baseline, which is proven; both arms ran inside it.
void Session::mark_slices(Json* sample) {
  (*sample)["arm"] = kSlicesArm;
  if ((*sample)["status"] != "ok") return;
  const std::vector<std::string> problems = slices_problems(setup_.experiment, (*sample)["record"]);
  if (problems.empty()) return;
  (*sample)["status"] = "no_proof";
  (*sample)["detail"] = join(problems, "; ");
  (*sample)["proof"]["ok"] = false;
  (*sample)["proof"]["problems"] = problems;
}

void Session::compare_checksum(const Cell& cell, Json* sample) {
  if ((*sample)["status"] != "ok") return;
  const std::string value = (*sample)["checksum"].get<std::string>();
  const std::string arm = (*sample)["arm"].get<std::string>();
  const std::string key =
      cell.name + (cell.program() ? std::string() : "\n" + (*sample)["seed"].dump());
  const auto [known, is_new] = checksums_.insert({key, {value, arm}});
  if (is_new || known->second.first == value) return;
  (*sample)["status"] = "bad_output";
  (*sample)["detail"] = "checksum " + value + " differs from " + known->second.first +
                        ", which the arm " + known->second.second + " had first";
}

void Session::remember_checksums() {
  for (const Json& sample : folder_->samples().all()) {
    for (const Cell& cell : setup_.experiment.cells) {
      if (sample["cell"] != cell.name || !sample.contains("checksum") ||
          !sample["checksum"].is_string()) {
        continue;
      }
      Json copy = sample;
      compare_checksum(cell, &copy);
    }
  }
}

void Session::give_up(std::size_t cell_index, const std::string& why) {
  given_up_[cell_index] = true;
  notices_.push_back("the cell " + setup_.experiment.cells[cell_index].name +
                     " was given up: " + why);
  progress_.say("hak: " + notices_.back());
}

void Session::show_estimate(const Cell& cell) {
  const std::vector<Json>& samples = folder_->samples().all();
  const Json block = samples.back()["block"], attempt = samples.back()["attempt"];
  std::vector<std::string> parts;
  for (const Json& sample : samples) {
    if (sample["cell"] != cell.name || sample["block"] != block || sample["attempt"] != attempt) {
      continue;
    }
    parts.push_back(sample["arm"].get<std::string>() + " " +
                    outcome_text(sample, setup_.experiment.metric));
  }
  progress_.end_block(cell.name + " block " + std::to_string(block.get<unsigned>() + 1) + "/" +
                      std::to_string(setup_.experiment.runs_of(cell)) + ": " +
                      setup_.experiment.metric + " " + join(parts, ", "));
  if (!progress_.terminal()) return;
  const auto estimates = watch_->estimate(folder_->path());
  const auto found = estimates.find(cell.name);
  if (found != estimates.end()) progress_.set_estimate(estimate_text(found->second));
}

}  // namespace hakmem::harness
