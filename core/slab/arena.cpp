#include "slab/arena.hpp"

#include <bit>

#include "base/probes.hpp"
#include "os/memory.hpp"

namespace hakmem {

namespace {

constexpr std::size_t kMaxArenas = 16;
constexpr std::size_t kWantedBytes = std::size_t{1} << 40;
constexpr std::size_t kSmallestBytes = kSuperSlabSize;
constexpr std::size_t kMaxSuperSlabs = kWantedBytes / kSuperSlabSize * (kLab ? 2 : 1);
constexpr std::size_t kCommitStep = 16;  // slices; small, so that huge pages stay out
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLargeHeap = 32 * 16;  // slices: 32 MiB
constexpr std::size_t kMetaStep = 64 * 64;   // slices whose records are committed at once
constexpr std::size_t kPurgeBatch = 64;      // runs per madvise round

/// State of the slices of a SuperSlab, one bit each. Under the arena lock.
struct SuperSlab {
  std::uint64_t taken;
  std::uint64_t dirty;  ///< may hold other than zero
  std::uint64_t aged;   ///< free and dirty at the last purge tick already
};

struct Arena {
  std::uintptr_t base;
  std::size_t slices;          ///< reserved
  std::size_t committed;       ///< slices [0, committed) may be read and written
  std::size_t meta_committed;  ///< slices whose route and record exist
  std::size_t first_free;      ///< no free slice below: a hint
  std::size_t used;
  Route* routes;
  Slab* records;
  SuperSlab* super;
};

Arena arenas[kMaxArenas];
std::atomic<std::size_t> arena_count;
SuperSlab super_of_arena0[kMaxSuperSlabs];  // untouched pages of .bss cost nothing
std::atomic<bool> purge_wanted;
std::int64_t last_purge_ms;
std::atomic<std::size_t> purged_slices;
ArenaPolicy chosen;

/// What the boxes decided. In libhakmem.so constants, but for what users may set.
ArenaPolicy policy() {
  if (kLab) return chosen;
  ArenaPolicy now;
  now.huge_pages = chosen.huge_pages;
  return now;
}

/// Slices of a SuperSlab.
std::size_t per_super() {
  return policy().half_super_slabs ? kSlicesPerSuperSlab / 2 : kSlicesPerSuperSlab;
}

/// Bits of each SuperSlab that stand for no slice that may be given out.
std::uint64_t reserved() {
  const std::uint64_t beyond = policy().half_super_slabs ? ~std::uint64_t{0} << 32 : 0;
  return beyond | (policy().chunk_headers ? 1 : 0);
}

Lock& arena_lock() { return lock_of(Rank::arena); }

std::size_t route_bytes(std::size_t slices) { return align_up(slices * sizeof(Route), kPageSize); }
std::size_t record_bytes(std::size_t slices) { return align_up(slices * sizeof(Slab), kPageSize); }
std::size_t meta_bytes(std::size_t slices) { return route_bytes(slices) + record_bytes(slices); }

/// Commits routes and records up to `slices`.
bool commit_meta(Arena& arena, std::size_t slices) {
  std::size_t wanted = align_up(slices, kMetaStep);
  if (wanted > arena.slices) wanted = arena.slices;
  auto commit_part = [&](void* array, std::size_t item) {
    const std::size_t from = arena.meta_committed * item & ~(kPageSize - 1);
    const std::size_t to = align_up(wanted * item, kPageSize);
    return to == from || os::commit(static_cast<std::byte*>(array) + from, to - from);
  };
  if (!commit_part(arena.routes, sizeof(Route)) || !commit_part(arena.records, sizeof(Slab))) {
    return false;
  }
  arena.meta_committed = wanted;
  return true;
}

/// Huge pages from here on, when the heap has grown large.
void wish_when_large(const Arena& arena, std::size_t wanted) {
  if (policy().huge_pages != ArenaPolicy::HugePages::large_heap) return;
  if (arena.committed >= kLargeHeap || wanted < kLargeHeap) return;
  const std::uintptr_t from = align_up(arena.base + (arena.committed << kSliceShift), kHugePage);
  const std::uintptr_t end = arena.base + (arena.slices << kSliceShift);
  if (from < end) os::wish_huge_pages(pointer(from), end - from);
}

/// Raises the watermark so that slices [0, needed) are usable, by an eighth of the heap at least.
bool commit_up_to(Arena& arena, std::size_t needed) {
  if (needed <= arena.committed) return true;
  std::size_t step = arena.committed / 8;
  if (step < kCommitStep) step = kCommitStep;
  if (policy().huge_pages != ArenaPolicy::HugePages::as_the_system) {
    step = align_up(step, kHugePage >> kSliceShift);
  }
  std::size_t wanted = arena.committed + step;
  if (wanted < needed) wanted = needed;
  if (wanted > arena.slices) wanted = arena.slices;
  for (;;) {
    if (wanted > arena.meta_committed && !commit_meta(arena, wanted)) return false;
    if (os::commit(pointer(arena.base + (arena.committed << kSliceShift)),
                   (wanted - arena.committed) << kSliceShift)) {
      wish_when_large(arena, wanted);
      __atomic_store_n(&arena.committed, wanted, __ATOMIC_RELAXED);
      return true;
    }
    if (wanted == needed) return false;
    wanted = needed;
  }
}

/// free() reads the route of any address in arena 0, wild ones too: they all read as kRouteFree.
bool make_routes_readable(const Arena& arena, const SuperSlab* super_of_0) {
  return super_of_0 == nullptr || os::protect_read_only(arena.routes, route_bytes(arena.slices));
}

/// One reservation: routes, records, (bitmaps,) then the slices, on a SuperSlab boundary.
bool reserve_arena(Arena& arena, std::size_t bytes, SuperSlab* super) {
  const std::size_t slices = bytes >> kSliceShift;
  const std::size_t bitmap =
      super != nullptr ? 0 : align_up(slices / per_super() * sizeof(SuperSlab), kPageSize);
  const std::size_t meta = meta_bytes(slices) + bitmap;
  auto* start = static_cast<std::byte*>(os::reserve(meta + kSuperSlabSize + bytes));
  if (start == nullptr) return false;
  arena.routes = reinterpret_cast<Route*>(start);
  arena.records = reinterpret_cast<Slab*>(start + route_bytes(slices));
  arena.super = super != nullptr ? super : reinterpret_cast<SuperSlab*>(start + meta - bitmap);
  arena.base = align_up(address(start) + meta, kSuperSlabSize);
  arena.slices = slices;
  if (policy().huge_pages == ArenaPolicy::HugePages::always) {
    os::wish_huge_pages(pointer(arena.base), bytes);
  }
  arena.meta_committed = 0;
  const bool described = (bitmap == 0 || os::commit(arena.super, bitmap)) &&
                         make_routes_readable(arena, super) && commit_meta(arena, 1);
  if (!described) os::unmap(start, meta + kSuperSlabSize + bytes);
  return described;
}

std::size_t round_down_to_super(std::size_t bytes) { return bytes & ~(kSuperSlabSize - 1); }

/// Half of the address space that is left, or the whole wish where there is no limit.
std::size_t reservation_size() {
  const std::size_t left = os::address_space_left();
  if (left == SIZE_MAX) return kWantedBytes;
  const std::size_t half = round_down_to_super(left / 2);
  return half < kWantedBytes ? half : kWantedBytes;
}

/// A further arena of at least `needed` bytes: a smaller one would only use up address space.
bool add_arena(std::size_t needed) {
  const std::size_t n = arena_count.load(std::memory_order_relaxed);
  if (n == kMaxArenas) return false;
  SuperSlab* super = n == 0 ? super_of_arena0 : nullptr;
  for (std::size_t bytes = reservation_size(); bytes >= kSmallestBytes && bytes >= needed;
       bytes = round_down_to_super(bytes / 2)) {
    if (reserve_arena(arenas[n], bytes, super)) {
      arena_count.store(n + 1, std::memory_order_release);
      return true;
    }
  }
  return false;
}

bool is_free(const Arena& arena, std::size_t i) {
  const std::uint64_t taken = arena.super[i / per_super()].taken | reserved();
  return (taken >> (i % per_super()) & 1) == 0;
}

/// First free slice at or after `i`, below `end`; `end` when there is none.
std::size_t next_free(const Arena& arena, std::size_t i, std::size_t end) {
  while (i < end) {
    const std::uint64_t open =
        ~(arena.super[i / per_super()].taken | reserved()) >> (i % per_super());
    if (open != 0) {
      i += static_cast<std::size_t>(std::countr_zero(open));
      return i < end ? i : end;
    }
    i = (i / per_super() + 1) * per_super();
  }
  return end;
}

/// Calls fn(word, mask) for the bits of slices [i, i + n).
template <class Fn>
void for_bits(Arena& arena, std::size_t i, std::size_t n, Fn fn) {
  while (n > 0) {
    const std::size_t bit = i % per_super();
    const std::size_t here = n < per_super() - bit ? n : per_super() - bit;
    const std::uint64_t ones = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
    fn(arena.super[i / per_super()], ones << bit);
    i += here;
    n -= here;
  }
}

constexpr std::size_t kNowhere = SIZE_MAX;

/// First fit, lowest address first: it keeps the heap dense at its low end.
std::size_t find_run(const Arena& arena, std::size_t slices, std::size_t alignment) {
  std::size_t i = arena.first_free;
  for (;;) {
    i = next_free(arena, i, arena.slices);
    const std::size_t aligned = align_up(i, alignment);
    if (aligned + slices > arena.slices) return kNowhere;
    std::size_t n = 0;
    while (n < slices && is_free(arena, aligned + n)) ++n;
    if (n == slices) return aligned;
    i = aligned + n + 1;
  }
}

void note_dirty(const Arena& arena, std::size_t i, std::size_t slices, DirtySlices& dirty) {
  for (std::size_t k = 0; k < slices && k < DirtySlices::kSlices; ++k) {
    const SuperSlab& super = arena.super[(i + k) / per_super()];
    if ((super.dirty >> ((i + k) % per_super()) & 1) != 0) dirty.set(k);
  }
}

Run take_run(Arena& arena, std::size_t i, std::size_t slices) {
  bool dirty = false;
  for_bits(arena, i, slices, [&](SuperSlab& super, std::uint64_t mask) {
    dirty |= (super.dirty & mask) != 0;
    super.taken |= mask;
    super.dirty |= mask;
    super.aged &= ~mask;
  });
  if (i == arena.first_free) arena.first_free = i + slices;
  arena.used += slices;
  return {arena.records + i, !dirty};
}

Arena& arena_of(const Slab* record) {
  std::size_t n = 0;
  while (record < arenas[n].records || record >= arenas[n].records + arenas[n].slices) ++n;
  return arenas[n];
}

std::size_t index_in(const Arena& arena, const Slab* record) {
  return static_cast<std::size_t>(record - arena.records);
}

/// Gives back the end of a part of the arena; sizes in bytes.
void cut(void* array, std::size_t before, std::size_t after) {
  if (after < before) os::unmap(static_cast<std::byte*>(array) + after, before - after);
}

/// Makes an arena's reservation smaller.
void shrink(Arena& arena, std::size_t slices) {
  const std::size_t before = arena.slices;
  arena.slices = slices;
  if (arena.meta_committed > slices) arena.meta_committed = slices;
  if (&arena == &arenas[0]) {
    // free() reads this without a lock: first it must no longer go there.
    os::commit(&sealed, sizeof sealed);
    __atomic_store_n(&sealed.arena_slices, slices, __ATOMIC_SEQ_CST);
    os::protect_read_only(&sealed, sizeof sealed);
  }
  cut(pointer(arena.base), before << kSliceShift, slices << kSliceShift);
  cut(arena.records, record_bytes(before), record_bytes(slices));
  cut(arena.routes, route_bytes(before), route_bytes(slices));
}

/// Address space that the arena reserves and does not use.
std::size_t unused_bytes(const Arena& arena) {
  return ((arena.slices - arena.committed) << kSliceShift) + meta_bytes(arena.slices) -
         meta_bytes(arena.committed);
}

/// Shrinks the arena so that `more` slices can still be taken into use, if it is larger.
void shrink_to(Arena& arena, std::size_t more) {
  const std::size_t wanted = align_up(arena.committed + more, kSlicesPerSuperSlab);
  if (wanted < arena.slices) shrink(arena, wanted);
}

/// A stretch of slices that is being purged: marked as taken meanwhile, so that the system call can
/// be made without the lock.
struct PurgeRun {
  Arena* arena;
  std::size_t first, count;
};

std::size_t collect_purge(Arena& arena, bool all, PurgeRun* runs, std::size_t capacity,
                          std::size_t n) {
  const std::size_t supers = (arena.committed + per_super() - 1) / per_super();
  for (std::size_t s = 0; s < supers && n < capacity; ++s) {
    SuperSlab& super = arena.super[s];
    std::uint64_t due = super.dirty & ~super.taken & (all ? ~std::uint64_t{0} : super.aged);
    while (due != 0 && n < capacity) {
      const auto first = static_cast<unsigned>(std::countr_zero(due));
      const auto count = static_cast<unsigned>(std::countr_one(due >> first));
      const std::uint64_t mask = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1)
                                 << first;
      super.taken |= mask;
      due &= ~mask;
      runs[n++] = {&arena, s * per_super() + first, count};
    }
  }
  return n;
}

void age(Arena& arena, bool& any_left) {
  const std::size_t supers = (arena.committed + per_super() - 1) / per_super();
  for (std::size_t s = 0; s < supers; ++s) {
    SuperSlab& super = arena.super[s];
    super.aged = super.dirty & ~super.taken;
    any_left |= super.aged != 0;
  }
}

std::size_t purge_runs(PurgeRun* runs, std::size_t n) {
  std::size_t purged = 0;
  bool done[kPurgeBatch];
  for (std::size_t k = 0; k < n; ++k) {
    done[k] = os::purge(pointer(runs[k].arena->base + (runs[k].first << kSliceShift)),
                        runs[k].count << kSliceShift);
    purged += done[k] ? runs[k].count : 0;
  }
  if (n > 0) HAK_PROBE(purge, purged << kSliceShift, n);
  Guard guard(arena_lock());
  for (std::size_t k = 0; k < n; ++k) {
    Arena& arena = *runs[k].arena;
    for_bits(arena, runs[k].first, runs[k].count, [&](SuperSlab& super, std::uint64_t mask) {
      super.taken &= ~mask;
      super.aged &= ~mask;
      if (done[k]) super.dirty &= ~mask;
    });
    if (runs[k].first < arena.first_free) arena.first_free = runs[k].first;
  }
  purged_slices.fetch_add(purged, std::memory_order_relaxed);
  return purged;
}

}  // namespace

