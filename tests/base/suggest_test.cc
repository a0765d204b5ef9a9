// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>

#include "tessera/base/text.h"

namespace tessera::base {
namespace {

constexpr std::array<std::string_view, 3> kKeys = {"kernel", "stride", "strides"};

TEST(SuggestTest, FindsTheNearest) { EXPECT_EQ(Nearest("strde", kKeys), "stride"); }
TEST(SuggestTest, ASwapOfNeighboursCostsOne) { EXPECT_EQ(Nearest("kenrel", kKeys), "kernel"); }
TEST(SuggestTest, CaseIsFree) { EXPECT_EQ(Nearest("STRIDES", kKeys), "strides"); }
TEST(SuggestTest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(Nearest("banana", kKeys), "");
  EXPECT_EQ(DidYouMean("banana", kKeys), "");
}
TEST(SuggestTest, AsksAQuestion) {
  EXPECT_EQ(DidYouMean("strde", kKeys), "did you mean 'stride'?");
}
TEST(SuggestTest, Joins) {
  EXPECT_EQ(Join(kKeys), "kernel, stride, strides");
  EXPECT_EQ(Join({}), "");
}

}  // namespace
}  // namespace tessera::base
