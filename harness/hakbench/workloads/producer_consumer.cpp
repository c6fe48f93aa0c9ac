// producer_consumer: producers allocate, consumers free, and nothing flows back.
//
// Producers take turns through the consumers. Rings are short, so the live set is bounded; a peak
// that grows beyond it is the allocator's.
#include "harness/hakbench/exchange.hpp"
#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

template <class M>
class ProducerConsumer : public Pool<M> {
 public:
  explicit ProducerConsumer(const Plan& plan)
      : Pool<M>(plan, 0),
        items_(plan.options["items"]),
        producers_(plan.options.small("producers")),
        consumers_(plan.options.small("consumers")),
        sizes_(plan.options),
        exchange_(producers_, consumers_, plan.options["ring"]) {}

  void prepare(unsigned thread, bool warm_up) {
    Pool<M>::prepare(thread, warm_up);
    if (thread == 0) exchange_.open();
  }

  void run(unsigned thread) {
    this->with_local_copies(this->worker(thread), [&](auto& heap, auto& rng, Block* /*slots*/) {
      if (thread < producers_) {
        produce(thread, heap, rng);
        exchange_.close();
      } else {
        exchange_.receive_rest(thread - producers_, [&](Block& block) { heap.give(block); });
      }
    });
  }

  void describe(Text& text) {
    const std::uint64_t under_way = this->options()["ring"] * producers_ * consumers_;
    text << "\"most_live_kib\": " << ((under_way + producers_) * this->options()["max"] >> 10);
  }

 private:
  void produce(unsigned thread, auto& heap, auto& rng) {
    unsigned consumer = thread % consumers_;
    for (std::uint64_t left = items_; left != 0; --left) {
      const Block block = heap.take(sizes_(low_half(rng.next())));
      while (!exchange_.push(thread, consumer, block)) sched_yield();
      if (++consumer == consumers_) consumer = 0;
    }
  }

  std::uint64_t items_;
  unsigned producers_;
  unsigned consumers_;
  UniformSizes sizes_;
  Exchange exchange_;
};

}  // namespace

Steps build_producer_consumer(const Plan& plan) { return build<ProducerConsumer>(plan); }

}  // namespace hakbench
