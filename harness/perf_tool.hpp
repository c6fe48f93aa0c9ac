// perf, the kernel's profiler, as a child: what this machine lets it sample, and one recording.
#pragma once

#include <string>
#include <vector>

#include "harness/process_run.hpp"

namespace hakmem::harness {

/// What perf may do here, found out by trying.
struct PerfAbility {
  std::string version;     ///< "perf version 6.1"
  std::string event;       ///< cycles, or cpu-clock where the machine has no counter
  std::string reason;      ///< why not cycles; "" where it is cycles
  std::string call_graph;  ///< lbr, dwarf or fp
};

/// Tries events and call graphs on a program that does nothing. `wanted_graph` is auto, lbr, dwarf
/// or fp. Throws Failure(missing) where there is no perf and Failure(io) where it may not record;
/// both say what to do. `base` gives helper, CPUs and environment.
PerfAbility try_perf(const RunRequest& base, const std::string& wanted_graph,
                     const std::string& temporary);

struct Recording {
  ProcessResult result;  ///< of perf and what it ran
  std::string problem;   ///< "" where it went well
};

/// Runs `request` under `perf record` and writes the samples as text (perf script) to `out`. The
/// preload of the request's environment reaches only the program, not perf.
Recording record_samples(const RunRequest& request, const PerfAbility& ability, unsigned frequency,
                         const std::string& temporary, const std::string& out);

}  // namespace hakmem::harness
