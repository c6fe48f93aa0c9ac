// realloc_grow: vectors whose capacity doubles, and strings to which a few bytes are appended.
//
// Even slots hold vectors, odd ones strings. An object starts small with a length to reach, drawn
// so that each doubling is equally likely; each visit grows it, and at its length it is freed.
#include <algorithm>

#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

constexpr std::uint32_t kFirst = 16;   // bytes of a new object
constexpr std::uint32_t kAppend = 64;  // most bytes appended to a string at once

template <class M>
class ReallocGrow : public Pool<M> {
 public:
  explicit ReallocGrow(const Plan& plan)
      : Pool<M>(plan, plan.options["slots"]),
        ops_(plan.options["ops"]),
        vectors_(2 * kFirst, plan.options.small("vector_max")),
        strings_(2 * kFirst, plan.options.small("string_max")),
        goals_(map_array<std::uint32_t*>(this->threads())) {
    for (unsigned thread = 0; thread < this->threads(); ++thread) {
      goals_[thread] = map_array<std::uint32_t>(this->slots());
    }
  }

  void run(unsigned thread) {
    const auto places = static_cast<std::uint32_t>(this->slots());
    std::uint32_t* goals = goals_[thread];
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* slots) {
      for (std::uint64_t left = ops_; left != 0; --left) {
        const std::uint64_t bits = rng.next();
        const std::uint32_t place = bounded(high_half(bits), places);
        const bool vector = place % 2 == 0;
        Block& block = slots[place];
        if (block.address == nullptr) {
          goals[place] = vector ? vectors_(low_half(bits)) : strings_(low_half(bits));
          block = heap.take(kFirst);
        } else if (block.size < goals[place]) {
          const std::uint32_t more = vector ? block.size : 1 + bounded(low_half(bits), kAppend);
          heap.grow(block, std::min(block.size + more, goals[place]));
        } else {
          heap.give(block);
        }
      }
    });
  }

 private:
  std::uint64_t ops_;
  DoublingSizes vectors_;
  DoublingSizes strings_;
  std::uint32_t** goals_;  ///< length to reach, by thread and slot
};

}  // namespace

Steps build_realloc_grow(const Plan& plan) { return build<ReallocGrow>(plan); }

}  // namespace hakbench
