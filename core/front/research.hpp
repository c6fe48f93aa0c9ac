// What research boxes do in malloc and free, for the lab's variants. Included by hot.cpp only,
// behind what it is made of; each variant compiles the parts whose boxes are on.
#pragma once

#include "boxes/variant.hpp"
#include "front/chunk_header.hpp"
#include "front/header_byte.hpp"
#include "front/inline_slots.hpp"
#include "front/slab_tree.hpp"
#include "front/tails.hpp"

namespace hakmem::HAKMEM_VARIANT {

namespace {

/// Box header_byte: the write, which the compiler of the record had left out of line. Not among the
/// hot code, which begins with malloc on a cache line of its own.
HAK_NOINLINE [[maybe_unused]] void write_header_apart(void* p, std::size_t code) {
  write_header(p, static_cast<unsigned>(code / 2));
}

HAK_INLINE void finish_header(Front* front, void* p, std::size_t code) {
  count_use(front, Id::header_byte);
  if constexpr (on(Id::header_byte_own)) count_use(front, Id::header_byte_own);
  if constexpr (on(Id::header_write_inline)) {
    count_use(front, Id::header_write_inline);
    write_header(p, static_cast<unsigned>(code / 2));
  } else {
    write_header_apart(p, code);
  }
}

/// Route code of a block by its header; above 0xFF when free() must look closer. Who owns the block
/// is asked of the slice's route, or not at all.
HAK_INLINE std::size_t code_by_header(Front* front, std::size_t slice, const void* p) {
  constexpr std::size_t kUnknown = 0x100;
  if (HAK_UNLIKELY(is_bare(p))) return kUnknown;
  const unsigned cls = class_from_header(p);
  if (HAK_UNLIKELY(cls >= kRegularClasses)) return kUnknown;
  if constexpr (on(Id::header_byte_own)) {
    if (HAK_UNLIKELY(is_stub(front))) return kUnknown;
  } else {
    const std::size_t code = sealed.routes[slice].load(std::memory_order_relaxed) ^ front->token;
    if (HAK_UNLIKELY(code > 0xFF)) return kUnknown;
  }
  return route_code(cls);
}

/// Box registry_lookup: the slice's slab from the tree; its record says whether the slice is of it.
HAK_INLINE std::size_t code_by_tree(Front* front, std::size_t slice) {
  constexpr std::size_t kUnknown = 0x100;
  const std::size_t head = slab_tree_find(slice);
  if (HAK_UNLIKELY(head > slice || slice - head >= sealed.records[head].slices)) return kUnknown;
  if (!is_stub(front)) count_use(front, Id::registry_lookup);
  return sealed.routes[head].load(std::memory_order_relaxed) ^ front->token;
}

HAK_INLINE std::size_t code_by_mask(Front* front, const void* p) {
  if (!is_stub(front)) count_use(front, Id::chunk_mask);
  return chunk_route(address(p)).load(std::memory_order_relaxed) ^ front->token;
}

/// What free() asks to learn the class of a block and whether it is the thread's own.
HAK_INLINE std::size_t code_of(Front* front, std::size_t slice, const void* p) {
  if constexpr (on(Id::header_byte)) return code_by_header(front, slice, p);
  if constexpr (on(Id::registry_lookup)) return code_by_tree(front, slice);
  if constexpr (on(Id::chunk_mask)) return code_by_mask(front, p);
  return sealed.routes[slice].load(std::memory_order_relaxed) ^ front->token;
}

constexpr unsigned kRingBands =
    (on(Id::inline_slots_c4) ? 1U : 0U) | (on(Id::inline_slots_c5) ? 2U : 0U) |
    (on(Id::inline_slots_c6) ? 4U : 0U) | (on(Id::inline_slots_c7) ? 8U : 0U);
constexpr Routing kRouting = on(Id::route_table)    ? Routing::table
                             : on(Id::route_policy) ? Routing::policy
                                                    : Routing::fixed;

/// Observe build: what of the rings' boxes was executed.
HAK_INLINE void count_rings(Front* front) {
  if constexpr (on(Id::inline_slots_c4)) count_use(front, Id::inline_slots_c4);
  if constexpr (on(Id::inline_slots_c5)) count_use(front, Id::inline_slots_c5);
  if constexpr (on(Id::inline_slots_c6)) count_use(front, Id::inline_slots_c6);
  if constexpr (on(Id::inline_slots_c7)) count_use(front, Id::inline_slots_c7);
  if constexpr (on(Id::route_policy)) count_use(front, Id::route_policy);
  if constexpr (on(Id::route_table)) count_use(front, Id::route_table);
}

/// What research boxes take a block from before the bin. Null: nothing there.
HAK_INLINE void* take_before_bin(Front* front, std::size_t code) {
  if constexpr (kRingBands != 0) {
    if (has_ring<kRingBands, kRouting>(front, code)) {
      void* p = slots_pop(front, code);
      if (p != nullptr) count_rings(front);
      return p;
    }
  }
  if constexpr (on(Id::double_layer)) {
    if (HAK_UNLIKELY(is_stub(front) || code == kNoBlockCode)) return nullptr;
    count_use(front, Id::double_layer);
    Tier& upper = lab_state(front).tiers[code / 2];
    if (upper.loaded > 0) return upper.magazine[--upper.loaded];
    return refill_upper_layer(*front, static_cast<unsigned>(code / 2));
  }
  return nullptr;
}

/// Box inline_tails: the first step of free_slow().
HAK_INLINE void free_other(Front* front, std::size_t slice, void* p) {
  if (HAK_UNLIKELY(!free_foreign_slice(front, slice, p))) free_slow(p);
}

/// Box inline_tails: the refill itself, where the front's bin is empty.
HAK_INLINE void* refill_here(Front* front, std::size_t code) {
  if (HAK_UNLIKELY(is_stub(front) || code == kNoBlockCode)) return nullptr;
  if (HAK_UNLIKELY(head_of(front, code) != &empty_block)) return nullptr;
  count_use(front, Id::inline_tails);
  return refill(*front, static_cast<unsigned>(code / 2));
}

}  // namespace

}  // namespace hakmem::HAKMEM_VARIANT
