// The pieces of hakbench that can be wrong without a run showing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "harness/hakbench/block.hpp"
#include "harness/hakbench/call_times.hpp"
#include "harness/hakbench/catalogue.hpp"
#include "harness/hakbench/latency.hpp"
#include "harness/hakbench/memory.hpp"
#include "harness/hakbench/nearest.hpp"
#include "harness/hakbench/options.hpp"
#include "harness/hakbench/ring.hpp"
#include "harness/hakbench/rng.hpp"
#include "harness/hakbench/sizes.hpp"

namespace hakbench {
namespace {

TEST(Rng, SplitMixGivesThePublishedSequence) {
  SplitMix rng(1234567);
  EXPECT_EQ(rng.next(), 6457827717110365317u);
  EXPECT_EQ(rng.next(), 3203168211198807973u);
  EXPECT_EQ(rng.next(), 9817491932198370423u);
}

TEST(Rng, StreamsOfNearSeedsDiffer) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t stream = 0; stream < 100; ++stream) seeds.insert(stream_seed(seed, stream));
  }
  EXPECT_EQ(seeds.size(), 10000u);
}

TEST(Rng, BoundedReachesBothEndsAndNoMore) {
  EXPECT_EQ(bounded(0, 400), 0u);
  EXPECT_EQ(bounded(~std::uint32_t{0}, 400), 399u);
}

TEST(Sizes, UniformCoversMinToMax) {
  Options options(*find_workload("random_mixed"));
  const UniformSizes sizes(options);
  EXPECT_EQ(sizes(0), 16u);
  EXPECT_EQ(sizes(~std::uint32_t{0}), 1039u);
}

