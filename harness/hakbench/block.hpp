// What hakbench writes into a block and demands to find there later.
//
// The first 8 bytes hold the block's tag, the last 8 its complement. The tag is a bijection of id
// and size, so two live blocks never share one, and memory handed out twice is seen when the first
// of its owners looks. Blocks under 16 bytes hold as much of both as fits, the first 8 bytes going
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/hakbench/failure.hpp"

namespace hakbench {

struct Block {
  char* address;  ///< null: no block
  std::uint32_t size;
  std::uint32_t id;  ///< differs between blocks that live at the same time
};
static_assert(sizeof(Block) == 16);

constexpr std::uint64_t tag_of(const Block& block) {
  return ((std::uint64_t{block.id} << 32) | block.size) * 0x9E3779B97F4A7C15;
}

inline std::uint64_t load_word(const char* address) {
  std::uint64_t word;
  std::memcpy(&word, address, sizeof word);
  return word;
}

inline void store_word(char* address, std::uint64_t word) {
  std::memcpy(address, &word, sizeof word);
}

/// `alignment` is a power of two.
inline bool is_aligned(const Block& block, std::uint32_t alignment) {
  return (reinterpret_cast<std::uintptr_t>(block.address) & (alignment - 1)) == 0;
}

/// Tag of a block under 16 bytes.
void write_small_tag(const Block& block);
void check_small_tag(const Block& block);

/// The bytes between the two ends; for --verify.
void write_interior(const Block& block);
void check_interior(const Block& block);

/// Finds which end is wrong, and ends the program.
[[noreturn]] void fail_ends(const Block& block);

[[gnu::always_inline]] inline void write_tag(const Block& block) {
  if (block.size < 16) [[unlikely]] {
    write_small_tag(block);
    return;
  }
  const std::uint64_t tag = tag_of(block);
  store_word(block.address, tag);
  store_word(block.address + block.size - 8, ~tag);
}

/// Ends the program where the tag is not there.
[[gnu::always_inline]] inline void check_tag(const Block& block) {
  if (block.size < 16) [[unlikely]] {
    check_small_tag(block);
    return;
  }
  const std::uint64_t tag = tag_of(block);
  const std::uint64_t wrong =
      (load_word(block.address) ^ tag) | (load_word(block.address + block.size - 8) ^ ~tag);
  if (wrong != 0) [[unlikely]] {
    fail_ends(block);
  }
}

}  // namespace hakbench
