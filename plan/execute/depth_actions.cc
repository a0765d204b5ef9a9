#include <algorithm>
#include <utility>

#include "tessera/plan/execute/actions.h"
#include "tessera/plan/execute/reads.h"

// An operator that adds up in K slices takes its operands slice by slice, round by round:
//
//     round 0       slices 0 of the operands                      ->  sums over slice 0
//     round r       slices r, sums over slices 0 to r - 1         ->  sums over slices 0 to r
//     last round    last slices, sums over all before, the table  ->  the result
//
// Sums over different slices are different contents, so that a round that is left out, or done
// twice, is found by the next.
namespace tessera::plan::execute {

using problem::AccessKind;

bool Actions::IsSplitK(int op) const {
  return Of().weights == hw_profiles::WeightPolicy::kSplitK && !At(op).inputs.empty() &&
         KAxisOfInput(plan_.network, At(op), 0).has_value();
}

std::optional<size_t> Actions::KAxisOf(int op, int tensor) const {
  const std::vector<int>& inputs = At(op).inputs;
  const std::vector<int>& weights = At(op).weights;
  const auto input = std::find(inputs.begin(), inputs.end(), tensor);
  if (input != inputs.end())
    return KAxisOfInput(plan_.network, At(op), static_cast<size_t>(input - inputs.begin()));
  if (!weights.empty() && weights.front() == tensor)
    return KAxisOfConstant(plan_.network, At(op), 0);
  return std::nullopt;
}

int64_t Actions::DepthOf(int op) const {
  const int first = At(op).inputs.front();
  return TensorAt(first).shape[*KAxisOfInput(plan_.network, At(op), 0)];
}

Slice Actions::KSliceOf(int op, int tensor, int64_t round) const {
  const int64_t granularity = KGranularity();
  const int64_t k_extent = DepthOf(op);
  return {KAxisOf(op, tensor).value_or(0),
          {std::min(round * granularity, k_extent), std::min((round + 1) * granularity, k_extent)},
          granularity};
}

// The output channels that the tile makes.
Range Actions::ChannelsOf(int op, int64_t tile) {
  const Box& made = BoxesOf(tile).parts.at(At(op).outputs.front()).made;
  return made[FilterAxesOf(plan_.network, At(op), 0)->output];
}

Box Actions::KSliceBoxOf(int op, int tensor, const RunIndex& turn) {
  const Slice slice = KSliceOf(op, tensor, turn.round);
  Box box;
  if (IsConstant(tensor)) {
    box = WholeOf(TensorAt(tensor).shape);
    box[FilterAxesOf(plan_.network, At(op), 0)->constant] = ChannelsOf(op, turn.tile);
  } else {
    box = BoxesOf(turn.tile).parts.at(tensor).held;
    if (IsEmpty(box)) return box;
  }
  box[slice.axis] = slice.indices;
  return box;
}

Place Actions::KSlicePlaceOf(int op, int tensor, const RunIndex& turn, const Intent& intent) {
  return places_.OfKSlice(op, tensor, turn, KSliceOf(op, tensor, turn.round),
                          KSliceBoxOf(op, tensor, turn), intent);
}

StartTransfer Actions::LoadKSlice(int op, int tensor, const RunIndex& turn, const Steps& steps) {
  const Intent reads = {Intent::By::kLink, AccessKind::kRead, steps};
  const Intent writes = {Intent::By::kLink, AccessKind::kWrite, steps};
  const int64_t rounds = RoundsOf(op);
  std::vector<Move> moves = {{KSliceBoxOf(op, tensor, turn), places_.AtHome(tensor, reads),
                              KSlicePlaceOf(op, tensor, turn, writes), false}};
  if (IsConstant(tensor) && places_.HasTable(tensor) && turn.round + 1 == rounds) {
    const Place to = places_.OfSplitKTable(op, tensor, turn, KSliceOf(op, tensor, turn.round),
                                           ChannelsOf(op, turn.tile), writes);
    moves.push_back(
        {{to.axes.front().held}, places_.AtHome(contents_.TablesOf(tensor), reads), to, false});
  }
  StartTransfer load = Start(tensor, std::move(moves), turn);
  load.op = op;
  load.turn.rounds = rounds;
  return load;
}

void Actions::AddSplitKConstant(int op, size_t position, const Intent& intent, Compute& compute) {
  const int constant = At(op).weights[position];
  compute.operands.push_back(
      {Operand::Kind::kConstant, position, KSlicePlaceOf(op, constant, compute.turn, intent)});
  if (!places_.HasTable(constant) || compute.turn.round + 1 < compute.turn.rounds) return;
  compute.operands.push_back(
      {Operand::Kind::kTable, position,
       places_.OfSplitKTable(op, constant, compute.turn, KSliceOf(op, constant, compute.turn.round),
                             ChannelsOf(op, compute.turn.tile), intent)});
}

// The result is there after the last round; until then it is sums.
void Actions::AddUp(int op, int64_t step, Compute& compute) const {
  const RunIndex& turn = compute.turn;
  const Intent reads = {Intent::By::kEngine, AccessKind::kRead, {step}};
  const Intent writes = {Intent::By::kEngine, AccessKind::kWrite, {step}};
  compute.k_extent = KSliceOf(op, At(op).inputs.front(), turn.round).indices;
  Result& result = compute.results.front();
  if (turn.round > 0)
    compute.operands.push_back(
        {Operand::Kind::kPartialSums, 0, places_.OfPartialSums(op, turn.phase, result.box, reads)});
  if (turn.round + 1 == turn.rounds) {
    result.fills = BeginsAnew(result, {result.box, result.box, 0});
  } else {
    result.place = places_.OfPartialSums(op, turn.phase, result.box, writes);
    result.fills = turn.round == 0;
    std::erase_if(compute.operands,
                  [](const Operand& operand) { return operand.kind == Operand::Kind::kTable; });
  }
}

}  // namespace tessera::plan::execute
