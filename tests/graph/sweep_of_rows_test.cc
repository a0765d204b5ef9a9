// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "random_graph.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/random.h"
#include "tessera/graph/regions.h"
#include "tessera/graph/tiling/cached_halo.h"
#include "tessera/graph/tiling/propagation.h"

// Compares kept rows with a sweep that decides about every row of every tensor separately, and then
// runs.
namespace tessera::graph {
namespace {

const Tensor& TensorIn(const Graph& graph, int tensor) {
  return graph.tensors[static_cast<size_t>(tensor)];
}

const Shape& OutputOf(const Graph& graph, Interval interval) {
  return TensorIn(graph, graph.operators[static_cast<size_t>(interval.last)].outputs[0]).shape;
}

// One tensor over the whole sweep, row by row.
struct Rows {
  std::vector<ops::Box> wanted;
  int64_t most_shared = 0;              // shared with a tile before, by the shares of the tiles
  std::vector<std::set<int64_t>> made;  // rows
  std::vector<std::set<int64_t>> kept;
  std::vector<ops::Box> made_box;
};

// Finds when each row is made, by a test of every row of every tensor.
class NaiveSweep {
 public:
  NaiveSweep(const Graph& graph, Interval interval, const tiling::TileShape& tile,
             bool across_batch)
      : graph_(graph), across_batch_(across_batch) {
    const tiling::Propagation propagation(graph, interval);
    const Shape& output = OutputOf(graph, interval);
    const size_t rows = *tiling::AxisOf(output, base::Axis::kRows);
    const std::optional<size_t> batch = tiling::AxisOf(output, base::Axis::kBatch);
    const std::optional<size_t> columns = tiling::AxisOf(output, base::Axis::kColumns);
    const auto step = [&](std::optional<size_t> axis) { return axis ? tile[*axis] : 1; };
    const auto extent = [&](std::optional<size_t> axis) { return axis ? output[*axis] : 1; };
    for (int64_t strip = 0; strip < base::CeilDiv(extent(batch), step(batch)) *
                                        base::CeilDiv(extent(columns), step(columns));
         ++strip) {
      const int64_t across = base::CeilDiv(extent(columns), step(columns));
      const int64_t image = strip / across * step(batch);
      const int64_t left = strip % across * step(columns);
      for (int64_t begin = 0; begin < output[rows]; begin += tile[rows]) {
        tiles_.push_back(ops::WholeBox(output));
        tiles_.back()[rows] = {begin, std::min(begin + tile[rows], output[rows])};
        if (batch) tiles_.back()[*batch] = {image, std::min(image + tile[*batch], output[*batch])};
        if (columns)
          tiles_.back()[*columns] = {left, std::min(left + tile[*columns], output[*columns])};
      }
    }
    strip_ = static_cast<size_t>(base::CeilDiv(output[rows], tile[rows]));
    for (size_t slot = 0; slot < propagation.Tensors().size(); ++slot) {
      Rows& found = rows_[propagation.Tensors()[slot]];
      found.wanted.assign(tiles_.size(), ops::Box(propagation.ShapeOf(slot).size()));
      if (propagation.Leaves(slot)) AskForShares(propagation, slot, found);
    }
    for (int i = interval.last; i >= interval.first; --i) {
      const Operator& op = graph.operators[static_cast<size_t>(i)];
      Settle(op.outputs[0]);
      for (size_t input = 0; input < op.inputs.size(); ++input) {
        for (size_t tile = 0; tile < tiles_.size(); ++tile) {
          ops::Box& wanted = rows_[op.inputs[input]].wanted[tile];
          wanted =
              ops::Hull(wanted, InputRegion(graph, op, input, rows_[op.outputs[0]].made_box[tile]));
        }
      }
    }
    for (auto& [tensor, found] : rows_) {
      if (found.made_box.empty()) Settle(tensor);
    }
  }

