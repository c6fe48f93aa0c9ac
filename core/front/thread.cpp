// The life of a thread's front: made at its first slow path, left behind at its end, kept over
// fork.
#include <pthread.h>
#include <string.h>

#include "base/text.hpp"
#include "boxes/state.hpp"
#include "front/chunk_header.hpp"
#include "front/entries.hpp"
#include "front/front.hpp"
#include "front/guard.hpp"
#include "front/header_byte.hpp"
#include "front/slow.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "slab/arena.hpp"

namespace hakmem {

Block empty_block{nullptr, 0};

namespace {

constexpr std::size_t kMaxFronts = std::size_t{1} << 16;

Front* fronts[kMaxFronts];  // by index; untouched pages of .bss cost nothing
std::atomic<std::size_t> fronts_made;
ThreadFront first_front;
ThreadFront shared_front;  // of threads that can have none
std::byte* spare;          // rest of a slice that fronts are cut from
std::size_t spare_bytes;
pthread_key_t exit_key;
bool exit_key_made;

/// A thread that has ended for good: this_front is the stub, and it shall get no front again.
thread_local bool this_thread_ended [[gnu::tls_model("initial-exec")]];

void set_up(Front& front, std::size_t index) {
  front.free_mark = sealed.free_mark;
  front.token = std::uint64_t{index + 1} << kTokenShift;
  front.no_block = &empty_block;
  for (std::size_t i = 0; i < sizeof front.tiny_codes; ++i) {
    front.tiny_codes[i] =
        sealed.profile_rate == 0 ? tiny_code(i * 16) : static_cast<std::uint8_t>(kNoBlockCode);
  }
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    front.bins[cls] = {&empty_block, bin_cap(cls), 0, 0, 0, 0};
  }
  if constexpr (kLab) set_up_lab(front);
}

/// Memory for a front, from slices that hold nothing else. Under the lock of fronts.
Front* front_memory() {
  if (spare_bytes < sizeof(ThreadFront)) {
    const Run run = arena_alloc(1, 1);
    if (run.record == nullptr) return nullptr;
    route_of(run.record).store(kRouteMeta, std::memory_order_relaxed);
    spare = start_of(run.record);
    spare_bytes = kSliceSize;
    if (!run.zeroed) memset(spare, 0, spare_bytes);  // a front starts as zero, but for set_up()
  }
  auto* front = reinterpret_cast<ThreadFront*>(spare);
  spare += sizeof(ThreadFront);
  spare_bytes -= sizeof(ThreadFront);
  return front;
}

Front* make_front() {
  Guard guard(lock_of(Rank::fronts));
  const std::size_t index = fronts_made.load(std::memory_order_relaxed);
  if (index == kMaxFronts) return nullptr;
  Front* front = index == 0 ? &first_front : front_memory();
  if (front == nullptr) return nullptr;
  set_up(*front, index);
  fronts[index] = front;
  front->state.store(FrontState::active, std::memory_order_relaxed);
  fronts_made.store(index + 1, std::memory_order_release);
  return front;
}

/// A front that an ended thread left, with its slabs.
Front* take_over() {
  const std::size_t count = front_count();
  for (std::size_t i = 0; i < count; ++i) {
    Front* front = fronts[i];
    if (front->state.load(std::memory_order_relaxed) != FrontState::abandoned) continue;
    FrontState expected = FrontState::abandoned;
    if (front->state.compare_exchange_strong(expected, FrontState::active)) return front;
  }
  return nullptr;
}

void leave(Front& front) {
  flush_all(front);
  drain(front);
  return_empty_slabs(front);
  front.exit_rounds = 0;
  front.state.store(FrontState::held, std::memory_order_seq_cst);
  release_hold(front);
}

/// Runs among the destructors of the thread's keys. Others may still allocate, so it asks to be run
/// again as long as the system allows rounds.
void on_thread_exit(void* argument) {
  auto* front = static_cast<Front*>(argument);
  if (++front->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(exit_key, front);
    return;
  }
  this_front = const_cast<Front*>(static_cast<const Front*>(&stub_front));
  this_thread_ended = true;
  leave(*front);
}

void before_fork() {
  for (Lock& lock : locks) lock.lock();
}

void after_fork_in_parent() {
  for (Lock& lock : locks) lock.unlock();
}

/// Other threads are gone, perhaps in the midst of a list operation: their fronts are not read
/// again.
void after_fork_in_child() {
  for (Lock& lock : locks) lock.reset();
  const std::size_t count = front_count();
  for (std::size_t i = 0; i < count; ++i) {
    const FrontState state = fronts[i]->state.load(std::memory_order_relaxed);
    // The shared front was locked, so it is whole.
    const bool whole = fronts[i] == this_front || fronts[i] == &shared_front;
    if (!whole && (state == FrontState::active || state == FrontState::held)) {
      fronts[i]->state.store(FrontState::lost, std::memory_order_relaxed);
    }
  }
}

/// A thread's front as its first call finds it.
void warm(Front* front) {
  if (front != nullptr && boxes::value_of(boxes::Id::prewarm) != 0) prewarm(*front);
}

ArenaPolicy arena_policy() {
  ArenaPolicy policy;
  policy.chunk_headers = serves_chunks();
  policy.half_super_slabs = boxes::value_of(boxes::Id::superslab_2mib) != 0;
  policy.huge_pages = static_cast<ArenaPolicy::HugePages>(boxes::value_of(boxes::Id::thp));
  return policy;
}

/// The boxes that decide of the arenas have done so.
void count_policy(Front& front) {
  for (const boxes::Id id : {boxes::Id::superslab_2mib, boxes::Id::thp}) {
    if (boxes::value_of(id) != 0) count_decision(front, id);
  }
}

void start() {
  sealed.free_mark = os::random_seed() | 1;
  boxes::read_environment(has_variants);
  select_variant();
  if constexpr (kHardened) guard_start();
  if (!arena_init(arena_policy())) {
    TextBuffer<128> line;
    line.add("hakmem: no address space for a heap; raise RLIMIT_AS\n");
    os::fail(line);
  }
  if (sealed.profile_rate == 0) sealed.plain_sizes = kLargestSmall + 1 - header_bytes();
  if constexpr (kLab) start_lab();
  sealed.ready = true;
  os::protect_read_only(&sealed, sizeof sealed);
  this_front = make_front();
  if (this_front != nullptr) count_policy(*this_front);
  warm(this_front);
}

/// What may call malloc itself: after this thread has a front.
void finish_start() {
  exit_key_made = pthread_key_create(&exit_key, on_thread_exit) == 0;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  if (sealed.stats_format != 0 || sealed.profile_rate != 0) watch_signals();
}

}  // namespace

