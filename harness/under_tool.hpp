// Measured programs under a tool such as valgrind or perf.
#pragma once

#include <string>
#include <vector>

#include "harness/process_run.hpp"

namespace hakmem::harness {

/// A request whose program is started by `tool` (words before it): the preload is set by env(1)
/// behind the tool, so that the tool itself runs on the C library's malloc.
RunRequest under_tool(const RunRequest& request, const std::vector<std::string>& tool);

}  // namespace hakmem::harness
