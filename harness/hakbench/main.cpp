// hakbench: runs one workload on whatever malloc serves this process, and prints one record.
#include <unistd.h>

#include "harness/hakbench/clock.hpp"
#include "harness/hakbench/direct.hpp"
#include "harness/hakbench/failure.hpp"
#include "harness/hakbench/record.hpp"
#include "harness/hakbench/slices.hpp"
#include "harness/hakbench/team.hpp"

namespace hakbench {
namespace {

/// Passes until the measured regions together last min_seconds. The first one warms up: it counts
/// for nothing but the checksum, which the others must repeat.
void run_passes(const Options& options, const Steps& steps, Team& team, Outcome& outcome) {
  const double enough_ns = options.min_seconds() * 1e9;
  team.pass(true);
  outcome.checksum = steps.checksum(steps.workload);
  steps.forget_latency(steps.workload);
  do {
    const PassTimes times = team.pass(false);
    ++outcome.passes;
    outcome.ops += steps.ops(steps.workload);
    outcome.run_ns += times.run_ns;
    outcome.drain_ns += times.drain_ns;
    const std::uint64_t checksum = steps.checksum(steps.workload);
    if (checksum != outcome.checksum) fail_checksum(outcome.passes, checksum, outcome.checksum);
  } while (static_cast<double>(outcome.run_ns) < enough_ns);
}

/// Both settings of --slices in turns.
bool run_slices(const Options& options, const Steps& steps, Team& team, Outcome& outcome) {
  const SlicePlan plan(options.slices());
  Slices slices(plan);
  slices.run(options, steps, team, options.slices_seconds(), outcome);
  outcome.resident = read_resident();
  return write_record(options, outcome, steps, &slices);
}

int run(const Options& options) {
  set_workload_name(options.workload().name);
  choose_calls();
  Outcome outcome;
  const TickScale scale;
  Inspection inspection;
  inspection.verify = options["verify"] != 0;
  if (options["latency"] != 0) {
    inspection.empty_ticks = empty_sample_ticks();
    inspection.path_reader = find_path_reader();
  }

  const std::uint64_t start = now_ns();
  const Steps steps = build_workload({options, inspection});
  const bool sliced = !options.slices().empty();
  Team team(options.threads(), steps, sliced ? Slices::flush_own_front : nullptr);
  outcome.setup_ns = now_ns() - start;

  if (sliced) return run_slices(options, steps, team, outcome) ? 0 : kExitOutput;
  run_passes(options, steps, team, outcome);
  outcome.resident = read_resident();
  outcome.ns_per_tick = scale.nanoseconds_per_tick();
  return write_record(options, outcome, steps) ? 0 : kExitOutput;
}

int usage(int fd, int code) {
  Text text(fd);
  text << "usage: hakbench WORKLOAD [--PARAMETER VALUE ...] [--seed N] [--min-seconds S] [--verify]"
          " [--latency]\n                [--slices A:BOX=VALUE/B:BOX=VALUE [--slices-seconds S]]\n"
          "       hakbench list [--json]\n";
  text.flush();
  return code;
}

int start(int count, const char* const* arguments) {
  if (count < 2) return usage(STDERR_FILENO, kExitUsage);
  const std::string_view command = arguments[1];
  if (command == "list") {
    const bool json = count == 3 && std::string_view(arguments[2]) == "--json";
    if (count > 2 && !json) return usage(STDERR_FILENO, kExitUsage);
    return write_catalogue(json) ? 0 : kExitOutput;
  }
  if (command == "--help" || command == "-h") return usage(STDOUT_FILENO, 0);
  if (command.starts_with("-")) return usage(STDERR_FILENO, kExitUsage);
  return run(parse_options(require_workload(command), count - 2, arguments + 2));
}

}  // namespace
}  // namespace hakbench

int main(int count, char** arguments) { return hakbench::start(count, arguments); }
