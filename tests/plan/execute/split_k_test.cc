// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base_plans.h"
#include "faults.h"
#include "plans.h"
#include "split_k_plans.h"
#include "tessera/tests/draws.h"

// Partial sums that are added up slice by slice.
namespace tessera::plan::execute {
namespace {

TEST(SplitKPlans, RunEveryRoundOfEveryTile) {
  const lowering::Report serialized = lowering::Execute(WithHomes(SplitKSerialized()));
  EXPECT_THAT(MessagesOf(serialized), testing::IsEmpty());
  EXPECT_EQ(serialized.tally.operators, 3 * 3);
  EXPECT_EQ(serialized.tally.transfers, 3 * (3 + 3 + 1));
  EXPECT_EQ(serialized.tally.bytes_moved, 6 * 10 + 3 * (10 * 4 + 2 * 4) + 6 * 4);
  const lowering::Report double_buffered = lowering::Execute(WithHomes(SplitKDoubleBuffered()));
  EXPECT_THAT(MessagesOf(double_buffered), testing::IsEmpty());
  EXPECT_EQ(double_buffered.tally.operators, 6 * 5);
}

class RandomSplitKPlans : public testing::TestWithParam<int> {};

TEST_P(RandomSplitKPlans, Run) {
  int planned = 0;
  for (int draw = 0; draw < DrawsOf(150); ++draw) {
    const uint64_t seed =
        uint64_t{1000} * static_cast<uint64_t>(GetParam()) + static_cast<uint64_t>(draw);
    base::Random random(seed);
    const std::optional<Plan> plan = DrawSplitKPlan(random);
    if (!plan) continue;
    ++planned;
    ASSERT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  EXPECT_GE(planned, DrawsOf(150) / 4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSplitKPlans, testing::Range(0, 4));

class SplitKPlanFault : public testing::TestWithParam<SpoiledPlan> {};

TEST_P(SplitKPlanFault, IsFound) { ExpectFound(GetParam()); }

class SplitKInstructionFault : public testing::TestWithParam<SpoiledProgram> {};

TEST_P(SplitKInstructionFault, IsFound) { ExpectFound(GetParam()); }

// A tile's partial sums are 2 rows of 4, four bytes each. A slice of x has 2 rows of 4, a slice of
// w 4 rows of 4 and 8 bytes of table.
const std::vector<SpoiledPlan> kPlans = {
    {"SumsUnderASlice", SplitKSerialized, Put("s0/multiply/x@0.0", "s0/multiply/accumulator@0"),
     "overwritten", "incomplete sums of 'multiply' [0, 0] over slices 0 to 0"},
    {"ResultOverTheSums", SplitKSerialized, Put("s0/y@0", "s0/multiply/accumulator@0", 4),
     "in place", "own operand incomplete sums"},
    {"SumsOverASlot", SplitKDoubleBuffered, Put("s0/multiply/accumulator@0", "s0/multiply/w@0.1"),
     "arriving", "step 1"},
    {"SumsDieBetweenRounds", SplitKSerialized, Live("s0/multiply/accumulator@0", {{2, 3}}), "lost",
     "incomplete sums"},
    {"SumsTooNarrow", SplitKSerialized, Grow("s0/multiply/accumulator@0", -4), "outside",
     "'s0/multiply/accumulator@0'"},
    {"SumsMissing", SplitKSerialized, Without("s0/multiply/accumulator@0"), "outside", "no buffer"},
    {"SliceOneRowShort", SplitKSerialized, Grow("s0/multiply/x@0.0", -4), "outside",
     "'s0/multiply/x@0.0'"},
    {"SlotWithoutRoomForTheTable", SplitKSerialized, Grow("s0/multiply/w@0.0", -8), "outside",
     "the table of 'w'"},
    {"SliceOfTheOperandNeverLoaded", SplitKSerialized, MoveOnly({0}, {}), "unwritten", "'x'"},
    {"LaterSlicesNeverArrive", SplitKDoubleBuffered, MoveOnly({1}, {1, 2}), "unwritten",
     "'x' [0, 2]"},
    {"SlotsExchanged", SplitKDoubleBuffered, SwapUses("s0/multiply/x@0.0", "s0/multiply/x@0.1"),
     "forbidden", "does not live"},
    {"SlicesOfAnotherKExtent", SplitKSerialized,
     [](Plan& plan) { plan.profile.tiling.k_granularity = 5; }, "outside", "'s0/multiply/"},
    {"TakenForStreamed", SplitKSerialized,
     [](Plan& plan) { plan.subgraphs[0].weights = hw_profiles::WeightPolicy::kStreamed; },
     "forbidden", "reads 'x' in memory 'dram'"},
};

INSTANTIATE_TEST_SUITE_P(SplitK, SplitKPlanFault, testing::ValuesIn(kPlans),
                         NameOfFault<SpoiledPlan>);

const std::vector<SpoiledProgram> kPrograms = {
    {"RoundLeftOut", SplitKSerialized,
     [](Program& program) { Remove(program, ComputeIndex(program, 0, 1)); }, "stale",
     "over slices 0 to 1"},
    {"FirstRoundLeftOut", SplitKSerialized,
     [](Program& program) { Remove(program, ComputeIndex(program, 0, 0)); }, "unwritten",
     "over slices 0 to 0"},
    {"LastRoundLeftOut", SplitKSerialized,
     [](Program& program) { Remove(program, ComputeIndex(program, 0, 2)); }, "unwritten",
     "'y' [0, 0]"},
    {"RoundTwice", SplitKSerialized,
     [](Program& program) {
       const size_t at = ComputeIndex(program, 0, 1);
       const Instruction again = program[at];
       program.insert(program.begin() + static_cast<ptrdiff_t>(at), again);
     },
     "stale", "over slices 0 to 0"},
    {"SumsNotAddedTo", SplitKSerialized,
     [](Program& program) { ComputeAt(program, 0, 1).turn.round = 0; }, "stale",
     "over slices 0 to 1"},
    {"SliceOfTheRoundBefore", SplitKSerialized,
     [](Program& program) { Remove(program, TransferAt(program, 1, 1)); }, "lost", "'w' [4, 0]"},
    {"OtherSliceLoaded", SplitKSerialized,
     [](Program& program) {
       Move& move = MoveAt(program, 0, 1);
       move = MoveAt(program, 0, 0);
     },
     "stale", "'x' [0, 4]"},
    {"TableNotLoaded", SplitKSerialized,
     [](Program& program) {
       auto& load = std::get<StartTransfer>(program[TransferAt(program, 1, 2)]);
       load.moves.pop_back();
     },
     "lost", "the table of 'w'"},
    {"ResultInsteadOfSums", SplitKSerialized,
     [](Program& program) { ComputeAt(program, 0, 0).results = ComputeAt(program, 0, 2).results; },
     "unwritten", "over slices 0 to 0"},
    {"SumsInsteadOfTheResult", SplitKSerialized,
     [](Program& program) { ComputeAt(program, 0, 2).results = ComputeAt(program, 0, 1).results; },
     "unwritten", "'y' [0, 0]"},
};

INSTANTIATE_TEST_SUITE_P(SplitK, SplitKInstructionFault, testing::ValuesIn(kPrograms),
                         NameOfFault<SpoiledProgram>);

// Adding another slice than that of the round finds no buffer for it.
TEST(SplitKInstruction, AddsTheSliceOfItsRound) {
  ExpectFound({"OtherKExtent", SplitKSerialized,
               [](Program& program) {
                 ComputeAt(program, 0, 1).k_extent = Range{0, 4};
               },
               "malformed", "has a region of 'x' that is not what it reads"});
}

}  // namespace
}  // namespace tessera::plan::execute
