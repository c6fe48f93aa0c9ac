// Threads allocate, reallocate and free at random, hand blocks to each other, end with live blocks
// and are followed by new ones. Every byte of every block is checked. Usage: stress THREADS ROUNDS
// STEPS
#include <pthread.h>

#include <atomic>

#include "tagged.hpp"

namespace {

constexpr std::size_t kShared = 256;
constexpr std::size_t kOwn = 200;
constexpr unsigned kMaxThreads = 64;

std::atomic<void*> shared[kShared];
int steps;

void one_step(void*& slot, Random& random) {
  switch (random.below(6)) {
    case 0:
    case 1:
      check_and_free(slot);
      slot = random_block(random);
      break;
    case 2:
      slot = slot != nullptr ? random_realloc(slot, random) : random_block(random);
      break;
    case 3:
      check_and_free(slot);
      slot = nullptr;
      break;
    default:
      slot = shared[random.below(kShared)].exchange(slot);
  }
}

void* body(void* argument) {
  Random random(reinterpret_cast<std::uintptr_t>(argument));
  void* own[kOwn] = {};
  for (int i = 0; i < steps; ++i) one_step(own[random.below(kOwn)], random);
  // What is left outlives the thread, if there is room; the others free it.
  for (void* p : own) {
    if (p != nullptr && random.below(2) == 0) p = shared[random.below(kShared)].exchange(p);
    check_and_free(p);
  }
  return nullptr;
}

int number(char** argv, int i) {
  const int value = atoi(argv[i]);
  CHECK(value > 0);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 4);
  const auto threads = static_cast<unsigned>(number(argv, 1));
  const auto rounds = static_cast<unsigned>(number(argv, 2));
  CHECK(threads <= kMaxThreads);
  steps = number(argv, 3);
  // The first call comes before the first thread, as it does where pthread_create allocates.
  free(malloc(opaque<std::size_t>(1)));
  pthread_t running[kMaxThreads];
  auto start = [&](unsigned slot, unsigned round) {
    const std::uintptr_t seed = round * 1000UL + slot + 1;
    CHECK(pthread_create(&running[slot], nullptr, body, reinterpret_cast<void*>(seed)) == 0);
  };
  for (unsigned i = 0; i < threads; ++i) start(i, 0);
  // One thread after the other is replaced, so that old and new ones always run side by side.
  for (unsigned round = 1; round < rounds; ++round) {
    for (unsigned i = 0; i < threads; ++i) {
      CHECK(pthread_join(running[i], nullptr) == 0);
      start(i, round);
    }
  }
  for (unsigned i = 0; i < threads; ++i) CHECK(pthread_join(running[i], nullptr) == 0);
  for (auto& slot : shared) check_and_free(slot.exchange(nullptr));
  CHECK(malloc_trim(0) >= 0);
  return 0;
}
