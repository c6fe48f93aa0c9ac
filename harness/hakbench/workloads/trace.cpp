// trace: the allocations of a real program, as `hak record` noted them.
//
// Each recorded thread is one of the replay, or shares it with others where --threads says fewer.
// A step that needs what another thread did waits for it, so every run has the same blocks in the
// same threads; what does not depend on one another runs as it comes.
#include <sched.h>

#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/trace_file.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

constexpr unsigned kSpins = 200;  // looks before the processor is given away

struct alignas(128) Progress {
  std::uint32_t published;
};

template <class M>
class Replay : public Pool<M> {
 public:
  explicit Replay(const Plan& plan)
      : Pool<M>(plan, 0),
        trace_(load_trace(plan.options.file(), plan.options.threads())),
        blocks_(map_array<Block>(trace_.slots + 1)),
        progress_(map_array<Progress>(this->threads())) {}

  void prepare(unsigned thread, bool warm_up) {
    Pool<M>::prepare(thread, warm_up);
    __atomic_store_n(&progress_[thread].published, 0, __ATOMIC_RELEASE);
  }

  void run(unsigned thread) {
    const TraceStep* const end = trace_.steps[thread] + trace_.count[thread];
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto&, Block*) {
      for (const TraceStep* step = trace_.steps[thread]; step != end; ++step) {
        Block& block = blocks_[step->place()];
        switch (step->kind()) {
          case StepKind::allocate:
            block = heap.take(step->amount);
            break;
          case StepKind::zeroed:
            block = heap.take_zeroed(step->amount);
            break;
          case StepKind::free:
            heap.give(block);
            break;
          case StepKind::resize:
            heap.resize(block, step->amount);
            break;
          case StepKind::aligned:
            block = take_aligned(heap, step[0].amount, step[1].amount);
            ++step;
            break;
          case StepKind::wait:
            wait_for(step->place(), step->amount);
            break;
          case StepKind::publish:
            __atomic_store_n(&progress_[thread].published, step->amount, __ATOMIC_RELEASE);
            break;
        }
      }
    });
  }

  /// What the program still had when it ended.
  void drain(unsigned thread) {
    if (thread != 0) return;
    auto& heap = this->worker(0).heap;
    heap.stop_timing();
    for (std::uint64_t slot = 0; slot < trace_.slots; ++slot) {
      if (blocks_[slot].address != nullptr) heap.give(blocks_[slot]);
    }
  }

  void describe(Text& text) {
    text << "\"recorded_threads\": " << std::uint64_t{trace_.threads}
         << ", \"events\": " << trace_.events << ", \"slots\": " << trace_.slots;
  }

 private:
  static Block take_aligned(auto& heap, std::uint32_t log2, std::uint32_t size) {
    const std::uint32_t alignment = 1u << (log2 < 3 ? 3 : log2);
    const Block block = heap.take_posix_memalign(alignment, size);
    if (!is_aligned(block, alignment)) fail_block(block, "misaligned");
    return block;
  }

  void wait_for(std::uint32_t thread, std::uint32_t published) const {
    unsigned looks = 0;
    while (__atomic_load_n(&progress_[thread].published, __ATOMIC_ACQUIRE) < published) {
      if (++looks % kSpins == 0) sched_yield();
    }
  }

  Trace trace_;
  Block* blocks_;  ///< by slot
  Progress* progress_;
};

}  // namespace

Steps build_trace(const Plan& plan) { return build<Replay>(plan); }

}  // namespace hakbench
