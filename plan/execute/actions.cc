#include "tessera/plan/execute/actions.h"

#include <algorithm>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/execute/reads.h"

// How a tensor is held is read off the plan's buffers: a tile buffer, a resident one, slots, a
// whole one; none: the engine goes to its home. Nothing here decides whether that is wise: where a
// buffer is missing the engine goes home, and the execution finds that it must not, or that nothing
// was written there.
namespace tessera::plan::execute {

using problem::AccessKind;

Actions::Actions(const Plan& plan, const Contents& contents, const std::vector<Users>& users,
                 Places& places, int subgraph)
    : plan_(plan),
      contents_(contents),
      users_(users),
      places_(places),
      subgraph_(subgraph),
      tiles_(plan.network, users, plan.subgraphs[static_cast<size_t>(subgraph)]) {
  places_.EnterSubgraph(subgraph, tiles_.Largest());
}

bool Actions::IsInput(int tensor) const {
  for (int op = Of().interval.first; op <= Of().interval.last; ++op) {
    const std::vector<int>& inputs = At(op).inputs;
    if (std::find(inputs.begin(), inputs.end(), tensor) != inputs.end()) return true;
  }
  return false;
}

bool Actions::ComesIn(int tensor) const {
  return places_.IsHeldInTiles(tensor) &&
         !users_[static_cast<size_t>(tensor)].MadeIn(Of().interval) && IsInput(tensor);
}

bool Actions::GoesOut(int tensor) const {
  return places_.IsHeldInTiles(tensor) && users_[static_cast<size_t>(tensor)].MadeIn(Of().interval);
}

bool Actions::IsStreamed(int op, int tensor) const {
  if (IsSplitK(op)) return places_.IsStreamed(op, tensor) && KAxisOf(op, tensor).has_value();
  const std::vector<int>& weights = At(op).weights;
  return std::find(weights.begin(), weights.end(), tensor) != weights.end() &&
         places_.IsStreamed(op, tensor) && FilterAxesOf(plan_.network, At(op), 0).has_value();
}

int64_t Actions::RoundsOf(int op) const {
  if (IsSplitK(op)) return base::CeilDiv(DepthOf(op), KGranularity());
  int64_t rounds = 1;
  for (const int constant : At(op).weights) {
    if (!IsStreamed(op, constant)) continue;
    const Slice slice = SliceOf(op, constant, 0);
    rounds =
        std::max(rounds, base::CeilDiv(TensorAt(constant).shape[slice.axis], slice.granularity));
  }
  return rounds;
}

Slice Actions::SliceOf(int op, int constant, int64_t round) const {
  const size_t axis = FilterAxesOf(plan_.network, At(op), 0)->constant;
  const int64_t channels = TensorAt(constant).shape[axis];
  const int64_t granularity = std::min(channels, plan_.profile.tiling.weight_granularity_channels);
  return {axis,
          {std::min(round * granularity, channels), std::min((round + 1) * granularity, channels)},
          granularity};
}

const TileBoxes& Actions::BoxesOf(int64_t tile) {
  while (!boxes_.empty() && boxes_.begin()->first < tile - 2) boxes_.erase(boxes_.begin());
  const auto found = boxes_.find(tile);
  return found != boxes_.end() ? found->second
                               : boxes_.emplace(tile, tiles_.At(tile)).first->second;
}

std::string Actions::LinkOf(int tensor) const {
  const int home = places_.HomeOf(tensor);
  const hw_profiles::Link* link =
      hw_profiles::LinkBetween(plan_.profile, home, plan_.profile.tile_memory);
  return link == nullptr ? "no link" : link->name;
}

StartTransfer Actions::Start(int tensor, std::vector<Move> moves, const RunIndex& turn) {
  return {transfers_++, LinkOf(tensor), std::move(moves), tensor, -1, false, turn};
}

StartTransfer Actions::LoadTile(int tensor, int64_t tile, int phase, const Steps& steps) {
  const TilePart& part = BoxesOf(tile).parts.at(tensor);
  const Place from = places_.AtHome(tensor, {Intent::By::kLink, AccessKind::kRead, steps});
  const Place to =
      places_.OfTile(tensor, phase, part, {Intent::By::kLink, AccessKind::kWrite, steps});
  return Start(
      tensor,
      {{part.made, from, to, to.where == Where::kTileMemory && !places_.IsRollingBuffer(tensor)}},
      {tile, phase, 0, 1, 0});
}

StartTransfer Actions::StoreTile(int tensor, int64_t tile, int phase, const Steps& steps) {
  const TileBoxes& boxes = BoxesOf(tile);
  const auto share = boxes.leaves.find(tensor);
  const TilePart& part = boxes.parts.at(tensor);
  const Place from =
      places_.OfTile(tensor, phase, part, {Intent::By::kLink, AccessKind::kRead, steps});
  const Place to = places_.AtHome(tensor, {Intent::By::kLink, AccessKind::kWrite, steps});
  StartTransfer store =
      Start(tensor, {{share == boxes.leaves.end() ? part.made : share->second, from, to, false}},
            {tile, phase, 0, 1, 0});
  store.out = true;
  return store;
}

StartTransfer Actions::LoadResident(int constant, const Steps& steps) {
  const Intent writes = {Intent::By::kLink, AccessKind::kWrite, steps};
  return LoadConstant(constant, Of().interval, {}, steps,
                      [&](bool table) { return places_.OfResident(constant, writes, table); });
}

StartTransfer Actions::Prefetch(int constant, int64_t tile, int phase, const Steps& steps) {
  const Intent writes = {Intent::By::kLink, AccessKind::kWrite, steps};
  const graph::Interval next = plan_.subgraphs[static_cast<size_t>(subgraph_) + 1].interval;
  return LoadConstant(constant, next, {tile, phase}, steps,
                      [&](bool table) { return places_.OfPrefetched(constant, writes, table); });
}

// It and, if it has one for these operators, its table, each to its place.
StartTransfer Actions::LoadConstant(int constant, graph::Interval users, const RunIndex& turn,
                                    const Steps& steps,
                                    const std::function<Place(bool table)>& place) {
  const Intent reads = {Intent::By::kLink, AccessKind::kRead, steps};
  std::vector<Move> moves;
  for (const bool table : {false, true}) {
    const int64_t table_bytes = table ? places_.TableBytesIn(constant, users) : 0;
    if (table && table_bytes == 0) continue;
    const int content = table ? contents_.TablesOf(constant) : constant;
    const Box box = table ? Box{{0, table_bytes}} : WholeOf(contents_.ShapeOf(constant));
    moves.push_back({box, places_.AtHome(content, reads), place(table), false});
  }
  return Start(constant, std::move(moves), turn);
}

StartTransfer Actions::LoadSlice(int op, int constant, const RunIndex& turn, const Steps& steps) {
  if (IsSplitK(op)) return LoadKSlice(op, constant, turn, steps);
  const Intent reads = {Intent::By::kLink, AccessKind::kRead, steps};
  const Intent writes = {Intent::By::kLink, AccessKind::kWrite, steps};
  const Slice slice = SliceOf(op, constant, turn.round);
  std::vector<Move> moves;
  for (const bool table : {false, true}) {
    if (table && (At(op).weights.front() != constant || contents_.TableBytes(At(op)) == 0))
      continue;
    const int content = table ? contents_.TablesOf(constant) : constant;
    const Place to = places_.OfSlice(op, constant, turn.phase, turn.slot, slice, writes, table);
    Box box;
    for (const AxisPlace& axis : to.axes) box.push_back(axis.held);
    moves.push_back({box, places_.AtHome(content, reads), to, false});
  }
  StartTransfer load = Start(constant, std::move(moves), turn);
  load.op = op;
  load.turn.rounds = RoundsOf(op);
  return load;
}

Compute Actions::Run(int op, const RunIndex& turn, int64_t step) {
  const graph::Operator& facts = At(op);
  const auto& in_place = plan_.profile.tiling.in_place;
  const bool named = std::find(in_place.begin(), in_place.end(), facts.kind) != in_place.end();
  const Intent reads = {Intent::By::kEngine, AccessKind::kRead, {step}};
  const Intent writes = {Intent::By::kEngine, AccessKind::kWrite, {step}};
  Compute compute;
  compute.op = op;
  compute.engine = EngineOf(op);
  compute.turn = turn;
  compute.turn.rounds = RoundsOf(op);
  const TileBoxes& boxes = BoxesOf(turn.tile);
  for (size_t i = 0; i < facts.inputs.size(); ++i) {
    const int tensor = facts.inputs[i];
    const Place place = IsSplitK(op) && IsStreamed(op, tensor)
                            ? KSlicePlaceOf(op, tensor, turn, reads)
                            : places_.OfTile(tensor, turn.phase, boxes.parts.at(tensor), reads);
    compute.operands.push_back({Operand::Kind::kInput, i, place});
  }
  for (size_t i = 0; i < facts.weights.size(); ++i) AddConstant(op, i, reads, compute);
  for (const int tensor : facts.outputs) {
    const TilePart& part = boxes.parts.at(tensor);
    Result result{part.made, places_.OfTile(tensor, turn.phase, part, writes), false};
    result.fills = turn.round == 0 && BeginsAnew(result, part);
    if (compute.turn.rounds > 1 && !IsSplitK(op)) {
      const FilterAxes axes = *FilterAxesOf(plan_.network, facts, 0);
      const Range channels = SliceOf(op, facts.weights.front(), turn.round).indices;
      Range& made = result.box[axes.output];
      made = {std::max(made.begin, channels.begin), std::min(made.end, channels.end)};
    }
    compute.results.push_back(std::move(result));
  }
  compute.scratch = places_.OfScratch(op, turn.phase, writes);
  if (IsSplitK(op)) AddUp(op, step, compute);
  for (Result& result : compute.results) LeavePadsThatAreThere(result);
  if (named && WorksByChannel(compute)) compute.results.front().fills = false;
  return compute;
}

// Pads of a whole buffer are written once: by the first part of these rows, of these columns.
void Actions::LeavePadsThatAreThere(Result& result) {
  Place& place = result.place;
  for (size_t axis = 0; place.bordered && axis < place.axes.size(); ++axis) {
    std::vector<int64_t> pads_of = {place.content, static_cast<int64_t>(axis)};
    for (size_t other = 0; other < result.box.size(); ++other) {
      if (other == axis) continue;
      pads_of.insert(pads_of.end(), {result.box[other].begin, result.box[other].end});
    }
    AxisPlace& at = place.axes[axis];
    if (at.pad_low + at.pad_high == 0) continue;
    if (IsEmpty(result.box) || !bordered_.insert(std::move(pads_of)).second)
      at.pad_low = at.pad_high = 0;
  }
}

// Whether the engine has to go channel by channel, as a depthwise result lies in the place of its
// operand.
bool Actions::WorksByChannel(const Compute& compute) const {
  const graph::Operator& facts = At(compute.op);
  if (!MapsChannels(plan_.network, facts)) return false;
  const Place& x = compute.operands.front().place;
  const Place& y = compute.results.front().place;
  return x.where == Where::kTileMemory && y.where == Where::kTileMemory &&
         x.cells.begin < y.cells.end && y.cells.begin < x.cells.end;
}

std::string Actions::EngineOf(int op) const {
  const graph::Operator& facts = At(op);
  const int typical = facts.inputs.empty() ? facts.outputs.front() : facts.inputs.front();
  const hw_profiles::Engine* engine =
      hw_profiles::EngineFor(plan_.profile, facts.kind, TensorAt(typical).type);
  return engine == nullptr ? "" : engine->name;
}

// Whether a tile's rows have come back from a line before they are joined by those that its maker
// makes.
bool Actions::IsRestored(int tensor, const TilePart& part) const {
  return places_.HasLine(tensor) && !IsEmpty(KeptOf(part));
}

bool Actions::BeginsAnew(const Result& result, const TilePart& part) const {
  const int tensor = result.place.content;
  const bool in_tile = result.place.where == Where::kTileMemory && !places_.IsWhole(tensor);
  return in_tile && !places_.IsRollingBuffer(tensor) && !IsRestored(tensor, part);
}

// Tensors with a line or a halo that the operator is the first to touch, or the last.
std::vector<int> Actions::CopiedBy(int op, bool first) const {
  std::vector<int> tensors;
  for (const auto* list : {&At(op).inputs, &At(op).outputs}) {
    for (const int tensor : *list) {
      if (!places_.HasLine(tensor) && (first || !places_.HasHalo(tensor))) continue;
      const Users& users = users_[static_cast<size_t>(tensor)];
      std::vector<int> touching;
      if (users.MadeIn(Of().interval)) touching.push_back(users.maker);
      for (const int reader : users.readers) {
        if (Of().interval.first <= reader && reader <= Of().interval.last)
          touching.push_back(reader);
      }
      const bool at_edge = op == (first ? touching.front() : touching.back());
      if (at_edge && std::find(tensors.begin(), tensors.end(), tensor) == tensors.end())
        tensors.push_back(tensor);
    }
  }
  return tensors;
}

Copy Actions::Restore(int op, int64_t tile, int phase, int64_t step) {
  const Intent reads = {Intent::By::kEngine, AccessKind::kRead, {step}};
  const Intent writes = {Intent::By::kEngine, AccessKind::kWrite, {step}};
  Copy copy{op, EngineOf(op), {}, true, {tile, phase, 0, 1, 0}};
  for (const int tensor : CopiedBy(op, /*first=*/true)) {
    const TilePart& part = BoxesOf(tile).parts.at(tensor);
    const Box kept = KeptOf(part);
    if (IsEmpty(kept)) continue;
    Place to = places_.OfTile(tensor, phase, part, writes);
    to.axes[*RowAxisOf(kept.size())].pad_high =
        0;  // the tile that makes the rows below writes them
    copy.moves.push_back({kept, places_.OfKept(tensor, phase, part, reads), to, !ComesIn(tensor)});
  }
  return copy;
}

Copy Actions::Save(int op, int64_t tile, int phase, int next_phase, int64_t step) {
  const Intent reads = {Intent::By::kEngine, AccessKind::kRead, {step}};
  const Intent writes = {Intent::By::kEngine, AccessKind::kWrite, {step}};
  Copy copy{op, EngineOf(op), {}, false, {tile, phase, 0, 1, 0}};
  if (tile + 1 == tiles_.Count()) return copy;
  for (const int tensor : CopiedBy(op, /*first=*/false)) {
    const TilePart& next = BoxesOf(tile + 1).parts.at(tensor);
    const Box kept = KeptOf(next);
    if (IsEmpty(kept)) continue;
    copy.moves.push_back({kept,
                          places_.OfTile(tensor, phase, BoxesOf(tile).parts.at(tensor), reads),
                          places_.OfKept(tensor, next_phase, next, writes), false});
  }
  return copy;
}

void Actions::AddConstant(int op, size_t position, const Intent& intent, Compute& compute) {
  const RunIndex& turn = compute.turn;
  const int constant = At(op).weights[position];
  if (IsSplitK(op) && IsStreamed(op, constant))
    return AddSplitKConstant(op, position, intent, compute);
  for (const bool table : {false, true}) {
    if (table && (position > 0 || contents_.TableBytes(At(op)) == 0)) continue;
    const Operand::Kind kind = table ? Operand::Kind::kTable : Operand::Kind::kConstant;
    const Place place =
        IsStreamed(op, constant)       ? places_.OfSlice(op, constant, turn.phase, turn.slot,
                                                         SliceOf(op, constant, turn.round), intent, table)
        : places_.IsResident(constant) ? places_.OfResident(constant, intent, table)
                                       : places_.OfConstantWhole(constant, intent, table);
    compute.operands.push_back({kind, position, place});
  }
}

}  // namespace tessera::plan::execute
