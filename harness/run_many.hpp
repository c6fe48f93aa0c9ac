// `hak run` of several experiments, and `hak run --check`.
#pragma once

#include <string>
#include <vector>

#include "harness/run_command.hpp"

namespace hakmem::harness {

/// Reads every experiment and says what it holds, or what is wrong with it, a line each; runs
/// nothing. Gives the first problem's code.
Exit check_experiments(const std::vector<std::string>& files, const Places& places);

/// Runs one after the other, goes on after one that fails, and ends with a line for each on stdout.
/// Gives the code of the first that did not end well; a signal ends them all.
Exit run_experiments(RunOptions options, const std::vector<std::string>& files,
                     const Places& places);

}  // namespace hakmem::harness
