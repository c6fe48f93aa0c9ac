// Kind 6: one documented answer for size 0, and no leak.
#include <malloc.h>

#include "statistics.hpp"

namespace {

void malloc_zero() {
  void* a = malloc(opaque<std::size_t>(0));
  void* b = malloc(opaque<std::size_t>(0));
  CHECK(a != nullptr && b != nullptr && a != b);
  free(a);
  free(b);
  for (void* p : {calloc(opaque<std::size_t>(0), 8), calloc(8, opaque<std::size_t>(0)),
                  realloc(nullptr, opaque<std::size_t>(0)), memalign(64, opaque<std::size_t>(0))}) {
    CHECK(p != nullptr);
    free(p);
  }
}

/// realloc(p, 0) frees p and gives NULL, as glibc does.
void realloc_to_zero() {
  for (const std::size_t size : Sizes{1, 100, 1000, 40000, 40 << 20}) {
    CHECK(realloc(malloc(opaque(size)), opaque<std::size_t>(0)) == nullptr);
    CHECK(reallocarray(malloc(opaque(size)), opaque<std::size_t>(0), 8) == nullptr);
  }
}

void no_leak() {
  malloc_zero();
  realloc_to_zero();
  malloc_trim(0);
  const hakmem_stats before = statistics();
  for (int i = 0; i < 1000; ++i) {
    malloc_zero();
    realloc_to_zero();
  }
  malloc_trim(0);
  const hakmem_stats after = statistics();
  CHECK(after.live_blocks <= before.live_blocks);
  CHECK(after.live_bytes <= before.live_bytes);
  CHECK(after.direct_mappings == before.direct_mappings);
  CHECK(after.arena_bytes <= before.arena_bytes);
}

constexpr Case kCases[] = {
    {"malloc_zero", malloc_zero}, {"realloc_to_zero", realloc_to_zero}, {"no_leak", no_leak}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
