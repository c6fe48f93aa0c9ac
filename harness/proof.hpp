// Proof of execution: that a run was served by the library and the boxes of its arm.
#pragma once

#include <string>
#include <vector>

#include "harness/experiment.hpp"
#include "harness/process_run.hpp"

namespace hakmem::harness {

struct Proof {  // NOLINT(bugprone-exception-escape): moving a Json throws nothing
  std::vector<std::string> problems;  ///< none: proven
  Json json;                          ///< the sample's `proof`
  [[nodiscard]] bool ok() const { return problems.empty(); }
};

/// Judges one run. `record` is hakbench's record or null, `report` the text that the allocator
/// appended to HAKMEM_REPORT during the run.
Proof prove(const Arm& arm, const Cell& cell, const ProcessResult& result, const Json& record,
            const std::string& report);

/// The report line of that process: its exit event where it has one, else its last; null where
/// there is none.
Json find_report(const std::string& report, pid_t pid);

/// What is wrong with the boxes, variant and library of a report, for an arm of ours.
std::vector<std::string> report_problems(const Arm& arm, const Json& report);

}  // namespace hakmem::harness
