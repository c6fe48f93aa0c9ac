#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "harness/schedule.hpp"

namespace hakmem::harness {
namespace {

TEST(Schedule, EachArmStandsInEachSlotEquallyOften) {
  for (std::size_t arms = 1; arms <= 6; ++arms) {
    for (std::size_t blocks = 1; blocks <= 25; ++blocks) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto orders = balanced_orders(arms, blocks, seed);
        ASSERT_EQ(orders.size(), blocks);
        std::vector<std::vector<long>> count(arms, std::vector<long>(arms));
        for (const auto& order : orders) {
          auto sorted = order;
          std::sort(sorted.begin(), sorted.end());
          for (std::size_t i = 0; i < arms; ++i) ASSERT_EQ(sorted[i], i);
          for (std::size_t slot = 0; slot < arms; ++slot) ++count[order[slot]][slot];
        }
        const long share = static_cast<long>(blocks / arms);
        for (const auto& row : count) {
          for (const long times : row) {
            ASSERT_GE(times, share);
            ASSERT_LE(times, share + 1);
          }
        }
      }
    }
  }
}

TEST(Schedule, SeedDecidesAndOnlyTheSeed) {
  EXPECT_EQ(balanced_orders(3, 10, 1), balanced_orders(3, 10, 1));
  std::set<std::vector<std::vector<std::size_t>>> different;
  for (std::uint64_t seed = 0; seed < 20; ++seed) different.insert(balanced_orders(3, 10, seed));
  EXPECT_GT(different.size(), 15U);
}

TEST(Schedule, FirstSlotIsNotAlwaysTheSameArm) {
  std::set<std::size_t> first;
  for (std::uint64_t seed = 0; seed < 20; ++seed) first.insert(balanced_orders(2, 1, seed)[0][0]);
  EXPECT_EQ(first.size(), 2U);
}

TEST(Schedule, AnArmNowAndThenIsSpreadEvenlyInAnySlot) {
  std::set<std::size_t> slots;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto orders = balanced_orders(2, 10, seed);
    const auto before = orders;
    add_now_and_then(&orders, 2, 5, 10, seed);
    for (std::size_t block = 0; block < orders.size(); ++block) {
      std::vector<std::size_t>& order = orders[block];
      const auto found = std::find(order.begin(), order.end(), 2U);
      ASSERT_EQ(found != order.end(), block % 2 == 0);
      if (found == order.end()) continue;
      slots.insert(static_cast<std::size_t>(found - order.begin()));
      order.erase(found);
    }
    ASSERT_EQ(orders, before);
  }
  EXPECT_EQ(slots.size(), 3U);
}

TEST(Schedule, AnArmNowAndThenInFewBlocksIsInAllOfThem) {
  auto orders = balanced_orders(2, 3, 1);
  add_now_and_then(&orders, 2, 5, 3, 1);
  for (const auto& order : orders) EXPECT_EQ(order.size(), 3U);
}

TEST(Schedule, AnArmNowAndThenKeepsToTheFirstBlocks) {
  auto orders = balanced_orders(2, 80, 1);
  add_now_and_then(&orders, 2, 5, 10, 1);
  for (std::size_t block = 0; block < orders.size(); ++block) {
    EXPECT_EQ(orders[block].size(), block < 10 && block % 2 == 0 ? 3U : 2U);
  }
}

TEST(Random, BelowIsUniformEnough) {
  Random random(7);
  std::vector<int> count(5);
  for (int i = 0; i < 50'000; ++i) ++count[random.below(5)];
  for (const int times : count) EXPECT_NEAR(times, 10'000, 500);
}

}  // namespace
}  // namespace hakmem::harness
