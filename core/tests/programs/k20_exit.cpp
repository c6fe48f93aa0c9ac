// Kind 20: threads alive at exit, static destructors and exit handlers that allocate.
#include <pthread.h>

#include <atomic>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

std::atomic<int> running;
std::atomic<void*> exchange[32];

struct AtEnd {
  std::vector<std::string> texts{std::string(opaque<std::size_t>(3000), 'a')};
  ~AtEnd() {
    for (int i = 0; i < 1000; ++i) texts.emplace_back(opaque<std::size_t>(200), 'b');
    CHECK(texts.size() == 1001 && texts[0][2999] == 'a');
  }
};

AtEnd at_end;

void exit_handler() {
  free(realloc(malloc(opaque<std::size_t>(100)), opaque<std::size_t>(100000)));
}

void* never_ends(void* seed) {
  Random random(reinterpret_cast<std::uintptr_t>(seed));
  ++running;
  for (;;) free(exchange[random.below(32)].exchange(malloc(random.below(2000))));
}

}  // namespace

int main() {
  CHECK(atexit(exit_handler) == 0);
  for (unsigned long i = 1; i <= 3; ++i) {
    pthread_t t;
    CHECK(pthread_create(&t, nullptr, never_ends, reinterpret_cast<void*>(i)) == 0);
    CHECK(pthread_detach(t) == 0);
  }
  while (running < 3) sched_yield();
  for (int i = 0; i < 20000; ++i) free(malloc(opaque<std::size_t>(64)));
  puts("done");
  return 0;
}
