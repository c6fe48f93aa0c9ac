// What the preload library writes while a program runs: chunks that belong to one thread each, in a
// file per process. `hak record` makes the trace of it afterwards.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hakmem::record {

inline constexpr const char* kFolderVariable = "HAK_RECORD_FOLDER";
inline constexpr std::size_t kChunkBytes = 256 << 10;

enum class RawKind : std::uint8_t {
  none = 0,  ///< the rest of the chunk is empty
  allocate,
  zeroed,
  free,
  resize_begin,  ///< the old address, before realloc is called
  resize_end,    ///< the new one; null: it failed and the old one stays
  aligned,       ///< log2 of the alignment in the top byte of `size`
};

struct RawEvent {
  std::uint64_t order_and_kind;  ///< place in the order of all threads << 8 | kind
  std::uint64_t address;
  std::uint64_t size;
};

/// The first event's room holds the thread's number.
inline constexpr std::size_t kChunkEvents = kChunkBytes / sizeof(RawEvent) - 1;

struct Chunk {
  std::uint64_t thread;
  std::uint64_t spare[2];
  RawEvent events[kChunkEvents];
  char rest[kChunkBytes - (kChunkEvents + 1) * sizeof(RawEvent)];
};
static_assert(sizeof(Chunk) == kChunkBytes);

}  // namespace hakmem::record
