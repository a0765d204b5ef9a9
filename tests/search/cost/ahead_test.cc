// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "small_machine.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/cost/timeline.h"
#include "tessera/tests/search/cost/simulate.h"

// The costs of prefetched constants, and the subgraph that they are counted for.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;

// x [1,2,4,3] --1x1--> a --1x1--> y, each convolution in its own subgraph of two tiles of two rows.
// A tile takes 13 cycles to load, 11 to compute, 14 to store; the weights take 11 to load
// (simulate_test.cc).
struct Pair {
  graph::Graph graph;
  std::vector<plan::Subgraph> subgraphs;

  plan::Metrics Price(const Profile& profile, size_t number) const {
    return cost::Simulate(
        graph, profile,
        graph::tiling::Tile(graph, subgraphs[number].interval, subgraphs[number].tile), {},
        cost::PrefetchesOf(graph, profile, subgraphs, number));
  }
};

Pair Prefetching() {
  NetworkBuilder net;
  Pair pair{net.Finish(net.Conv(net.Conv(net.Input({1, 2, 4, 3}), 1, 2), 1, 2)), {}};
  for (const int op : {0, 1}) {
    plan::Subgraph& subgraph = pair.subgraphs.emplace_back();
    subgraph.interval = {op, op};
    subgraph.tile = {1, 2, 2, 3};
    if (op == 1) subgraph.prefetch = {1};
  }
  return pair;
}

// Constants of 100 bytes that take so many cycles.
cost::Prefetches Carrying(int64_t cycles) {
  return {.own = {}, .carried = {{.home = 0, .bytes = 100, .transfers = {{0, cycles}}}}};
}

Profile WithTwoPorts() {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.memories[0].port.shared = false;
  profile.links[0].outstanding = 2;
  return profile;
}

TEST(Ahead, TakesWhatTilesAndTheLastStoreLeaveFree) {
  const Pair pair = Prefetching();
  EXPECT_EQ(pair.Price(WithTwoPorts(), 0).latency_cycles, (11 + 13) + (13 + 14) + 14);
  EXPECT_EQ(pair.Price(WithTwoPorts(), 1).latency_cycles, 13 + (13 + 14) + 14);
}

// Over one port the weights wait until both stores are complete, and nothing is gained.
TEST(Ahead, WaitsForABusyPort) {
  const Pair pair = Prefetching();
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  EXPECT_EQ(pair.Price(profile, 0).latency_cycles, (11 + 13) + 13 + (14 + 14 + 11));
  EXPECT_EQ(pair.Price(profile, 1).latency_cycles, 13 + (13 + 14) + 14);
}

TEST(Ahead, HoldsUpTheSubgraphBeforeWhereItTakesLonger) {
  const Pair pair = Prefetching();
  const graph::tiling::TiledSubgraph tiling =
      graph::tiling::Tile(pair.graph, {0, 0}, pair.subgraphs[0].tile);
  const cost::Prefetches prefetches = Carrying(40);
  const plan::Metrics metrics = cost::Simulate(pair.graph, WithTwoPorts(), tiling, {}, prefetches);
  EXPECT_EQ(metrics.latency_cycles, (11 + 13) + 13 + 40);
  EXPECT_EQ(metrics.bound_by, "dma");
}

// With 31 cycles to compute, the first tile leaves 18 free, the second one 31, the store 14.
TEST(Ahead, TakesTheFreeTimeOfEveryTile) {
  const Pair pair = Prefetching();
  Profile profile = WithTwoPorts();
  for (auto& each : profile.engines[0].throughputs) each.start_cycles = 25;
  const graph::tiling::TiledSubgraph tiling =
      graph::tiling::Tile(pair.graph, {0, 0}, pair.subgraphs[0].tile);
  EXPECT_EQ(cost::Simulate(pair.graph, profile, tiling, {}, Carrying(63)).latency_cycles,
            24 + 31 + 31 + 14);
  EXPECT_EQ(cost::Simulate(pair.graph, profile, tiling, {}, Carrying(64)).latency_cycles,
            24 + 31 + 31 + 14 + 1);
  const cost::SubgraphTimeline timeline =
      cost::TimelineOf(pair.graph, profile, tiling, {}, cost::kAllTiles, Carrying(64));
  std::vector<std::pair<int64_t, int64_t>> drawn;
  for (const cost::Activity& activity : timeline.activities) {
    if (activity.kind == cost::ActivityKind::kPrefetch)
      drawn.emplace_back(activity.begin, activity.end);
  }
  const std::vector<std::pair<int64_t, int64_t>> expected = {{37, 55}, {55, 86}, {86, 101}};
  EXPECT_EQ(drawn, expected);
}

