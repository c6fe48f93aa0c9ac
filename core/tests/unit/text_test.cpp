// Messages without libc.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hakmem {
namespace {

std::string string_of(const Text& text) { return {text.data(), text.size()}; }

TEST(Text, AppendsStringsAndNumbers) {
  TextBuffer<200> text;
  text.add("a").add('=').add(-12).add(' ').add(7U).add(' ').hex(0xBEEF);
  EXPECT_EQ(string_of(text), "a=-12 7 0xbeef");
}

TEST(Text, NumbersAtTheirEnds) {
  TextBuffer<200> text;
  text.add(INT64_MIN).add(' ').add(INT64_MAX).add(' ').add(UINT64_MAX).add(' ').add(0);
  text.add(' ').hex(UINT64_MAX).add(' ').hex(0);
  EXPECT_EQ(string_of(text),
            "-9223372036854775808 9223372036854775807 18446744073709551615 0 "
            "0xffffffffffffffff 0x0");
}

TEST(Text, CutsOffAtItsCapacity) {
  char buffer[8] = "0123456";
  Text text(buffer, 4);
  text.add("abcdefgh").add(123456).hex(99);
  EXPECT_EQ(string_of(text), "abcd");
  EXPECT_STREQ(buffer + 4, "456");
}

TEST(Text, CapacityOfZero) {
  Text text(nullptr, 0);
  text.add("x").add(1).hex(2);
  EXPECT_EQ(text.size(), 0U);
}

TEST(Text, ClearStartsAgain) {
  TextBuffer<4> text;
  text.add("abcdef");
  text.clear();
  text.add("xy");
  EXPECT_EQ(string_of(text), "xy");
}

TEST(Text, SameText) {
  EXPECT_TRUE(same_text("", ""));
  EXPECT_TRUE(same_text("abc", "abc"));
  EXPECT_FALSE(same_text("abc", "ab"));
  EXPECT_FALSE(same_text("ab", "abc"));
  EXPECT_FALSE(same_text("abc", "abd"));
}

}  // namespace
}  // namespace hakmem
