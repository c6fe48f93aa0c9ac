#include "front/c7_ultra.hpp"

namespace hakmem {

namespace {
constexpr std::uint32_t kBatch = C7Array::kCapacity / 2;
}

bool c7_ultra_refill(Front& front) {
  ++front.stats.refills;
  C7Array& c7 = front.c7;
  const Chain taken = take_blocks(front, kC7UltraClass, kBatch);
  const bool light = boxes::value_of(boxes::Id::c7_ultra_header_light) != 0;
  count_decision(front, boxes::Id::c7_ultra_header_light);
  for (Block* rest = taken.head; rest != nullptr;) {
    Block* block = rest;
    rest = block->next;
    block->mark = 0;
    if (light) c7_write_header(block);
    c7.blocks[c7.count++] = block;
  }
  c7.headers_initialized = light;
  return taken.count > 0;
}

void c7_ultra_overflow(Front& front, void* p) {
  ++front.stats.trims;
  C7Array& c7 = front.c7;
  Block* chain = &empty_block;
  for (std::uint32_t i = 0; i < kBatch; ++i) {
    auto* block = static_cast<Block*>(c7.blocks[i]);
    block->next = chain;
    block->mark = front.free_mark;
    chain = block;
  }
  for (std::uint32_t i = kBatch; i < C7Array::kCapacity; ++i) c7.blocks[i - kBatch] = c7.blocks[i];
  c7.count = C7Array::kCapacity - kBatch;
  give_back(front, chain);
  c7_ultra_push(front, p);
}

}  // namespace hakmem
