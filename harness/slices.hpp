// `hak run --mode slices`: both arms in turns inside one process (docs/guide/slices.md).
#pragma once

#include <string>
#include <vector>

#include "harness/experiment.hpp"

namespace hakmem::harness {

/// Name under which samples of slices mode stand.
inline constexpr const char* kSlicesArm = "slices";

/// Turns an experiment to slices mode: its runs are processes from then on, references fall away
/// (with a notice). Throws Failure(usage) where its arms differ in more than live boxes of the lab
/// library, or a cell is no workload of hakbench.
void use_slices(Experiment* experiment, std::vector<std::string>* notices);

/// What hakbench gets to run a cell in slices, behind its other arguments.
std::vector<std::string> slices_arguments(const Experiment& experiment);

/// Why a record of slices does not prove that both arms ran as wanted; none where it does.
std::vector<std::string> slices_problems(const Experiment& experiment, const Json& record);

/// The newest decided result of the same comparison in process mode below `results`, as the
/// manifest's `process_mode`: {"run", "decision"}; null where there is none.
Json process_mode_result(const std::string& results, const Experiment& experiment);

}  // namespace hakmem::harness
