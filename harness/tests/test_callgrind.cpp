// What callgrind wrote, read and folded to counts per call.
#include <gtest/gtest.h>

#include "harness/callgrind.hpp"
#include "harness/under_tool.hpp"

namespace hakmem::harness {
namespace {

// Ten mallocs of three instructions behind an entry jump, one of which refills (7 instructions).
const std::string kLab =
    "# callgrind format\nversion: 1\npositions: instr line\nevents: Ir\nsummary: 99\n\n"
    "ob=/x/bench\nfn=main\n0x10 1 40\ncob=/x/libhakmem-lab.so\ncfn=malloc\ncalls=10 0x500 0\n"
    "0x14 2 47\n\n"
    "ob=/x/libhakmem-lab.so\nfn=malloc\n0x500 0 10\ncob=???\ncfi=???\ncfn=hakmem_baseline_malloc\n"
    "calls=10 0x9000 0\n0x500 0 37\n\n"
    "ob=???\nfl=???\nfn=hakmem_baseline_malloc\n0x9000 0 10\n0x9003 0 10\n0x9008 0 9\n"
    "cfn=hakmem::refill(hakmem::Front&)\ncalls=1 0x700 0\n0x900a 0 7\n0x900a 0 1\n\n"
    "fn=???\n0x1 0 1000\n\n"
    "ob=/x/libhakmem-lab.so\nfn=hakmem::refill(hakmem::Front&)\n0x700 3 1\n0x704 3 3\n"
    "cfn=hakmem::refill(hakmem::Front&)'2\ncalls=1 0x700 0\n0x708 3 2\n"
    "fn=hakmem::refill(hakmem::Front&)'2\n0x700 3 1\n0x704 3 2\n"
    "fn=free\n0x520 0 4\n0x524 0 4\n";

TEST(Callgrind, CountsPerCall) {
  const CallCounts counts = read_callgrind(kLab, "/x/libhakmem-lab.so");
  EXPECT_EQ(counts.problem, "");
  EXPECT_EQ(counts.mallocs, 10U);
  EXPECT_EQ(counts.frees, 4U);
  EXPECT_DOUBLE_EQ(counts.per_malloc().value_or(0), 4.0);  // 10 jumps and 30 of the variant
  EXPECT_DOUBLE_EQ(counts.per_free().value_or(0), 2.0);
  EXPECT_DOUBLE_EQ(counts.slow_per_op().value_or(0), 0.5);
  EXPECT_EQ(counts.instructions, 40U + 10 + 30 + 1000 + 7 + 8);
  ASSERT_EQ(counts.functions.size(), 4U);
  EXPECT_EQ(counts.functions[0].name, "hakmem_baseline_malloc");
  const Executions expected = {{0, 10}, {3, 10}, {8, 9}, {10, 1}};
  EXPECT_EQ(counts.functions[0].executions, expected);
}

TEST(Callgrind, RecursionIsOneFunction) {
  const CallCounts counts = read_callgrind(kLab, "/x/libhakmem-lab.so");
  for (const CountedFunction& function : counts.functions) {
    if (!function.entry.empty()) continue;
    EXPECT_EQ(function.name, "hakmem::refill(hakmem::Front&)");
    EXPECT_EQ(function.entries, 2U);
    EXPECT_EQ(function.instructions, 7U);
  }
}

TEST(Callgrind, OfTheCLibraryOnlyItsAllocatorCounts) {
  const CallCounts counts = read_callgrind(
      "events: Ir\nob=/lib/libc.so.6\nfn=malloc\n0x1 0 2\nfn=_int_malloc\n0x9 0 6\nfn=memcpy\n"
      "0x20 0 50\n",
      "");
  EXPECT_EQ(counts.functions.size(), 2U);
  EXPECT_DOUBLE_EQ(counts.slow_per_op().value_or(0), 3.0);
  EXPECT_FALSE(counts.per_free());
}

TEST(Callgrind, NothingCountedIsNullAndNotZero) {
  EXPECT_EQ(counts_json(read_callgrind("", "/x/a.so")),
            Json({{"problem", "callgrind wrote no counts"}}));
  const Json empty = counts_json(read_callgrind("events: Ir\n", "/x/a.so"));
  EXPECT_TRUE(empty["per_malloc"].is_null() && empty["slow_per_op"].is_null());
}

TEST(UnderTool, OnlyTheProgramGetsThePreload) {
  RunRequest request;
  request.command = {"prog", "x"};
  request.environment = {"A=1", "LD_PRELOAD=/l.so"};
  request.wanted_library = "/l.so";
  const RunRequest made = under_tool(request, {"perf", "record"});
  const std::vector<std::string> command = {"perf", "record", "/usr/bin/env", "LD_PRELOAD=/l.so",
                                            "prog", "x"};
  EXPECT_EQ(made.command, command);
  EXPECT_EQ(made.environment, std::vector<std::string>{"A=1"});
  EXPECT_EQ(made.wanted_library, "");
}

}  // namespace
}  // namespace hakmem::harness
