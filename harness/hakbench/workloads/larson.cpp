// larson: a server whose objects are handed from thread to thread (Larson, Krishnan 1998).
//
// Each line of threads owns an array of `chunks` blocks. A generation, which is one thread,
// replaces chunks × rounds blocks at random places, starts the next generation on the same array,
// and ends. So blocks are freed by other threads than allocated them, and threads end while their
// blocks live.
#include <semaphore.h>

#include "harness/hakbench/clock.hpp"
#include "harness/hakbench/pool.hpp"
#include "harness/hakbench/sizes.hpp"
#include "harness/hakbench/team.hpp"
#include "harness/hakbench/workloads/builders.hpp"

namespace hakbench {

namespace {

template <class M>
class Larson : public Pool<M> {
 public:
  explicit Larson(const Plan& plan)
      : Pool<M>(plan, plan.options["chunks"]),
        replacements_(plan.options["chunks"] * plan.options["rounds"]),
        region_ns_(region_of(plan.options)),
        sizes_(plan.options),
        lines_(map_array<Line>(this->threads())) {
    for (unsigned thread = 0; thread < this->threads(); ++thread) {
      lines_[thread].larson = this;
      lines_[thread].worker = &this->worker(thread);
      sem_init(&lines_[thread].over, 0, 0);
    }
  }

  void prepare(unsigned thread, bool warm_up) {
    Pool<M>::prepare(thread, warm_up);
    Line& line = lines_[thread];
    line.generations = 0;
    line.region_ns = warm_up ? 0 : region_ns_;
    Worker<M>& worker = this->worker(thread);
    for (std::size_t i = 0; i < this->slots(); ++i) {
      worker.slots[i] = worker.heap.take(sizes_(low_half(worker.rng.next())));
    }
  }

  void run(unsigned thread) {
    Line& line = lines_[thread];
    line.deadline = now_ns() + line.region_ns;
    start_generation(line);
    while (sem_wait(&line.over) != 0) {
    }
  }

  /// What the first generations freed: how many follow them is a matter of time.
  std::uint64_t checksum() const {
    std::uint64_t sum = 0;
    for (unsigned thread = 0; thread < this->threads(); ++thread) {
      sum += lines_[thread].first_checksum;
    }
    return sum;
  }

  void describe(Text& text) {
    std::uint64_t sum = 0;
    for (unsigned thread = 0; thread < this->threads(); ++thread) sum += lines_[thread].generations;
    text << "\"generations\": " << sum;
  }

 private:
  struct alignas(128) Line {
    Larson* larson;
    Worker<M>* worker;
    std::uint64_t region_ns;
    std::uint64_t deadline;
    std::uint64_t generations;
    std::uint64_t first_checksum;
    sem_t over;
  };

  static std::uint64_t region_of(const Options& options) {
    if (options["seconds"] != 0) return options["seconds"] * 1'000'000'000;
    return static_cast<std::uint64_t>(options.min_seconds() * 1e9);
  }

  static void start_generation(Line& line) {
    pthread_t thread;
    start_thread(&thread, true, generation, &line);
  }

  static void* generation(void* argument) {
    Line& line = *static_cast<Line*>(argument);
    line.larson->replace(*line.worker);
    if (line.generations++ == 0) line.first_checksum = line.worker->heap.checksum();
    if (now_ns() < line.deadline) {
      start_generation(line);
    } else {
      sem_post(&line.over);
    }
    return nullptr;
  }

  void replace(Worker<M>& worker) {
    const auto places = static_cast<std::uint32_t>(this->slots());
    const UniformSizes sizes = sizes_;
    this->with_local_copies(worker, [&](auto& heap, auto& rng, Block* slots) {
      for (std::uint64_t left = replacements_; left != 0; --left) {
        const std::uint64_t bits = rng.next();
        Block& block = slots[bounded(high_half(bits), places)];
        heap.give(block);
        block = heap.take(sizes(low_half(bits)));
      }
    });
  }

  std::uint64_t replacements_;
  std::uint64_t region_ns_;
  UniformSizes sizes_;
  Line* lines_;
};

}  // namespace

Steps build_larson(const Plan& plan) { return build<Larson>(plan); }

}  // namespace hakbench
