// Kind 13: fork in a threaded program. The child mallocs, frees the parent's blocks, starts
// threads.
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>

#include <atomic>

#include "check.hpp"

namespace {

constexpr int kWorkers = 3;

constexpr int kSharedBlocks = 64;
constexpr std::size_t kSizes[] = {8, 40, 200, 700, 1000, 3000, 20000, 50000, 300000, 33 << 20};

std::atomic<bool> stop;
std::atomic<void*> exchange[kSharedBlocks];  // workers free what others allocated

void churn(Random& random, int steps) {
  for (int i = 0; i < steps; ++i) {
    const std::size_t size = kSizes[random.below(random.below(50) == 0 ? std::size(kSizes) : 8)];
    void* p = malloc(size);
    CHECK(p != nullptr);
    static_cast<char*>(p)[0] = 1;
    static_cast<char*>(p)[size - 1] = 1;
    free(exchange[random.below(kSharedBlocks)].exchange(p));
  }
}

void* worker(void* argument) {
  Random random(reinterpret_cast<std::uintptr_t>(argument));
  while (!stop.load(std::memory_order_relaxed)) {
    churn(random, 200);
    malloc_trim(0);
    usleep(200);  // leaves the CPU to the children
  }
  return nullptr;
}

void* child_thread(void* argument) {
  Random random(reinterpret_cast<std::uintptr_t>(argument) + 1000);
  churn(random, 300);
  return nullptr;
}

[[noreturn]] void child(void* const* parents, std::size_t count, unsigned seed) {
  alarm(60);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(is_filled(parents[i], kSizes[i % 9], static_cast<unsigned>(i)));
    free(parents[i]);
  }
  // What gone threads owned.
  for (auto& slot : exchange) free(slot.exchange(nullptr));
  Random random(seed);
  churn(random, 500);
  if (seed % 4 == 0) {
    pthread_t threads[2];
    for (pthread_t& t : threads) {
      CHECK(pthread_create(&t, nullptr, child_thread, reinterpret_cast<void*>(seed + 1UL)) == 0);
    }
    for (const pthread_t t : threads) CHECK(pthread_join(t, nullptr) == 0);
  }
  if (seed % 16 == 0) {
    const pid_t pid = fork();
    if (pid == 0) {
      churn(random, 100);
      _exit(0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  malloc_trim(0);
  // exit, not _exit: destructors and atexit handlers run in children too.
  exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const int forks = argc > 1 ? atoi(argv[1]) : 100;
  pthread_t threads[kWorkers];
  for (unsigned long i = 0; i < kWorkers; ++i) {
    CHECK(pthread_create(&threads[i], nullptr, worker, reinterpret_cast<void*>(i + 1)) == 0);
  }
  constexpr std::size_t kBlocks = 90;
  void* blocks[kBlocks];
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks[i] = malloc(opaque(kSizes[i % 9]));
    fill(blocks[i], kSizes[i % 9], static_cast<unsigned>(i));
  }
  for (unsigned i = 0; i < static_cast<unsigned>(forks); ++i) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) child(blocks, kBlocks, i);
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (status != 0)
      dprintf(STDERR_FILENO, "child %u: status %#x\n", i, static_cast<unsigned>(status));
    CHECK(status == 0);
  }
  stop = true;
  for (const pthread_t t : threads) CHECK(pthread_join(t, nullptr) == 0);
  for (std::size_t i = 0; i < kBlocks; ++i) {
    CHECK(is_filled(blocks[i], kSizes[i % 9], static_cast<unsigned>(i)));
    free(blocks[i]);
  }
  for (auto& slot : exchange) free(slot.exchange(nullptr));
  return 0;
}
