// Sums over all fronts. Fronts outlive their threads, so nothing is lost when a thread ends.
#pragma once

#include "front/front.hpp"

namespace hakmem {

/// Sum of the counts of every front, racy while threads run.
FrontStats total_stats();

/// Counts of research boxes, over all fronts; zero in libhakmem.so.
struct LabCounts {
  std::uint64_t failed_refills, slot_overflows;
};
LabCounts total_lab_counts();

/// Sum of the use counts of one box.
std::uint64_t total_uses(std::size_t box_index);

/// Blocks of a class that are out of their slabs: with the program or in caches.
std::uint64_t blocks_out(const FrontStats& stats, unsigned cls);

/// Blocks out of their slabs, large ones included.
struct LiveTotals {
  std::uint64_t blocks, bytes;
};
LiveTotals live_totals(const FrontStats& stats);

}  // namespace hakmem
