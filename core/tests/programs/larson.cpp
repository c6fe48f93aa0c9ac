// After Larson and Krishnan: each thread replaces blocks in its array for a while, then hands the
// array to a new thread and ends. Resident memory may not grow after the first quarter. Usage:
// larson THREADS GENERATIONS STEPS
#include <pthread.h>

#include "tagged.hpp"

namespace {

constexpr std::size_t kBlocks = 1000;
constexpr unsigned kMaxThreads = 64;
constexpr std::size_t kSlack = std::size_t{8} << 20;

struct Chain {
  void* blocks[kBlocks];
  unsigned number;
  unsigned generation;
  pthread_t last;
};

Chain chains[kMaxThreads];
unsigned generations;
int steps;

std::size_t small_size(Random& random) { return sizeof(Tag) + random.below(500); }

void* body(void* argument) {
  auto& chain = *static_cast<Chain*>(argument);
  Random random(chain.number * 7919UL + chain.generation);
  for (int i = 0; i < steps; ++i) {
    void*& slot = chain.blocks[random.below(kBlocks)];
    check_and_free(slot);
    const std::size_t size = small_size(random);
    write_tag(slot = malloc(size), size, static_cast<unsigned>(random.next()));
  }
  return nullptr;
}

void start(Chain& chain) { CHECK(pthread_create(&chain.last, nullptr, body, &chain) == 0); }

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 4);
  const auto threads = static_cast<unsigned>(atoi(argv[1]));
  generations = static_cast<unsigned>(atoi(argv[2]));
  steps = atoi(argv[3]);
  CHECK(threads > 0 && threads <= kMaxThreads && generations > 4 && steps > 0);
  for (unsigned i = 0; i < threads; ++i) {
    chains[i].number = i;
    start(chains[i]);
  }
  std::size_t early = 0;
  for (unsigned generation = 1; generation < generations; ++generation) {
    for (unsigned i = 0; i < threads; ++i) {
      CHECK(pthread_join(chains[i].last, nullptr) == 0);
      chains[i].generation = generation;
      start(chains[i]);
    }
    if (generation == generations / 4) early = resident_bytes();
  }
  for (unsigned i = 0; i < threads; ++i) {
    CHECK(pthread_join(chains[i].last, nullptr) == 0);
  }
  const std::size_t late = resident_bytes();
  printf("resident: %zu KiB after a quarter, %zu KiB at the end\n", early >> 10, late >> 10);
  CHECK(late <= early + kSlack);
  for (unsigned i = 0; i < threads; ++i) {
    for (void* p : chains[i].blocks) check_and_free(p);
  }
  return 0;
}
