// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "small_machine.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/tests/search/cost/simulate.h"

// Every activity has its place, and the last one ends at the latency of the simulator.
namespace tessera::search {
namespace {

using encoder::program::Policy;
using hw_profiles::DmaSteps;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::ElementsAre;

// x [1,2,4,3] --1x1--> y [1,2,4,3] in tiles of `rows` rows. As in simulate_test.cc, a tile of two
// rows takes 13 cycles to load, 11 to compute and 14 to store; the weights take 11.
cost::SubgraphTimeline PointwiseTimeline(DmaSteps dma, Policy policy, int64_t rows,
                                         int64_t most = cost::kAllTiles) {
  const graph::Graph graph = Pointwise();
  return cost::TimelineOf(graph, SmallMachine(dma),
                          graph::tiling::Tile(graph, {0, 0}, {1, 2, rows, 3}), policy, most);
}

struct Span {
  cost::ActivityKind kind;
  int64_t tile;
  int64_t begin;
  int64_t end;
  friend bool operator==(const Span&, const Span&) = default;
  friend void PrintTo(const Span& span, std::ostream* out) {
    *out << "kind " << static_cast<int>(span.kind) << " of tile " << span.tile << " [" << span.begin
         << ", " << span.end << ")";
  }
};

std::vector<Span> SpansOf(const cost::SubgraphTimeline& timeline) {
  std::vector<Span> spans;
  for (const cost::Activity& activity : timeline.activities)
    spans.push_back({activity.kind, activity.tile, activity.begin, activity.end});
  return spans;
}

TEST(Timeline, SerializedStandOneAfterAnother) {
  const cost::SubgraphTimeline timeline = PointwiseTimeline(DmaSteps::kSerialized, kResident, 2);
  EXPECT_THAT(SpansOf(timeline), ElementsAre(Span{cost::ActivityKind::kConstants, 0, 0, 11},
                                             Span{cost::ActivityKind::kLoad, 0, 11, 24},
                                             Span{cost::ActivityKind::kCompute, 0, 24, 35},
                                             Span{cost::ActivityKind::kStore, 0, 35, 49},
                                             Span{cost::ActivityKind::kLoad, 1, 49, 62},
                                             Span{cost::ActivityKind::kCompute, 1, 62, 73},
                                             Span{cost::ActivityKind::kStore, 1, 73, 87}));
  EXPECT_EQ(timeline.cycles, 87);
  EXPECT_THAT(timeline.busy, ElementsAre(22, 65));
}

TEST(Timeline, DoubleBufferedTilesArriveAndLeaveDuringCompute) {
  const cost::SubgraphTimeline timeline =
      PointwiseTimeline(DmaSteps::kDoubleBuffered, kResident, 2);
  EXPECT_THAT(SpansOf(timeline), ElementsAre(Span{cost::ActivityKind::kConstants, 0, 0, 11},
                                             Span{cost::ActivityKind::kLoad, 0, 11, 24},
                                             Span{cost::ActivityKind::kCompute, 0, 24, 35},
                                             Span{cost::ActivityKind::kLoad, 1, 24, 37},
                                             Span{cost::ActivityKind::kCompute, 1, 37, 48},
                                             Span{cost::ActivityKind::kStore, 0, 37, 51},
                                             Span{cost::ActivityKind::kStore, 1, 51, 65}));
  EXPECT_EQ(timeline.cycles, 65);
}

// Of tile 0: its second slice during its step, then the first slice of tile 1, then tile 1 itself.
TEST(Timeline, SlicesBeginWithTheirStepAndOthersGiveWay) {
  const cost::SubgraphTimeline timeline =
      PointwiseTimeline(DmaSteps::kDoubleBuffered, kStreamed, 2);
  EXPECT_THAT(SpansOf(timeline), ElementsAre(Span{cost::ActivityKind::kLoad, 0, 0, 13},
                                             Span{cost::ActivityKind::kSlices, 0, 13, 24},
                                             Span{cost::ActivityKind::kCompute, 0, 24, 35},
                                             Span{cost::ActivityKind::kSlices, 0, 24, 35},
                                             Span{cost::ActivityKind::kSlices, 1, 35, 46},
                                             Span{cost::ActivityKind::kLoad, 1, 46, 59},
                                             Span{cost::ActivityKind::kCompute, 1, 59, 70},
                                             Span{cost::ActivityKind::kSlices, 1, 59, 70},
                                             Span{cost::ActivityKind::kStore, 0, 70, 84},
                                             Span{cost::ActivityKind::kStore, 1, 84, 98}));
}

TEST(Timeline, ReadsAndWritesHaveTracksOfTheirOwnWhereTheyDoNotTakeTurns) {
  NetworkBuilder net;
  const graph::Graph graph = net.Finish(net.Conv(net.Input({1, 2, 4, 3}), 1, 2));
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.memories[0].port.shared = false;
  profile.links[0].outstanding = 2;
  const cost::SubgraphTimeline timeline = cost::TimelineOf(
      graph, profile, graph::tiling::Tile(graph, {0, 0}, {1, 2, 1, 3}), kResident, cost::kAllTiles);
  ASSERT_EQ(timeline.tracks.size(), 3U);
  EXPECT_EQ(timeline.tracks[1].flow, plan::TrackFlow::kIn);
  EXPECT_EQ(timeline.tracks[2].flow, plan::TrackFlow::kOut);
  EXPECT_EQ(timeline.cycles, (11 + 12) + (12 + 12 + 12 + 12) + 12);
}

TEST(Timeline, IdleEnginesLeaveAGapThatTransfersUse) {
  NetworkBuilder net;
  const graph::Graph graph = net.Finish(net.Conv(net.Input({1, 2, 4, 3}), 1, 2));
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.engines[0].idle_cycles_between_tiles = 5;
  const cost::SubgraphTimeline timeline = cost::TimelineOf(
      graph, profile, graph::tiling::Tile(graph, {0, 0}, {1, 2, 2, 3}), kResident, cost::kAllTiles);
  EXPECT_THAT(SpansOf(timeline), ElementsAre(Span{cost::ActivityKind::kConstants, 0, 0, 11},
                                             Span{cost::ActivityKind::kLoad, 0, 11, 24},
                                             Span{cost::ActivityKind::kCompute, 0, 24, 35},
                                             Span{cost::ActivityKind::kLoad, 1, 24, 37},
                                             Span{cost::ActivityKind::kCompute, 1, 40, 51},
                                             Span{cost::ActivityKind::kStore, 0, 40, 54},
                                             Span{cost::ActivityKind::kStore, 1, 54, 68}));
  EXPECT_EQ(timeline.cycles, 68);
}

TEST(Timeline, TilesInTheMiddleAreLeftOutYetCounted) {
  const cost::SubgraphTimeline whole = PointwiseTimeline(DmaSteps::kDoubleBuffered, kResident, 1);
  const cost::SubgraphTimeline part = PointwiseTimeline(DmaSteps::kDoubleBuffered, kResident, 1, 3);
  ASSERT_EQ(part.omissions.size(), 1U);
  EXPECT_EQ(part.omissions[0].first, 2);
  EXPECT_EQ(part.omissions[0].count, 1);
  EXPECT_EQ(part.cycles, whole.cycles);
  EXPECT_EQ(part.busy, whole.busy);
  for (const cost::Activity& activity : part.activities) {
    if (activity.kind == cost::ActivityKind::kCompute) {
      EXPECT_NE(activity.tile, 2);
    }
  }
  EXPECT_EQ(part.activities.back().end, whole.cycles);
}

TEST(Timeline, DirectWorkKeepsThePortFromTransfers) {
  NetworkBuilder net;
  const graph::Graph graph = net.Finish(net.Conv(net.Input({1, 2, 4, 3}), 1, 2));
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.memories[0].direct_read = true;
  const Policy direct = {WeightPolicy::kDirect, false};
  const graph::tiling::TiledSubgraph tiling = graph::tiling::Tile(graph, {0, 0}, {1, 2, 2, 3});
  const cost::SubgraphTimeline timeline =
      cost::TimelineOf(graph, profile, tiling, direct, cost::kAllTiles);
  EXPECT_EQ(timeline.cycles, cost::Simulate(graph, profile, tiling, direct).latency_cycles);
  const auto at = std::find_if(
      timeline.activities.begin(), timeline.activities.end(),
      [](const cost::Activity& a) { return a.kind == cost::ActivityKind::kDirect && a.tile == 1; });
  ASSERT_NE(at, timeline.activities.end());
  EXPECT_EQ(at->end - at->begin, 10 + 8);
  EXPECT_EQ(at->bytes, 12 + 4);
}

// A chain with a skip, any tile, any machine.
RC_GTEST_PROP(TimelineProperty, EndsWhenTheSimulatorSaysAndNoTrackOverlapsItself, ()) {
  const auto drawn = [](int64_t low, int64_t high) {
    return *rc::gen::inRange<int64_t>(low, high);
  };
  NetworkBuilder net;
  const int64_t rows = drawn(1, 14);
  int last = net.Input({1, drawn(1, 5), rows, drawn(1, 4)});
  const int64_t layers = drawn(1, 4);
  int before = -1;
  for (int64_t i = 0; i < layers; ++i) {
    before = i == 1 ? last : before;
    last = net.Conv(last, 1 + 2 * drawn(0, 2), 4);
  }
  if (before >= 0) last = net.Add(last, before);
  const graph::Graph graph = net.Finish(last);
  Profile profile =
      SmallMachine(drawn(0, 2) == 0 ? DmaSteps::kSerialized : DmaSteps::kDoubleBuffered);
  profile.memories[0].port.shared = drawn(0, 2) == 0;
  profile.memories[0].direct_read = drawn(0, 3) == 0;
  profile.links[0].outstanding = static_cast<int>(drawn(1, 3));
  profile.engines[0].idle_cycles_between_tiles = drawn(0, 2) * drawn(0, 40);
  if (drawn(0, 4) == 0) LayoutIn(profile, base::TensorRole::kNetworkOutput).home = 1;
  Policy policy = drawn(0, 2) == 0 ? kResident : kStreamed;
  if (profile.memories[0].direct_read && drawn(0, 2) == 0) policy.weights = WeightPolicy::kDirect;
  graph::tiling::TileShape tile =
      graph.tensors[static_cast<size_t>(graph.operators.back().outputs.front())].shape;
  tile[2] = drawn(1, rows + 1);
  const int end = static_cast<int>(graph.operators.size()) - 1;
  if (tile[2] < rows)
    policy.halo = *rc::gen::element(HaloStorage::kRecompute, HaloStorage::kRollingBuffer,
                                    HaloStorage::kLineBuffer, HaloStorage::kAdjacent);
  const graph::tiling::TiledSubgraph tiling =
      encoder::program::CutTiles(graph, {0, end}, tile, policy.halo);

  const cost::SubgraphTimeline timeline =
      cost::TimelineOf(graph, profile, tiling, policy, drawn(2, 20));
  RC_ASSERT(timeline.cycles == cost::Simulate(graph, profile, tiling, policy).latency_cycles);
  std::vector<int64_t> free(timeline.tracks.size(), 0);
  int64_t latest = 0;
  for (const cost::Activity& activity : timeline.activities) {
    auto& at = free[static_cast<size_t>(activity.track)];
    RC_ASSERT(activity.begin >= at);
    RC_ASSERT(activity.begin < activity.end);
    at = activity.end;
    latest = std::max(latest, at);
  }
  RC_ASSERT(latest == timeline.cycles);
  for (const int64_t busy : timeline.busy) RC_ASSERT(busy <= timeline.cycles);
  RC_CLASSIFY(policy.halo != HaloStorage::kRecompute, "keeps rows");
  RC_CLASSIFY(std::any_of(timeline.activities.begin(), timeline.activities.end(),
                          [](const cost::Activity& activity) {
                            return activity.kind == cost::ActivityKind::kCopy;
                          }),
              "copies rows");
}

}  // namespace
}  // namespace tessera::search
