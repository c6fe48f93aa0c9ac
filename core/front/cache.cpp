// Filling and emptying the front caches.
#include "base/text.hpp"
#include "boxes/state.hpp"
#include "front/front.hpp"
#include "front/slow.hpp"
#include "os/memory.hpp"
#include "slab/arena.hpp"

namespace hakmem {

namespace {

using boxes::Id;

constexpr std::uint32_t kBatchBytes = 16 * 1024;  ///< a refill takes no more than this at once
constexpr std::uint32_t kTicksPerLook = 16;       ///< slow paths between two looks at the clock

std::uint32_t batch_for(Front& front, unsigned cls) {
  ++front.box_uses[static_cast<std::size_t>(Id::refill_batch)];
  const auto batch = static_cast<std::uint32_t>(boxes::value_of(Id::refill_batch));
  const std::uint32_t by_bytes = kBatchBytes / class_info(cls).block_size;
  return by_bytes == 0 ? 1 : batch < by_bytes ? batch : by_bytes;
}

/// Blocks that came back to the slab, newest first.
void take_returned(Slab& slab, std::uint32_t wanted, Chain& chain, std::uint64_t mark) {
  while (chain.count < wanted && slab.free != nullptr) {
    Block* block = slab.free;
    if (HAK_UNLIKELY(block->mark != mark)) {
      misuse("malloc()", "free block was overwritten or freed twice", block);
    }
    slab.free = block->next;
    ++slab.used;
    chain.append(block);
  }
}

/// Fresh blocks, up to the end of the page that the first of them begins in: a page is touched only
/// when it is needed.
void carve(Slab& slab, std::uint32_t wanted, Chain& chain, std::uint64_t mark) {
  std::byte* at = slab.start + std::size_t{slab.carved} * slab.block_size;
  const std::uintptr_t page_end = (address(at) | (kPageSize - 1)) + 1;
  while (chain.count < wanted && slab.carved < slab.capacity()) {
    auto* block = reinterpret_cast<Block*>(at);
    block->mark = mark;
    ++slab.carved;
    ++slab.used;
    chain.append(block);
    at += slab.block_size;
    if (address(at) >= page_end) break;
  }
}

/// Up to `limit` blocks from the head of a bin, each checked to be free; `end` is the link behind
/// them.
std::uint32_t walk(Front& front, Bin& bin, std::uint32_t limit, Block**& end) {
  std::uint32_t n = 0;
  end = &bin.head;
  while (n < limit && *end != &empty_block) {
    if (HAK_UNLIKELY((*end)->mark != front.free_mark)) {
      misuse("free()", "free block was overwritten or freed twice", *end);
    }
    end = &(*end)->next;
    ++n;
  }
  return n;
}

/// Cuts the list behind its first `keep` blocks and gives the rest, as many as `count`, back.
void give_back_tail(Front& front, Bin& bin, std::uint32_t keep, std::uint32_t count) {
  if (count == 0) return;
  Block** link = &bin.head;
  for (std::uint32_t i = 0; i < keep; ++i) link = &(*link)->next;
  Block* chain = *link;
  *link = &empty_block;
  give_back(front, chain, count);
}

/// Gives all blocks of a bin back.
void empty_bin(Front& front, unsigned cls) {
  Bin& bin = front.bins[cls];
  Block** end = nullptr;
  give_back_tail(front, bin, 0, walk(front, bin, ~0U, end));
  bin.known = 0;
  bin.credit = bin_cap(cls);
}

/// Looks at one bin: blocks of a class that saw neither a free nor a refill for a whole round go
/// back, or they would hold their slabs for ever.
void sweep_one(Front& front) {
  const unsigned cls = front.sweep++ % kClassCount;
  Bin& bin = front.bins[cls];
  const bool idle = !bin.refilled && bin.credit == front.swept_credit[cls];
  if (idle && bin.head != &empty_block) empty_bin(front, cls);
  if (bin.credit == front.swept_credit[cls]) bin.refilled = false;
  front.swept_credit[cls] = bin.credit;
}

}  // namespace

Chain take_blocks(Front& front, unsigned cls, std::uint32_t wanted) {
  Chain chain;
  while (chain.count < wanted) {
    Slab* slab = front.with_room[cls];
    if (slab == nullptr && chain.count == 0) slab = obtain_slab(front, cls);
    if (slab == nullptr) break;
    const bool fresh = slab->free == nullptr;
    if (fresh && chain.count > 0) break;  // fresh pages only when nothing else was to be had
    if (fresh) {
      carve(*slab, wanted, chain, front.free_mark);
    } else {
      take_returned(*slab, wanted, chain, front.free_mark);
    }
    if (!slab->has_room()) unlist_slab(front, slab);
    if (fresh) break;
  }
  if (chain.count > 0) chain.tail->next = nullptr;
  front.stats.blocks_out[cls] += chain.count;
  return chain;
}

void* refill(Front& front, unsigned cls) {
  ++front.stats.refills;
  tick(front);
  const Chain chain = take_blocks(front, cls, batch_for(front, cls));
  if (chain.count == 0) return nullptr;
  Bin& bin = front.bins[cls];
  chain.tail->next = bin.head;
  bin.head = chain.head->next;
  bin.refilled = true;
  chain.head->mark = 0;
  return chain.head;
}

/// A thread that only frees gets nothing out of a cache, and blocks that stay here hold their
/// slabs: where all that was freed since the last look is still there, the whole list goes back.
/// Otherwise half of it does, if it is long or was not refilled. No more is walked than was freed,
/// so the walk is over warm blocks.
void trim(Front& front, unsigned cls) {
  ++front.stats.trims;
  Bin& bin = front.bins[cls];
  const std::uint32_t cap = bin_cap(cls);
  const std::uint32_t freed = cap - bin.known;
  Block** end = nullptr;
  const std::uint32_t length = walk(front, bin, freed, end);
  if (length == freed) {
    empty_bin(front, cls);
  } else {
    const std::uint32_t keep = !bin.refilled || length > cap / 2 ? length / 2 : length;
    give_back_tail(front, bin, keep, length - keep);
    bin.known = static_cast<std::uint16_t>(keep);
    bin.credit = cap - keep;
  }
  bin.refilled = false;
  tick(front);
}

void give_back(Front& front, Block* chain, std::uint32_t count) {
  for (; count > 0; --count) {
    Block* block = chain;
    chain = block->next;
    if (HAK_UNLIKELY(block->mark != front.free_mark)) {
      misuse("free()", "free block was overwritten or freed twice", block);
    }
    const std::size_t slice = (address(block) - sealed.arena_base) >> kSliceShift;
    Slab* slab =
        HAK_LIKELY(slice < sealed.arena_slices) ? sealed.records + slice : arena_find(block).record;
    slab -= slab->head_offset;
    block->next = slab->free;
    slab->free = block;
    ++front.stats.blocks_back[slab->cls];
    if (HAK_UNLIKELY(slab->used == 0)) misuse("free()", "block was freed twice", block);
    if (--slab->used == 0) {
      if (!slab->listed) list_slab(front, slab);
      retire_slab(front, slab, true);
    } else if (!slab->listed) {
      list_slab(front, slab);
    }
  }
}

void flush_all(Front& front) {
  flush_outboxes(front);
  for (unsigned cls = 0; cls < kClassCount; ++cls) empty_bin(front, cls);
  C7Array& c7 = front.c7;
  while (c7.count > 0) {
    auto* block = static_cast<Block*>(c7.blocks[--c7.count]);
    block->mark = front.free_mark;
    give_back(front, block, 1);
  }
}

void tick(Front& front) {
  if (front.queue.load(std::memory_order_relaxed) != nullptr) drain(front);
  sweep_one(front);
  if (++front.ticks % kTicksPerLook != 0) return;
  flush_outboxes(front);
  if (!arena_purge_wanted()) return;
  ++front.box_uses[static_cast<std::size_t>(Id::purge_delay)];
  const std::int64_t delay = boxes::value_of(Id::purge_delay);
  if (delay >= 0) arena_purge(os::now_ms(), delay);
}

std::size_t release_memory(Front& front) {
  flush_all(front);
  drain(front);
  return_empty_slabs(front);
  return arena_purge(os::now_ms(), 0) << kSliceShift;
}

}  // namespace hakmem
