// The outcome of a run, and the one line of JSON that says it (docs/design/files.md).
#pragma once

#include <cstdint>

#include "harness/hakbench/memory.hpp"
#include "harness/hakbench/options.hpp"
#include "harness/hakbench/steps.hpp"

namespace hakbench {

struct Outcome {
  std::uint64_t ops = 0;
  std::uint64_t passes = 0;
  std::uint64_t run_ns = 0;    ///< measured regions of all passes
  std::uint64_t setup_ns = 0;  ///< making of the workload's memory and threads
  std::uint64_t drain_ns = 0;  ///< giving back what was left after the passes
  std::uint64_t checksum = 0;  ///< of one pass; all passes have the same
  double ns_per_tick = 0;
  Resident resident{};
};

class Slices;

/// Writes the record to stdout, with the slices where it is a run of such. False where that fails.
bool write_record(const Options& options, const Outcome& outcome, const Steps& steps,
                  const Slices* slices = nullptr);

/// Writes the catalogue to stdout, as a table or as JSON. False where that fails.
bool write_catalogue(bool json);

}  // namespace hakbench
