// A queue of blocks from one thread to one other thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harness/hakbench/block.hpp"
#include "harness/hakbench/memory.hpp"

namespace hakbench {

/// One thread pushes, one pops. Each side remembers where it last saw the other, so that the line
/// of the other side is read only when the ring looks full or empty.
class alignas(128) Ring {
 public:
  /// `capacity` is a power of two.
  explicit Ring(std::size_t capacity) : blocks_(map_array<Block>(capacity)), mask_(capacity - 1) {}

  /// False where the ring is full.
  bool push(const Block& block) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - seen_head_ > mask_) {
      seen_head_ = head_.load(std::memory_order_acquire);
      if (tail - seen_head_ > mask_) return false;
    }
    blocks_[tail & mask_] = block;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// False where the ring is empty.
  bool pop(Block& block) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == seen_tail_) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head == seen_tail_) return false;
    }
    block = blocks_[head & mask_];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  Block* blocks_;
  std::uint64_t mask_;
  alignas(128) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t seen_head_ = 0;  ///< the pushing side's
  alignas(128) std::atomic<std::uint64_t> head_{0};
  std::uint64_t seen_tail_ = 0;  ///< the popping side's
};

}  // namespace hakbench
