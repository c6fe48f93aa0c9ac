// The front: what one thread owns. Its caches serve malloc and free; its slabs feed the caches.
//
// Fronts are never freed. When a thread ends, its front is emptied and left (state `abandoned`)
// with the slabs that still hold live blocks; the next new thread takes it over whole, and until
// then any thread that wants slabs, or frees into it, may hold it for a moment.
#pragma once

#include <atomic>

#include "base/sealed.hpp"
#include "base/size_classes.hpp"
#include "boxes/state.hpp"
#include "front/lab.hpp"
#include "slab/slab.hpp"

namespace hakmem {

/// Cache of free blocks of one class. `head` ends in Front::empty, never in null.
struct Bin {
  Block* head;
  std::uint32_t credit;      ///< frees until the list is looked at again
  std::uint16_t known;       ///< length at the last look that saw the end of the list
  std::uint16_t taken : 12;  ///< blocks that refills took since the last look, or kManyTaken
  std::uint16_t grown : 3;   ///< doublings of its span and, where that may grow, of its cap
  std::uint16_t gave : 1;    ///< the last look gave blocks back
};

static_assert(sizeof(Bin) == 16, "a bin is reached with route code * 8");

inline constexpr unsigned kMostGrown = 3;           ///< of a cap
inline constexpr unsigned kMostPatient = 2;         ///< of a span whose cap stays
inline constexpr std::uint32_t kManyTaken = 0xFFF;  ///< more than half of a cap that may grow yet

HAK_INLINE void count_taken(Bin& bin, std::uint32_t blocks) {
  const std::uint32_t taken = bin.taken + blocks;
  bin.taken = (taken < kManyTaken ? taken : kManyTaken) & 0xFFF;
}

/// Longest list that a bin keeps at first, more or less: by default 64 KiB of blocks, 16 to 256 of
/// them.
HAK_INLINE std::uint32_t bin_cap(unsigned cls) {
  const auto most = static_cast<std::uint32_t>(boxes::value_of(boxes::Id::cache_blocks));
  const std::uint32_t least = most < 16 ? most : 16;
  const std::uint32_t by_bytes = most * 256 / class_info(cls).block_size;
  return by_bytes > most ? most : by_bytes < least ? least : by_bytes;
}

/// Blocks of this size and more share no pair of cache lines worth speaking of.
inline constexpr std::uint32_t kUnsharedBlock = 128;

/// Bins of smaller blocks hold none of other threads' slabs: their caps may grow.
HAK_INLINE bool cap_grows(unsigned cls) { return class_info(cls).block_size < kUnsharedBlock; }

/// Longest list that it keeps now.
HAK_INLINE std::uint32_t bin_cap(const Bin& bin, unsigned cls) {
  return bin_cap(cls) << (cap_grows(cls) ? bin.grown : 0);
}

/// Frees between two looks at an empty bin.
HAK_INLINE std::uint32_t bin_span(const Bin& bin, unsigned cls) {
  return bin_cap(cls) << bin.grown;
}

/// Remote frees on their way: one chain for one slice. The record is not read until the chain is
/// sent: its line belongs to the owner's CPU.
struct Outbox {
  Slab* record;  ///< of the slice; null: empty
  Chain chain;   ///< linked from its last block backwards: `head` is the newest
};

inline constexpr std::size_t kOutboxes = 16;
/// Blocks that wait in one before they are sent, unless the box remote_batch says otherwise.
inline constexpr auto kOutboxBlocks =
    static_cast<std::uint32_t>(boxes::box(boxes::Id::remote_batch).default_value);

/// Free runs that a thread keeps (front/run_cache.hpp).
struct RunCache {
  static constexpr std::uint32_t kLongest = 4;  ///< slices of a run that is kept

