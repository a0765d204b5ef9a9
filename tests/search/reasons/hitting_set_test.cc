// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>

#include "tessera/base/random.h"
#include "tessera/search/reasons/fewest_modes.h"

namespace tessera::search::reasons {
namespace {

using Sets = std::vector<std::vector<int>>;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(HittingSetTest, NothingHitsNoSets) {
  EXPECT_THAT(FindHittingSet(Sets{}), Optional(IsEmpty()));
}

TEST(HittingSetTest, AnEmptySetCannotBeHit) {
  EXPECT_EQ(FindHittingSet(Sets{{1}, {}}), std::nullopt);
}

TEST(HittingSetTest, OneElementForManySets) {
  EXPECT_THAT(FindHittingSet(Sets{{0, 3}, {1, 3}, {2, 3}}), Optional(ElementsAre(3)));
}

TEST(HittingSetTest, DisjointSetsNeedOneEach) {
  EXPECT_THAT(FindHittingSet(Sets{{4, 5}, {0, 1}, {2}}), Optional(ElementsAre(0, 2, 4)));
}

bool Hits(unsigned chosen, const Sets& sets) {
  return std::all_of(sets.begin(), sets.end(), [chosen](const std::vector<int>& set) {
    return std::any_of(set.begin(), set.end(),
                       [chosen](int element) { return (chosen >> element & 1U) != 0; });
  });
}

TEST(HittingSetTest, IsAsSmallAsAnySubsetThatHits) {
  base::Random random(1);
  for (int i = 0; i < 300; ++i) {
    Sets sets(static_cast<size_t>(random.Uniform(1, 8)));
    for (std::vector<int>& set : sets) {
      for (int element = 0; element < 9; ++element) {
        if (random.Chance(0.3)) set.push_back(element);
      }
      if (set.empty()) set.push_back(0);
    }
    int least = 9;
    for (unsigned chosen = 0; chosen < 1U << 9; ++chosen) {
      if (Hits(chosen, sets)) least = std::min(least, std::popcount(chosen));
    }
    const auto found = FindHittingSet(sets);
    ASSERT_TRUE(found.has_value());
    unsigned chosen = 0;
    for (const int element : *found) chosen |= 1U << element;
    EXPECT_TRUE(Hits(chosen, sets));
    EXPECT_EQ(static_cast<int>(found->size()), least);
  }
}

}  // namespace
}  // namespace tessera::search::reasons
