#include <gtest/gtest.h>

#include <algorithm>

#include "base_plans.h"
#include "faults.h"
#include "kept_plans.h"

// Seeded faults of plans that keep rows from tile to tile, and of their instructions (faults.h, kept_plans.h).
namespace tessera::plan::execute {
namespace {

class KeptPlanFault : public testing::TestWithParam<SpoiledPlan> {};

TEST_P(KeptPlanFault, IsFound) { ExpectFound(GetParam()); }

class KeptInstructionFault : public testing::TestWithParam<SpoiledProgram> {};

TEST_P(KeptInstructionFault, IsFound) { ExpectFound(GetParam()); }

// Tensors: 0 x, 1 wa, 2 wb, 3 m, 4 y; a row of a map has 16 bytes.
const std::vector<SpoiledPlan> kRings = {
    {"RingOneRowShort", RingOwnSteps, Grow("s0/x@ring", -16), "outside", "'s0/x@ring'"},
    {"RingWithoutRoomForTheNextTile", RingOverlapped, Grow("s0/x@ring", -32), "outside", "'s0/x@ring'"},
    {"RingOverItsOperand", RingOwnSteps, Put("s0/m@ring", "s0/x@ring", 64), "in place", "'x'"},
    {"RingOverWhatArrives", RingOverlapped, Put("s0/m@ring", "s0/x@ring", 64), "arriving", "step 1"},
    {"ResultOverKeptRows", RingOwnSteps, Put("s0/y@0", "s0/x@ring"), "overwritten", "'x'"},
    {"ResultOverTheRingThatItReads", RingOwnSteps, Put("s0/y@0", "s0/m@ring", 32), "in place",
     "own operand 'm'"},
    {"RingDiesBetweenTiles", RingOwnSteps, Live("s0/m@ring", {{3, 5}}), "lost", "'m'"},
    {"RingDiesAtTheBackEdge", RingOverlapped, Live("s0/x@ring", {{0, 4}}), "forbidden",
     "does not live at step 4"},
    {"RingNeverFilled", RingOwnSteps, MoveOnly({2}, {}), "unwritten", "'x'"},
    {"OddTilesNeverArriveInTheRing", RingOverlapped, MoveOnly({1, 2}, {4}), "unwritten", "'x' [0, 0, 4, 0]"},
    {"EvenTilesNeverArriveInTheRing", RingOverlapped, MoveOnly({3, 4}, {4}), "stale", "'x' [0, 0, 6, 0]"},
    {"RingMissing", RingOwnSteps, Without("s0/m@ring"), "outside", "no buffer"},
    {"ThirdTileOfARingForgotten", RingOverlapped, [](Plan& plan) { plan.subgraphs[0].tiles = 4; },
     "incomplete", "'y' [0, 0, 8, 0]"},
    {"RingTakenForATileBuffer", RingOwnSteps,
     [](Plan& plan) { UseOf(plan, "s0/x@ring").kind = BufferKind::kTile; }, "overwritten",
     "'x' [0, 0, 4, 0]"},
    {"RowsKeptThatNobodyStores", RingOwnSteps,
     [](Plan& plan) { plan.subgraphs[0].halo = hw_profiles::HaloStorage::kRecompute; }, "outside",
     "'s0/x@ring'"},
};

const std::vector<SpoiledPlan> kLines = {
    {"SaveDropped", CopyOwnSteps, DoNothingAt({5}), "lost", "'x' [0, 0, 4, 0]"},
    {"SaveOfTheInnerMapDropped", CopyOwnSteps, DoNothingAt({7}), "lost", "'m' [0, 0, 3, 0]"},
    {"RestoreDropped", CopyOwnSteps, DoNothingAt({3}), "overwritten", "'x' [0, 0, 4, 0]"},
    {"SaveByTheWrongOperator", CopyOwnSteps, [](Plan& plan) { plan.steps[5].op = 1; }, "control",
     "step 5 copies rows where none are kept"},
    {"RestoreAfterTheOperator", CopyOwnSteps, [](Plan& plan) { std::swap(plan.steps[3], plan.steps[4]); },
     "overwritten", "'x' [0, 0, 4, 0]"},
    {"RestoreAfterTheOperatorBesideTransfers", CopyOverlapped,
     [](Plan& plan) { std::swap(plan.steps[1].kind, plan.steps[2].kind); }, "overwritten", "'x'"},
    {"LineOverwritten", CopyOwnSteps, Put("s0/y@0", "s0/x@line"), "overwritten", "'x' [0, 0, 4, 0]"},
    {"LineUnderTheOtherLine", CopyOwnSteps, Put("s0/m@line", "s0/x@line"), "overwritten", "'x' [0, 0, 4, 0]"},
    {"LineWhereTheNextTileArrives", CopyOverlapped, Put("s0/x@line", "s0/x@1"), "arriving", "step 3"},
    {"LineOverTheTileThatIsSaved", CopyOwnSteps, Put("s0/x@line", "s0/x@0", 80), "stale", "'x' [0, 0, 5, 0]"},
    {"LineShiftedOntoTheOther", CopyOwnSteps,
     [](Plan& plan) { OffsetOf(plan, "s0/m@line") = OffsetOf(plan, "s0/x@line") + 16; }, "overwritten",
     "'x'"},
    {"LineDiesTooEarly", CopyOwnSteps, Live("s0/m@line", {{7, 8}, {3, 4}}), "lost", "'m'"},
    {"LineDiesBeforeTheRestore", CopyOwnSteps, Live("s0/x@line", {{2, 3}, {5, 9}}), "forbidden",
     "does not live at step 3"},
    {"LineOneRowShort", CopyOwnSteps, Grow("s0/x@line", -16), "outside", "'s0/x@line'"},
    {"TileWithoutRoomForKeptRows", CopyOwnSteps, Grow("s0/x@0", -16), "outside", "'s0/x@0'"},
    {"TileDiesBeforeItIsSaved", CopyOwnSteps, Live("s0/x@0", {{2, 5}}), "forbidden",
     "does not live at step 5"},
    {"TileLivesFromItsMakerOnly", CopyOwnSteps, Live("s0/m@0", {{4, 8}}), "forbidden",
     "does not live at step 3"},
    {"LinesExchanged", CopyOwnSteps, SwapUses("s0/x@line", "s0/m@line"), "forbidden",
     "does not live at step 5"},
    {"LineMissing", CopyOwnSteps, Without("s0/x@line"), "control", "step 5 copies rows"},
    {"RowsOfALineNeverCome", CopyOverlapped, Without("s0/x@line"), "overwritten", "'x' [0, 0, 2, 0]"},
    {"RestoreOfTheOtherParity", CopyOverlapped, [](Plan& plan) { plan.steps[6].parity = 0; }, "overwritten",
     "'x' [0, 0, 2, 0]"},
};

const std::vector<SpoiledPlan> kHalos = {
    {"AdjacencyBroken", AdjacentOwnSteps, [](Plan& plan) { OffsetOf(plan, "s0/x@0.halo") = 2048; },
     "unwritten", "'x' [0, 0, 4, 0]"},
    {"HaloOneRowApart", AdjacentOwnSteps, Shift("s0/x@0.halo", -16), "stale", "'x' [0, 0, 4, 0]"},
    {"HaloOneRowTooClose", AdjacentOwnSteps, Shift("s0/x@0.halo", 16), "unwritten", "'x'"},
    {"TileMovedAwayFromItsHalo", AdjacentOverlapped, [](Plan& plan) { OffsetOf(plan, "s0/m@1") = 2048; },
     "unwritten", "'m'"},
    {"HaloOneRowShort", AdjacentOwnSteps, Grow("s0/x@0.halo", -16), "outside", "'s0/x@0.halo'"},
    {"HalosExchanged", AdjacentOverlapped, SwapUses("s0/x@0.halo", "s0/x@1.halo"), "forbidden",
     "does not live"},
    {"HaloMissing", AdjacentOverlapped, Without("s0/x@1.halo"), "outside", "no buffer"},
    {"HaloDiesBeforeItIsRead", AdjacentOwnSteps, Live("s0/x@0.halo", {{2, 3}, {4, 8}}), "lost", "'x'"},
    {"HaloDiesAtTheBackEdge", AdjacentOwnSteps, Live("s0/m@0.halo", {{4, 7}}), "lost", "'m'"},
    {"SaveIntoTheHaloDropped", AdjacentOwnSteps, DoNothingAt({4}), "unwritten", "'x' [0, 0, 4, 0]"},
    {"SaveOfTheOtherParity", AdjacentOverlapped, [](Plan& plan) { plan.steps[2].parity = 1; }, "arriving",
     "'x'"},
    {"ResultOverTheHalo", AdjacentOwnSteps, Put("s0/y@0", "s0/x@0.halo"), "overwritten", "'x'"},
    {"TileOverTheHaloOfTheOther", AdjacentOverlapped, Put("s0/m@0", "s0/x@1.halo"), "overwritten", "'m'"},
    {"TileWithoutRoomForWhatIsMade", AdjacentOwnSteps, Grow("s0/x@0", -16), "outside", "'s0/x@0'"},
    {"PadRowsAboveForgotten", AdjacentStoredPads, Grow("s0/x@0.halo", -48), "outside", "'s0/x@0.halo'"},
    {"StoredPadsForgotten", AdjacentOwnSteps,
     [](Plan& plan) { plan.profile.tiling.implicit_padding = false; }, "outside", "'s0/x@0"},
};

const std::vector<SpoiledProgram> kSweeps = {
    {"KeptRowsOneFewer", CopyOwnSteps,
     [](Program& program) { CopiedAt(program, kX, 0).box[kRows].begin += 1; }, "lost", "'x' [0, 0, 4, 0]"},
    {"RestoredRowsOneFewer", CopyOwnSteps,
     [](Program& program) { CopiedAt(program, kX, 1).box[kRows].begin += 1; }, "overwritten",
     "'x' [0, 0, 4, 0]"},
    {"SavedRowsEndOneEarly", AdjacentOwnSteps,
     [](Program& program) { CopiedAt(program, kM, 0).box[kRows].end -= 1; }, "unwritten", "'m' [0, 0, 4, 0]"},
    {"SaveForgotten", CopyOwnSteps, [](Program& program) { Remove(program, CopyIndex(program, kX, 0)); },
     "lost", "'x' [0, 0, 4, 0]"},
    {"SecondSaveForgotten", CopyOwnSteps,
     [](Program& program) { Remove(program, CopyIndex(program, kX, 2)); }, "lost", "'x' [0, 0, 8, 0]"},
    {"RestoreForgotten", CopyOwnSteps, [](Program& program) { Remove(program, CopyIndex(program, kX, 1)); },
     "overwritten", "'x' [0, 0, 4, 0]"},
    {"SecondSaveIntoTheHaloForgotten", AdjacentOwnSteps,
     [](Program& program) { Remove(program, CopyIndex(program, kM, 1)); }, "stale", "'m' [0, 0, 7, 0]"},
    {"SaveAfterTheNextTileCame", CopyOwnSteps,
     [](Program& program) {
       MoveBefore(program, CopyIndex(program, kX, 0), FinishOf(program, TransferAt(program, kX, 1)) + 1);
     },
     "stale", "'x' [0, 0, 4, 0]"},
    {"SaveBeforeTheHaloIsRead", AdjacentOwnSteps,
     [](Program& program) { MoveBefore(program, CopyIndex(program, kX, 1), ComputeIndex(program, 0, 1)); },
     "stale", "'x'"},
    {"LoadedRowsMissOne", RingOwnSteps,
     [](Program& program) { MoveAt(program, kX, 1).box[kRows].begin += 1; }, "stale", "'x' [0, 0, 6, 0]"},
    {"MadeRowsMissOne", RingOwnSteps,
     [](Program& program) { ComputeAt(program, 0, 1).results[0].box[kRows].begin += 1; }, "unwritten",
     "'m' [0, 0, 5, 0]"},
    {"RingTurnsOneRowEarly", RingOwnSteps,
     [](Program& program) {
       ForEachPlace(program, kX, [](Place& place) { place.axes[kRows].modulus -= 1; });
     },
     "stale", "'x'"},
    {"NextTileArrivesOneRowEarly", RingOverlapped,
     [](Program& program) {
       ForEachPlace(program, kX, [](Place& place) { place.axes[kRows].modulus -= 1; });
     },
     "arriving", "'x'"},
    {"RingNeverTurns", RingOwnSteps,
     [](Program& program) { MoveAt(program, kX, 1).to.axes[kRows].modulus = 0; }, "stale",
     "'x' [0, 0, 4, 0]"},
    {"RingReadOneRowOff", RingOwnSteps,
     [](Program& program) { ComputeAt(program, 1, 1).operands[0].place.axes[kRows].made_before += 1; },
     "stale", "'m'"},
    {"KeptRowsAtTheFrontOfTheHalo", AdjacentOwnSteps,
     [](Program& program) { CopiedAt(program, kX, 0).to.base -= 16; }, "outside", "'s0/x@0.halo'"},
    {"KeptRowsInTheHaloOfTheOtherParity", AdjacentOverlapped,
     [](Program& program) {
       CopiedAt(program, kX, 1).to.base = CopiedAt(program, kX, 0).to.base;
       CopiedAt(program, kX, 1).to.cells = CopiedAt(program, kX, 0).to.cells;
     },
     "lost", "'x'"},
    {"KeptRowsOfTheTileBefore", AdjacentOverlapped,
     [](Program& program) { program[CopyIndex(program, kM, 3)] = program[CopyIndex(program, kM, 1)]; },
     "stale", "'m'"},
    {"HaloReadFromTheTile", AdjacentOwnSteps,
     [](Program& program) {
       Place& operand = ComputeAt(program, 0, 1).operands[0].place;
       operand.base += 2 * operand.axes[kRows].address_step;
     },
     "stale", "'x'"},
    {"PadRowsAboveNotSaved", AdjacentStoredPads,
     [](Program& program) { CopiedAt(program, kX, 0).to.axes[kRows].pad_low = 0; }, "unwritten",
     "a pad of 'x'"},
    {"PadRowsBelowNotLoaded", AdjacentStoredPads,
     [](Program& program) { MoveAt(program, kX, 5).to.axes[kRows].pad_high = 0; }, "overwritten",
     "a pad of 'x'"},
    {"PadRowsOfTheRingNotLoaded", RingStoredPads,
     [](Program& program) { MoveAt(program, kX, 0).to.axes[kRows].pad_low = 0; }, "unwritten",
     "a pad of 'x'"},
    {"PadColumnsOfARowNotLoaded", RingStoredPads,
     [](Program& program) { MoveAt(program, kX, 1).to.axes[3].pad_high = 0; }, "unwritten", "a pad of 'x'"},
};

INSTANTIATE_TEST_SUITE_P(Rings, KeptPlanFault, testing::ValuesIn(kRings), NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Lines, KeptPlanFault, testing::ValuesIn(kLines), NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Halos, KeptPlanFault, testing::ValuesIn(kHalos), NameOfFault<SpoiledPlan>);
INSTANTIATE_TEST_SUITE_P(Sweeps, KeptInstructionFault, testing::ValuesIn(kSweeps),
                         NameOfFault<SpoiledProgram>);

}  // namespace
}  // namespace tessera::plan::execute
