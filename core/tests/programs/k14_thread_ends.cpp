// Kinds 14 and 15: threads that end. Destructors that allocate, in several rounds; short lives by
// the thousand, with and without blocks that outlive them: no growth.
#include <pthread.h>

#include <cstring>
#include <string>

#include "check.hpp"

namespace {

constexpr std::size_t kSlack = std::size_t{2} << 20;

/// Runs threads one after the other; resident memory after all is that after the first tenth.
void no_growth(int threads, void* (*body)(void*), void (*after)(void* result) = nullptr) {
  std::size_t early = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_t t;
    CHECK(pthread_create(&t, nullptr, body, reinterpret_cast<void*>(static_cast<long>(i))) == 0);
    void* result = nullptr;
    CHECK(pthread_join(t, &result) == 0);
    if (after != nullptr) after(result);
    if (i == threads / 10) early = resident_bytes();
  }
  const std::size_t late = resident_bytes();
  if (late > early + kSlack) dprintf(STDERR_FILENO, "grew from %zu to %zu bytes\n", early, late);
  CHECK(late <= early + kSlack);
}

void work(std::size_t seed) {
  Random random(seed + 1);
  void* blocks[64];
  for (void*& p : blocks) {
    const std::size_t size = random.below(3000) + 1;
    p = malloc(size);
    memset(p, 1, size);
  }
  for (void* p : blocks) free(p);
}

pthread_key_t keys[40];  // beyond 32 keys glibc allocates a table for the thread
constexpr int kRounds = 4;

void on_key_end(void* argument) {
  const auto left = reinterpret_cast<std::uintptr_t>(argument);
  work(left);
  free(malloc(opaque<std::size_t>(left * 300)));
  if (left > 1) CHECK(pthread_setspecific(keys[39], reinterpret_cast<void*>(left - 1)) == 0);
}

struct AllocatesAtEnd {
  AllocatesAtEnd() : text(new std::string(opaque<std::size_t>(500), 'x')) {}
  ~AllocatesAtEnd() {
    delete text;
    work(7);
    const std::string last(opaque<std::size_t>(2000), 'y');
    CHECK(last.size() == 2000);
  }
  std::string* text;
};

thread_local AllocatesAtEnd thread_object;

void* with_destructors(void*) {
  CHECK(thread_object.text->size() == 500);
  CHECK(pthread_setspecific(keys[3], malloc(opaque<std::size_t>(100))) == 0);
  CHECK(pthread_setspecific(keys[39], reinterpret_cast<void*>(std::uintptr_t{kRounds})) == 0);
  return nullptr;
}

void destructors_that_allocate() {
  for (int i = 0; i < 40; ++i) {
    CHECK(pthread_key_create(&keys[i], i == 39 ? on_key_end : free) == 0);
  }
  no_growth(2000, with_destructors);
}

void short_lived() {
  no_growth(2000, [](void* seed) -> void* {
    work(reinterpret_cast<std::uintptr_t>(seed));
    return nullptr;
  });
}

void block_outlives_thread() {
  auto check_and_free = [](void* result) {
    CHECK(is_filled(result, 1000, 11));
    free(result);
  };
  auto body = [](void* seed) -> void* {
    work(reinterpret_cast<std::uintptr_t>(seed));
    void* p = malloc(opaque<std::size_t>(1000));
    fill(p, 1000, 11);
    return p;
  };
  no_growth(2000, body, check_and_free);
}

/// Blocks that live long, one from each of many threads: the slabs of ended threads are used again.
void long_lived_blocks() {
  static void* kept[500];
  static std::size_t n;
  n = 0;
  auto keep = [](void* result) {
    if (n < std::size(kept)) {
      kept[n++] = result;
    } else {
      free(result);
    }
  };
  auto body = [](void* seed) -> void* {
    work(reinterpret_cast<std::uintptr_t>(seed));
    void* p = malloc(opaque<std::size_t>(64));
    fill(p, 64, 12);
    return p;
  };
  no_growth(3000, body, keep);
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(is_filled(kept[i], 64, 12));
    free(kept[i]);
  }
}

void never_allocates() {
  no_growth(1000, [](void*) -> void* { return nullptr; });
}

constexpr unsigned kWave = 50;
pthread_barrier_t all_live;

/// One wave of threads that all live at once and leave a block each behind.
void wave() {
  pthread_t threads[kWave];
  for (pthread_t& t : threads) {
    auto body = [](void* seed) -> void* {
      work(reinterpret_cast<std::uintptr_t>(seed));
      pthread_barrier_wait(&all_live);
      return malloc(opaque<std::size_t>(200));
    };
    CHECK(pthread_create(&t, nullptr, body, reinterpret_cast<void*>(&t - threads)) == 0);
  }
  for (const pthread_t t : threads) {
    void* result = nullptr;
    CHECK(pthread_join(t, &result) == 0);
    free(result);
  }
}

std::size_t most_in_waves(int count) {
  std::size_t most = 0;
  for (int i = 0; i < count; ++i) {
    wave();
    const std::size_t now = resident_bytes();
    if (now > most) most = now;
  }
  return most;
}

/// Slices that are taken again before they are purged gather touched pages up to a plateau, which
/// comes sooner or later: hence the wide margin. A slab lost by each thread would be ten times as
/// much.
void waves() {
  CHECK(pthread_barrier_init(&all_live, nullptr, kWave) == 0);
  const std::size_t early = most_in_waves(50);
  CHECK(most_in_waves(50) <= early + 8 * kSlack);
}

/// As many short-lived threads as the second argument says, for the count of system calls.
void counted() {
  const int threads = atoi(getenv("THREADS"));
  for (int i = 0; i < threads; ++i) {
    pthread_t t;
    auto body = [](void* seed) -> void* {
      work(reinterpret_cast<std::uintptr_t>(seed));
      return nullptr;
    };
    CHECK(pthread_create(&t, nullptr, body, nullptr) == 0);
    CHECK(pthread_join(t, nullptr) == 0);
  }
}

constexpr Case kCases[] = {{"destructors_that_allocate", destructors_that_allocate},
                           {"short_lived", short_lived},
                           {"block_outlives_thread", block_outlives_thread},
                           {"long_lived_blocks", long_lived_blocks},
                           {"never_allocates", never_allocates},
                           {"waves", waves},
                           {"counted", counted}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
