// thread_churn: short-lived threads whose blocks outlive them.
//
// Each line has one thread alive at a time. It frees what its predecessor left, fills all slots,
// frees every second block, and ends; the next one starts when it has been joined. Making and
// ending threads is inside the measured region: it is what the workload is about.
#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/team.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

template <class M>
class ThreadChurn : public Pool<M> {
 public:
  explicit ThreadChurn(const Plan& plan)
      : Pool<M>(plan, plan.options["objects"]),
        rounds_(plan.options["rounds"]),
        sizes_(plan.options) {}

  void run(unsigned thread) {
    Life life{this, &this->worker(thread)};
    for (std::uint64_t round = 0; round < rounds_; ++round) {
      pthread_t child;
      start_thread(&child, false, live, &life);
      pthread_join(child, nullptr);
    }
  }

  void describe(Text& text) { text << "\"threads_per_pass\": " << rounds_ * this->threads(); }

 private:
  struct Life {
    ThreadChurn* churn;
    Worker<M>* worker;
  };

  static void* live(void* argument) {
    const Life& life = *static_cast<Life*>(argument);
    life.churn->take_and_give(*life.worker);
    return nullptr;
  }

  void take_and_give(Worker<M>& worker) {
    this->with_local_copies(worker, [&](auto& heap, auto& rng, Block* slots) {
      for (std::size_t i = 0; i < this->slots(); ++i) {
        if (slots[i].address != nullptr) heap.give(slots[i]);
        slots[i] = heap.take(sizes_(low_half(rng.next())));
      }
      for (std::size_t i = 1; i < this->slots(); i += 2) heap.give(slots[i]);
    });
  }

  std::uint64_t rounds_;
  UniformSizes sizes_;
};

}  // namespace

Steps build_thread_churn(const Plan& plan) { return build<ThreadChurn>(plan); }

}  // namespace hakbench
