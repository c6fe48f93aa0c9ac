// manifest.json: what was to run, where, built how (docs/design/files.md).
#pragma once

#include <string>
#include <vector>

#include "harness/cpus.hpp"
#include "harness/doctor.hpp"
#include "harness/environment.hpp"
#include "harness/experiment.hpp"

namespace hakmem::harness {

/// Everything that is known before the first run; `status` is "running", session 1.
Json first_manifest(const Experiment& experiment, const std::string& run, const Places& places,
                    const CpuPlan& plan, const std::vector<Check>& checks, const Variables& common);

/// Adds a session to the manifest of a run that is resumed and sets it to "running".
void add_session(Json* manifest, const CpuPlan& plan);

/// Number of the last session.
unsigned last_session(const Json& manifest);

/// Appends to `notices` what does not stand there yet.
void add_notices(Json* manifest, const std::vector<std::string>& notices);

/// Why a run must not go on with these arms (a library was rebuilt in between), or "".
std::string resume_problem(const Json& manifest, const Experiment& experiment);

/// Notices that follow from the experiment itself: A/A, equal libraries, one CPU, wrong profile.
std::vector<std::string> plan_notices(const Experiment& experiment, const CpuPlan& plan);

}  // namespace hakmem::harness
