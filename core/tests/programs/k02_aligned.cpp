// Kinds 2 and 3: what the aligned forms accept, and what they refuse.
#include <malloc.h>

#include <cerrno>

#include "check.hpp"

namespace {

void* marker() {
  static char place;
  return &place;
}

void refused_alignments() {
  for (const std::size_t alignment : Sizes{0, 1, 2, 3, 4, 6, 12, 24, 48, 4095}) {
    void* p = marker();
    errno = 77;
    CHECK(posix_memalign(&p, opaque(alignment), 100) == EINVAL);
    CHECK(p == marker());
    CHECK(errno == 77);
  }
}

void accepted_alignments() {
  for (std::size_t alignment = sizeof(void*); alignment <= std::size_t{64} << 20; alignment *= 2) {
    for (const std::size_t size : Sizes{0, 1, 15, 16, 100, 1000, 5000, 33000, 70000}) {
      void* p = marker();
      CHECK(posix_memalign(&p, opaque(alignment), opaque(size)) == 0);
      CHECK(p != nullptr && p != marker());
      CHECK(is_aligned(p, alignment) && is_aligned(p, 16));
      fill(p, size, 3);
      CHECK(is_filled(p, size, 3));
      free(p);
    }
  }
}

void out_of_memory() {
  void* p = marker();
  errno = 77;
  CHECK(posix_memalign(&p, 64, opaque(SIZE_MAX - 100)) == ENOMEM);
  CHECK(p == marker());
  CHECK(errno == 77);
}

void aligned_alloc_small_alignments() {
  for (const std::size_t alignment : Sizes{1, 2, 4, 8, 16, 32, 4096}) {
    for (const std::size_t size : Sizes{1, 3, 17, 100, 4095, 33001}) {
      void* p = aligned_alloc(opaque(alignment), opaque(size));
      CHECK(p != nullptr);
      CHECK(is_aligned(p, alignment) && is_aligned(p, 16));
      memset(p, 1, size);
      free(p);
    }
  }
}

void aligned_alloc_invalid() {
  for (const std::size_t alignment : Sizes{0, 3, 5, 6, 24, 48, 100, 4097}) {
    void* p = aligned_alloc(opaque(alignment), opaque<std::size_t>(96));
    // Refusing is right, and so is more alignment than was asked for.
    CHECK(p == nullptr || (alignment != 0 && is_aligned(p, alignment)));
    free(p);
  }
}

void memalign_rounds_up() {
  for (const std::size_t alignment : Sizes{0, 1, 3, 8, 24, 48, 100, 5000}) {
    void* p = memalign(opaque(alignment), opaque<std::size_t>(96));
    std::size_t rounded = 1;
    while (rounded < alignment) rounded *= 2;
    CHECK(p != nullptr);
    CHECK(is_aligned(p, rounded) && is_aligned(p, 16));
    free(p);
  }
}

void page_forms() {
  for (const std::size_t size : Sizes{0, 1, 4095, 4096, 4097, 100000}) {
    void* v = valloc(opaque(size));
    void* pv = pvalloc(opaque(size));
    CHECK(v != nullptr && pv != nullptr);
    CHECK(is_aligned(v, 4096) && is_aligned(pv, 4096));
    CHECK(malloc_usable_size(pv) >= (size + 4095) / 4096 * 4096);
    free(v);
    free(pv);
  }
}

constexpr Case kCases[] = {{"refused_alignments", refused_alignments},
                           {"accepted_alignments", accepted_alignments},
                           {"out_of_memory", out_of_memory},
                           {"aligned_alloc_small_alignments", aligned_alloc_small_alignments},
                           {"aligned_alloc_invalid", aligned_alloc_invalid},
                           {"memalign_rounds_up", memalign_rounds_up},
                           {"page_forms", page_forms}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