  const Rows& Of(int tensor) const { return rows_.at(tensor); }
  bool KeepsRows(int tensor) const { return is_kept_.contains(tensor); }
  const ops::Box& ShareOf(int tensor, size_t tile) const { return shares_.at(tensor)[tile]; }
  size_t Tiles() const { return tiles_.size(); }
  bool BeginsStrip(size_t tile) const { return tile % strip_ == 0; }
  size_t BeginOfStrip(size_t tile) const { return tile / strip_ * strip_; }
  size_t EndOfStrip(size_t tile) const { return BeginOfStrip(tile) + strip_; }

 private:
  void AskForShares(const tiling::Propagation& propagation, size_t slot, Rows& found) {
    const std::optional<size_t> rows = tiling::AxisOf(propagation.ShapeOf(slot), base::Axis::kRows);
    std::set<int64_t> left;
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      ops::Box share = propagation.ShareOf(slot, tiles_[tile]);
      if (BeginsStrip(tile)) left.clear();
      int64_t shared = 0;
      while (rows && share[*rows].Length() > 0 && left.contains(share[*rows].begin)) {
        ++share[*rows].begin;
        ++shared;
      }
      found.most_shared = std::max(found.most_shared, shared);
      for (int64_t row = share[rows.value_or(0)].begin; rows && row < share[*rows].end; ++row)
        left.insert(row);
      if (ops::IsEmpty(share)) share.assign(share.size(), {});
      found.wanted[tile] = share;
      shares_[propagation.Tensors()[slot]].push_back(share);
    }
  }

  bool AllWantTheSame(const Rows& found, size_t rows) const {
    std::map<size_t, std::set<std::vector<std::pair<int64_t, int64_t>>>> others;  // by strip
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      const ops::Box& box = found.wanted[tile];
      std::vector<std::pair<int64_t, int64_t>> other;
      for (size_t axis = 0; axis < box.size(); ++axis) {
        if (axis != rows) other.emplace_back(box[axis].begin, box[axis].end);
      }
      if (!ops::IsEmpty(box)) others[BeginOfStrip(tile)].insert(other);
    }
    return std::all_of(others.begin(), others.end(),
                       [](const auto& strip) { return strip.second.size() == 1; });
  }

  // Whether some tile wants two or more images of the tensor. Images lie along all axes but rows,
  // columns and the channels of four axes.
  static bool WantsImages(const Rows& found) {
    return std::any_of(found.wanted.begin(), found.wanted.end(), [](const ops::Box& box) {
      for (size_t axis = 0; axis + 2 < box.size(); ++axis) {
        const bool is_channels = box.size() == 4 && axis == 1;
        if (!is_channels && box[axis].Length() > 1 && !ops::IsEmpty(box)) return true;
      }
      return false;
    });
  }

  void Settle(int tensor) {
    Rows& found = rows_[tensor];
    found.made_box = found.wanted;
    found.made.resize(tiles_.size());
    found.kept.resize(tiles_.size());
    const Shape& shape = TensorIn(graph_, tensor).shape;
    const std::optional<size_t> rows = tiling::AxisOf(shape, base::Axis::kRows);
    if (!rows || !AllWantTheSame(found, *rows) || (!across_batch_ && WantsImages(found))) return;
    const auto wanted = [&](size_t tile) { return found.wanted[tile][*rows]; };
    for (int64_t row = 0; row < shape[*rows]; ++row) {
      std::set<size_t> made_in;  // strips
      for (size_t tile = 0; tile < tiles_.size(); ++tile) {
        bool reached = false;
        for (size_t t = BeginOfStrip(tile); t <= tile; ++t)
          reached = reached || (wanted(t).Length() > 0 && row < wanted(t).end);
        bool needed = false;
        for (size_t t = tile; t < EndOfStrip(tile); ++t)
          needed = needed || (wanted(t).Length() > 0 && wanted(t).begin <= row);
        if (!reached || !needed) continue;
        const bool is_made = !made_in.insert(BeginOfStrip(tile)).second;
        (is_made ? found.kept : found.made)[tile].insert(row);
      }
    }
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      ops::Box& made = found.made_box[tile];
      if (found.made[tile].empty()) {
        made.assign(made.size(), {});
      } else {
        made[*rows] = {*found.made[tile].begin(), *found.made[tile].rbegin() + 1};
      }
    }
    is_kept_.insert(tensor);
  }

  const Graph& graph_;
  bool across_batch_;
  std::vector<ops::Box> tiles_;
  size_t strip_ = 1;  // tiles in one
  std::map<int, Rows> rows_;
  std::map<int, std::vector<ops::Box>> shares_;
  std::set<int> is_kept_;
};

