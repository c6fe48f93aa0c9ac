// The allocation trace: what `hak record` writes, `hakbench trace` replays and `hak trace` shows.
//
// A header, then the events of all threads in one order, as variable-length numbers: seven bits a
// byte, low ones first, the top bit set on all but the last. An event's first number holds its kind
// in the low three bits. Blocks are named by slots, which the reader hands out as the writer did.
#pragma once

#include <cstdint>

namespace hakmem::trace {

inline constexpr char kMagic[8] = {'H', 'A', 'K', 'T', 'R', 'A', 'C', 'E'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kMostThreads = 4096;
inline constexpr std::uint64_t kMostSlots = std::uint64_t{1} << 28;

enum class Kind : std::uint8_t {
  allocate = 0,  ///< size
  zeroed = 1,    ///< size (calloc)
  free = 2,      ///< slot
  resize = 3,    ///< slot; then the new size
  aligned = 4,   ///< log2 of the alignment; then the size
  thread = 5,    ///< number of the thread that the next events belong to; begins with 0
};

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t threads;
  std::uint64_t events;         ///< without changes of the thread
  std::uint64_t slots;          ///< most that are handed out
  std::uint64_t payload_bytes;  ///< what follows the header
  std::uint64_t payload_hash;   ///< fnv1a of it
  std::uint64_t foreign_frees;  ///< left out: blocks from before the recording or a fork
  std::uint64_t oversized;      ///< blocks of 2 GiB and more, recorded as 2 GiB - 1
};
static_assert(sizeof(Header) == 64);

inline std::uint64_t fnv1a(const unsigned char* bytes, std::uint64_t count) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (std::uint64_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3;
  return hash;
}

}  // namespace hakmem::trace
