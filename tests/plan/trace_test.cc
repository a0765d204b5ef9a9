// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "fixture.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/program_trace.h"

namespace tessera::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "s0/x@0 [0, 2) [3, 5) w0 r1 w3 w4" for each buffer, in order of id; at one step "dma" before
// "pe".
std::vector<std::string> ObservedUses(const Plan& plan, std::vector<std::set<int>> cached = {}) {
  std::vector<std::string> lines;
  for (const auto& [use, observed_use] :
       verify::Execute(plan, verify::FindUsers(plan.network), std::move(cached)).buffers) {
    std::string line = verify::BufferId(plan.network, use);
    for (const problem::Lifespan& life : observed_use.lifespans)
      line += fmt::format(" [{}, {})", life.lower, life.upper);
    for (const problem::Access& access : observed_use.accesses) {
      line +=
          fmt::format(" {}{}", access.kind == problem::AccessKind::kRead ? 'r' : 'w', access.step);
    }
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

Plan TwoConvsOf(hw_profiles::DmaSteps dma, hw_profiles::WeightPolicy weights, int64_t granularity,
                int64_t tile_rows) {
  Plan plan;
  plan.network = TwoConvs(6);
  plan.profile = SmallProfile();
  plan.profile.tiling.dma = dma;
  plan.profile.tiling.weight_granularity_channels = granularity;
  Subgraph subgraph;
  subgraph.interval = {0, 1};
  subgraph.tile = {1, 4, tile_rows, 4};
  subgraph.tiles = (6 + tile_rows - 1) / tile_rows;
  subgraph.weights = weights;
  plan.subgraphs = {subgraph};
  return plan;
}

// step   0 load x   1 load wa   2 a   3 load wb   4 b   5 store y
TEST(Trace, SerializedSlicesLoopWithTheirOperator) {
  const Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kSerialized, hw_profiles::WeightPolicy::kStreamed, 2, 6);
  EXPECT_THAT(ObservedUses(plan),
              ElementsAre("s0/a/wa@0.0 [1, 3) w1 r2", "s0/b/wb@0.0 [3, 5) w3 r4",
                          "s0/m@0 [1, 5) w2 r4", "s0/x@0 [0, 3) w0 r2", "s0/y@0 [3, 6) w4 r5"));
  EXPECT_THAT(verify::Execute(plan, verify::FindUsers(plan.network)).loops,
              ElementsAre(problem::Loop{1, 3, {3}}, problem::Loop{3, 5, {5}}));
}

TEST(Trace, OneSliceNeedsNoLoop) {
  const Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kSerialized, hw_profiles::WeightPolicy::kStreamed, 4, 6);
  EXPECT_THAT(ObservedUses(plan),
              ElementsAre("s0/a/wa@0.0 [1, 3) w1 r2", "s0/b/wb@0.0 [3, 5) w3 r4",
                          "s0/m@0 [2, 5) w2 r4", "s0/x@0 [0, 3) w0 r2", "s0/y@0 [4, 6) w4 r5"));
  EXPECT_THAT(verify::Execute(plan, verify::FindUsers(plan.network)).loops, IsEmpty());
}

// step   0 load wa   1 load wb | 2 load x   3 a   4 b   5 store y
TEST(Trace, ResidentConstantsOutliveTheirLastReaderWhereThePassRepeats) {
  const Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kSerialized, hw_profiles::WeightPolicy::kResident, 2, 2);
  EXPECT_THAT(ObservedUses(plan),
              ElementsAre("s0/m@0 [3, 5) w3 r4", "s0/wa [0, 6) w0 r3", "s0/wb [1, 6) w1 r4",
                          "s0/x@0 [2, 4) w2 r3", "s0/y@0 [4, 6) w4 r5"));
  EXPECT_THAT(verify::Execute(plan, verify::FindUsers(plan.network)).loops,
              ElementsAre(problem::Loop{2, 6, {6}}));
}

