// Locks with ranks. A thread takes locks in rising rank only; fork takes all of them in that order.
#pragma once

#include <atomic>

#include "base/types.hpp"

namespace hakmem {

/// The order in which locks may be taken. (The idea of an enum for it is jemalloc's witness.h.)
enum class Rank : std::uint8_t {
  init,
  shared_front,
  fronts,
  slab_tree,
  arena,
  direct_map,
  samples,
  count
};

/// A futex lock of four bytes: 0 free, 1 held, 2 held with waiters. Constant-initialised; a child
/// of fork resets it.
class Lock {
 public:
  HAK_INLINE void lock() {
    std::uint32_t expected = 0;
    if (HAK_LIKELY(word_.compare_exchange_strong(expected, 1, std::memory_order_acquire))) return;
    lock_contended();
  }

  HAK_INLINE bool try_lock() {
    std::uint32_t expected = 0;
    return word_.compare_exchange_strong(expected, 1, std::memory_order_acquire);
  }

  HAK_INLINE void unlock() {
    if (word_.exchange(0, std::memory_order_release) == 2) wake();
  }

  /// Only in the child of fork, where no other thread exists.
  void reset() { word_.store(0, std::memory_order_relaxed); }

 private:
  HAK_COLD void lock_contended();
  HAK_COLD void wake();

  std::atomic<std::uint32_t> word_{0};
};

class Guard {
 public:
  explicit Guard(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};

/// All locks of the library, by rank: fork walks this array.
extern Lock locks[static_cast<std::size_t>(Rank::count)];

HAK_INLINE Lock& lock_of(Rank rank) { return locks[static_cast<std::size_t>(rank)]; }

}  // namespace hakmem
