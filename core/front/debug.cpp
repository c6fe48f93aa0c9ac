#include "front/debug.hpp"

#include <string.h>

#include "front/front.hpp"
#include "front/slow.hpp"
#include "slab/arena.hpp"

namespace hakmem {

namespace {
constexpr int kFreed = 0xDF;
constexpr int kFresh = 0xCE;
}  // namespace

void debug_check_free(void* p) {
  const Place place = arena_find(p);
  const Slab* slab = place.record - place.record->head_offset;
  const ClassInfo& info = class_info(slab->cls);
  auto* block = static_cast<std::byte*>(p) - info.offset;
  const auto distance = static_cast<std::size_t>(block - slab->start);
  if (distance % info.block_size != 0 || distance / info.block_size >= slab->carved) {
    misuse("free()", "not the start of a block", p);
  }
  if (reinterpret_cast<Block*>(block)->mark == sealed.free_mark) {
    misuse("free()", "block was freed twice", p);
  }
  memset(block, kFreed, info.block_size);
}

void debug_fill(void* p) { memset(p, kFresh, usable_size(p, "malloc()")); }

}  // namespace hakmem
