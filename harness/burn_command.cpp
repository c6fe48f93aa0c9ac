#include "harness/burn_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "harness/environment.hpp"
#include "harness/files.hpp"
#include "harness/hakbench/catalogue.hpp"
#include "harness/machine_lock.hpp"
#include "harness/sample.hpp"
#include "harness/session.hpp"
#include "harness/signals.hpp"
#include "harness/temporary.hpp"
#include "harness/text.hpp"

namespace hakmem::harness {

namespace {

constexpr const char* kBox = "HAKMEM_BURN";
constexpr std::int64_t kFirstProbe = 4000;  // cycles
constexpr double kWantedSlowdown = 1.0;     // the second probe doubles the time: beyond all noise
constexpr std::int64_t kMostRescaling =
    16;                          // of the first probe, which may have met a busy machine
constexpr unsigned kRounds = 5;  // of off and on with the second probe
constexpr std::uint64_t kPassOps = 400'000;  // a pass of milliseconds, so that slices mode fits

/// Parameters as an experiment has them: numbers as numbers, all else as text.
Json parameters_of(const std::vector<std::string>& words) {
  Json params = Json::object();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Failure(Exit::usage, "burn: " + word + " is not NAME=VALUE");
    }
    const std::string value = word.substr(equals + 1);
    std::int64_t number = 0;
    params[word.substr(0, equals)] = parse_integer(value, &number) ? Json(number) : Json(value);
  }
  return params;
}

