#include "tessera/search/simulate/ahead.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "small_machine.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/simulate/timeline.h"

// What prefetched constants cost, and whom.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;

// x [1,2,4,3] --1x1--> a --1x1--> y, each by itself in two tiles of two rows. A tile: 13 cycles to load, 11 to compute, 14 to store;
// the weights take 11 to load (simulate_test.cc).
struct Pair {
  graph::Graph graph;
  std::vector<plan::Subgraph> subgraphs;

  plan::Metrics Price(const Profile& profile, size_t number) const {
    return Simulate(graph, profile, graph::Tile(graph, subgraphs[number].interval, subgraphs[number].tile),
                    {}, AheadOf(graph, profile, subgraphs, number));
  }
};

Pair Prefetching() {
  NetworkBuilder net;
  Pair pair{net.Finish(net.Conv(net.Conv(net.Input({1, 2, 4, 3}), 1, 2), 1, 2)), {}};
  for (const int op : {0, 1}) {
    plan::Subgraph& subgraph = pair.subgraphs.emplace_back();
    subgraph.interval = {op, op};
    subgraph.tile = {1, 2, 2, 3};
    subgraph.prefetch = op == 1;
  }
  return pair;
}

Profile WithTwoPorts() {
  Profile profile = SmallMachine(DmaSteps::kOverlapped);
  profile.memories[0].port.shared = false;
  profile.links[0].outstanding = 2;
  return profile;
}

TEST(Ahead, TakesWhatTheLastTileAndItsStoreLeaveFree) {
  const Pair pair = Prefetching();
  EXPECT_EQ(pair.Price(WithTwoPorts(), 0).latency_cycles, (11 + 13) + (13 + 14) + 14);
  EXPECT_EQ(pair.Price(WithTwoPorts(), 1).latency_cycles, 13 + (13 + 14) + 14);
}

// Over one port the weights wait until both stores are through, and gain nothing.
TEST(Ahead, WaitsForABusyPort) {
  const Pair pair = Prefetching();
  const Profile profile = SmallMachine(DmaSteps::kOverlapped);
  EXPECT_EQ(pair.Price(profile, 0).latency_cycles, (11 + 13) + 13 + (14 + 14 + 11));
  EXPECT_EQ(pair.Price(profile, 1).latency_cycles, 13 + (13 + 14) + 14);
}

TEST(Ahead, HoldsUpTheSubgraphBeforeWhereItTakesLonger) {
  const Pair pair = Prefetching();
  const graph::TiledSubgraph tiling = graph::Tile(pair.graph, {0, 0}, pair.subgraphs[0].tile);
  const Ahead ahead{.own = false, .next = {{.home = 0, .cycles = 40, .bytes = 100}}};
  const plan::Metrics metrics = Simulate(pair.graph, WithTwoPorts(), tiling, {}, ahead);
  EXPECT_EQ(metrics.latency_cycles, (11 + 13) + 13 + 40);
  EXPECT_EQ(metrics.bound_by, "dma");
}

TEST(Ahead, BytesAreThoseOfWhoeverUsesThem) {
  Pair pair = Prefetching();
  const plan::Metrics before = pair.Price(WithTwoPorts(), 0);
  const plan::Metrics after = pair.Price(WithTwoPorts(), 1);
  pair.subgraphs[1].prefetch = false;
  EXPECT_EQ(before.off_chip_by_cause, pair.Price(WithTwoPorts(), 0).off_chip_by_cause);
  EXPECT_EQ(after.off_chip_by_cause, pair.Price(WithTwoPorts(), 1).off_chip_by_cause);
  EXPECT_EQ(after.energy_pj, pair.Price(WithTwoPorts(), 1).energy_pj);
}

// Of the 40 cycles 14 are beside the last tile, 14 beside its store, and the rest come behind.
TEST(Ahead, IsDrawnWhereItIsCounted) {
  const Pair pair = Prefetching();
  const graph::TiledSubgraph tiling = graph::Tile(pair.graph, {0, 0}, pair.subgraphs[0].tile);
  const Ahead ahead{.own = false, .next = {{.home = 0, .cycles = 40, .bytes = 100}}};
  const SubgraphTimeline timeline = TimelineOf(pair.graph, WithTwoPorts(), tiling, {}, kAllTiles, ahead);
  EXPECT_EQ(timeline.cycles, 24 + 13 + 40);
  std::vector<std::pair<int64_t, int64_t>> drawn;
  for (const Activity& activity : timeline.activities) {
    if (activity.kind == ActivityKind::kPrefetch) drawn.emplace_back(activity.begin, activity.end);
  }
  const std::vector<std::pair<int64_t, int64_t>> expected = {{37, 51}, {51, 77}};
  EXPECT_EQ(drawn, expected);
}

}  // namespace
}  // namespace tessera::search
