// The environment of a measured process: built from an allow-list, the same names and the same size
// in every arm, so that nothing leaks in and the stack starts at the same place.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/experiment.hpp"

namespace hakmem::harness {

using Variables = std::map<std::string, std::string>;

/// PATH of every run: programs are looked up in it, whoever runs hak.
inline constexpr const char* kRunPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What every run gets: kRunPath, HOME and TMPDIR in the session's folder, LC_ALL=C.
Variables allow_list(const std::string& temporary);

/// Where the allocator's report of a run goes.
std::string report_path(const std::string& temporary);

/// The path to preload: the library's own, or that of a link in `temporary` where the path holds a
/// blank or a colon, which LD_PRELOAD cannot carry. "" for glibc. Throws Failure(io).
std::string preload_path(const Library& library, const std::string& temporary);

/// "NAME=value" lines of each arm, in the order of `experiment.arms`, padded to one size.
std::vector<std::vector<std::string>> arm_environments(const Experiment& experiment,
                                                       const std::string& temporary);

/// Makes all environments equal in bytes and in number of variables, by HAK_FILL_n and HAK_PAD.
void pad_environments(std::vector<std::vector<std::string>>* environments);

/// Bytes that an environment takes on the stack: its texts and their ends.
std::size_t environment_bytes(const std::vector<std::string>& environment);

}  // namespace hakmem::harness
