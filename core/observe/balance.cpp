#include "observe/balance.hpp"

#include "slab/arena.hpp"

namespace hakmem {

namespace {

/// Fronts of running threads are read as well: every step is checked before it is taken, and no
/// walk is longer than a list can be.
constexpr std::uint32_t kLongestWalk = 1 << 16;

bool may_be_free(const Block* block) {
  return (address(block) & (kMinAlignment - 1)) == 0 && arena_usable(block) &&
         __atomic_load_n(&block->mark, __ATOMIC_RELAXED) == sealed.free_mark;
}

std::uint64_t length_of(const Block* block) {
  std::uint64_t n = 0;
  while (block != &empty_block && n < kLongestWalk && may_be_free(block)) {
    block = peek_next(block);
    ++n;
  }
  return n;
}

void add_outboxes(const Front& front, Balance& balance) {
  for (const Outbox& box : front.outboxes) {
    const Slab* record = __atomic_load_n(&box.record, __ATOMIC_RELAXED);
    if (record == nullptr) continue;
    const Slab* slab = record - record->head_offset;
    balance.classes[slab->cls].waiting += __atomic_load_n(&box.chain.count, __ATOMIC_RELAXED);
  }
}

void add_queue(const Front& front, Balance& balance) {
  const Slab* slab = front.queue.load(std::memory_order_acquire);
  for (std::uint32_t n = 0; slab != nullptr && n < kLongestWalk; ++n) {
    if (slab->cls < kClassCount) balance.classes[slab->cls].waiting += slab->remote.count();
    slab = __atomic_load_n(&slab->queue_next, __ATOMIC_RELAXED);
  }
}

void add_cached(Front& front, unsigned cls, ClassBalance& one) {
  std::uint64_t n = length_of(__atomic_load_n(&front.bins[cls].head, __ATOMIC_RELAXED));
  if constexpr (kLab) n += kept_in_lab(front, cls);
  one.cached += n;
  if (n > one.fullest) one.fullest = n;
}

void add_front(Front& front, Balance& balance) {
  for (unsigned cls = 0; cls < kClassCount; ++cls) add_cached(front, cls, balance.classes[cls]);
  balance.classes[kC7UltraClass].cached += __atomic_load_n(&front.c7.count, __ATOMIC_RELAXED);
  add_outboxes(front, balance);
  add_queue(front, balance);
}

}  // namespace

void take_balance(Balance& balance) {
  balance = Balance{};
  const std::size_t count = front_count();
  for (std::size_t i = 0; i < count; ++i) {
    Front& front = *front_at(i);
    if (front.state.load(std::memory_order_relaxed) == FrontState::lost) {
      ++balance.lost_fronts;
    } else {
      add_front(front, balance);
    }
  }
  const FrontStats stats = total_stats();
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    ClassBalance& one = balance.classes[cls];
    one.allocated = stats.blocks_out[cls];
    one.freed = stats.blocks_back[cls];
    const std::uint64_t known = one.freed + one.cached + one.waiting;
    one.live = one.allocated > known ? one.allocated - known : 0;
  }
}

}  // namespace hakmem
