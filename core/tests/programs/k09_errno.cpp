// Kind 9: free leaves errno alone, also when an madvise or munmap inside it fails.
#include <malloc.h>
#include <sys/mman.h>

#include <cerrno>
#include <new>

#include "check.hpp"

extern "C" {
[[gnu::weak]] void free_sized(void* p, std::size_t size);
[[gnu::weak]] void free_aligned_sized(void* p, std::size_t alignment, std::size_t size);
}

namespace {

constexpr std::size_t kSizes[] = {1, 500, 1000, 5000, 40000, 300000, 3 << 20, 40 << 20};

template <class Free>
void keeps_errno(Free release) {
  constexpr int kBlocks = 40;
  for (const std::size_t size : kSizes) {
    void* blocks[kBlocks];
    const int count = size > 1000000 ? 3 : kBlocks;
    for (int i = 0; i < count; ++i) {
      blocks[i] = malloc(opaque(size));
      CHECK(blocks[i] != nullptr);
      memset(blocks[i], 1, size);
    }
    for (int i = 0; i < count; ++i) {
      errno = 4321;
      release(blocks[i], size);
      CHECK(errno == 4321);
    }
  }
  errno = 4321;
  release(nullptr, 0);
  CHECK(errno == 4321);
}

void all_forms() {
  keeps_errno([](void* p, std::size_t) { free(p); });
  keeps_errno([](void* p, std::size_t) { operator delete(p); });
  keeps_errno([](void* p, std::size_t size) { operator delete(p, size); });
  if (free_sized != nullptr) keeps_errno([](void* p, std::size_t size) { free_sized(p, size); });
  if (free_aligned_sized != nullptr) {
    keeps_errno([](void* p, std::size_t size) { free_aligned_sized(p, 16, size); });
  }
}

/// MADV_DONTNEED of locked pages fails with EINVAL.
void locked_memory() {
  constexpr std::size_t kSize = 200000;
  constexpr int kBlocks = 60;
  void* blocks[kBlocks];
  for (void*& p : blocks) {
    p = malloc(opaque(kSize));
    CHECK(p != nullptr);
    memset(p, 0x55, kSize);
    if (mlock(p, kSize) == 0) continue;
    puts("SKIP: no memory may be locked here");
    return;
  }
  for (void* p : blocks) {
    errno = 4321;
    free(p);
    CHECK(errno == 4321);
  }
  malloc_trim(0);
  // What could not be given back is not zero: calloc has to know that.
  for (void*& p : blocks) {
    p = calloc(1, opaque(kSize));
    CHECK(p != nullptr);
    const auto* bytes = static_cast<const unsigned char*>(p);
    for (std::size_t i = 0; i < kSize; ++i) CHECK(bytes[i] == 0);
  }
  for (void* p : blocks) free(p);
}

constexpr Case kCases[] = {{"all_forms", all_forms}, {"locked_memory", locked_memory}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
