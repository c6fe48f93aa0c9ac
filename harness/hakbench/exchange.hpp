// Blocks on their way between threads: a ring for each pair, and the count of threads that still
// send.
#pragma once

#include <sched.h>

#include <atomic>
#include <new>

#include "harness/hakbench/ring.hpp"

namespace hakbench {

class Exchange {
 public:
  Exchange(unsigned senders, unsigned receivers, std::size_t capacity)
      : senders_(senders),
        receivers_(receivers),
        rings_(map_array<Ring>(std::size_t{senders} * receivers)) {
    for (std::size_t i = 0; i < std::size_t{senders} * receivers; ++i) {
      new (&rings_[i]) Ring(capacity);
    }
  }

  /// Before a pass, by one thread.
  void open() { sending_.store(senders_, std::memory_order_relaxed); }

  /// A sender that will push nothing more in this pass.
  void close() { sending_.fetch_sub(1, std::memory_order_release); }

  bool push(unsigned sender, unsigned receiver, const Block& block) {
    return ring(sender, receiver).push(block);
  }

  /// Hands at most `most` blocks from that sender to `body`, and says how many.
  template <class Body>
  unsigned receive_from(unsigned sender, unsigned receiver, unsigned most, Body body) {
    Ring& from = ring(sender, receiver);
    unsigned count = 0;
    for (Block block; count < most && from.pop(block); ++count) body(block);
    return count;
  }

  /// Hands everything to `body` until all senders have closed and nothing is left. A receiver that
  /// finds nothing yields: there may be fewer CPUs than threads.
  template <class Body>
  void receive_rest(unsigned receiver, Body body) {
    for (;;) {
      const bool closed = sending_.load(std::memory_order_acquire) == 0;
      unsigned count = 0;
      for (unsigned sender = 0; sender < senders_; ++sender) {
        count += receive_from(sender, receiver, 256, body);
      }
      if (count != 0) continue;
      if (closed) return;
      sched_yield();
    }
  }

 private:
  Ring& ring(unsigned sender, unsigned receiver) {
    return rings_[std::size_t{sender} * receivers_ + receiver];
  }

  unsigned senders_;
  unsigned receivers_;
  Ring* rings_;
  alignas(128) std::atomic<unsigned> sending_{0};
};

}  // namespace hakbench
