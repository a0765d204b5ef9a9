// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/axis_sums.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/base/stop.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/tiling/cached_halo.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/graph/graph_builder.h"
#include "tessera/tests/graph/random_graph.h"

// Products of sums along axes are never above what the tiles of a shape need, make and ask for,
// counted tile by tile.
namespace tessera::search::cost {
namespace {

using base::Random;
using graph::tiling::TileShape;

// Of all tiles together, by slot.
struct Needs {
  std::vector<int64_t> read;
  std::vector<int64_t> made;
  std::vector<int64_t> tiles;    // that make or load some of it
  std::vector<int64_t> leaving;  // each element once, or more
};

int64_t VolumeOf(graph::tiling::ExtentsView extents) {
  int64_t volume = 1;
  for (const int64_t extent : extents) volume *= extent;
  return volume;
}

Needs Count(const graph::tiling::TiledSubgraph& tiling) {
  const size_t slots = tiling.tensors.size();
  const std::vector<int64_t> none(slots);
  Needs needs{none, none, none, none};
  for (const graph::tiling::TileClass& tile : tiling.classes) {
    for (size_t slot = 0; slot < slots; ++slot) {
      const int64_t made = VolumeOf(graph::tiling::MadeOf(tile, slot));
      needs.read[slot] += tile.count * VolumeOf(tile.needed[slot]);
      needs.made[slot] += tile.count * made;
      needs.tiles[slot] += made > 0 ? tile.count : 0;
      if (!tile.share[slot].empty()) needs.leaving[slot] += tile.count * VolumeOf(tile.share[slot]);
    }
  }
  return needs;
}

AxisSums::AxisSet CutAxes(const AxisSums& sums, const TileShape& tile) {
  AxisSums::AxisSet cut = 0;
  for (size_t axis = 0; axis < tile.size(); ++axis)
    cut |= tile[axis] < sums.Output()[axis] ? AxisSums::SetOf(axis) : 0;
  return cut;
}

// nullopt where nothing is certain.
std::optional<Needs> FromSums(AxisSums& sums, const TileShape& tile, bool keeps_rows) {
  const graph::tiling::Propagation& regions = sums.Regions();
  const std::optional<size_t> rows = graph::tiling::AxisOf(sums.Output(), base::Axis::kRows);
  std::vector<const AxisSums::Sums*> along(tile.size(), nullptr);
  for (size_t axis = 0; axis < tile.size(); ++axis) {
    if (tile[axis] >= sums.Output()[axis]) continue;
    along[axis] = sums.Of(axis, tile[axis], keeps_rows && rows == axis);
    if (along[axis] == nullptr) return std::nullopt;
  }
  Needs needs;
  for (size_t slot = 0; slot < regions.Tensors().size(); ++slot) {
    int64_t tiles = sums.IsNeeded(slot) ? 1 : 0;
    int64_t repeated = tiles;
    for (size_t axis = 0; axis < tile.size(); ++axis) {
      if (along[axis] == nullptr) continue;
      tiles *= along[axis]->asking[slot];
      if (!sums.IsDecidedBy(slot, axis)) repeated *= along[axis]->asking[slot];
    }
    int64_t read = repeated;
    int64_t made = repeated;
    for (size_t i = regions.Begin(slot); i < regions.Begin(slot + 1); ++i) {
      const std::optional<size_t> axis = sums.DeciderOf(i, CutAxes(sums, tile));
      const AxisSums::Sums* of_axis = axis ? along[*axis] : nullptr;
      read *= of_axis == nullptr ? sums.WholeLength(i) : of_axis->lengths[i];
      made *= of_axis == nullptr ? sums.WholeLength(i) : of_axis->made[i];
    }
    int64_t leaving = regions.Leaves(slot) ? 1 : 0;
    for (size_t i = regions.Begin(slot); i < regions.Begin(slot + 1) && leaving > 0; ++i) {
      const size_t axis = i - regions.Begin(slot);
      const std::optional<size_t> source = regions.ShareSource(slot, axis);
      leaving *= source && along[*source] != nullptr ? along[*source]->shares[i]
                                                     : regions.ShapeOf(slot)[axis];
    }
    needs.leaving.push_back(leaving);
    needs.read.push_back(read);
    needs.made.push_back(made);
    needs.tiles.push_back(tiles);
  }
  return needs;
}

graph::Graph DrawNetwork(Random& random) {
  const auto operators = static_cast<int>(random.Uniform(1, 7));
  return random.Chance(0.2) ? graph::RandomDepthwiseChain(random, operators)
                            : graph::RandomGraph(random, operators);
}

class Comparison {
 public:
  void Compare(const Needs& claimed, const Needs& counted) {
    for (size_t slot = 0; slot < counted.read.size(); ++slot) {
      ++compared_;
      equal_ += claimed.made[slot] == counted.made[slot] ? 1 : 0;
      EXPECT_LE(claimed.read[slot], counted.read[slot]) << "read, slot " << slot;
      EXPECT_LE(claimed.made[slot], counted.made[slot]) << "made, slot " << slot;
      EXPECT_LE(claimed.tiles[slot], counted.tiles[slot]) << "tiles, slot " << slot;
      EXPECT_LE(claimed.leaving[slot], counted.leaving[slot]) << "leaving, slot " << slot;
    }
  }
  int Compared() const { return compared_; }
  int Equal() const { return equal_; }

