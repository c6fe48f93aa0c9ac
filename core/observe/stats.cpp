#include "observe/stats.hpp"

#include "slab/direct_map.hpp"

namespace hakmem {

namespace {

// FrontStats is made of 64-bit counts only, so that a sum is a loop.
constexpr std::size_t kCounts = sizeof(FrontStats) / sizeof(std::uint64_t);
static_assert(sizeof(FrontStats) % sizeof(std::uint64_t) == 0);

std::uint64_t read(const std::uint64_t& counter) {
  return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

}  // namespace

FrontStats total_stats() {
  FrontStats total{};
  auto* sum = reinterpret_cast<std::uint64_t*>(&total);
  const std::size_t count = front_count();
  for (std::size_t i = 0; i < count; ++i) {
    const auto* counts = reinterpret_cast<const std::uint64_t*>(&front_at(i)->stats);
    for (std::size_t k = 0; k < kCounts; ++k) sum[k] += read(counts[k]);
  }
  return total;
}

LabCounts total_lab_counts() {
  LabCounts sum{};
  if constexpr (kLab) {
    const std::size_t count = front_count();
    for (std::size_t i = 0; i < count; ++i) {
      const LabState& lab = lab_of(*front_at(i));
      sum.failed_refills += read(lab.failed_refills);
      sum.slot_overflows += read(lab.slot_overflows);
    }
  }
  return sum;
}

std::uint64_t total_uses(std::size_t box_index) {
  std::uint64_t sum = 0;
  const std::size_t count = front_count();
  for (std::size_t i = 0; i < count; ++i) sum += read(front_at(i)->box_uses[box_index]);
  return sum;
}

LiveTotals live_totals(const FrontStats& stats) {
  LiveTotals live{stats.large_allocs - stats.large_frees,
                  stats.large_bytes + direct_usage_unlocked().bytes};
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    const std::uint64_t blocks = blocks_out(stats, cls);
    live.blocks += blocks;
    live.bytes += blocks * class_info(cls).block_size;
  }
  return live;
}

std::uint64_t blocks_out(const FrontStats& stats, unsigned cls) {
  const std::uint64_t out = stats.blocks_out[cls];
  const std::uint64_t back = stats.blocks_back[cls];
  return out > back ? out - back : 0;
}

}  // namespace hakmem
