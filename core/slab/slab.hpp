// Slab records: 64 bytes a slice, in a dense array beside the arena, never in the heap itself.
//
// A slab is a run of one to eight slices cut into blocks of one class. Its record is that of its
// first slice; the records of the others only lead back to it.
//
//   capacity = (blocks never carved) + (blocks in `free`) + used
//
// where `used` counts blocks with the user, in front caches, in outboxes and in `remote`, and
// `out_sum` is the sum of the fingerprints of the same blocks, but for those in `remote`. So a slab
// whose `used` is zero has `out_sum` zero, or a block was freed twice in place of another.
#pragma once

#include <atomic>

#include "base/sealed.hpp"
#include "base/size_classes.hpp"
#include "base/types.hpp"

namespace hakmem {

struct Block;

#ifdef HAKMEM_HARDENED
/// A link that is stored encoded with a secret and its own place, and that leads to a block or
/// nowhere: what an overwritten one decodes to is refused.
class Link {
 public:
  constexpr Link() = default;
  constexpr Link(std::nullptr_t) {}
  HAK_INLINE Link(Block* block) : word_(address(block) ^ key()) {}
  Link(const Link&) = delete;
  HAK_INLINE Link& operator=(Block* block) {
    word_ = address(block) ^ key();
    return *this;
  }
  Link& operator=(const Link&) = delete;
  HAK_INLINE operator Block*() const { return checked(word_ ^ key()); }
  Block* operator->() const { return *this; }
  /// Without the check, for statistics.
  HAK_INLINE Block* unchecked() const {
    return static_cast<Block*>(pointer(__atomic_load_n(&word_, __ATOMIC_RELAXED) ^ key()));
  }

 private:
  HAK_INLINE std::uintptr_t key() const {
    return sealed.link_key != 0 ? sealed.link_key ^ address(this) : 0;
  }
  Block* checked(std::uintptr_t word) const;  // front/guard.cpp

  std::uintptr_t word_ = 0;
};
#else
using Link = Block*;
#endif

/// A free block. `mark` is sealed.free_mark while the block is free and is cleared when it is
/// handed out, so that one block cannot be handed out twice without a free in between.
struct Block {
  Link next;
  std::uint64_t mark;
};

/// The next block of a list that its thread may be changing just now.
HAK_INLINE Block* peek_next(const Block* block) {
#ifdef HAKMEM_HARDENED
  return block->next.unchecked();
#else
  return __atomic_load_n(&block->next, __ATOMIC_RELAXED);
#endif
}

static_assert(sizeof(Block) <= kMinAlignment);

/// What a block adds to the sum of a set of blocks. Squares: of two sets of as many blocks of a
/// slab, as a double free makes them, the sums differ, but for sets chosen with care or by a chance
/// of one in millions.
HAK_INLINE std::uint32_t fingerprint(const Block* block) {
  const auto low = static_cast<std::uint32_t>(address(block));
  return low * low;
}

/// Blocks on their way from one list to another, null-terminated.
struct Chain {
  Block* head = nullptr;
  Block* tail = nullptr;
  std::uint32_t count = 0;
  std::uint32_t sum = 0;  ///< of their fingerprints

  /// Takes over the blocks of another, non-empty chain, as its last ones.
  HAK_INLINE void append(const Chain& more) {
    if (count == 0) {
      head = more.head;
    } else {
      tail->next = more.head;
    }
    tail = more.tail;
    count += more.count;
    sum += more.sum;
  }
};

/// Remote frees of a slab: list head in the low 48 bits, its length above.
class RemoteList {
 public:
  struct List {
    Block* head;
    std::uint32_t count;
  };

  /// Adds a chain. True when the list was empty: the caller then, and only then, puts the slab on
  /// its owner's queue.
  bool push(const Chain& chain) {
    std::uint64_t old = word_.load(std::memory_order_relaxed);
    std::uint64_t wanted;
    do {
      chain.tail->next = unpack(old).head;
      wanted = address(chain.head) | (std::uint64_t{unpack(old).count + chain.count} << kShift);
    } while (!word_.compare_exchange_weak(old, wanted, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return old == 0;
  }

  /// Takes all. Only after the slab was taken off a queue: that is what keeps it on one queue at
  /// most.
  List take() { return unpack(word_.exchange(0, std::memory_order_acq_rel)); }

  std::uint32_t count() const { return unpack(word_.load(std::memory_order_relaxed)).count; }

  bool empty() const { return word_.load(std::memory_order_relaxed) == 0; }

 private:
  static constexpr unsigned kShift = 48;

  static List unpack(std::uint64_t word) {
    return {static_cast<Block*>(pointer(word & ((std::uint64_t{1} << kShift) - 1))),
            static_cast<std::uint32_t>(word >> kShift)};
  }

  std::atomic<std::uint64_t> word_{0};
};

struct alignas(64) Slab {
  // Written by the owner only.
  Block* free;                         ///< returned blocks, null-terminated
  Slab* next;                          ///< neighbours in the owner's list of slabs with room
  Slab* prev;                          ///< (meaningful while `listed`)
  std::byte* start;                    ///< first block
  std::uint32_t used;                  ///< see the equation above
  std::uint32_t carved;                ///< blocks carved so far; for a large run: its slices
  std::atomic<std::uint32_t> out_sum;  ///< written by those who send blocks, too
  std::uint8_t cls;
  std::uint8_t slices;
  std::uint8_t head_offset;  ///< slices back to the slab's first one
  bool listed;               ///< in the owner's list of slabs with room
  // Written by any thread.
  RemoteList remote;
  Slab* queue_next;  ///< written by the thread whose push made `remote` non-empty

  HAK_INLINE std::uint32_t capacity() const { return class_info(cls).capacity; }
  HAK_INLINE std::uint32_t block_size() const { return class_info(cls).block_size; }

  HAK_INLINE void note_out(const Chain& chain) {
    used += chain.count;
    out_sum.fetch_add(chain.sum, std::memory_order_relaxed);
  }
  HAK_INLINE void note_back(const Chain& chain) {
    used -= chain.count;
    note_sent(chain);
  }
  /// By any thread, before it pushes the chain to `remote`.
  HAK_INLINE void note_sent(const Chain& chain) {
    out_sum.fetch_sub(chain.sum, std::memory_order_relaxed);
  }
  HAK_INLINE bool has_room() const { return free != nullptr || carved < capacity(); }
};

static_assert(sizeof(Slab) == 64);

}  // namespace hakmem