// step   0 P   1 a   2 b   3 E
TEST(Trace, OneDoubleBufferedTileHasAPrologueAndAnEpilogue) {
  const Plan plan = TwoConvsOf(hw_profiles::DmaSteps::kDoubleBuffered,
                               hw_profiles::WeightPolicy::kStreamed, 2, 6);
  EXPECT_THAT(ObservedUses(plan),
              ElementsAre("s0/a/wa@0.0 [0, 2) w0 w1 r1", "s0/a/wa@0.1 [1, 2) w1 r1",
                          "s0/b/wb@0.0 [1, 3) w1 w2 r2", "s0/b/wb@0.1 [2, 3) w2 r2",
                          "s0/m@0 [1, 3) w1 r2", "s0/x@0 [0, 2) w0 r1", "s0/y@0 [2, 4) w2 r3"));
}

// step   0 P | 1 a   2 b | 3 a   4 b | 5 E
TEST(Trace, FirstSlicesArriveAtTheStepThatRunsBefore) {
  const Plan plan = TwoConvsOf(hw_profiles::DmaSteps::kDoubleBuffered,
                               hw_profiles::WeightPolicy::kStreamed, 4, 1);
  EXPECT_THAT(ObservedUses(plan),
              ElementsAre("s0/a/wa@0.0 [0, 2) [4, 5) w0 r1 w4", "s0/a/wa@1.0 [2, 4) w2 r3",
                          "s0/b/wb@0.0 [1, 3) w1 r2", "s0/b/wb@1.0 [3, 5) w3 r4",
                          "s0/m@0 [1, 3) w1 r2", "s0/m@1 [3, 5) w3 r4",
                          "s0/x@0 [0, 2) [3, 5) w0 r1 w3 w4", "s0/x@1 [1, 4) w1 w2 r3",
                          "s0/y@0 [2, 5) w2 r3 r4", "s0/y@1 [1, 3) [4, 6) r1 r2 w4 r5"));
  EXPECT_THAT(verify::Execute(plan, verify::FindUsers(plan.network)).loops,
              ElementsAre(problem::Loop{1, 5, {5}}));
}

// All maps at home in SRAM, weights read in flash: all steps are those of operators. Step 0, 1: a;
// 2, 3: b.
TEST(Trace, WholeBuffersLiveForTheLoopsOfTheirMakersAndReaders) {
  Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kDoubleBuffered, hw_profiles::WeightPolicy::kDirect, 4, 1);
  plan.profile = OneSramProfile();
  plan.subgraphs.push_back(plan.subgraphs.front());
  plan.subgraphs[0].interval = {0, 0};
  plan.subgraphs[1].interval = {1, 1};
  EXPECT_THAT(ObservedUses(plan),
              ElementsAre("m [0, 4) w0 w1 r2 r3", "x [0, 2) r0 r1", "y [2, 4) w2 w3"));
  EXPECT_THAT(verify::Execute(plan, verify::FindUsers(plan.network)).loops,
              ElementsAre(problem::Loop{0, 2, {2}}, problem::Loop{2, 4, {4}}));
}

// step   0 P | 1 a   2 b | 3 a   4 b | 5 E
TEST(Trace, TwoDoubleBufferedTilesRunStraightThrough) {
  const Plan plan = TwoConvsOf(hw_profiles::DmaSteps::kDoubleBuffered,
                               hw_profiles::WeightPolicy::kStreamed, 4, 3);
  EXPECT_THAT(
      ObservedUses(plan),
      ElementsAre("s0/a/wa@0.0 [0, 2) w0 r1", "s0/a/wa@1.0 [2, 4) w2 r3",
                  "s0/b/wb@0.0 [1, 3) w1 r2", "s0/b/wb@1.0 [3, 5) w3 r4", "s0/m@0 [1, 3) w1 r2",
                  "s0/m@1 [3, 5) w3 r4", "s0/x@0 [0, 2) w0 r1", "s0/x@1 [1, 4) w1 w2 r3",
                  "s0/y@0 [2, 5) w2 r3 r4", "s0/y@1 [4, 6) w4 r5"));
  EXPECT_THAT(verify::Execute(plan, verify::FindUsers(plan.network)).loops, IsEmpty());
}

