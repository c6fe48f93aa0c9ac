// The threads of a run: they are made once and go through the passes together. One thread means the
// main thread: then no other is ever made.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "harness/hakbench/steps.hpp"

namespace hakbench {

struct PassTimes {
  std::uint64_t run_ns;    ///< from the first start behind the barrier to the last finish
  std::uint64_t drain_ns;  ///< until the last thread has given back all
};

/// Threads get small stacks, so that many of them fit a limited address space.
void start_thread(pthread_t* thread, bool detached, void* (*body)(void*), void* argument);

class Team {
 public:
  /// `at_warm_up`, where given, is called by each thread at the start of a pass that warms up.
  Team(unsigned threads, const Steps& steps, void (*at_warm_up)() = nullptr);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// One pass by all threads.
  PassTimes pass(bool warm_up);

 private:
  struct Member;

  static void* body(void* argument);
  void act(Member& member);
  void meet() {
    if (threads_ > 1) pthread_barrier_wait(&barrier_);
  }

  Steps steps_;
  void (*at_warm_up_)();
  unsigned threads_;
  Member* members_;
  pthread_barrier_t barrier_;
  bool warm_up_ = false;  ///< written by the main thread before the barrier that starts a pass
  bool over_ = false;     ///< as warm_up_
};

}  // namespace hakbench
