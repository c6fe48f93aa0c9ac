// Slices from the arena: alignment, neighbours, what is zero, what is purged. The process's own
// heap lives in the same arena, so nothing is said of exact places.
#include "slab/arena.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace hakmem {
namespace {

std::byte* memory(const Run& run) { return start_of(run.record); }

class Arena : public testing::Test {
 protected:
  // The heap must be up before its arena can be used.
  void SetUp() override { std::free(std::malloc(1)); }
};

TEST_F(Arena, RunsAreWritableAndApart) {
  std::vector<hakmem::Run> runs;
  for (std::uint32_t slices = 1; slices <= 130; slices += 7) {
    runs.push_back(arena_alloc(slices, 1));
    ASSERT_NE(runs.back().record, nullptr);
    std::memset(memory(runs.back()), static_cast<int>(slices), slices * kSliceSize);
  }
  std::uint32_t slices = 1;
  for (const hakmem::Run& run : runs) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(memory(run));
    for (std::size_t i = 0; i < slices * kSliceSize; i += 512) ASSERT_EQ(bytes[i], slices);
    arena_release(run.record, slices);
    slices += 7;
  }
}

TEST_F(Arena, AlignmentInSlices) {
  for (const std::uint32_t alignment : {1U, 2U, 4U, 16U, 64U}) {
    const hakmem::Run run = arena_alloc(3, alignment);
    ASSERT_NE(run.record, nullptr);
    EXPECT_EQ(address(memory(run)) % (alignment * kSliceSize), 0U);
    arena_release(run.record, 3);
  }
}

TEST_F(Arena, FindLeadsBackFromEveryByte) {
  const hakmem::Run run = arena_alloc(5, 1);
  ASSERT_NE(run.record, nullptr);
  for (std::size_t i = 0; i < 5 * kSliceSize; i += 1000) {
    const Place place = arena_find(memory(run) + i);
    EXPECT_EQ(place.record, run.record + i / kSliceSize);
    EXPECT_EQ(place.route, &route_of(place.record));
    EXPECT_EQ(place.route->load(), kRouteFree);
  }
  arena_release(run.record, 5);
}

TEST_F(Arena, FindRefusesWhatIsOutside) {
  static int object;
  int on_stack = 0;
  for (const void* p :
       {static_cast<const void*>(&object), static_cast<const void*>(&on_stack),
        static_cast<const void*>(nullptr), static_cast<const void*>(pointer(~0UL))}) {
    EXPECT_EQ(arena_find(p).record, nullptr);
  }
}

TEST_F(Arena, ZeroedIsZero) {
  for (int round = 0; round < 3; ++round) {
    const hakmem::Run run = arena_alloc(40, 1);
    ASSERT_NE(run.record, nullptr);
    if (run.zeroed) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(memory(run));
      for (std::size_t i = 0; i < 40 * kSliceSize; ++i) ASSERT_EQ(bytes[i], 0);
    }
    std::memset(memory(run), 0xAB, 40 * kSliceSize);
    arena_release(run.record, 40);
    if (round == 1) {
      EXPECT_GE(arena_purge(0, 0), 40U);
    }
  }
}

TEST_F(Arena, UsedAgainIsNotCalledZero) {
  const hakmem::Run run = arena_alloc(1, 1);
  ASSERT_NE(run.record, nullptr);
  std::byte* start = memory(run);
  std::memset(start, 0xAB, kSliceSize);
  arena_release(run.record, 1);
  const hakmem::Run again = arena_alloc(1, 1);
  EXPECT_FALSE(memory(again) == start && again.zeroed);
  arena_release(again.record, 1);
}

TEST_F(Arena, PurgeGivesPagesBack) {
  const hakmem::Run run = arena_alloc(64, 1);
  ASSERT_NE(run.record, nullptr);
  std::memset(memory(run), 1, 64 * kSliceSize);
  arena_release(run.record, 64);
  EXPECT_TRUE(arena_purge_wanted());
  EXPECT_GE(arena_purge(0, 0), 64U);
  static unsigned char resident[64 * kSliceSize / kPageSize];
  ASSERT_EQ(mincore(memory(run), 64 * kSliceSize, resident), 0);
  for (const unsigned char page : resident) ASSERT_EQ(page & 1, 0);
  EXPECT_EQ(arena_purge(0, 0), 0U);
}

TEST_F(Arena, LockedMemoryIsNotCalledZero) {
  const hakmem::Run run = arena_alloc(2, 1);
  ASSERT_NE(run.record, nullptr);
  std::byte* start = memory(run);
  std::memset(start, 0xAB, 2 * kSliceSize);
  if (mlock(start, 2 * kSliceSize) != 0) GTEST_SKIP() << "no memory may be locked here";
  arena_release(run.record, 2);
  arena_purge(0, 0);
  const hakmem::Run again = arena_alloc(2, 1);
  EXPECT_TRUE(memory(again) != start || !again.zeroed);
  munlock(start, 2 * kSliceSize);
  arena_release(again.record, 2);
}

TEST_F(Arena, ExtendStopsAtTheNeighbour) {
  const hakmem::Run first = arena_alloc(200, 1);
  ASSERT_NE(first.record, nullptr);
  // Cut in two: what lies behind the first part is taken.
  arena_release(first.record + 50, 50);
  EXPECT_TRUE(arena_extend(first.record, 50, 60));
  EXPECT_FALSE(arena_extend(first.record, 60, 150));
  std::memset(memory(first), 1, 60 * kSliceSize);
  arena_release(first.record, 60);
  arena_release(first.record + 100, 100);
}

TEST_F(Arena, UsageFollows) {
  const ArenaUsage before = arena_usage();
  const hakmem::Run run = arena_alloc(10, 1);
  EXPECT_EQ(arena_usage().used_bytes, before.used_bytes + 10 * kSliceSize);
  EXPECT_LE(arena_usage().committed_bytes, arena_usage().reserved_bytes);
  arena_release(run.record, 10);
  EXPECT_EQ(arena_usage().used_bytes, before.used_bytes);
}

TEST_F(Arena, MoreThanThereIsIsRefused) {
  const ArenaUsage before = arena_usage();
  EXPECT_EQ(arena_alloc(UINT32_MAX / 2, 1).record, nullptr);
  EXPECT_EQ(arena_usage().used_bytes, before.used_bytes);
}

}  // namespace
}  // namespace hakmem
