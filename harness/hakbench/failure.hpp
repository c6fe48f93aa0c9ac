// How a run ends that cannot count: one line on stderr, and an exit code that says which kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hakbench {

/// Exit codes; 0 is a record on stdout.
enum ExitCode : int {
  kExitOutput = 1,      ///< the record could not be written
  kExitUsage = 2,       ///< wrong arguments
  kExitBroken = 3,      ///< a block or a checksum is not what it must be
  kExitAllocation = 4,  ///< the allocator, or the system, gave nothing
};

struct Block;

/// Names the workload in later messages. The text must live on.
void set_workload_name(std::string_view name);

/// A block does not hold what was written: `offset` is where, `found` the word there.
[[noreturn]] void fail_block(const Block& block, std::uint64_t offset, std::uint64_t found);

/// A block breaks a promise of its call, for example its alignment.
[[noreturn]] void fail_block(const Block& block, std::string_view why);

/// Pass `pass` has another checksum than the warm-up.
[[noreturn]] void fail_checksum(std::uint64_t pass, std::uint64_t found, std::uint64_t expected);

/// An allocation of `size` bytes by `call` failed.
[[noreturn]] void fail_allocation(std::string_view call, std::size_t size);

/// The system refused something that hakbench itself needs.
[[noreturn]] void fail_system(std::string_view what);

}  // namespace hakbench
