// `hak calibrate`: the same arm twice. Over many blocks it gives the machine's noise and the blocks
// that it needs; as many short runs it gives how often the procedure calls a difference where there
// is none.
#pragma once

#include "harness/errors.hpp"
#include "harness/places.hpp"
#include "harness/run_command.hpp"

namespace hakmem::harness {

/// `times` 0: one long run, its calibration kept as results/calibration.json for reports of this
/// machine. Else that many short ones in results/calibrate/RUN, or in `options.resume` where that
/// many are not there yet. Throws Failure as run_command does; invalid where a check fails.
Exit calibrate_command(const RunOptions& options, unsigned times, const Places& places);

}  // namespace hakmem::harness
