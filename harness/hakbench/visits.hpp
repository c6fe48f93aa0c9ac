// The loops of random_mixed: visit a slot at random, by one of two rules.
//
// toggle, the record's: free the slot's block if it has one, else fill it. Half of the slots are
// full, so a visit is a coin toss between malloc and free. No branch predictor foresees it, and its
// misses cost more than a good malloc does. replace: free the slot's block and fill it again. The
// calls are the same, the branch is foreseen.
#pragma once

#include "harness/hakbench/pool.hpp"

namespace hakbench {

template <class M, class Sizes>
class Visits : public Pool<M> {
 public:
  explicit Visits(const Plan& plan)
      : Pool<M>(plan, plan.options["slots"]),
        ops_(plan.options["ops"]),
        replace_(plan.options["rule"] != 0),
        sizes_(plan.options) {}

  void run(unsigned thread) {
    const auto places = static_cast<std::uint32_t>(this->slots());
    const Sizes sizes = sizes_;
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* slots) {
      if (replace_) {
        for (std::uint64_t left = (ops_ + 1) / 2; left != 0; --left) {
          const std::uint64_t bits = rng.next();
          Block& block = slots[bounded(high_half(bits), places)];
          if (block.address != nullptr) [[likely]] {
            heap.give(block);
          }
          block = heap.take(sizes(low_half(bits)));
        }
        return;
      }
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
  bool replace_;
  Sizes sizes_;
};

}  // namespace hakbench
