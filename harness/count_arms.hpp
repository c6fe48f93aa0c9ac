// Instructions per call of the arms of a run, for the report's section on mechanism.
#pragma once

#include "harness/session.hpp"

namespace hakmem::harness {

/// counts.json: the primary cell, shortened, once under callgrind for each arm of ours that is
/// compared. {"format": 1, "arms": {"NAME": {"per_malloc", "per_free", "slow_per_op", "mallocs",
/// "frees"}}}, or {"problem"} in place of an arm's figures.
Json count_arms(const SessionSetup& setup);

}  // namespace hakmem::harness
