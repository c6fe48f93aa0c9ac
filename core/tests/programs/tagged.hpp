// Blocks that know what has to stand in them, so that whoever frees one can check all of it.
#pragma once

#include <malloc.h>

#include "check.hpp"

/// Stands at the start of every block.
struct Tag {
  std::size_t size;  ///< of the whole block
  unsigned seed;
  unsigned magic;
};

inline constexpr unsigned kMagic = 0x7A66ED01;

inline void write_tag(void* p, std::size_t size, unsigned seed) {
  CHECK(p != nullptr && is_aligned(p, 16));
  *static_cast<Tag*>(p) = {size, seed, kMagic};
  fill(static_cast<char*>(p) + sizeof(Tag), size - sizeof(Tag), seed);
}

/// Whether the first `size` bytes of a block are as write_tag left them.
inline bool tag_holds(const void* p, std::size_t size) {
  const auto* tag = static_cast<const Tag*>(p);
  return tag->magic == kMagic &&
         is_filled(static_cast<const char*>(p) + sizeof(Tag), size - sizeof(Tag), tag->seed);
}

/// Checks the whole block, makes it useless for a second owner, and frees it. Null is fine.
inline void check_and_free(void* p) {
  if (p == nullptr) return;
  auto* tag = static_cast<Tag*>(p);
  CHECK(tag_holds(p, tag->size));
  tag->magic = 0;
  free(p);
}

/// Mostly small, now and then of any kind. At least a tag long.
inline std::size_t random_size(Random& random) {
  const std::size_t dice = random.below(1000);
  if (dice < 700) return sizeof(Tag) + random.below(500);
  if (dice < 950) return sizeof(Tag) + random.below(2000);
  if (dice < 990) return sizeof(Tag) + random.below(40000);
  if (dice < 999) return sizeof(Tag) + random.below(400000);
  return sizeof(Tag) + random.below(std::size_t{2} << 20);
}

/// A block by one of the functions that make one.
inline void* random_block(Random& random) {
  const std::size_t size = random_size(random);
  const auto seed = static_cast<unsigned>(random.next());
  void* p = nullptr;
  switch (random.below(8)) {
    case 0:
      p = calloc(1, size);
      CHECK(p != nullptr);
      for (std::size_t i = 0; i < size; ++i) CHECK(static_cast<char*>(p)[i] == 0);
      break;
    case 1: {
      const std::size_t alignment = std::size_t{8} << random.below(12);
      CHECK(posix_memalign(&p, alignment, size) == 0);
      CHECK(is_aligned(p, alignment));
      break;
    }
    default:
      p = malloc(size);
  }
  write_tag(p, size, seed);
  return p;
}

/// realloc to a random size; the common part is checked.
inline void* random_realloc(void* p, Random& random) {
  const std::size_t old_size = static_cast<Tag*>(p)->size;
  const std::size_t size = random_size(random);
  void* q = realloc(p, size);
  CHECK(q != nullptr);
  CHECK(tag_holds(q, old_size < size ? old_size : size));
  write_tag(q, size, static_cast<unsigned>(random.next()));
  return q;
}
