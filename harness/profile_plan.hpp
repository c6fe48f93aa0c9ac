// What `hak profile` is to look at: an experiment's cell and arms, or a workload by name.
#pragma once

#include <string>
#include <vector>

#include "harness/experiment.hpp"
#include "harness/profile_command.hpp"

namespace hakmem::harness {

struct ProfilePlan {
  Experiment experiment;
  Cell cell;
  std::vector<std::size_t> arms;  ///< indices into experiment.arms: one, or two to compare
};

/// Reads the target. `temporary` takes the experiment that stands for a workload. Throws
/// Failure(usage) with the nearest known name.
ProfilePlan plan_profile(const ProfileOptions& options, const Places& places,
                         const std::string& temporary);

}  // namespace hakmem::harness