// step   0 P | 1 a   2 b | 3 a   4 b | 5 a   6 b | 7 E
TEST(Trace, ThreeDoubleBufferedTilesRunStraightThrough) {
  const Plan plan = TwoConvsOf(hw_profiles::DmaSteps::kDoubleBuffered,
                               hw_profiles::WeightPolicy::kResident, 4, 2);
  EXPECT_THAT(ObservedUses(plan),
              ElementsAre("s0/m@0 [1, 3) [5, 7) w1 r2 w5 r6", "s0/m@1 [3, 5) w3 r4",
                          "s0/wa [0, 6) w0 r1 r3 r5", "s0/wb [0, 7) w0 r2 r4 r6",
                          "s0/x@0 [0, 2) [3, 6) w0 r1 w3 w4 r5", "s0/x@1 [1, 4) w1 w2 r3",
                          "s0/y@0 [2, 5) [6, 8) w2 r3 r4 w6 r7", "s0/y@1 [4, 7) w4 r5 r6"));
  EXPECT_THAT(verify::Execute(plan, verify::FindUsers(plan.network)).loops, IsEmpty());
}

// All maps at home in SRAM. Step 0 a, 1 b, 2 a, 3 b.
TEST(Trace, WholeBuffersOfTwoTilesLiveFromTheFirstMakerToTheLastReader) {
  Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kDoubleBuffered, hw_profiles::WeightPolicy::kDirect, 4, 3);
  plan.profile = OneSramProfile();
  EXPECT_THAT(ObservedUses(plan), ElementsAre("s0/m@0 [0, 2) w0 r1", "s0/m@1 [2, 4) w2 r3",
                                              "x [0, 3) r0 r2", "y [1, 4) w1 w3"));
}

// step   0 load table   1 load x   2 load wa   3 a   4 load wb   5 b   6 store y
TEST(Trace, AConstantThatIsNoFilterIsResidentWhereFiltersStream) {
  Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kSerialized, hw_profiles::WeightPolicy::kStreamed, 4, 6);
  plan.network.tensors.push_back(ConstantTensor("table", {4}));
  plan.network.operators[0].weights.push_back(5);
  EXPECT_THAT(ObservedUses(plan),
              testing::IsSupersetOf({"s0/table [0, 4) w0 r3", "s0/a/wa@0.0 [2, 4) w2 r3"}));
}

// The second operator is elementwise and reads wa too.
TEST(Trace, AConstantThatOneReaderNeedsWholeIsResidentForAll) {
  Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kSerialized, hw_profiles::WeightPolicy::kStreamed, 4, 6);
  plan.network.operators[1].kind = base::OperatorKind::kElementwise;
  plan.network.operators[1].weights = {1};
  EXPECT_THAT(ObservedUses(plan), testing::Contains("s0/wa [0, 4) w0 r2 r3"));
}

TEST(Trace, ConstantsAtHomeInTheTileMemoryAndStateAreThereAllTheTime) {
  Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kDoubleBuffered, hw_profiles::WeightPolicy::kDirect, 4, 6);
  plan.profile = OneSramProfile();
  plan.profile.roles[static_cast<size_t>(base::TensorRole::kConstant)].home = 0;
  plan.network.tensors.push_back(FeatureTensor("cache", {8}));
  plan.network.tensors.back().state = true;
  plan.network.operators[1].inputs.push_back(5);
  EXPECT_THAT(ObservedUses(plan),
              ElementsAre("cache [0, 2) r1", "s0/m@0 [0, 2) w0 r1", "wa [0, 2) r0", "wb [0, 2) r1",
                          "x [0, 1) r0", "y [1, 2) w1"));
}

// step   0 load x   1 a   2 b   3 store y     with scratch for convolutions
TEST(Trace, ScratchLivesWhileItsOperatorRuns) {
  Plan plan = OneConvPlan();
  plan.profile.scratch = {
      {base::OperatorKind::kConv, 8, {hw_profiles::ScratchFactor::kInChannels}}};
  EXPECT_THAT(ObservedUses(plan), testing::Contains("s0/conv/scratch@0 [2, 3) r2 w2"));
}

