// Slow paths of the boxes that put something between a front's bins and its slabs, or before them.
#include "front/lab.hpp"

#include "base/text.hpp"
#include "front/front.hpp"
#include "front/header_byte.hpp"
#include "front/slab_tree.hpp"
#include "os/process.hpp"

namespace hakmem {

using boxes::Id;

namespace {

/// Makes a block of a ring a free one again, for give_back().
Block* marked(Front& front, void* p, Block* next) {
  auto* block = static_cast<Block*>(p);
  block->next = next;
  block->mark = front.free_mark;
  return block;
}

void empty_ring(Front& front, SlotRing& ring) {
  Block* chain = &empty_block;
  for (; ring.head != ring.tail; ++ring.head) {
    chain = marked(front, ring.slots[ring.head % SlotRing::kCapacity], chain);
  }
  give_back(front, chain);
}

void empty_tier(Front& front, Tier& tier) {
  Block* chain = &empty_block;
  while (tier.loaded > 0) chain = marked(front, tier.magazine[--tier.loaded], chain);
  while (tier.list != nullptr) {
    Block* block = tier.list;
    tier.list = block->next;
    chain = marked(front, block, chain);
  }
  tier.listed = 0;
  give_back(front, chain);
}

/// Fills the magazine from the list.
void load(Tier& tier) {
  while (tier.loaded < Tier::kMagazine && tier.list != nullptr) {
    Block* block = tier.list;
    tier.list = block->next;
    --tier.listed;
    tier.magazine[tier.loaded++] = block;
  }
}

/// The tier's next block: from the magazine where there is one, else from the list.
Block* next_of(Tier& tier, bool has_magazine) {
  if (has_magazine) return tier.loaded > 0 ? tier.magazine[--tier.loaded] : nullptr;
  Block* block = tier.list;
  if (block != nullptr) {
    tier.list = block->next;
    --tier.listed;
  }
  return block;
}

}  // namespace

LabState& lab_of(Front& front) { return static_cast<ThreadFront&>(front).lab; }

void start_lab() {
  if (kGuarded && serves_headers()) {
    TextBuffer<128> line;
    line.add("hakmem: HAKMEM_HEADER_BYTE=1: debug and hardened builds have canaries there\n");
    os::fail(line);
  }
  if (boxes::value_of(Id::registry_lookup) == 0 || slab_tree_init()) return;
  TextBuffer<128> line;
  line.add("hakmem: no address space for the tree of slabs; raise RLIMIT_AS\n");
  os::fail(line);
}

void set_up_lab(Front& front) {
  LabState& lab = lab_of(front);
  constexpr Id kBands[] = {Id::inline_slots_c4, Id::inline_slots_c5, Id::inline_slots_c6,
                           Id::inline_slots_c7};
  for (unsigned band = 0; band < kRingBandCount; ++band) {
    for (unsigned cls = ring_band_start(band); cls < ring_band_start(band + 1); ++cls) {
      lab.routes[cls] = boxes::value_of(kBands[band]) != 0;
    }
  }
}

void slots_overflow(Front& front, unsigned cls, void* p) {
  ++lab_of(front).slot_overflows;
  Bin& bin = front.bins[cls];
  bin.head = marked(front, p, bin.head);
  if (bin.credit-- == 0) trim(front, cls);
}

void empty_lab(Front& front, unsigned cls, bool idle_only) {
  LabState& lab = lab_of(front);
  Tier& tier = lab.tiers[cls];
  if (!idle_only || !tier.touched) empty_tier(front, tier);
  tier.touched = false;
  if (cls - kFirstRingClass >= kRings) return;
  SlotRing& ring = lab.rings[cls - kFirstRingClass];
  if (!idle_only || ring.tail == ring.swept_tail) empty_ring(front, ring);
  ring.swept_tail = ring.tail;
}

std::uint64_t kept_in_lab(Front& front, unsigned cls) {
  const LabState& lab = lab_of(front);
  const Tier& tier = lab.tiers[cls];
  std::uint64_t n = __atomic_load_n(&tier.listed, __ATOMIC_RELAXED) +
                    std::uint64_t{__atomic_load_n(&tier.loaded, __ATOMIC_RELAXED)};
  if (cls - kFirstRingClass < kRings) {
    const SlotRing& ring = lab.rings[cls - kFirstRingClass];
    const std::uint32_t head = __atomic_load_n(&ring.head, __ATOMIC_RELAXED);
    n += __atomic_load_n(&ring.tail, __ATOMIC_RELAXED) - head;
  }
  return n;
}

void* refill_from_tiers(Front& front, unsigned cls) {
  Tier& tier = lab_of(front).tiers[cls];
  const bool has_magazine = boxes::value_of(Id::refill_tiers) > 1;
  if (has_magazine && tier.loaded == 0) load(tier);
  Block* first = next_of(tier, has_magazine);
  if (first == nullptr) return nullptr;
  tier.touched = true;
  count_decision(front, Id::refill_tiers);
  Bin& bin = front.bins[cls];
  for (std::uint32_t i = 1; i < Tier::kMagazine; ++i) {
    Block* block = next_of(tier, has_magazine);
    if (block == nullptr) break;
    block->next = bin.head;
    bin.head = block;
  }
  count_taken(bin, Tier::kMagazine);
  first->mark = 0;
  return first;
}

Block* keep_in_tiers(Front& front, unsigned cls, Block* chain) {
  Tier& tier = lab_of(front).tiers[cls];
  const std::uint32_t room = bin_cap(cls);
  while (chain != &empty_block && tier.listed < room) {
    Block* block = chain;
    chain = block->next;
    block->next = tier.list;
    tier.list = block;
    ++tier.listed;
    tier.touched = true;
  }
  return chain;
}

void* refill_upper_layer(Front& front, unsigned cls) {
  LabState& lab = lab_of(front);
  Tier& upper = lab.tiers[cls];
  load(upper);
  if (upper.loaded > 0) return upper.magazine[--upper.loaded];
  ++lab.failed_refills;
  return nullptr;
}

}  // namespace hakmem