tiling::Extents ExtentsIn(const ops::Box& box) {
  tiling::Extents lengths;
  for (const ops::Extent& extent : box) lengths.push_back(extent.Length());
  return lengths;
}

void ExpectSameAsSweep(const NaiveSweep& naive, const Graph& graph,
                       const tiling::TiledSubgraph& found) {
  RC_ASSERT(found.class_of.size() == naive.Tiles());
  for (size_t slot = 0; slot < found.tensors.size(); ++slot) {
    const int tensor = found.tensors[slot];
    const Rows& rows = naive.Of(tensor);
    tiling::RowCounts most;
    most.shared = rows.most_shared;
    const std::optional<size_t> axis =
        tiling::AxisOf(TensorIn(graph, tensor).shape, base::Axis::kRows);
    for (size_t t = 0; t < naive.Tiles(); ++t) {
      const tiling::TileClass& tiles = found.classes[static_cast<size_t>(found.class_of[t])];
      RC_ASSERT(tiles.needed[slot] == ExtentsIn(rows.wanted[t]));
      RC_ASSERT(tiles.made[slot] == ExtentsIn(rows.made_box[t]));
      RC_ASSERT(tiles.kept[slot] == static_cast<int64_t>(rows.kept[t].size()));
      const bool last = t + 1 == naive.Tiles();
      RC_ASSERT(tiles.keeps[slot] == (last ? 0 : static_cast<int64_t>(rows.kept[t + 1].size())));
      if (!tiles.share[slot].empty()) {
        ops::Box home = naive.ShareOf(tensor, t);
        if (naive.KeepsRows(tensor)) {
          home = naive.ShareOf(tensor, naive.BeginOfStrip(t));
          home[*axis] = rows.made_box[t][*axis];
          if (ops::IsEmpty(home)) home.assign(home.size(), {});
        }
        RC_ASSERT(tiles.share[slot] == ExtentsIn(home));
      }
      if (!axis) continue;
      const int64_t made = tiles.made[slot][*axis];
      const int64_t held = tiles.kept[slot] + made;
      const int64_t next = last ? 0 : rows.made_box[t + 1][*axis].Length();
      most.kept = std::max(most.kept, tiles.kept[slot]);
      most.made = std::max(most.made, made);
      most.held = std::max(most.held, held);
      most.with_next = std::max(most.with_next, held + next);
    }
    RC_ASSERT(found.rows[slot] == most);
  }
}

// Runs the sweep: all rows that a tile needs must be there, and no row is made twice.
void ExpectEverythingThere(const NaiveSweep& naive, const Graph& graph,
                           const tiling::TiledSubgraph& found) {
  for (const int tensor : found.tensors) {
    if (!naive.KeepsRows(tensor)) continue;
    const Rows& rows = naive.Of(tensor);
    const size_t axis = *tiling::AxisOf(TensorIn(graph, tensor).shape, base::Axis::kRows);
    std::set<int64_t> ever;
    for (size_t t = 0; t < naive.Tiles(); ++t) {
      if (naive.BeginsStrip(t)) ever.clear();
      for (const int64_t row : rows.made[t]) RC_ASSERT(ever.insert(row).second);
      std::set<int64_t> there = rows.kept[t];
      there.insert(rows.made[t].begin(), rows.made[t].end());
      for (int64_t row = rows.wanted[t][axis].begin; row < rows.wanted[t][axis].end; ++row)
        RC_ASSERT(there.contains(row));
      for (const int64_t row : rows.kept[t]) {
        RC_ASSERT(!naive.BeginsStrip(t));
        RC_ASSERT(rows.kept[t - 1].contains(row) || rows.made[t - 1].contains(row));
      }
    }
  }
}

