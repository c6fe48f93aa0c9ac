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

constexpr unsigned kPatience = 3;  // failed blocks in a row before a cell is given up

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
      machine_voids_(setup.experiment.cells.size()),
      failures_in_a_row_(setup.experiment.cells.size()),
      given_up_(setup.experiment.cells.size()),
      progress_(setup.experiment.cells.size() * first_blocks(setup.experiment) *
                    setup.experiment.block_size(),
                on_terminal()) {
  for (std::size_t cell = 0; cell < setup.experiment.cells.size(); ++cell) {
    orders_.push_back(balanced_orders(setup.experiment.block_size(), setup.experiment.runs,
                                      setup.experiment.order_seed + cell));
  }
  remember_checksums();
  if (progress_.terminal() || setup.experiment.until_decided) watch_.emplace(setup.places);
}

bool Session::run() {
  Random random(setup_.experiment.order_seed);
  for (unsigned block = 0; block < setup_.experiment.runs; ++block) {
    for (const std::size_t cell : random.permutation(setup_.experiment.cells.size())) {
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
  progress_.add_runs(experiment.cells.size() * (*(look + 1) - blocks) * experiment.block_size());
  return Next::go_on;
}

BlockState Session::settle(std::size_t cell_index, unsigned block, bool ran) {
  const Experiment& experiment = setup_.experiment;
  const Cell& cell = experiment.cells[cell_index];
  for (;;) {
    BlockState state = block_state(folder_->samples().all(), cell.name, block,
                                   experiment.block_size(), limits_of(experiment));
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

void Session::end_block(std::size_t cell_index, const BlockState& state, bool ran) {
  unsigned& failures = failures_in_a_row_[cell_index];
  failures = state.failed ? failures + 1 : 0;
  if (ran) {
    show_estimate(setup_.experiment.cells[cell_index]);
  } else {
    progress_.skip_runs(setup_.experiment.block_size());
  }
  if (failures >= kPatience && !given_up_[cell_index]) {
    give_up(cell_index, std::to_string(kPatience) + " blocks in a row failed");
  }
}

bool Session::run_block(std::size_t cell_index, unsigned block) {
  const unsigned most = setup_.experiment.runs;
  for (bool ran = false;; ran = true) {
    const BlockState state = settle(cell_index, block, ran);
    if (!ran) machine_voids_[cell_index] += state.machine_voids;
    if (state.complete) {
      end_block(cell_index, state, ran);
      return true;
    }
    if (given_up_[cell_index]) return true;
    if (machine_voids_[cell_index] >= most) {
      give_up(cell_index, std::to_string(most) +
                              " blocks were void for a machine cause; the machine is too busy");
      return true;
    }
    if (ran) progress_.add_runs(setup_.experiment.block_size());
    if (!run_attempt(cell_index, block, state.attempts + 1)) return false;
  }
}

bool Session::run_attempt(std::size_t cell_index, unsigned block, unsigned attempt) {
  const Cell& cell = setup_.experiment.cells[cell_index];
  const auto& order = orders_[cell_index][block];
  for (unsigned slot = 0; slot < order.size(); ++slot) {
    if (!run_one(cell_index, block, slot, attempt)) {
      folder_->samples().void_attempt(cell.name, block, attempt, kBrokenOff);
      return false;
    }
    const Json& sample = folder_->samples().all().back();
    if (!machine_cause(sample, limits_of(setup_.experiment)).empty()) return true;
  }
  return true;
}

bool Session::run_one(std::size_t cell_index, unsigned block, unsigned slot, unsigned attempt) {
  const Experiment& experiment = setup_.experiment;
  const Cell& cell = experiment.cells[cell_index];
  const std::size_t arm_index = orders_[cell_index][block][slot];
  const Arm& arm = experiment.arms[arm_index];
  if (caught_signal() != 0) return false;
  const bool sliced = experiment.mode == "slices";
  progress_.begin_run(cell.name, sliced ? kSlicesArm : arm.name, block, experiment.runs);
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
                      std::to_string(setup_.experiment.runs) + ": " + setup_.experiment.metric +
                      " " + join(parts, ", "));
  if (!progress_.terminal()) return;
  const auto estimates = watch_->estimate(folder_->path());
  const auto found = estimates.find(cell.name);
  if (found != estimates.end()) progress_.set_estimate(estimate_text(found->second));
}

}  // namespace hakmem::harness
