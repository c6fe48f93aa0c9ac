// What a workload gives to the driver. A pass is prepare, run, drain, rest; only run is measured.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>

#include "harness/hakbench/heap.hpp"
#include "harness/hakbench/memory.hpp"
#include "harness/hakbench/options.hpp"
#include "harness/hakbench/rng.hpp"
#include "harness/hakbench/text.hpp"

namespace hakbench {

/// What the workloads' constructor gets.
struct Plan {
  const Options& options;
  Inspection inspection;  ///< without call times: each thread has its own
};

/// A workload. Member functions with `thread` are called by that thread, all threads at once; the
/// others by the main thread, when the threads are at rest.
template <class W>
concept WorkloadCode = requires(W workload, unsigned thread, bool flag, Text& text) {
  workload.prepare(thread, flag);  // reseeds; `flag`: this pass warms up and is not measured
  workload.run(thread);
  workload.drain(thread);                                    // gives back what is left
  workload.rest(thread);                                     // pause before the next pass
  { workload.ops() } -> std::same_as<std::uint64_t>;         // of the pass's run, all threads
  { workload.checksum() } -> std::same_as<std::uint64_t>;    // of the pass, all threads
  { workload.latency() } -> std::same_as<const CallTimes*>;  // all threads; null: not timed
  workload.forget_latency();
  workload.describe(text);  // further members of the record's "details": `"name": value` by commas
};

/// A workload behind function pointers, so that the driver exists once.
struct Steps {
  void* workload;
  void (*prepare)(void*, unsigned thread, bool warm_up);
  void (*run)(void*, unsigned thread);
  void (*drain)(void*, unsigned thread);
  void (*rest)(void*, unsigned thread);
  std::uint64_t (*ops)(void*);
  std::uint64_t (*checksum)(void*);
  const CallTimes* (*latency)(void*);
  void (*forget_latency)(void*);
  void (*describe)(void*, Text&);
};

template <class W>
W& workload_at(void* pointer) {
  return *static_cast<W*>(pointer);
}

template <WorkloadCode W>
Steps make_steps(W* workload) {
  return {
      workload,
      [](void* w, unsigned thread, bool warm_up) { workload_at<W>(w).prepare(thread, warm_up); },
      [](void* w, unsigned thread) { workload_at<W>(w).run(thread); },
      [](void* w, unsigned thread) { workload_at<W>(w).drain(thread); },
      [](void* w, unsigned thread) { workload_at<W>(w).rest(thread); },
      [](void* w) { return workload_at<W>(w).ops(); },
      [](void* w) { return workload_at<W>(w).checksum(); },
      [](void* w) { return workload_at<W>(w).latency(); },
      [](void* w) { workload_at<W>(w).forget_latency(); },
      [](void* w, Text& text) { workload_at<W>(w).describe(text); }};
}

/// Makes the workload in hakbench's own memory, with the code that the options ask for.
template <template <class> class W>
Steps build(const Plan& plan) {
  const auto make = [&]<class M>(M) {
    return make_steps(new (map_bytes(sizeof(W<M>))) W<M>(plan));
  };
  const bool inspect = plan.options["verify"] != 0 || plan.options["latency"] != 0;
  if (plan.options["rng"] == 0) {
    return inspect ? make(Mode<Xoshiro, true>()) : make(Mode<Xoshiro, false>());
  }
  return inspect ? make(Mode<SplitMix, true>()) : make(Mode<SplitMix, false>());
}

/// Makes the workload that the options name.
Steps build_workload(const Plan& plan);

}  // namespace hakbench