struct Seen {
  int keeping = 0;
  int idle = 0;
  int strips = 0;
  int sweeping = 0;
};

void ExpectSameOfRandomGraphs(uint64_t seed, bool across_batch, Seen& seen) {
  base::Random random(seed);
  for (int round = 0; round < 30; ++round) {
    const Graph graph = RandomGraph(random, static_cast<int>(random.Uniform(1, 8)));
    const auto last =
        static_cast<int>(random.Uniform(0, static_cast<int64_t>(graph.operators.size()) - 1));
    const Interval interval{static_cast<int>(random.Uniform(0, last)), last};
    tiling::TileShape tile = OutputOf(graph, interval);
    const std::optional<size_t> rows = tiling::AxisOf(tile, base::Axis::kRows);
    if (!rows || tile[*rows] < 2 || !tiling::CanCut(graph, interval, *rows)) continue;
    tile[*rows] = random.Uniform(1, tile[*rows] - 1);
    const std::optional<size_t> batch = tiling::AxisOf(tile, base::Axis::kBatch);
    if (batch && tile[*batch] > 1 && random.Chance(0.7) &&
        tiling::CanCut(graph, interval, *batch)) {
      tile[*batch] = random.Uniform(1, tile[*batch] - 1);
      ++seen.sweeping;
    }
    const std::optional<size_t> columns = tiling::AxisOf(tile, base::Axis::kColumns);
    if (columns && random.Chance(0.5) && tiling::CanCut(graph, interval, *columns))
      tile[*columns] = random.Uniform(1, tile[*columns]);
    RC_ASSERT(tiling::CutsStrips(OutputOf(graph, interval), tile));
    const NaiveSweep naive(graph, interval, tile, across_batch);
    const tiling::TiledSubgraph found =
        tiling::TileKeepingRows(graph, interval, tile, across_batch);
    ExpectSameAsSweep(naive, graph, found);
    ExpectEverythingThere(naive, graph, found);
    seen.strips += columns && tile[*columns] < OutputOf(graph, interval)[*columns] ? 1 : 0;
    seen.keeping += std::any_of(found.rows.begin(), found.rows.end(),
                                [](const tiling::RowCounts& c) { return c.kept > 0; });
    for (const tiling::TileClass& tiles : found.classes) {
      bool idle = false;
      for (size_t slot = 0; slot < tiles.made.size(); ++slot)
        idle = idle || tiles.made[slot][0] == 0;
      seen.idle += idle ? 1 : 0;
    }
  }
}

TEST(TileKeepingRows, EqualsTheSweepRowByRow) {
  std::array<Seen, 2> seen;  // without rows of several images, and with them
  const bool held = rc::check("rows equal those found one by one", [&] {
    const auto seed = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>());
    const bool across_batch = *rc::gen::arbitrary<bool>();
    ExpectSameOfRandomGraphs(seed, across_batch, seen.at(across_batch ? 1 : 0));
  });
  EXPECT_TRUE(held);
  for (const Seen& each : seen) {
    EXPECT_GE(each.keeping, 100);
    EXPECT_GE(each.sweeping, 50);
    EXPECT_GE(each.idle, 50);
    EXPECT_GE(each.strips, 100);
  }
}

// In these graphs strips differ only where a tile needs nothing: a share that has left, columns in
// the padding.
TEST(TileKeepingRows, SweepsStripsByThemselvesWhereTilesWantNothing) {
  for (const uint64_t seed : {15775627092906673744U, 11364808168410023240U, 4228661581514733776U}) {
    EXPECT_TRUE(rc::check("rows equal those found one by one", [seed] {
      Seen seen;
      ExpectSameOfRandomGraphs(seed, true, seen);
    }));
  }
}

}  // namespace
}  // namespace tessera::graph
