// Kind 1: every block of every size is 16-byte aligned.
#include <malloc.h>

#include <new>

#include "check.hpp"

namespace {

constexpr std::size_t kLargest = 40000;
constexpr std::size_t kSizesBeyond[] = {65535, 65536, 65537, 1 << 20, (1 << 25) - 1, (1 << 25) + 1};

/// Several blocks of a size at once, so that more than the first of a slab is seen.
template <class Alloc>
void check_size(std::size_t size, Alloc alloc) {
  constexpr int kBlocks = 5;
  void* blocks[kBlocks];
  for (void*& p : blocks) {
    p = alloc(opaque(size));
    CHECK(p != nullptr);
    CHECK(is_aligned(p, 16));
    memset(p, 0xA5, size);
  }
  for (void* p : blocks) free(p);
}

template <class Alloc>
void check_sizes(Alloc alloc) {
  for (std::size_t size = 0; size <= kLargest; size += size < 2200 ? 1 : 37) {
    check_size(size, alloc);
  }
  for (const std::size_t size : kSizesBeyond) check_size(size, alloc);
}

void of_malloc() {
  check_sizes([](std::size_t size) { return malloc(size); });
}

void of_calloc() {
  check_sizes([](std::size_t size) { return calloc(1, size); });
}

void of_new() {
  check_sizes([](std::size_t size) { return operator new(size); });
}

void of_realloc() {
  void* p = malloc(opaque<std::size_t>(1));
  for (std::size_t size = 1; size <= kLargest; size += 7) {
    p = realloc(p, opaque(size));
    CHECK(p != nullptr);
    CHECK(is_aligned(p, 16));
  }
  free(p);
}

constexpr Case kCases[] = {
    {"malloc", of_malloc}, {"calloc", of_calloc}, {"new", of_new}, {"realloc", of_realloc}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