bool arena_init(const ArenaPolicy& wanted) {
  Guard guard(arena_lock());
  chosen = wanted;
  if (!add_arena(kSmallestBytes)) return false;
  sealed.arena_base = arenas[0].base;
  sealed.arena_slices = arenas[0].slices;
  sealed.routes = arenas[0].routes;
  sealed.records = arenas[0].records;
  return true;
}

Run arena_alloc(std::uint32_t slices, std::uint32_t alignment, DirtySlices* dirty) {
  Guard guard(arena_lock());
  const std::size_t needed = std::size_t{slices} << kSliceShift;
  for (std::size_t n = 0;; ++n) {
    if (n == arena_count.load(std::memory_order_relaxed) && !add_arena(needed)) {
      return {nullptr, false};
    }
    const std::size_t i = find_run(arenas[n], slices, alignment);
    if (i == kNowhere) continue;
    if (!commit_up_to(arenas[n], i + slices)) return {nullptr, false};
    if (dirty != nullptr) note_dirty(arenas[n], i, slices, *dirty);
    return take_run(arenas[n], i, slices);
  }
}

void arena_fit(std::size_t limit) {
  Guard guard(arena_lock());
  const std::size_t in_use = os::memory_in_use().address_space;
  if (in_use <= limit) return;
  std::size_t unused = 0;
  const std::size_t count = arena_count.load(std::memory_order_relaxed);
  for (std::size_t n = 0; n < count; ++n) unused += unused_bytes(arenas[n]);
  const std::size_t others = in_use > unused ? in_use - unused : 0;
  const std::size_t left = limit > others ? limit - others : 0;
  for (std::size_t n = count; n-- > 1;) shrink_to(arenas[n], 0);
  if (count > 0) shrink_to(arenas[0], left / 2 >> kSliceShift);
}

