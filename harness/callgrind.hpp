// Exact instruction counts of an allocator's calls, by valgrind's callgrind: the same on a busy and
// on a quiet machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/placed_json.hpp"
#include "harness/process_run.hpp"

namespace hakmem::harness {

/// Executions of each instruction, by its offset from the function's first one.
using Executions = std::map<std::uint64_t, std::uint64_t>;

/// A function of the allocator. Recursions and inlined parts are in it; what it calls is not.
struct CountedFunction {
  std::string name;
  std::string entry;               ///< "malloc", "free" or "new": of their fast path; "" for others
  std::uint64_t instructions = 0;  ///< executed in it
  std::uint64_t entries = 0;       ///< how often it began
  Executions executions;
};

struct CallCounts {
  std::string problem;             ///< why there are no counts; "" where there are
  std::uint64_t instructions = 0;  ///< of the whole program
  std::uint64_t mallocs = 0, frees = 0;
  std::vector<CountedFunction> functions;  ///< the allocator's, most instructions first
  std::string record;                      ///< what the program said on stdout

  /// Instructions of the fast path (entry jump and variant) a call; empty without calls.
  [[nodiscard]] std::optional<double> per_malloc() const;
  [[nodiscard]] std::optional<double> per_free() const;
  /// Instructions of all other code of the allocator, per malloc and free.
  [[nodiscard]] std::optional<double> slow_per_op() const;
};

/// Why callgrind cannot be used here, or "".
std::string callgrind_refusal();

/// Runs `request`, one process without children, under callgrind. `library` is the path of its
/// allocator, "" for the C library; `folder` takes a file for a while. The request's time limit
/// should allow for a program some fifty times slower.
CallCounts count_calls(const RunRequest& request, const std::string& library,
                       const std::string& folder);

/// The counts in the text of a callgrind file (--dump-instr=yes, names and positions in full).
CallCounts read_callgrind(const std::string& text, const std::string& library);

/// {"instructions", "mallocs", "frees", "per_malloc", "per_free", "slow_per_op", "functions": [
/// {"name", "entry", "instructions", "entries"}]}, or {"problem"}. The executions of entries are in
/// "executions": [[offset, count], …].
Json counts_json(const CallCounts& counts);

}  // namespace hakmem::harness
