// Slabs of a front: where they come from, the list of those with room, where they go.
#include "base/probes.hpp"
#include "front/chunk_header.hpp"
#include "front/front.hpp"
#include "front/guard.hpp"
#include "front/header_byte.hpp"
#include "front/slab_tree.hpp"
#include "front/slow.hpp"
#include "slab/arena.hpp"

namespace hakmem {

namespace {

constexpr std::size_t kAdoptionTries = 8;  ///< abandoned fronts looked at for one slab

void set_routes(Slab* slab, std::uint32_t route) {
  Route* routes = &route_of(slab);
  for (unsigned i = 0; i < slab->slices; ++i) routes[i].store(route, std::memory_order_release);
  if (!serves_chunks()) return;
  const std::uintptr_t start = address(start_of(slab));
  for (unsigned i = 0; i < slab->slices; ++i) {
    chunk_route(start + (std::uintptr_t{i} << kSliceShift)).store(route, std::memory_order_release);
  }
}

[[maybe_unused]] bool serves_tree() { return boxes::value_of(boxes::Id::registry_lookup) != 0; }

/// Where the first block of a slab begins, in bytes.
std::size_t lead_of(unsigned cls, std::size_t colour) {
  if (!class_info(cls).coloured) colour = 0;
  if (!serves_headers() || !class_has_header(cls)) return colour;
  return colour % ((kColours - 1) * kColourStep) + kHeaderLead;
}

std::uint32_t route_for(const Front& front, unsigned cls) {
  return static_cast<std::uint32_t>(front.token) | route_code(cls);
}

/// Bytes that a coloured slab begins late: neighbours begin on lines far from each other.
std::size_t colour_of(const Slab* slab) {
  const std::uint64_t chosen = kHardened ? guard_random() : address(slab) / sizeof(Slab) * 5;
  return chosen % kColours * kColourStep;
}

Slab* fresh_slab(Front& front, unsigned cls) {
  const ClassInfo& info = class_info(cls);
  const Run run = arena_alloc(info.slices, 1);
  if (run.record == nullptr) return nullptr;
  Slab* slab = run.record;
  if constexpr (kLab) {
    if (serves_tree() && !slab_tree_add(slab)) {
      arena_release(slab, info.slices);
      return nullptr;
    }
  }
  for (std::uint8_t i = 1; i < info.slices; ++i) slab[i].head_offset = i;
  slab->free = nullptr;
  slab->start = start_of(slab) + lead_of(cls, colour_of(slab));
  slab->used = 0;
  slab->carved = 0;
  slab->out_sum.store(0, std::memory_order_relaxed);
  slab->cls = static_cast<std::uint8_t>(cls);
  slab->slices = info.slices;
  slab->head_offset = 0;
  slab->listed = false;
  set_routes(slab, route_for(front, cls));
  ++front.stats.slabs_taken;
  list_slab(front, slab);
  return slab;
}

/// Moves one slab with room from a front whose thread has ended.
Slab* adopt_from(Front& from, Front& front, unsigned cls) {
  if (from.state.load(std::memory_order_relaxed) != FrontState::abandoned || !try_hold(from)) {
    return nullptr;
  }
  if (from.queue.load(std::memory_order_relaxed) != nullptr) drain(from);
  Slab* slab = from.with_room[cls];
  if (slab != nullptr) {
    unlist_slab(from, slab);
    set_routes(slab, route_for(front, cls));
    list_slab(front, slab);
    ++front.stats.adoptions;
    HAK_PROBE(adoption, slab->block_size(), slab->start);
  }
  release_hold(from);
  return slab;
}

Slab* adopt_slab(Front& front, unsigned cls) {
  const std::size_t count = front_count();
  const std::size_t tries = count < kAdoptionTries ? count : kAdoptionTries;
  for (std::size_t i = 0; i < tries; ++i) {
    Front* from = front_at((front.ticks + i) % count);
    if (from == nullptr || from == &front) continue;
    if (Slab* slab = adopt_from(*from, front, cls)) return slab;
  }
  return nullptr;
}

/// The first block that is not free by its own mark; null when there is none.
const Block* first_not_free(const Slab* slab) {
  const std::byte* at = slab->start;
  for (std::uint32_t i = 0; i < slab->carved; ++i, at += slab->block_size()) {
    const auto* block = reinterpret_cast<const Block*>(at);
    if (block->mark != sealed.free_mark) return block;
  }
  return nullptr;
}

/// A slab is returned only when the very blocks that went out have come back: a count that a double
/// free has spoilt does not take a block from under its owner. The sum says so without a look at
/// the blocks, most of which are in no cache any more.
void check_all_back(const Slab* slab) {
  const bool right_sum = slab->out_sum.load(std::memory_order_relaxed) == 0;
  if (!kGuarded && HAK_LIKELY(right_sum)) return;
  const Block* block = first_not_free(slab);
  if (right_sum && block == nullptr) return;
  misuse("free()", "a block of the same slab was freed twice, or this one overwritten",
         block != nullptr ? block : static_cast<const void*>(slab->start));
}

}  // namespace

void list_slab(Front& front, Slab* slab) {
  Slab* before = nullptr;
  Slab* after = front.with_room[slab->cls];
  if (boxes::value_of(boxes::Id::slab_order) != 0) {
    count_decision(front, boxes::Id::slab_order);
    for (; after != nullptr && after < slab; after = after->next) before = after;
  }
  slab->prev = before;
  slab->next = after;
  if (after != nullptr) after->prev = slab;
  (before != nullptr ? before->next : front.with_room[slab->cls]) = slab;
  slab->listed = true;
}

void unlist_slab(Front& front, Slab* slab) {
  if (slab->prev != nullptr) {
    slab->prev->next = slab->next;
  } else {
    front.with_room[slab->cls] = slab->next;
  }
  if (slab->next != nullptr) slab->next->prev = slab->prev;
  slab->listed = false;
}

void retire_slab(Front& front, Slab* slab, bool keep_last) {
  // A front whose thread has ended keeps nothing: nobody would use it soon.
  keep_last &= front.state.load(std::memory_order_relaxed) == FrontState::active;
  if (keep_last && front.with_room[slab->cls] == slab && slab->next == nullptr) return;
  check_all_back(slab);
  unlist_slab(front, slab);
  ++front.stats.slabs_returned;
  if (serves_chunks()) set_routes(slab, kRouteFree);
  if constexpr (kLab) {
    if (serves_tree()) slab_tree_remove(slab);
  }
  arena_release(slab, slab->slices);
}

void return_empty_slabs(Front& front) {
  for (Slab* slab : front.with_room) {
    while (slab != nullptr) {
      Slab* next = slab->next;
      if (slab->used == 0) retire_slab(front, slab, false);
      slab = next;
    }
  }
}

Slab* obtain_slab(Front& front, unsigned cls) {
  if (Slab* slab = adopt_slab(front, cls)) return slab;
  return fresh_slab(front, cls);
}

}  // namespace hakmem
