// Size classes: multiples of 16 to 128, then four per doubling to 32 KiB, and the record's C7.
//
// The spacing bounds the waste inside a block to 20 % above 128 bytes (jemalloc, mimalloc and
// tcmalloc use the same or a close one).
#pragma once

#include <bit>

#include "base/types.hpp"

namespace hakmem {

inline constexpr std::size_t kMaxSmall = 32 * 1024;  ///< largest size served from slabs
inline constexpr std::size_t kMaxTiny = 1024;        ///< largest size the front's own map covers
inline constexpr std::size_t kLargestSmall = kMaxSmall - kTrailer;  ///< the same as callers ask
inline constexpr std::size_t kLargestTiny = kMaxTiny - kTrailer;

/// Classes per doubling above 128 bytes: a build option (class_spacing), 4 unless it says 8.
#ifdef HAKMEM_CLASS_SPACING
inline constexpr unsigned kPerDoubling = HAKMEM_CLASS_SPACING;
#else
inline constexpr unsigned kPerDoubling = 4;
#endif
inline constexpr unsigned kSpacingShift = kPerDoubling == 8 ? 3 : 2;
static_assert(kPerDoubling == 1U << kSpacingShift);
inline constexpr unsigned kRegularClasses = 8 + 8 * kPerDoubling;

/// Class of the research box c7_ultra: 1024 bytes behind a 16-byte header.
inline constexpr unsigned kC7UltraClass = kRegularClasses;
inline constexpr std::size_t kC7HeaderSize = 16;

/// Aligned twins: 128, 256, 512 and 1024 bytes in slabs without colour, for alignments above a
/// line.
inline constexpr unsigned kFirstTwin = kC7UltraClass + 1;
inline constexpr unsigned kTwins = 4;
inline constexpr std::size_t kSmallestTwin = 128;
inline constexpr unsigned kClassCount = kFirstTwin + kTwins;

/// Slabs of tiny classes begin up to 15 cache lines late, each at another line. Without that the
/// first blocks of all slabs lie in the same few sets of the first-level cache.
inline constexpr unsigned kColours = 16;
inline constexpr std::size_t kColourStep = 64;

/// Route codes are class * 2, so that a 16-byte bin is reached with the CPU's scale of 8.
HAK_INLINE constexpr unsigned route_code(unsigned cls) { return cls * 2; }

HAK_INLINE constexpr unsigned class_of(std::size_t size) {
  if (size <= 128) return size == 0 ? 0 : static_cast<unsigned>((size - 1) / 16);
  const unsigned doubling = static_cast<unsigned>(std::bit_width(size - 1)) - 1;  // 7 for 129…256
  const unsigned part =
      static_cast<unsigned>((size - 1) >> (doubling - kSpacingShift)) & (kPerDoubling - 1);
  return 8 + (doubling - 7) * kPerDoubling + part;
}

/// What a slab of one class looks like.
struct ClassInfo {
  std::uint32_t block_size;  ///< stride in bytes, header included
  std::uint32_t capacity;    ///< blocks per slab
  std::uint8_t slices;       ///< slices per slab
  std::uint8_t offset;       ///< user pointer − block start
  bool coloured;             ///< slabs begin on one of kColours cache lines
};

namespace detail {

constexpr std::uint32_t regular_size(unsigned cls) {
  if (cls < 8) return (cls + 1) * 16;
  const unsigned doubling = (cls - 8) / kPerDoubling + 7;
  return (1U << doubling) + ((cls - 8) % kPerDoubling + 1) * (1U << (doubling - kSpacingShift));
}

/// Fewest slices that hold eight blocks and waste at most a sixteenth.
constexpr ClassInfo layout(std::uint32_t block_size, std::uint8_t offset, bool coloured) {
  const std::uint32_t lead = coloured ? (kColours - 1) * kColourStep : 0;
  for (std::uint32_t slices = 1;; ++slices) {
    const std::uint32_t bytes = slices << kSliceShift;
    const std::uint32_t capacity = (bytes - lead) / block_size;
    if (capacity >= 8 && (bytes - capacity * block_size) * 16 <= bytes) {
      return {block_size, capacity, static_cast<std::uint8_t>(slices), offset, coloured};
    }
  }
}

struct ClassTable {
  ClassInfo info[kClassCount];
};

constexpr ClassTable make_table() {
  ClassTable table{};
  for (unsigned cls = 0; cls < kRegularClasses; ++cls) {
    table.info[cls] = layout(regular_size(cls), 0, regular_size(cls) <= kMaxTiny);
  }
  table.info[kC7UltraClass] = layout(kMaxTiny + kC7HeaderSize, kC7HeaderSize, false);
  for (unsigned twin = 0; twin < kTwins; ++twin) {
    table.info[kFirstTwin + twin] =
        layout(static_cast<std::uint32_t>(kSmallestTwin << twin), 0, false);
  }
  return table;
}

}  // namespace detail

#ifdef HAKMEM_LAB
// A table for each object: a shared one would be a weak symbol, and variants share none.
constexpr detail::ClassTable kClasses = detail::make_table();
#else
inline constexpr detail::ClassTable kClasses = detail::make_table();
#endif

HAK_INLINE constexpr const ClassInfo& class_info(unsigned cls) { return kClasses.info[cls]; }

/// Bytes a caller may use in a block of the class.
HAK_INLINE constexpr std::size_t usable_of(unsigned cls) {
  return kClasses.info[cls].block_size - kClasses.info[cls].offset - kTrailer;
}

/// Smallest class for `size` bytes whose blocks all lie on multiples of `alignment`, a power of
/// two. A slab begins on a slice boundary, or on a cache line when it is coloured, so a stride that
/// is a multiple of the alignment is enough. Gives kClassCount where no class fits.
HAK_INLINE constexpr unsigned aligned_class_of(std::size_t size, std::size_t alignment) {
  if (size > kLargestSmall || alignment > kMaxSmall) return kClassCount;
  size += kTrailer;
  // Strides of a doubling are multiples of a power of two, so that of the class of a multiple of
  // the alignment is a multiple of it too.
  const std::size_t wanted = size > alignment ? align_up(size, alignment) : alignment;
  if (alignment > kColourStep && wanted <= kMaxTiny) {
    return kFirstTwin + static_cast<unsigned>(std::bit_width((wanted - 1) / kSmallestTwin));
  }
  return wanted <= kMaxSmall ? class_of(wanted) : kClassCount;
}

/// The record's bands: C0 (0,8] … C7 (512,1024], then one band for all that is larger.
inline constexpr unsigned kBandCount = 9;
HAK_INLINE constexpr unsigned band_of(std::size_t size) {
  if (size <= 8) return 0;
  const unsigned band = static_cast<unsigned>(std::bit_width(size - 1)) - 3;
  return band < kBandCount - 1 ? band : kBandCount - 1;
}

static_assert(class_of(0) == 0 && class_of(16) == 0 && class_of(17) == 1 && class_of(128) == 7);
static_assert(class_of(129) == 8 && class_of(128 + 128 / kPerDoubling) == 8 &&
              class_of(129 + 128 / kPerDoubling) == 9 && class_of(256) == 7 + kPerDoubling);
static_assert(class_of(kMaxSmall) == kRegularClasses - 1);
static_assert(kClasses.info[kRegularClasses - 1].block_size == kMaxSmall);
static_assert(kClasses.info[class_of(1024)].block_size == 1024);
static_assert(kClasses.info[aligned_class_of(100, 128)].block_size == 128);
static_assert(kHardened || kClasses.info[aligned_class_of(129, 128)].block_size == 256);
static_assert(kClasses.info[aligned_class_of(16, 1024)].block_size == 1024);
static_assert(band_of(8) == 0 && band_of(9) == 1 && band_of(513) == 7 && band_of(1025) == 8);

}  // namespace hakmem
