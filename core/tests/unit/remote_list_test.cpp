// Remote frees: many threads push chains, the owner takes all; each block arrives once, and exactly
// one push of those between two takes is told that the list was empty.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "slab/slab.hpp"

namespace hakmem {
namespace {

Chain chain_of(Block* blocks, std::uint32_t count) {
  Chain chain;
  for (std::uint32_t i = 0; i < count; ++i) chain.append({&blocks[i], &blocks[i], 1});
  chain.tail->next = nullptr;
  return chain;
}

std::vector<Block*> blocks_of(const RemoteList::List& list) {
  std::vector<Block*> found;
  Block* block = list.head;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    found.push_back(block);
    block = block->next;
  }
  EXPECT_EQ(block, nullptr);
  return found;
}

TEST(RemoteList, StartsEmpty) {
  RemoteList list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.take().count, 0U);
}

TEST(RemoteList, FirstPushIsTold) {
  Block blocks[5];
  RemoteList list;
  EXPECT_TRUE(list.push(chain_of(blocks, 2)));
  EXPECT_FALSE(list.push(chain_of(blocks + 2, 1)));
  EXPECT_FALSE(list.empty());
  const auto taken = list.take();
  EXPECT_EQ(blocks_of(taken).size(), 3U);
  EXPECT_TRUE(list.empty());
  EXPECT_TRUE(list.push(chain_of(blocks + 3, 2)));
}

TEST(RemoteList, CountsToASlabsCapacity) {
  // The length stands in 16 bits: more blocks than a slab can hold must not be needed.
  std::uint32_t most = 0;
  for (unsigned cls = 0; cls < kClassCount; ++cls) most = std::max(most, class_info(cls).capacity);
  ASSERT_LT(most, 1U << 16);
  std::vector<Block> blocks(most);
  RemoteList list;
  for (std::uint32_t i = 0; i < most; ++i) list.push(chain_of(&blocks[i], 1));
  const auto taken = list.take();
  EXPECT_EQ(taken.count, most);
  EXPECT_EQ(blocks_of(taken).size(), most);
}

TEST(RemoteList, ThreadsLoseNothing) {
  constexpr std::size_t kThreads = 3;
  constexpr std::size_t kEach = 20000;
  std::vector<Block> blocks(kThreads * kEach);
  RemoteList list;
  std::atomic<unsigned> told{0};
  std::atomic<unsigned> running{kThreads};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kEach;) {
        const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(1 + i % 5, kEach - i));
        if (list.push(chain_of(&blocks[t * kEach + i], n))) ++told;
        i += n;
      }
      --running;
    });
  }
  std::set<Block*> seen;
  unsigned takes = 0;
  auto take = [&] {
    const auto found = blocks_of(list.take());
    takes += !found.empty();
    seen.insert(found.begin(), found.end());
  };
  while (running > 0) take();
  take();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), blocks.size());
  EXPECT_EQ(told, takes);
}

}  // namespace
}  // namespace hakmem