  Slab* runs[kLongest];  ///< by length − 1, linked by Slab::next, the one freed last first
  std::uint16_t count[kLongest];
  std::uint16_t fewest[kLongest];  ///< of count since the last look: so many are of no use
  std::uint32_t slices;            ///< of all of them
};

enum class FrontState : std::uint32_t {
  unused,
  active,     ///< a thread runs on it
  abandoned,  ///< its thread has ended
  held,       ///< abandoned, and some thread works on it just now
  lost,       ///< its thread did not survive a fork: lists may be torn, nobody reads them again
};

/// Slow-path counts; written by the front's holder, read by anyone.
struct FrontStats {
  std::uint64_t refills, trims, drains, remote_sent, slabs_taken, slabs_returned, adoptions;
  std::uint64_t blocks_out[kClassCount];   ///< from slabs to caches
  std::uint64_t blocks_back[kClassCount];  ///< from caches and remote lists to slabs
  std::uint64_t observed_mallocs[kBandCount], observed_frees;  ///< observe build only
  // Runs of slices and direct mappings. What changes together stands apart: gcc would make one wide
  // load of two neighbours, which stalls on the two narrow stores before it.
  std::uint64_t large_allocs;
  std::uint64_t sends;  ///< chains of blocks sent to other fronts' slabs
  std::uint64_t large_frees;
  std::uint64_t resizes;      ///< of runs, in place
  std::uint64_t large_bytes;  ///< of runs; a sum over fronts is right, one alone may wrap
  std::uint64_t purges;       ///< times that pages went back to the system

  /// Notes that so many slices of runs went out (or, negative, came back), and the calls.
  HAK_INLINE void note_large(std::int64_t slices, unsigned allocs, unsigned frees,
                             unsigned resized = 0) {
    large_allocs += allocs;
    large_frees += frees;
    resizes += resized;
    large_bytes += static_cast<std::uint64_t>(slices) << kSliceShift;
  }
};

/// Array of free C7 blocks of the research box c7_ultra.
struct C7Array {
  static constexpr std::uint32_t kCapacity = 64;
  std::uint32_t count;
  std::uint32_t headers_initialized;  ///< every block in the array carries its header
  void* blocks[kCapacity];
};

/// Where every list of a front ends: its mark is never the free mark.
[[gnu::visibility("hidden")]] extern Block empty_block;

struct alignas(64) Front {
  struct Stub {};

  constexpr Front() = default;

  /// The front of threads that have none: a mark that no block has, a token that no slab has.
  constexpr explicit Front(Stub) : free_mark(1), token(0xFFFFFF00) {
    for (Bin& bin : bins) bin.head = &empty_block;
  }

  // Hot: read by malloc and free.
  Bin bins[kClassCount]{};
  std::uint64_t free_mark{};  ///< copy of sealed.free_mark
  std::uint64_t token{};      ///< owner part of the routes of this front's slabs
  /// Route code by ⌈size/16⌉, size with its header; variant-specific.
  std::uint8_t tiny_codes[kMaxTiny / 16 + 2]{};
  // Slow paths.
  Block* no_block{};               ///< where a heap profile is taken, all tiny_codes lead here
  Slab* with_room[kClassCount]{};  ///< owner's slabs that can give a block, fullest first
  Outbox outboxes[kOutboxes]{};
  RunCache run_cache{};
  std::uint32_t ticks{};
  std::uint32_t sweep{};                      ///< bin or length of runs that is looked at next
  std::uint32_t swept_credit[kClassCount]{};  ///< each bin's credit at the last sweep
  std::uint32_t exit_rounds{};
  bool takes_sample{};           ///< of the heap profile: what that allocates is not sampled
  std::uint64_t sample_draws{};  ///< state of the random numbers
  std::uint64_t
      bytes_to_sample{};  ///< the next sample is the block that holds this byte; 0: none yet
  C7Array c7{};
  FrontStats stats{};
  std::uint64_t box_uses[boxes::kBoxCount]{};
  // Shared.
  alignas(64) std::atomic<Slab*> queue{};  ///< slabs whose remote list became non-empty
  std::atomic<FrontState> state{};
};

/// Route code of an always empty bin: malloc's fast path finds nothing.
inline constexpr std::size_t kNoBlockCode = offsetof(Front, no_block) / 8;
static_assert(offsetof(Front, no_block) % 8 == 0 && kNoBlockCode <= 0xFF);

#ifdef HAKMEM_LAB
/// A front with what research boxes keep behind it.
struct alignas(64) LabFront : Front {
  constexpr LabFront() = default;
  constexpr explicit LabFront(Stub stub) : Front(stub) {}
  LabState lab{};
};
using ThreadFront = LabFront;
#else
using ThreadFront = Front;
#endif

/// The calling thread's front; the stub before its first call and after its end. Initial-exec, so
/// that it costs two instructions, and eight bytes, so that dlopen always finds room.
[[gnu::visibility("hidden")]] extern constinit thread_local Front* this_front
    [[gnu::tls_model("initial-exec")]];

/// Front of threads that have none: all lists empty, and a token that no slab has. Never written.
[[gnu::visibility("hidden")]] extern const ThreadFront stub_front;

HAK_INLINE bool is_stub(const Front* front) { return front == &stub_front; }

/// A data or slow box decided something, if it is here.
HAK_INLINE void count_decision(Front& front, boxes::Id id) {
  const auto i = static_cast<std::size_t>(id);
  if (i < boxes::kBoxCount && boxes::is_here(boxes::box(id))) ++front.box_uses[i];
}

// --- thread.cpp -------------------------------------------------------------------------------

/// The calling thread's front, which has none yet: made now. Null when the thread has ended or
/// there is no memory for one: such callers use SharedFront.
HAK_COLD Front* new_front();

/// The calling thread's front, or what `new_front` gives.
HAK_INLINE Front* own_front() {
  Front* front = this_front;
  return HAK_LIKELY(!is_stub(front)) ? front : new_front();
}

/// A front for threads that can have none; held under its lock while the object lives.
class SharedFront {
 public:
  SharedFront();
  ~SharedFront();
  SharedFront(const SharedFront&) = delete;
  SharedFront& operator=(const SharedFront&) = delete;
  Front* get() const { return front_; }

