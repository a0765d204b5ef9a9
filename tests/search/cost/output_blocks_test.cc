// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/output_blocks.h"

#include <gtest/gtest.h>

#include "simulate.h"
#include "small_machine.h"
#include "tessera/graph/tiling/tiling.h"

// Output blocks in numbers that are counted by hand (docs/program.md, "Output blocks"). Random
// programs compare the two derivations in derivations_test.cc.
namespace tessera::search::cost {
namespace {

using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

// A convolution of 3 x 1 from [1, 4, 8, 8] to [1, 8, 8, 8]. Blocks of 4 x 8 x 4 outputs need
// windows of 6 x 8 x 4: 2 * 192 bytes and 2 * 4 * 128 bytes of sums, 1408 together.
class OutputBlocksTest : public testing::Test {
 protected:
  OutputBlocksTest() {
    NetworkBuilder builder;
    network_ = builder.Finish(builder.Conv(builder.Input({1, 4, 8, 8}), 3, 8));
    for (hw_profiles::Throughput& throughput : plain_.engines[0].throughputs) {
      if (throughput.kind == base::OperatorKind::kConv) throughput.cycles_per_output = 1;
    }
    blocks_ = plain_;
    blocks_.engines[0].blocks = {.rows = 4,
                                 .columns = 8,
                                 .channels = 4,
                                 .channel_step = 4,
                                 .input_channels = 4,
                                 .buffer_bytes = 1408};
  }

  plan::Metrics Run(const Profile& profile, WeightPolicy weights) const {
    const auto tiling = graph::tiling::Tile(network_, {0, 0}, {1, 8, 8, 8});
    return Simulate(network_, profile, tiling, {.weights = weights});
  }

  Blocking Find(const Profile& profile) const {
    const hw_profiles::Engine& engine = profile.engines[0];
    const graph::tiling::Extents output = {1, 8, 8, 8};
    const graph::tiling::Extents input = {1, 4, 8, 8};
    BlockChoices choices;
    return choices.Find(
        network_.operators[0], engine,
        *hw_profiles::ThroughputFor(engine, base::OperatorKind::kConv, base::DataType::kInt8),
        base::DataType::kInt8, output, input, false);
  }

