// Data box burn: a slowdown of known size, with which the measuring is tested.
#pragma once

#include <cstdint>

#include "boxes/state.hpp"
#include "front/front.hpp"

namespace hakmem {

/// Spends `cycles`, rounded down to fours, on a chain of dependent additions. The chain begins with
/// what the last frees wrote and ends in the thread's front pointer, which every later call reads:
/// so the CPU can hide it behind neither.
HAK_INLINE void spend_cycles(const Bin& bin, std::uint64_t cycles) {
  const std::uint64_t start = bin.credit;
  std::uint64_t sum = start;
  for (std::uint64_t left = cycles / 4; left != 0; --left) {
#ifdef __x86_64__
    __asm__ volatile("add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0" : "+r"(sum) : "r"(0UL));
#else
    for (int i = 0; i < 4; ++i) __asm__ volatile("add %0, %0, %1" : "+r"(sum) : "r"(0UL));
#endif
  }
  this_front =
      reinterpret_cast<Front*>(reinterpret_cast<std::uintptr_t>(this_front) + (sum - start));
}

/// So many credit expiries are paid for at once: a chain of a few cycles fits into the time that
/// the CPU waits for a mispredicted branch, and two thirds of it would cost nothing.
inline constexpr std::uint64_t kExpiriesABurn = 64;

/// At a credit expiry.
HAK_INLINE void burn(Front& front, const Bin& bin) {
  count_decision(front, boxes::Id::burn);
  const std::int64_t cycles = boxes::value_of(boxes::Id::burn);
  if (HAK_LIKELY(cycles == 0) || front.stats.trims % kExpiriesABurn != 0) return;
  spend_cycles(bin, static_cast<std::uint64_t>(cycles) * kExpiriesABurn);
}

}  // namespace hakmem