void arena_release(Slab* first, std::uint32_t slices) {
  Arena& arena = arena_of(first);
  const std::size_t i = index_in(arena, first);
  for (std::size_t k = 0; k < slices; ++k) {
    arena.routes[i + k].store(kRouteFree, std::memory_order_relaxed);
  }
  Guard guard(arena_lock());
  for_bits(arena, i, slices, [](SuperSlab& super, std::uint64_t mask) { super.taken &= ~mask; });
  if (i < arena.first_free) arena.first_free = i;
  arena.used -= slices;
  purge_wanted.store(true, std::memory_order_relaxed);
}

bool arena_extend(Slab* first, std::uint32_t slices, std::uint32_t wanted) {
  Arena& arena = arena_of(first);
  const std::size_t end = index_in(arena, first) + slices;
  const std::size_t more = wanted - slices;
  Guard guard(arena_lock());
  if (end + more > arena.slices) return false;
  for (std::size_t k = 0; k < more; ++k) {
    if (!is_free(arena, end + k)) return false;
  }
  if (!commit_up_to(arena, end + more)) return false;
  take_run(arena, end, more);
  return true;
}

Place arena_find(const void* p) {
  const std::size_t count = arena_count.load(std::memory_order_acquire);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t i = (address(p) - arenas[n].base) >> kSliceShift;
    if (i < arenas[n].meta_committed && address(p) >= arenas[n].base) {
      return {arenas[n].records + i, arenas[n].routes + i};
    }
  }
  return {nullptr, nullptr};
}

