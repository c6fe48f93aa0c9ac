// Kind 16: one thread allocates, another frees: memory stays at what is live plus a constant.
#include <pthread.h>

#include <atomic>

#include "check.hpp"

namespace {

constexpr std::size_t kSlots = 1024;
constexpr std::size_t kLargestBlock = 1000;
constexpr std::size_t kSlack = std::size_t{4} << 20;

/// A ring of one producer and one consumer, outside the heap.
struct Ring {
  std::atomic<void*> slots[kSlots];
  std::size_t head = 0;  // producer's
  std::size_t tail = 0;  // consumer's

  void put(void* p) {
    std::atomic<void*>& slot = slots[head++ % kSlots];
    while (slot.load(std::memory_order_acquire) != nullptr) sched_yield();
    slot.store(p, std::memory_order_release);
  }

  void* take() {
    std::atomic<void*>& slot = slots[tail++ % kSlots];
    void* p;
    while ((p = slot.exchange(nullptr, std::memory_order_acquire)) == nullptr) sched_yield();
    return p;
  }
};

Ring ring;
char end_mark;
bool consumer_allocates;
int producer_rounds;

void* produce(void* seed) {
  Random random(reinterpret_cast<std::uintptr_t>(seed));
  for (int i = 0; i < producer_rounds; ++i) {
    const std::size_t size = random.below(kLargestBlock) + 1;
    void* p = malloc(size);
    CHECK(p != nullptr);
    memset(p, 1, size);
    ring.put(p);
  }
  return nullptr;
}

std::size_t highest;

void* consume(void*) {
  std::size_t taken = 0;
  for (;;) {
    void* p = ring.take();
    if (p == &end_mark) return nullptr;
    free(p);
    if (consumer_allocates && taken % 3 == 0) free(malloc(opaque<std::size_t>(50)));
    if (++taken % 20000 == 0) {
      const std::size_t now = resident_bytes();
      if (now > highest) highest = now;
    }
  }
}

void bounded(bool allocates, int producers, int rounds) {
  consumer_allocates = allocates;
  producer_rounds = rounds;
  highest = 0;
  const std::size_t start = resident_bytes();
  pthread_t consumer;
  CHECK(pthread_create(&consumer, nullptr, consume, nullptr) == 0);
  for (unsigned long i = 1; i <= static_cast<unsigned long>(producers); ++i) {
    pthread_t producer;
    CHECK(pthread_create(&producer, nullptr, produce, reinterpret_cast<void*>(i)) == 0);
    CHECK(pthread_join(producer, nullptr) == 0);
  }
  ring.put(&end_mark);
  CHECK(pthread_join(consumer, nullptr) == 0);
  const std::size_t live = kSlots * kLargestBlock;
  if (highest > start + live + kSlack) {
    dprintf(STDERR_FILENO, "from %zu to %zu bytes\n", start, highest);
  }
  CHECK(highest <= start + live + kSlack);
}

void consumer_never_allocates() { bounded(false, 1, 400000); }
void consumer_also_allocates() { bounded(true, 1, 400000); }
void producers_exit() { bounded(false, 200, 2000); }

constexpr Case kCases[] = {{"consumer_never_allocates", consumer_never_allocates},
                           {"consumer_also_allocates", consumer_also_allocates},
                           {"producers_exit", producers_exit}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
