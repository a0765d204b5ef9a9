// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate.h"
#include "small_machine.h"
#include "tessera/search/cost/timeline.h"

// Subgraphs of two stages: docs/program.md 4.4 and 14.6.9.
namespace tessera::search {
namespace {

using encoder::program::Policy;
using testing::ElementsAre;

// x [1,2,4,3] --1x1--> t0 --add--> y. For a tile of a row the convolution takes 8 cycles on "pe"
// and the addition 3 on "other". A transfer takes a cycle.
class StagesTest : public testing::Test {
 protected:
  StagesTest() : profile_(SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered)) {
    NetworkBuilder net;
    const int made = net.Conv(net.Input({1, 2, 4, 3}), 1, 2);
    network_ = net.Finish(net.Add(made, made));
    profile_.memories[0].port = {
        .read_bytes_per_cycle = 100, .write_bytes_per_cycle = 100, .shared = true};
    profile_.links[0].setup_cycles = 0;
    profile_.tiling.concurrent = true;
    hw_profiles::Engine other = profile_.engines.front();
    other.name = "other";
    profile_.engines.push_back(other);
    network_.operators[1].engine = "other";
    staged_.second_stage = 1;
  }

  plan::Metrics Run(const Policy& policy) const { return RunRows(network_, profile_, 1, policy); }

  cost::SubgraphTimeline TimelineOf(const Policy& policy) const {
    const auto tiling = encoder::program::CutTiles(network_, {0, 1}, {1, 2, 1, 3}, policy.halo);
    return cost::TimelineOf(network_, profile_, tiling, policy, /*most_tiles=*/100);
  }

  graph::Graph network_;
  hw_profiles::Profile profile_;
  Policy staged_;
};

TEST_F(StagesTest, RunNextToEachOther) {
  EXPECT_EQ(Run({}).latency_cycles, 2 + 4 * (8 + 3) + 1);
  EXPECT_EQ(Run(staged_).latency_cycles, 2 + 4 * 8 + 3 + 1);
}

TEST_F(StagesTest, MoveAndComputeAsMuchAsOne) {
  const plan::Metrics one = Run({});
  const plan::Metrics two = Run(staged_);
  EXPECT_EQ(two.off_chip_bytes, one.off_chip_bytes);
  EXPECT_EQ(two.macs, one.macs);
  EXPECT_EQ(two.energy_pj, one.energy_pj);
  EXPECT_EQ(two.exposed_cycles, one.exposed_cycles);
}

TEST_F(StagesTest, OnOneEngineTakeTurns) {
  network_.operators[1].engine = "pe";
  EXPECT_EQ(Run(staged_).latency_cycles, Run({}).latency_cycles);
}

// Of operators that can start together, that of the second stage does. The addition of tile 0 and
// the convolution of tile 1 start at cycle 8 of the slots, the last addition at 32.
TEST_F(StagesTest, HaveATimeline) {
  const cost::SubgraphTimeline timeline = TimelineOf(staged_);
  EXPECT_EQ(timeline.cycles, Run(staged_).latency_cycles);
  std::vector<int64_t> begins;
  std::vector<int64_t> tiles;
  for (const cost::Activity& activity : timeline.activities) {
    if (activity.kind != cost::ActivityKind::kCompute || activity.op != 1) continue;
    begins.push_back(activity.begin - 2);
    tiles.push_back(activity.tile);
  }
  EXPECT_THAT(begins, ElementsAre(8, 16, 24, 32));
  EXPECT_THAT(tiles, ElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace tessera::search
