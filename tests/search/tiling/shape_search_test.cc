// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/tiling/shape_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "tessera/base/random.h"

namespace tessera::search {
namespace {

using graph::tiling::ShapeGrid;
using graph::tiling::TileShape;

std::vector<int64_t> UpTo(int64_t last) {
  std::vector<int64_t> values(static_cast<size_t>(last));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// All shapes that the search looks at.
std::set<TileShape> RunToTheEnd(tiling::ShapeSearch& search,
                                const tiling::ShapeSearch::Rating& rating,
                                const tiling::ShapeSearch::Bounding& bounding = {}) {
  std::set<TileShape> seen;
  for (std::vector<TileShape> next = search.Start(); !next.empty();
       next = search.Refine(rating, bounding)) {
    for (const TileShape& shape : next) EXPECT_TRUE(seen.insert(shape).second);
  }
  return seen;
}

// Least at 13 x 7.
std::optional<tiling::ShapeSearch::Rate> Bowl(const TileShape& shape) {
  const double rows = static_cast<double>(shape[0]) - 13;
  const double columns = shape.size() > 1 ? static_cast<double>(shape[1]) - 7 : 0;
  return tiling::ShapeSearch::Rate{rows * rows + columns * columns};
}

TEST(ShapeSearch, TriesEveryExtentOfASingleAxis) {
  tiling::ShapeSearch search({.extents = {{5}, UpTo(100)}, .thinned = false});
  EXPECT_EQ(search.Start().size(), 100U);
  EXPECT_TRUE(search.IsExhausted());
}

TEST(ShapeSearch, TriesEveryShapeOfASmallGrid) {
  tiling::ShapeSearch search({.extents = {UpTo(5), UpTo(6)}, .thinned = false});
  EXPECT_EQ(search.Start().size(), 30U);
  EXPECT_TRUE(search.IsExhausted());
}

// Even cuts of 10 are 1, 2, 3, 4, 5 and 10.
TEST(ShapeSearch, EndsWithTheExtentsThatAreNoEvenCuts) {
  tiling::ShapeSearch search({.extents = {{1, 2, 3, 4, 5, 10}}, .thinned = false, .steps = {1}});
  EXPECT_EQ(search.Start().size(), 6U);
  EXPECT_FALSE(search.IsExhausted());
  EXPECT_EQ(search.Rest(100), (std::vector<TileShape>{{6}, {7}, {8}, {9}}));
  EXPECT_TRUE(search.IsExhausted());
}

TEST(ShapeSearch, AnswersForNothingThatWasLeftOut) {
  tiling::ShapeSearch thinned({.extents = {UpTo(5)}, .thinned = true});
  thinned.Start();
  EXPECT_FALSE(thinned.IsExhausted());
  tiling::ShapeSearch crowded({.extents = {{1, 1 << 11}, {1, 1 << 11}}, .thinned = false});
  EXPECT_EQ(crowded.Start().size(), 3U);  // 1 x 1 makes 2^22 tiles
  EXPECT_FALSE(crowded.IsExhausted());
}

TEST(ShapeSearch, ThinsOnlyWhatMakesFewEnoughTiles) {
  // With one row, two columns are the fewest that make no more than 2^20 tiles.
  ShapeGrid grid{.extents = {UpTo(64), UpTo(64)}, .thinned = false};
  grid.extents[0].push_back(2048);
  grid.extents[1].push_back(1024);
  tiling::ShapeSearch search(grid);
  EXPECT_THAT(search.Start(), testing::Contains(TileShape{1, 2}));
}

TEST(ShapeSearch, FindsTheLeastOfABowl) {
  tiling::ShapeSearch search({.extents = {UpTo(40), UpTo(40)}, .thinned = false});
  const std::set<TileShape> seen = RunToTheEnd(search, Bowl);
  EXPECT_TRUE(seen.contains({13, 7}));
  EXPECT_LT(seen.size(), 160U);
  EXPECT_FALSE(search.IsExhausted());
}

TEST(ShapeSearch, GoesAroundWhatIsOfNoUse) {
  tiling::ShapeSearch search({.extents = {UpTo(40), UpTo(40)}, .thinned = false});
  const std::set<TileShape> seen = RunToTheEnd(search, [](const TileShape& shape) {
    return shape[0] * shape[1] <= 60 ? Bowl(shape) : std::nullopt;
  });
  EXPECT_TRUE(seen.contains({9, 6}) || seen.contains({10, 6}));
}

TEST(ShapeSearch, LooksAtMoreWithAFurtherAxis) {
  const tiling::ShapeSearch::Rating rugged = [](const TileShape& shape) {
    double value = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      value += std::sin(static_cast<double>(shape[i] * (3 + 2 * i)));
    return std::optional(tiling::ShapeSearch::Rate{value});
  };
  const tiling::ShapeSearch::Rating without_last = [&rugged](const TileShape& shape) {
    return rugged({shape[0], shape[1], 9});
  };
  tiling::ShapeSearch two({.extents = {UpTo(30), UpTo(20), {9}}, .thinned = false});
  tiling::ShapeSearch three({.extents = {UpTo(30), UpTo(20), UpTo(9)}, .thinned = false});
  const std::set<TileShape> few = RunToTheEnd(two, without_last);
  const std::set<TileShape> many = RunToTheEnd(three, rugged);
  EXPECT_TRUE(std::includes(many.begin(), many.end(), few.begin(), few.end()));
}

// Bounds save rates, and lead to the same shapes. Some shapes are not usable.
TEST(ShapeSearch, LooksAtTheSameWithBounds) {
  base::Random random(77);
  size_t rated = 0;
  size_t seen = 0;
  for (int draw = 0; draw < 300; ++draw) {
    const ShapeGrid grid{.extents = {UpTo(random.Uniform(1, 30)), UpTo(random.Uniform(1, 30)),
                                     UpTo(random.Uniform(1, 12))},
                         .thinned = false};
    const double rows = static_cast<double>(random.Uniform(1, 30));
    const double columns = static_cast<double>(random.Uniform(1, 30));
    const double slack = random.Chance(0.5) ? 0 : 40;
    const tiling::ShapeSearch::Rating rating =
        [&](const TileShape& shape) -> std::optional<tiling::ShapeSearch::Rate> {
      if (shape[0] * shape[1] * shape[2] % 7 == 3) return std::nullopt;
      const double first = static_cast<double>(shape[0]) - rows;
      const double second = static_cast<double>(shape[1]) - columns;
      const double rugged = 30 * std::sin(static_cast<double>(shape[0] + 3 * shape[2]));
      return tiling::ShapeSearch::Rate{first * first + second * second + rugged};
    };
    std::set<TileShape> known;
    const tiling::ShapeSearch::Rating counted = [&](const TileShape& shape) {
      known.insert(shape);
      return rating(shape);
    };
    const tiling::ShapeSearch::Bounding bounding =
        [&](const TileShape& shape) -> std::optional<double> {
      if (known.contains(shape)) return std::nullopt;
      const auto rate = rating(shape);
      return rate ? (*rate)[0] - slack * std::abs(std::cos(static_cast<double>(shape[1]))) : 0;
    };
    tiling::ShapeSearch whole(grid);
    tiling::ShapeSearch bounded(grid);
    const std::set<TileShape> wanted = RunToTheEnd(whole, rating);
    ASSERT_EQ(RunToTheEnd(bounded, counted, bounding), wanted) << "draw " << draw;
    rated += known.size();
    seen += wanted.size();
  }
  EXPECT_LT(2 * rated, seen);
}

TEST(ShapeSearch, GivesTheRestSmallestFirst) {
  tiling::ShapeSearch search({.extents = {UpTo(9), UpTo(9)}, .thinned = false});
  const size_t begun = search.Start().size();
  const std::vector<TileShape> first = search.Rest(2);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_LE(first[0][0] * first[0][1], first[1][0] * first[1][1]);
  EXPECT_EQ(search.Rest(1000).size(), 81 - begun - 2);
  EXPECT_TRUE(search.IsExhausted());
  EXPECT_TRUE(search.Rest(1000).empty());
}

}  // namespace
}  // namespace tessera::search
