// Box chunk_mask: the routes of a chunk's slices stand at its start as well, where free() finds
// them by masking the pointer. A chunk is a SuperSlab; its first slice holds nothing else.
#pragma once

#include "base/sealed.hpp"
#include "boxes/state.hpp"
#include "slab/arena.hpp"
#include "slab/direct_map.hpp"

namespace hakmem {

struct ChunkHeader {
  Route routes[kSlicesPerSuperSlab];  ///< of small slabs only; else kRouteFree
};

HAK_INLINE bool serves_chunks() { return boxes::value_of(boxes::Id::chunk_mask) != 0; }

HAK_INLINE Route& chunk_route(std::uintptr_t a) {
  auto* header = static_cast<ChunkHeader*>(pointer(a & ~(kSuperSlabSize - 1)));
  return header->routes[a >> kSliceShift & (kSlicesPerSuperSlab - 1)];
}

/// No run is longer than the slices between two headers.
HAK_INLINE std::size_t longest_run_bytes() {
  return serves_chunks() ? kSuperSlabSize - kSliceSize : kMaxRunBytes;
}

/// Nor is any aligned to a chunk.
HAK_INLINE std::size_t strictest_run_alignment() {
  return serves_chunks() ? kSuperSlabSize / 2 : kSuperSlabSize;
}

}  // namespace hakmem
