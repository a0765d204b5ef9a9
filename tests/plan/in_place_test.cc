// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/in_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fixture.h"
#include "tessera/plan/verify/derivation.h"

namespace tessera::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

graph::Operator Relu(const std::string& id, int input) {
  graph::Operator op;
  op.id = id;
  op.kind = base::OperatorKind::kElementwise;
  op.inputs = {input};
  op.outputs = {input + 1};
  op.function = "relu";
  return op;
}

// t0 -> t1 -> .. -> t<length> of eight rows in one subgraph, transfers that overlap compute,
// boundary tensors in DRAM.
Plan ChainOf(int length, int64_t tile_rows) {
  Plan plan;
  for (int i = 0; i <= length; ++i) {
    plan.network.tensors.push_back(FeatureTensor("t" + std::to_string(i), {1, 4, 8, 4}));
    if (i < length) plan.network.operators.push_back(Relu("op" + std::to_string(i), i));
  }
  plan.network.tensors.front().network_input = true;
  plan.network.tensors.back().network_output = true;
  plan.profile = SmallProfile();
  plan.profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
  plan.profile.tiling.in_place = {base::OperatorKind::kElementwise};
  Subgraph subgraph;
  subgraph.interval = {0, length - 1};
  subgraph.tile = {1, 4, tile_rows, 4};
  subgraph.tiles = (8 + tile_rows - 1) / tile_rows;
  subgraph.in_place = true;
  plan.subgraphs = {subgraph};
  return plan;
}

std::vector<std::string> Pairs(const Plan& plan) {
  std::vector<std::string> pairs;
  for (const auto& [operand, result] : verify::Derive(plan).pairs)
    pairs.push_back(verify::BufferId(plan.network, operand) + " = " +
                    verify::BufferId(plan.network, result));
  return pairs;
}

TEST(InPlace, OfOneOrTwoTilesRunsThroughTheChain) {
  EXPECT_THAT(Pairs(ChainOf(2, 8)), ElementsAre("s0/t0@0 = s0/t1@0", "s0/t1@0 = s0/t2@0"));
  EXPECT_THAT(Pairs(ChainOf(2, 4)), ElementsAre("s0/t0@0 = s0/t1@0", "s0/t0@1 = s0/t1@1",
                                                "s0/t1@0 = s0/t2@0", "s0/t1@1 = s0/t2@1"));
}

// t3@0 leaves while t0@0 is filled again. With three tiles phase 1 alone would do, but a pair
// counts for both phases or for none.
TEST(InPlace, EndsBeforeAResultThatMeetsTheFirstGuestOfThePlace) {
  for (const int64_t rows : {3, 2, 1}) {
    EXPECT_THAT(Pairs(ChainOf(3, rows)), ElementsAre("s0/t0@0 = s0/t1@0", "s0/t0@1 = s0/t1@1",
                                                     "s0/t1@0 = s0/t2@0", "s0/t1@1 = s0/t2@1"));
  }
}

TEST(InPlace, IsNotForASingleOperatorBetweenBoundariesInALoop) {
  EXPECT_THAT(Pairs(ChainOf(1, 3)), IsEmpty());
  EXPECT_THAT(Pairs(ChainOf(1, 4)), ElementsAre("s0/t0@0 = s0/t1@0", "s0/t0@1 = s0/t1@1"));
}

// t2 is made of t0. No operator reads t1, so only the second operator may overwrite t0.
TEST(InPlace, IsNotForAResultWithoutAReader) {
  Plan plan = ChainOf(2, 8);
  plan.network.operators[1].inputs = {0};
  EXPECT_THAT(Pairs(plan), ElementsAre("s0/t0@0 = s0/t2@0"));
}

// m -> y in the second subgraph, y -> z in the third: whole buffers take the same addresses from
// subgraph to subgraph.
TEST(InPlace, GoesOnFromSubgraphToSubgraph) {
  Plan plan = OneSramPlan();
  plan.network.tensors[3].network_output = false;
  plan.network.tensors.push_back(FeatureTensor("z", {1, 4, 4, 4}));
  plan.network.tensors.back().network_output = true;
  plan.network.operators.push_back(Relu("relu2", 3));
  plan.subgraphs.push_back(plan.subgraphs.back());
  plan.subgraphs.back().interval = {2, 2};
  EXPECT_THAT(Pairs(plan), ElementsAre("m = y", "y = z"));
}

// x -> dw -> y in one tile, 3x3 of stride 2: [1, 4, 8, 8] -> [1, 4, 4, 4], boundary tensors in
// DRAM.
Plan DepthwisePlan() {
  Plan plan;
  plan.network.tensors = {FeatureTensor("x", {1, 4, 8, 8}), ConstantTensor("w", {4, 1, 3, 3}),
                          FeatureTensor("y", {1, 4, 4, 4})};
  plan.network.tensors[0].network_input = true;
  plan.network.tensors[2].network_output = true;
  plan.network.operators = {Conv3x3("dw", 0, 1, 2)};
  plan.network.operators[0].kind = base::OperatorKind::kDepthwise;
  plan.network.operators[0].window.stride = {2, 2};
  plan.profile = SmallProfile();
  plan.profile.engines[0].throughputs.push_back(
      {base::OperatorKind::kDepthwise, std::nullopt, {}, 1, 0, 0});
  plan.profile.tiling.in_place = {base::OperatorKind::kDepthwise};
  Subgraph subgraph;
  subgraph.tile = {1, 4, 4, 4};
  subgraph.tiles = 1;
  subgraph.in_place = true;
  plan.subgraphs = {subgraph};
  return plan;
}

