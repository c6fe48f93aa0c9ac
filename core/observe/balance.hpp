// Where the blocks of each class are: with the program, in a cache, or on their way back. Counted
// from the lists themselves, so that blocks that never come back to their slabs show.
#pragma once

#include "observe/stats.hpp"

namespace hakmem {

/// Blocks of one class. allocated = freed + live + cached + waiting.
struct ClassBalance {
  std::uint64_t allocated;  ///< from slabs to caches, ever
  std::uint64_t freed;      ///< from caches and remote lists to slabs, ever
  std::uint64_t cached;     ///< in front caches
  std::uint64_t waiting;    ///< freed by other threads and not yet taken in by their slabs' owner
  std::uint64_t live;       ///< with the program; and what threads lost in a fork had in caches
  std::uint64_t fullest;    ///< the most that one thread's caches hold

  /// More blocks wait than ever came back, and more than outboxes may hold: nobody takes them in.
  bool stuck() const { return waiting > kStuckBlocks && waiting > freed; }

  /// One thread's caches hold more than they may, and than ever came back: they give none back.
  bool hoarded() const { return fullest > kHoardedBlocks && fullest > freed; }

  static constexpr std::uint64_t kStuckBlocks = std::uint64_t{4} * kOutboxes * kOutboxBlocks;
  /// Twice what boxes may raise it to: a cache of 1024, and with refill_tiers as much behind it.
  static constexpr std::uint64_t kHoardedBlocks = 4096;
};

struct Balance {
  ClassBalance classes[kClassCount];
  std::uint64_t lost_fronts;
};

/// Exact when no other thread runs; never wild when some do. Takes no lock.
void take_balance(Balance& balance);

}  // namespace hakmem
