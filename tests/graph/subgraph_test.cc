// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "random_graph.h"
#include "region_oracle.h"
#include "tessera/graph/tiling/tiling.h"

// Compares tiles of whole subgraphs with the oracle: hulls over consumers, lags of slower branches,
// branches that a tile does not need, several outputs.
namespace tessera::graph {
namespace {

struct Drawn {
  Graph graph;
  Interval interval;
  tiling::TileShape tile;
};

const Shape& LastShape(const Graph& graph, Interval interval) {
  const Operator& last = graph.operators[static_cast<size_t>(interval.last)];
  return graph.tensors[static_cast<size_t>(last.outputs[0])].shape;
}

Drawn Draw(base::Random& random) {
  Drawn drawn;
  drawn.graph = RandomGraph(random, static_cast<int>(random.Uniform(1, 7)));
  const auto last =
      static_cast<int>(random.Uniform(0, static_cast<int64_t>(drawn.graph.operators.size()) - 1));
  drawn.interval = {static_cast<int>(random.Uniform(0, last)), last};
  for (const int64_t extent : LastShape(drawn.graph, drawn.interval)) {
    drawn.tile.push_back(random.Chance(0.3) ? extent : random.Uniform(1, extent));
  }
  return drawn;
}

ops::Box RandomTile(base::Random& random, const Shape& shape, const tiling::TileShape& tile) {
  ops::Box box;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t begin = random.Uniform(0, (shape[axis] - 1) / tile[axis]) * tile[axis];
    box.push_back({begin, std::min(begin + tile[axis], shape[axis])});
  }
  return box;
}

bool Holds(const ops::Box& box, const Index& index) {
  for (size_t axis = 0; axis < box.size(); ++axis) {
    if (index[axis] < box[axis].begin || index[axis] >= box[axis].end) return false;
  }
  return true;
}

bool HoldsAll(const ops::Box& box, const ElementSet& set) {
  const std::vector<Index> all = IndicesOf(ops::WholeBox(*set.shape));
  for (size_t i = 0; i < all.size(); ++i) {
    if (set.has[i] && !Holds(box, all[i])) return false;
  }
  return true;
}

std::string Describe(const Drawn& drawn, const ops::Box& tile) {
  std::string text = "operators " + std::to_string(drawn.interval.first) + ".." +
                     std::to_string(drawn.interval.last);
  for (const Operator& op : drawn.graph.operators) {
    text += "\n  " + std::string(base::NameOf(op.kind));
    for (const int input : op.inputs)
      text += " " + drawn.graph.tensors[static_cast<size_t>(input)].id;
    const Tensor& output = drawn.graph.tensors[static_cast<size_t>(op.outputs[0])];
    text += " -> " + output.id + " " + ops::ToText(output.shape);
  }
  for (const ops::Extent& extent : tile) {
    text += "\n  [" + std::to_string(extent.begin) + ", " + std::to_string(extent.end) + ")";
  }
  return text;
}

// Where no operator leaves holes, the elements of a tensor that all its readers together need are a
// box. The regions are then the least boxes throughout the subgraph.
bool HasWholeAxes(const Drawn& drawn) {
  for (int op = drawn.interval.first; op <= drawn.interval.last; ++op) {
    if (graph::HasWholeAxes(drawn.graph, drawn.graph.operators[static_cast<size_t>(op)]))
      return true;
  }
  return false;
}

TEST(Subgraph, RegionsHoldAllThatATileNeedsAndNoMoreWhereNothingHasHoles) {
  base::Random random(30);
  int without_holes = 0;
  int empty_branches = 0;
  for (int round = 0; round < 3000; ++round) {
    const Drawn drawn = Draw(random);
    const ops::Box tile = RandomTile(random, LastShape(drawn.graph, drawn.interval), drawn.tile);
    const std::map<int, ElementSet> needs = NeedsOfTile(drawn.graph, drawn.interval, tile);
    const std::vector<ops::Box> regions = tiling::RegionsOfTile(drawn.graph, drawn.interval, tile);
    const bool whole = !HasWholeAxes(drawn) && std::all_of(needs.begin(), needs.end(), [](auto& n) {
      return n.second.FillHull();
    });
    without_holes += whole && drawn.interval.last > drawn.interval.first ? 1 : 0;
    size_t slot = 0;
    for (const auto& [tensor, set] : needs) {
      const ops::Box& region = regions[slot++];
      ASSERT_TRUE(HoldsAll(region, set)) << Describe(drawn, tile) << "\ntensor " << tensor;
      ASSERT_TRUE(!whole || region == set.Hull()) << Describe(drawn, tile) << "\ntensor " << tensor;
      empty_branches += set.Empty() ? 1 : 0;
    }
  }
  EXPECT_GE(without_holes, 500);
  EXPECT_GE(empty_branches, 50);
}

}  // namespace
}  // namespace tessera::graph
