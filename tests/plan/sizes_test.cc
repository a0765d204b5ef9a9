// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "fixture.h"
#include "tessera/plan/verify/buffer_sizes.h"

namespace tessera::plan {
namespace {

TEST(Sizes, ChannelsComeInBlocksAndRowsInPitches) {
  EXPECT_EQ(verify::StoredBytes({1, 3, 5, 7}, base::DataType::kInt8, 1, 1), 105);
  EXPECT_EQ(verify::StoredBytes({1, 3, 5, 7}, base::DataType::kInt8, 16, 1), 5 * 7 * 16);
  EXPECT_EQ(verify::StoredBytes({2, 3, 5, 7}, base::DataType::kInt16, 1, 64), 2 * 5 * 64);
  EXPECT_EQ(verify::StoredBytes({1, 1, 3, 3}, base::DataType::kInt4, 1, 1),
            3 * 2);  // each row rounded to bytes
  EXPECT_EQ(verify::StoredBytes({1, 0, 0, 0}, base::DataType::kInt8, 1, 1), 1);
}

TEST(Sizes, AxesAreNamedByRank) {
  const verify::NamedExtents sequence = verify::NameExtents({2, 5, 8});
  EXPECT_EQ(sequence.batch, 2);
  EXPECT_EQ(sequence.rows, 5);
  EXPECT_EQ(sequence.channels, 8);
  EXPECT_EQ(verify::NameExtents({5, 8}).rows, 5);
  EXPECT_EQ(verify::NameExtents({8}).channels, 8);
  const verify::NamedExtents five = verify::NameExtents({2, 3, 4, 5, 6});
  EXPECT_EQ(five.batch, 24);
  EXPECT_EQ(five.rows, 5);
  EXPECT_EQ(five.channels, 6);
  EXPECT_EQ(verify::NameExtents({}).channels, 1);
}

TEST(Sizes, TablesStandWithTheFirstConstantOfAnOperator) {
  Plan plan = OneConvPlan();
  plan.network.tensors.push_back(ConstantTensor("slope", {4}));
  plan.network.operators[0].weights.push_back(3);
  const graph::Operator& conv = plan.network.operators[0];
  EXPECT_EQ(verify::ConstantBytes(plan, conv, 1), 144 + 4 * 2);
  EXPECT_EQ(verify::ConstantBytes(plan, conv, 3), 4);
  EXPECT_EQ(verify::SliceBytes(plan, conv, 1), 72 + 2 * 2);  // two of four channels
  EXPECT_EQ(verify::SliceBytes(plan, conv, 3), 2);
}

TEST(Sizes, MatmulWeightsAreSlicedAlongTheirLastAxis) {
  Plan plan = OneConvPlan();
  plan.network.tensors[1].shape = {6, 5};
  plan.network.operators[0].kind = base::OperatorKind::kMatmul;
  const verify::Slicing slicing = verify::SlicingOf(plan, plan.network.operators[0], 1);
  EXPECT_EQ(slicing.channels, 5);
  EXPECT_EQ(slicing.slices, 3);
  EXPECT_EQ(verify::SliceBytes(plan, plan.network.operators[0], 1), 6 * 2 + 2 * 2);
}

TEST(Sizes, ExplicitPaddingIsStoredWithTheTile) {
  Plan plan = OneConvPlan();
  plan.profile.tiling.implicit_padding = false;
  const std::vector<verify::Users> users = verify::FindUsers(plan.network);
  const BufferUse x{BufferKind::kTile, 0, 0, -1, 0, 0};
  EXPECT_EQ(verify::FootprintOf(plan, users, x, {{0, {1, 4, 4, 4}}}).size, 6 * 6 * 4);
}

// Pads above the kept rows lie in the halo, for the tile buffer comes directly behind them.
TEST(Sizes, ExplicitPaddingAboveIsStoredWithTheHalo) {
  Plan plan = OneConvPlan();
  plan.profile.tiling.implicit_padding = false;
  plan.subgraphs[0].halo = hw_profiles::HaloStorage::kAdjacent;
  const std::vector<verify::Users> users = verify::FindUsers(plan.network);
  const verify::LargestExtents largest = {{0, {1, 4, 4, 4}}};
  const verify::RowTallies rows = {{0, {2, 3, 4, 4}}};
  const auto size_of = [&](BufferKind kind) {
    return verify::FootprintOf(plan, users, {kind, 0, 0, -1, 0, 0}, largest, rows).size;
  };
  EXPECT_EQ(size_of(BufferKind::kTile), (1 + 3 + 1) * 24);
  EXPECT_EQ(size_of(BufferKind::kHalo), 80);  // (1 + 2) * 24 in whole units of 16
  plan.subgraphs[0].halo = hw_profiles::HaloStorage::kLineBuffer;
  EXPECT_EQ(size_of(BufferKind::kTile), (1 + 4 + 1) * 24);
  EXPECT_EQ(size_of(BufferKind::kLine), 2 * 24);
}

TEST(Sizes, WhatAnEngineMovesAlsoObeysTheLink) {
  Plan plan = OneConvPlan();
  plan.profile.links[0].alignment_bytes = 24;
  const std::vector<verify::Users> users = verify::FindUsers(plan.network);
  EXPECT_EQ(verify::FootprintOf(plan, users, {BufferKind::kResident, 0, 1, -1, 0, 0}, {}).alignment,
            48);
}

TEST(Sizes, ScratchFormulasOfOneKindAddUp) {
  using hw_profiles::ScratchFactor;
  Plan plan = OneConvPlan();
  plan.profile.scratch = {
      {base::OperatorKind::kConv,
       2,
       {ScratchFactor::kKernelRows, ScratchFactor::kKernelColumns, ScratchFactor::kInChannels}},
      {base::OperatorKind::kConv,
       4,
       {ScratchFactor::kOutColumns, ScratchFactor::kOutChannels, ScratchFactor::kOutRows}}};
  const verify::LargestExtents largest = {{0, {1, 4, 4, 4}}, {2, {1, 4, 2, 3}}};
  EXPECT_EQ(verify::FootprintOf(plan, verify::FindUsers(plan.network),
                                {BufferKind::kScratch, 0, -1, 0, 0, 0}, largest)
                .size,
            2 * 9 * 4 + 4 * 3 * 4 * 2);
}

TEST(Sizes, ScratchOfWideAccumulatorsHasOneForEachOutput) {
  using hw_profiles::ScratchFactor;
  Plan plan = OneConvPlan();
  plan.profile.scratch = {{base::OperatorKind::kConv,
                           4,
                           {ScratchFactor::kOutBatch, ScratchFactor::kOutRows,
                            ScratchFactor::kOutColumns, ScratchFactor::kOutChannels}}};
  const verify::LargestExtents largest = {{0, {3, 4, 4, 4}}, {2, {3, 5, 2, 7}}};
  EXPECT_EQ(verify::FootprintOf(plan, verify::FindUsers(plan.network),
                                {BufferKind::kScratch, 0, -1, 0, 0, 0}, largest)
                .size,
            4 * 3 * 5 * 2 * 7);
}

// The scratch that an operator states is added to that of the profile for its kind.
TEST(Sizes, ScratchOfADescribedOperatorIsAdded) {
  Plan plan = OneConvPlan();
  plan.network.operators[0].scratch_bytes = 100;
  plan.profile.scratch = {{base::OperatorKind::kConv, 8, {hw_profiles::ScratchFactor::kOutRows}}};
  const verify::LargestExtents largest = {{0, {1, 4, 4, 4}}, {2, {1, 4, 2, 3}}};
  EXPECT_EQ(verify::FootprintOf(plan, verify::FindUsers(plan.network),
                                {BufferKind::kScratch, 0, -1, 0, 0, 0}, largest)
                .size,
            100 + 8 * 2);
}

}  // namespace
}  // namespace tessera::plan