 private:
  Front* front_;
};

Front* front_at(std::size_t index);
std::size_t front_count();  ///< fronts ever made: indices below it

/// The front that owns a slab now; null for a slab that no front owns.
Front* owner_of(const Slab* slab);

/// Takes hold of an abandoned front; released by `release_hold`, which looks at its queue again.
bool try_hold(Front& front);
void release_hold(Front& front);

// --- cache.cpp --------------------------------------------------------------------------------

/// Fills the bin of a class and gives one block of it, marked as handed out. Null: no memory.
void* refill(Front& front, unsigned cls);

/// Fills the empty bins of the tiny classes, as far as there is memory (box prewarm).
void prewarm(Front& front);

/// Takes up to `wanted` blocks from the front's slabs; none when there is no memory.
Chain take_blocks(Front& front, unsigned cls, std::uint32_t wanted);

/// The bin's credit has run out: looks at its length and gives back what is too much.
void trim(Front& front, unsigned cls);

/// Gives a list of this front's blocks, ending in `empty_block`, back to their slabs.
void give_back(Front& front, Block* chain);

/// Gives back every cached block and run, sends every outbox.
void flush_all(Front& front);

/// What is due now and then on slow paths: remote frees, memory to return. A slow path that comes
/// so many times less often than others says so by its `weight`.
void tick(Front& front, std::uint32_t weight = 1);

/// Returns memory now: caches, empty slabs, free pages. Gives the number of bytes purged.
std::size_t release_memory(Front& front);

// --- remote.cpp -------------------------------------------------------------------------------

/// Frees a block of another front's slab, given the record of its slice: into the outbox, sent in
/// batches.
void free_remote(Front& front, Slab* record, Block* block);

/// Sends a chain of blocks of one slab at once.
void send_remote(Slab* record, const Chain& chain);

void flush_outboxes(Front& front);

/// Takes in what others freed.
void drain(Front& front);

// --- slabs.cpp --------------------------------------------------------------------------------

/// A slab of the class with room, listed in the front: fresh, or from an abandoned front. Null when
/// there is no memory.
Slab* obtain_slab(Front& front, unsigned cls);

void list_slab(Front& front, Slab* slab);
void unlist_slab(Front& front, Slab* slab);

/// The slab's last block came back: keeps it when it is the class's only one, else returns it.
void retire_slab(Front& front, Slab* slab, bool keep_last);

/// Returns every slab that has no block out.
void return_empty_slabs(Front& front);

}  // namespace hakmem
