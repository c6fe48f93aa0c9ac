// phased: a long-running server whose live set grows and falls.
//
// In a growing phase an empty slot is filled and a full one gets a new block; in a falling phase a
// full slot is emptied and an empty one is filled and emptied at once. So blocks come and go in
// both, while the live set climbs towards all slots or falls towards none.
#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

template <class M>
class Phased : public Pool<M> {
 public:
  explicit Phased(const Plan& plan)
      : Pool<M>(plan, plan.options["slots"]),
        phases_(plan.options["phases"]),
        ops_per_phase_((plan.options["ops"] + phases_ - 1) / phases_),
        sizes_(plan.options) {}

  void run(unsigned thread) {
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* slots) {
      for (std::uint64_t number = 1; number <= phases_; ++number) {
        phase(heap, rng, slots, number % 2 == 1, number * ops_per_phase_);
      }
    });
  }

 private:
  [[gnu::always_inline]] void phase(auto& heap, auto& rng, Block* slots, bool growing,
                                    std::uint64_t until) {
    const auto places = static_cast<std::uint32_t>(this->slots());
    const UniformSizes sizes = sizes_;
    while (heap.ops() < until) {
      const std::uint64_t bits = rng.next();
      Block& block = slots[bounded(high_half(bits), places)];
      const bool full = block.address != nullptr;
      if (full) heap.give(block);
      if (growing || !full) block = heap.take(sizes(low_half(bits)));
      if (!growing && !full) heap.give(block);
    }
  }

  std::uint64_t phases_;
  std::uint64_t ops_per_phase_;
  UniformSizes sizes_;
};

}  // namespace

Steps build_phased(const Plan& plan) { return build<Phased>(plan); }

}  // namespace hakbench
