#include "harness/hakbench/block.hpp"

namespace hakbench {

namespace {

unsigned char byte_of(std::uint64_t word, std::uint32_t index) {
  return static_cast<unsigned char>(word >> (8 * (index & 7)));
}

/// The byte at `offset` of a block under 16 bytes: the tag, and behind it the complement's end.
unsigned char small_byte(const Block& block, std::uint32_t offset) {
  const std::uint64_t tag = tag_of(block);
  return offset < 8 ? byte_of(tag, offset) : byte_of(~tag, offset - block.size);
}

/// Interior words differ by their offset, so that a shifted copy is seen.
std::uint64_t interior_word(const Block& block, std::uint32_t offset) {
  return tag_of(block) + offset;
}

}  // namespace

void write_small_tag(const Block& block) {
  for (std::uint32_t i = 0; i < block.size; ++i) {
    block.address[i] = static_cast<char>(small_byte(block, i));
  }
}

void check_small_tag(const Block& block) {
  for (std::uint32_t i = 0; i < block.size; ++i) {
    const auto found = static_cast<unsigned char>(block.address[i]);
    if (found != small_byte(block, i)) fail_block(block, i, found);
  }
}

void write_interior(const Block& block) {
  if (block.size <= 16) return;
  const std::uint32_t end = block.size - 8;
  std::uint32_t offset = 8;
  for (; offset + 8 <= end; offset += 8) {
    store_word(block.address + offset, interior_word(block, offset));
  }
  for (; offset < end; ++offset) block.address[offset] = static_cast<char>(offset ^ block.id);
}

void check_interior(const Block& block) {
  if (block.size <= 16) return;
  const std::uint32_t end = block.size - 8;
  std::uint32_t offset = 8;
  for (; offset + 8 <= end; offset += 8) {
    const std::uint64_t found = load_word(block.address + offset);
    if (found != interior_word(block, offset)) fail_block(block, offset, found);
  }
  for (; offset < end; ++offset) {
    if (block.address[offset] != static_cast<char>(offset ^ block.id)) {
      fail_block(block, offset, static_cast<unsigned char>(block.address[offset]));
    }
  }
}

void fail_ends(const Block& block) {
  const std::uint64_t first = load_word(block.address);
  if (first != tag_of(block)) fail_block(block, 0, first);
  fail_block(block, block.size - 8, load_word(block.address + block.size - 8));
}

}  // namespace hakbench
