// `hak run`: from an experiment file to a verdict.
#pragma once

#include <string>
#include <vector>

#include "harness/errors.hpp"
#include "harness/places.hpp"

namespace hakmem::harness {

struct RunOptions {
  std::string file;  ///< experiment; "" with --resume
  std::string text;  ///< of an experiment that stands in no file; `file` then names it
  std::vector<std::string> notices;    ///< what the reader of the result must know
  std::vector<std::string> libraries;  ///< NAME=PATH: further references
  std::string results;                 ///< folder of all results; "" for the repository's
  std::string resume;                  ///< folder of a run to go on with
  std::string mode;                    ///< "process" or "slices"; "": as the experiment says
  std::string gate;                    ///< "", "no-go" or "undecided"
  unsigned runs = 0;                   ///< blocks instead of the experiment's; 0: as it says
  bool until_decided = false;          ///< sequential, whatever the experiment says
  bool yes = false;                    ///< ask nothing
  bool quick = false;                  ///< three short blocks: does it work, not which is better
  bool no_report = false;              ///< measure only; the caller judges
  bool no_peer = false;                ///< do not add mimalloc for the percentage in the header
  bool quiet = false;                  ///< nothing about the machine and earlier results
  bool force = false;                  ///< go on with a result of another machine
  bool no_code = false;                ///< neither mechanism.json nor compliance.json
  bool no_wait = false;                ///< refuse where another run holds the machine
};

/// Does it all; prints headline and report. Throws Failure for what the user must mend.
/// `folder`, where given, becomes the result's.
Exit run_command(const RunOptions& options, const Places& places, std::string* folder = nullptr);

}  // namespace hakmem::harness
