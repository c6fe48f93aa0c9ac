// Frees of blocks that belong to another thread's slabs.
//
// A sender collects blocks by slab in outboxes and pushes each chain with one compare-and-swap on
// the slab. Whoever makes the slab's list non-empty puts the slab on its owner's queue; the owner
// takes the list only after it took the slab off the queue, so a slab is on one queue at most. A
// slab may change owners in between: whoever finds a slab that is not its own on its queue passes
// it on.
#include "front/front.hpp"
#include "front/slow.hpp"
#include "slab/arena.hpp"

namespace hakmem {

namespace {

void enqueue(Front& owner, Slab* slab) {
  Slab* head = owner.queue.load(std::memory_order_relaxed);
  do {
    slab->queue_next = head;
  } while (!owner.queue.compare_exchange_weak(head, slab, std::memory_order_seq_cst,
                                              std::memory_order_relaxed));
}

/// The slab waits for its owner; an owner whose thread has ended is served here.
void notify_owner(Slab* slab) {
  Front* owner = owner_of(slab);
  if (owner == nullptr) return;
  enqueue(*owner, slab);
  if (owner->state.load(std::memory_order_seq_cst) == FrontState::abandoned && try_hold(*owner)) {
    drain(*owner);
    release_hold(*owner);
  }
}

/// Puts what others freed before the slab's own list.
void take_in(Front& front, Slab* slab) {
  const RemoteList::List list = slab->remote.take();
  if (list.count == 0) return;
  if (HAK_UNLIKELY(list.count > slab->used)) misuse("free()", "block was freed twice", list.head);
  if (slab->free != nullptr) {
    Block* tail = list.head;
    for (std::uint32_t i = 1; i < list.count; ++i) tail = tail->next;
    tail->next = slab->free;
  }
  slab->free = list.head;
  slab->used -= list.count;
  front.stats.blocks_back[slab->cls] += list.count;
  if (!slab->listed) list_slab(front, slab);
  if (slab->used == 0) retire_slab(front, slab, true);
}

/// Empties the box first: sending may come back to it.
void send(Front& front, Outbox& box) {
  const Outbox full = box;
  box.record = nullptr;
  ++front.stats.sends;
  send_remote(full.record, full.chain);
}

}  // namespace

void send_remote(Slab* record, const Chain& chain) {
  Slab* slab = record - record->head_offset;
  slab->note_sent(chain);
  if (slab->remote.push(chain)) notify_owner(slab);
}

void free_remote(Front& front, Slab* record, Block* block) {
  if (HAK_UNLIKELY(block->mark == front.free_mark))
    misuse("free()", "block was freed twice", block);
  block->mark = front.free_mark;
  const std::size_t slice = address(record) / sizeof(Slab);
  Outbox& box = front.outboxes[(slice ^ slice >> 4) % kOutboxes];
  if (box.record != record) {
    if (box.record != nullptr) send(front, box);
    box = {record, {nullptr, block}};
  }
  block->next = box.chain.head;
  box.chain.head = block;
  box.chain.sum += fingerprint(block);
  ++front.stats.remote_sent;
  if (++box.chain.count < boxes::value_of(boxes::Id::remote_batch)) return;
  count_decision(front, boxes::Id::remote_batch);
  send(front, box);
  tick(front);
}

void flush_outboxes(Front& front) {
  for (Outbox& box : front.outboxes) {
    if (box.record != nullptr) send(front, box);
  }
}

void drain(Front& front) {
  Slab* slab = front.queue.exchange(nullptr, std::memory_order_seq_cst);
  if (slab != nullptr) ++front.stats.drains;
  while (slab != nullptr) {
    Slab* next = slab->queue_next;
    if (HAK_LIKELY(owner_of(slab) == &front)) {
      take_in(front, slab);
    } else {
      notify_owner(slab);
    }
    slab = next;
  }
}

}  // namespace hakmem