  graph::Graph network_;
  Profile plain_ = SmallMachine(hw_profiles::DmaSteps::kSerialized);
  Profile blocks_;
};

TEST_F(OutputBlocksTest, TheOneWithTheLeastTrafficThatFits) {
  const Blocking blocking = Find(blocks_);
  EXPECT_EQ(blocking.block.rows, 4);
  EXPECT_EQ(blocking.block.columns, 8);
  EXPECT_EQ(blocking.block.channels, 4);
  EXPECT_EQ(blocking.block.input_rows, 6);
  EXPECT_EQ(blocking.block.input_columns, 8);
  EXPECT_EQ(blocking.areas, 2);
  EXPECT_EQ(blocking.layers, 2);
}

TEST_F(OutputBlocksTest, OneByteLessAndAnotherOneIsTaken) {
  blocks_.engines[0].blocks->buffer_bytes -= 1;
  const Blocking blocking = Find(blocks_);
  EXPECT_LT(blocking.block.rows * blocking.block.columns, 32);
}

TEST_F(OutputBlocksTest, TheLeastOneWhereNoneFits) {
  blocks_.engines[0].blocks->buffer_bytes = 1;
  const Blocking blocking = Find(blocks_);
  EXPECT_EQ(blocking.block.rows, 1);
  EXPECT_EQ(blocking.block.columns, 1);
  EXPECT_EQ(blocking.block.channels, 4);
  EXPECT_EQ(blocking.areas, 64);
}

// Of the sums of 4 * 384 cycles those of the first block are not hidden, and of the output stage
// the 128 outputs of the last one.
TEST_F(OutputBlocksTest, ExposeOneBlockOfTheOutputStage) {
  const int64_t without = Run(plain_, WeightPolicy::kResident).latency_cycles;
  EXPECT_EQ(Run(blocks_, WeightPolicy::kResident).latency_cycles, without + 128);
}

// 4 windows of 6 * 8 * 4 bytes in place of 256 bytes, at 1 pJ each.
TEST_F(OutputBlocksTest, FetchTheirWindowsOfTheInput) {
  const double without = Run(plain_, WeightPolicy::kResident).energy_by_part.at("sram");
  EXPECT_EQ(Run(blocks_, WeightPolicy::kResident).energy_by_part.at("sram"),
            without + 4 * 192 - 256);
}

TEST_F(OutputBlocksTest, FetchDirectWeightsForEachArea) {
  for (Profile* profile : {&plain_, &blocks_}) profile->memories[0].direct_read = true;
  EXPECT_EQ(Run(plain_, WeightPolicy::kDirect).off_chip_by_cause.at("weights"), 96);
  EXPECT_EQ(Run(blocks_, WeightPolicy::kDirect).off_chip_by_cause.at("weights"), 2 * 96);
}

// 8 channels with tables of 3 bytes.
TEST_F(OutputBlocksTest, FetchDirectTablesOnce) {
  for (Profile* profile : {&plain_, &blocks_}) {
    profile->memories[0].direct_read = true;
    profile->table_bytes_per_channel = 3;
  }
  EXPECT_EQ(Run(plain_, WeightPolicy::kDirect).off_chip_by_cause.at("weights"), 96 + 24);
  EXPECT_EQ(Run(blocks_, WeightPolicy::kDirect).off_chip_by_cause.at("weights"), 2 * 96 + 24);
}

// The table of a block has 64 bytes: 8 requests of 100 cycles each, where its sums take 384.
TEST_F(OutputBlocksTest, WaitForTheTableOfEachBlock) {
  blocks_.table_bytes_per_channel = 16;
  blocks_.memories[1].port.read_latency_cycles = 100;
  const int64_t before = Run(blocks_, WeightPolicy::kResident).latency_cycles;
  blocks_.engines[0].blocks->table_request_bytes = 8;
  EXPECT_EQ(Run(blocks_, WeightPolicy::kResident).latency_cycles,
            before + 4 * (800 - 384) + 384 - 128);
}

TEST_F(OutputBlocksTest, FetchDirectInputsBlockByBlock) {
  for (Profile* profile : {&plain_, &blocks_}) profile->memories[0].direct_read = true;
  EXPECT_EQ(Run(plain_, WeightPolicy::kResident).off_chip_by_cause.at("inputs"), 256);
  EXPECT_EQ(Run(blocks_, WeightPolicy::kResident).off_chip_by_cause.at("inputs"), 4 * 192);
}

// With room for 8 channels of input, blocks of this size no longer fit.
TEST_F(OutputBlocksTest, HaveRoomForStepsOfInputChannels) {
  blocks_.engines[0].blocks->input_channels = 8;
  blocks_.engines[0].blocks->input_channel_step = 8;
  const Blocking blocking = Find(blocks_);
  EXPECT_LT(blocking.block.rows * blocking.block.columns * blocking.block.channels, 128);
}

TEST_F(OutputBlocksTest, SetsOfWeightsTakeTheirTime) {
  const int64_t before = Run(plain_, WeightPolicy::kResident).latency_cycles;
  for (hw_profiles::Throughput& throughput : plain_.engines[0].throughputs)
    throughput.weight_steps = 100;  // 64 pixels
  EXPECT_EQ(Run(plain_, WeightPolicy::kResident).latency_cycles, before + (100 - 64) * 24);
}

// 3 taps by 4 channels: 6 steps in pairs of channels, 4 in triples of taps.
TEST_F(OutputBlocksTest, SumsTakeTheFormWithFewerSteps) {
  const int64_t before = Run(plain_, WeightPolicy::kResident).latency_cycles;
  for (hw_profiles::Throughput& throughput : plain_.engines[0].throughputs)
    throughput.other_sums = {1, 3};
  EXPECT_EQ(Run(plain_, WeightPolicy::kResident).latency_cycles, before - 2 * 64 * 4);
}

}  // namespace
}  // namespace tessera::search::cost
