#include "tessera/base/utf8.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tessera::base
