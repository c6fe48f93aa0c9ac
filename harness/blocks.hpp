// Which blocks are done, void or broken off: judged from the samples alone, so that a resumed run
// judges as the first one did.
#pragma once

#include <string>
#include <vector>

#include "harness/placed_json.hpp"

namespace hakmem::harness {

/// Limits declared before the run, in percent.
struct VoidLimits {
  double steal_pct = 5, foreign_load_pct = 20;
};

/// Why this run's block is void for a machine cause, or "". Looks at steal and foreign load only,
/// never at the result; one clock tick is tolerated, as the kernel counts in ticks. A run that
/// failed is never void: a crash must stay visible.
std::string machine_cause(const Json& sample, const VoidLimits& limits);

struct BlockState {
  unsigned attempts = 0;       ///< last attempt's number; 0: never started
  unsigned machine_voids = 0;  ///< attempts void for a machine cause
  bool complete = false;       ///< the last attempt has all arms and is not void
  bool failed = false;         ///< … and one of its runs is not ok
  bool broken_off = false;     ///< the last attempt is neither void nor has all arms
  std::string cause;           ///< machine cause in a last attempt that is not marked void yet
};

/// State of one block of a cell with `arms` arms.
BlockState block_state(const std::vector<Json>& samples, const std::string& cell, unsigned block,
                       std::size_t arms, const VoidLimits& limits);

/// Reason written into blocks that a stop of hak broke off; they are repeated and do not count
/// against the limit of attempts.
inline constexpr const char* kBrokenOff = "broken off: hak was stopped within this block";

}  // namespace hakmem::harness
