// Kind 7: malloc_usable_size is at least what was asked, constant for the block's life, and
// writable.
#include <malloc.h>

#include "check.hpp"

namespace {

constexpr int kNeighbours = 6;

template <class Alloc>
void use_all_of(std::size_t size, Alloc alloc) {
  void* blocks[kNeighbours];
  std::size_t usable[kNeighbours];
  for (unsigned i = 0; i < kNeighbours; ++i) {
    blocks[i] = alloc(opaque(size));
    CHECK(blocks[i] != nullptr);
    usable[i] = malloc_usable_size(blocks[i]);
    CHECK(usable[i] >= size);
    fill(blocks[i], usable[i], i + static_cast<unsigned>(size));
  }
  for (unsigned i = 0; i < kNeighbours; ++i) {
    CHECK(malloc_usable_size(blocks[i]) == usable[i]);
    CHECK(is_filled(blocks[i], usable[i], i + static_cast<unsigned>(size)));
  }
  for (void* p : blocks) free(p);
}

void whole_block_writable() {
  auto by_malloc = [](std::size_t size) { return malloc(size); };
  for (std::size_t size = 0; size <= 2100; ++size) use_all_of(size, by_malloc);
  for (std::size_t size = 2111; size <= 40000; size += 511) use_all_of(size, by_malloc);
  use_all_of(std::size_t{1} << 20, by_malloc);
}

void aligned_blocks() {
  for (const std::size_t alignment : Sizes{32, 256, 4096, 65536}) {
    auto aligned = [=](std::size_t size) { return memalign(alignment, size); };
    for (const std::size_t size : Sizes{1, 40, 600, 1000, 5000, 33000, 66000})
      use_all_of(size, aligned);
  }
}

/// realloc keeps what lies beyond the requested size, since callers use all of a block.
void realloc_keeps_usable_part() {
  for (const std::size_t size : Sizes{1, 20, 100, 600, 1000, 5000, 33000, 70000}) {
    void* p = malloc(opaque(size));
    const std::size_t usable = malloc_usable_size(p);
    fill(p, usable, 5);
    p = realloc(p, opaque(usable * 3));
    CHECK(p != nullptr && is_filled(p, usable, 5));
    p = realloc(p, opaque(usable / 4 + 1));
    CHECK(p != nullptr && is_filled(p, usable / 4 + 1, 5));
    CHECK(malloc_usable_size(p) >= usable / 4 + 1);
    free(p);
  }
}

void of_null() { CHECK(malloc_usable_size(opaque<void*>(nullptr)) == 0); }

constexpr Case kCases[] = {{"whole_block_writable", whole_block_writable},
                           {"aligned_blocks", aligned_blocks},
                           {"realloc_keeps_usable_part", realloc_keeps_usable_part},
                           {"of_null", of_null}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
