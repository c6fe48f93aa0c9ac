// large: blocks of many pages, some of which grow. It measures the page-level path.
#include <algorithm>

#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

/// Writes a word each `stride` bytes between the tags, as a program does that uses what it asked
/// for. The interior belongs to --verify where that is on.
void touch(const Block& block, std::uint64_t stride) {
  for (std::uint64_t offset = stride; offset + 16 <= block.size; offset += stride) {
    store_word(block.address + offset, offset);
  }
}

template <class M>
class Large : public Pool<M> {
 public:
  explicit Large(const Plan& plan)
      : Pool<M>(plan, plan.options["slots"]),
        ops_(plan.options["ops"]),
        grow_below_((plan.options["grow"] << 8) / 100),
        stride_(plan.options["verify"] != 0 ? 0 : plan.options["touch_kib"] << 10),
        max_(plan.options["max"]),
        sizes_(plan.options.small("min"), plan.options.small("max")) {}

  void run(unsigned thread) {
    const auto places = static_cast<std::uint32_t>(this->slots());
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* slots) {
      for (std::uint64_t left = ops_; left != 0; --left) {
        const std::uint64_t bits = rng.next();
        Block& block = slots[bounded(high_half(bits), places)];
        if (block.address == nullptr) {
          block = heap.take(sizes_(low_half(bits)));
        } else if ((bits & 0xFF) < grow_below_ && block.size < max_) {
          const std::uint64_t half_more = block.size + block.size / 2;
          heap.grow(block, static_cast<std::uint32_t>(std::min(half_more, max_)));
        } else {
          heap.give(block);
          continue;
        }
        if (stride_ != 0) touch(block, stride_);
      }
    });
  }

 private:
  std::uint64_t ops_;
  std::uint64_t grow_below_;  ///< of 8 random bits
  std::uint64_t stride_;
  std::uint64_t max_;
  DoublingSizes sizes_;
};

}  // namespace

Steps build_large(const Plan& plan) { return build<Large>(plan); }

}  // namespace hakbench
