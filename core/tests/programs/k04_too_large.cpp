// Kinds 4 and 5: sizes that cannot be had give NULL and ENOMEM in each form, and the old block
// stays.
#include <malloc.h>

#include <cerrno>

#include "check.hpp"

namespace {

constexpr std::size_t kTooLarge[] = {
    SIZE_MAX,        SIZE_MAX - 1,      SIZE_MAX - 15,        SIZE_MAX - 16,
    SIZE_MAX - 4095, SIZE_MAX - 65536,  SIZE_MAX / 2 + 1,     SIZE_MAX / 2 + 4097,
    SIZE_MAX / 2,    SIZE_MAX / 2 - 15, SIZE_MAX / 2 - 4096,  SIZE_MAX / 2 - (1 << 22),
    SIZE_MAX / 4,    SIZE_MAX / 8 + 5,  std::size_t{1} << 50, (std::size_t{1} << 48) + 1};

template <class Call>
void fails(Call call) {
  errno = 0;
  CHECK(call() == nullptr);
  CHECK(errno == ENOMEM);
}

void plain_forms() {
  for (const std::size_t size : kTooLarge) {
    fails([=] { return malloc(opaque(size)); });
    fails([=] { return calloc(1, opaque(size)); });
    fails([=] { return calloc(opaque(size), 1); });
    fails([=] { return realloc(nullptr, opaque(size)); });
    fails([=] { return reallocarray(nullptr, opaque(size), 1); });
  }
}

void aligned_forms() {
  for (const std::size_t size : kTooLarge) {
    for (const std::size_t alignment : Sizes{8, 16, 64, 4096, 1 << 21, 1 << 25}) {
      fails([=] { return aligned_alloc(opaque(alignment), opaque(size)); });
      fails([=] { return memalign(opaque(alignment), opaque(size)); });
    }
    fails([=] { return valloc(opaque(size)); });
    fails([=] { return pvalloc(opaque(size)); });
  }
}

void huge_alignments() {
  for (const std::size_t alignment :
       Sizes{SIZE_MAX / 2 + 1, SIZE_MAX / 4 + 1, std::size_t{1} << 50}) {
    errno = 0;
    CHECK(memalign(opaque(alignment), 8) == nullptr);
    CHECK(errno == ENOMEM || errno == EINVAL);
    errno = 0;
    CHECK(aligned_alloc(opaque(alignment), 8) == nullptr);
    CHECK(errno == ENOMEM || errno == EINVAL);
    void* p = nullptr;
    CHECK(posix_memalign(&p, opaque(alignment), 8) != 0);
    CHECK(p == nullptr);
  }
}

void overflowing_products() {
  constexpr std::size_t kHalf = std::size_t{1} << 32;
  constexpr std::size_t kPairs[][2] = {{kHalf, kHalf},        {kHalf + 1, kHalf},
                                       {SIZE_MAX, 2},         {2, SIZE_MAX},
                                       {SIZE_MAX / 2 + 1, 2}, {SIZE_MAX / 16 + 2, 16}};
  for (const auto& pair : kPairs) {
    fails([&] { return calloc(opaque(pair[0]), opaque(pair[1])); });
    fails([&] { return reallocarray(nullptr, opaque(pair[0]), opaque(pair[1])); });
  }
}

void old_block_intact() {
  for (const std::size_t old_size : Sizes{1, 100, 1000, 5000, 40000, 300000, 40 << 20}) {
    void* p = malloc(opaque(old_size));
    CHECK(p != nullptr);
    fill(p, old_size, 9);
    for (const std::size_t size : kTooLarge) {
      fails([=] { return realloc(p, opaque(size)); });
      fails([=] { return reallocarray(p, opaque(size), 1); });
      fails([=] { return reallocarray(p, opaque(size), opaque<std::size_t>(1) << 40); });
    }
    CHECK(malloc_usable_size(p) >= old_size);
    CHECK(is_filled(p, old_size, 9));
    free(p);
  }
}

void works_afterwards() {
  plain_forms();
  void* p = malloc(opaque<std::size_t>(1 << 20));
  CHECK(p != nullptr);
  memset(p, 1, 1 << 20);
  free(p);
}

constexpr Case kCases[] = {
    {"plain_forms", plain_forms},           {"aligned_forms", aligned_forms},
    {"huge_alignments", huge_alignments},   {"overflowing_products", overflowing_products},
    {"old_block_intact", old_block_intact}, {"works_afterwards", works_afterwards}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
