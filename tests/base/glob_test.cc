// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tessera/base/text.h"

namespace tessera::base {
namespace {

TEST(GlobTest, WithoutWildcardsIsEquality) {
  EXPECT_TRUE(MatchesGlob("conv1", "conv1"));
  EXPECT_FALSE(MatchesGlob("conv1", "conv"));
  EXPECT_FALSE(MatchesGlob("conv", "conv1"));
  EXPECT_TRUE(MatchesGlob("", ""));
}

TEST(GlobTest, AQuestionMarkIsOneCharacter) {
  EXPECT_TRUE(MatchesGlob("conv1", "conv?"));
  EXPECT_FALSE(MatchesGlob("conv", "conv?"));
}

TEST(GlobTest, AStarIsAnyCharacters) {
  EXPECT_TRUE(MatchesGlob("", "*"));
  EXPECT_TRUE(MatchesGlob("block3/conv/weights", "*/weights"));
  EXPECT_TRUE(MatchesGlob("aXbXc", "a*X*c"));
  EXPECT_TRUE(MatchesGlob("aab", "*ab"));  // a star that takes the first possible end fails
  EXPECT_FALSE(MatchesGlob("weights/bias", "*/weights"));
  EXPECT_FALSE(MatchesGlob("abc", "a*d"));
}

}  // namespace
}  // namespace tessera::base
