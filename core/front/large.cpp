// Sizes between 32 KiB and 32 MiB: runs of slices. Beyond: mappings of their own.
#include <string.h>

#include "boxes/state.hpp"
#include "front/chunk_header.hpp"
#include "front/front.hpp"
#include "front/slow.hpp"
#include "os/memory.hpp"
#include "slab/arena.hpp"
#include "slab/direct_map.hpp"

namespace hakmem {

namespace {

constexpr std::size_t kLargestRun = std::size_t{1} << 40;  ///< an arena has no more

/// Routes of a run; `carved` of its record is its length.
void describe(Slab* record, std::uint32_t from, std::uint32_t slices) {
  Route* routes = &route_of(record);
  for (std::uint32_t i = from; i < slices; ++i) {
    routes[i].store(i == 0 ? kRouteLarge : kRouteInterior, std::memory_order_release);
  }
  record->carved = slices;
  record->head_offset = 0;
}

/// As FrontStats::note_large, then what is due.
void account(std::int64_t slices, unsigned allocs, unsigned frees, unsigned resizes = 0) {
  if (Front* front = own_front()) {
    front->stats.note_large(slices, allocs, frees, resizes);
    tick(*front);
    return;
  }
  SharedFront shared;
  if (shared.get() != nullptr) shared.get()->stats.note_large(slices, allocs, frees, resizes);
}

/// Clears the dirty slices of the first `size` bytes at `p`.
void clear(std::byte* p, std::size_t size, const DirtySlices& dirty) {
  for (std::size_t at = 0; at < size; at += kSliceSize) {
    const std::size_t length = size - at < kSliceSize ? size - at : kSliceSize;
    if (dirty.test(at >> kSliceShift)) memset(p + at, 0, length);
  }
}

/// Runs with a guard page: each is a mapping more for the kernel, which has a limit (65,530).
constexpr std::uint32_t kMostGuarded = 8192;
std::atomic<std::uint32_t> guarded_runs;

/// Hardened build: the last page of a large block may not be touched, so that an overrun ends
/// there.
bool guard_end(void* p, std::size_t bytes) {
  if constexpr (!kHardened) return false;
  if (boxes::value_of(boxes::Id::skip_guard_pages) != 0) return false;
  return os::protect_none(static_cast<std::byte*>(p) + bytes - kGuardBytes, kGuardBytes);
}

bool unguard_end(void* p, std::size_t bytes) {
  return os::commit(static_cast<std::byte*>(p) + bytes - kGuardBytes, kGuardBytes);
}

/// `used` of a run's record says whether it has a guard page.
void guard_run(Slab* record, void* p, std::size_t bytes) {
  if constexpr (!kHardened) return;
  record->used = 0;
  if (guarded_runs.fetch_add(1) < kMostGuarded && guard_end(p, bytes)) {
    record->used = 1;
  } else {
    guarded_runs.fetch_sub(1);
  }
}

/// False when the page stays as it is: the run is of no use to others then.
bool unguard_run(Slab* record, void* p, std::size_t bytes) {
  if constexpr (!kHardened) return true;
  if (record->used == 0) return true;
  if (!unguard_end(p, bytes)) return false;
  guarded_runs.fetch_sub(1);
  return true;
}

void* run_alloc(std::size_t size, std::size_t alignment, Content content) {
  const auto slices = static_cast<std::uint32_t>(slices_for((size == 0 ? 1 : size) + kGuardBytes));
  const auto step = static_cast<std::uint32_t>(alignment > kSliceSize ? slices_for(alignment) : 1);
  DirtySlices dirty;
  const Run run = arena_alloc(slices, step, content == Content::zero ? &dirty : nullptr);
  if (run.record == nullptr) return nullptr;
  describe(run.record, 0, slices);
  std::byte* p = start_of(run.record);
  if (content == Content::zero && !run.zeroed) clear(p, size, dirty);
  guard_run(run.record, p, std::size_t{slices} << kSliceShift);
  account(slices, 1, 0);
  return p;
}

void* try_large(std::size_t size, std::size_t alignment, Content content) {
  // Arenas begin on SuperSlab boundaries: no stricter alignment can be had from a run.
  if (size <= longest_run_bytes() && alignment <= strictest_run_alignment()) {
    if (void* p = run_alloc(size, alignment, content)) return p;
  }
  void* p = size <= PTRDIFF_MAX ? direct_alloc(size + kGuardBytes, alignment) : nullptr;
  if (p == nullptr) {
    // A limit on address space: what the arenas hold of it may still do.
    const bool fits = size <= kLargestRun && size > kMaxRunBytes && alignment <= kSuperSlabSize;
    return fits ? run_alloc(size, alignment, content) : nullptr;
  }
  guard_end(p, direct_size(p));
  account(0, 1, 0);  // the table of mappings knows their bytes; a fresh mapping is zero
  return p;
}

}  // namespace

void* large_alloc(std::size_t size, std::size_t alignment, Content content) {
  if (void* p = try_large(size, alignment, content)) return p;
  Front* front = own_front();
  if (front == nullptr) return nullptr;
  release_memory(*front);
  return try_large(size, alignment, content);
}

void large_free(Slab* record, void* p) {
  if (HAK_UNLIKELY(sealed.profile_rate != 0)) forget_sample(p);
  // Of two threads that free the run at once, one wins.
  std::uint32_t expected = kRouteLarge;
  if (!route_of(record).compare_exchange_strong(expected, kRouteMeta)) {
    misuse("free()", "block was freed twice", p);
  }
  const std::uint32_t slices = record->carved;
  if (unguard_run(record, p, std::size_t{slices} << kSliceShift)) arena_release(record, slices);
  account(-std::int64_t{slices}, 0, 1);
}

bool mapping_free(void* p) {
  if (HAK_UNLIKELY(sealed.profile_rate != 0)) forget_sample(p);
  if (!direct_free(p)) return false;
  account(0, 0, 1);
  return true;
}

void* mapping_realloc(void* p, std::size_t size) {
  if constexpr (kHardened) {
    if (size > PTRDIFF_MAX - kGuardBytes || !unguard_end(p, direct_size(p))) return nullptr;
  }
  void* q = direct_realloc(p, size + kGuardBytes);
  void* now = q != nullptr ? q : p;
  if constexpr (kHardened) guard_end(now, direct_size(now));
  return q;
}

void* large_realloc(Slab* record, void* p, std::size_t size) {
  if (kHardened || size > kMaxRunBytes) return nullptr;  // the guard page would be in the way
  const std::uint32_t slices = record->carved;
  const auto wanted = static_cast<std::uint32_t>(slices_for(size));
  if (wanted > slices) {
    if (!arena_extend(record, slices, wanted)) return nullptr;
    describe(record, slices, wanted);
  } else if (wanted < slices) {
    record->carved = wanted;
    arena_release(record + wanted, slices - wanted);
  }
  account(std::int64_t{wanted} - slices, 0, 0, 1);
  return p;
}

}  // namespace hakmem
