// The futex lock.
#include "base/lock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hakmem {
namespace {

TEST(Lock, ExcludesThreads) {
  Lock lock;
  long counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50000; ++i) {
        Guard guard(lock);
        ++counter;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 200000);
}

TEST(Lock, TryLock) {
  Lock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(Lock, ASleeperIsWoken) {
  Lock lock;
  lock.lock();
  std::atomic<bool> got{false};
  std::thread waiter([&] {
    Guard guard(lock);
    got = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(got);
  lock.unlock();
  waiter.join();
  EXPECT_TRUE(got);
}

TEST(Lock, ResetOpens) {
  Lock lock;
  lock.lock();
  lock.reset();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

}  // namespace
}  // namespace hakmem
