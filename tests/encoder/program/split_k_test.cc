// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/tests/hw_profiles/engines.h"

// conv2 of TwoConvs, 1x1 from 4 channels to 3, held along K: slices of 3 and 1.
namespace tessera::encoder {
namespace {

using base::TensorRole;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr program::Policy kSplitK = {WeightPolicy::kSplitK, false};

Profile Deep(DmaSteps dma) {
  Profile profile = TwoLevels(dma);
  profile.tiling.weights = {WeightPolicy::kResident, WeightPolicy::kStreamed,
                            WeightPolicy::kSplitK};
  profile.tiling.k_granularity = 3;
  return profile;
}

program::SubgraphChoice ChoiceOf(graph::Interval interval, int64_t rows,
                                 program::Policy policy = kSplitK) {
  return {interval, {1, interval.last == 0 ? 4 : 3, rows, 4}, policy};
}

program::Program Build(const Profile& profile, int64_t rows) {
  return ProgramOf(TwoConvs().graph, profile, ChoiceOf({1, 1}, rows));
}

std::string RefusalOfSplitK(const Profile& profile, graph::Interval interval,
                            program::Policy policy = kSplitK) {
  return RefusalOf(TwoConvs().graph, profile, {ChoiceOf(interval, 4, policy)});
}

TEST(SplitK, SlicesOfBothFactorsLoopAroundTheSums) {
  const program::Program program = Build(Deep(DmaSteps::kSerialized), 4);
  EXPECT_THAT(DescribeSteps(TwoConvs().graph, program),
              ElementsAre("0 load conv2: a", "1 load conv2: w2", "2 compute conv2", "3 store: y"));
  EXPECT_THAT(Describe(program.problem),
              ElementsAre("s0/y@0: 48 bytes, [0,4), 2 pe w, 3 dma r",          //
                          "s0/conv2/a@0.0: 48 bytes, [0,3), 0 dma w, 2 pe r",  //
                          "s0/conv2/w2@0.0: 9 bytes, [1,3), 1 dma w, 2 pe r",  //
                          "s0/conv2/accumulator@0: 192 bytes, [0,3), 2 pe r, 2 pe w"));
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[0,4) exits 4", "[0,3) exits 3"));
}

// Seven rows of 2 channels and 3 columns in slices of one row: a 128th of the rows, rounded up, is
// less than k_granularity (program.md 7.1.5).
TEST(SplitK, AReductionTakesSlicesOfItsFirstAxis) {
  Network net;
  const int x = net.Input("x", {1, 2, 7, 3});
  const int y = net.Tensor("y", {1, 2, 1, 1});
  net.Output(y);
  graph::Operator pool;
  pool.id = "pool";
  pool.kind = base::OperatorKind::kGlobalPool;
  pool.function = "average";
  pool.inputs = {x};
  pool.outputs = {y};
  net.graph.operators.push_back(pool);
  Profile profile = Deep(DmaSteps::kSerialized);
  profile.engines = {hw_profiles::EngineForEveryKind("pe")};
  const program::Program program = ProgramOf(net.graph, profile, {{0, 0}, {1, 2, 1, 1}, kSplitK});
  EXPECT_THAT(DescribeSteps(net.graph, program),
              ElementsAre("0 load pool: x", "1 compute pool", "2 store: y"));
  EXPECT_THAT(Describe(program.problem),
              ElementsAre("s0/y@0: 2 bytes, [0,3), 1 pe w, 2 dma r",         //
                          "s0/pool/x@0.0: 6 bytes, [0,2), 0 dma w, 1 pe r",  //
                          "s0/pool/accumulator@0: 8 bytes, [0,2), 1 pe r, 1 pe w"));
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[0,2) exits 2"));
}

TEST(SplitK, SlotsAlternateDuringCompute) {
  const program::Program program = Build(Deep(DmaSteps::kDoubleBuffered), 4);
  EXPECT_THAT(DescribeSteps(TwoConvs().graph, program),
              ElementsAre("0 prologue: a w2", "1 compute conv2: a w2", "2 compute conv2: a y w2",
                          "3 epilogue: y"));
  EXPECT_THAT(Describe(program.problem),
              ElementsAre("s0/y@0: 48 bytes, [1,3), 1 pe w, 2 dma r",                   //
                          "s0/y@1: 48 bytes, [2,4), 2 pe w, 3 dma r",                   //
                          "s0/conv2/a@0.0: 48 bytes, [0,2), 0 dma w, 1 pe r, 1 dma w",  //
                          "s0/conv2/a@0.1: 48 bytes, [1,2), 1 pe r, 1 dma w",           //
                          "s0/conv2/a@1.0: 48 bytes, [1,3), 1 dma w, 2 pe r, 2 dma w",  //
                          "s0/conv2/a@1.1: 48 bytes, [2,3), 2 pe r, 2 dma w",           //
                          "s0/conv2/w2@0.0: 9 bytes, [0,2), 0 dma w, 1 pe r, 1 dma w",  //
                          "s0/conv2/w2@0.1: 9 bytes, [1,2), 1 pe r, 1 dma w",           //
                          "s0/conv2/w2@1.0: 9 bytes, [1,3), 1 dma w, 2 pe r, 2 dma w",  //
                          "s0/conv2/w2@1.1: 9 bytes, [2,3), 2 pe r, 2 dma w",           //
                          "s0/conv2/accumulator@0: 192 bytes, [1,2), 1 pe r, 1 pe w",   //
                          "s0/conv2/accumulator@1: 192 bytes, [2,3), 2 pe r, 2 pe w"));
}

TEST(SplitK, ASliceOfTheConstantHasTheTilesChannelsAndTheirTables) {
  Profile profile = Deep(DmaSteps::kSerialized);
  profile.table_bytes_per_channel = 5;
  const program::SubgraphChoice choice = {{1, 1}, {1, 2, 8, 4}, kSplitK};
  const base::Expected<program::Program> program =
      program::BuildProgram(TwoConvs().graph, profile, {&choice, 1});
  ASSERT_TRUE(program.has_value());
  EXPECT_THAT(Describe(program->problem, "s0/conv2/w2@0.0"), HasSubstr(": 16 bytes"));
  EXPECT_THAT(Describe(program->problem, "s0/conv2/a@0.0"), HasSubstr(": 96 bytes"));
  EXPECT_THAT(Describe(program->problem, "s0/conv2/accumulator@0"), HasSubstr(": 256 bytes"));
}

TEST(SplitK, WhatIsOnChipIsReadWhereItLies) {
  Profile profile = Deep(DmaSteps::kSerialized);
  Layout(profile, TensorRole::kBoundary).home = profile.tile_memory;
  const program::Program program = Build(profile, 8);
  EXPECT_EQ(Describe(program.problem, "s0/conv2/a@0.0"), "");
  EXPECT_THAT(Describe(program.problem, "a"), HasSubstr("128 bytes"));
  EXPECT_NE(Describe(program.problem, "s0/conv2/w2@0.0"), "");
}

TEST(SplitK, ALadderHasTheSizesOfEachTile) {
  for (const DmaSteps dma : {DmaSteps::kSerialized, DmaSteps::kDoubleBuffered}) {
    const Profile profile = Deep(dma);
    std::vector<graph::tiling::TileShape> shapes;
    for (const int64_t rows : {1, 2, 3, 4, 8}) shapes.push_back({1, 3, rows, 4});
    const auto ladders =
        program::BuildCandidates(TwoConvs().graph, profile, {1, 1}, kSplitK, shapes);
    ASSERT_TRUE(ladders.has_value());
    size_t candidates = 0;
    for (const program::SubgraphCandidates& ladder : *ladders) {
      for (size_t candidate = 0; candidate < ladder.tilings.size(); ++candidate, ++candidates) {
        const program::Program alone = Build(profile, ladder.tilings[candidate]->tile[2]);
        std::vector<problem::Bytes> sizes;
        for (const problem::Buffer& buffer : alone.problem.buffers) sizes.push_back(buffer.size);
        EXPECT_EQ(ladder.ladder.candidates[candidate].sizes, sizes);
      }
    }
    EXPECT_EQ(candidates, shapes.size());
  }
}

TEST(SplitK, IsOfferedToOneOperatorThatIsDeepEnough) {
  const Profile profile = Deep(DmaSteps::kDoubleBuffered);
  const auto weights_of = [&profile](graph::Interval interval) {
    std::vector<WeightPolicy> weights;
    for (const program::Policy& policy : program::PoliciesOf(TwoConvs().graph, profile, interval))
      weights.push_back(policy.weights);
    return weights;
  };
  EXPECT_THAT(weights_of({1, 1}),
              ElementsAre(WeightPolicy::kResident, WeightPolicy::kStreamed, WeightPolicy::kSplitK));
  EXPECT_THAT(weights_of({0, 0}), ElementsAre(WeightPolicy::kResident, WeightPolicy::kStreamed));
  EXPECT_THAT(weights_of({0, 1}), ElementsAre(WeightPolicy::kResident, WeightPolicy::kStreamed));
}

TEST(SplitK, SlicesAreLongOrShort) {
  Profile profile = Deep(DmaSteps::kDoubleBuffered);
  profile.tiling.k_granularity = 1;
  Network net;
  const int x = net.Input("x", {1, 40, 4, 4});
  const int y = net.Tensor("y", {1, 3, 4, 4});
  net.Output(y);
  net.Conv("deep", x, net.Constant("w", {3, 40, 1, 1}), y, 1, 0);
  const auto k_extents_of = [](const std::vector<program::Policy>& policies) {
    std::vector<int64_t> k_extents;
    for (const program::Policy& policy : policies) k_extents.push_back(policy.k_extent);
    return k_extents;
  };
  const program::OfferedPolicies offered = program::OfferPolicies(net.graph, profile, {0, 0});
  EXPECT_THAT(k_extents_of(offered.first), ElementsAre(0, 0, 1, 4, 16));
  std::vector<int64_t> others;
  for (int64_t k_extent = 2; k_extent < 40; ++k_extent) {
    if (k_extent != 4 && k_extent != 16) others.push_back(k_extent);
  }
  EXPECT_EQ(k_extents_of(offered.further), others);
  EXPECT_TRUE(offered.all);
  program::Policy policy = kSplitK;
  policy.k_extent = 16;
  const program::SubgraphChoice choice = {{0, 0}, {1, 3, 2, 4}, policy};
  const base::Expected<program::Program> program =
      program::BuildProgram(net.graph, profile, {&choice, 1});
  ASSERT_TRUE(program.has_value());
  EXPECT_THAT(Describe(program->problem, "s0/deep/x@0.0"), HasSubstr(": 128 bytes"));
  EXPECT_THAT(Describe(program->problem, "s0/deep/w@0.0"), HasSubstr(": 48 bytes"));
}

TEST(SplitK, WhatCannotBeCutIsRefused) {
  Profile profile = Deep(DmaSteps::kSerialized);
  EXPECT_THAT(RefusalOfSplitK(profile, {0, 1}),
              HasSubstr("what ends with operator 'conv2' cannot be cut along K"));
  EXPECT_THAT(RefusalOfSplitK(profile, {0, 0}), HasSubstr("deeper than 3"));
  program::Policy uneven = kSplitK;
  uneven.k_extent = 2;
  EXPECT_THAT(RefusalOfSplitK(profile, {1, 1}, uneven),
              HasSubstr("deeper than 2, a multiple of 3"));
  uneven.weights = WeightPolicy::kResident;
  EXPECT_THAT(RefusalOfSplitK(profile, {1, 1}, uneven), HasSubstr("states the K extent of slices"));
  EXPECT_THAT(
      RefusalOfSplitK(profile, {1, 1},
                      {WeightPolicy::kSplitK, false, hw_profiles::HaloStorage::kRollingBuffer}),
      HasSubstr("operator 'conv2' is cut along K and keeps rows"));
  Layout(profile, TensorRole::kBoundary).home = profile.tile_memory;
  Layout(profile, TensorRole::kConstant).home = profile.tile_memory;
  EXPECT_THAT(RefusalOfSplitK(profile, {1, 1}),
              HasSubstr("reads whatever it adds up where it lies"));
}

}  // namespace
}  // namespace tessera::encoder
