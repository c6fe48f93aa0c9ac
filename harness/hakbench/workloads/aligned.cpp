// aligned: random_mixed by the rule replace, with posix_memalign or aligned_alloc by chance.
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
        visits_((plan.options["ops"] + 1) / 2),
        min_align_(plan.options.small("min_align")),
        alignments_(static_cast<std::uint32_t>(
            std::bit_width(plan.options["max_align"] / plan.options["min_align"]))),
        sizes_(plan.options),
        check_(plan.options["check"] != 0),
        misaligned_(map_array<std::uint64_t>(this->threads())) {}

  void run(unsigned thread) {
    const auto places = static_cast<std::uint32_t>(this->slots());
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* slots) {
      for (std::uint64_t left = visits_; left != 0; --left) {
        const std::uint64_t bits = rng.next();
        Block& block = slots[bounded(high_half(bits), places)];
        if (block.address != nullptr) [[likely]] {
          heap.give(block);
        }
        const auto choice = static_cast<std::uint32_t>(bits & 0x7FFF) << 17;
        const std::uint32_t alignment = min_align_ << bounded(choice, alignments_);
        const std::uint32_t size = sizes_(low_half(bits));
        block = (bits & 0x8000) != 0
                    ? heap.take_posix_memalign(alignment, size)
                    : heap.take_aligned_alloc(alignment, (size + alignment - 1) & -alignment);
        if (!is_aligned(block, alignment)) [[unlikely]] {
          misaligned(thread, block);
        }
      }
    });
  }

  void describe(Text& text) {
    std::uint64_t sum = 0;
    for (unsigned thread = 0; thread < this->threads(); ++thread) sum += misaligned_[thread];
    text << "\"misaligned\": " << sum;
  }

 private:
  void misaligned(unsigned thread, const Block& block) {
    if (check_) fail_block(block, "misaligned");
    ++misaligned_[thread];
  }

  std::uint64_t visits_;
  std::uint32_t min_align_;
  std::uint32_t alignments_;  ///< how many powers of two there are from min_align to max_align
  UniformSizes sizes_;
  bool check_;
  std::uint64_t* misaligned_;  ///< by thread, warm-up included
};

}  // namespace

Steps build_aligned(const Plan& plan) { return build<Aligned>(plan); }

}  // namespace hakbench
