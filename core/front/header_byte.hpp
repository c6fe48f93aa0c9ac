// Boot box header_byte (record: phases E1 to E3): the byte before a small block's user pointer
// holds 0xA0 + class, so that free() learns the class from the heap.
//
// The byte is the last one of the block before, so a block of class c gives size(c) − 1 bytes to
// use and every pointer stays a multiple of 16. Slabs begin kHeaderLead bytes late, which makes
// room for the first one. Two kinds of blocks have no header, since their slabs have no room for
// it: those whose size is a multiple of kBareStep, and the runs of slices. All of them, and few
// others, lie on multiples of kBareStep: free() asks the slice's route about those.
#pragma once

#include "base/size_classes.hpp"
#include "boxes/state.hpp"

namespace hakmem {

inline constexpr std::uint8_t kHeaderBase = 0xA0;
inline constexpr std::size_t kHeaderLead = 64;
inline constexpr std::size_t kBareStep = 2048;

HAK_INLINE bool serves_headers() { return boxes::value_of(boxes::Id::header_byte) != 0; }

/// Whether blocks of the class have a header where the box is on.
HAK_INLINE constexpr bool class_has_header(unsigned cls) {
  return cls < kRegularClasses && class_info(cls).block_size % kBareStep != 0;
}

/// Bytes of a block that its header takes: those that a request needs besides its size.
HAK_INLINE std::size_t header_bytes() { return serves_headers() ? 1 : 0; }

/// The smallest request that may have a header: in a block of 16 bytes it would lie in the mark.
inline constexpr std::size_t kSmallestHeaded = 17;

HAK_INLINE bool is_bare(const void* p) { return address(p) % kBareStep == 0; }

HAK_INLINE void write_header(void* p, unsigned cls) {
  static_cast<std::uint8_t*>(p)[-1] = static_cast<std::uint8_t>(kHeaderBase + cls);
}

HAK_INLINE unsigned class_from_header(const void* p) {
  return static_cast<unsigned>(static_cast<const std::uint8_t*>(p)[-1]) - kHeaderBase;
}

namespace detail {

constexpr bool leads_fit() {
  for (unsigned cls = 0; cls < kRegularClasses; ++cls) {
    const ClassInfo& info = class_info(cls);
    const std::size_t rest =
        (std::size_t{info.slices} << kSliceShift) - std::size_t{info.capacity} * info.block_size;
    if (class_has_header(cls) && rest < kHeaderLead) return false;
  }
  return true;
}

}  // namespace detail

static_assert(detail::leads_fit());
static_assert(kHeaderBase + kRegularClasses <= 0x100);

}  // namespace hakmem
