// `hak burn`: which value of the box HAKMEM_BURN slows a workload down by a wanted percentage,
// here.
#pragma once

#include <string>
#include <vector>

#include "harness/errors.hpp"
#include "harness/places.hpp"

namespace hakmem::harness {

struct BurnOptions {
  std::string workload;                 ///< of hakbench
  std::vector<std::string> parameters;  ///< NAME=VALUE
  std::vector<double> percents;         ///< by how much throughput shall fall
  std::string out;                      ///< folder for one experiment a percentage; "": none
  double seconds = 1.0;                 ///< measured time of each process
};

/// Measures the lab library with the box off and on, in turns, and prints what it found: ns/op, the
/// time between two credit expiries, and a value for each percentage. Writes burn_PERCENT.json
/// where asked to. Throws Failure for what the user must mend.
Exit burn_command(const BurnOptions& options, const Places& places);

}  // namespace hakmem::harness
