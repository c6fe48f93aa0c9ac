// Mappings of their own for what is larger than an arena run should be: beyond 32 MiB.
//
// They are known from a table that only slow paths read: open addressing by start address.
#pragma once

#include "base/types.hpp"

namespace hakmem {

inline constexpr std::size_t kMaxRunBytes = std::size_t{32} << 20;

/// Zeroed memory of at least `size` bytes at a multiple of `alignment` (a power of two). Null when
/// the system has none.
void* direct_alloc(std::size_t size, std::size_t alignment);

/// Usable bytes of the mapping that begins at `p`; 0 when `p` is none.
std::size_t direct_size(const void* p);

/// False when `p` is not the start of a direct mapping.
bool direct_free(void* p);

/// Grows or shrinks by mremap, moving pages rather than bytes. Null on failure; the block is
/// intact.
void* direct_realloc(void* p, std::size_t size);

/// Mappings and bytes now.
struct DirectUsage {
  std::size_t mappings, bytes;
};
DirectUsage direct_usage();
DirectUsage direct_usage_unlocked();  ///< for signal handlers: may be a moment off

}  // namespace hakmem
