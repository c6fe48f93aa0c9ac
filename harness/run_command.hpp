// `hak run`: from an experiment file to a verdict.
#pragma once

#include <string>

#include "harness/errors.hpp"
#include "harness/places.hpp"

namespace hakmem::harness {

struct RunOptions {
  std::string file;      ///< experiment; "" with --resume
  std::string results;   ///< folder of all results; "" for the repository's
  std::string resume;    ///< folder of a run to go on with
  std::string gate;      ///< "", "no-go" or "undecided"
  unsigned runs = 0;     ///< blocks instead of the experiment's; 0: as it says
  bool yes = false;      ///< ask nothing
  bool quick = false;    ///< three short blocks: does it work, not which is better
  bool no_wait = false;  ///< refuse where another run holds the machine
};

/// Does it all; prints headline and report. Throws Failure for what the user must mend.
Exit run_command(const RunOptions& options, const Places& places);

}  // namespace hakmem::harness
