#include "tessera/plan/execute/machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "tessera/plan/execute/reads.h"

// Cells hold no numbers but tags: which part of which element of which tensor the number would be.
// Two runs of one network on different data differ in the numbers and not in the tags, so a run on
// tags that finds every tag where it should be stands for all data.
//
// **One run stands for all orders.** A step leaves much open: a transfer that spans several steps
// may move any byte at any moment of the span, and an operator reads and writes in an order of its
// own. Nothing is sampled; the machine tells what may have happened from what must have:
//
//     transfer     Start                            Finish
//     destination  |  arriving: no value to rely on  |  there   any access until then is found
//     source       |  held: must not change          |  free    any write until then is found
//
// Suppose nothing is found, and take any real execution. Between Start and Finish nobody else
// touches a destination, and everyone else only reads a source. So each byte of the transfer may be
// moved to the end of the span, or of whatever order was real, without any read seeing another
// value: all real executions give each read the value that this one gives it. Where transfers start
// before the operator of their first step and finish after that of their last, no order is left
// out. An operator's results may land before its last operand is read; a result is therefore looked
// at before it is written: it may cover cells of an operand only where engine and operator work
// element by element on the same coordinates, so that an element dies with its one reader; or
// channel by channel, where it is of a channel that was read to the end.
//
// Nothing survives by luck: gaps in a buffer are spoiled by whoever fills it, cells in which no
// buffer lives are lost, and so is what lies in a bank that is off. After a finding the run goes on
// as if all were well, so that one fault is told once and not in everything that follows from it.
//
// Cost: a few nanoseconds for each cell touched.
namespace tessera::plan::execute {
namespace {

using problem::AccessKind;

bool Intersects(const problem::AddressRange& a, const problem::AddressRange& b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

void Machine::Run(const Instruction& instruction) {
  std::visit([this](const auto& what) { Do(what); }, instruction);
}

void Machine::Do(const EnterStep& enter) {
  const EnterStep before = at_;
  at_ = enter;
  ledger_.Enter(enter.step, enter.tile);
  ++ledger_.Totals().steps;
  if (entered_ && !enter.foreseen) {
    ledger_.Note(
        FindingKind::kControl, kNothing, -1, 0,
        fmt::format("follows step {}, which the plan's loops do not foresee", before.step));
  }
  if (entered_ && enter.mode && before.mode &&
      !memories_.Rules().MayFollow(*before.mode, *enter.mode)) {
    ledger_.Note(FindingKind::kForbidden, kNothing, -1, 0,
                 fmt::format("mode {} may not follow mode {}", *enter.mode, *before.mode));
  }
  entered_ = true;
  LoseBanksThatAreOff();
  for (const UnderWay& transfer : under_way_) CheckModes(transfer);
}

void Machine::LoseBanksThatAreOff() {
  const problem::Memory& memory = memories_.Rules().Memory();
  if (!at_.mode || static_cast<size_t>(*at_.mode) >= memory.modes.size()) return;
  const std::vector<problem::BankMode>& states = memory.modes[static_cast<size_t>(*at_.mode)].banks;
  const uint32_t nobody = ledger_.ActNobody();
  for (size_t i = 0; i < std::min(states.size(), memory.banks.size()); ++i) {
    if (!states[i].off) continue;
    memories_.Fill(memories_.Rules().CellsOf(memory.banks[i].range),
                   Contents::TagOf(contents_.Lost(), 0), nobody);
  }
}

void Machine::CheckMode(AccessRules::Banks banks, const std::string& engine, AccessKind kind) {
  if (!at_.mode) return;
  const int bank = memories_.Rules().FirstForbidden(*at_.mode, banks, engine, kind);
  if (bank < 0) return;
  const problem::Memory& memory = memories_.Rules().Memory();
  ledger_.Note(FindingKind::kForbidden, kNothing, -1, 0,
               fmt::format("mode '{}' does not let '{}' {} bank '{}'",
                           memory.modes[static_cast<size_t>(*at_.mode)].name, engine,
                           kind == AccessKind::kRead ? "read" : "write",
                           memory.banks[static_cast<size_t>(bank)].name));
}

void Machine::CheckModes(const UnderWay& transfer) {
  CheckMode(transfer.read_banks, transfer.transfer.link, AccessKind::kRead);
  CheckMode(transfer.written_banks, transfer.transfer.link, AccessKind::kWrite);
}

void Machine::Do(const Forget& forget) {
  const uint32_t nobody = ledger_.ActNobody();
  for (const problem::AddressRange& cells : forget.cells) {
    memories_.Fill(cells, Contents::TagOf(contents_.Lost(), 0), nobody);
  }
}

void Machine::Do(const StartTransfer& start) {
  UnderWay transfer{start, ledger_.ActTransfer(start.link), {}, 0, 0};
  ++ledger_.Totals().transfers;
  for (const Move& move : start.moves) {
    Leg leg{move, RunsOf(move.from, AllOf(move.box)), RunsOf(move.to, WithPads(move.to, move.box)),
            true, true};
    leg.reads = IsThere(move.from, move.box) &&
                memories_.MayTouch(move.from, leg.sources, AccessKind::kRead);
    leg.writes = IsThere(move.to, move.box) &&
                 memories_.MayTouch(move.to, leg.destinations, AccessKind::kWrite);
    if (leg.reads) {
      memories_.CheckRead(move.from, leg.sources);
      memories_.Hold(move.from, leg.sources);
      transfer.read_banks |= memories_.BanksOf(move.from, leg.sources);
    }
    if (leg.writes) transfer.written_banks |= memories_.BanksOf(move.to, leg.destinations);
    transfer.legs.push_back(std::move(leg));
  }
  for (const Leg& leg : transfer.legs) {
    if (leg.writes)
      memories_.BeginArrival(leg.move.to, leg.destinations, leg.move.fills, transfer.actor);
    int64_t cells = 0;
    for (const execute::Run& run : leg.sources) cells += run.count * leg.move.from.element_cells;
    ledger_.Totals().bytes_moved += cells / contents_.CellsPerByte();
  }
  CheckModes(transfer);
  under_way_.push_back(std::move(transfer));
}

// Whether the place has room for all of the box; notes it if not.
bool Machine::IsThere(const Place& place, const Box& box) {
  if (IsEmpty(box) || place.where == Where::kNone) return true;
  std::vector<int64_t> corner;
  bool inside = true;
  for (size_t axis = 0; axis < box.size(); ++axis) {
    const Range held = place.axes[axis].held;
    inside = inside && held.begin <= box[axis].begin && box[axis].end <= held.end;
    corner.push_back(box[axis].begin);
  }
  if (inside) return true;
  ledger_.Note(
      FindingKind::kOutside, kNothing, -1, 1,
      fmt::format("the box from {} {} on is not held in {}", contents_.NameOf(place.content),
                  TextOf(corner),
                  place.where == Where::kHome ? "its home" : "buffer '" + place.buffer + "'"));
  return false;
}

void Machine::Do(const FinishTransfer& finish) {
  const auto transfer = std::find_if(
      under_way_.begin(), under_way_.end(),
      [&](const UnderWay& candidate) { return candidate.transfer.number == finish.number; });
  if (transfer == under_way_.end()) return;
  for (const Leg& leg : transfer->legs) {
    if (leg.reads) memories_.Release(leg.move.from, leg.sources);
    if (leg.writes)
      memories_.Arrive(leg.move.to, leg.destinations, leg.move.fills, transfer->actor);
  }
  under_way_.erase(transfer);
}

void Machine::Do(const Compute& compute) {
  const uint32_t actor = ledger_.ActOperator(compute.op);
  ++ledger_.Totals().operators;
  const auto scratch_tag = Contents::TagOf(contents_.ScratchOf(compute.op), 0);
  if (compute.scratch) {
    const Place& scratch = *compute.scratch;
    if (memories_.MayTouch(scratch, {{scratch.cells.begin, 0, 1, 0, 0, false}},
                           AccessKind::kWrite)) {
      memories_.Fill(scratch.cells, scratch_tag, actor);
      const AccessRules::Banks banks =
          memories_.Rules().BanksAt(scratch.cells.begin, scratch.cells.end);
      CheckMode(banks, compute.engine, AccessKind::kRead);
      CheckMode(banks, compute.engine, AccessKind::kWrite);
    }
  }
  if (compute.channel && HasRoomForAChannel(compute)) {
    RunByChannel(compute, actor);
  } else {
    for (const Operand& operand : compute.operands) ReadOperand(compute, operand);
    for (const Result& result : compute.results) WriteResult(compute, result, actor);
  }
  if (!compute.scratch) return;
  const problem::AddressRange cells = memories_.WithinMemory(compute.scratch->cells);
  for (int64_t cell = cells.begin; cell < cells.end; ++cell) {
    if (memories_.TagAt(cell) == scratch_tag) continue;
    ledger_.Note(FindingKind::kOverwritten, scratch_tag, cell, 1,
                 "its result lies in its own scratch");
    break;
  }
}

bool Machine::HasRoomForAChannel(const Compute& compute) {
  const int64_t room =
      compute.scratch ? compute.scratch->cells.end - compute.scratch->cells.begin : 0;
  if (room >= *compute.channel) return true;
  ledger_.Note(FindingKind::kOutside, kNothing, -1, *compute.channel - room,
               "its scratch has no room for a channel of its result");
  return false;
}

// Reads channel c, makes it in scratch, writes it; then c + 1. What a channel overwrites is gone
// when the next one is read.
void Machine::RunByChannel(const Compute& compute, uint32_t actor) {
  const Tag tag = Contents::TagOf(contents_.ScratchOf(compute.op), 0);
  const problem::AddressRange scratch = compute.scratch->cells;
  constexpr size_t kChannels = 1;
  const Range channels = compute.results.front().box[kChannels];
  Compute one = compute;
  for (int64_t channel = channels.begin; channel < channels.end; ++channel) {
    one.results.front().box[kChannels] = {channel, channel + 1};
    for (const Operand& operand : one.operands) ReadOperand(one, operand);
    memories_.Fill({scratch.end - *compute.channel, scratch.end}, tag, actor);
    WriteResult(one, one.results.front(), actor);
  }
}

ElementSet Machine::ReadsOf(const Compute& compute, const Operand& operand,
                            const Box& output) const {
  const graph::Operator& op = network_.operators[static_cast<size_t>(compute.op)];
  ElementSet reads;
  switch (operand.kind) {
    case Operand::Kind::kInput:
      reads = ReadsOfInput(network_, op, operand.position, output);
      if (compute.k_extent)
        KeepK(KAxisOfInput(network_, op, operand.position), *compute.k_extent, reads);
      break;
    case Operand::Kind::kConstant:
      reads = ReadsOfConstant(network_, op, operand.position, output);
      if (compute.k_extent)
        KeepK(KAxisOfConstant(network_, op, operand.position), *compute.k_extent, reads);
      break;
    case Operand::Kind::kTable:
      reads = ReadsOfTable(network_, op, operand.position, contents_.TableBytes(op), output);
      break;
    case Operand::Kind::kPartialSums:
      reads = AllOf(output);
      break;
  }
  return reads;
}

void Machine::ReadOperand(const Compute& compute, const Operand& operand) {
  const graph::Operator& op = network_.operators[static_cast<size_t>(compute.op)];
  ElementSet reads;
  for (const Result& result : compute.results) {
    const bool sums = result.place.content == contents_.PartialSumsOf(compute.op);
    if (sums || result.place.content == op.outputs.front())
      reads = ReadsOf(compute, operand, result.box);
  }
  // Windows that lie wholly in the padding read no pads either.
  if (!operand.place.axes.empty() &&
      IsEmpty(HullOf(reads, contents_.ShapeOf(operand.place.content))))
    return;
  for (size_t axis = 0; axis < reads.axes.size(); ++axis) {
    const AxisPlace& at = operand.place.axes[axis];
    if (at.pad_low + at.pad_high > 0) continue;
    std::erase_if(reads.axes[axis], [&](int64_t index) { return index < 0 || index >= at.extent; });
  }
  const std::vector<execute::Run> runs = RunsOf(operand.place, reads);
  if (runs.empty() || !memories_.MayTouch(operand.place, runs, AccessKind::kRead)) return;
  memories_.CheckRead(operand.place, runs);
  CheckMode(memories_.BanksOf(operand.place, runs), compute.engine, AccessKind::kRead);
}

void Machine::WriteResult(const Compute& compute, const Result& result, uint32_t actor) {
  const std::vector<execute::Run> runs = RunsOf(result.place, WithPads(result.place, result.box));
  if (!IsThere(result.place, result.box) || runs.empty() ||
      !memories_.MayTouch(result.place, runs, AccessKind::kWrite))
    return;
  CheckMode(memories_.BanksOf(result.place, runs), compute.engine, AccessKind::kWrite);
  if (result.place.where == Where::kTileMemory) {
    CheckInPlace(compute, result, runs);
    if (result.fills)
      memories_.Fill(result.place.cells, Contents::TagOf(contents_.Spoiled(), 0), actor);
  }
  memories_.Write(result.place, runs, actor);
}

// Whether `found` of the operand makes room for what is made of it: the same element, or for sums
// those over a slice more.
bool Machine::IsReplacedBy(const Operand& operand, const Result& result, Tag found,
                           Tag coming) const {
  if (Contents::ContentOf(coming) != result.place.content) return false;
  if (operand.kind != Operand::Kind::kPartialSums) return contents_.IsSameElement(coming, found);
  const int64_t slice = result.place.first_number - operand.place.first_number;
  return Contents::NumberOf(coming) ==
         Contents::NumberOf(found) + slice * result.place.element_cells;
}

// The cells that the result is about to cover, against the operands that lie in them.
void Machine::CheckInPlace(const Compute& compute, const Result& result,
                           const std::vector<execute::Run>& runs) {
  const graph::Operator& op = network_.operators[static_cast<size_t>(compute.op)];
  for (const Operand& operand : compute.operands) {
    if (operand.place.where != Where::kTileMemory ||
        !Intersects(operand.place.cells, result.place.cells))
      continue;
    std::map<int64_t, Tag> coming;  // what each cell will hold
    if (result.fills) {
      const problem::AddressRange all = memories_.WithinMemory(result.place.cells);
      for (int64_t cell = all.begin; cell < all.end; ++cell) coming[cell] = kNothing;
    }
    for (const execute::Run& run : runs) {
      for (int64_t i = 0; i < run.count; ++i) {
        for (int64_t part = 0; part < result.place.element_cells; ++part) {
          coming[run.address + i * run.address_step + part] =
              memories_.Expected(result.place, run, i, part);
        }
      }
    }
    const bool pointwise = operand.kind == Operand::Kind::kPartialSums ||
                           (operand.kind == Operand::Kind::kInput && operand.replaceable &&
                            IsPointwise(network_, op, operand.position));
    const bool element_by_element =
        pointwise && operand.place.element_cells == result.place.element_cells;
    for (const auto& [cell, tag] : coming) {
      const Tag found = memories_.TagAt(cell);
      const bool wanted = cell >= operand.place.cells.begin && cell < operand.place.cells.end &&
                          Contents::ContentOf(found) == operand.place.content;
      if (!wanted) continue;
      // Its own channel, and those before it.
      const bool was_read = compute.channel && operand.kind == Operand::Kind::kInput &&
                            contents_.CoordinatesOf(found)[1] < result.box[1].end;
      if (was_read || (element_by_element && IsReplacedBy(operand, result, found, tag))) continue;
      ledger_.Note(
          FindingKind::kInPlace, found, cell, 1,
          fmt::format(
              "overwrites its own operand {} at address {}, which it may still have to read",
              contents_.Describe(found), cell / contents_.CellsPerByte()));
      break;
    }
  }
}

// What the moves still have to read is held, so that none of them overwrites what another needs. A
// move may overwrite its own source: rows that were read by then.
void Machine::Do(const Copy& copy) {
  const uint32_t actor = ledger_.ActOperator(copy.op);
  const auto sources_of = [](const Move& move) { return RunsOf(move.from, AllOf(move.box)); };
  std::vector<const Move*> able;
  for (const Move& move : copy.moves) {
    const auto destinations = RunsOf(move.to, WithPads(move.to, move.box));
    const bool reads = IsThere(move.from, move.box) &&
                       memories_.MayTouch(move.from, sources_of(move), AccessKind::kRead);
    const bool writes =
        IsThere(move.to, move.box) && memories_.MayTouch(move.to, destinations, AccessKind::kWrite);
    if (reads && writes) able.push_back(&move);
  }
  for (const Move* move : able) memories_.Hold(move->from, sources_of(*move));
  for (const Move* move : able) {
    memories_.Release(move->from, sources_of(*move));
    if (move->fills) memories_.Fill(move->to.cells, Contents::TagOf(contents_.Spoiled(), 0), actor);
    const std::optional<size_t> rows = RowAxisOf(move->box.size());
    Box row = move->box;
    for (int64_t i = move->box[*rows].begin; i < move->box[*rows].end; ++i) {
      row[*rows] = {i, i + 1};
      CopyRow(copy, *move, row, actor);
    }
    memories_.Hold(move->from, sources_of(*move));
  }
  for (const Move* move : able) memories_.Release(move->from, sources_of(*move));
}

void Machine::CopyRow(const Copy& copy, const Move& move, const Box& row, uint32_t actor) {
  const std::vector<execute::Run> sources = RunsOf(move.from, AllOf(row));
  const std::vector<execute::Run> destinations = RunsOf(move.to, WithPads(move.to, row));
  memories_.CheckRead(move.from, sources);
  CheckMode(memories_.BanksOf(move.from, sources), copy.engine, AccessKind::kRead);
  CheckMode(memories_.BanksOf(move.to, destinations), copy.engine, AccessKind::kWrite);
  memories_.Write(move.to, destinations, actor);
}

void Machine::Do(const Expect& expect) {
  if (expect.place.where == Where::kNone) return;
  const std::vector<execute::Run> runs = RunsOf(expect.place, AllOf(expect.box));
  ledger_.Enter(at_.step, -1);
  if (!memories_.MayTouch(expect.place, runs, AccessKind::kRead)) return;
  memories_.CheckRead(expect.place, runs, FindingKind::kIncomplete);
}

void Machine::Do(const Complaint& complaint) {
  ledger_.Note(FindingKind::kControl, kNothing, -1, 0, complaint.message);
}

}  // namespace tessera::plan::execute
