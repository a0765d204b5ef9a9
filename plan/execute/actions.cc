#include "tessera/plan/execute/actions.h"

#include <algorithm>
#include <utility>

#include "tessera/base/checked.h"
#include "tessera/plan/execute/reads.h"

// How a tensor is held is read off the plan's buffers: a tile buffer, a resident one, slots, a whole one; none: the engine goes to
// its home. Nothing here decides whether that is wise: where a buffer is missing the engine goes home, and the machine finds that
// it must not, or that nobody wrote there.
namespace tessera::plan::execute {

using problem::AccessKind;

Actions::Actions(const Plan& plan, const Contents& contents, const std::vector<Users>& users, Places& places,
                 int subgraph)
    : plan_(plan),
      contents_(contents),
      users_(users),
      places_(places),
      subgraph_(subgraph),
      tiles_(plan.network, users, plan.subgraphs[static_cast<size_t>(subgraph)]) {
  places_.EnterSubgraph(subgraph, tiles_.LargestExtents());
}

bool Actions::ComesIn(int tensor) const {
  return places_.IsHeldInTiles(tensor) && !users_[static_cast<size_t>(tensor)].MadeIn(Of().interval);
}

bool Actions::GoesOut(int tensor) const {
  return places_.IsHeldInTiles(tensor) && users_[static_cast<size_t>(tensor)].MadeIn(Of().interval);
}

bool Actions::IsStreamed(int op, int tensor) const {
  const std::vector<int>& weights = At(op).weights;
  return std::find(weights.begin(), weights.end(), tensor) != weights.end() &&
         places_.IsStreamed(op, tensor) && FilterAxesOf(plan_.network, At(op), 0).has_value();
}

int64_t Actions::RoundsOf(int op) const {
  int64_t rounds = 1;
  for (const int constant : At(op).weights) {
    if (!IsStreamed(op, constant)) continue;
    const Slice slice = SliceOf(op, constant, 0);
    rounds = std::max(rounds, base::CeilDiv(TensorAt(constant).shape[slice.axis], slice.granule));
  }
  return rounds;
}

Slice Actions::SliceOf(int op, int constant, int64_t round) const {
  const size_t axis = FilterAxesOf(plan_.network, At(op), 0)->constant;
  const int64_t channels = TensorAt(constant).shape[axis];
  const int64_t granule = std::min(channels, plan_.profile.tiling.weight_granule_channels);
  return {axis, {std::min(round * granule, channels), std::min((round + 1) * granule, channels)}, granule};
}

const TileBoxes& Actions::BoxesOf(int64_t tile) {
  while (!boxes_.empty() && boxes_.begin()->first < tile - 2) boxes_.erase(boxes_.begin());
  const auto found = boxes_.find(tile);
  return found != boxes_.end() ? found->second : boxes_.emplace(tile, tiles_.At(tile)).first->second;
}

std::string Actions::LinkOf(int tensor) const {
  const int home = hw_profiles::LayoutOf(plan_.profile, places_.RoleOf(tensor)).home;
  const hw_profiles::Link* link = hw_profiles::LinkBetween(plan_.profile, home, plan_.profile.tile_memory);
  return link == nullptr ? "no link" : link->name;
}

StartTransfer Actions::Start(int tensor, std::vector<Move> moves) {
  return {transfers_++, LinkOf(tensor), std::move(moves)};
}

StartTransfer Actions::LoadTile(int tensor, int64_t tile, int parity, Span span) {
  const Box& box = BoxesOf(tile).held.at(tensor);
  const Place from = places_.AtHome(tensor, {Intent::By::kLink, AccessKind::kRead, span.first, span.last});
  const Place to =
      places_.OfTile(tensor, parity, box, {Intent::By::kLink, AccessKind::kWrite, span.first, span.last});
  return Start(tensor, {{box, from, to, to.where == Where::kTileMemory}});
}

StartTransfer Actions::StoreTile(int tensor, int64_t tile, int parity, Span span) {
  const TileBoxes& boxes = BoxesOf(tile);
  const auto share = boxes.leaves.find(tensor);
  const Box& held = boxes.held.at(tensor);
  const Place from =
      places_.OfTile(tensor, parity, held, {Intent::By::kLink, AccessKind::kRead, span.first, span.last});
  const Place to = places_.AtHome(tensor, {Intent::By::kLink, AccessKind::kWrite, span.first, span.last});
  return Start(tensor, {{share == boxes.leaves.end() ? held : share->second, from, to, false}});
}

StartTransfer Actions::LoadResident(int constant, Span span) {
  const Intent reads = {Intent::By::kLink, AccessKind::kRead, span.first, span.last};
  const Intent writes = {Intent::By::kLink, AccessKind::kWrite, span.first, span.last};
  std::vector<Move> moves = {{WholeBox(TensorAt(constant).shape), places_.AtHome(constant, reads),
                              places_.OfResident(constant, writes, false), false}};
  if (places_.HasTable(constant)) {
    const int table = contents_.TablesOf(constant);
    moves.push_back({WholeBox(contents_.ShapeOf(table)), places_.AtHome(table, reads),
                     places_.OfResident(constant, writes, true), false});
  }
  return Start(constant, std::move(moves));
}

StartTransfer Actions::LoadSlice(int op, int constant, int64_t round, int parity, int slot, Span span) {
  const Intent reads = {Intent::By::kLink, AccessKind::kRead, span.first, span.last};
  const Intent writes = {Intent::By::kLink, AccessKind::kWrite, span.first, span.last};
  const Slice slice = SliceOf(op, constant, round);
  std::vector<Move> moves;
  for (const bool table : {false, true}) {
    if (table && !places_.HasTable(constant)) continue;
    const int content = table ? contents_.TablesOf(constant) : constant;
    const Place to = places_.OfSlice(op, constant, parity, slot, slice, writes, table);
    Box box;
    for (const AxisPlace& axis : to.axes) box.push_back(axis.held);
    moves.push_back({box, places_.AtHome(content, reads), to, false});
  }
  return Start(constant, std::move(moves));
}

Compute Actions::Run(int op, int64_t tile, int parity, int64_t round, int slot, int64_t step) {
  const graph::Operator& facts = At(op);
  const int typical = facts.inputs.empty() ? facts.outputs.front() : facts.inputs.front();
  const hw_profiles::Engine* engine =
      hw_profiles::EngineFor(plan_.profile, facts.kind, TensorAt(typical).type);
  const auto& in_place = plan_.profile.tiling.in_place;
  const bool named = std::find(in_place.begin(), in_place.end(), facts.kind) != in_place.end();
  const Intent reads = {Intent::By::kEngine, AccessKind::kRead, step, step};
  const Intent writes = {Intent::By::kEngine, AccessKind::kWrite, step, step};
  Compute compute;
  compute.op = op;
  compute.engine = engine == nullptr ? "" : engine->name;
  const TileBoxes& boxes = BoxesOf(tile);
  for (size_t i = 0; i < facts.inputs.size(); ++i) {
    const int tensor = facts.inputs[i];
    const bool described = std::count(facts.in_place.begin(), facts.in_place.end(), static_cast<int>(i)) > 0;
    compute.operands.push_back({Operand::Kind::kInput, i,
                                places_.OfTile(tensor, parity, boxes.held.at(tensor), reads),
                                named || described});
  }
  for (size_t i = 0; i < facts.weights.size(); ++i) AddConstant(op, i, round, parity, slot, reads, compute);
  for (const int tensor : facts.outputs) {
    Result result{boxes.held.at(tensor), places_.OfTile(tensor, parity, boxes.held.at(tensor), writes),
                  false};
    result.fills = result.place.where == Where::kTileMemory && !places_.IsWhole(tensor) && round == 0;
    if (RoundsOf(op) > 1) {
      const FilterAxes axes = *FilterAxesOf(plan_.network, facts, 0);
      const Range channels = SliceOf(op, facts.weights.front(), round).channels;
      Range& made = result.box[axes.output];
      made = {std::max(made.begin, channels.begin), std::min(made.end, channels.end)};
    }
    compute.results.push_back(std::move(result));
  }
  compute.scratch = places_.OfScratch(op, parity, writes);
  return compute;
}

void Actions::AddConstant(int op, size_t position, int64_t round, int parity, int slot, const Intent& intent,
                          Compute& compute) const {
  const int constant = At(op).weights[position];
  for (const bool table : {false, true}) {
    if (table && (position > 0 || !places_.HasTable(constant))) continue;
    const Operand::Kind kind = table ? Operand::Kind::kTable : Operand::Kind::kConstant;
    const Place place =
        IsStreamed(op, constant)
            ? places_.OfSlice(op, constant, parity, slot, SliceOf(op, constant, round), intent, table)
        : places_.IsResident(constant) ? places_.OfResident(constant, intent, table)
                                       : places_.OfConstantWhole(constant, intent, table);
    compute.operands.push_back({kind, position, place, false});
  }
}

}  // namespace tessera::plan::execute
