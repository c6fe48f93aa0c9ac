// The loop of the record's random_mixed: visit a slot at random, free its block if it has one, else
// fill it. About half of the slots are full; one visit is one operation.
#pragma once

#include "harness/hakbench/pool.hpp"

namespace hakbench {

template <class M, class Sizes>
class Toggle : public Pool<M> {
 public:
  explicit Toggle(const Plan& plan)
      : Pool<M>(plan, plan.options["slots"]), ops_(plan.options["ops"]), sizes_(plan.options) {}

  void run(unsigned thread) {
    const auto places = static_cast<std::uint32_t>(this->slots());
    const Sizes sizes = sizes_;
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* slots) {
      for (std::uint64_t left = ops_; left != 0; --left) {
        const std::uint64_t bits = rng.next();
        Block& block = slots[bounded(high_half(bits), places)];
        if (block.address != nullptr) {
          heap.give(block);
        } else {
          block = heap.take(sizes(low_half(bits)));
        }
      }
    });
  }

 private:
  std::uint64_t ops_;
  Sizes sizes_;
};

}  // namespace hakbench
