// Arenas: reservations cut into slices of 64 KiB, with a record and a route for each slice.
//
// Arena 0 is the one that the fast path of free() knows. Further arenas exist only where the
// address space is limited and arena 0 is full; what lies in them is freed on the slow path.
#pragma once

#include "base/lock.hpp"
#include "base/sealed.hpp"
#include "boxes/registry.hpp"
#include "slab/slab.hpp"

namespace hakmem {

/// Routes of slices that hold no slab: token 0, which no thread has.
inline constexpr std::uint32_t kRouteFree = 0;
inline constexpr std::uint32_t kRouteLarge = 0xFE;     ///< first slice of a large run
inline constexpr std::uint32_t kRouteInterior = 0xFD;  ///< a further slice of a large run
inline constexpr std::uint32_t kRouteMeta = 0xFC;      ///< the allocator's own
inline constexpr unsigned kTokenShift = 8;

/// A run of slices as arena_alloc gives it.
struct Run {
  Slab* record;  ///< of the first slice; null when there was no memory
  bool zeroed;   ///< every page of it reads as zero
};

/// Which slices of a run may hold other than zero, by index in the run.
class DirtySlices {
 public:
  static constexpr std::size_t kSlices = 512;  ///< further ones count as dirty

  bool test(std::size_t i) const { return i >= kSlices || (bits_[i / 64] >> (i % 64) & 1) != 0; }
  void set(std::size_t i) {
    if (i < kSlices) bits_[i / 64] |= std::uint64_t{1} << (i % 64);
  }

 private:
  std::uint64_t bits_[kSlices / 64]{};
};

/// Where a pointer lies.
struct Place {
  Slab* record;  ///< record of its slice; null outside all arenas
  Route* route;
};

/// What boxes decide of the arenas before there are any.
struct ArenaPolicy {
  /// Values of the box thp.
  enum class HugePages : std::uint8_t { as_the_system, always, large_heap };

  bool chunk_headers = false;  ///< the first slice of a SuperSlab is never given out
  bool half_super_slabs =      ///< SuperSlabs of 2 MiB
      boxes::box(boxes::Id::superslab_2mib).default_value != 0;
  HugePages huge_pages = static_cast<HugePages>(boxes::box(boxes::Id::thp).default_value);
};

/// Reserves arena 0. False when not even the smallest reservation could be had.
bool arena_init(const ArenaPolicy& policy = {});

/// `slices` adjacent slices whose first is a multiple of `alignment` slices; their records are not
/// touched, their routes are kRouteFree. Takes the arena lock. `dirty`, where it is given, is told
/// which of them need clearing.
Run arena_alloc(std::uint32_t slices, std::uint32_t alignment, DirtySlices* dirty = nullptr);

/// Gives slices back. The routes become kRouteFree; the pages stay until a purge.
void arena_release(Slab* first, std::uint32_t slices);

/// Makes a run longer in place. False when the slices behind it are taken.
bool arena_extend(Slab* first, std::uint32_t slices, std::uint32_t wanted);

/// Record and route of the slice that holds `p`, in any arena.
Place arena_find(const void* p);

Route& route_of(const Slab* record);
std::byte* start_of(const Slab* record);

/// The address space of this process is going to be limited to `limit` bytes: gives back what the
/// arenas reserve and do not use, but for half of what the rest of the process leaves of the limit.
void arena_fit(std::size_t limit);

/// Gives pages of slices back that have been free for one whole `delay_ms` (0: all of them at
/// once). Gives the number of slices purged.
std::size_t arena_purge(std::int64_t now_ms, std::int64_t delay_ms);

/// True when something may be there to purge: a cheap look before the clock is read.
bool arena_purge_wanted();

struct ArenaUsage {
  std::size_t reserved_bytes, committed_bytes, used_bytes;
  std::size_t purged_bytes;  ///< given back by arena_purge, ever
};
ArenaUsage arena_usage();

/// As arena_usage, for signal handlers: takes no lock, so it may be a moment off.
ArenaUsage arena_usage_unlocked();

/// Whether the pointer lies where some arena may be read. Takes no lock.
bool arena_usable(const void* p);

}  // namespace hakmem
