// The sum of fingerprints tells apart what a count cannot: which blocks came back.
#include <gtest/gtest.h>

#include "slab/slab.hpp"

namespace hakmem {
namespace {

constexpr std::uintptr_t kStart = 0x7E12'3456'0000 + kColourStep;
constexpr unsigned kBlocks = 40;

std::uint32_t of(unsigned index, std::uint32_t block_size) {
  return fingerprint(static_cast<Block*>(pointer(kStart + std::uintptr_t{index} * block_size)));
}

class Fingerprints : public testing::TestWithParam<unsigned> {
 protected:
  std::uint32_t size = class_info(GetParam()).block_size;
};

TEST_P(Fingerprints, ABlockFreedTwiceInPlaceOfAnotherShows) {
  for (unsigned twice = 0; twice < kBlocks; ++twice) {
    for (unsigned lost = 0; lost < kBlocks; ++lost) {
      if (twice == lost) continue;
      EXPECT_NE(of(twice, size), of(lost, size)) << twice << ' ' << lost;
    }
  }
}

TEST_P(Fingerprints, TwoFreedTwiceInPlaceOfTwoOthersShow) {
  // Where the addresses add up to the same, too: the blocks around a middle.
  for (unsigned a = 0; a < kBlocks; ++a) {
    for (unsigned d = a + 3; d < kBlocks; ++d) {
      const std::uint32_t twice = of(a, size) + of(d, size);
      for (unsigned b = a + 1; b < d - b + a; ++b) {
        EXPECT_NE(twice, of(b, size) + of(a + d - b, size)) << a << ' ' << b << ' ' << d;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, Fingerprints, testing::Range(0U, class_of(2048) + 1));

}  // namespace
}  // namespace hakmem
