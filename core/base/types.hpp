// Constants and attributes that every floor uses.
#pragma once

#include <cstddef>
#include <cstdint>

// The hot translation unit is compiled once per variant, so nothing that it includes may leave an
// out-of-line copy for the linker to merge: inline functions here are inlined always.
#define HAK_INLINE [[gnu::always_inline]] inline
#define HAK_NOINLINE [[gnu::noinline]]
#define HAK_COLD [[gnu::noinline, gnu::cold]]
#define HAK_LIKELY(x) __builtin_expect(!!(x), 1)
#define HAK_UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace hakmem {

inline constexpr std::size_t kPageSize = 4096;
inline constexpr unsigned kSliceShift = 16;  ///< a slice is the unit of the arena: 64 KiB
inline constexpr std::size_t kSliceSize = std::size_t{1} << kSliceShift;
/// Slices that hold so many bytes.
HAK_INLINE constexpr std::size_t slices_for(std::size_t bytes) {
  return (bytes + kSliceSize - 1) >> kSliceShift;
}
inline constexpr unsigned kSlicesPerSuperSlab = 64;  ///< one bitmap word; 4 MiB
inline constexpr std::size_t kSuperSlabSize = kSliceSize * kSlicesPerSuperSlab;
inline constexpr std::size_t kMinAlignment = 16;  ///< of every block, whatever its size

#ifdef HAKMEM_OBSERVE
inline constexpr bool kObserve = true;
#else
inline constexpr bool kObserve = false;
#endif

/// Whether this is code of libhakmem-lab.so: research boxes exist there only.
#ifdef HAKMEM_LAB
inline constexpr bool kLab = true;
#else
inline constexpr bool kLab = false;
#endif

#ifdef HAKMEM_DEBUG
inline constexpr bool kDebug = true;
#else
inline constexpr bool kDebug = false;
#endif

#ifdef HAKMEM_HARDENED
inline constexpr bool kHardened = true;
#else
inline constexpr bool kHardened = false;
#endif

/// Builds that check each block that is handed out and freed (front/guard.hpp).
inline constexpr bool kGuarded = kDebug || kHardened;

/// Bytes at the end of each small block that the caller does not get: the canary.
inline constexpr std::size_t kTrailer = kHardened ? 8 : 0;

/// Bytes at the end of each large block that nobody may touch.
inline constexpr std::size_t kGuardBytes = kHardened ? kPageSize : 0;

HAK_INLINE constexpr std::size_t align_up(std::size_t n, std::size_t alignment) {
  return (n + alignment - 1) & ~(alignment - 1);
}

HAK_INLINE std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

HAK_INLINE void* pointer(std::uintptr_t a) { return reinterpret_cast<void*>(a); }

}  // namespace hakmem
