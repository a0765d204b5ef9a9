#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base_plans.h"
#include "depth_plans.h"
#include "faults.h"
#include "plans.h"
#include "tessera/plan/execute/execute.h"
#include "tessera/tests/draws.h"

// Sums that are added up slice by slice.
namespace tessera::plan::execute {
namespace {

TEST(DepthPlans, RunEveryRoundOfEveryTile) {
  const Report own_steps = Execute(DepthOwnSteps());
  EXPECT_THAT(MessagesOf(own_steps.findings), testing::IsEmpty());
  EXPECT_EQ(own_steps.tally.operators, 3 * 3);
  EXPECT_EQ(own_steps.tally.transfers, 3 * (3 + 3 + 1));
  EXPECT_EQ(own_steps.tally.bytes_moved, 6 * 10 + 3 * (10 * 4 + 2 * 4) + 6 * 4);
  const Report overlapped = Execute(DepthOverlapped());
  EXPECT_THAT(MessagesOf(overlapped.findings), testing::IsEmpty());
  EXPECT_EQ(overlapped.tally.operators, 6 * 5);
}

class RandomDepthPlans : public testing::TestWithParam<int> {};

TEST_P(RandomDepthPlans, Run) {
  int planned = 0;
  for (int draw = 0; draw < DrawsOf(150); ++draw) {
    const uint64_t seed = uint64_t{1000} * static_cast<uint64_t>(GetParam()) + static_cast<uint64_t>(draw);
    base::Random random(seed);
    const std::optional<Plan> plan = DrawDepthPlan(random);
    if (!plan) continue;
    ++planned;
    ASSERT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  EXPECT_GE(planned, DrawsOf(150) / 4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomDepthPlans, testing::Range(0, 4));

class DepthPlanFault : public testing::TestWithParam<SpoiledPlan> {};

TEST_P(DepthPlanFault, IsFound) { ExpectFound(GetParam()); }

class DepthInstructionFault : public testing::TestWithParam<SpoiledProgram> {};

TEST_P(DepthInstructionFault, IsFound) { ExpectFound(GetParam()); }

// A tile's sums are 2 rows of 4 of four bytes each; a slice of x 2 rows of 4, one of w 4 rows of 4 and 8 bytes of table.
const std::vector<SpoiledPlan> kPlans = {
    {"SumsUnderASlice", DepthOwnSteps, Put("s0/multiply/x@0.0", "s0/multiply/accumulator@0"), "overwritten",
     "incomplete sums of 'multiply' [0, 0] over slices 0 to 0"},
    {"ResultOverTheSums", DepthOwnSteps, Put("s0/y@0", "s0/multiply/accumulator@0", 4), "in place",
     "own operand incomplete sums"},
    {"SumsOverASlot", DepthOverlapped, Put("s0/multiply/accumulator@0", "s0/multiply/w@0.1"), "arriving",
     "step 1"},
    {"SumsDieBetweenRounds", DepthOwnSteps, Live("s0/multiply/accumulator@0", {{2, 3}}), "lost",
     "incomplete sums"},
    {"SumsTooNarrow", DepthOwnSteps, Grow("s0/multiply/accumulator@0", -4), "outside",
     "'s0/multiply/accumulator@0'"},
    {"SumsMissing", DepthOwnSteps, Without("s0/multiply/accumulator@0"), "outside", "no buffer"},
    {"SliceOneRowShort", DepthOwnSteps, Grow("s0/multiply/x@0.0", -4), "outside", "'s0/multiply/x@0.0'"},
    {"SlotWithoutRoomForTheTable", DepthOwnSteps, Grow("s0/multiply/w@0.0", -8), "outside",
     "the table of 'w'"},
    {"SliceOfTheOperandNeverLoaded", DepthOwnSteps, MoveOnly({0}, {}), "unwritten", "'x'"},
    {"LaterSlicesNeverArrive", DepthOverlapped, MoveOnly({1}, {1, 2}), "unwritten", "'x' [0, 2]"},
    {"SlotsExchanged", DepthOverlapped, SwapUses("s0/multiply/x@0.0", "s0/multiply/x@0.1"), "forbidden",
     "does not live"},
    {"SlicesOfAnotherDepth", DepthOwnSteps, [](Plan& plan) { plan.profile.tiling.depth_granule = 5; },
     "outside", "'s0/multiply/"},
    {"TakenForStreamed", DepthOwnSteps,
     [](Plan& plan) { plan.subgraphs[0].weights = hw_profiles::WeightPolicy::kStreamed; }, "forbidden",
     "reads 'x' in memory 'dram'"},
};

INSTANTIATE_TEST_SUITE_P(Depth, DepthPlanFault, testing::ValuesIn(kPlans), NameOfFault<SpoiledPlan>);

const std::vector<SpoiledProgram> kPrograms = {
    {"RoundLeftOut", DepthOwnSteps, [](Program& program) { Remove(program, ComputeIndex(program, 0, 1)); },
     "stale", "over slices 0 to 1"},
    {"FirstRoundLeftOut", DepthOwnSteps,
     [](Program& program) { Remove(program, ComputeIndex(program, 0, 0)); }, "unwritten",
     "over slices 0 to 0"},
    {"LastRoundLeftOut", DepthOwnSteps,
     [](Program& program) { Remove(program, ComputeIndex(program, 0, 2)); }, "unwritten", "'y' [0, 0]"},
    {"RoundTwice", DepthOwnSteps,
     [](Program& program) {
       const size_t at = ComputeIndex(program, 0, 1);
       const Instruction again = program[at];
       program.insert(program.begin() + static_cast<ptrdiff_t>(at), again);
     },
     "stale", "over slices 0 to 0"},
    {"SumsNotAddedTo", DepthOwnSteps,
     [](Program& program) { ComputeAt(program, 0, 1).results.front().place.first_number = 0; }, "stale",
     "over slices 0 to 1"},
    {"SliceOfTheRoundBefore", DepthOwnSteps,
     [](Program& program) { Remove(program, TransferAt(program, 1, 1)); }, "lost", "'w' [4, 0]"},
    {"OtherSliceLoaded", DepthOwnSteps,
     [](Program& program) {
       Move& move = MoveAt(program, 0, 1);
       move = MoveAt(program, 0, 0);
     },
     "stale", "'x' [0, 4]"},
    {"TableNotLoaded", DepthOwnSteps,
     [](Program& program) {
       auto& load = std::get<StartTransfer>(program[TransferAt(program, 1, 2)]);
       load.moves.pop_back();
     },
     "lost", "the table of 'w'"},
    {"ResultInsteadOfSums", DepthOwnSteps,
     [](Program& program) { ComputeAt(program, 0, 0).results = ComputeAt(program, 0, 2).results; },
     "unwritten", "over slices 0 to 0"},
    {"SumsInsteadOfTheResult", DepthOwnSteps,
     [](Program& program) { ComputeAt(program, 0, 2).results = ComputeAt(program, 0, 1).results; },
     "unwritten", "'y' [0, 0]"},
};

INSTANTIATE_TEST_SUITE_P(Depth, DepthInstructionFault, testing::ValuesIn(kPrograms),
                         NameOfFault<SpoiledProgram>);

// Whoever adds another slice than that of the round finds no place for it.
TEST(DepthInstruction, AddsTheSliceOfItsRound) {
  ExpectFound({"OtherDepth", DepthOwnSteps,
               [](Program& program) {
                 ComputeAt(program, 0, 1).depth = Range{0, 4};
               },
               "outside", "reads 'x' at address 12"});
}

}  // namespace
}  // namespace tessera::plan::execute
