// Call sites that keep known bytes, by each way to get a block, and others that free all of theirs.
// (heap profile)
//
// sites [exit|abort|signal|fork]: how the process ends once the blocks are there.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "check.hpp"

namespace {

constexpr int kSmall = 100000;  // of 240 bytes: 24 MB
constexpr int kMedium = 1600;   // of 5000: 8 MB
constexpr int kRuns = 80;       // of 200000: 16 MB
constexpr int kAligned = 4000;  // of 1000: 4 MB

void* checked(void* p) {
  CHECK(p != nullptr);
  return opaque(p);
}

}  // namespace

extern "C" {

#define SITE [[gnu::noinline]] void*
SITE keeps_small() { return checked(malloc(opaque(std::size_t{240}))); }
SITE keeps_medium() { return checked(malloc(opaque(std::size_t{5000}))); }
SITE keeps_runs() { return checked(calloc(opaque(std::size_t{200}), 1000)); }
SITE keeps_aligned() { return checked(aligned_alloc(64, opaque(std::size_t{1000}))); }
SITE keeps_nothing(std::size_t size) { return checked(malloc(opaque(size))); }

/// 32 MB in the end, by steps that stay in place, move and become a mapping.
SITE grows() {
  void* p = nullptr;
  for (std::size_t size = 1000; size <= 32'768'000; size *= 2) {
    p = checked(realloc(p, opaque(size)));
  }
  return p;
}
}

namespace {

/// Fills the caches with blocks of the sizes that others keep.
void frees_all() {
  std::vector<void*> blocks;
  for (int i = 0; i < 50000; ++i) blocks.push_back(keeps_nothing(i % 10 == 0 ? 5000 : 240));
  for (void* p : blocks) free(p);
}

void keeps_all() {
  for (int i = 0; i < kSmall; ++i) keeps_small();
  for (int i = 0; i < kMedium; ++i) keeps_medium();
  for (int i = 0; i < kRuns; ++i) keeps_runs();
  for (int i = 0; i < kAligned; ++i) keeps_aligned();
  grows();
}

}  // namespace

int main(int, char** argv) {
  const std::string end = argv[1] != nullptr ? argv[1] : "exit";
  frees_all();
  std::thread(keeps_all).join();
  std::vector<void*> far;
  std::thread([&far] {
    for (int i = 0; i < 300; ++i) far.push_back(keeps_nothing(100000));
  }).join();
  for (void* p : far) free(p);
  if (end == "abort") abort();
  if (end == "signal") {
    raise(SIGUSR1);
    _exit(0);
  }
  if (end == "fork") {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      keeps_all();
      return 0;
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  return 0;
}
