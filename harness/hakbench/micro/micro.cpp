// hakbench-micro: single calls by google-benchmark, for ratios to the null allocator.
//
//   LD_PRELOAD=libnullalloc.so hakbench-micro
//
// `pair` frees each block at once: the best case of a thread's list. `lifo` and `fifo` take a batch
// of blocks and give it back, last or first one first. A time is that of one malloc and one free.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t kBatch = 256;

void pair(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* block = std::malloc(size);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
}

/// Takes `kBatch` blocks and gives them back in the order that `place(i)` says.
template <class Place>
void batch(benchmark::State& state, Place place) {
  static void* blocks[kBatch];
  const auto size = static_cast<std::size_t>(state.range(0));
  while (state.KeepRunningBatch(kBatch)) {
    for (std::int64_t i = 0; i < kBatch; ++i) blocks[i] = std::malloc(size);
    benchmark::ClobberMemory();
    for (std::int64_t i = 0; i < kBatch; ++i) std::free(blocks[place(i)]);
  }
}

void lifo(benchmark::State& state) {
  batch(state, [](std::int64_t i) { return kBatch - 1 - i; });
}

void fifo(benchmark::State& state) {
  batch(state, [](std::int64_t i) { return i; });
}

/// The largest size of each of the record's bands C1 to C7, and larger ones.
void sizes(benchmark::internal::Benchmark* cases) {
  for (std::int64_t size : {16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536}) cases->Arg(size);
}

BENCHMARK(pair)->Apply(sizes);
BENCHMARK(lifo)->Apply(sizes);
BENCHMARK(fifo)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
