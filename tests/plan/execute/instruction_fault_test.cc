// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "../fixture.h"
#include "base_plans.h"
#include "faults.h"

// Seeded faults of derivation: the mistakes of a planner that misses a halo row or takes a ragged
// tile for a full one. The plan is valid; one instruction of its program is not.
namespace tessera::plan::execute {
namespace {

class InstructionFault : public testing::TestWithParam<SpoiledProgram> {};

TEST_P(InstructionFault, IsFound) { ExpectFound(GetParam()); }

// Tiles of ThreeTiles are rows [0, 4), [4, 8) and [8, 10) of y.
const std::vector<SpoiledProgram> kRegions = {
    {"UpperHaloRowMissed", ThreeTiles,
     [](Program& program) { MoveAt(program, kX, 1).box[kRows].begin += 1; }, "overwritten",
     "'x' [0, 0, 2, 0]"},
    {"LowerHaloRowMissed", ThreeTiles,
     [](Program& program) { MoveAt(program, kX, 1).box[kRows].end -= 1; }, "overwritten",
     "'x' [0, 0, 9, 0]"},
    {"HaloColumnMissed", ThreeTiles,
     [](Program& program) { MoveAt(program, kX, 1).box[3].end -= 1; }, "overwritten", "'x'"},
    {"ChannelMissed", ThreeTiles,
     [](Program& program) { MoveAt(program, kX, 0).box[1].begin += 1; }, "overwritten",
     "'x' [0, 0, 0, 0]"},
    {"HaloRowOfTheInnerMapMissed", ThreeTiles,
     [](Program& program) { ComputeAt(program, 0, 1).results[0].box[kRows].begin += 1; },
     "overwritten", "'m' [0, 0, 3, 0]"},
    {"RowsOfTheTileBefore", ThreeTiles,
     [](Program& program) {
       MoveAt(program, kX, 1).box[kRows] = {1, 7};
       MoveAt(program, kX, 1).to.axes[kRows].held = {1, 7};
     },
     "stale", "'x'"},
    {"OneRowTooLow", ThreeTiles,
     [](Program& program) {
       for (Range* rows :
            {&MoveAt(program, kX, 1).box[kRows], &MoveAt(program, kX, 1).to.axes[kRows].held}) {
         rows->begin -= 1;
         rows->end -= 1;
       }
     },
     "stale", "holds 'x' [0, 0, 1, 0]"},
    {"RaggedTileTakenForAFullOne", ThreeTiles,
     [](Program& program) {
       ComputeAt(program, 1, 2).results[0].box[kRows] = {8, 12};
     },
     "outside", "'y' [0, 0, 8, 0]"},
    {"ShareTakenForTheNeed", ThreeTiles,
     [](Program& program) { ComputeAt(program, 1, 0).results[0].box[kRows].end += 1; }, "outside",
     "'y'"},
    {"LastTileStoredAsTheOneBefore", ThreeTiles,
     [](Program& program) {
       MoveAt(program, kY, 2).box[kRows] = {4, 8};
     },
     "incomplete", "'y' [0, 0, 8, 0]"},
    {"StoreOneRowShort", ThreeTiles,
     [](Program& program) { MoveAt(program, kY, 0).box[kRows].end -= 1; }, "incomplete",
     "'y' [0, 0, 3, 0]"},
    {"StoreOneColumnShort", ThreeTiles,
     [](Program& program) { MoveAt(program, kY, 1).box[3].begin += 1; }, "incomplete",
     "'y' [0, 0, 4, 0]"},
    {"StoreOfTheOtherPhase", ThreeTiles,
     [](Program& program) { MoveAt(program, kY, 0).from = MoveAt(program, kY, 1).from; }, "outside",
     "'y'"},
    {"PadsLeftOut", StoredPads,
     [](Program& program) {
       for (AxisPlace& axis : MoveAt(program, kX, 0).to.axes) axis.pad_low = 0;
     },
     "overwritten", "a pad of 'x'"},
    {"PadsOfAResultLeftOut", StoredPads,
     [](Program& program) {
       for (AxisPlace& axis : ComputeAt(program, 0, 1).results[0].place.axes) axis.pad_high = 0;
     },
     "overwritten", "a pad of 'm'"},
    {"PadsBelowAWholeResultLeftOut", WholeWithPads,
     [](Program& program) { ComputeAt(program, 0, 0).results[0].place.axes[kRows].pad_high = 0; },
     "unwritten", "a pad of 'm'"},
    {"PadsOnTheRightOfLaterRowsLeftOut", WholeWithPads,
     [](Program& program) { ComputeAt(program, 0, 2).results[0].place.axes[3].pad_high = 0; },
     "unwritten", "a pad of 'm'"},
};

const std::vector<SpoiledProgram> kPlaces = {
    {"DestinationOneRowOff", ThreeTiles,
     [](Program& program) {
       Move& move = MoveAt(program, kX, 0);
       move.to.base += move.to.axes[kRows].address_step;
     },
     "overwritten", "'x'"},
    {"SourceOneColumnOff", ThreeTiles,
     [](Program& program) {
       Move& move = MoveAt(program, kY, 0);
       move.from.base += move.from.axes[3].address_step;
     },
     "outside", "'y'"},
    {"RowPitchOfTheRaggedTile", ThreeTiles,
     [](Program& program) {
       ComputeAt(program, 0, 2).results[0].place.axes[kRows].address_step -= 4;
     },
     "stale", "'m'"},
    {"OperandReadWithAnotherPitch", ThreeTiles,
     [](Program& program) { ComputeAt(program, 0, 0).operands[0].place.axes[3].address_step = 2; },
     "stale", "'x'"},
    {"OperandOfTheOtherPhase", ThreeTiles,
     [](Program& program) {
       ComputeAt(program, 0, 2).operands[0].place.base =
           ComputeAt(program, 0, 1).operands[0].place.base;
     },
     "outside", "'x'"},
    {"WeightsOfTheOtherOperator", ThreeTiles,
     [](Program& program) {
       ComputeAt(program, 1, 0).operands[1].place = ComputeAt(program, 0, 0).operands[1].place;
       ComputeAt(program, 1, 0).operands[1].place.content = kWb;
     },
     "overwritten", "'wb'"},
    {"TableOneChannelOff", ThreeTiles,
     [](Program& program) { ComputeAt(program, 0, 0).operands[2].place.base -= 2; }, "overwritten",
     "the table of 'wa'"},
    {"SliceInTheOtherSlot", StreamedDoubleBuffered,
     [](Program& program) {
       ComputeAt(program, 0, 1).operands[1].place.base =
           ComputeAt(program, 0, 0).operands[1].place.base;
     },
     "outside", "'wa'"},
    {"SliceOfTheWrongChannels", StreamedSerialized,
     [](Program& program) {
       for (const size_t part : {0, 1}) {
         auto& moves = std::get<StartTransfer>(program.at(TransferAt(program, kWa, 1))).moves;
         moves[part].box =
             std::get<StartTransfer>(program.at(TransferAt(program, kWa, 0))).moves[part].box;
         for (size_t axis = 0; axis < moves[part].box.size(); ++axis)
           moves[part].to.axes[axis].held = moves[part].box[axis];
       }
     },
     "stale", "'wa' [2, 0, 0, 0]"},
    {"SliceForgetsItsTable", StreamedSerialized,
     [](Program& program) {
       std::get<StartTransfer>(program.at(TransferAt(program, kWa, 1))).moves.pop_back();
     },
     "stale", "the table of 'wa'"},
    {"RoundMakesTheChannelsOfAnother", StreamedSerialized,
     [](Program& program) {
       ComputeAt(program, 0, 1).results[0].box[1] = {0, 2};
     },
     "outside", "'wa'"},
    {"ResultOverItsOperandInOneTile", ThreeTiles,
     [](Program& program) {
       Place& result = ComputeAt(program, 0, 1).results[0].place;
       const Place& operand = ComputeAt(program, 0, 1).operands[0].place;
       result.base = operand.base;
       result.cells = operand.cells;
       result.buffer = operand.buffer;
     },
     "in place", "'x'"},
};

const std::vector<SpoiledProgram> kOrders = {
    {"TransferForgotten", ThreeTiles,
     [](Program& program) { Remove(program, TransferAt(program, kX, 1)); }, "unwritten", "'x'"},
    {"TransferOfTheLastTileForgotten", ThreeTiles,
     [](Program& program) { Remove(program, TransferAt(program, kY, 2)); }, "incomplete",
     "'y' [0, 0, 8, 0]"},
    {"TransferNeverAwaited", ThreeTiles,
     [](Program& program) { Remove(program, FinishOf(program, TransferAt(program, kX, 1))); },
     "arriving", "'x'"},
    {"TransferAwaitedOneOperatorLate", ThreeTiles,
     [](Program& program) {
       MoveBefore(program, FinishOf(program, TransferAt(program, kX, 1)),
                  ComputeIndex(program, 0, 1) + 1);
     },
     "arriving", "'x'"},
    {"LoadWhileTheTileBeforeIsRead", ThreeTiles,
     [](Program& program) {
       MoveBefore(program, TransferAt(program, kX, 2), ComputeIndex(program, 0, 0));
     },
     "arriving", "'x'"},
    {"StoreBeforeItsOperator", ThreeTiles,
     [](Program& program) {
       MoveBefore(program, TransferAt(program, kY, 1), ComputeIndex(program, 1, 1));
     },
     "unwritten", "'y'"},
    {"StoreStillUnderWayWhenTheNextResultComes", ThreeTiles,
     [](Program& program) {
       MoveBefore(program, FinishOf(program, TransferAt(program, kY, 0)),
                  ComputeIndex(program, 1, 2) + 1);
     },
     "moving", "'y'"},
    {"OperatorForgottenInOneTile", ThreeTiles,
     [](Program& program) { Remove(program, ComputeIndex(program, 0, 1)); }, "unwritten", "'m'"},
    {"OperatorsOfOneTileExchanged", ThreeTiles,
     [](Program& program) {
       MoveBefore(program, ComputeIndex(program, 1, 1), ComputeIndex(program, 0, 1));
     },
     "unwritten", "'m'"},
    {"OperatorOfTheTileBeforeRunAgain", ThreeTiles,
     [](Program& program) { program[ComputeIndex(program, 0, 2)] = ComputeAt(program, 0, 0); },
     "stale", "'x'"},
    {"SliceLoadedBeforeTheOneBeforeIsUsed", StreamedSerialized,
     [](Program& program) {
       const size_t start = TransferAt(program, kWa, 1);
       MoveBefore(program, FinishOf(program, start), ComputeIndex(program, 0, 0));
       MoveBefore(program, TransferAt(program, kWa, 1), ComputeIndex(program, 0, 0) - 1);
     },
     "stale", "'wa' [0, 0, 0, 0]"},
    {"NothingProvided", ThreeTiles,
     [](Program& program) {
       std::erase_if(program,
                     [](const Instruction& i) { return std::holds_alternative<Provide>(i); });
     },
     "unwritten", "'x' [0, 0, 0, 0] was never written in its home"},
    {"BoundaryStoredAfterItIsLoaded", TwoSubgraphs,
     [](Program& program) {
       const size_t load = TransferAt(program, kM, 2);
       MoveBefore(program, TransferAt(program, kM, 1), load);
     },
     "arriving", "reads 'm' [0, 0, 5, 0]"},
    {"ModeOfAnotherStep", BankedPlan,
     [](Program& program) {
       for (Instruction& instruction : program) {
         auto* enter = std::get_if<EnterStep>(&instruction);
         if (enter != nullptr && enter->step == 2) enter->mode = 1;
       }
     },
     "forbidden", "step 2"},
    {"BufferForgottenInTheMiddle", ThreeTiles,
     [](Program& program) {
       const problem::AddressRange cells = ComputeAt(program, 1, 1).operands[0].place.cells;
       const size_t at = ComputeIndex(program, 1, 1);
       program.insert(program.begin() + static_cast<std::ptrdiff_t>(at), Forget{{cells}});
     },
     "lost", "'m'"},
};

INSTANTIATE_TEST_SUITE_P(Regions, InstructionFault, testing::ValuesIn(kRegions),
                         NameOfFault<SpoiledProgram>);
INSTANTIATE_TEST_SUITE_P(Places, InstructionFault, testing::ValuesIn(kPlaces),
                         NameOfFault<SpoiledProgram>);
INSTANTIATE_TEST_SUITE_P(Orders, InstructionFault, testing::ValuesIn(kOrders),
                         NameOfFault<SpoiledProgram>);

}  // namespace
}  // namespace tessera::plan::execute
