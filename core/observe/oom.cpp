// What is said when the system gives no more memory. Allocates nothing, so that it can be said from
// inside malloc.
#include <sys/resource.h>

#include "base/text.hpp"
#include "boxes/state.hpp"
#include "front/slow.hpp"
#include "observe/stats.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "slab/arena.hpp"
#include "slab/direct_map.hpp"

namespace hakmem {

namespace {

constexpr std::int64_t kPause = 1000;  ///< ms between two reports

std::atomic<std::int64_t> next_report;
std::atomic<std::uint64_t> unsaid;

/// False when a report was written a moment ago; this one is counted then.
bool may_report() {
  const std::int64_t now = os::now_ms();
  std::int64_t due = next_report.load(std::memory_order_relaxed);
  if (now >= due && next_report.compare_exchange_strong(due, now + kPause)) return true;
  unsaid.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void add_class(Text& line, std::size_t size) {
  if (size > kMaxSmall) {
    line.add("large");
    return;
  }
  const unsigned cls = class_of(size);
  const FrontStats stats = total_stats();
  line.add("class ").add(class_info(cls).block_size);
  line.add(", allocated ").add(stats.blocks_out[cls]).add(", freed ").add(stats.blocks_back[cls]);
}

void add_limit(Text& line) {
  const std::size_t limit = os::address_space_limit();
  line.add("; RLIMIT_AS ");
  if (limit == SIZE_MAX) {
    line.add("none");
  } else {
    line.add(std::uint64_t{limit});
  }
}

}  // namespace

void report_out_of_memory(std::size_t size) {
  if (sealed.no_oom_report || !may_report()) return;
  TextBuffer<512> line;
  line.add("hakmem: out of memory: ").add(std::uint64_t{size}).add(" bytes (");
  add_class(line, size);
  const LiveTotals live = live_totals(total_stats());
  line.add("); live ").add(live.blocks).add(" blocks, ").add(live.bytes).add(" bytes");
  add_limit(line);
  const os::MemoryInUse memory = os::memory_in_use();
  line.add(", VmSize ").add(std::uint64_t{memory.address_space});
  line.add(", VmRSS ").add(std::uint64_t{memory.resident});
  if (const std::uint64_t n = unsaid.exchange(0)) line.add("; ").add(n).add(" more since the last");
  line.add('\n');
  os::say(line);
}

}  // namespace hakmem