Route& route_of(const Slab* record) {
  const std::size_t slice = (address(record) - address(sealed.records)) / sizeof(Slab);
  if (HAK_LIKELY(slice < sealed.arena_slices)) return sealed.routes[slice];
  const Arena& arena = arena_of(record);
  return arena.routes[index_in(arena, record)];
}

std::byte* start_of(const Slab* record) {
  const Arena& arena = arena_of(record);
  return static_cast<std::byte*>(pointer(arena.base + (index_in(arena, record) << kSliceShift)));
}

bool arena_purge_wanted() { return purge_wanted.load(std::memory_order_relaxed); }

std::size_t arena_purge(std::int64_t now_ms, std::int64_t delay_ms) {
  PurgeRun runs[kPurgeBatch];
  std::size_t total = 0;
  std::size_t n;
  do {
    n = 0;
    {
      Guard guard(arena_lock());
      if (delay_ms > 0 && total == 0 && now_ms - last_purge_ms < delay_ms) return 0;
      const std::size_t count = arena_count.load(std::memory_order_relaxed);
      for (std::size_t a = 0; a < count; ++a) {
        n = collect_purge(arenas[a], delay_ms == 0, runs, kPurgeBatch, n);
      }
      if (n < kPurgeBatch) {
        bool any_left = false;
        for (std::size_t a = 0; a < count; ++a) age(arenas[a], any_left);
        purge_wanted.store(any_left, std::memory_order_relaxed);
        last_purge_ms = now_ms;
      }
    }
    total += purge_runs(runs, n);
  } while (n == kPurgeBatch);
  return total;
}

ArenaUsage arena_usage() {
  Guard guard(arena_lock());
  return arena_usage_unlocked();
}

ArenaUsage arena_usage_unlocked() {
  ArenaUsage usage{};
  usage.purged_bytes = purged_slices.load(std::memory_order_relaxed) << kSliceShift;
  for (std::size_t n = 0; n < arena_count.load(std::memory_order_relaxed); ++n) {
    usage.reserved_bytes += arenas[n].slices << kSliceShift;
    usage.committed_bytes += arenas[n].committed << kSliceShift;
    usage.used_bytes += arenas[n].used << kSliceShift;
  }
  return usage;
}

bool arena_usable(const void* p) {
  const std::size_t count = arena_count.load(std::memory_order_acquire);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t committed = __atomic_load_n(&arenas[n].committed, __ATOMIC_RELAXED);
    if (address(p) - arenas[n].base < committed << kSliceShift) return true;
  }
  return false;
}

}  // namespace hakmem
