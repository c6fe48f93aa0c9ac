// The observe pre-run: shapes count nothing in the build that is measured, so their execution is
// counted in another one, and recorded as such.
#pragma once

#include <string>
#include <vector>

#include "harness/session.hpp"

namespace hakmem::harness {

/// Runs the primary cell once for each hakmem arm of ours with the observe build's library. Gives
/// the manifest's `observe`; appends to `notices` what could not be had.
Json observe_arms(const SessionSetup& setup, std::vector<std::string>* notices);

}  // namespace hakmem::harness
