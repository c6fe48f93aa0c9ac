// `hak profile`: where the time of an arm goes, and what could be won there.
#pragma once

#include <string>
#include <vector>

#include "harness/errors.hpp"
#include "harness/places.hpp"

namespace hakmem::harness {

struct ProfileOptions {
  std::string target;               ///< experiment file, or a workload of hakbench
  std::vector<std::string> params;  ///< "NAME=VALUE" of a workload
  std::string arm;      ///< arm of the experiment, or library for a workload; "": default
  std::string against;  ///< the arm to compare with, or ""
  std::string cell;     ///< cell of the experiment; "": the primary one
  std::string results;  ///< folder of all results; "" for the repository's
  std::string call_graph = "auto";  ///< auto, lbr, dwarf or fp
  unsigned runs = 3;                ///< recordings of each arm
  unsigned frequency = 999;         ///< samples a second
  double seconds = 3;               ///< least measured time of a recording (hakbench)
  bool bands = false;               ///< count instructions for each size band as well
  bool keep_raw = false;            ///< keep what perf and callgrind wrote
};

/// Records, counts, and lets the analysis write the report; prints where it is. Throws Failure for
/// what the user must mend.
Exit profile_command(const ProfileOptions& options, const Places& places);

}  // namespace hakmem::harness
