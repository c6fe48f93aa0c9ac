// The first steps of the slow paths: in functions of their own by default (slow.cpp), at the end of
// malloc and free themselves in the variant of the box inline_tails.
#pragma once

#include "front/front.hpp"
#include "front/guard.hpp"
#include "front/slow.hpp"
#include "slab/arena.hpp"

namespace hakmem {

HAK_INLINE Block* block_of(unsigned cls, void* p) {
  return reinterpret_cast<Block*>(static_cast<std::byte*>(p) - class_info(cls).offset);
}

HAK_INLINE void push_free(Front& front, unsigned cls, Block* block) {
  Bin& bin = front.bins[cls];
  block->next = bin.head;
  block->mark = front.free_mark;
  bin.head = block;
  if (bin.credit-- == 0) trim(front, cls);
}

/// A block of another thread. It may be reused here, where its lines are warm, and goes to its
/// owner with the bin's next trim; but not if it shares lines with its neighbours: two threads
/// would write to one line for as long as they live.
HAK_INLINE void free_foreign(Front& front, Slab* record, unsigned cls, Block* block) {
  if (class_info(cls).block_size < kUnsharedBlock) return free_remote(front, record, block);
  if (HAK_UNLIKELY(block->mark == front.free_mark)) {
    misuse("free()", "block was freed twice", block);
  }
  push_free(front, cls, block);
}

/// Frees a small block in a slice of arena 0 that another front owns. False when it is anything
/// else.
HAK_INLINE bool free_foreign_slice(Front* front, std::size_t slice, void* p) {
  const std::uint32_t route = sealed.routes[slice].load(std::memory_order_acquire);
  const std::uint32_t token = route >> kTokenShift;
  if (HAK_UNLIKELY(token == 0 || token == front->token >> kTokenShift || is_stub(front))) {
    return false;
  }
  const unsigned cls = (route & 0xFF) / 2;
  if constexpr (kGuarded) guard_freed(p);
  free_foreign(*front, sealed.records + slice, cls, block_of(cls, p));
  return true;
}

}  // namespace hakmem
