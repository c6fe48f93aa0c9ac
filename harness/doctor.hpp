// `hak doctor`: what about this machine disturbs a measurement. It looks and says, and changes
// nothing; the commands are for a person to type.
#pragma once

#include <string>
#include <vector>

#include "harness/cpus.hpp"
#include "harness/placed_json.hpp"

namespace hakmem::harness {

struct Check {
  std::string name;      ///< governor, turbo, smt, …
  std::string state;     ///< what was found
  std::string severity;  ///< ok, note or warn
  std::string effect;    ///< what it does to a measurement
  std::string command;   ///< what a person may type to change it, "" where nothing helps
};

/// All checks, in a fixed order. Takes a quarter of a second, as load is a difference over time.
std::vector<Check> examine(const CpuPlan& plan);

/// What takes time or memory away from outside: interrupts, ticks, quotas, memory, batteries. Part
/// of examine().
std::vector<Check> examine_limits(const CpuPlan& plan);

/// The manifest's `doctor`.
Json doctor_json(const std::vector<Check>& checks);

/// For a terminal; `everything` shows what is fine too.
std::string doctor_text(const std::vector<Check>& checks, bool everything);

}  // namespace hakmem::harness
