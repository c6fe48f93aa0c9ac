// Mappings of their own and the table that knows them.
#include "slab/direct_map.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace hakmem {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(DirectMap, KnowsWhatItMapped) {
  const DirectUsage before = direct_usage();
  void* p = direct_alloc(17 * kMiB + 5, 16);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(address(p) % kPageSize, 0U);
  EXPECT_EQ(direct_size(p), 17 * kMiB + kPageSize);
  EXPECT_EQ(direct_size(static_cast<char*>(p) + kPageSize), 0U);
  EXPECT_EQ(direct_usage().mappings, before.mappings + 1);
  EXPECT_EQ(direct_usage().bytes, before.bytes + 17 * kMiB + kPageSize);
  EXPECT_TRUE(direct_free(p));
  EXPECT_FALSE(direct_free(p));
  EXPECT_EQ(direct_size(p), 0U);
  EXPECT_EQ(direct_usage().mappings, before.mappings);
  EXPECT_EQ(direct_usage().bytes, before.bytes);
}

TEST(DirectMap, PointersThatItCannotKnow) {
  int on_stack = 0;
  for (const std::uintptr_t a : {std::uintptr_t{0}, std::uintptr_t{1}, address(&on_stack)}) {
    EXPECT_EQ(direct_size(pointer(a)), 0U);
    EXPECT_FALSE(direct_free(pointer(a)));
  }
}

TEST(DirectMap, Alignments) {
  for (std::size_t alignment = 16; alignment <= 64 * kMiB; alignment *= 4) {
    void* p = direct_alloc(kMiB, alignment);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(address(p) % alignment, 0U);
    EXPECT_GE(direct_size(p), kMiB);
    std::memset(p, 1, direct_size(p));
    EXPECT_TRUE(direct_free(p));
  }
}

TEST(DirectMap, SizesThatOverflow) {
  for (const std::size_t alignment : {kMinAlignment, kPageSize * 4}) {
    EXPECT_EQ(direct_alloc(SIZE_MAX, alignment), nullptr);
    EXPECT_EQ(direct_alloc(PTRDIFF_MAX, alignment), nullptr);
  }
}

TEST(DirectMap, TableGrowsAndForgets) {
  std::vector<void*> blocks;
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < 500; ++i) {
      blocks.push_back(direct_alloc((i % 7 + 1) * kPageSize, 16));
      ASSERT_NE(blocks.back(), nullptr);
    }
    // Every second one goes, so that deleted entries lie between live ones.
    for (std::size_t i = 0; i < blocks.size(); i += 2) ASSERT_TRUE(direct_free(blocks[i]));
    std::vector<void*> left;
    for (std::size_t i = 1; i < blocks.size(); i += 2) left.push_back(blocks[i]);
    blocks = left;
    for (void* p : blocks) ASSERT_NE(direct_size(p), 0U);
  }
  for (void* p : blocks) ASSERT_TRUE(direct_free(p));
}

TEST(DirectMap, ReallocKeepsContentAndAccount) {
  const DirectUsage before = direct_usage();
  auto* p = static_cast<char*>(direct_alloc(2 * kMiB, 16));
  ASSERT_NE(p, nullptr);
  p[0] = 'a';
  p[2 * kMiB - 1] = 'b';
  for (const std::size_t size : {30 * kMiB, 3 * kMiB, 2 * kMiB, 64 * kMiB}) {
    p = static_cast<char*>(direct_realloc(p, size));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(direct_size(p), size);
    EXPECT_EQ(p[0], 'a');
    EXPECT_EQ(p[2 * kMiB - 1], 'b');
    EXPECT_EQ(direct_usage().bytes, before.bytes + size);
    EXPECT_EQ(direct_usage().mappings, before.mappings + 1);
  }
  EXPECT_EQ(direct_realloc(p, PTRDIFF_MAX), nullptr);
  EXPECT_EQ(p[0], 'a');
  EXPECT_TRUE(direct_free(p));
  EXPECT_EQ(direct_usage().bytes, before.bytes);
}

}  // namespace
}  // namespace hakmem
