#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "harness/placed_json.hpp"

namespace hakmem::harness {
namespace {

std::string failure_of(const std::string& text) {
  try {
    parse_placed("f.json", text);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::usage);
    return failure.what();
  }
  return "";
}

TEST(PlacedJson, CommentsAreSkippedAndLinesKept) {
  const PlacedJson json = parse_placed("f.json", "// one\n{\n /* two\n three */ \"a\": [1,\n 2]}");
  EXPECT_EQ(json.value["a"][1], 2);
  EXPECT_EQ(json.lines.at("a"), 4);
  EXPECT_EQ(json.lines.at("a[0]"), 4);
  EXPECT_EQ(json.lines.at("a[1]"), 5);
}

TEST(PlacedJson, NumberBeforeALineEndStandsOnItsOwnLine) {
  const PlacedJson json = parse_placed("f.json", "[\n1\n,\n22\n]");
  EXPECT_EQ(json.lines.at("[0]"), 2);
  EXPECT_EQ(json.lines.at("[1]"), 4);
}

TEST(PlacedJson, DoubledKeyNamesBothLines) {
  EXPECT_EQ(failure_of("{\"a\": {\"b\": 1,\n\"c\": 2,\n\"b\": 3}}"),
            "f.json:3: a.b: this key stands here twice (first on line 1)");
}

TEST(PlacedJson, SameKeyInTwoObjectsIsFine) {
  EXPECT_EQ(failure_of("[{\"a\": 1}, {\"a\": 1, \"b\": {\"a\": 1}}]"), "");
}

TEST(PlacedJson, SyntaxErrorNamesTheLineInOneLine) {
  const std::string text = failure_of("{\n\"a\": 1\n\"b\": 2}");
  EXPECT_TRUE(text.starts_with("f.json:3: not JSON: ")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(PlacedJson, EveryCutOfAFileIsAFailureAndNeverACrash) {
  const std::string whole =
      "{\"a\": [1, -2.5e3, \"x\\u00e4\", null], /* c */ \"b\": {\"c\": true}}";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(failure_of(whole.substr(0, length)), "") << length;
  }
  EXPECT_EQ(failure_of(whole), "");
}

TEST(PlacedJson, DeepNestingIsNoStackOverflow) {
  const std::string deep(100'000, '[');
  EXPECT_NE(failure_of(deep), "");
}

TEST(PlacedJson, ComplaintFallsBackToTheParentsLine) {
  const PlacedJson json = parse_placed("f.json", "{\n\"a\":\n{\"b\": 1}}");
  EXPECT_EQ(json.complaint("a.zzz", "bad"), "f.json:2: a.zzz: bad");
  EXPECT_EQ(json.complaint("", "bad"), "f.json:1: bad");
}

}  // namespace
}  // namespace hakmem::harness
