// What research boxes keep for each thread. libhakmem.so has none of it.
#pragma once

#include "base/size_classes.hpp"
#include "slab/slab.hpp"

namespace hakmem {

/// Fixed ring of free blocks of one class, first in, first out (boxes inline_slots_c4 to _c7). What
/// it holds is marked as handed out: its blocks are not touched.
struct SlotRing {
  static constexpr std::uint32_t kCapacity = 64;  ///< a power of two
  std::uint32_t head;                             ///< both run freely; equal: empty
  std::uint32_t tail;
  std::uint32_t swept_tail;  ///< at the last look
  void* slots[kCapacity];
};

/// The classes of the bands C4 to C7, 65 to 1024 bytes, have rings.
inline constexpr unsigned kFirstRingClass = 4;
inline constexpr unsigned kRingBandCount = 4;
inline constexpr unsigned kRings = class_of(1024) - kFirstRingClass + 1;

static_assert(class_of(65) == kFirstRingClass);

/// First class of a band, 0 to 3 for C4 to C7; of kRingBandCount: the one behind.
HAK_INLINE constexpr unsigned ring_band_start(unsigned band) {
  return class_of((std::size_t{64} << band) + 1);
}

/// Free blocks between a front cache and its slabs (box refill_tiers): an array in front of a list.
struct Tier {
  static constexpr std::uint32_t kMagazine = 16;
  Block* list;  ///< null-terminated
  std::uint32_t listed;
  std::uint32_t loaded;  ///< blocks in the magazine
  bool touched;          ///< since the last look
  Block* magazine[kMagazine];
};

struct LabState {
  SlotRing rings[kRings];
  std::uint8_t routes[0x80];  ///< box route_table: by code / 2, 1 where a class has a ring
  Tier tiers[kClassCount];
  std::uint64_t failed_refills;  ///< box double_layer
  std::uint64_t slot_overflows;
};

struct Front;

// Only the lab has these.

/// The front's.
LabState& lab_of(Front& front);

/// Start-up: what research boxes need before the first allocation.
void start_lab();

/// Routes of a new front.
void set_up_lab(Front& front);

/// The ring is full: the block goes to the bin.
void slots_overflow(Front& front, unsigned cls, void* p);

/// Gives back what the rings and tiers of a class hold; with `idle_only` not what was used since
/// the last look.
void empty_lab(Front& front, unsigned cls, bool idle_only);

/// Blocks that the rings and tiers of a class hold; racy while the thread runs.
std::uint64_t kept_in_lab(Front& front, unsigned cls);

/// Box refill_tiers: one block from the tiers of a class, others into its bin. Null: they are
/// empty.
void* refill_from_tiers(Front& front, unsigned cls);

/// Box refill_tiers: keeps what there is room for of a chain that ends in empty_block; gives the
/// rest.
Block* keep_in_tiers(Front& front, unsigned cls, Block* chain);

/// Box double_layer: the upper layer is filled from a list that nothing ever fills, since frees go
/// to the lower one. Always null, and counted.
void* refill_upper_layer(Front& front, unsigned cls);

}  // namespace hakmem
