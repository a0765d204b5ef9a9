// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "../fixture.h"
#include "base_plans.h"
#include "faults.h"
#include "plans.h"
#include "tessera/tests/hw_profiles/engines.h"

// Seeded faults (faults.h) of plans that make for each tile all that it needs.
namespace tessera::plan::execute {
namespace {

class PlanFault : public testing::TestWithParam<SpoiledPlan> {};

TEST_P(PlanFault, IsFound) { ExpectFound(GetParam()); }

void Schedule(Plan& plan, problem::ModeSchedule modes) {
  plan.allocation.modes = {std::move(modes)};
}

// Tensors of TwoConvs: 0 x, 1 wa, 2 wb, 3 m, 4 y. Those of OneConvPlan: 0 x, 1 w, 2 y.
const std::vector<SpoiledPlan> kAddresses = {
    {"PingInThePlaceOfPong", TwoConvsPlan, Put("s0/x@1", "s0/x@0"), "arriving", "'x'"},
    {"InputShiftedOntoItsOtherPhase", TwoConvsPlan, Shift("s0/x@0", 16), "arriving", "'x'"},
    {"InputShiftedDownOntoItsOtherPhase", TwoConvsPlan, Shift("s0/x@1", -16), "arriving", "'x'"},
    {"OutputShiftedOntoItsOtherPhase", TwoConvsPlan, Shift("s0/y@0", 16), "moving", "'y'"},
    {"InnerTileWhereTheNextTileArrives", TwoConvsPlan, Put("s0/m@0", "s0/x@1"), "arriving", "'m'"},
    {"InnerTileOverItsOwnOperand", TwoConvsPlan, Put("s0/m@0", "s0/x@0"), "in place",
     "own operand 'x'"},
    {"InnerTileOverTheLeavingTile", TwoConvsPlan, Put("s0/m@1", "s0/y@0"), "moving", "'y'"},
    {"OutputOverItsOwnOperand", TwoConvsPlan, Put("s0/y@0", "s0/m@0"), "in place",
     "own operand 'm'"},
    {"OutputWhereTheNextTileArrives", TwoConvsPlan, Put("s0/y@0", "s0/x@1"), "arriving", "step 2"},
    {"WeightsUnderTheInput", TwoConvsPlan, Put("s0/wa", "s0/x@0"), "arriving", "step 0"},
    {"WeightsUnderAResult", TwoConvsPlan, Put("s0/wb", "s0/m@1", -8), "overwritten", "'wb'"},
    {"WeightsUnderTheLastTileOnly", TwoConvsPlan, Put("s0/y@1", "s0/wb"), "in place",
     "own operand 'wb'"},
    {"TwoConstantsInOnePlace", TwoConvsPlan, Put("s0/wa", "s0/wb"), "arriving", "transfer"},
    {"BeyondTheMemory", TwoConvsPlan, [](Plan& plan) { OffsetOf(plan, "s0/x@1") = 1024 - 80; },
     "outside", "outside the memory"},
    {"BelowTheMemory", TwoConvsPlan, [](Plan& plan) { OffsetOf(plan, "s0/x@0") = -16; }, "outside",
     "outside the memory"},
    {"OutputOverItsOperandInOneTile", OneConvPlan, Put("s0/y@0", "s0/x@0"), "in place",
     "own operand 'x'"},
    {"OutputOverItsWeights", OneConvPlan, Put("s0/y@0", "s0/w", 16), "in place", "own operand 'w'"},
    {"OutputOverItsTable", OneConvPlan, Put("s0/y@0", "s0/w", 144), "in place", "the table of 'w'"},
    {"InputOverLoadedWeights", OneConvPlan, Put("s0/x@0", "s0/w", 112), "overwritten",
     "the table of 'w'"},
    {"SliceOverTheInput", StreamedSerialized, Put("s0/a/wa@0.0", "s0/x@0"), "overwritten", "'x'"},
    {"SliceOverThePartlyWrittenOutput", StreamedSerialized, Put("s0/a/wa@0.0", "s0/m@0"),
     "in place", "'wa'"},
    {"BothSlotsInOnePlace", StreamedDoubleBuffered, Put("s0/a/wa@0.1", "s0/a/wa@0.0"), "arriving",
     "'wa'"},
    {"SlotWhereTheNextOperatorsSliceArrives", StreamedDoubleBuffered,
     Put("s0/b/wb@0.0", "s0/a/wa@0.1"), "arriving", "step 1"},
    {"SliceOfTheNextTileOverAResult", StreamedDoubleBuffered, Put("s0/a/wa@1.0", "s0/m@0"),
     "arriving", "'m'"},
    {"ScratchOverTheInput", WithScratch, Put("s0/a/scratch@0", "s0/x@0"), "overwritten",
     "scratch of 'a'"},
    {"ScratchOverTheWeightsOfTheNext", WithScratch, Put("s0/a/scratch@0", "s0/wb"), "overwritten",
     "'wb'"},
    {"ScratchUnderTheResult", WithScratch, Put("s0/a/scratch@0", "s0/m@0"), "overwritten",
     "own scratch"},
    {"ResultOverState", WithState, Put("s0/s@0", "state", 16), "in place", "'state'"},
    {"InPlaceButShifted", InPlace, Shift("s0/b@0", 16), "in place", "own operand 'a'"},
    {"InPlaceOfTheLaterRead", InPlace, Put("s0/a@0", "s0/x@0"), "overwritten", "'x' [0, 0, 0, 0]"},
    {"InPlaceInWholeBuffersButShifted", OneSramPlan, Shift("y", 16), "in place", "own operand 'm'"},
    {"ConvolutionInPlace", OneSramPlan, Put("m", "x"), "in place", "own operand 'x'"},
};

// The layout of the network's output: rows of 4 columns of 4 channels.
hw_profiles::RoleLayout& OutputLayout(Plan& plan) {
  return plan.profile.roles[static_cast<size_t>(base::TensorRole::kNetworkOutput)];
}

TEST(ByChannelPlan, MayBeShiftedByWholeColumns) {
  for (Plan (*const plan)() : {ByChannel, ByChannelInRounds}) {
    Plan shifted = plan();
    EXPECT_THAT(MessagesOf(shifted), testing::IsEmpty());
    Shift("s0/y@0", 20)(shifted);
    EXPECT_THAT(MessagesOf(shifted), testing::IsEmpty());
  }
}

// Rows of b have 16 bytes and a gap of 16. Only the last gap of b lies on a, the operand.
TEST(InPlacePlan, MayNotHaveItsOperandInAGapOfItsResult) {
  Plan plan = InPlace();
  OutputLayout(plan).row_pitch_bytes = 32;
  Grow("s0/b@0", 64)(plan);
  OffsetOf(plan, "s0/a@0") = 1024;
  OffsetOf(plan, "s0/b@0") = 1024 - 128;
  EXPECT_THAT(MessagesOf(plan), testing::IsEmpty());
  Shift("s0/b@0", 16)(plan);
  EXPECT_THAT(MessagesOf(plan),
              testing::ElementsAre(testing::AllOf(testing::StartsWith("in place: "),
                                                  testing::HasSubstr("own operand 'a'"))));
}

// The host reads and writes homes that other engines do not, if they can be written at all.
TEST(HostPlan, MayWorkWhereOtherEnginesMayNot) {
  Plan plan = OnHost();
  EXPECT_THAT(MessagesOf(plan), testing::IsEmpty());
  plan.profile.memories[1].writable = false;
  EXPECT_THAT(MessagesOf(plan), testing::Contains(testing::HasSubstr("cannot be written")));
  plan.profile.memories[1].writable = true;
  plan.profile.engines.back() = hw_profiles::EngineForEveryKind("dsp");
  EXPECT_THAT(MessagesOf(plan), testing::Contains(testing::HasSubstr("no engine reads")));
}

const std::vector<SpoiledPlan> kStateAliasing = {
    {"CacheThatWouldMove", StateAliasing, Shift("all", 16), "overwritten", "'cache' [0, 0, 2, 0]"},
    {"CacheOfLongerRows", StateAliasing,
     [](Plan& plan) {
       plan.network.operators[0].axis = 3;
       plan.network.tensors[1].shape = {1, 2, 7, 1};
       for (const size_t longer : {2, 3}) plan.network.tensors[longer].shape = {1, 2, 7, 5};
       plan.subgraphs[0].tile = {1, 2, 7, 5};
       plan.subgraphs[0].tiles = 1;
       Grow("s0/x@0", 6)(plan);
       Grow("all", 6)(plan);
       Grow("s0/y@0", 54)(plan);
     },
     "in place", "own operand 'cache'"},
    {"CacheBehindWhatIsNew", StateAliasing,
     [](Plan& plan) {
       std::swap(plan.network.operators[0].inputs[0], plan.network.operators[0].inputs[1]);
     },
     "in place", "own operand 'cache'"},
};

// Columns of x and y begin at the same places; otherwise a channel overwrites a later one.
const std::vector<SpoiledPlan> kByChannel = {
    {"ByChannelButShifted", ByChannel, Shift("s0/y@0", 1), "in place",
     "own operand 'x' [0, 1, 0, 0]"},
    {"ByChannelInRoundsButShifted", ByChannelInRounds, Shift("s0/y@0", 6), "overwritten",
     "'x' [0, 2, 0, 1]"},
    {"ByChannelInWiderColumns", ByChannel,
     [](Plan& plan) {
       OutputLayout(plan).channel_block = 6;
       Grow("s0/y@0", 32)(plan);
     },
     "in place", "own operand 'x'"},
    {"ByChannelInRowsThatBeginWithinAColumn", ByChannel,
     [](Plan& plan) {
       OutputLayout(plan).row_pitch_bytes = 9;
       Grow("s0/y@0", 8)(plan);
     },
     "in place", "own operand 'x'"},
    {"ByChannelWithoutScratch", ByChannel, Without("s0/dw/scratch@0"), "outside",
     "no room for a channel"},
    {"ByChannelInTooLittleScratch", ByChannel, Grow("s0/dw/scratch@0", -1), "outside",
     "no room for a channel"},
    {"ChannelOverItsOperand", ByChannel, Put("s0/dw/scratch@0", "s0/x@0", 128), "overwritten",
     "'x'"},
    {"ChannelUnderTheResult", ByChannel, Put("s0/dw/scratch@0", "s0/y@0"), "overwritten", "'x'"},
    {"ChannelOverTheWeights", ByChannel, Put("s0/dw/scratch@0", "s0/w"), "overwritten", "'w'"},
    {"ByChannelOnAnEngineThatCannot", ByChannel,
     [](Plan& plan) { plan.profile.tiling.in_place.clear(); }, "in place", "own operand 'x'"},
    {"ByChannelOfEveryChannel", ByChannel,
     [](Plan& plan) { plan.network.operators[0].kind = base::OperatorKind::kConv; }, "in place",
     "own operand 'x'"},
};

const std::vector<SpoiledPlan> kLives = {
    {"LeavingTileForgottenOneStepEarly", TwoConvsPlan, Live("s0/y@0", {{2, 4}}), "moving",
     "step 4"},
    {"ArrivingTileLivesOneStepLate", TwoConvsPlan, Live("s0/x@1", {{2, 4}}), "forbidden",
     "does not live at step 1"},
    {"TileDiesBeforeItIsRead", TwoConvsPlan, Live("s0/x@0", {{0, 1}, {3, 5}}), "lost", "'x'"},
    {"InnerTileDiesBeforeItIsRead", TwoConvsPlan, Live("s0/m@1", {{3, 4}}), "lost", "'m'"},
    {"WeightsWithAGap", TwoConvsPlan, Live("s0/wa", {{0, 2}, {3, 5}}), "lost", "'wa'"},
    {"WeightsDieAtTheBackEdge", TwoConvsPlan, Live("s0/wb", {{0, 4}}), "lost", "'wb'"},
    {"LastTileDiesBeforeItLeaves", TwoConvsPlan, Live("s0/y@0", {{2, 5}}), "forbidden",
     "does not live at step 5"},
    {"WeightsDieBeforeTheOneTile", OneConvPlan, Live("s0/w", {{0, 2}}), "lost", "'w'"},
    {"SliceDiesBeforeItsOperator", StreamedSerialized, Live("s0/b/wb@0.0", {{3, 4}}), "lost",
     "'wb'"},
    {"OutputLivesFromItsOperatorOnlyBetweenSlices", StreamedSerialized,
     Live("s0/m@0", {{2, 3}, {4, 5}}), "lost", "'m'"},
    {"StateForgottenAtTheEnd", WithState, Live("state", {{0, 1}}), "incomplete", "'state'"},
    {"ShortenedAndOverlapping", ThreeTiles,
     [](Plan& plan) {
       FactsOf(plan, "s0/x@1").lifespans = {{2, 4}};
       OffsetOf(plan, "s0/x@1") =
           OffsetOf(plan, "s0/x@0");  // lives until step 2 and again from step 3 on
     },
     "arriving", "'x'"},
    {"WholeResultEndsBeforeItsReader", OneSramPlan, Live("m", {{0, 1}}), "forbidden",
     "does not live at step 1"},
};

const std::vector<SpoiledPlan> kSteps = {
    {"PrologueWithoutTheFirstTile", TwoConvsPlan, MoveOnly({0}, {1, 2}), "unwritten",
     "'x' [0, 0, 0, 0]"},
    {"PrologueWithoutWeights", TwoConvsPlan, MoveOnly({0}, {0, 1}), "unwritten", "'wb'"},
    {"WeightsLoadedWhileTheyAreRead", TwoConvsPlan,
     [](Plan& plan) {
       plan.steps[0].transfers = {0, 1};
       plan.steps[2].transfers = {0, 2, 4};
     },
     "arriving", "'wb'"},
    {"OddTilesNeverArrive", TwoConvsPlan, MoveOnly({1, 2}, {4}), "unwritten", "'x'"},
    {"EvenTilesArriveOnlyOnce", TwoConvsPlan, MoveOnly({3, 4}, {4}), "lost", "tile 2"},
    {"EvenTilesNeverLeave", TwoConvsPlan, MoveOnly({3, 4}, {0}), "incomplete", "'y' [0, 0, 0, 0]"},
    {"OddTilesNeverLeave", TwoConvsPlan, MoveOnly({1, 2}, {0}), "incomplete", "'y' [0, 0, 2, 0]"},
    {"LastTileNeverLeaves", TwoConvsPlan, MoveOnly({5}, {}), "incomplete", "'y' [0, 0, 8, 0]"},
    {"OneTileTooFew", TwoConvsPlan, [](Plan& plan) { plan.subgraphs[0].tiles = 4; }, "incomplete",
     "'y' [0, 0, 8, 0]"},
    {"OneTileTooMany", TwoConvsPlan, [](Plan& plan) { plan.subgraphs[0].tiles = 6; }, "control",
     "6 tiles where there are 5"},
    {"LoopLeavesAfterTheWrongPass", TwoConvsPlan,
     [](Plan& plan) { plan.problem.loops[0].exits = {5}; }, "control", "follows step 2"},
    {"LoopIsMissing", TwoConvsPlan, [](Plan& plan) { plan.problem.loops.clear(); }, "control",
     "follows step 4"},
    {"LoopBeginsTooLate", TwoConvsPlan, [](Plan& plan) { plan.problem.loops[0].begin = 2; },
     "control", "follows step 4"},
    {"PingAndPongExchangedInAPass", TwoConvsPlan,
     [](Plan& plan) {
       plan.steps[3].phase = 0;
       plan.steps[4].phase = 0;
     },
     "lost", "'s0/x@0'"},
    {"PingAndPongExchangedInBothPasses", TwoConvsPlan,
     [](Plan& plan) {
       for (const size_t step : {1, 2, 3, 4}) plan.steps[step].phase = 1 - plan.steps[step].phase;
     },
     "unwritten", "'s0/x@1'"},
    {"PhaseOfOneOperatorWrong", TwoConvsPlan, [](Plan& plan) { plan.steps[4].phase = 0; },
     "forbidden", "'s0/m@0'"},
    {"OperatorsInTheWrongOrder", TwoConvsPlan,
     [](Plan& plan) {
       plan.steps[1].op = 1;
       plan.steps[2].op = 0;
     },
     "unwritten", "'m'"},
    {"OneOperatorInThePlaceOfAnother", TwoConvsPlan, [](Plan& plan) { plan.steps[2].op = 0; },
     "unwritten", "'y'"},
    {"LoadDropped", OneConvPlan, MoveOnly({1}, {}), "unwritten", "'x'"},
    {"LoadOfWeightsDropped", OneConvPlan, MoveOnly({0}, {}), "unwritten", "'w'"},
    {"StoreDropped", OneConvPlan, MoveOnly({3}, {}), "incomplete", "'y'"},
    {"StoreOfAnotherTensor", OneConvPlan, MoveOnly({3}, {0}), "incomplete", "'y'"},
    {"StoreBeforeTheOperator", OneConvPlan,
     [](Plan& plan) { std::swap(plan.steps[2], plan.steps[3]); }, "unwritten", "'y'"},
    {"WeightsAfterTheOperator", OneConvPlan,
     [](Plan& plan) { std::swap(plan.steps[0], plan.steps[2]); }, "unwritten", "'w'"},
    {"SlicesNeverArrive", StreamedSerialized, MoveOnly({3}, {}), "unwritten", "'wb'"},
    {"SliceLoopIsMissing", StreamedSerialized,
     [](Plan& plan) {
       std::erase(plan.problem.loops, problem::Loop{1, 3, {3}});
     },
     "control", "follows step 2"},
    {"FirstSliceNeverArrives", StreamedDoubleBuffered, MoveOnly({1}, {0, 1, 4}), "unwritten",
     "'wb' [0, 0, 0, 0]"},
    {"LaterSlicesNeverArrive", StreamedDoubleBuffered, MoveOnly({2}, {0, 1, 4}), "unwritten",
     "'wb' [2, 0, 0, 0]"},
    {"FirstSliceOfTheNextTileNeverArrives", StreamedDoubleBuffered, MoveOnly({2}, {0, 2, 4}),
     "unwritten", "'wa'"},
    {"BoundaryNeverStored", TwoSubgraphs, MoveOnly({3}, {}), "incomplete", "'m'"},
    {"BoundaryNeverLoaded", TwoSubgraphs, MoveOnly({5}, {}), "unwritten", "'m'"},
    {"BoundaryLoadedOnceTooFew", TwoSubgraphs, [](Plan& plan) { plan.subgraphs[1].tiles = 1; },
     "incomplete", "'y' [0, 0, 5, 0]"},
};

const std::vector<SpoiledPlan> kUses = {
    {"PingAndPongExchangedInTheBuffers", TwoConvsPlan, SwapUses("s0/x@0", "s0/x@1"), "forbidden",
     "does not live"},
    {"SlotsExchangedInTheBuffers", StreamedDoubleBuffered, SwapUses("s0/a/wa@0.0", "s0/a/wa@0.1"),
     "forbidden", "does not live"},
    {"InputAndOutputExchanged", OneConvPlan, SwapUses("s0/x@0", "s0/y@0"), "forbidden",
     "does not live"},
    {"TileBufferMissing", TwoConvsPlan, Without("s0/m@1"), "outside", "no buffer"},
    {"IncomingBufferMissing", OneConvPlan, Without("s0/x@0"), "forbidden", "no engine reads"},
    {"OutgoingBufferMissing", OneConvPlan, Without("s0/y@0"), "forbidden", "no engine writes"},
    {"ResidentBufferMissing", OneConvPlan, Without("s0/w"), "forbidden", "no engine reads"},
    {"SecondSlotMissing", StreamedDoubleBuffered, Without("s0/a/wa@1.1"), "outside", "no buffer"},
    {"InputTooSmallByARow", TwoConvsPlan, [](Plan& plan) { FactsOf(plan, "s0/x@0").size -= 16; },
     "outside", "'s0/x@0'"},
    {"InnerTileTooSmall", TwoConvsPlan, [](Plan& plan) { FactsOf(plan, "s0/m@1").size -= 1; },
     "outside", "'s0/m@1'"},
    {"WeightsWithoutTheirTable", OneConvPlan, [](Plan& plan) { FactsOf(plan, "s0/w").size = 144; },
     "outside", "the table of 'w'"},
    {"SlicesOfMoreChannels", StreamedSerialized,
     [](Plan& plan) { plan.profile.tiling.weight_granularity_channels = 3; }, "outside", "'wa'"},
    {"RaggedTileTakenForTheLargest", ThreeTiles,
     [](Plan& plan) { FactsOf(plan, "s0/x@0").size = 64; }, "outside", "'s0/x@0'"},
};

const std::vector<SpoiledPlan> kHardware = {
    {"StoredPadsForgotten", TwoSubgraphs,
     [](Plan& plan) { plan.profile.tiling.implicit_padding = false; }, "outside", "'x'"},
    {"ChannelBlocksForgotten", OneConvPlan,
     [](Plan& plan) {
       for (hw_profiles::RoleLayout& role : plan.profile.roles) role.channel_block = 8;
     },
     "outside", "'x'"},
    {"RowPitchForgotten", OneConvPlan,
     [](Plan& plan) {
       for (hw_profiles::RoleLayout& role : plan.profile.roles) role.row_pitch_bytes = 32;
     },
     "outside", "'x'"},
    {"ReservedRangeForgotten", OneConvPlan,
     [](Plan& plan) {
       plan.profile.memories[0].reserved = {{{130, 131}, "stack"}};
     },
     "outside", "reserved"},
    {"EngineThatCannotWorkInPlace", OneSramPlan,
     [](Plan& plan) { plan.profile.tiling.in_place.clear(); }, "in place", "'m'"},
    {"OperandStillWanted", OneSramPlan,
     [](Plan& plan) { plan.network.tensors[2].network_output = true; }, "incomplete", "'m'"},
    {"EngineThatCannotReadAtHome", WithState,
     [](Plan& plan) { plan.profile.memories[1].direct_read = false; }, "forbidden",
     "no engine reads"},
    {"HomeThatCannotBeWritten", WithState,
     [](Plan& plan) { plan.profile.memories[1].writable = false; }, "forbidden",
     "cannot be written"},
    {"NoLink", OneConvPlan, [](Plan& plan) { plan.profile.links.clear(); }, "forbidden", "no link"},
    {"ModeOfTheOperatorWrong", BankedPlan,
     [](Plan& plan) {
       Schedule(plan, {1, 1, 1, 1});
     },
     "forbidden", "step 2"},
    {"ModeOfALoadWrong", BankedPlan,
     [](Plan& plan) {
       Schedule(plan, {1, 0, 0, 1});
     },
     "forbidden", "step 1"},
    {"ModeOfTheStoreWrong", BankedPlan,
     [](Plan& plan) {
       Schedule(plan, {1, 1, 0, 0});
     },
     "forbidden", "step 3"},
    {"ResultInABankThatIsRead", BankedPlan, [](Plan& plan) { OffsetOf(plan, "s0/y@0") = 320; },
     "forbidden", "bank 'low'"},
    {"ResultAcrossBanks", BankedPlan, [](Plan& plan) { OffsetOf(plan, "s0/y@0") = 480; },
     "forbidden", "bank 'low'"},
    {"TransitionThatIsNone", BankedPlan,
     [](Plan& plan) {
       plan.profile.memories[0].transitions = {{{0, 1}}};
     },
     "forbidden", "may not follow"},
    {"BankOffWhileItHoldsWeights", BankedPlan,
     [](Plan& plan) {
       hw_profiles::Memory& sram = plan.profile.memories[0];
       sram.modes.push_back({"sleep", {{true, {}}, {false, {}}}});
       sram.transitions.reset();
       Schedule(plan, {1, 2, 0, 1});
     },
     "lost", "'w'"},
    {"LinkThatTheModeDoesNotLetWrite", BankedPlan,
     [](Plan& plan) {
       plan.profile.memories[0].modes[1].banks[0].allowed = {{"pe", problem::AccessKind::kWrite}};
     },
     "forbidden", "'dma' write"},
};

INSTANTIATE_TEST_SUITE_P(Addresses, PlanFault, testing::ValuesIn(kAddresses),
                         NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(ByChannel, PlanFault, testing::ValuesIn(kByChannel),
                         NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(StateAliasing, PlanFault, testing::ValuesIn(kStateAliasing),
                         NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Lives, PlanFault, testing::ValuesIn(kLives), NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Steps, PlanFault, testing::ValuesIn(kSteps), NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Uses, PlanFault, testing::ValuesIn(kUses), NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Hardware, PlanFault, testing::ValuesIn(kHardware),
                         NameOfFault<SpoiledPlan>);

}  // namespace
}  // namespace tessera::plan::execute