 private:
  int compared_ = 0;
  int equal_ = 0;
};

int Rounds() { return IsLongRun() ? 5'000'000 : 60'000; }

TEST(AxisSums, MultiplyToNoMoreThanTilesNeed) {
  Random random(2042);
  Comparison recomputed;
  Comparison kept;
  for (int round = 0; round < Rounds() && !HasFailure(); ++round) {
    const graph::Graph network = DrawNetwork(random);
    const auto end = static_cast<int>(network.operators.size()) - 1;
    const auto first = static_cast<int>(random.Uniform(0, end));
    const graph::Interval interval{first, static_cast<int>(random.Uniform(first, end))};
    AxisSums sums(network, hw_profiles::Profile{}, interval);
    TileShape tile;
    for (size_t axis = 0; axis < sums.Output().size(); ++axis) {
      const int64_t extent = sums.Output()[axis];
      const bool cut = random.Chance(0.7) && graph::tiling::CanCut(network, interval, axis);
      tile.push_back(cut ? random.Uniform(1, std::min<int64_t>(extent, 3)) : extent);
    }
    if (!sums.IsSeparable(CutAxes(sums, tile))) continue;
    graph::tiling::Tiler tiler(network, interval);
    if (const auto claimed = FromSums(sums, tile, false))
      recomputed.Compare(*claimed, Count(tiler.Cut(tile)));
    if (graph::tiling::CutsStrips(sums.Output(), tile)) {
      if (const auto claimed = FromSums(sums, tile, true))
        kept.Compare(*claimed, Count(tiler.CutKeepingRows(tile, random.Chance(0.5))));
    }
    if (HasFailure()) {
      ADD_FAILURE() << "round " << round << ", tile " << fmt::format("{}", fmt::join(tile, "x"))
                    << ", operators " << first << " to " << interval.last << "\n"
                    << graph::import::yaml::WriteNetworkJson(network);
    }
  }
  EXPECT_GE(recomputed.Compared(), 20'000);
  EXPECT_GE(recomputed.Equal(), recomputed.Compared() * 9 / 10);
  EXPECT_GE(kept.Compared(), 3'000);
  EXPECT_GE(kept.Equal(), kept.Compared() / 2);
}

// Nothing is certain of positions that were not summed.
TEST(AxisSums, AreMissingAfterAStop) {
  graph::GraphBuilder builder;
  const int input = builder.AddInput({1, 2, 8, 4});
  builder.Add(graph::OfKind(base::OperatorKind::kElementwise), {}, {input}).value();
  const graph::Graph network = std::move(builder).Build();
  const base::Stop stopped(base::Stop::AtPoll{1});
  AxisSums sums(network, hw_profiles::Profile{}, {0, 0}, &stopped);
  AxisSums whole(network, hw_profiles::Profile{}, {0, 0});
  constexpr size_t kRows = 2;
  ASSERT_TRUE(sums.IsSeparable(AxisSums::SetOf(kRows)));
  EXPECT_EQ(sums.Of(kRows, 1, false), nullptr);
  EXPECT_NE(whole.Of(kRows, 1, false), nullptr);
}

// Windows that lie in the padding need nothing; which tile then begins to keep rows is not certain.
TEST(AxisSums, OfKeptRowsAreMissingWhereRowsMayNeedNothing) {
  constexpr size_t kRows = 2;
  for (const int64_t pad : {0, 1, 3}) {
    graph::GraphBuilder builder;
    const int input = builder.AddInput({1, 2, 8, 4});
    builder.AddConv(input, /*channels=*/2, /*kernel=*/2, /*stride=*/1, pad);
    const graph::Graph network = std::move(builder).Build();
    AxisSums sums(network, hw_profiles::Profile{}, {0, 0});
    EXPECT_NE(sums.Of(kRows, 1, false), nullptr) << pad;
    EXPECT_EQ(sums.Of(kRows, 1, true) != nullptr, pad < 2) << pad;
  }
}

}  // namespace
}  // namespace tessera::search::cost
