// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>

#include "random_graph.h"
#include "region_oracle.h"
#include "tessera/graph/regions.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/plan/index_box.h"
#include "tessera/plan/verify/tiles.h"
#include "tessera/plan/verify/work_count.h"

// Compares the regions of plan/verify with the oracle of elements and with graph/, on random graphs
// of every kind of operator.
namespace tessera::plan {
namespace {

using graph::Graph;
using graph::Interval;
using graph::Operator;

graph::ops::Box AsGraphBox(const plan::Box& box) {
  graph::ops::Box same;
  for (const plan::Range& range : box) same.push_back({range.begin, range.end});
  return same;
}

std::string BoxText(const graph::ops::Box& box) {
  std::string text;
  for (const graph::ops::Extent& extent : box) {
    text += "[" + std::to_string(extent.begin) + ", " + std::to_string(extent.end) + ")";
  }
  return text;
}

plan::Box AsPlanBox(const graph::ops::Box& box) {
  plan::Box same;
  for (const graph::ops::Extent& extent : box) same.push_back({extent.begin, extent.end});
  return same;
}

std::string Describe(const Graph& graph) {
  std::string text;
  for (const Operator& op : graph.operators) {
    text += "\n  " + std::string(base::NameOf(op.kind));
    for (const int input : op.inputs) text += " " + graph.tensors[static_cast<size_t>(input)].id;
    const graph::Tensor& output = graph.tensors[static_cast<size_t>(op.outputs[0])];
    text += " -> " + output.id + " " + graph::ops::ToText(output.shape);
  }
  return text;
}

TEST(Needs, OfEveryKindAreTheSmallestBoxAroundWhatTheElementsRead) {
  base::Random random(50);
  std::map<base::OperatorKind, int> seen;
  for (int round = 0; round < 1000; ++round) {
    const Graph graph = graph::RandomGraph(random, 5);
    for (const Operator& op : graph.operators) {
      ++seen[op.kind];
      const graph::Shape& shape = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
      const graph::ops::Box output = graph::RandomBox(random, shape);
      graph::ElementSet asked(shape);
      asked.AddBox(output);
      for (size_t operand = 0; operand < op.inputs.size(); ++operand) {
        const plan::Box need = plan::NeedOf(graph, op, operand, AsPlanBox(output));
        const graph::ElementSet needed = graph::NeedOf(graph, op, operand, asked);
        ASSERT_EQ(BoxText(AsGraphBox(need)), BoxText(graph::SmallestRegion(graph, op, needed)))
            << Describe(graph);
      }
      ASSERT_EQ(verify::MacsFor(graph, op, AsPlanBox(output)), graph::MacsOf(graph, op, output))
          << Describe(graph);
    }
  }
  for (const std::string_view name : base::OperatorKindNames()) {
    EXPECT_GE(seen[*base::ParseOperatorKind(name)], 40) << name;
  }
}

// The flags of a set that an execution looks for; the padding is in no tensor.
std::vector<char> FlagsOf(const plan::ElementSet& set, const graph::Shape& shape) {
  std::vector<char> has(static_cast<size_t>(graph::ElementsOf(shape)), 0);
  if (set.numbers) {
    for (const int64_t number : *set.numbers) has[static_cast<size_t>(number)] = 1;
    return has;
  }
  std::vector<int64_t> numbers = {0};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<int64_t> longer;
    for (const int64_t number : numbers) {
      for (const int64_t index : set.axes[axis]) {
        if (index >= 0 && index < shape[axis]) longer.push_back(number * shape[axis] + index);
      }
    }
    numbers = std::move(longer);
  }
  for (const int64_t number : numbers) has[static_cast<size_t>(number)] = 1;
  return has;
}

// The sets are no hulls: the check of an execution knows the holes.
TEST(Reads, OfEveryKindAreTheElementsThatItsDefinitionReads) {
  base::Random random(55);
  for (int round = 0; round < 800; ++round) {
    const Graph graph = graph::RandomGraph(random, 5);
    for (const Operator& op : graph.operators) {
      const graph::Shape& shape = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
      const graph::ops::Box output = graph::RandomBox(random, shape);
      graph::ElementSet asked(shape);
      asked.AddBox(output);
      plan::Box box;
      for (const graph::ops::Extent& extent : output) box.push_back({extent.begin, extent.end});
      for (size_t input = 0; input < op.inputs.size(); ++input) {
        const graph::ElementSet needed = graph::NeedOf(graph, op, input, asked);
        ASSERT_EQ(FlagsOf(graph::ReadsOf(graph, op, input, box), *needed.shape), needed.has)
            << Describe(graph) << "\n"
            << op.id;
      }
    }
  }
}

// graph/ propagates intervals and counts classes; plan/verify walks indices tile by tile. They must
// agree on every box, because the validator has to accept the programs of the encoder.
TEST(Tiles, NeedAndShareWhatGraphSaysOfThem) {
  base::Random random(60);
  int64_t tiles_seen = 0;
  for (int round = 0; round < 1500; ++round) {
    const Graph graph = graph::RandomGraph(random, static_cast<int>(random.Uniform(1, 7)));
    const auto last =
        static_cast<int>(random.Uniform(0, static_cast<int64_t>(graph.operators.size()) - 1));
    Subgraph subgraph;
    subgraph.interval = {static_cast<int>(random.Uniform(0, last)), last};
    const int tiled = graph.operators[static_cast<size_t>(last)].outputs[0];
    for (const int64_t extent : graph.tensors[static_cast<size_t>(tiled)].shape) {
      subgraph.tile.push_back(random.Chance(0.4) ? extent : random.Uniform(1, extent));
    }
    const graph::tiling::TiledSubgraph counted =
        graph::tiling::Tile(graph, subgraph.interval, subgraph.tile);
    size_t number = 0;
    verify::ForEachTile(graph, verify::FindUsers(graph), subgraph, [&](const verify::Tile& tile) {
      const graph::tiling::TileClass& alike =
          counted.classes[static_cast<size_t>(counted.class_of[number++])];
      const std::vector<graph::ops::Box> regions =
          graph::tiling::RegionsOfTile(graph, subgraph.interval, AsGraphBox(tile.shares.at(tiled)));
      for (size_t slot = 0; slot < counted.tensors.size(); ++slot) {
        const int tensor = counted.tensors[slot];
        ASSERT_EQ(BoxText(AsGraphBox(tile.needs.at(tensor))), BoxText(regions[slot]))
            << Describe(graph) << "\ntensor " << tensor;
        const auto share = tile.shares.find(tensor);
        const graph::tiling::Extents stated =
            share == tile.shares.end() ? graph::tiling::Extents{} : plan::ExtentsOf(share->second);
        ASSERT_EQ(stated, alike.share[slot]) << Describe(graph) << "\ntensor " << tensor;
      }
      ++tiles_seen;
    });
    ASSERT_EQ(number, counted.class_of.size());
  }
  EXPECT_GE(tiles_seen, 5000);
}

TEST(Tiles, HoldAllThatTheirElementsNeed) {
  base::Random random(70);
  for (int round = 0; round < 400; ++round) {
    const Graph graph = graph::RandomGraph(random, static_cast<int>(random.Uniform(2, 6)));
    const auto last = static_cast<int>(graph.operators.size()) - 1;
    Subgraph subgraph;
    subgraph.interval = {0, last};
    const int tiled = graph.operators[static_cast<size_t>(last)].outputs[0];
    for (const int64_t extent : graph.tensors[static_cast<size_t>(tiled)].shape) {
      subgraph.tile.push_back(random.Uniform((extent + 1) / 2, extent));
    }
    verify::ForEachTile(graph, verify::FindUsers(graph), subgraph, [&](const verify::Tile& tile) {
      const auto needs =
          graph::NeedsOfTile(graph, subgraph.interval, AsGraphBox(tile.shares.at(tiled)));
      for (const auto& [tensor, set] : needs) {
        plan::Box hull = AsPlanBox(set.Hull());
        const plan::Box held = tile.needs.at(tensor);
        plan::Enclose(hull, held);
        ASSERT_EQ(BoxText(AsGraphBox(hull)), BoxText(AsGraphBox(held)))
            << Describe(graph) << "\ntensor " << tensor;
      }
    });
  }
}

}  // namespace
}  // namespace tessera::plan
