// What the allocator tells of itself: statistics, balance, what was not freed, out of memory.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "statistics.hpp"

namespace {

constexpr std::size_t kOurs = 7000;     // a class that nobody else uses here
constexpr std::size_t kThreads = 5000;  // another one
constexpr std::size_t kLarge = 200000;

void keep(int count, std::size_t size) {
  for (int i = 0; i < count; ++i) CHECK(malloc(opaque(size)) != nullptr);
}

void* of_thread(void*) {
  keep(3, kThreads);
  for (int i = 0; i < 100; ++i) free(malloc(opaque(kOurs)));
  return nullptr;
}

void in_thread(void* (*body)(void*), void* argument = nullptr) {
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, body, argument) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
}

/// 7 blocks of this thread, 3 of one that has ended, and 2 large ones are never freed.
void leave() {
  keep(7, kOurs);
  for (int i = 0; i < 100; ++i) free(malloc(opaque(kOurs)));
  in_thread(of_thread);
  keep(2, kLarge);
}

void leave_and_abort() {
  leave();
  abort();
}

void leave_and_free_twice() {
  leave();
  void* p = malloc(opaque(kLarge));
  free(p);
  free(opaque(p));
}

void leave_and_signal() {
  leave();
  CHECK(raise(SIGUSR2) == 0);
  _exit(0);
}

/// The child leaves two more.
void leave_and_fork() {
  leave();
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    keep(2, kOurs);
    exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

void leave_and_ask() {
  leave();
  static char text[32768];
  const std::size_t n =
      preloaded<std::size_t(int, char*, std::size_t)>("hakmem_statistics")(1, text, sizeof text);
  CHECK(write(STDOUT_FILENO, text, n) == static_cast<ssize_t>(n));
}

constexpr int kBlocks = 2000;
void* blocks[kBlocks];

void* free_all(void*) {
  for (void* p : blocks) free(p);
  return nullptr;
}

/// What another thread frees comes back to its owner, who goes on calling malloc.
void hand_over() {
  for (int round = 0; round < 10; ++round) {
    for (void*& p : blocks) p = malloc(opaque<std::size_t>(100));
    in_thread(free_all);
  }
}

/// Until there is no more, and then a thousand times more.
void run_out() {
  constexpr std::size_t kSize = 3000;
  void** last = nullptr;
  while (void* p = malloc(opaque(kSize))) {
    *static_cast<void***>(p) = last;
    last = static_cast<void**>(p);
  }
  for (int i = 0; i < 1000; ++i) CHECK(malloc(opaque(kSize)) == nullptr && errno == ENOMEM);
  while (last != nullptr) {
    auto** next = static_cast<void**>(*last);
    free(last);
    last = next;
  }
  free(malloc(opaque(kSize)));
}

constexpr Case kCases[] = {{"leave", leave},
                           {"leave_and_abort", leave_and_abort},
                           {"leave_and_free_twice", leave_and_free_twice},
                           {"leave_and_signal", leave_and_signal},
                           {"leave_and_fork", leave_and_fork},
                           {"leave_and_ask", leave_and_ask},
                           {"hand_over", hand_over},
                           {"run_out", run_out}};

}  // namespace

int main(int argc, char** argv) { return run_cases(argc, argv, kCases); }
