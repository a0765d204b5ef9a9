// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "small_machine.h"
#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/cost/timeline.h"
#include "tessera/tests/search/cost/simulate.h"

// A concatenation makes a cache longer. The part that is already there costs nothing, unless the
// next value lies elsewhere.
namespace tessera::search {
namespace {

using hw_profiles::Profile;

// cache [1, 2, past, 4] and x [1, 2, fresh, 4] -> all: 8 bytes a row.
constexpr int64_t kRowBytes = 8;

graph::Graph GrowingCache(int64_t past, int64_t fresh) {
  graph::Graph graph;
  graph.name = "cache";
  for (const auto& [id, rows] :
       {std::pair("cache", past), std::pair("x", fresh), std::pair("all", past + fresh)}) {
    graph::Tensor tensor;
    tensor.id = id;
    tensor.shape = {1, 2, rows, 4};
    graph.tensors.push_back(std::move(tensor));
  }
  graph.tensors[0].state = true;
  graph.tensors[1].network_input = true;
  graph.tensors[2].network_output = true;
  graph.tensors[2].next_of = 0;
  graph::Operator concat;
  concat.id = "concat";
  concat.kind = base::OperatorKind::kConcat;
  concat.axis = 2;
  concat.inputs = {0, 1};
  concat.outputs = {2};
  graph.operators = {concat};
  return graph;
}

// All tensors are in the SRAM, whose ports move 4 bytes a cycle. The engine starts in 5 cycles and
// takes one for each element.
Profile OneMemory() {
  Profile profile = SmallMachine(hw_profiles::DmaSteps::kSerialized);
  for (hw_profiles::RoleLayout& layout : profile.roles) layout.home = profile.tile_memory;
  hw_profiles::Port& port = profile.memories[1].port;
  port.read_bytes_per_cycle = port.write_bytes_per_cycle = 4;
  hw_profiles::Throughput concat;
  concat.kind = base::OperatorKind::kConcat;
  concat.cycles_per_output = 1;
  concat.start_cycles = 5;
  profile.engines[0].throughputs.push_back(concat);
  return profile;
}

// Cycles of tiles of so many rows, of which those from `begin` on are moved.
int64_t CyclesOf(int64_t rows, int64_t tile, int64_t begin) {
  int64_t cycles = 0;
  for (int64_t first = 0; first < rows; first += tile) {
    const int64_t moved = std::min(first + tile, rows) - std::max(first, begin);
    if (moved > 0) cycles += 5 + moved * kRowBytes;
  }
  return cycles;
}

TEST(Growth, OnlyWhatIsNewIsMoved) {
  const Profile profile = OneMemory();
  for (const auto& [past, fresh] : {std::pair<int64_t, int64_t>{7, 1}, {3, 5}, {1, 1}, {12, 4}}) {
    const graph::Graph graph = GrowingCache(past, fresh);
    for (int64_t tile = 1; tile <= past + fresh; ++tile) {
      SCOPED_TRACE(testing::Message() << past << " + " << fresh << " rows in tiles of " << tile);
      const graph::tiling::TiledSubgraph tiling =
          graph::tiling::Tile(graph, {0, 0}, {1, 2, tile, 4});
      const plan::Metrics metrics = cost::Simulate(graph, profile, tiling, {});
      EXPECT_EQ(metrics.latency_cycles, CyclesOf(past + fresh, tile, past));
      EXPECT_DOUBLE_EQ(metrics.energy_pj, static_cast<double>(fresh * kRowBytes * (1 + 2)));
      EXPECT_EQ(cost::TimelineOf(graph, profile, tiling, {}, cost::kAllTiles).cycles,
                metrics.latency_cycles);
      for (const plan::Metrics& bound : {cost::LowerBound(graph, profile, {0, 0}),
                                         cost::SubgraphBound(graph, profile, {0, 0}, {})}) {
        EXPECT_LE(bound.latency_cycles, metrics.latency_cycles);
        EXPECT_LE(bound.energy_pj, metrics.energy_pj);
      }
    }
    EXPECT_EQ(cost::SubgraphBound(graph, profile, {0, 0}, {}).latency_cycles,
              5 + fresh * kRowBytes);
  }
}

// Where the port is slower than the engine, it decides. It reads and writes in turn, and only the
// other operand.
TEST(Growth, ThePortMovesWhatIsNew) {
  Profile profile = OneMemory();
  profile.memories[1].port.read_bytes_per_cycle = 0.5;
  const graph::Graph graph = GrowingCache(7, 2);
  const plan::Metrics metrics =
      cost::Simulate(graph, profile, graph::tiling::Tile(graph, {0, 0}, {1, 2, 9, 4}), {});
  EXPECT_EQ(metrics.latency_cycles, 2 * kRowBytes * 2 + 2 * kRowBytes / 4);
}

// Where the next value has its own place, all of it is copied: the old value is an output too, is
// read later, has another pitch, comes second, or has another home.
TEST(Growth, AllIsMovedWhereTheNextValueLiesElsewhere) {
  const auto energy_of = [](const graph::Graph& graph, const Profile& profile) {
    const graph::Shape& whole = graph.tensors[2].shape;
    return cost::Simulate(graph, profile, graph::tiling::Tile(graph, {0, 0}, whole), {})
        .energy_by_part.at("sram");
  };
  const Profile profile = OneMemory();
  const double all = 8 * kRowBytes * (1 + 2);
  EXPECT_DOUBLE_EQ(energy_of(GrowingCache(7, 1), profile), 1 * kRowBytes * (1 + 2));

  graph::Graph wanted = GrowingCache(7, 1);
  wanted.tensors[0].network_output = true;
  EXPECT_DOUBLE_EQ(energy_of(wanted, profile), all);

  graph::Graph second = GrowingCache(7, 1);
  std::swap(second.operators[0].inputs[0], second.operators[0].inputs[1]);
  EXPECT_DOUBLE_EQ(energy_of(second, profile), all);

  graph::Graph of_none = GrowingCache(7, 1);
  of_none.tensors[2].next_of = -1;
  EXPECT_DOUBLE_EQ(energy_of(of_none, profile), all);

  graph::Graph wider = GrowingCache(7, 1);
  wider.operators[0].axis = 3;
  wider.tensors[0].shape = {1, 2, 4, 7};
  wider.tensors[1].shape = {1, 2, 4, 1};
  wider.tensors[2].shape = {1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(energy_of(wider, profile), all);

  graph::Graph later = GrowingCache(7, 1);
  graph::Operator relu;
  relu.id = "relu";
  relu.kind = base::OperatorKind::kElementwise;
  relu.inputs = {0};
  relu.outputs = {3};
  graph::Tensor result = later.tensors[0];
  result.id = "result";
  result.state = false;
  result.network_output = true;
  later.tensors.push_back(result);
  later.operators.push_back(relu);
  EXPECT_DOUBLE_EQ(energy_of(later, profile), all);

  Profile elsewhere = profile;
  LayoutIn(elsewhere, base::TensorRole::kState).home = 0;
  const graph::Graph moved = GrowingCache(7, 1);
  EXPECT_GT(energy_of(moved, elsewhere), all);  // also loaded and stored
}

}  // namespace
}  // namespace tessera::search
