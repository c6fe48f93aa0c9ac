// What all workloads share: a worker for each thread, with a heap, a generator, and slots for live
// blocks. A workload derives from it and adds its run().
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "harness/hakbench/heap.hpp"
#include "harness/hakbench/memory.hpp"
#include "harness/hakbench/rng.hpp"
#include "harness/hakbench/steps.hpp"

namespace hakbench {

template <class M>
struct alignas(128) Worker {
  Worker(unsigned thread, std::uint64_t seed, const Inspection& inspection)
      : heap(thread, inspection), rng(stream_seed(seed, thread)) {}

  Heap<M::kInspect> heap;
  typename M::Rng rng;
  Block* slots = nullptr;
  std::uint64_t run_ops = 0;  ///< operations of run(), without those of prepare() and drain()
};

template <class M>
class Pool {
 public:
  using Heap = hakbench::Heap<M::kInspect>;
  using Rng = typename M::Rng;

  Pool(const Plan& plan, std::size_t slots)
      : options_(plan.options),
        inspection_(plan.inspection),
        threads_(plan.options.threads()),
        slots_(slots),
        workers_(map_array<Worker<M>>(threads_)),
        times_(options_["latency"] != 0 ? map_array<CallTimes>(threads_ + 1) : nullptr) {
    for (unsigned thread = 0; thread < threads_; ++thread) {
      new (&workers_[thread]) Worker<M>(thread, 0, inspection_);
      workers_[thread].slots = map_array<Block>(slots_);
    }
  }

  /// Every pass starts from the same state: generator, ids, empty slots.
  void prepare(unsigned thread, bool /*warm_up*/) {
    Inspection inspection = inspection_;
    if (times_ != nullptr) inspection.latency = &times_[thread];
    Block* slots = workers_[thread].slots;
    new (&workers_[thread]) Worker<M>(thread, options_["seed"], inspection);
    workers_[thread].slots = slots;
    for (std::size_t i = 0; i < slots_; ++i) slots[i] = Block{};
  }

  void drain(unsigned thread) {
    Worker<M>& worker = workers_[thread];
    worker.heap.stop_timing();
    for (std::size_t i = 0; i < slots_; ++i) {
      if (worker.slots[i].address != nullptr) worker.heap.give(worker.slots[i]);
    }
  }

  void rest(unsigned /*thread*/) {}

  std::uint64_t ops() const {
    std::uint64_t sum = 0;
    for (unsigned thread = 0; thread < threads_; ++thread) sum += workers_[thread].run_ops;
    return sum;
  }

  std::uint64_t checksum() const {
    std::uint64_t sum = 0;
    for (unsigned thread = 0; thread < threads_; ++thread) sum += workers_[thread].heap.checksum();
    return sum;
  }

  const CallTimes* latency() {
    if (times_ == nullptr) return nullptr;
    CallTimes& all = times_[threads_];
    all.clear();
    for (unsigned thread = 0; thread < threads_; ++thread) all.add(times_[thread]);
    return &all;
  }

  void forget_latency() {
    if (times_ == nullptr) return;
    for (unsigned thread = 0; thread < threads_; ++thread) times_[thread].clear();
  }

  void describe(Text& /*text*/) {}

 protected:
  Worker<M>& worker(unsigned thread) { return workers_[thread]; }
  const Options& options() const { return options_; }
  unsigned threads() const { return threads_; }
  std::size_t slots() const { return slots_; }

  /// Runs `body(heap, rng, slots)` on local copies, which can live in registers, and counts.
  template <class Body>
  [[gnu::always_inline]] void with_local_copies(Worker<M>& worker, Body body) {
    Heap heap = worker.heap;
    Rng rng = worker.rng;
    const std::uint64_t before = heap.ops();
    body(heap, rng, worker.slots);
    worker.run_ops += heap.ops() - before;
    worker.heap = heap;
    worker.rng = rng;
  }

 private:
  const Options& options_;
  Inspection inspection_;
  unsigned threads_;
  std::size_t slots_;
  Worker<M>* workers_;
  CallTimes* times_;  ///< one a thread, and one for their sum
};

}  // namespace hakbench
