// The malloc and free fast paths. Start reading here.
//
// This file is compiled once per variant (boxes/variant.hpp): for libhakmem.so with the defaults
// and the public names, for the lab once for each shape or boot box with names of its own.
#include "boxes/state.hpp"
#include "boxes/variant.hpp"
#include "front/c7_ultra.hpp"
#include "front/entries.hpp"
#include "front/front.hpp"
#include "front/guard.hpp"
#include "front/shape_null.hpp"
#include "front/slow.hpp"

#ifdef HAKMEM_LAB
#define HAK_STRING_(x) #x
#define HAK_STRING(x) HAK_STRING_(x)
#define HAK_JOIN_(a, b) a##b
#define HAK_JOIN(a, b) HAK_JOIN_(a, b)
#define HAK_ENTRY(name) HAK_JOIN(HAK_JOIN(HAK_JOIN(hakmem_, HAKMEM_VARIANT), _), name)
// Each variant's hot code is a section of its own: core/lab.ld puts the baseline first and the
// others last, each on a page of its own.
#define HAK_HOT [[gnu::section(".hakmem.hot." HAK_STRING(HAKMEM_VARIANT))]]
#define HAK_EXPORT
#else
#define HAK_JOIN_(a, b) a##b
#define HAK_HOT [[gnu::section(".hakmem.hot.baseline")]]
#define HAK_EXPORT [[gnu::visibility("default")]]
#define HAK_ENTRY(name) hakmem_direct_##name
#define hakmem_direct_malloc malloc
#define hakmem_direct_free free
#define hakmem_direct_new _Znwm
#endif

namespace hakmem::HAKMEM_VARIANT {

using boxes::Id;
using boxes::on;

namespace {

/// Bins are the front's first member, so that one addressing mode reaches them.
static_assert(offsetof(Front, bins) == 0);

HAK_INLINE Block*& head_of(Front* front, std::size_t code) {
  return *reinterpret_cast<Block**>(reinterpret_cast<std::byte*>(front) + code * 8 +
                                    offsetof(Bin, head));
}

/// Takes one from the bin's credit; true when there was none left.
HAK_INLINE bool take_credit(Front* front, std::size_t code) {
  auto& credit = *reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(front) + code * 8 +
                                                   offsetof(Bin, credit));
#ifdef __x86_64__
  // gcc loads, subtracts, stores and tests, where one instruction does it.
  bool expired;
  __asm__("subl $1, %0" : "+m"(credit), "=@ccc"(expired));
  return expired;
#else
  return credit-- == 0;
#endif
}

// Registers that gcc on x86-64 would else choose so that one more move is needed.
#if defined(__x86_64__) && !defined(__clang__)
#define HAK_CODE_REGISTER "+c"
#define HAK_RESULT_REGISTER "+a"
#else
#define HAK_CODE_REGISTER "+r"
#define HAK_RESULT_REGISTER "+r"
#endif

/// Makes the compiler forget what it knows of `code`. Else it computes the bin's address into a
/// register of its own, one instruction more than the addressing mode that does it for nothing.
HAK_INLINE void forget(std::size_t& code) { __asm__("" : HAK_CODE_REGISTER(code)); }

/// Pops the head when it is a free block; null when the list is empty or its head is no free block.
HAK_INLINE void* pop(Front* front, std::size_t code) {
  Block* block = head_of(front, code);
  if (HAK_UNLIKELY(block->mark != front->free_mark)) return nullptr;
  __asm__("" : HAK_RESULT_REGISTER(block));
  Block* next = block->next;
  if constexpr (on(Id::prefetch_next)) __builtin_prefetch(next, 1);
  block->mark = 0;
  forget(code);
  head_of(front, code) = next;
  return block;
}

/// Pushes; false when the bin's credit has run out.
HAK_INLINE bool push(Front* front, std::size_t& code, void* p) {
  auto* block = static_cast<Block*>(p);
  block->next = head_of(front, code);
  block->mark = front->free_mark;
  forget(code);
  head_of(front, code) = block;
  forget(code);
  return !take_credit(front, code);
}

/// Observe build: a shape box was executed.
[[maybe_unused]] HAK_INLINE void count_use(Front* front, Id id) {
  if constexpr (kObserve) ++front->box_uses[static_cast<std::size_t>(id)];
}

}  // namespace

}  // namespace hakmem::HAKMEM_VARIANT

#ifdef HAKMEM_LAB
#include "front/research.hpp"
#endif

