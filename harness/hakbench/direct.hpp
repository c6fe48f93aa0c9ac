// Direct calls: the environment's HAKBENCH_CALLS=direct makes this program's calls of malloc and
// free go to the code that serves them, past what an allocator puts before it (the lab's entry
// jump). No instruction of the workload differs: only where its two entries of the global offset
// table lead.
#pragma once

namespace hakbench {

/// Does as the environment asks; true when calls are direct. Ends the program with kExitUsage where
/// the value is unknown, or the allocator has no hakmem_direct_calls.
bool choose_calls();

/// What choose_calls() gave.
bool calls_are_direct();

}  // namespace hakbench
