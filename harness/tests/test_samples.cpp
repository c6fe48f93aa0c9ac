#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "harness/blocks.hpp"
#include "harness/errors.hpp"
#include "harness/sample_file.hpp"

namespace hakmem::harness {
namespace {

Json sample(const char* arm, unsigned block, unsigned attempt = 1, double foreign = 0,
            const char* status = "ok") {
  return {{"format", 1},      {"cell", "c"},
          {"arm", arm},       {"block", block},
          {"slot", 0u},       {"attempt", attempt},
          {"status", status}, {"metrics", {{"wall_s", 1.0}, {"foreign_load_pct", foreign}}},
          {"void", nullptr}};
}

class Samples : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::string read() { return read_file(path_).value(); }

  std::string path_ = testing::TempDir() + "/hak-samples-" + std::to_string(getpid()) + ".jsonl";
};

TEST_F(Samples, CutAtEveryByteOfTheLastLineDropsOnlyThat) {
  const std::string first = json_line(sample("a", 0)) + "\n", second = json_line(sample("b", 0));
  for (std::size_t length = 0; length <= second.size(); ++length) {
    write(first + second.substr(0, length));
    std::string warning;
    SampleFile file(path_, &warning);
    ASSERT_EQ(file.all().size(), 1U) << length;
    ASSERT_EQ(warning.empty(), length == 0) << length;
    ASSERT_EQ(read(), first) << length;
    file.append(sample("b", 0));
    ASSERT_EQ(read(), first + second + "\n");
  }
}

TEST_F(Samples, CutAtEveryByteOfTheFileIsAWarningOrNothing) {
  std::string whole;
  for (const char* const arm : {"a", "b", "c"}) whole += json_line(sample(arm, 0)) + "\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const SampleText parsed = parse_samples("f", whole.substr(0, length));
    EXPECT_EQ(parsed.valid_bytes + parsed.dropped_bytes, length);
  }
}

TEST_F(Samples, DamageInTheMiddleNamesTheLine) {
  const std::string good = json_line(sample("a", 0)) + "\n";
  const std::string last = json_line(sample("b", 0)) + "\n";
  for (const std::string bad : {"{\"format\": 1, \"ce\n", "\n", "[]\n", "{}\n", "nonsense\n"}) {
    try {
      parse_samples("f.jsonl", good + bad + last);
      ADD_FAILURE() << bad;
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find("f.jsonl:2: "), std::string::npos)
          << failure.what();
    }
  }
}

TEST_F(Samples, AFlippedByteInTheMiddleIsNeverSilentlyAnotherRun) {
  const std::string good = json_line(sample("a", 0)) + "\n";
  EXPECT_THROW(parse_samples("f", good + good), Failure);
}

TEST_F(Samples, ANewerFormatIsRefusedByName) {
  Json newer = sample("a", 0);
  newer["format"] = 2;
  try {
    parse_samples("f", json_line(newer) + "\n");
    ADD_FAILURE();
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("format 2"), std::string::npos);
  }
}

TEST_F(Samples, VoidMarksAllRunsOfTheAttemptOnDisk) {
  std::string warning;
  SampleFile file(path_, &warning);
  for (const char* const arm : {"a", "b"}) file.append(sample(arm, 0));
  file.append(sample("a", 1));
  file.void_attempt("c", 0, 1, "steal 9 %");
  const SampleText parsed = parse_samples(path_, read());
  EXPECT_EQ(parsed.samples[0]["void"], "steal 9 %");
  EXPECT_EQ(parsed.samples[1]["void"], "steal 9 %");
  EXPECT_TRUE(parsed.samples[2]["void"].is_null());
  file.append(sample("b", 1));
  EXPECT_EQ(parse_samples(path_, read()).samples.size(), 4U);
}

const VoidLimits kLimits = {5, 20};

TEST(Blocks, StatesFromSamplesAlone) {
  std::vector<Json> samples;
  EXPECT_EQ(block_state(samples, "c", 0, 2, kLimits).attempts, 0U);
  samples.push_back(sample("a", 0));
  EXPECT_TRUE(block_state(samples, "c", 0, 2, kLimits).broken_off);
  samples.push_back(sample("b", 0));
  BlockState state = block_state(samples, "c", 0, 2, kLimits);
  EXPECT_TRUE(state.complete);
  EXPECT_FALSE(state.broken_off);
  for (Json& each : samples) each["void"] = "steal";
  state = block_state(samples, "c", 0, 2, kLimits);
  EXPECT_FALSE(state.complete);
  EXPECT_EQ(state.attempts, 1U);
  EXPECT_EQ(state.machine_voids, 1U);
  samples.push_back(sample("a", 0, 2));
  samples.push_back(sample("b", 0, 2));
  EXPECT_TRUE(block_state(samples, "c", 0, 2, kLimits).complete);
}

TEST(Blocks, ABreakOffDoesNotCountAgainstTheMachine) {
  std::vector<Json> samples = {sample("a", 0)};
  samples[0]["void"] = kBrokenOff;
  EXPECT_EQ(block_state(samples, "c", 0, 2, kLimits).machine_voids, 0U);
}

TEST(Blocks, ForeignLoadBeyondLimitAndTickIsAMachineCause) {
  EXPECT_NE(machine_cause(sample("a", 0, 1, 22), kLimits), "");
  EXPECT_EQ(machine_cause(sample("a", 0, 1, 20.5), kLimits), "");  // within one clock tick
  EXPECT_NE(block_state({sample("a", 0, 1, 50)}, "c", 0, 2, kLimits).cause, "");
}

TEST(Blocks, AFailedRunIsNeverVoid) {
  EXPECT_EQ(machine_cause(sample("a", 0, 1, 90, "crash"), kLimits), "");
  const std::vector<Json> samples = {sample("a", 0, 1, 90), sample("b", 0, 1, 0, "crash")};
  const BlockState state = block_state(samples, "c", 0, 2, kLimits);
  EXPECT_TRUE(state.complete);
  EXPECT_TRUE(state.failed);
  EXPECT_EQ(state.cause, "");
}

}  // namespace
}  // namespace hakmem::harness
