// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "tessera/base/arithmetic.h"

namespace tessera::base {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(CheckedTest, AddsUpToTheLimitAndNoFurther) {
  EXPECT_EQ(CheckedAdd(kMaxTotal - 1, 1), kMaxTotal);
  EXPECT_EQ(CheckedAdd(kMaxTotal, 1), std::nullopt);
  EXPECT_EQ(CheckedAdd(-kMaxTotal, -1), std::nullopt);
  EXPECT_EQ(CheckedAdd(kMax, kMax), std::nullopt);
}

TEST(CheckedTest, MultipliesUpToTheLimitAndNoFurther) {
  EXPECT_EQ(CheckedMul(int64_t{1} << 31, int64_t{1} << 31), kMaxTotal);
  EXPECT_EQ(CheckedMul(int64_t{1} << 32, int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(CheckedMul(kMax, -2), std::nullopt);
}

TEST(CheckedTest, DividesTowardsMinusAndPlusInfinity) {
  EXPECT_EQ(FloorDiv(-1, 4), -1);
  EXPECT_EQ(CeilDiv(-1, 4), 0);
  EXPECT_EQ(FloorDiv(7, 4), 1);
  EXPECT_EQ(CeilDiv(7, 4), 2);
}

RC_GTEST_PROP(CheckedTest, RoundingMeetsTheNearestMultiples, ()) {
  const int64_t a = *rc::gen::inRange<int64_t>(-100000, 100000);
  const int64_t step = *rc::gen::inRange<int64_t>(1, 1000);
  RC_ASSERT(RoundUp(a, step) % step == 0 && RoundDown(a, step) % step == 0);
  RC_ASSERT(RoundUp(a, step) >= a && RoundUp(a, step) < a + step);
  RC_ASSERT(RoundDown(a, step) <= a && RoundDown(a, step) > a - step);
}

}  // namespace
}  // namespace tessera::base
