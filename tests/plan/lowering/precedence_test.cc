// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/random.h"
#include "tessera/plan/lowering/run_order.h"

namespace tessera::plan::lowering {
namespace {

// Compares random orders with reachability.
TEST(EventOrder, IsReachability) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    base::Random random(seed);
    const auto events = static_cast<int>(random.Uniform(1, 40));
    const double density = random.Real() * 0.4;
    EventOrder order;
    std::vector<std::vector<bool>> resolved_regions(static_cast<size_t>(events),
                                                    std::vector<bool>(static_cast<size_t>(events)));
    for (int event = 0; event < events; ++event) {
      std::vector<int> before;
      for (int other = 0; other < event; ++other) {
        if (!random.Chance(density)) continue;
        before.push_back(other);
        resolved_regions[static_cast<size_t>(other)][static_cast<size_t>(event)] = true;
        for (int earlier = 0; earlier < other; ++earlier) {
          if (resolved_regions[static_cast<size_t>(earlier)][static_cast<size_t>(other)])
            resolved_regions[static_cast<size_t>(earlier)][static_cast<size_t>(event)] = true;
        }
      }
      ASSERT_EQ(order.Add(before), event);
      for (int other = 0; other < event; ++other) {
        ASSERT_EQ(order.Precedes(other, event),
                  resolved_regions[static_cast<size_t>(other)][static_cast<size_t>(event)])
            << "seed " << seed;
        ASSERT_FALSE(order.Precedes(event, other));
      }
      ASSERT_FALSE(order.Precedes(event, event));
    }
  }
}

TEST(EventOrder, LatestOfAChainIsItsEnd) {
  EventOrder order;
  order.Add({});
  order.Add({0});
  order.Add({0});
  order.Add({1});
  EXPECT_THAT(order.LatestOf({3, 0, 1, 2, 3}), testing::ElementsAre(2, 3));
  EXPECT_THAT(order.LatestOf({}), testing::IsEmpty());
}

}  // namespace
}  // namespace tessera::plan::lowering
