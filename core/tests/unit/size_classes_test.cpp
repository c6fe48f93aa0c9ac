// Every size has a class that fits, close enough, and aligned as it was asked for.
#include "base/size_classes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hakmem {
namespace {

TEST(SizeClasses, EverySizeFitsItsClass) {
  for (std::size_t size = 0; size <= kMaxSmall; ++size) {
    const unsigned cls = class_of(size);
    ASSERT_LT(cls, kRegularClasses) << size;
    ASSERT_GE(usable_of(cls), size);
  }
}

TEST(SizeClasses, ClassesRiseWithTheSize) {
  for (std::size_t size = 1; size <= kMaxSmall; ++size) {
    ASSERT_GE(class_of(size), class_of(size - 1)) << size;
    ASSERT_LE(class_of(size), class_of(size - 1) + 1) << size;
  }
  for (unsigned cls = 1; cls < kRegularClasses; ++cls) {
    ASSERT_GT(usable_of(cls), usable_of(cls - 1));
  }
}

TEST(SizeClasses, TheNextSmallerClassDoesNotFit) {
  for (std::size_t size = 1; size <= kMaxSmall; ++size) {
    const unsigned cls = class_of(size);
    ASSERT_TRUE(cls == 0 || usable_of(cls - 1) < size) << size;
  }
}

TEST(SizeClasses, AtMostAFifthOfABlockIsWasted) {
  for (std::size_t size = 129; size <= kMaxSmall; ++size) {
    ASSERT_LE((usable_of(class_of(size)) - size) * 5, usable_of(class_of(size))) << size;
  }
  for (std::size_t size = 1; size <= 128; ++size) ASSERT_LT(usable_of(class_of(size)) - size, 16U);
}

TEST(SizeClasses, BlocksAreSixteenByteAligned) {
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    EXPECT_EQ(class_info(cls).block_size % kMinAlignment, 0U) << cls;
    EXPECT_EQ(class_info(cls).offset % kMinAlignment, 0U) << cls;
  }
}

TEST(SizeClasses, SlabsWasteLittleAndHoldSeveralBlocks) {
  for (unsigned cls = 0; cls < kClassCount; ++cls) {
    const ClassInfo& info = class_info(cls);
    const std::size_t bytes = std::size_t{info.slices} << kSliceShift;
    const std::size_t used = std::size_t{info.capacity} * info.block_size;
    EXPECT_GE(info.slices, 1U);
    EXPECT_LE(info.slices, 8U);
    EXPECT_GE(info.capacity, 8U) << cls;
    EXPECT_LE(used, bytes);
    EXPECT_LE((bytes - used) * 16, bytes) << cls;
  }
}

TEST(SizeClasses, RouteCodesFitAByte) { EXPECT_LT(route_code(kClassCount - 1), 0xF0U); }

class AlignedClasses : public testing::TestWithParam<std::size_t> {};

TEST_P(AlignedClasses, FitAndAreAligned) {
  const std::size_t alignment = GetParam();
  for (std::size_t size = 0; size <= kMaxSmall; size += size < 3000 ? 1 : 61) {
    const unsigned cls = aligned_class_of(size, alignment);
    if (cls == kClassCount) continue;
    ASSERT_LT(cls, kClassCount);
    ASSERT_GE(usable_of(cls), size);
    ASSERT_EQ(class_info(cls).block_size % alignment, 0U) << size;
    ASSERT_EQ(class_info(cls).offset % alignment, 0U) << size;
  }
}

TEST_P(AlignedClasses, ThereIsOneForEverySmallSize) {
  const std::size_t alignment = GetParam();
  for (std::size_t size = 0; size <= kMaxSmall; size += 13) {
    EXPECT_NE(aligned_class_of(size, alignment), kClassCount) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Powers, AlignedClasses,
                         testing::Values(1, 2, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,
                                         16384, 32768));

TEST(SizeClasses, NothingSmallIsBeyondTheLimits) {
  EXPECT_EQ(aligned_class_of(kMaxSmall + 1, 16), kClassCount);
  EXPECT_EQ(aligned_class_of(16, kMaxSmall * 2), kClassCount);
}

TEST(Bands, AreThoseOfTheRecord) {
  constexpr std::size_t kLargest[] = {8, 16, 32, 64, 128, 256, 512, 1024};
  for (std::size_t size = 0; size <= 5000; ++size) {
    const auto* at = std::lower_bound(std::begin(kLargest), std::end(kLargest), size);
    ASSERT_EQ(band_of(size), static_cast<unsigned>(at - kLargest)) << size;
  }
}

}  // namespace
}  // namespace hakmem
