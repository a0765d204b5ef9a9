// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/execute/actions.h"

#include <algorithm>
#include <utility>

#include "tessera/plan/execute/reads.h"

// An operator that adds up in K slices reads its operands slice by slice, one slice in each round:
//
//     round 0       slices 0 of the operands                      ->  sums over slice 0
//     round r       slices r, sums over slices 0 to r - 1         ->  sums over slices 0 to r
//     last round    last slices, sums over all before, the table  ->  the result
//
// Sums over different slices are different contents, so the next round detects a round that is left
// out or done twice. Operators that stream channels make the channels of one slice in each round.
namespace tessera::plan::execute {

using problem::AccessKind;
using By = Intent::By;

Actions::Actions(const Plan& plan, const Contents& contents,
                 const std::vector<verify::Users>& users, const verify::SubgraphResidency& here,
                 std::span<const verify::SubgraphResidency> carried, Places& places)
    : plan_(plan),
      contents_(contents),
      here_(here),
      carried_(carried),
      places_(places),
      tiles_(plan.network, users, here.Current()) {
  for (int64_t tile = 0; tile < tiles_.Count(); ++tile) largest_.Add(tiles_.At(tile));
  places_.EnterSubgraph(here, largest_);
}

const verify::Tile& Actions::TileAt(int64_t tile) {
  while (!recent_.empty() && recent_.begin()->first < tile - 2) recent_.erase(recent_.begin());
  const auto known = recent_.find(tile);
  return known != recent_.end() ? known->second
                                : recent_.emplace(tile, tiles_.At(tile)).first->second;
}

// The part that the tile makes: the lower rows of the part that it holds. An empty part lies at the
// end of these rows.
Box Actions::MadeIn(int64_t tile, int tensor) {
  Box made = MadeOf(TileAt(tile), tensor);
  const Box held = HeldOf(TileAt(tile), tensor);
  if (!IsEmpty(made) || IsEmpty(held)) return made;
  made = held;
  Range& rows = made[*RowAxisOf(made.size())];
  rows.begin = rows.end;
  return made;
}

std::string Actions::LinkOf(int tensor) const {
  const hw_profiles::Link* link =
      hw_profiles::LinkBetween(plan_.profile, places_.HomeOf(tensor), plan_.profile.tile_memory);
  return link == nullptr ? "no link" : link->name;
}

StartTransfer Actions::Start(const verify::Transfer& transfer, int64_t number) {
  return {.number = number,
          .link = LinkOf(transfer.tensor),
          .moves = MovesOf(transfer),
          .tensor = transfer.tensor,
          .op = transfer.op,
          .out = transfer.kind == verify::Transfer::Kind::kStore,
          .gives_way = transfer.kind == verify::Transfer::Kind::kPrefetch,
          .turn = transfer.run};
}

std::vector<Move> Actions::MovesOf(const verify::Transfer& transfer) {
  const Intent reads = {By::kLink, AccessKind::kRead, transfer.steps};
  const Intent writes = {By::kLink, AccessKind::kWrite, transfer.steps};
  switch (transfer.kind) {
    case verify::Transfer::Kind::kLoad:
      return {LoadTile(transfer.tensor, transfer.run, reads, writes)};
    case verify::Transfer::Kind::kStore:
      return {StoreTile(transfer.tensor, transfer.run, reads, writes)};
    case verify::Transfer::Kind::kResident:
      return LoadConstant(here_, transfer.tensor, reads, writes);
    case verify::Transfer::Kind::kPrefetch: {
      const verify::SubgraphResidency& later = carried_[transfer.carried];
      if (transfer.op < 0) return LoadConstant(later, transfer.tensor, reads, writes);
      verify::Transfer there = transfer;
      there.run.tile = there.run.phase = 0;
      return LoadSlice(later, there, reads, writes);
    }
    case verify::Transfer::Kind::kSlice:
      break;
  }
  return LoadSlice(here_, transfer, reads, writes);
}

Move Actions::LoadTile(int tensor, const RunIndex& run, const Intent& reads, const Intent& writes) {
  const Place to = places_.OfTile(tensor, run.phase, TileAt(run.tile), writes);
  const bool fills = to.where == Where::kTileMemory &&
                     !here_.Caches(tensor, hw_profiles::HaloStorage::kRollingBuffer);
  return {MadeIn(run.tile, tensor), places_.AtHome(tensor, reads), to, fills};
}

Move Actions::StoreTile(int tensor, const RunIndex& run, const Intent& reads,
                        const Intent& writes) {
  const std::map<int, Box>& shares = TileAt(run.tile).shares;
  const auto share = shares.find(tensor);
  return {share == shares.end() ? MadeIn(run.tile, tensor) : share->second,
          places_.OfTile(tensor, run.phase, TileAt(run.tile), reads),
          places_.AtHome(tensor, writes), false};
}

// The moves of the part of the constant that arrives here. The part with the last indices includes
// the table, if the constant has one for these operators.
std::vector<Move> Actions::LoadConstant(const verify::SubgraphResidency& user, int constant,
                                        const Intent& reads, const Intent& writes) {
  int64_t table_bytes = 0;
  for (int op = user.Current().interval.first; op <= user.Current().interval.last; ++op) {
    if (HasTable(op, constant))
      table_bytes = std::max(table_bytes, contents_.TableBytes(user.At(op)));
  }
  const Box whole = WholeOf(contents_.ShapeOf(constant));
  const Range share =
      verify::ShareOf(plan_.network, user.Current(), constant, user.Index() - here_.Index());
  Box part = whole;
  if (!part.empty()) part.front() = share;
  const bool is_last = share.end == (whole.empty() ? 1 : whole.front().end);
  std::vector<Move> moves;
  for (const bool table : {false, true}) {
    if (table && (table_bytes == 0 || !is_last)) continue;
    const int content = table ? contents_.TablesOf(constant) : constant;
    const Box box = table ? Box{{0, table_bytes}} : part;
    moves.push_back({box, places_.AtHome(content, reads),
                     places_.OfConstant(user.ResidentOf(constant), constant, writes, table),
                     false});
  }
  return moves;
}

// The moves of a slice, or of the share of it that arrives here. The share with the last indices
// includes the table.
std::vector<Move> Actions::LoadSlice(const verify::SubgraphResidency& user,
                                     const verify::Transfer& transfer, const Intent& reads,
                                     const Intent& writes) {
  const auto& [kind, tensor, op, run, steps, carried, ahead] = transfer;
  const Box box = SliceBoxOf(user, op, tensor, run);
  Box part = box;
  bool with_table = !user.SlicesOfK() || run.round + 1 == run.rounds;
  if (ahead) {
    const int64_t extent = box.front().end - box.front().begin;
    const Range share = verify::ShareOfSlice(user.Current(), run.round, extent, *ahead);
    part.front() = {box.front().begin + share.begin, box.front().begin + share.end};
    with_table = share.end == extent;
  }
  std::vector<Move> moves = {{part, places_.AtHome(tensor, reads),
                              places_.OfSlice(user, op, tensor, run, box, writes), false}};
  if (with_table && HasTable(op, tensor)) {
    const Range bytes = TableOf(user, op, tensor, run);
    moves.push_back({{bytes},
                     places_.AtHome(contents_.TablesOf(tensor), reads),
                     places_.OfSliceTable(user, op, tensor, run, bytes, writes),
                     false});
  }
  return moves;
}

bool Actions::HasTable(int op, int constant) const {
  const graph::Operator& facts = plan_.network.operators[static_cast<size_t>(op)];
  return !facts.weights.empty() && facts.weights.front() == constant &&
         contents_.TableBytes(facts) > 0;
}

// The output channels that the slice serves.
Range Actions::ChannelsOf(const verify::SubgraphResidency& user, int op, int constant,
                          const RunIndex& run) {
  if (user.SlicesOfK()) return MadeIn(run.tile, user.At(op).outputs.front())[FiltersOf(op).result];
  const verify::Slicing slicing = verify::SlicingOf(plan_, user.At(op), constant);
  return {std::min(run.round * slicing.granularity, slicing.channels),
          std::min((run.round + 1) * slicing.granularity, slicing.channels)};
}

Box Actions::SliceBoxOf(const verify::SubgraphResidency& user, int op, int tensor,
                        const RunIndex& run) {
  const graph::Tensor& facts = TensorAt(tensor);
  const auto& slices = user.SlicesOfK();
  Box box = facts.constant ? WholeOf(facts.shape) : HeldOf(TileAt(run.tile), tensor);
  if (facts.constant) {
    box[FiltersOf(op).constant] = ChannelsOf(user, op, tensor, run);
  } else if (IsEmpty(box)) {
    return box;
  }
  if (slices) box[slices->along.at(tensor)] = slices->SliceAt(run.round);
  return box;
}

Range Actions::TableOf(const verify::SubgraphResidency& user, int op, int constant,
                       const RunIndex& run) {
  const Range channels = ChannelsOf(user, op, constant, run);
  const int64_t each = plan_.profile.table_bytes_per_channel;
  return {channels.begin * each, channels.end * each};
}

Compute Actions::Run(int op, const RunIndex& run, problem::Step step) {
  const graph::Operator& facts = here_.At(op);
  const auto& in_place = plan_.profile.tiling.in_place;
  const bool named = std::find(in_place.begin(), in_place.end(), facts.kind) != in_place.end();
  const By by = ByOf(plan_, op);
  const Intent reads = {by, AccessKind::kRead, {step}};
  const Intent writes = {by, AccessKind::kWrite, {step}};
  Compute compute;
  compute.op = op;
  compute.engine = here_.EngineNameOf(op);
  compute.turn = run;
  for (size_t i = 0; i < facts.inputs.size(); ++i) {
    const int tensor = facts.inputs[i];
    const Place place =
        here_.IsStreamed(op, tensor)
            ? places_.OfSlice(here_, op, tensor, run, SliceBoxOf(here_, op, tensor, run), reads)
            : places_.OfTile(tensor, run.phase, TileAt(run.tile), reads);
    compute.operands.push_back({Operand::Kind::kInput, i, place});
  }
  for (size_t i = 0; i < facts.weights.size(); ++i) AddConstant(op, i, reads, compute);
  for (const int tensor : facts.outputs) {
    Result result{MadeIn(run.tile, tensor),
                  places_.OfTile(tensor, run.phase, TileAt(run.tile), writes), false};
    result.fills = run.round == 0 && StartsNewBuffer(result, run.tile);
    if (run.rounds > 1 && !here_.SlicesOfK()) {
      const Range channels = ChannelsOf(here_, op, facts.weights.front(), run);
      Range& made = result.box[FiltersOf(op).result];
      made = {std::max(made.begin, channels.begin), std::min(made.end, channels.end)};
    }
    compute.results.push_back(std::move(result));
  }
  compute.scratch = places_.OfScratch(op, run.phase, writes);
  if (here_.SlicesOfK()) AddUp(op, reads, writes, compute);
  for (Result& result : compute.results) LeavePadsThatAreThere(result);
  if (named && WorksByChannel(compute)) compute.results.front().fills = false;
  return compute;
}

void Actions::AddConstant(int op, size_t position, const Intent& intent, Compute& compute) {
  const RunIndex& run = compute.turn;
  const int constant = here_.At(op).weights[position];
  const bool streams = here_.IsStreamed(op, constant);
  const bool resident = here_.Is(constant, verify::Residency::kResident);
  for (const bool table : {false, true}) {
    if (table && (position > 0 || !HasTable(op, constant))) continue;
    const Operand::Kind kind = table ? Operand::Kind::kTable : Operand::Kind::kConstant;
    const Place place =
        streams && table ? places_.OfSliceTable(here_, op, constant, run,
                                                TableOf(here_, op, constant, run), intent)
        : streams  ? places_.OfSlice(here_, op, constant, run, SliceBoxOf(here_, op, constant, run),
                                     intent)
        : resident ? places_.OfConstant(here_.ResidentOf(constant), constant, intent, table)
                   : places_.OfConstantWhole(constant, intent, table);
    compute.operands.push_back({kind, position, place});
  }
}

// The last round makes the result. Earlier rounds make partial sums and read no table.
void Actions::AddUp(int op, const Intent& reads, const Intent& writes, Compute& compute) {
  const RunIndex& run = compute.turn;
  compute.k_extent = here_.SlicesOfK()->SliceAt(run.round);
  Result& result = compute.results.front();
  if (run.round > 0)
    compute.operands.push_back(
        {Operand::Kind::kPartialSums, 0, places_.OfPartialSums(op, run.phase, result.box, reads)});
  if (run.round + 1 == run.rounds) {
    result.fills = StartsNewBuffer(result, run.tile);
  } else {
    result.place = places_.OfPartialSums(op, run.phase, result.box, writes);
    result.fills = run.round == 0;
    std::erase_if(compute.operands,
                  [](const Operand& operand) { return operand.kind == Operand::Kind::kTable; });
  }
}

// The pads of a whole buffer are written once, with the first part in these rows or columns.
void Actions::LeavePadsThatAreThere(Result& result) {
  Place& place = result.place;
  for (size_t axis = 0; place.padded_around && axis < place.axes.size(); ++axis) {
    std::vector<int64_t> pads_of = {place.content, static_cast<int64_t>(axis)};
    for (size_t other = 0; other < result.box.size(); ++other) {
      if (other == axis) continue;
      pads_of.insert(pads_of.end(), {result.box[other].begin, result.box[other].end});
    }
    AxisPlace& at = place.axes[axis];
    if (at.pad_low + at.pad_high == 0) continue;
    if (IsEmpty(result.box) || !padded_.insert(std::move(pads_of)).second)
      at.pad_low = at.pad_high = 0;
  }
}

// Whether the engine must work channel by channel, because a depthwise result lies in the place of
// its operand.
bool Actions::WorksByChannel(const Compute& compute) const {
  if (!MapsChannels(plan_.network, here_.At(compute.op))) return false;
  const Place& x = compute.operands.front().place;
  const Place& y = compute.results.front().place;
  return x.where == Where::kTileMemory && y.where == Where::kTileMemory &&
         x.cells.begin < y.cells.end && y.cells.begin < x.cells.end;
}

// Whether the result fills a tile buffer, which is no rolling buffer and into which no rows were
// restored from a line buffer.
bool Actions::StartsNewBuffer(const Result& result, int64_t tile) {
  const int tensor = result.place.content;
  if (result.place.where != Where::kTileMemory || places_.IsWhole(tensor)) return false;
  if (here_.Caches(tensor, hw_profiles::HaloStorage::kRollingBuffer)) return false;
  return !here_.Caches(tensor, hw_profiles::HaloStorage::kLineBuffer) ||
         IsEmpty(KeptOf(TileAt(tile), tensor));
}

Copy Actions::Restore(int op, const RunIndex& run, problem::Step step) {
  const Intent reads = {By::kEngine, AccessKind::kRead, {step}};
  const Intent writes = {By::kEngine, AccessKind::kWrite, {step}};
  Copy copy{op, here_.EngineNameOf(op), {}, true, run};
  const verify::Tile& tile = TileAt(run.tile);
  for (const int tensor : here_.RestoredBy(op)) {
    const Box kept = KeptOf(tile, tensor);
    if (IsEmpty(kept)) continue;
    Place to = places_.OfTile(tensor, run.phase, tile, writes);
    // The tile that makes the rows below writes them.
    to.axes[*RowAxisOf(kept.size())].pad_high = 0;
    copy.moves.push_back({kept, places_.OfKept(tensor, run.phase, tile, reads), to,
                          !here_.Is(tensor, verify::Residency::kLoaded)});
  }
  return copy;
}

Copy Actions::Save(int op, const RunIndex& run, int next_phase, problem::Step step) {
  const Intent reads = {By::kEngine, AccessKind::kRead, {step}};
  const Intent writes = {By::kEngine, AccessKind::kWrite, {step}};
  Copy copy{op, here_.EngineNameOf(op), {}, false, run};
  const verify::Tile& next = TileAt(run.tile + 1);
  for (const int tensor : here_.SavedBy(op)) {
    const Box kept = KeptOf(next, tensor);
    if (IsEmpty(kept)) continue;
    copy.moves.push_back({kept, places_.OfTile(tensor, run.phase, TileAt(run.tile), reads),
                          places_.OfKept(tensor, next_phase, next, writes), false});
  }
  return copy;
}

}  // namespace tessera::plan::execute
