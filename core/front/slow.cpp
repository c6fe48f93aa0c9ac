// malloc and free without shortcuts.
#include "front/slow.hpp"

#include <errno.h>
#include <string.h>

#include "base/text.hpp"
#include "boxes/state.hpp"
#include "front/c7_ultra.hpp"
#include "front/entries.hpp"
#include "front/front.hpp"
#include "front/guard.hpp"
#include "front/header_byte.hpp"
#include "front/run_cache.hpp"
#include "front/tails.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "slab/arena.hpp"
#include "slab/direct_map.hpp"

namespace hakmem {

namespace {

using boxes::Id;

// Values of the box classify_order but 0, and of the box probe.
constexpr std::int64_t kMappingsFirst = 1;
constexpr std::int64_t kRunsFirst = 2;
constexpr std::int64_t kProbeAtPages = 2;
constexpr unsigned kC7Band = 7;

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

/// The system gave nothing, or the limit is reached.
HAK_COLD void* out_of_memory(std::size_t size) {
  report_out_of_memory(size);
  return no_memory();
}

unsigned class_for(const Front& front, std::size_t size) {
  const std::size_t padded = size + kTrailer + header_bytes();
  return padded <= kMaxTiny ? front.tiny_codes[(padded + 15) / 16] / 2U : class_of(padded);
}

/// One block of a class from the front's cache. Null: there is none, or its head is no free block.
HAK_INLINE Block* pop(Front& front, unsigned cls) {
  Bin& bin = front.bins[cls];
  Block* block = bin.head;
  if (HAK_UNLIKELY(block->mark != front.free_mark)) return nullptr;
  bin.head = block->next;
  block->mark = 0;
  return block;
}

/// The block as a user pointer: with its header, where the box header_byte asks for one.
void* headed(void* block, unsigned cls) {
  if (serves_headers() && block != nullptr && class_has_header(cls)) write_header(block, cls);
  return block;
}

/// Bytes that the user may use in a block of the class.
std::size_t usable_in(unsigned cls) {
  return usable_of(cls) - (class_has_header(cls) ? header_bytes() : 0);
}

/// One block of a class from the front's cache, or from its slabs. Null: no memory.
void* unguarded_from(Front& front, unsigned cls) {
  if constexpr (kLab) {
    if (cls == kC7UltraClass) {
      if (front.c7.count == 0 && !c7_ultra_refill(front)) return nullptr;
      return c7_ultra_pop<false>(front);
    }
  }
  if (Block* block = pop(front, cls)) return headed(block, cls);
  const Block* head = front.bins[cls].head;
  if (head == &empty_block) return headed(refill(front, cls), cls);
  misuse("malloc()", "free block was overwritten or freed twice", head);
}

void* small_from(Front& front, unsigned cls) {
  void* p = unguarded_from(front, cls);
  if constexpr (kGuarded) {
    if (p != nullptr) guard_allocated(p);
  }
  return p;
}

/// One block of the class that `choose(front)` gives, by the thread's front or the shared one.
template <class Choose>
HAK_INLINE void* small_alloc(Choose choose) {
  if (Front* front = own_front()) return small_from(*front, choose(*front));
  SharedFront shared;
  return shared.get() != nullptr ? small_from(*shared.get(), choose(*shared.get())) : nullptr;
}

/// A small block: into the own cache, the outbox, or (without a front) straight to its slab.
void small_free(Slab* slab, void* p) {
  if constexpr (kGuarded) guard_freed(p);
  Front* front = own_front();
  Block* block = block_of(slab->cls, p);
  Front* owner = owner_of(slab);
  if (front == nullptr) {
    if (block->mark == sealed.free_mark) misuse("free()", "block was freed twice", p);
    block->mark = sealed.free_mark;
    send_remote(slab, {block, block, 1, fingerprint(block)});
  } else if (owner != front) {
    free_foreign(*front, slab, slab->cls, block);
  } else if (kLab && slab->cls == kC7UltraClass) {
    if constexpr (kLab) c7_ultra_push(*front, p);
  } else {
    push_free(*front, slab->cls, block);
  }
}

/// Slab of a slice record whose route says that there is one; null otherwise.
Slab* slab_at(const Place& place) {
  const std::uint32_t route = place.route->load(std::memory_order_acquire);
  return route >> kTokenShift != 0 ? place.record - place.record->head_offset : nullptr;
}

bool is_large(const Place& place, const void* p) {
  return place.route->load(std::memory_order_acquire) == kRouteLarge && start_of(place.record) == p;
}

}  // namespace

void misuse(const char* caller, const char* what, const void* p) {
  TextBuffer<256> line;
  line.add("hakmem: ").add(caller).add(": ").add(what).add(": ").hex(address(p)).add('\n');
  os::fail(line);
}

void misuse(const char* caller, const char* what, const void* p, unsigned cls) {
  TextBuffer<256> line;
  line.add("hakmem: ").add(caller).add(": ").add(what).add(": ").hex(address(p));
  line.add(" (small block of class ").add(std::uint64_t{class_info(cls).block_size}).add(")\n");
  os::fail(line);
}

namespace {

/// As class_for, of the start-up's choice of classes and not of the front's codes.
unsigned class_by_size(std::size_t size) {
  const std::size_t padded = size + kTrailer + header_bytes();
  return padded <= kMaxTiny ? tiny_code(padded) / 2U : class_of(padded);
}

bool profiled_and_due(std::size_t size) {
  return HAK_UNLIKELY(sealed.profile_rate != 0) && sample_due(size);
}

/// Where a heap profile is taken: a block that is due becomes a sample. What is sampled is a run or
/// a mapping of its own, whatever its size, so that its free takes the slow path. `cls` of
/// kClassCount: no class fits.
void* long_way(std::size_t size, unsigned cls, std::size_t alignment, Content content) {
  ensure_ready();
  const bool due = profiled_and_due(size);
  if (cls != kClassCount && !due) return small_alloc([cls](Front&) { return cls; });
  if (keeps_runs() && alignment <= kSliceSize) {
    if (void* kept = take_kept_run(*this_front, size)) {
      return content == Content::zero ? memset(kept, 0, size) : kept;
    }
  }
  void* p = large_alloc(size, alignment, content);
  if (due && p != nullptr) record_sample(p, size);
  return p;
}

/// What malloc_slow leaves: large sizes, the first call, and every call under a heap profile.
HAK_NOINLINE void* malloc_long_way(std::size_t size) {
  if (size > PTRDIFF_MAX) return no_memory();
  ensure_ready();
  const std::size_t largest = kLargestSmall - header_bytes();
  const unsigned cls = size <= largest ? class_by_size(size) : kClassCount;
  void* p = long_way(size, cls, kMinAlignment, Content::any);
  return p != nullptr ? p : out_of_memory(size);
}

}  // namespace

/// Mostly for sizes above those of malloc's own map: they too find their block at once, if there is
/// one in the cache.
void* malloc_slow(std::size_t size) {
  if (HAK_UNLIKELY(size >= sealed.plain_sizes)) return malloc_long_way(size);
  if constexpr (!kGuarded) {
    Front& front = *this_front;
    const unsigned cls = class_for(front, size);
    // Blocks of C7 in a bin are foreign ones on their way home, and begin with a header.
    if (!kLab || cls != kC7UltraClass) {
      if (void* p = pop(front, cls)) return headed(p, cls);
    }
  }
  void* p = small_alloc([size](Front& front) { return class_for(front, size); });
  return HAK_LIKELY(p != nullptr) ? p : out_of_memory(size);
}

namespace {

/// Box probe: asks the system whether the byte before a pointer outside the arenas may be read.
bool probe(const void* p) {
  const bool page_start = address(p) % kPageSize == 0;
  if (boxes::value_of(Id::probe) == kProbeAtPages && !page_start) return true;
  if (!is_stub(this_front)) count_decision(*this_front, Id::probe);
  return os::is_mapped(pointer((address(p) - 1) & ~(kPageSize - 1)));
}

void free_any(void* p) {
  if (p == nullptr) return;
  const Place place = arena_find(p);
  if (place.record != nullptr) {
    if (Slab* slab = slab_at(place)) return small_free(slab, p);
    if (is_large(place, p)) return large_free(place.record, p);
  } else {
    const bool readable = boxes::value_of(Id::probe) == 0 || probe(p);
    if (mapping_free(p)) return;
    if (!readable) misuse("free()", "not a pointer, nothing is mapped before it", p);
  }
  misuse("free()", "not a pointer of this allocator, or freed twice", p);
}

/// Box classify_order: looks for one kind of block before all others. False when it is of another.
bool free_preferred(void* p, std::int64_t order) {
  if (order == kMappingsFirst) return p != nullptr && mapping_free(p);
  const Place place = arena_find(p);
  if (place.record == nullptr) return false;
  if (order == kRunsFirst) {
    if (!is_large(place, p)) return false;
    large_free(place.record, p);
    return true;
  }
  Slab* slab = slab_at(place);
  if (slab == nullptr || band_of(usable_of(slab->cls)) != kC7Band) return false;
  small_free(slab, p);
  return true;
}

}  // namespace

/// The common case first: a small block of another thread in arena 0, of which only the route is
/// read.
void free_slow(void* p) {
  if (const std::int64_t order = boxes::value_of(Id::classify_order); order != 0) {
    if (!is_stub(this_front)) count_decision(*this_front, Id::classify_order);
    if (free_preferred(p, order)) return;
  }
  const std::size_t slice = (address(p) - sealed.arena_base) >> kSliceShift;
  if (HAK_UNLIKELY(slice >= sealed.arena_slices)) return free_any(p);
  if (HAK_LIKELY(free_foreign_slice(this_front, slice, p))) return;
  if (!keep_run(*this_front, slice, p)) free_any(p);
}

void credit_expired(std::size_t code) { trim(*this_front, static_cast<unsigned>(code / 2)); }

void* try_aligned(std::size_t alignment, std::size_t size) {
  if (size > PTRDIFF_MAX || alignment > PTRDIFF_MAX / 2) return nullptr;
  // Headers put blocks off their alignment, but for those that have none.
  const std::size_t least = serves_headers() ? kBareStep : 1;
  const unsigned cls = aligned_class_of(size, alignment > least ? alignment : least);
  void* p = HAK_LIKELY(size < sealed.plain_sizes && cls != kClassCount)
                ? small_alloc([cls](Front&) { return cls; })
                : long_way(size, cls, alignment, Content::any);
  if (HAK_UNLIKELY(p == nullptr)) report_out_of_memory(size);
  return p;
}

void* allocate_aligned(std::size_t alignment, std::size_t size) {
  if (alignment <= kMinAlignment) return malloc_slow(size);
  void* p = try_aligned(alignment, size);
  return p != nullptr ? p : no_memory();
}

void* allocate_zeroed(std::size_t size) {
  if (size <= kLargestSmall) {
    void* p = malloc_slow(size);
    return p != nullptr ? memset(p, 0, size) : p;
  }
  if (size > PTRDIFF_MAX) return no_memory();
  void* p = long_way(size, kClassCount, kMinAlignment, Content::zero);
  return p != nullptr ? p : out_of_memory(size);
}

std::size_t usable_size(const void* p, const char* caller) {
  const Place place = arena_find(p);
  if (place.record != nullptr) {
    if (const Slab* slab = slab_at(place)) return usable_in(slab->cls);
    if (is_large(place, p)) return (std::size_t{place.record->carved} << kSliceShift) - kGuardBytes;
  } else if (const std::size_t size = direct_size(p)) {
    return size - kGuardBytes;
  }
  misuse(caller, "not a pointer of this allocator, or freed", p);
}

namespace {

// Under a heap profile, realloc is a free and a malloc for it, wherever the block ends up.

void forget(void* p) {
  if (HAK_UNLIKELY(sealed.profile_rate != 0)) forget_sample(p);
}

void* resampled(void* p, std::size_t size) {
  if (profiled_and_due(size)) record_sample(p, size);
  return p;
}

/// Forgets the sample first: once the mapping has moved, another thread's may lie in its place.
void* move_mapping(void* p, std::size_t size, std::size_t usable) {
  forget(p);
  void* q = mapping_realloc(p, size);
  resampled(q != nullptr ? q : p, q != nullptr ? size : usable);
  return q;
}

}  // namespace

void* reallocate(void* p, std::size_t size) {
  if (size > PTRDIFF_MAX) return no_memory();
  const std::size_t usable = usable_size(p, "realloc()");
  const bool fits = size <= usable;
  if (fits && HAK_LIKELY(sealed.profile_rate == 0) &&
      (size >= usable / 2 || usable <= kMinAlignment * 2))
    return p;
  if (usable > kMaxSmall && size > kMaxSmall) {
    const Place place = arena_find(p);
    if (place.record != nullptr) {
      if (large_realloc(place.record, p, size) != nullptr) {
        forget(p);
        return resampled(p, size);
      }
    } else if (size > kMaxRunBytes) {
      void* q = move_mapping(p, size, usable);
      return q != nullptr ? q : out_of_memory(size);
    }
  }
  void* q = malloc_slow(size);
  if (q == nullptr) return fits ? p : nullptr;
  memcpy(q, p, fits ? size : usable);
  free_slow(p);
  return q;
}

}  // namespace hakmem
