#include "front/guard.hpp"

#include <string.h>

#include "boxes/state.hpp"
#include "front/front.hpp"
#include "front/slow.hpp"
#include "os/process.hpp"
#include "slab/arena.hpp"

namespace hakmem {

namespace {

using boxes::Id;

constexpr int kFresh = 0xCE;  // debug build: what is handed out
constexpr int kPoison = 0xDF;

bool skipped(Id id) { return boxes::value_of(id) != 0; }

/// What freed memory is filled with; -1: it is not.
int filling() {
  switch (boxes::value_of(Id::free_fill)) {
    case 1:
      return -1;
    case 2:
      return 0;
    case 3:
      return kPoison;
    default:
      return kDebug ? kPoison : 0;
  }
}

/// The part of a block that belongs to its caller, and the canary behind it.
struct Body {
  std::byte* start;
  std::size_t size;
  std::uint64_t* canary() const { return reinterpret_cast<std::uint64_t*>(start + size); }
  /// Its first byte is no character of a text: one byte too many, a NUL or a letter, always shows.
  std::uint64_t right_canary() const { return (sealed.free_mark * 31 ^ address(start)) | 0x80; }
};

Slab* slab_of(const void* p) {
  const Place place = arena_find(p);
  return place.record - place.record->head_offset;
}

Body body_of(const void* p, unsigned cls) {
  return {static_cast<std::byte*>(const_cast<void*>(p)), usable_of(cls)};
}

/// Where the next and the mark of a free block lie is not filled.
std::size_t links_of(unsigned cls) { return class_info(cls).offset != 0 ? 0 : sizeof(Block); }

void fill(const Body& body, unsigned cls) {
  const int value = filling();
  const std::size_t links = links_of(cls);
  if (value >= 0) memset(body.start + links, value, body.size + kTrailer - links);
}

void check_filled(const Body& body, unsigned cls) {
  const int value = filling();
  if (value < 0) return;
  for (std::size_t i = links_of(cls); i < body.size; ++i) {
    if (HAK_UNLIKELY(body.start[i] != static_cast<std::byte>(value))) {
      misuse("malloc()", "free block was written to", body.start, cls);
    }
  }
}

void check_block(const Slab& slab, const void* p) {
  const ClassInfo& info = class_info(slab.cls);
  const auto* block = static_cast<const std::byte*>(p) - info.offset;
  const auto distance = static_cast<std::size_t>(block - slab.start);
  if (distance % info.block_size != 0 || distance / info.block_size >= slab.carved) {
    misuse("free()", "not the start of a block", p, slab.cls);
  }
  if (reinterpret_cast<const Block*>(block)->mark == sealed.free_mark) {
    misuse("free()", "block was freed twice", p, slab.cls);
  }
}

}  // namespace

void guard_allocated(void* p) {
  const unsigned cls = slab_of(p)->cls;
  const Body body = body_of(p, cls);
  check_filled(body, cls);
  if constexpr (kDebug) memset(p, kFresh, body.size);
  if constexpr (kTrailer != 0) *body.canary() = body.right_canary();
}

void guard_freed(void* p) {
  const Slab& slab = *slab_of(p);
  if (!skipped(Id::skip_free_checks)) check_block(slab, p);
  const Body body = body_of(p, slab.cls);
  if constexpr (kTrailer != 0) {
    if (!skipped(Id::skip_canaries) && *body.canary() != body.right_canary()) {
      misuse("free()", "written beyond the end of the block", p, slab.cls);
    }
  }
  fill(body, slab.cls);
}

void guard_carved(const Slab& slab, std::uint32_t count) {
  const ClassInfo& info = class_info(slab.cls);
  for (std::uint32_t i = slab.carved - count; i < slab.carved; ++i) {
    fill(body_of(slab.start + std::size_t{i} * info.block_size + info.offset, slab.cls), slab.cls);
  }
}

void shuffle(Chain& chain) {
  constexpr std::uint32_t kMost = 256;
  if (skipped(Id::skip_random_placement) || chain.count < 2 || chain.count > kMost) return;
  Block* blocks[kMost];
  std::uint32_t n = 0;
  for (Block* block = chain.head; block != nullptr; block = block->next) blocks[n++] = block;
  std::uint64_t random = guard_random();
  for (std::uint32_t i = n - 1; i > 0; --i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto k = static_cast<std::uint32_t>((random >> 33) % (i + 1));
    Block* block = blocks[i];
    blocks[i] = blocks[k];
    blocks[k] = block;
  }
  for (std::uint32_t i = 0; i + 1 < n; ++i) blocks[i]->next = blocks[i + 1];
  blocks[n - 1]->next = nullptr;
  chain.head = blocks[0];
  chain.tail = blocks[n - 1];
}

/// splitmix64 of a count and the process's secret.
std::uint64_t guard_random() {
  static std::atomic<std::uint64_t> count;
  std::uint64_t z = sealed.free_mark + count.fetch_add(1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
  return z ^ z >> 31;
}

void guard_start() {
  // Of the 48 bits that an address has: what is wrong shows in the decoded one.
  if (!skipped(Id::skip_link_encoding)) sealed.link_key = guard_random() | 1;
}

#ifdef HAKMEM_HARDENED
Block* Link::checked(std::uintptr_t word) const {
  auto* block = static_cast<Block*>(pointer(word));
  if (HAK_LIKELY(block == nullptr || block == &empty_block)) return block;
  if (HAK_UNLIKELY(word % kMinAlignment != 0 || !arena_usable(block))) {
    misuse("free list", "link was overwritten", this);
  }
  return block;
}
#endif

}  // namespace hakmem
