// One line of samples.jsonl: what a measured process did, as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "harness/experiment.hpp"
#include "harness/process_run.hpp"

namespace hakmem::harness {

/// Where in the experiment a run stands.
struct Position {
  unsigned block = 0, slot = 0, session = 1, attempt = 1;
  std::uint64_t seed = 0;
};

/// Builds the sample. `started` is UTC in ISO form, `report` the text of HAKMEM_REPORT. The status
/// is judged from the run alone; whether checksums of arms agree is the caller's to add.
Json make_sample(const Arm& arm, const Cell& cell, const Position& position,
                 const std::string& started, const std::vector<int>& cpus,
                 const ProcessResult& result, const std::string& report);

/// hakbench's record in the output of a run, or null with `problem` set.
Json find_record(const std::string& output, std::string* problem);

}  // namespace hakmem::harness
