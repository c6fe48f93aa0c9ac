// burst: fill, free all, idle. What counts besides speed is the memory that is given back.
//
// A pass is one burst: all slots are filled in order, then every second block is freed, then the
// others. The pause is outside the measured region. It is not quite idle: ten times in it the
// thread makes a few hundred small calls, as a server without requests does, so that allocators
// that act on calls only have a chance to act.
#include <time.h>

#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

constexpr int kSlices = 10;
constexpr int kTrickle = 200;
constexpr std::uint32_t kTrickleSize = 64;

template <class M>
class Burst : public Pool<M> {
 public:
  explicit Burst(const Plan& plan)
      : Pool<M>(plan, plan.options["objects"]),
        idle_ns_(plan.options["idle_ms"] * 1'000'000),
        sizes_(plan.options) {}

  void run(unsigned thread) {
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* slots) {
      const std::size_t count = this->slots();
      for (std::size_t i = 0; i < count; ++i) slots[i] = heap.take(sizes_(low_half(rng.next())));
      for (std::size_t i = 0; i < count; i += 2) heap.give(slots[i]);
      for (std::size_t i = 1; i < count; i += 2) heap.give(slots[i]);
    });
  }

  void rest(unsigned thread) {
    if (thread == 0) freed_kib_ = read_resident().now_kib;
    Heap<M::kInspect> heap = this->worker(thread).heap;
    heap.stop_timing();
    for (int slice = 0; slice < kSlices; ++slice) {
      const timespec pause{static_cast<time_t>(idle_ns_ / kSlices / 1'000'000'000),
                           static_cast<long>(idle_ns_ / kSlices % 1'000'000'000)};
      nanosleep(&pause, nullptr);
      for (int i = 0; i < kTrickle; ++i) {
        Block block = heap.take(kTrickleSize);
        heap.give(block);
      }
    }
    if (thread == 0) idle_kib_ = read_resident().now_kib;
  }

  void describe(Text& text) {
    text << "\"rss_freed_kib\": " << freed_kib_ << ", \"rss_idle_kib\": " << idle_kib_;
  }

 private:
  std::uint64_t idle_ns_;
  UniformSizes sizes_;
  std::uint64_t freed_kib_ = 0;  ///< after the last burst
  std::uint64_t idle_kib_ = 0;   ///< after the pause that followed
};

}  // namespace

Steps build_burst(const Plan& plan) { return build<Burst>(plan); }

}  // namespace hakbench