constinit const ThreadFront stub_front{Front::Stub{}};
constinit thread_local Front* this_front [[gnu::tls_model("initial-exec")]] =
    const_cast<Front*>(static_cast<const Front*>(&stub_front));

void ensure_ready() {
  static std::atomic<bool> done;
  if (HAK_LIKELY(done.load(std::memory_order_acquire))) return;
  {
    Guard guard(lock_of(Rank::init));
    if (done.load(std::memory_order_relaxed)) return;
    start();
    done.store(true, std::memory_order_release);
  }
  finish_start();
  if (exit_key_made) pthread_setspecific(exit_key, this_front);
}

/// A process that never calls malloc still gets what its HAKMEM_ variables ask for.
[[gnu::constructor]] static void start_when_asked() {
  if (!boxes::any_variable()) return;
  ensure_ready();
  start_heap_profile();
}

Front* new_front() {
  ensure_ready();
  if (!is_stub(this_front)) return this_front;
  if (this_thread_ended) return nullptr;
  Front* front = take_over();
  if (front == nullptr) front = make_front();
  if (front == nullptr) return nullptr;
  this_front = front;
  if (exit_key_made) pthread_setspecific(exit_key, front);
  warm(front);
  return front;
}

SharedFront::SharedFront() : front_(&shared_front) {
  lock_of(Rank::shared_front).lock();
  if (shared_front.token != 0) return;
  Guard guard(lock_of(Rank::fronts));
  const std::size_t index = fronts_made.load(std::memory_order_relaxed);
  if (index == kMaxFronts) {
    front_ = nullptr;
    return;
  }
  set_up(shared_front, index);
  fronts[index] = &shared_front;
  shared_front.state.store(FrontState::active, std::memory_order_relaxed);
  fronts_made.store(index + 1, std::memory_order_release);
}

SharedFront::~SharedFront() { lock_of(Rank::shared_front).unlock(); }

Front* front_at(std::size_t index) { return fronts[index]; }

std::size_t front_count() { return fronts_made.load(std::memory_order_acquire); }

Front* owner_of(const Slab* slab) {
  const std::uint32_t token = route_of(slab).load(std::memory_order_acquire) >> kTokenShift;
  return token == 0 || token > front_count() ? nullptr : fronts[token - 1];
}

bool try_hold(Front& front) {
  FrontState expected = FrontState::abandoned;
  return front.state.compare_exchange_strong(expected, FrontState::held);
}

void release_hold(Front& front) {
  for (;;) {
    front.state.store(FrontState::abandoned, std::memory_order_seq_cst);
    if (front.queue.load(std::memory_order_seq_cst) == nullptr || !try_hold(front)) return;
    drain(front);
  }
}

}  // namespace hakmem
