// A recorded trace as the replay wants it: for each thread an array of eight-byte steps.
#pragma once

#include <cstdint>

namespace hakbench {

enum class StepKind : std::uint32_t { allocate, zeroed, free, resize, aligned, wait, publish };

/// `place` is a slot; for wait a thread. `amount` is a size; for aligned log2 of the alignment in
/// the step's place, with the size in the step that follows; for wait the publish steps that the
/// other thread must have passed.
struct TraceStep {
  std::uint32_t kind_and_place;
  std::uint32_t amount;

  StepKind kind() const { return static_cast<StepKind>(kind_and_place >> 28); }
  std::uint32_t place() const { return kind_and_place & ((1u << 28) - 1); }
};
static_assert(sizeof(TraceStep) == 8);

struct Trace {
  unsigned threads;     ///< as recorded
  std::uint64_t slots;  ///< places for live blocks, all threads
  std::uint64_t events;
  TraceStep** steps;     ///< by replay thread; null without steps
  std::uint64_t* count;  ///< their numbers
};

/// Threads of the trace in `file`. Ends the program where that is no trace that can be read.
unsigned recorded_threads(const char* file);

/// Decodes the file for `threads` replay threads; recorded thread t runs on t modulo `threads`.
/// Where a thread needs what another one did, it waits for that. Ends the program as above.
Trace load_trace(const char* file, unsigned threads);

}  // namespace hakbench
