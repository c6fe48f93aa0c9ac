// Kind 24: memory goes back after a peak: by itself after some calls, and nearly all by
// malloc_trim.
#include <malloc.h>
#include <time.h>

#include "check.hpp"

namespace {

constexpr int kBlocks = 400000;
void* blocks[kBlocks];

/// Long enough for the purge delay's default to pass several times.
void idle_calls() {
  for (int i = 0; i < 40; ++i) {
    for (int k = 0; k < 500; ++k) blocks[k] = malloc(opaque<std::size_t>(100));
    for (int k = 0; k < 500; ++k) free(blocks[k]);
    const timespec pause{0, 10000000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

/// Argument "never": nothing has to go back by itself, since the options forbid it.
int main(int argc, char**) {
  const bool by_itself = argc < 2;
  const std::size_t start = resident_bytes();
  Random random(24);
  for (void*& p : blocks) {
    const std::size_t size = random.below(500) + 1;
    p = malloc(size);
    CHECK(p != nullptr);
    memset(p, 1, size);
  }
  const std::size_t peak = resident_bytes() - start;
  CHECK(peak > std::size_t{50} << 20);
  for (int i = kBlocks - 1; i > 0; --i) {
    std::swap(blocks[i], blocks[random.below(static_cast<std::size_t>(i) + 1)]);
  }
  for (void* p : blocks) free(p);
  idle_calls();
  const std::size_t rest = resident_bytes() - start;
  dprintf(STDOUT_FILENO, "peak %zu KiB, after idle calls %zu KiB\n", peak >> 10, rest >> 10);
  if (by_itself) CHECK(rest < peak / 2);
  malloc_trim(0);
  const std::size_t trimmed = resident_bytes() - start;
  dprintf(STDOUT_FILENO, "after malloc_trim %zu KiB\n", trimmed >> 10);
  CHECK(trimmed < peak * 15 / 100);
  return 0;
}
