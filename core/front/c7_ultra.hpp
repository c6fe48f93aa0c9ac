// Research box c7_ultra (phase 62A): sizes 513 to 1024 from a per-thread array of free blocks, each
// behind a 16-byte header.
#pragma once

#include "boxes/state.hpp"
#include "front/front.hpp"

namespace hakmem {

/// What the header holds: the class, and a pattern that names the writer.
inline constexpr std::uint64_t kC7Header = 0xA0A0A0A0A0A0A000ULL | kC7UltraClass;

HAK_INLINE void c7_write_header(void* block) { *static_cast<std::uint64_t*>(block) = kC7Header; }

/// Fills the array from the front's slabs; the headers are written here when they are light. False
/// when there is no memory.
bool c7_ultra_refill(Front& front);

/// The array is full: half of it goes back to the slabs, then `p` is pushed.
void c7_ultra_overflow(Front& front, void* p);

/// User pointer, or null when the array is empty. With `Depchain` the test is of the thread's own
/// flag, which lies beside the count; without, of the sealed page.
template <bool Depchain>
HAK_INLINE void* c7_ultra_pop(Front& front) {
  C7Array& c7 = front.c7;
  const std::uint32_t n = c7.count;
  if (HAK_UNLIKELY(n == 0)) return nullptr;
  void* block = c7.blocks[n - 1];
  c7.count = n - 1;
  const bool light = Depchain ? c7.headers_initialized != 0
                              : boxes::value_of(boxes::Id::c7_ultra_header_light) != 0;
  if (HAK_UNLIKELY(!light)) c7_write_header(block);
  return static_cast<std::byte*>(block) + kC7HeaderSize;
}

HAK_INLINE void c7_ultra_push(Front& front, void* p) {
  C7Array& c7 = front.c7;
  const std::uint32_t n = c7.count;
  if (HAK_UNLIKELY(n == C7Array::kCapacity)) return c7_ultra_overflow(front, p);
  c7.blocks[n] = static_cast<std::byte*>(p) - kC7HeaderSize;
  c7.count = n + 1;
}

}  // namespace hakmem