// After the prologue of 24 cycles the engine reads and writes 28 bytes of the tile memory for each
// tile, one more is loaded and two are stored, 12 bytes each: 92 bytes, and 400 of constants.
TEST(Ahead, SharesThePortOfTheTileMemory) {
  const Pair pair = Prefetching();
  Profile profile = WithTwoPorts();
  for (auto& each : profile.engines[0].throughputs) each.start_cycles = 25;
  hw_profiles::Port& port = profile.memories[1].port;
  port.read_bytes_per_cycle = port.write_bytes_per_cycle = 4;
  port.shared = true;
  const graph::tiling::TiledSubgraph tiling =
      graph::tiling::Tile(pair.graph, {0, 0}, pair.subgraphs[0].tile);
  cost::Prefetches prefetches = Carrying(50);
  prefetches.carried[0].bytes = 200;
  EXPECT_EQ(cost::Simulate(pair.graph, profile, tiling, {}, prefetches).latency_cycles,
            24 + 31 + 31 + 14);
  prefetches.carried[0].bytes = 400;
  EXPECT_EQ(cost::Simulate(pair.graph, profile, tiling, {}, prefetches).latency_cycles,
            24 + (92 + 400) / 4);
  EXPECT_EQ(cost::TimelineOf(pair.graph, profile, tiling, {}, cost::kAllTiles, prefetches).cycles,
            24 + (92 + 400) / 4);
}

// A transfer is requested when the one before it has ended, or with two or three under way, the one
// before that, or one more.
TEST(Ahead, OverlapsLatenciesInAQueue) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.links[0].outstanding = 3;
  const cost::ConstantsPart part{
      .home = 0, .bytes = 100, .transfers = {{10, 4}, {10, 4}, {10, 4}, {10, 20}}};
  EXPECT_EQ(cost::QueueCycles(profile, part, 1), 14 + 14 + 14 + 30);
  EXPECT_EQ(cost::QueueCycles(profile, part, 2), 28 + 20);
  EXPECT_EQ(cost::QueueCycles(profile, part, 9), 24 + 20);
  EXPECT_EQ(cost::CarriedCycles(profile, part), 24 + 20);
}

// Weights of 4 bytes, two of which arrive in each of two subgraphs: 7 cycles of latency and 4 more.
// The second part is requested before the 4 cycles of the first.
TEST(Ahead, RequestsTheRestOfAConstantWhileTheSubgraphBeforeRuns) {
  Pair pair = Prefetching();
  plan::Subgraph next = pair.subgraphs[1];
  for (plan::Subgraph* subgraph : {&pair.subgraphs[1], &next}) subgraph->prefetch.clear();
  NetworkBuilder net;
  pair.graph = net.Finish(net.Conv(net.Conv(net.Conv(net.Input({1, 2, 4, 3}), 1, 2), 1, 2), 1, 2));
  next.interval = {2, 2};
  pair.subgraphs.push_back(next);
  Profile profile = WithTwoPorts();
  const auto cycles = [&](size_t carrier, std::vector<int> prefetch) {
    pair.subgraphs[2].prefetch = std::move(prefetch);
    return cost::CarriedCycles(
        profile, cost::PrefetchesOf(pair.graph, profile, pair.subgraphs, carrier).carried.at(0));
  };
  EXPECT_EQ(cycles(0, {2, 1}), 7 + 4);
  EXPECT_EQ(cycles(1, {2, 1}), 7 - 4 + 4);
  EXPECT_EQ(cycles(1, {1, 0}), 7 + 4);
  profile.links[0].outstanding = 1;
  EXPECT_EQ(cycles(1, {2, 1}), 7 + 4);
}

TEST(Ahead, BytesCountForTheSubgraphThatUsesThem) {
  Pair pair = Prefetching();
  const plan::Metrics before = pair.Price(WithTwoPorts(), 0);
  const plan::Metrics after = pair.Price(WithTwoPorts(), 1);
  pair.subgraphs[1].prefetch = {};
  EXPECT_EQ(before.off_chip_by_cause, pair.Price(WithTwoPorts(), 0).off_chip_by_cause);
  EXPECT_EQ(after.off_chip_by_cause, pair.Price(WithTwoPorts(), 1).off_chip_by_cause);
  EXPECT_EQ(after.energy_pj, pair.Price(WithTwoPorts(), 1).energy_pj);
}

