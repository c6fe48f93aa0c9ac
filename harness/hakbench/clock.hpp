// Two clocks: CLOCK_MONOTONIC for regions, the time stamp counter for single calls.
#pragma once

#include <time.h>

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace hakbench {

/// CLOCK_MONOTONIC in nanoseconds.
inline std::uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Ticks before a call: what stands earlier in the program has been executed.
inline std::uint64_t ticks_before() {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
#else
  return now_ns();
#endif
}

/// Ticks after a call: the call has been executed.
inline std::uint64_t ticks_after() {
#if defined(__x86_64__)
  unsigned core;
  const std::uint64_t ticks = __rdtscp(&core);
  _mm_lfence();
  return ticks;
#else
  return now_ns();
#endif
}

}  // namespace hakbench