TEST(Trace, AResultThatIsReadInsideAndLeavesStaysUntilBothAreDone) {
  Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kSerialized, hw_profiles::WeightPolicy::kResident, 2, 6);
  plan.network.tensors[3].network_output = true;  // m
  // 0 load wa, 1 load wb, 2 load x, 3 a, 4 store m, 5 b, 6 store y
  EXPECT_THAT(ObservedUses(plan), testing::Contains("s0/m@0 [3, 6) w3 r4 r5"));
}

// step   0 load wa   1 load wb | 2 load x   3 restore x m   4 a   5 save x   6 b   7 save m
//        8 store y
TEST(Trace, LinesHoldRowsFromTheStepThatSavesThemToTheOneThatRestoresThem) {
  Plan plan =
      TwoConvsOf(hw_profiles::DmaSteps::kSerialized, hw_profiles::WeightPolicy::kResident, 2, 1);
  plan.subgraphs[0].halo = hw_profiles::HaloStorage::kLineBuffer;
  EXPECT_THAT(ObservedUses(plan, {{0, 3}}),
              ElementsAre("s0/m@0 [3, 8) w3 w4 r6 r7", "s0/m@line [2, 4) [7, 9) r3 w7",
                          "s0/wa [0, 9) w0 r4", "s0/wb [1, 9) w1 r6", "s0/x@0 [2, 6) w2 w3 r4 r5",
                          "s0/x@line [2, 4) [5, 9) r3 w5", "s0/y@0 [6, 9) w6 r8"));
}

// step   0 P | 1 a   2 save x   3 b   4 save m | 5 a   6 b | 7 E
TEST(Trace, OfTwoTilesOneSavesRowsForTheHaloOfTheOther) {
  Plan plan = TwoConvsOf(hw_profiles::DmaSteps::kDoubleBuffered,
                         hw_profiles::WeightPolicy::kResident, 2, 3);
  plan.subgraphs[0].halo = hw_profiles::HaloStorage::kAdjacent;
  EXPECT_THAT(
      ObservedUses(plan, {{0, 3}}),
      ElementsAre("s0/m@0 [1, 5) w1 r3 r4", "s0/m@1 [5, 7) w5 r6", "s0/m@1.halo [4, 7) w4 r6",
                  "s0/wa [0, 6) w0 r1 r5", "s0/wb [0, 7) w0 r3 r6", "s0/x@0 [0, 3) w0 r1 r2",
                  "s0/x@1 [1, 6) w1 w2 w3 w4 r5", "s0/x@1.halo [2, 6) w2 r5",
                  "s0/y@0 [3, 7) w3 r5 r6", "s0/y@1 [6, 8) w6 r7"));
}

// step   0 P | 1 a   2 b | 3 a   4 b | 5 E
//
// Rolling buffers have no phase and live through the whole loop.
TEST(Trace, RollingBuffersLiveThroughTheLoop) {
  Plan plan = TwoConvsOf(hw_profiles::DmaSteps::kDoubleBuffered,
                         hw_profiles::WeightPolicy::kResident, 2, 1);
  plan.subgraphs[0].halo = hw_profiles::HaloStorage::kRollingBuffer;
  EXPECT_THAT(
      ObservedUses(plan, {{0, 3}}),
      ElementsAre("s0/m@rolling_buffer [1, 5) w1 r2 w3 r4", "s0/wa [0, 5) w0 r1 r3",
                  "s0/wb [0, 5) w0 r2 r4", "s0/x@rolling_buffer [0, 5) w0 w1 r1 w2 w3 r3 w4",
                  "s0/y@0 [2, 5) w2 r3 r4", "s0/y@1 [1, 3) [4, 6) r1 r2 w4 r5"));
}

}  // namespace
}  // namespace tessera::plan
