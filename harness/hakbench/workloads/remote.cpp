// remote: random_mixed by the rule replace, with a share of the blocks freed by another thread.
//
// A block that is to be freed elsewhere goes to a random other thread through a ring. A thread
// looks into one of its rings at every eighth visit. Where a ring is full its sender empties its
// own rings and yields, so that the share asked for is reached whatever the allocator and the CPUs.
// A thread that is through its visits goes on receiving until all are.
#include "harness/hakbench/exchange.hpp"
#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

constexpr unsigned kVisitsPerLook = 8;
constexpr unsigned kMostPerLook = 16;

template <class M>
class Remote : public Pool<M> {
 public:
  explicit Remote(const Plan& plan)
      : Pool<M>(plan, plan.options["slots"]),
        visits_((plan.options["ops"] + 1) / 2),
        remote_pct_(plan.options["remote"]),
        sizes_(plan.options),
        exchange_(this->threads(), this->threads(), plan.options["ring"]),
        shares_(map_array<Share>(this->threads())) {}

  void prepare(unsigned thread, bool warm_up) {
    Pool<M>::prepare(thread, warm_up);
    shares_[thread] = {};
    if (thread == 0) exchange_.open();
  }

  void run(unsigned thread) {
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* slots) {
      Share share{};
      const auto free_foreign = [&](Block& block) {
        heap.give(block);
        ++share.remote;
      };
      for (std::uint64_t left = visits_; left != 0; --left) {
        visit(thread, heap, rng, slots, share, free_foreign);
        if (left % kVisitsPerLook == 0) look(thread, left / kVisitsPerLook, free_foreign);
      }
      exchange_.close();
      exchange_.receive_rest(thread, free_foreign);
      shares_[thread] = share;
    });
  }

  void describe(Text& text) {
    Share sum{};
    for (unsigned thread = 0; thread < this->threads(); ++thread) {
      sum.remote += shares_[thread].remote;
      sum.local += shares_[thread].local;
    }
    const std::uint64_t all = sum.remote + sum.local;
    text << "\"remote_pct\": ";
    text.fixed(all == 0 ? 0 : 100.0 * static_cast<double>(sum.remote) / static_cast<double>(all),
               3);
  }

 private:
  struct alignas(128) Share {
    std::uint64_t remote;
    std::uint64_t local;
    std::uint64_t due;  ///< hundredths of a remote free that are owed
  };

  /// The rule replace of random_mixed. Whether a free is remote follows a fixed pattern: by chance,
  /// it would measure the branch predictor.
  template <class Free>
  [[gnu::always_inline]] void visit(unsigned thread, auto& heap, auto& rng, Block* slots,
                                    Share& share, Free free_foreign) {
    const std::uint64_t bits = rng.next();
    Block& block = slots[bounded(high_half(bits), static_cast<std::uint32_t>(this->slots()))];
    if (block.address != nullptr) [[likely]] {
      share.due += remote_pct_;
      if (share.due >= 100) {
        share.due -= 100;
        send(thread, bits & 0xFFFF, block, free_foreign);
      } else {
        heap.give(block);
        ++share.local;
      }
    }
    block = heap.take(sizes_(low_half(bits)));
  }

  template <class Free>
  void send(unsigned thread, std::uint64_t bits, const Block& block, Free free_foreign) {
    const unsigned others = this->threads() - 1;
    const auto distance = 1 + static_cast<unsigned>((bits * others) >> 16);
    const unsigned receiver = (thread + distance) % this->threads();
    while (!exchange_.push(thread, receiver, block)) {
      unsigned count = 0;
      for (unsigned sender = 0; sender < this->threads(); ++sender) {
        count += exchange_.receive_from(sender, thread, kMostPerLook, free_foreign);
      }
      if (count == 0) sched_yield();
    }
  }

  template <class Free>
  void look(unsigned thread, std::uint64_t turn, Free free_foreign) {
    const unsigned sender = static_cast<unsigned>(turn % this->threads());
    exchange_.receive_from(sender, thread, kMostPerLook * this->threads(), free_foreign);
  }

  std::uint64_t visits_;
  std::uint64_t remote_pct_;
  UniformSizes sizes_;
  Exchange exchange_;
  Share* shares_;
};

}  // namespace

Steps build_remote(const Plan& plan) { return build<Remote>(plan); }

}  // namespace hakbench
