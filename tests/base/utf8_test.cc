// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tessera/base/text.h"

namespace tessera::base {
namespace {

TEST(IsUtf8, TakesSequencesOfEveryLength) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("plain"));
  EXPECT_TRUE(IsUtf8("\xc2\x80 \xe0\xa0\x80 \xed\x9f\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"));
}

TEST(IsUtf8, RefusesWhatRfc3629Excludes) {
  EXPECT_FALSE(IsUtf8("\x80")) << "a tail without its lead";
  EXPECT_FALSE(IsUtf8("a\xc3")) << "a lead without its tail";
  EXPECT_FALSE(IsUtf8("\xc0\xaf")) << "overlong";
  EXPECT_FALSE(IsUtf8("\xe0\x9f\xbf")) << "overlong";
  EXPECT_FALSE(IsUtf8("\xed\xa0\x80")) << "a surrogate";
  EXPECT_FALSE(IsUtf8("\xf4\x90\x80\x80")) << "beyond U+10FFFF";
  EXPECT_FALSE(IsUtf8("\xff"));
}

TEST(AsUtf8, EscapesBytesAlone) {
  EXPECT_EQ(AsUtf8("a\xff\xc3z\x1b\xc3\xa4"), "a\\xff\\xc3z\x1b\xc3\xa4");
  EXPECT_EQ(AsUtf8(""), "");
}

TEST(Printable, LeavesWhatIsOnlyShown) {
  EXPECT_EQ(Printable("conv1 … 3×3 C:\\n 日本 \xf0\x9f\x98\x80"),
            "conv1 … 3×3 C:\\n 日本 \xf0\x9f\x98\x80");
}

TEST(Printable, EscapesWhatSteers) {
  EXPECT_EQ(Printable("a\x1b[2J\x7f\n\r\t"), "a\\u001b[2J\\u007f\\n\\r\\t");
  EXPECT_EQ(Printable(std::string_view("\0", 1)), "\\u0000");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m")
      << "CSI in one character";
  EXPECT_EQ(Printable("\xe2\x80\xae"), "\\u202e") << "right-to-left override";
  EXPECT_EQ(Printable("\xe2\x80\xa8"), "\\u2028") << "line separator";
  EXPECT_EQ(Printable("\xef\xbf\xbf"), "\\uffff") << "no character, in XML neither";
  EXPECT_EQ(Printable("\xff\xe2\x82"), "\\xff\\xe2\\x82");
}

TEST(Printable, KeepsWhatIsAskedFor) {
  EXPECT_EQ(Printable("a\n\tb\x1b", "\n\t"), "a\n\tb\\u001b");
}

TEST(Printable, IsPrintableItself) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string once = Printable(all);
  EXPECT_EQ(Printable(once), once);
  EXPECT_TRUE(IsUtf8(once));
}

TEST(Trimmed, HasNoSpacesAtItsEnds) {
  EXPECT_EQ(Trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(Trimmed("ab"), "ab");
  EXPECT_EQ(Trimmed(" \n"), "");
  EXPECT_EQ(Trimmed(""), "");
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("abc", 2), "ab");
  EXPECT_EQ(Shortened("a\xc3\xa4", 2), "a");
  EXPECT_EQ(Shortened("\xc3\xa4", 1), "");
}

}  // namespace
}  // namespace tessera::base
