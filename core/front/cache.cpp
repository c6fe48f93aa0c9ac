// Filling and emptying the front caches.
#include "base/probes.hpp"
#include "base/text.hpp"
#include "boxes/state.hpp"
#include "front/burn.hpp"
#include "front/front.hpp"
#include "front/guard.hpp"
#include "front/run_cache.hpp"
#include "front/slow.hpp"
#include "os/faults.hpp"
#include "os/memory.hpp"
#include "slab/arena.hpp"

namespace hakmem {

namespace {

using boxes::Id;

constexpr std::uint32_t kBatchBytes = 16 * 1024;  ///< a refill takes no more than this at once,
constexpr std::uint32_t kSmallestBatch = 4;       ///< or than so many blocks that were used before
constexpr std::uint32_t kTicksPerLook = 16;       ///< slow paths between two looks at the clock

/// Gives pages of free slices back to the system; gives the number of slices.
std::size_t purge(Front& front, std::int64_t delay_ms) {
  const std::size_t slices = arena_purge(os::now_ms(), delay_ms);
  front.stats.purges += slices != 0;
  return slices;
}

std::uint32_t batch_for(Front& front, unsigned cls) {
  count_decision(front, Id::refill_batch);
  const auto batch = static_cast<std::uint32_t>(boxes::value_of(Id::refill_batch));
  const std::uint32_t by_bytes = kBatchBytes / class_info(cls).block_size;
  const std::uint32_t most = by_bytes < kSmallestBatch ? kSmallestBatch : by_bytes;
  return batch < most ? batch : most;
}

/// Up to `wanted` of the blocks that came back to the slab, newest first: they keep their links.
Chain take_returned(Slab& slab, std::uint32_t wanted, std::uint64_t mark) {
  Chain chain{slab.free};
  Block* block = slab.free;
  do {
    if (HAK_UNLIKELY(block->mark != mark)) {
      misuse("malloc()", "free block was overwritten or freed twice", block);
    }
    chain.tail = block;
    chain.sum += fingerprint(block);
    block = block->next;
  } while (++chain.count < wanted && block != nullptr);
  slab.free = block;
  slab.note_out(chain);
  return chain;
}

/// Up to `wanted` fresh blocks, but none that begins on another page than the first: a page is
/// touched only when it is needed.
Chain carve(Slab& slab, std::uint32_t wanted, std::uint64_t mark) {
  const std::uint32_t left = slab.capacity() - slab.carved;
  const std::size_t step = slab.block_size();
  std::byte* at = slab.start + slab.carved * step;
  const std::uintptr_t page_end = (address(at) | (kPageSize - 1)) + 1;
  if (wanted > left) wanted = left;
  auto* block = reinterpret_cast<Block*>(at);
  Chain chain{block, block, 1, fingerprint(block)};
  block->mark = mark;
  for (at += step; chain.count < wanted && address(at) < page_end; at += step) {
    block = reinterpret_cast<Block*>(at);
    block->mark = mark;
    chain.tail->next = block;
    chain.tail = block;
    chain.sum += fingerprint(block);
    ++chain.count;
  }
  slab.carved += chain.count;
  slab.note_out(chain);
  if constexpr (kGuarded) guard_carved(slab, chain.count);
  return chain;
}

/// Box threaded_carve: all fresh blocks of the slab at once, linked in their order.
void thread_through(Slab& slab, std::uint64_t mark) {
  const std::size_t step = slab.block_size();
  std::byte* at = slab.start + slab.carved * step;
  auto* block = reinterpret_cast<Block*>(at);
  slab.free = block;
  const std::uint32_t fresh = slab.capacity() - slab.carved;
  for (std::uint32_t left = fresh; left > 1; --left) {
    at += step;
    block->mark = mark;
    block->next = reinterpret_cast<Block*>(at);
    block = block->next;
  }
  block->mark = mark;
  block->next = nullptr;
  slab.carved += fresh;
  if constexpr (kGuarded) guard_carved(slab, fresh);
}

bool suppresses_drain(Front& front) {
  if (boxes::value_of(Id::drain_suppressed) == 0) return false;
  count_decision(front, Id::drain_suppressed);
  return true;
}

Slab* slab_of(const Block* block) {
  const std::size_t slice = (address(block) - sealed.arena_base) >> kSliceShift;
  Slab* record =
      HAK_LIKELY(slice < sealed.arena_slices) ? sealed.records + slice : arena_find(block).record;
  return record - record->head_offset;
}

/// The first blocks of the list at `head`, `limit` at most, as far as they lie in one slice: a
/// stretch. Each is checked to be free, and a slab to have so many out.
Chain stretch_at(const Front& front, Block* const head, std::uint32_t limit) {
  const Slab* slab = slab_of(head);
  // Only its owner may read how many blocks of a slab are out.
  const std::uint32_t most = owner_of(slab) == &front ? slab->used : slab->capacity();
  Chain stretch{head, head};
  Block* rest = head;
  do {
    stretch.tail = rest;
    if (HAK_UNLIKELY(stretch.tail->mark != front.free_mark || stretch.count == most)) {
      misuse("free()", "free block was overwritten or freed twice", stretch.tail);
    }
    stretch.sum += fingerprint(rest);
    rest = stretch.tail->next;
  } while (++stretch.count < limit && address(rest) >> kSliceShift == address(head) >> kSliceShift);
  return stretch;
}

/// Length of a list, but no more than `limit`; each block looked at is checked to be free.
std::uint32_t length_of(const Front& front, const Block* block, std::uint32_t limit) {
  std::uint32_t n = 0;
  for (; n < limit && block != &empty_block; block = block->next) {
    if (HAK_UNLIKELY(block->mark != front.free_mark)) {
      misuse("free()", "free block was overwritten or freed twice", block);
    }
    ++n;
  }
  return n;
}

/// Gives a stretch back: its blocks keep their links.
void give_back_stretch(Front& front, const Chain& stretch) {
  Slab* slab = slab_of(stretch.head);
  if (owner_of(slab) != &front) {
    front.stats.remote_sent += stretch.count;
    ++front.stats.sends;
    send_remote(slab, stretch);
    return;
  }
  stretch.tail->next = slab->free;
  slab->free = stretch.head;
  slab->note_back(stretch);
  front.stats.blocks_back[slab->cls] += stretch.count;
  if (!slab->listed) list_slab(front, slab);
  if (slab->used == 0) retire_slab(front, slab, true);
}

bool has_tiers() { return kLab && boxes::value_of(Id::refill_tiers) != 0; }

/// Gives a list of the class back, through the tiers where the box refill_tiers puts some between.
void return_list(Front& front, unsigned cls, Block* chain) {
  if constexpr (kLab) {
    if (has_tiers()) chain = keep_in_tiers(front, cls, chain);
  }
  give_back(front, chain);
}

/// Gives all blocks of a bin back.
void empty_bin(Front& front, unsigned cls) {
  Bin& bin = front.bins[cls];
  Block* chain = bin.head;
  bin.head = &empty_block;
  return_list(front, cls, chain);
  bin.known = 0;
  bin.credit = bin_span(bin, cls);
}

/// After a look that found so many blocks. What the last look gave back was taken out again, and
/// the list is long again, or no more was taken than half of what was freed here: the bin is too
/// short for this thread, and its cap doubles (as in tcmalloc's slow start). Only where bins hold
/// no foreign blocks: a longer list of those was larger and no faster. Theirs is looked at less
/// often instead, while looks find it short.
void grow(Bin& bin, unsigned cls, std::uint32_t length) {
  if (cap_grows(cls)) {
    const std::uint32_t half = bin_cap(bin, cls) / 2;
    const bool taken_again = bin.gave && bin.taken != 0 && bin.taken < kManyTaken;
    const bool too_short = taken_again && (length > half || bin.taken <= half);
    if (too_short && bin.grown < kMostGrown) ++bin.grown;
    return;
  }
  if (length >= bin_cap(cls)) {
    bin.grown = 0;
  } else if (bin.grown < kMostPatient) {
    ++bin.grown;
  }
}

/// The profile `faults`: remote frees are not taken in, which the balance has to notice.
bool drain_is_suppressed() {
  if constexpr (os::kFaults) return os::fails(os::Call::drain);
  return false;
}

/// Gives all but the first `keep` blocks of a bin back.
void shorten(Front& front, unsigned cls, std::uint32_t keep) {
  Bin& bin = front.bins[cls];
  Block* chain = bin.head;
  if (keep == 0) {
    bin.head = &empty_block;
  } else {
    Block* last = chain;
    for (std::uint32_t i = 1; i < keep; ++i) last = last->next;
    chain = last->next;
    last->next = &empty_block;
  }
  return_list(front, cls, chain);
}

/// Looks at one bin, or one length of cached runs: blocks of a class that saw neither a free nor a
/// refill for a whole round go back, or they would hold their slabs for ever.
void sweep_one(Front& front) {
  const unsigned cls = front.sweep++ % (kClassCount + RunCache::kLongest);
  if (cls >= kClassCount) return release_idle_runs(front, cls - kClassCount + 1);
  Bin& bin = front.bins[cls];
  const bool idle = bin.taken == 0 && bin.credit == front.swept_credit[cls];
  if (idle && (bin.grown != 0 || bin.head != &empty_block)) {
    bin.grown = 0;
    empty_bin(front, cls);
  }
  if (bin.credit == front.swept_credit[cls]) bin.taken = 0;
  front.swept_credit[cls] = bin.credit;
  if constexpr (kLab) empty_lab(front, cls, true);
}

}  // namespace

Chain take_blocks(Front& front, unsigned cls, std::uint32_t wanted) {
  Chain chain;
  while (chain.count < wanted) {
    Slab* slab = front.with_room[cls];
    if (slab == nullptr && chain.count == 0) slab = obtain_slab(front, cls);
    if (slab == nullptr) break;
    bool fresh = slab->free == nullptr;
    if (fresh && chain.count > 0) break;  // fresh pages only when nothing else was to be had
    if (fresh && boxes::value_of(Id::threaded_carve) != 0) {
      count_decision(front, Id::threaded_carve);
      thread_through(*slab, front.free_mark);
      fresh = false;
    }
    chain.append(fresh ? carve(*slab, wanted, front.free_mark)
                       : take_returned(*slab, wanted - chain.count, front.free_mark));
    if (!slab->has_room()) unlist_slab(front, slab);
    if (fresh) break;
  }
  if (chain.count > 0) chain.tail->next = nullptr;
  if constexpr (kHardened) shuffle(chain);
  front.stats.blocks_out[cls] += chain.count;
  return chain;
}

void prewarm(Front& front) {
  const auto wanted = static_cast<std::uint32_t>(boxes::value_of(Id::prewarm));
  for (const std::uint8_t code : front.tiny_codes) {
    if (code == kNoBlockCode) return;  // a heap profile is taken
    const unsigned cls = code / 2U;
    if (cls == kC7UltraClass || front.bins[cls].head != &empty_block) continue;
    const Chain chain = take_blocks(front, cls, wanted);
    if (chain.count == 0) return;
    count_decision(front, Id::prewarm);
    chain.tail->next = &empty_block;
    front.bins[cls].head = chain.head;
    count_taken(front.bins[cls], 1);
  }
}

void* refill(Front& front, unsigned cls) {
  ++front.stats.refills;
  tick(front);
  if constexpr (kLab) {
    if (has_tiers()) {
      if (void* p = refill_from_tiers(front, cls)) return p;
    }
  }
  std::uint32_t wanted = batch_for(front, cls);
  // `hak new box` puts the calls of data and slow boxes here.
  const Chain chain = take_blocks(front, cls, wanted);
  if (chain.count == 0) return nullptr;
  HAK_PROBE(refill, class_info(cls).block_size, chain.count);
  Bin& bin = front.bins[cls];
  chain.tail->next = bin.head;
  bin.head = chain.head->next;
  count_taken(bin, chain.count);
  chain.head->mark = 0;
  return chain.head;
}

/// A thread that only frees gets nothing out of a cache, and blocks that stay here hold their
/// slabs: where all that was freed since the last look is still there, or the list has outgrown its
/// cap between two distant looks, the whole list goes back.
/// Otherwise half of it does, if it is long or was not refilled. No more is walked than was freed,
/// so the walk is over warm blocks, and the first stretch, mostly all of what a phase of frees
/// left, is walked but once.
void trim(Front& front, unsigned cls) {
  ++front.stats.trims;
  Bin& bin = front.bins[cls];
  burn(front, bin);
  std::uint32_t cap = bin_cap(bin, cls);
  count_decision(front, Id::cache_blocks);
  if (suppresses_drain(front)) {
    bin.credit = cap;
    return;
  }
  const std::uint32_t freed = bin_span(bin, cls) - bin.known;
  const std::uint32_t weight = 1U << bin.grown;
  Chain first;
  std::uint32_t length = 0;
  if (bin.head != &empty_block) {
    first = stretch_at(front, bin.head, freed);
    length = first.count + length_of(front, first.tail->next, freed - first.count);
  }
  grow(bin, cls, length);
  if (length >= cap) {
    if (!has_tiers()) {
      bin.head = first.tail->next;
      give_back_stretch(front, first);
    }
    empty_bin(front, cls);
    bin.gave = true;
  } else {
    cap = bin_cap(bin, cls);
    const std::uint32_t keep = bin.taken == 0 || length > cap / 2 ? length / 2 : length;
    bin.gave = keep < length;
    if (bin.gave) shorten(front, cls, keep);
    bin.known = static_cast<std::uint16_t>(keep);
    bin.credit = bin_span(bin, cls) - keep;
  }
  bin.taken = 0;
  tick(front, weight);
}

void give_back(Front& front, Block* chain) {
  while (chain != &empty_block) {
    const Chain stretch = stretch_at(front, chain, UINT32_MAX);
    chain = stretch.tail->next;
    give_back_stretch(front, stretch);
  }
}

void flush_all(Front& front) {
  flush_outboxes(front);
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    empty_bin(front, cls);
    if constexpr (kLab) empty_lab(front, cls, false);
  }
  for (std::uint32_t n = 1; n <= RunCache::kLongest; ++n) release_runs(front, n, 0);
  C7Array& c7 = front.c7;
  while (c7.count > 0) {
    auto* block = static_cast<Block*>(c7.blocks[--c7.count]);
    block->mark = front.free_mark;
    block->next = &empty_block;
    give_back(front, block);
  }
}

void tick(Front& front, std::uint32_t weight) {
  if (!suppresses_drain(front)) {
    if (front.queue.load(std::memory_order_relaxed) != nullptr && !drain_is_suppressed()) {
      drain(front);
    }
    for (std::uint32_t i = 0; i < weight; ++i) sweep_one(front);
  }
  const std::uint32_t before = front.ticks;
  front.ticks += weight;
  if (before / kTicksPerLook == front.ticks / kTicksPerLook) return;
  flush_outboxes(front);
  if (!arena_purge_wanted()) return;
  count_decision(front, Id::purge_delay);
  const std::int64_t delay = boxes::value_of(Id::purge_delay);
  if (delay >= 0) purge(front, delay);
}

std::size_t release_memory(Front& front) {
  flush_all(front);
  drain(front);
  return_empty_slabs(front);
  return purge(front, 0) << kSliceShift;
}

}  // namespace hakmem