// Of the 40 cycles 14 overlap the last tile, 14 overlap its store, and the rest follow them.
TEST(Ahead, IsDrawnWhereItIsCounted) {
  const Pair pair = Prefetching();
  const graph::tiling::TiledSubgraph tiling =
      graph::tiling::Tile(pair.graph, {0, 0}, pair.subgraphs[0].tile);
  const cost::Prefetches prefetches = Carrying(40);
  const cost::SubgraphTimeline timeline =
      cost::TimelineOf(pair.graph, WithTwoPorts(), tiling, {}, cost::kAllTiles, prefetches);
  EXPECT_EQ(timeline.cycles, 24 + 13 + 40);
  std::vector<std::pair<int64_t, int64_t>> drawn;
  for (const cost::Activity& activity : timeline.activities) {
    if (activity.kind == cost::ActivityKind::kPrefetch)
      drawn.emplace_back(activity.begin, activity.end);
  }
  const std::vector<std::pair<int64_t, int64_t>> expected = {{37, 51}, {51, 77}};
  EXPECT_EQ(drawn, expected);
}

// The weights of the first convolution in "dram", those of the second in "tcm": 16 bytes a cycle,
// no latency, 1 cycle to set up.
struct TwoHomes {
  graph::Graph graph;
  Profile profile;
};

TwoHomes InTwoHomes(DmaSteps dma) {
  NetworkBuilder net;
  const int middle = net.Conv(net.Input({1, 2, 4, 3}), 1, 2);
  TwoHomes two{net.Finish(net.Conv(middle, 1, 2)), SmallMachine(dma)};
  hw_profiles::Memory tcm;
  tcm.name = "tcm";
  tcm.capacity_bytes = 4;
  tcm.port = {.read_bytes_per_cycle = 16, .write_bytes_per_cycle = 16};
  tcm.read_pj_per_byte = 3;
  two.profile.memories.push_back(tcm);
  hw_profiles::Link link;
  link.name = "tcm_dma";
  link.first = 2;
  link.second = 1;
  link.setup_cycles = 1;
  two.profile.links.push_back(link);
  LayoutIn(two.profile, base::TensorRole::kConstant).next_homes = {2};
  two.graph.tensors[static_cast<size_t>(two.graph.operators[1].weights.front())].home = 1;
  return two;
}

// The weights of 4 bytes take 11 cycles from dram and 2 from tcm, x 16, y 20, and each convolution
// 5 + 12.
TEST(TwoHomes, SendOneAfterAnotherWhereTransfersHaveTheirSerialized) {
  const TwoHomes two = InTwoHomes(DmaSteps::kSerialized);
  const graph::tiling::TiledSubgraph tiling = graph::tiling::Tile(two.graph, {0, 1}, {1, 2, 4, 3});
  const plan::Metrics metrics = cost::Simulate(two.graph, two.profile, tiling, {});
  EXPECT_EQ(metrics.latency_cycles, 11 + 2 + 16 + 17 + 17 + 20);
  EXPECT_EQ(metrics.off_chip_by_cause.at("weights"), 8);
  EXPECT_DOUBLE_EQ(metrics.energy_by_part.at("tcm"), 4 * 3);
  EXPECT_EQ(cost::TimelineOf(two.graph, two.profile, tiling, {}, cost::kAllTiles).cycles,
            metrics.latency_cycles);
}

TEST(TwoHomes, SendSideBySideWhereTransfersOverlap) {
  const TwoHomes two = InTwoHomes(DmaSteps::kDoubleBuffered);
  const graph::tiling::TiledSubgraph tiling = graph::tiling::Tile(two.graph, {0, 1}, {1, 2, 4, 3});
  const plan::Metrics metrics = cost::Simulate(two.graph, two.profile, tiling, {});
  EXPECT_EQ(metrics.latency_cycles, (11 + 16) + 17 + 17 + 20);
  EXPECT_EQ(cost::TimelineOf(two.graph, two.profile, tiling, {}, cost::kAllTiles).cycles,
            metrics.latency_cycles);
  EXPECT_LE(cost::SubgraphBound(two.graph, two.profile, {0, 1}, {}).latency_cycles,
            metrics.latency_cycles);
}

// Each home prefetches over its own port: 11 cycles of one and 2 of the other. A tile takes 11 to
// compute and 14 to store.
TEST(TwoHomes, PrefetchSideBySide) {
  TwoHomes two = InTwoHomes(DmaSteps::kDoubleBuffered);
  std::vector<plan::Subgraph> subgraphs(2);
  subgraphs[0].interval = {0, 0};
  subgraphs[1].interval = {1, 1};
  subgraphs[1].prefetch = {1};
  const cost::Prefetches prefetches = cost::PrefetchesOf(two.graph, two.profile, subgraphs, 0);
  ASSERT_EQ(prefetches.carried.size(), 1U);
  EXPECT_EQ(prefetches.carried.front().home, 2);
  EXPECT_EQ(cost::CarriedCycles(two.profile, prefetches.carried.front()), 2);
  EXPECT_EQ(prefetches.carried.front().bytes, 4);
}

}  // namespace
}  // namespace tessera::search
