// aligned: the loop of random_mixed with posix_memalign and aligned_alloc by turns.
#include <bit>

#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

template <class M>
class Aligned : public Pool<M> {
 public:
  explicit Aligned(const Plan& plan)
      : Pool<M>(plan, plan.options["slots"]),
        ops_(plan.options["ops"]),
        min_align_(plan.options.small("min_align")),
        alignments_(static_cast<std::uint32_t>(
            std::bit_width(plan.options["max_align"] / plan.options["min_align"]))),
        sizes_(plan.options) {}

  void run(unsigned thread) {
    const auto places = static_cast<std::uint32_t>(this->slots());
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* slots) {
      for (std::uint64_t left = ops_; left != 0; --left) {
        const std::uint64_t bits = rng.next();
        Block& block = slots[bounded(high_half(bits), places)];
        if (block.address != nullptr) {
          heap.give(block);
          continue;
        }
        const auto choice = static_cast<std::uint32_t>(bits & 0x7FFF) << 17;
        const std::uint32_t alignment = min_align_ << bounded(choice, alignments_);
        const std::uint32_t size = sizes_(low_half(bits));
        block = (bits & 0x8000) != 0
                    ? heap.take_posix_memalign(alignment, size)
                    : heap.take_aligned_alloc(alignment, (size + alignment - 1) & -alignment);
      }
    });
  }

 private:
  std::uint64_t ops_;
  std::uint32_t min_align_;
  std::uint32_t alignments_;  ///< how many powers of two there are from min_align to max_align
  UniformSizes sizes_;
};

}  // namespace

Steps build_aligned(const Plan& plan) { return build<Aligned>(plan); }

}  // namespace hakbench
