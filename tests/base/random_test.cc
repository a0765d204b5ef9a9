// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace tessera::base {
namespace {

TEST(RandomTest, OneSeedGivesOneSequence) {
  Random a(7);
  Random b(7);
  Random other(8);
  const uint64_t first = a.Next();
  EXPECT_EQ(first, b.Next());
  EXPECT_NE(first, other.Next());
}

TEST(RandomTest, UniformReachesBothEndsAndStaysWithin) {
  Random random(1);
  std::set<int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.Uniform(-2, 2));
  EXPECT_EQ(seen, (std::set<int64_t>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(random.Uniform(5, 5), 5);
}

TEST(RandomTest, RealStaysBelowOne) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const double value = random.Real();
    EXPECT_TRUE(value >= 0 && value < 1);
  }
}

TEST(RandomTest, ShuffleIsAPermutationThatMoves) {
  std::vector<int> items(50);
  std::iota(items.begin(), items.end(), 0);
  const std::vector<int> before = items;
  Random(9).Shuffle(std::span<int>(items));
  EXPECT_NE(items, before);
  std::sort(items.begin(), items.end());
  EXPECT_EQ(items, before);
}

}  // namespace
}  // namespace tessera::base
