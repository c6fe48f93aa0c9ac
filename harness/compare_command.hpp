// `hak compare`: the allocator against others on many workloads, as one experiment.
#pragma once

#include <string>
#include <vector>

#include "harness/places.hpp"
#include "harness/run_command.hpp"

namespace hakmem::harness {

struct CompareOptions {
  std::vector<std::string> libraries;  ///< NAME=PATH, or NAME=LIBRARY of library_names()
  std::vector<std::string> only;       ///< names of cells or workloads; empty: all
  unsigned runs = 0;                   ///< blocks; 0: as the suite says
  double void_above = -1;              ///< percent of steal or foreign load; below 0: as always
  bool quick = false;                  ///< three short blocks
  bool all = false;                    ///< the further workloads, traces and programs too
};

/// Writes the experiment that the options ask for into `run->text`: the suite of
/// experiments/compare.json, without the libraries and programs that this machine lacks (each a
/// notice). Throws Failure(usage) for a name that nothing has.
void plan_compare(const CompareOptions& options, const Places& places, RunOptions* run);

}  // namespace hakmem::harness