/// "0_5" for 0.5.
std::string percent_name(double percent) {
  std::string text = fixed(percent, 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
}

std::string percent_text(double percent) {
  std::string text = percent_name(percent);
  std::replace(text.begin(), text.end(), '_', '.');
  return text;
}

Json experiment_of(const std::string& workload, const Json& params, double percent,
                   std::int64_t value) {
  const std::string wanted = percent_text(percent);
  return {
      {"phase", "burn_" + percent_name(percent)},
      {"title", "A slowdown of " + wanted + " % that is known to be there"},
      {"hypothesis", "The chain of HAKMEM_BURN, calibrated by hak burn for this workload and " +
                         std::string("machine, costs ") + wanted + " %: the measuring finds it."},
      {"forecast", {{"low", -1.3 * percent}, {"high", -0.7 * percent}}},
      {"box", kBox},
      {"values", {0, value}},
      {"workloads", Json::array({{{"name", workload}, {"params", params}}})},
      {"neutral_threshold_pct", std::min(1.0, percent / 4)}};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// One process: its time per operation, and how often a credit ran out in one.
struct Reading {
  double ns_per_op = 0, expiries_per_op = 0;
};

class Calibration {
 public:
  Calibration(const BurnOptions& options, const Places& places)
      : options_(options), places_(places), plan_(plan_cpus()), params_(read_parameters()) {
    pin_harness(plan_);
  }

  Exit run() {
    const MachineLock lock(true);
    std::int64_t probe = kFirstProbe;
    const Reading off = read(0), first = read(probe);
    const double slowdown = first.ns_per_op / off.ns_per_op - 1;
    if (slowdown > 0) {
      probe = static_cast<std::int64_t>(static_cast<double>(probe) * kWantedSlowdown / slowdown);
    }
    const auto most = static_cast<std::int64_t>(find_box(kBox)->box.maximum);
    probe = std::clamp(probe, kFirstProbe / kMostRescaling,
                       std::min(kFirstProbe * kMostRescaling, most));
    std::vector<double> base, slopes, expiries;
    for (unsigned round = 0; round < kRounds; ++round) {
      const bool off_first = round % 2 == 0;
      const Reading one = read(off_first ? 0 : probe), two = read(off_first ? probe : 0);
      const Reading &none = off_first ? one : two, &burnt = off_first ? two : one;
      base.push_back(none.ns_per_op);
      slopes.push_back((burnt.ns_per_op - none.ns_per_op) / static_cast<double>(probe));
      expiries.push_back(none.expiries_per_op);
    }
    return say(median(base), median(slopes), median(expiries));
  }

 private:
  Json read_parameters() const {
    Json params = parameters_of(options_.parameters);
    const hakbench::Workload* const workload = hakbench::find_workload(options_.workload);
    const bool has_ops =
        workload != nullptr && hakbench::find_parameter(*workload, "ops") != nullptr;
    if (has_ops && !params.contains("ops")) params["ops"] = kPassOps;
    return params;
  }

  Reading read(std::int64_t value) {
    const std::string file = temporary_.path() + "/burn.json";
    write_whole(file, experiment_of(options_.workload, params_, 1, value).dump());
    const Experiment experiment = read_experiment(file, places_);
    const Cell& cell = experiment.cells.at(0);
    const Arm& arm = experiment.arms.at(1);
    RunRequest request;
    request.helper = places_.spawn_helper();
    request.command = cell_command(cell, places_, experiment.seeds.at(0), options_.seconds);
    request.environment = arm_environments(experiment, temporary_.path()).at(1);
    request.cpus = plan_.for_threads(cell.threads);
    request.timeout_s = experiment.timeout_seconds;
    request.wanted_library = arm.library.path;
    const std::string report = report_path(temporary_.path());
    unlink(report.c_str());
    const ProcessResult result = run_process(request);
    if (caught_signal() != 0) throw Failure(Exit::interrupted, "burn: interrupted");
    Position position;
    position.seed = experiment.seeds.at(0);
    const Json sample = make_sample(arm, cell, position, iso_time(std::time(nullptr)), request.cpus,
                                    result, read_file(report).value_or(""));
    if (sample["status"] != "ok") {
      throw Failure(Exit::usage, "burn: the workload ended in " +
                                     sample["status"].get<std::string>() + ": " +
                                     sample["detail"].get<std::string>());
    }
    const double uses = sample["proof"]["report"]["boxes"][kBox]["uses"].get<double>();
    const Json& record = sample["record"];
    // The warm-up pass expires credits too, but counts no operations.
    const double passes = record["passes"].get<double>();
    const double ops = record["ops"].get<double>() * (passes + 1) / passes;
    return {record["ns_per_op"].get<double>(), uses / ops};
  }

  Exit say(double ns_per_op, double slope, double expiries_per_op) const {
    if (!(slope > 0) || !(expiries_per_op > 0)) {
      throw Failure(Exit::usage,
                    "burn: the workload does not get slower: credits run out " +
                        fixed(expiries_per_op * 1e6, 1) +
                        " times in a million operations; choose one that frees more small blocks");
    }
    std::printf("%s: %s ns/op, a credit expiry each %s ns, %s ns a cycle of the chain\n",
                options_.workload.c_str(), fixed(ns_per_op, 3).c_str(),
                fixed(ns_per_op / expiries_per_op, 0).c_str(),
                fixed(slope / expiries_per_op, 3).c_str());
    for (const double percent : options_.percents) {
      const double cycles = ns_per_op * percent / (100 - percent) / slope;
      const auto value = static_cast<std::int64_t>(std::lround(cycles / 4)) * 4;
      if (value < 4 || value > find_box(kBox)->box.maximum) {
        throw Failure(Exit::usage, "burn: " + percent_text(percent) + " % would take " +
                                       fixed(cycles, 1) + " cycles, beyond the range of " + kBox);
      }
      std::printf("%s %%: %s=%lld\n", percent_text(percent).c_str(), kBox,
                  static_cast<long long>(value));
      if (!options_.out.empty()) write_experiment(percent, value);
    }
    return Exit::ok;
  }

  void write_experiment(double percent, std::int64_t value) const {
    make_folders(options_.out);
    const std::string file = options_.out + "/burn_" + percent_name(percent) + ".json";
    const std::string head =
        "// Made by `hak burn`: the value is calibrated for one machine; make it anew on "
        "another.\n";
    write_whole(file,
                head + experiment_of(options_.workload, params_, percent, value).dump(2) + "\n");
    std::printf("wrote %s\n", file.c_str());
  }

  const BurnOptions& options_;
  const Places& places_;
  CpuPlan plan_;
  TemporaryFolder temporary_;
  Json params_;
};

}  // namespace

Exit burn_command(const BurnOptions& options, const Places& places) {
  return Calibration(options, places).run();
}

}  // namespace hakmem::harness
