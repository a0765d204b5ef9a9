// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "base_plans.h"
#include "faults.h"
#include "kept_plans.h"

// Seeded faults of plans that keep rows from tile to tile, and of their instructions (faults.h,
// kept_plans.h).
namespace tessera::plan::execute {
namespace {

class KeptPlanFault : public testing::TestWithParam<SpoiledPlan> {};

TEST_P(KeptPlanFault, IsFound) { ExpectFound(GetParam()); }

class KeptInstructionFault : public testing::TestWithParam<SpoiledProgram> {};

TEST_P(KeptInstructionFault, IsFound) { ExpectFound(GetParam()); }

// Tensors: 0 x, 1 wa, 2 wb, 3 m, 4 y; a row of a map has 16 bytes.
const std::vector<SpoiledPlan> kRollingBuffers = {
    {"RollingBufferOneRowShort", RollingBufferSerialized, Grow("s0/x@rolling_buffer", -16),
     "outside", "'s0/x@rolling_buffer'"},
    {"RollingBufferWithoutRoomForTheNextTile", RollingBufferDoubleBuffered,
     Grow("s0/x@rolling_buffer", -32), "outside", "'s0/x@rolling_buffer'"},
    {"RollingBufferOverItsOperand", RollingBufferSerialized,
     Put("s0/m@rolling_buffer", "s0/x@rolling_buffer", 64), "in place", "'x'"},
    {"RollingBufferOverWhatArrives", RollingBufferDoubleBuffered,
     Put("s0/m@rolling_buffer", "s0/x@rolling_buffer", 64), "arriving", "step 1"},
    {"ResultOverKeptRows", RollingBufferSerialized, Put("s0/y@0", "s0/x@rolling_buffer"),
     "overwritten", "'x'"},
    {"ResultOverTheRollingBufferThatItReads", RollingBufferSerialized,
     Put("s0/y@0", "s0/m@rolling_buffer", 32), "in place", "own operand 'm'"},
    {"RollingBufferDiesBetweenTiles", RollingBufferSerialized,
     Live("s0/m@rolling_buffer", {{3, 5}}), "lost", "'m'"},
    {"RollingBufferDiesAtTheBackEdge", RollingBufferDoubleBuffered,
     Live("s0/x@rolling_buffer", {{0, 4}}), "forbidden", "does not live at step 4"},
    {"RollingBufferNeverFilled", RollingBufferSerialized, MoveOnly({2}, {}), "unwritten", "'x'"},
    {"OddTilesNeverArriveInTheRollingBuffer", RollingBufferDoubleBuffered, MoveOnly({1, 2}, {4}),
     "unwritten", "'x' [0, 0, 4, 0]"},
    {"EvenTilesNeverArriveInTheRollingBuffer", RollingBufferDoubleBuffered, MoveOnly({3, 4}, {4}),
     "stale", "'x' [0, 0, 6, 0]"},
    {"RollingBufferMissing", RollingBufferSerialized, Without("s0/m@rolling_buffer"), "outside",
     "no buffer"},
    {"ThirdTileOfARollingBufferForgotten", RollingBufferDoubleBuffered,
     [](Plan& plan) { plan.subgraphs[0].tiles = 4; }, "incomplete", "'y' [0, 0, 8, 0]"},
    {"RollingBufferTakenForATileBuffer", RollingBufferSerialized,
     [](Plan& plan) { UseOf(plan, "s0/x@rolling_buffer").kind = BufferKind::kTile; }, "overwritten",
     "'x' [0, 0, 4, 0]"},
    {"RowsKeptThatNobodyStores", RollingBufferSerialized,
     [](Plan& plan) { plan.subgraphs[0].halo = hw_profiles::HaloStorage::kRecompute; }, "outside",
     "'s0/x@rolling_buffer'"},
};

const std::vector<SpoiledPlan> kLines = {
    {"SaveDropped", LineBufferSerialized, DoNothingAt({5}), "lost", "'x' [0, 0, 4, 0]"},
    {"SaveOfTheInnerMapDropped", LineBufferSerialized, DoNothingAt({7}), "lost",
     "'m' [0, 0, 3, 0]"},
    {"RestoreDropped", LineBufferSerialized, DoNothingAt({3}), "overwritten", "'x' [0, 0, 4, 0]"},
    {"SaveByTheWrongOperator", LineBufferSerialized, [](Plan& plan) { plan.steps[5].op = 1; },
     "control", "step 5 copies rows where none are kept"},
    {"RestoreAfterTheOperator", LineBufferSerialized,
     [](Plan& plan) { std::swap(plan.steps[3], plan.steps[4]); }, "overwritten",
     "'x' [0, 0, 4, 0]"},
    {"RestoreAfterTheOperatorBesideTransfers", LineBufferDoubleBuffered,
     [](Plan& plan) { std::swap(plan.steps[1].kind, plan.steps[2].kind); }, "overwritten", "'x'"},
    {"LineOverwritten", LineBufferSerialized, Put("s0/y@0", "s0/x@line"), "overwritten",
     "'x' [0, 0, 4, 0]"},
    {"LineUnderTheOtherLine", LineBufferSerialized, Put("s0/m@line", "s0/x@line"), "overwritten",
     "'x' [0, 0, 4, 0]"},
    {"LineWhereTheNextTileArrives", LineBufferDoubleBuffered, Put("s0/x@line", "s0/x@1"),
     "arriving", "step 3"},
    {"LineOverTheTileThatIsSaved", LineBufferSerialized, Put("s0/x@line", "s0/x@0", 80), "stale",
     "'x' [0, 0, 5, 0]"},
    {"LineShiftedOntoTheOther", LineBufferSerialized,
     [](Plan& plan) { OffsetOf(plan, "s0/m@line") = OffsetOf(plan, "s0/x@line") + 16; },
     "overwritten", "'x'"},
    {"LineDiesTooEarly", LineBufferSerialized, Live("s0/m@line", {{7, 8}, {3, 4}}), "lost", "'m'"},
    {"LineDiesBeforeTheRestore", LineBufferSerialized, Live("s0/x@line", {{2, 3}, {5, 9}}),
     "forbidden", "does not live at step 3"},
    {"LineOneRowShort", LineBufferSerialized, Grow("s0/x@line", -16), "outside", "'s0/x@line'"},
    {"TileWithoutRoomForKeptRows", LineBufferSerialized, Grow("s0/x@0", -16), "outside",
     "'s0/x@0'"},
    {"TileDiesBeforeItIsSaved", LineBufferSerialized, Live("s0/x@0", {{2, 5}}), "forbidden",
     "does not live at step 5"},
    {"TileLivesFromItsMakerOnly", LineBufferSerialized, Live("s0/m@0", {{4, 8}}), "forbidden",
     "does not live at step 3"},
    {"LinesExchanged", LineBufferSerialized, SwapUses("s0/x@line", "s0/m@line"), "forbidden",
     "does not live at step 5"},
    {"LineMissing", LineBufferSerialized, Without("s0/x@line"), "control", "step 5 copies rows"},
    {"RowsOfALineNeverCome", LineBufferDoubleBuffered, Without("s0/x@line"), "overwritten",
     "'x' [0, 0, 2, 0]"},
    {"RestoreOfTheOtherPhase", LineBufferDoubleBuffered,
     [](Plan& plan) { plan.steps[6].phase = 0; }, "overwritten", "'x' [0, 0, 2, 0]"},
};

const std::vector<SpoiledPlan> kHalos = {
    {"AdjacencyBroken", AdjacentSerialized,
     [](Plan& plan) { OffsetOf(plan, "s0/x@0.halo") = 2048; }, "unwritten", "'x' [0, 0, 4, 0]"},
    {"HaloOneRowApart", AdjacentSerialized, Shift("s0/x@0.halo", -16), "stale", "'x' [0, 0, 4, 0]"},
    {"HaloOneRowTooClose", AdjacentSerialized, Shift("s0/x@0.halo", 16), "unwritten", "'x'"},
    {"TileMovedAwayFromItsHalo", AdjacentDoubleBuffered,
     [](Plan& plan) { OffsetOf(plan, "s0/m@1") = 2048; }, "unwritten", "'m'"},
    {"HaloOneRowShort", AdjacentSerialized, Grow("s0/x@0.halo", -16), "outside", "'s0/x@0.halo'"},
    {"HalosExchanged", AdjacentDoubleBuffered, SwapUses("s0/x@0.halo", "s0/x@1.halo"), "forbidden",
     "does not live"},
    {"HaloMissing", AdjacentDoubleBuffered, Without("s0/x@1.halo"), "outside", "no buffer"},
    {"HaloDiesBeforeItIsRead", AdjacentSerialized, Live("s0/x@0.halo", {{2, 3}, {4, 8}}), "lost",
     "'x'"},
    {"HaloDiesAtTheBackEdge", AdjacentSerialized, Live("s0/m@0.halo", {{4, 7}}), "lost", "'m'"},
    {"SaveIntoTheHaloDropped", AdjacentSerialized, DoNothingAt({4}), "unwritten",
     "'x' [0, 0, 4, 0]"},
    {"SaveOfTheOtherPhase", AdjacentDoubleBuffered, [](Plan& plan) { plan.steps[2].phase = 1; },
     "arriving", "'x'"},
    {"ResultOverTheHalo", AdjacentSerialized, Put("s0/y@0", "s0/x@0.halo"), "overwritten", "'x'"},
    {"TileOverTheHaloOfTheOther", AdjacentDoubleBuffered, Put("s0/m@0", "s0/x@1.halo"),
     "overwritten", "'m'"},
    {"TileWithoutRoomForWhatIsMade", AdjacentSerialized, Grow("s0/x@0", -16), "outside",
     "'s0/x@0'"},
    {"PadRowsAboveForgotten", AdjacentStoredPads, Grow("s0/x@0.halo", -48), "outside",
     "'s0/x@0.halo'"},
    {"StoredPadsForgotten", AdjacentSerialized,
     [](Plan& plan) { plan.profile.tiling.implicit_padding = false; }, "outside", "'s0/x@0"},
};

const std::vector<SpoiledProgram> kSweeps = {
    {"KeptRowsOneFewer", LineBufferSerialized,
     [](Program& program) { CopiedAt(program, kX, 0).box[kRows].begin += 1; }, "lost",
     "'x' [0, 0, 4, 0]"},
    {"RestoredRowsOneFewer", LineBufferSerialized,
     [](Program& program) { CopiedAt(program, kX, 1).box[kRows].begin += 1; }, "overwritten",
     "'x' [0, 0, 4, 0]"},
    {"SavedRowsEndOneEarly", AdjacentSerialized,
     [](Program& program) { CopiedAt(program, kM, 0).box[kRows].end -= 1; }, "unwritten",
     "'m' [0, 0, 4, 0]"},
    {"SaveForgotten", LineBufferSerialized,
     [](Program& program) { Remove(program, CopyIndex(program, kX, 0)); }, "lost",
     "'x' [0, 0, 4, 0]"},
    {"SecondSaveForgotten", LineBufferSerialized,
     [](Program& program) { Remove(program, CopyIndex(program, kX, 2)); }, "lost",
     "'x' [0, 0, 8, 0]"},
    {"RestoreForgotten", LineBufferSerialized,
     [](Program& program) { Remove(program, CopyIndex(program, kX, 1)); }, "overwritten",
     "'x' [0, 0, 4, 0]"},
    {"SecondSaveIntoTheHaloForgotten", AdjacentSerialized,
     [](Program& program) { Remove(program, CopyIndex(program, kM, 1)); }, "stale",
     "'m' [0, 0, 7, 0]"},
    {"SaveAfterTheNextTileCame", LineBufferSerialized,
     [](Program& program) {
       MoveBefore(program, CopyIndex(program, kX, 0),
                  FinishOf(program, TransferAt(program, kX, 1)) + 1);
     },
     "stale", "'x' [0, 0, 4, 0]"},
    {"SaveBeforeTheHaloIsRead", AdjacentSerialized,
     [](Program& program) {
       MoveBefore(program, CopyIndex(program, kX, 1), ComputeIndex(program, 0, 1));
     },
     "stale", "'x'"},
    {"LoadedRowsMissOne", RollingBufferSerialized,
     [](Program& program) { MoveAt(program, kX, 1).box[kRows].begin += 1; }, "stale",
     "'x' [0, 0, 6, 0]"},
    {"MadeRowsMissOne", RollingBufferSerialized,
     [](Program& program) { ComputeAt(program, 0, 1).results[0].box[kRows].begin += 1; },
     "unwritten", "'m' [0, 0, 5, 0]"},
    {"RollingBufferTurnsOneRowEarly", RollingBufferSerialized,
     [](Program& program) {
       ForEachPlace(program, kX, [](Place& place) { place.axes[kRows].modulus -= 1; });
     },
     "outside", "'x'"},
    {"NextTileArrivesOneRowEarly", RollingBufferDoubleBuffered,
     [](Program& program) {
       ForEachPlace(program, kX, [](Place& place) { place.axes[kRows].modulus -= 1; });
     },
     "arriving", "'x'"},
    {"RollingBufferNeverTurns", RollingBufferSerialized,
     [](Program& program) { MoveAt(program, kX, 1).to.axes[kRows].modulus = 0; }, "stale",
     "'x' [0, 0, 4, 0]"},
    {"RollingBufferReadOneRowOff", RollingBufferSerialized,
     [](Program& program) {
       ComputeAt(program, 1, 1).operands[0].place.axes[kRows].made_before += 1;
     },
     "stale", "'m'"},
    {"KeptRowsAtTheFrontOfTheHalo", AdjacentSerialized,
     [](Program& program) { CopiedAt(program, kX, 0).to.base -= 16; }, "outside", "'s0/x@0.halo'"},
    {"KeptRowsInTheHaloOfTheOtherPhase", AdjacentDoubleBuffered,
     [](Program& program) {
       CopiedAt(program, kX, 1).to.base = CopiedAt(program, kX, 0).to.base;
       CopiedAt(program, kX, 1).to.cells = CopiedAt(program, kX, 0).to.cells;
     },
     "lost", "'x'"},
    {"KeptRowsOfTheTileBefore", AdjacentDoubleBuffered,
     [](Program& program) {
       program[CopyIndex(program, kM, 3)] = program[CopyIndex(program, kM, 1)];
     },
     "stale", "'m'"},
    {"HaloReadFromTheTile", AdjacentSerialized,
     [](Program& program) {
       Place& operand = ComputeAt(program, 0, 1).operands[0].place;
       operand.base += 2 * operand.axes[kRows].address_step;
     },
     "stale", "'x'"},
    {"PadRowsAboveNotSaved", AdjacentStoredPads,
     [](Program& program) { CopiedAt(program, kX, 0).to.axes[kRows].pad_low = 0; }, "unwritten",
     "a pad of 'x'"},
    {"PadRowsBelowNotLoaded", AdjacentStoredPads,
     [](Program& program) { MoveAt(program, kX, 5).to.axes[kRows].pad_high = 0; }, "lost",
     "a pad of 'x'"},
    {"PadRowsOfTheRollingBufferNotLoaded", RollingBufferStoredPads,
     [](Program& program) { MoveAt(program, kX, 0).to.axes[kRows].pad_low = 0; }, "unwritten",
     "a pad of 'x'"},
    {"PadColumnsOfARowNotLoaded", RollingBufferStoredPads,
     [](Program& program) { MoveAt(program, kX, 1).to.axes[3].pad_high = 0; }, "unwritten",
     "a pad of 'x'"},
};

INSTANTIATE_TEST_SUITE_P(RollingBuffers, KeptPlanFault, testing::ValuesIn(kRollingBuffers),
                         NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Lines, KeptPlanFault, testing::ValuesIn(kLines), NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Halos, KeptPlanFault, testing::ValuesIn(kHalos), NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Sweeps, KeptInstructionFault, testing::ValuesIn(kSweeps),
                         NameOfFault<SpoiledProgram>);

}  // namespace
}  // namespace tessera::plan::execute
