// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>

#include "tessera/base/random.h"
#include "tessera/explore/pareto.h"

namespace tessera::explore {
namespace {

using testing::ElementsAre;

// Counts the cells of a grid of whole numbers that some point dominates.
double CountCells(const std::vector<Values>& points, const Values& reference) {
  Values cell(reference.size());
  double count = 0;
  while (true) {
    count += std::any_of(points.begin(), points.end(), [&](const Values& point) {
      return std::equal(point.begin(), point.end(), cell.begin(),
                        [](double a, double b) { return a <= b; });
    });
    size_t axis = 0;
    while (axis < cell.size() && ++cell[axis] == reference[axis]) cell[axis++] = 0;
    if (axis == cell.size()) return count;
  }
}

TEST(Hypervolume, CountsTheCellsBelowTheReference) {
  base::Random random(5);
  for (int round = 0; round < 200; ++round) {
    const auto axes = static_cast<size_t>(random.Uniform(1, 4));
    const Values reference(axes, 5);
    std::vector<Values> points(static_cast<size_t>(random.Uniform(0, 7)));
    for (Values& point : points) {
      for (size_t axis = 0; axis < axes; ++axis)
        point.push_back(static_cast<double>(random.Uniform(0, 6)));
    }
    EXPECT_DOUBLE_EQ(Hypervolume(points, reference), CountCells(points, reference));
  }
}

TEST(Hypervolume, DominatedPointsGoAndOneOfEqualOnesStays) {
  EXPECT_THAT(WithoutDominated({{1, 2}, {2, 2}, {1, 2}, {0, 3}}),
              ElementsAre(Values{1, 2}, Values{0, 3}));
}

}  // namespace
}  // namespace tessera::explore
