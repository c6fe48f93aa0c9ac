// The one clock of durations.
#pragma once

#include <algorithm>
#include <ctime>

namespace hakmem::harness {

/// CLOCK_MONOTONIC in seconds.
inline double now_s() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// A span as a timeout of poll(): whole milliseconds, rounded up, never negative or endless.
inline int poll_ms(double seconds) {
  return static_cast<int>(std::clamp(seconds * 1000 + 1, 0.0, 3'600'000.0));
}

}  // namespace hakmem::harness