// Loads of w and x are steps 0 and 1.
TEST(ByChannel, HasScratchForAChannelWhereItIsInPlace) {
  Plan plan = DepthwisePlan();
  const verify::Derivation derivation = verify::Derive(plan);
  EXPECT_THAT(Pairs(plan), ElementsAre("s0/x@0 = s0/y@0"));
  const BufferUse scratch = {BufferKind::kScratch, 0, -1, 0, 0, 0};
  ASSERT_TRUE(derivation.trace.buffers.contains(scratch));
  const std::vector<problem::Lifespan> lives = {{2, 3}};
  EXPECT_EQ(derivation.trace.buffers.at(scratch).lifespans, lives);
  EXPECT_EQ(derivation.footprints.at(scratch).size, 16);
  plan.profile.scratch = {{base::OperatorKind::kDepthwise, 5, {}}};
  EXPECT_EQ(verify::Derive(plan).footprints.at(scratch).size, 21);
  plan.subgraphs[0].in_place = false;
  EXPECT_EQ(verify::Derive(plan).footprints.at(scratch).size, 5);
}

TEST(ByChannel, NeedsColumnsThatBeginAtTheSamePlaces) {
  const auto pairs_with = [](int64_t block, int64_t pitch) {
    Plan plan = DepthwisePlan();
    hw_profiles::RoleLayout& layout =
        plan.profile.roles[static_cast<size_t>(base::TensorRole::kNetworkOutput)];
    layout.channel_block = block;
    layout.row_pitch_bytes = pitch;
    return Pairs(plan).size();
  };
  EXPECT_EQ(pairs_with(1, 1), 1U);
  EXPECT_EQ(pairs_with(4, 2), 1U);
  EXPECT_EQ(pairs_with(8, 1), 0U);
  EXPECT_EQ(pairs_with(1, 8), 0U);
}

TEST(ByChannel, OfAWholeOperandNeedsASingleTile) {
  Plan plan = DepthwisePlan();
  plan.profile.memories[1].direct_read = true;
  for (hw_profiles::RoleLayout& layout : plan.profile.roles) layout.home = 0;
  plan.profile.roles[static_cast<size_t>(base::TensorRole::kConstant)].home = 1;
  plan.subgraphs[0].weights = hw_profiles::WeightPolicy::kDirect;
  EXPECT_THAT(Pairs(plan), ElementsAre("x = y"));
  plan.subgraphs[0].tile = {1, 4, 2, 4};
  plan.subgraphs[0].tiles = 2;
  EXPECT_THAT(Pairs(plan), IsEmpty());
}

TEST(ByChannel, IsNotForAMultiplier) {
  Plan plan = DepthwisePlan();
  plan.network.tensors[2].shape[1] = plan.subgraphs[0].tile[1] = 8;
  EXPECT_THAT(Pairs(plan), IsEmpty());
}

// A state [rows, 4] and x [1, 4] -> concat -> next [rows + 1, 4]; the state is at home in SRAM.
Plan GrowingState() {
  Plan plan;
  plan.network.tensors = {FeatureTensor("state", {7, 4}), FeatureTensor("x", {1, 4}),
                          FeatureTensor("next", {8, 4})};
  plan.network.tensors[0].state = true;
  plan.network.tensors[1].network_input = true;
  plan.network.tensors[2].network_output = true;
  plan.network.tensors[2].next_of = 0;
  plan.network.operators = {Concat(0, {0, 1}, 2)};
  plan.profile = SmallProfile();
  plan.profile.engines[0].throughputs.push_back(
      {base::OperatorKind::kConcat, std::nullopt, {}, 1, 1, 0});
  Subgraph subgraph;
  subgraph.tile = {8, 4};
  subgraph.tiles = 1;
  plan.subgraphs = {subgraph};
  return plan;
}

TEST(StateAliasing, LiesInThePlaceOfTheStateIfThatStaysWhereItIs) {
  Plan plan = GrowingState();
  EXPECT_THAT(Pairs(plan), ElementsAre("state = next"));
  std::swap(plan.network.operators[0].inputs[0], plan.network.operators[0].inputs[1]);
  EXPECT_THAT(Pairs(plan), IsEmpty());
  plan = GrowingState();
  plan.network.tensors[0].shape = {8, 3};
  plan.network.tensors[1].shape = {8, 1};
  plan.network.operators[0].axis = 1;
  EXPECT_THAT(Pairs(plan), IsEmpty());
}

}  // namespace
}  // namespace tessera::plan
