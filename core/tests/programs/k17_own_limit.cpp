// Kind 17: a program that limits its own address space after the allocator has started goes on: it
// gets stacks, threads and mappings within the limit, and NULL with ENOMEM beyond it.
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "statistics.hpp"

namespace {

constexpr rlim_t kMiB = 1 << 20;
constexpr rlim_t kLimit = 192 * kMiB;
constexpr rlimit kWanted{kLimit, RLIM_INFINITY};
constexpr int kBlocks = 4096;
void* blocks[kBlocks];

/// More stack than the process has touched so far.
void deep(int depth) {
  volatile char frame[64 * 1024];
  frame[0] = static_cast<char>(depth);
  if (depth > 0) deep(depth - 1);
  frame[1] = frame[0];
}

void* in_thread(void*) {
  void* p = malloc(opaque<std::size_t>(3000));
  CHECK(p != nullptr);
  return p;
}

/// All that the limit allows can be had, then NULL, and after that what was freed.
void fill_up(std::size_t size) {
  int n = 0;
  errno = 0;
  for (; n < kBlocks && (blocks[n] = malloc(opaque(size))) != nullptr; ++n) {
    memset(blocks[n], n, size);
  }
  CHECK(n == kBlocks || errno == ENOMEM);
  CHECK(n == kBlocks || static_cast<std::size_t>(n) * size > 16 * kMiB);
  for (int i = 0; i < n; ++i) free(blocks[i]);
  void* p = malloc(opaque(size));
  CHECK(p != nullptr);
  free(p);
}

void life_goes_on() {
  deep(60);
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, in_thread, nullptr) == 0);
  void* of_thread = nullptr;
  CHECK(pthread_join(thread, &of_thread) == 0);
  free(of_thread);
  void* mapping = mmap(nullptr, 50 * kMiB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapping != MAP_FAILED);
  CHECK(munmap(mapping, 50 * kMiB) == 0);
  rlimit limit;
  CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  CHECK(malloc(opaque(std::size_t{limit.rlim_cur})) == nullptr && errno == ENOMEM);
  for (const std::size_t size : Sizes{100, 3000, 200000, 20 * kMiB}) fill_up(size);
}

/// Started, with a block of each kind out that stays good.
template <class Limit>
void after(Limit limit) {
  void* small = malloc(opaque<std::size_t>(100));
  void* large = malloc(opaque<std::size_t>(100000));
  fill(small, 100, 1);
  fill(large, 100000, 2);
  CHECK(limit() == 0);
  life_goes_on();
  CHECK(is_filled(small, 100, 1) && is_filled(large, 100000, 2));
  free(small);
  free(large);
}

// By name: a header may turn setrlimit into setrlimit64.
int set(const char* name) { return preloaded<int(int, const rlimit*)>(name)(RLIMIT_AS, &kWanted); }
int set_of(pid_t pid, const char* name) {
  return preloaded<int(pid_t, int, const rlimit*, rlimit*)>(name)(pid, RLIMIT_AS, &kWanted,
                                                                  nullptr);
}

/// Nothing can be had from the system then, but what the heap has is still good.
void lower_than_what_is_in_use() {
  for (void*& p : blocks) CHECK((p = malloc(opaque<std::size_t>(1000))) != nullptr);
  for (void* p : blocks) free(p);
  constexpr rlimit kTiny{kMiB, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_AS, &kTiny) == 0);
  for (void*& p : blocks) CHECK((p = malloc(opaque<std::size_t>(1000))) != nullptr);
  CHECK(malloc(opaque<std::size_t>(100 * kMiB)) == nullptr && errno == ENOMEM);
  for (void* p : blocks) free(p);
}

/// Lowered, raised again, lowered again.
void twice() {
  after([] { return setrlimit(RLIMIT_AS, &kWanted); });
  constexpr rlimit kNone{RLIM_INFINITY, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_AS, &kNone) == 0);
  void* p = malloc(opaque<std::size_t>(600 * kMiB));
  CHECK(p != nullptr);
  free(p);
  after([] {
    constexpr rlimit kAgain{2 * kLimit, RLIM_INFINITY};  // what the heap has had counts from now on
    return setrlimit(RLIMIT_AS, &kAgain);
  });
}

constexpr Case kCases[] = {
    {"setrlimit", [] { after([] { return set("setrlimit"); }); }},
    {"setrlimit64", [] { after([] { return set("setrlimit64"); }); }},
    {"prlimit", [] { after([] { return set_of(0, "prlimit"); }); }},
    {"prlimit64", [] { after([] { return set_of(getpid(), "prlimit64"); }); }},
    {"lower_than_what_is_in_use", lower_than_what_is_in_use},
    {"twice", twice}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
