// `hak record`: runs a command and leaves a trace of its allocations.
#pragma once

#include <string>
#include <vector>

#include "harness/places.hpp"

namespace hakmem::harness {

/// `[-o FILE] -- COMMAND...` as the user gave it. Writes FILE (default: the command's name with
/// .trace) for the process with the most events, FILE.1, FILE.2, … for the others, and says what it
/// wrote. Gives the command's exit status, 128 + signal where one ended it. Throws Failure.
int record_command(const Places& places, const std::vector<std::string>& words);

}  // namespace hakmem::harness
