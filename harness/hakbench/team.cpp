#include "harness/hakbench/team.hpp"

#include <algorithm>

#include "harness/hakbench/clock.hpp"
#include "harness/hakbench/failure.hpp"
#include "harness/hakbench/memory.hpp"

namespace hakbench {

namespace {
constexpr std::size_t kStackBytes = 256 << 10;
}

struct alignas(128) Team::Member {
  Team* team;
  unsigned index;
  pthread_t thread;
  std::uint64_t start_ns;
  std::uint64_t finish_ns;
  std::uint64_t drained_ns;
};

void start_thread(pthread_t* thread, bool detached, void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  if (detached) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (pthread_create(thread, &attributes, body, argument) != 0) fail_system("pthread_create");
  pthread_attr_destroy(&attributes);
}

Team::Team(unsigned threads, const Steps& steps, void (*at_warm_up)())
    : steps_(steps),
      at_warm_up_(at_warm_up),
      threads_(threads),
      members_(map_array<Member>(threads)) {
  if (threads_ > 1) pthread_barrier_init(&barrier_, nullptr, threads_ + 1);
  for (unsigned index = 0; index < threads_; ++index) {
    members_[index].team = this;
    members_[index].index = index;
    if (threads_ > 1) start_thread(&members_[index].thread, false, body, &members_[index]);
  }
}

Team::~Team() {
  if (threads_ == 1) return;
  over_ = true;
  meet();
  for (unsigned index = 0; index < threads_; ++index) {
    pthread_join(members_[index].thread, nullptr);
  }
  pthread_barrier_destroy(&barrier_);
}

void* Team::body(void* argument) {
  Member& member = *static_cast<Member*>(argument);
  Team& team = *member.team;
  for (;;) {
    team.meet();
    if (team.over_) return nullptr;
    team.act(member);
  }
}

/// A pass as one thread sees it. pass() meets the others as often.
void Team::act(Member& member) {
  if (warm_up_ && at_warm_up_ != nullptr) at_warm_up_();
  steps_.prepare(steps_.workload, member.index, warm_up_);
  meet();
  member.start_ns = now_ns();
  steps_.run(steps_.workload, member.index);
  member.finish_ns = now_ns();
  meet();
  steps_.drain(steps_.workload, member.index);
  member.drained_ns = now_ns();
  meet();
  steps_.rest(steps_.workload, member.index);
  meet();
}

PassTimes Team::pass(bool warm_up) {
  warm_up_ = warm_up;
  if (threads_ == 1) {
    act(members_[0]);
  } else {
    for (int i = 0; i < 5; ++i) meet();
  }
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  std::uint64_t drained = 0;
  for (unsigned index = 0; index < threads_; ++index) {
    first = std::min(first, members_[index].start_ns);
    last = std::max(last, members_[index].finish_ns);
    drained = std::max(drained, members_[index].drained_ns);
  }
  return {last - first, drained - last};
}

}  // namespace hakbench