namespace hakmem::HAKMEM_VARIANT {

namespace {

HAK_INLINE void* allocate(std::size_t size, void* (*slow)(std::size_t)) {
  if (HAK_UNLIKELY(size > kLargestTiny)) return slow(size);
  Front* front = this_front;
  constexpr std::size_t extra = kTrailer + (on(Id::header_byte) ? 1 : 0);
  const std::size_t code = front->tiny_codes[(size + extra + 15) / 16];
  if constexpr (on(Id::c7_ultra)) {
    if (code == route_code(kC7UltraClass)) {
      constexpr bool depchain = on(Id::c7_ultra_alloc_depchain_opt);
      void* p = c7_ultra_pop<depchain>(*front);
      if (HAK_UNLIKELY(p == nullptr)) return slow(size);
      count_use(front, Id::c7_ultra);
      if constexpr (depchain) count_use(front, Id::c7_ultra_alloc_depchain_opt);
      if constexpr (kGuarded) guard_allocated(p);
      return p;
    }
  }
#ifdef HAKMEM_LAB
  if (void* taken = take_before_bin(front, code)) {
    if constexpr (kGuarded) guard_allocated(taken);
    return taken;
  }
#endif
  void* p = pop(front, code);
#ifdef HAKMEM_LAB
  if constexpr (on(Id::inline_tails)) {
    if (HAK_UNLIKELY(p == nullptr)) p = refill_here(front, code);
  }
#endif
  if (HAK_UNLIKELY(p == nullptr)) return slow(size);
#ifdef HAKMEM_LAB
  if constexpr (on(Id::header_byte)) finish_header(front, p, code);
#endif
  // `hak new box` puts the calls of shape and boot boxes here.
  shape_null_at_malloc(*front);
  if constexpr (on(Id::prefetch_next)) count_use(front, Id::prefetch_next);
  if constexpr (kObserve) ++front->stats.observed_mallocs[band_of(size)];
  if constexpr (kGuarded) guard_allocated(p);
  return p;
}

}  // namespace

extern "C" {

HAK_HOT HAK_EXPORT void* HAK_ENTRY(malloc)(std::size_t size) { return allocate(size, malloc_slow); }

/// The owner's token and the class of a block stand together in its slice's route, so one exclusive
/// or says "mine, and small": what is left is the class.
HAK_HOT HAK_EXPORT void HAK_ENTRY(free)(void* p) {
  const std::size_t slice = (address(p) - sealed.arena_base) >> kSliceShift;
  if (HAK_UNLIKELY(slice >= sealed.arena_slices)) return free_slow(p);
  Front* front = this_front;
#ifdef HAKMEM_LAB
  std::size_t code = code_of(front, slice, p);
#else
  std::size_t code = sealed.routes[slice].load(std::memory_order_relaxed) ^ front->token;
#endif
#ifdef HAKMEM_LAB
  if constexpr (on(Id::inline_tails)) {
    if (HAK_UNLIKELY(code > 0xFF)) return free_other(front, slice, p);
  }
#endif
  if (HAK_UNLIKELY(code > 0xFF)) return free_slow(p);
  if constexpr (kObserve) ++front->stats.observed_frees;
  if constexpr (kGuarded) guard_freed(p);
  if constexpr (on(Id::c7_ultra)) {
    if (code == route_code(kC7UltraClass)) return c7_ultra_push(*front, p);
  }
#ifdef HAKMEM_LAB
  if constexpr (kRingBands != 0) {
    if (has_ring<kRingBands, kRouting>(front, code)) return slots_push(front, code, p);
  }
#endif
  if (HAK_UNLIKELY(!push(front, code, p))) return credit_expired(code);
}

/// operator new(std::size_t): as malloc, but failure goes to the new-handler.
HAK_HOT HAK_EXPORT void* HAK_ENTRY(new)(std::size_t size) { return allocate(size, new_slow); }

}  // extern "C"

}  // namespace hakmem::HAKMEM_VARIANT

#ifdef HAKMEM_LAB
namespace hakmem {
extern const VariantEntries HAK_JOIN(variant_, HAKMEM_VARIANT) = {
    HAK_STRING(HAKMEM_VARIANT), HAKMEM_VARIANT::HAK_ENTRY(malloc), HAKMEM_VARIANT::HAK_ENTRY(free),
    HAKMEM_VARIANT::HAK_ENTRY(new), boxes::on(boxes::Id::c7_ultra)};
}  // namespace hakmem
#endif
