// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/pareto.h"

#include <gmock/gmock.h>

#include "tessera/base/random.h"

namespace tessera::explore {
namespace {

TEST(Pareto, EqualPointsDoNotDominate) {
  EXPECT_TRUE(Dominates(Values{1, 2}, Values{1, 3}));
  EXPECT_FALSE(Dominates(Values{1, 2}, Values{1, 2}));
  EXPECT_FALSE(Dominates(Values{1, 3}, Values{2, 2}));
}

TEST(Pareto, AFrontIsWhatNoPointDominatesInAnyOrder) {
  base::Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<FrontPoint> points;
    for (size_t i = 0; i < 30; ++i) {
      Values values;
      for (int k = 0; k < 3; ++k) values.push_back(static_cast<double>(random.Uniform(0, 6)));
      points.push_back({i, "latency", values});
    }
    std::vector<size_t> expected;
    for (const FrontPoint& point : points) {
      if (std::none_of(points.begin(), points.end(), [&](const FrontPoint& other) {
            return Dominates(other.values, point.values);
          }))
        expected.push_back(point.point);
    }
    random.Shuffle(std::span<FrontPoint>(points));
    Front front;
    for (const FrontPoint& point : points) front.Add(point);
    std::vector<size_t> found;
    for (const FrontPoint& point : front.Sorted()) found.push_back(point.point);
    EXPECT_THAT(found, testing::UnorderedElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace tessera::explore
