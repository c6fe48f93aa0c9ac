// Earlier results on the same box or workload, shown before a run: the best candidate of a review
// may already have failed once.
#pragma once

#include <string>
#include <vector>

#include "harness/experiment.hpp"

namespace hakmem::harness {

/// One line a result, newest first, at most `most`. Folders that cannot be read are left out.
std::vector<std::string> earlier_results(const std::string& results, const Experiment& experiment,
                                         std::size_t most);

}  // namespace hakmem::harness
