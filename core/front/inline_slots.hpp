// Research boxes inline_slots_c4 to _c7 (record: phases 78 to 89): blocks of a band are taken from
// and freed into a fixed ring of the class, without touching the block; route_policy and
// route_table are two ways to ask, on each call, whether a class has one.
#pragma once

#include "boxes/state.hpp"
#include "boxes/variant.hpp"
#include "front/front.hpp"

namespace hakmem {

HAK_INLINE LabState& lab_state(Front* front) { return static_cast<ThreadFront*>(front)->lab; }

/// How a variant knows the classes that have rings.
enum class Routing { fixed, policy, table };

/// Bands C4 to C7 as bits 0 to 3.
HAK_INLINE constexpr bool is_in_band(std::size_t cls, unsigned band) {
  return cls - ring_band_start(band) < ring_band_start(band + 1) - ring_band_start(band);
}

/// Whether the class of a route code has a ring in this variant. The policy reads each band's own
/// switch on each call, as the record's did.
template <unsigned Bands, Routing How>
HAK_INLINE bool has_ring(Front* front, std::size_t code) {
  const std::size_t cls = code / 2;
  if constexpr (How == Routing::table) return lab_state(front).routes[cls] != 0;
  if constexpr (How == Routing::policy) {
    using boxes::Id;
    return (boxes::value_of(Id::inline_slots_c4) != 0 && is_in_band(cls, 0)) ||
           (boxes::value_of(Id::inline_slots_c5) != 0 && is_in_band(cls, 1)) ||
           (boxes::value_of(Id::inline_slots_c6) != 0 && is_in_band(cls, 2)) ||
           (boxes::value_of(Id::inline_slots_c7) != 0 && is_in_band(cls, 3));
  }
  if constexpr (Bands == 15) return code - route_code(kFirstRingClass) < route_code(kRings);
  return ((Bands & 1) != 0 && is_in_band(cls, 0)) || ((Bands & 2) != 0 && is_in_band(cls, 1)) ||
         ((Bands & 4) != 0 && is_in_band(cls, 2)) || ((Bands & 8) != 0 && is_in_band(cls, 3));
}

/// Oldest block of the ring; null when it is empty.
HAK_INLINE void* slots_pop(Front* front, std::size_t code) {
  SlotRing& ring = lab_state(front).rings[code / 2 - kFirstRingClass];
  const std::uint32_t head = ring.head;
  if (HAK_UNLIKELY(head == ring.tail)) return nullptr;
  ring.head = head + 1;
  return ring.slots[head % SlotRing::kCapacity];
}

HAK_INLINE void slots_push(Front* front, std::size_t code, void* p) {
  SlotRing& ring = lab_state(front).rings[code / 2 - kFirstRingClass];
  const std::uint32_t tail = ring.tail;
  if (HAK_UNLIKELY(tail - ring.head == SlotRing::kCapacity)) {
    return slots_overflow(*front, static_cast<unsigned>(code / 2), p);
  }
  ring.slots[tail % SlotRing::kCapacity] = p;
  ring.tail = tail + 1;
}

}  // namespace hakmem