TEST(Sizes, ApplicationHasTheSharesItNames) {
  const ApplicationSizes sizes{Options(*find_workload("dist_app"))};
  EXPECT_EQ(sizes(0), 16u);
  EXPECT_EQ(sizes(~std::uint32_t{0}), 32768u);
  Xoshiro rng(1);
  std::array<unsigned, 3> parts{};
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t size = sizes(high_half(rng.next()));
    ASSERT_GE(size, 16u);
    ASSERT_LE(size, 32768u);
    ++parts[(size > 256) + (size > 2048)];
  }
  EXPECT_NEAR(parts[0], 80'000, 1000);
  EXPECT_NEAR(parts[1], 15'000, 1000);
  EXPECT_NEAR(parts[2], 5'000, 500);
}

TEST(Sizes, DoublingStaysWithinItsEnds) {
  const DoublingSizes sizes(64 << 10, 16 << 20);
  EXPECT_EQ(sizes(0), 64u << 10);
  EXPECT_LE(sizes(~std::uint32_t{0}), 16u << 20);
  EXPECT_GE(sizes(~std::uint32_t{0}), 15u << 20);
  EXPECT_EQ(DoublingSizes(64, 64)(12345), 64u);
}

/// A block of that size in a guarded buffer.
struct Guarded {
  explicit Guarded(std::uint32_t size) : block{bytes.data() + 64, size, size * 7 + 1} {
    bytes.fill(0x5A);
  }
  bool guards_hold() const {
    return std::all_of(bytes.begin(), bytes.begin() + 64, [](char c) { return c == 0x5A; }) &&
           std::all_of(bytes.begin() + 64 + block.size, bytes.end(),
                       [](char c) { return c == 0x5A; });
  }
  std::array<char, 512> bytes{};
  Block block;
};

TEST(Tag, EverySizeIsWrittenWithinItsBoundsAndFoundAgain) {
  for (std::uint32_t size = 1; size <= 300; ++size) {
    Guarded guarded(size);
    write_tag(guarded.block);
    write_interior(guarded.block);
    EXPECT_TRUE(guarded.guards_hold()) << size;
    check_tag(guarded.block);
    check_interior(guarded.block);
  }
}

TEST(TagDeathTest, EveryChangedByteIsFoundWithWholeChecks) {
  GTEST_FLAG_SET(death_test_style, "fast");
  for (std::uint32_t size : {1u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 45u}) {
    for (std::uint32_t offset = 0; offset < size; ++offset) {
      Guarded guarded(size);
      write_tag(guarded.block);
      write_interior(guarded.block);
      guarded.block.address[offset] = static_cast<char>(guarded.block.address[offset] ^ 4);
      EXPECT_EXIT(
          {
            check_tag(guarded.block);
            check_interior(guarded.block);
          },
          testing::ExitedWithCode(kExitBroken), "block 0x[0-9a-f]+ size [0-9]+ tag 0x")
          << size << " at " << offset;
    }
  }
}

TEST(Tag, DiffersByIdAndBySize) {
  EXPECT_NE(tag_of({nullptr, 16, 1}), tag_of({nullptr, 16, 2}));
  EXPECT_NE(tag_of({nullptr, 16, 1}), tag_of({nullptr, 17, 1}));
}

TEST(Histogram, BucketsHoldTheirMiddleAndAreNarrow) {
  for (std::uint64_t ticks : {0ul, 1ul, 63ul, 64ul, 65ul, 1000ul, 123456789ul, 1ul << 62}) {
    const std::size_t bucket = Histogram::bucket_of(ticks);
    const double middle = Histogram::middle_of(bucket);
    EXPECT_NEAR(middle, static_cast<double>(ticks), static_cast<double>(ticks) / 32) << ticks;
  }
}

TEST(Histogram, QuantilesOfOneToThousand) {
  auto* histogram = map_array<Histogram>(1);
  EXPECT_EQ(histogram->quantile(0.5), 0);
  for (std::uint64_t ticks = 1; ticks <= 1000; ++ticks) histogram->add(ticks);
  EXPECT_NEAR(histogram->quantile(0.5), 500, 16);
  EXPECT_NEAR(histogram->quantile(0.99), 990, 31);
  EXPECT_EQ(histogram->max(), 1000u);
  EXPECT_EQ(histogram->samples(), 1000u);
  EXPECT_EQ(histogram->total(), 500'500u);
  EXPECT_EQ(histogram->samples_above(Histogram::bucket_of(63)), 937u);
  EXPECT_EQ(histogram->samples_above(histogram->bucket_at(1)), 0u);
}

TEST(CallTimes, ACallCountsForItsDeepestPath) {
  const PathCounts before{1, 1, 1, 1, 1, 1};
  EXPECT_EQ(path_between(before, before), Path::fast);
  EXPECT_EQ(path_between(before, {1, 2, 1, 1, 1, 1}), Path::refill);
  EXPECT_EQ(path_between(before, {1, 2, 2, 1, 1, 1}), Path::remote);
  EXPECT_EQ(path_between(before, {1, 2, 2, 2, 1, 1}), Path::slab);
  EXPECT_EQ(path_between(before, {1, 2, 1, 2, 1, 3}), Path::system);
  EXPECT_EQ(path_between(before, {1, 2, 1, 2, 2, 3}), Path::purge);
  EXPECT_EQ(path_between({}, {1, 2, 3, 4, 5, 6}), Path::thread);
  EXPECT_EQ(path_between({1, 1, 1, 1, 1, ~0u}, {1, 1, 1, 1, 1, 0}), Path::system) << "wrapped";
  EXPECT_EQ(read_paths(nullptr).slabs, 0u);
}

TEST(CallTimes, KeepTheSlowestOfAllThreadsInOrder) {
  auto* times = map_array<CallTimes>(3);
  for (std::uint64_t ticks = 1; ticks <= 100; ++ticks) {
    times[ticks % 2].add({"malloc", 16, ticks % 2 == 0 ? Path::fast : Path::slab, ticks});
  }
  times[2].add(times[0]);
  times[2].add(times[1]);
  ASSERT_EQ(times[2].slowest().size(), CallTimes::kSlowest);
  std::uint64_t expected = 100;
  for (const TimedCall& call : times[2].slowest()) {
    EXPECT_EQ(call.path, expected % 2 == 0 ? Path::fast : Path::slab);
    EXPECT_EQ(call.ticks, expected--);
  }
  EXPECT_EQ(times[2].all().samples(), 100u);
  EXPECT_EQ(times[2].of(Path::slab).samples(), 50u);
  EXPECT_EQ(times[2].of(Path::refill).samples(), 0u);
  times[2].clear();
  EXPECT_TRUE(times[2].slowest().empty());
  EXPECT_EQ(times[2].of(Path::slab).samples() + times[2].all().total(), 0u);
}

TEST(Ring, KeepsOrderAndRefusesWhenFull) {
  Ring ring(4);
  Block block{};
  EXPECT_FALSE(ring.pop(block));
  for (std::uint32_t round = 0; round < 10; ++round) {
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(ring.push({nullptr, 16, round * 4 + i}));
    EXPECT_FALSE(ring.push({}));
    for (std::uint32_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(ring.pop(block));
      EXPECT_EQ(block.id, round * 4 + i);
    }
    EXPECT_FALSE(ring.pop(block));
  }
}

TEST(Nearest, FindsTheNameThatWasMeant) {
  Nearest nearest("random_mxed");
  for (const Workload& workload : kCatalogue) nearest.offer(workload.name);
  EXPECT_EQ(nearest.best(), "random_mixed");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Catalogue, DefaultsLieWithinTheirRanges) {
  for (const Workload& workload : kCatalogue) {
    for (const Parameter& parameter : workload.parameters) {
      EXPECT_LE(parameter.min, parameter.fallback) << workload.name << parameter.name;
      EXPECT_GE(parameter.max, parameter.fallback) << workload.name << parameter.name;
    }
    for (std::string_view name : workload.positional) {
      EXPECT_NE(find_parameter(workload, name), nullptr) << workload.name << name;
    }
  }
}

TEST(Options, RecordsLarsonArguments) {
  const char* arguments[] = {"10", "8", "128", "1024", "1", "12345", "4"};
  const Options options = parse_options(*find_workload("larson"), 7, arguments);
  EXPECT_EQ(options["seconds"], 10u);
  EXPECT_EQ(options["chunks"], 1024u);
  EXPECT_EQ(options["seed"], 12345u);
  EXPECT_EQ(options.threads(), 4u);
}

TEST(Options, OneSizeSetsBothEndsAndWordsAreRead) {
  const char* arguments[] = {"--size", "64", "--rule=replace", "--verify", "--min-seconds", "0.25"};
  const Options options = parse_options(*find_workload("random_mixed"), 6, arguments);
  EXPECT_EQ(options["min"], 64u);
  EXPECT_EQ(options["max"], 64u);
  EXPECT_EQ(options.word("rule"), "replace");
  EXPECT_EQ(options["verify"], 1u);
  EXPECT_DOUBLE_EQ(options.min_seconds(), 0.25);
}

}  // namespace
}  // namespace hakbench
