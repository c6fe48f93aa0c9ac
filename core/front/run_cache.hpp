// Free runs of a few slices that a thread keeps: most buffers of 32 to 256 KiB come and go here,
// without the arena's lock. Their pages stay dirty, so they are few. (tcmalloc keeps as long ones.)
#pragma once

#include "boxes/state.hpp"
#include "front/front.hpp"
#include "front/slow.hpp"
#include "slab/arena.hpp"

namespace hakmem {

/// Runs with a guard page are not kept, nor those that a heap profile has to see.
HAK_INLINE bool keeps_runs() { return !kHardened && HAK_LIKELY(sealed.profile_rate == 0); }

/// A kept run for `size` bytes, dirty; null where there is none of that length.
HAK_INLINE void* take_kept_run(Front& front, std::size_t size) {
  RunCache& cache = front.run_cache;
  const std::size_t length = slices_for(size);
  if (length - 1 >= RunCache::kLongest || cache.runs[length - 1] == nullptr) return nullptr;
  Slab*& head = cache.runs[length - 1];
  const auto slice = static_cast<std::size_t>(head - sealed.records);
  head = head->next;
  const std::uint16_t left = --cache.count[length - 1];
  if (left < cache.fewest[length - 1]) cache.fewest[length - 1] = left;
  cache.slices -= static_cast<std::uint32_t>(length);
  sealed.routes[slice].store(kRouteLarge, std::memory_order_release);
  front.stats.note_large(static_cast<std::int64_t>(length), 1, 0);
  return pointer(sealed.arena_base + (slice << kSliceShift));
}

/// Frees a run of arena 0 by keeping it; false where it is none, or there is no place for it. Its
/// route becomes kRouteMeta, so that a second free is seen.
HAK_INLINE bool keep_run(Front& front, std::size_t slice, const void* p) {
  RunCache& cache = front.run_cache;
  Slab* record = sealed.records + slice;
  std::uint32_t expected = kRouteLarge;
  Route& route = sealed.routes[slice];
  if (route.load(std::memory_order_relaxed) != expected || address(p) % kSliceSize != 0 ||
      is_stub(&front) || !keeps_runs()) {
    return false;
  }
  const std::uint32_t length = record->carved;
  if (length > RunCache::kLongest) return false;
  const auto most = static_cast<std::uint32_t>(boxes::value_of(boxes::Id::run_cache));
  count_decision(front, boxes::Id::run_cache);
  if (cache.slices + length > most) return false;
  // Of two threads that free the run at once, one wins.
  if (!route.compare_exchange_strong(expected, kRouteMeta)) return false;
  record->next = cache.runs[length - 1];
  cache.runs[length - 1] = record;
  ++cache.count[length - 1];
  cache.slices += length;
  front.stats.note_large(-std::int64_t{length}, 0, 1);
  return true;
}

/// Gives the kept runs of so many slices back, but for the `most` that were freed last.
void release_runs(Front& front, std::uint32_t length, std::uint32_t most);

/// Gives those back that were of no use since the last call.
void release_idle_runs(Front& front, std::uint32_t length);

}  // namespace hakmem
