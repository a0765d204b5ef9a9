// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/lowering/execution.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tessera/plan/execute/program.h"

// Execution of a plan in its own steps:
//
//     plan --- Unroll ---> instructions --- Recorder ---> runs of jobs --- Performer ---> findings
//              steps, buffers,  places and                addresses,       tags; the judge of
//              offsets, modes   boxes                     strides          operators (reads.h)
//
// Cells hold tags instead of numbers. A tag states the tensor, the element and the part of the
// element that the cell contains. Two runs of one network on different data differ in the numbers
// but not in the tags. So a run in which every tag is in its correct place represents the runs on
// all data.
//
// **One run represents all orders.** A step permits many orders: a transfer that spans several
// steps may move any byte at any moment of the span, and an operator may read and write in any
// order. The orders are not sampled. A transfer is performed when it starts, but lasts until it
// finishes:
//
//     transfer     StartTransfer              FinishTransfer
//     in time      begin ........................ end          anything that begins in between
//                                                              is not in order with it
//
// Runs that touch a cell must be in order if one of them writes it (TaggedMemories), so no run
// relies on a destination or changes a source in between. An operator's results may be written
// before its last operand is read, so each result is checked before it is written
// (Performer::CheckInPlace).
//
// Contents never survive by chance: a run that fills a buffer overwrites its gaps, and cells in
// which no buffer lives are lost, like those of a bank that is off. After a fault the run
// continues.
//
// plan::verify shows that the Problem is the correct one and that the placement solves it. The
// execution shows that the placement works, and trusts neither of the two derivations: steps,
// buffers, lifespans and addresses are those of the plan, and the operands of operators are checked
// element by element. So it detects a rule that is wrong in both derivations.
namespace tessera::plan::lowering {

using execute::Contents;
using execute::Move;
using execute::Place;
using execute::Where;
using problem::AccessKind;

// Bounds the page tables of the memories, which are allocated before any cell is touched.
constexpr int64_t kMostCells = int64_t{1} << 36;

std::string_view NameOf(FindingKind kind) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "unwritten", "stale",   "overwritten", "arriving",   "moving",  "in place",
      "lost",      "outside", "forbidden",   "incomplete", "control", "malformed"};
  return kNames.at(static_cast<size_t>(kind));
}

std::vector<int64_t> SizesOf(const Plan& plan, const Contents& contents) {
  std::vector<int64_t> sizes(plan.profile.memories.size(), 0);
  const auto tile = static_cast<size_t>(plan.profile.tile_memory);
  sizes[tile] = std::min(plan.profile.memories[tile].capacity_bytes, execute::EndOfBuffers(plan));
  for (const Home& home : plan.homes) {
    const auto memory = static_cast<size_t>(home.memory);
    sizes[memory] = std::min(plan.profile.memories[memory].capacity_bytes,
                             problem::PeakOf(home.problem, home.allocation));
  }
  for (int64_t& size : sizes) size *= contents.CellsPerByte();
  return sizes;
}

std::string FindObstacle(const Plan& plan, const Contents& contents) {
  if (std::string why = execute::FindObstacle(plan); !why.empty()) return why;
  int64_t cells = 0;
  for (const int64_t size : SizesOf(plan, contents)) cells += std::min(size, kMostCells);
  return cells > kMostCells ? "the memories in use are too large to execute" : "";
}

Execution::Execution(const Plan& plan, const Contents& contents, const base::Stop& stop)
    : plan_(plan),
      contents_(contents),
      stop_(stop),
      users_(verify::FindUsers(plan.network)),
      places_(plan, contents, users_),
      whole_(plan, contents, places_),
      buffers_(FindBuffers(plan)),
      memories_(SizesOf(plan, contents)),
      performer_(plan, contents, memories_, stop, *this),
      modes_(performer_.Rules()),
      recorder_(std::in_place, plan, contents, buffers_) {
  memories_.BeginRuns(order_);
  modes_.BeginRuns(order_);
}

bool Execution::Run(const execute::Instruction& instruction) {
  ++time_;
  std::visit([this](const auto& what) { Do(what); }, instruction);
  report_.is_cut_off = stop_.Requested();
  return !report_.is_cut_off;
}

Report Execution::TakeReport() {
  for (const Subgraph& subgraph : plan_.subgraphs) report_.tally.tiles += subgraph.tiles;
  report_.tally.cells_checked += performer_.CellsChecked();
  return std::move(report_);
}

void Execution::ReportFault(FindingKind kind, const std::string& fault) {
  ++report_.found;
  if (report_.findings.size() >= kMostFindings) return;
  std::string where = actor_.step < 0 ? "before the program" : fmt::format("step {}", actor_.step);
  if (actor_.tile >= 0) where += fmt::format(", tile {}", actor_.tile);
  if (actor_.op >= 0)
    where +=
        fmt::format(", operator '{}'", plan_.network.operators[static_cast<size_t>(actor_.op)].id);
  if (actor_.link >= 0)
    where += fmt::format(", transfer of '{}'", links_[static_cast<size_t>(actor_.link)]);
  report_.findings.push_back({kind, where + ": " + fault});
}

std::string Execution::NameOf(int32_t run) const {
  if (run < 0) return "no run";
  const Actor& actor = actors_[static_cast<size_t>(run)];
  std::string text = "a loss";
  if (actor.op >= 0)
    text = fmt::format("operator '{}'", plan_.network.operators[static_cast<size_t>(actor.op)].id);
  if (actor.link >= 0)
    text = fmt::format("a transfer of '{}'", links_[static_cast<size_t>(actor.link)]);
  text += fmt::format(" at step {}", actor.step);
  return actor.tile < 0 ? text : text + fmt::format(" for tile {}", actor.tile);
}

// Begins a run that is over at once, unless a transfer ends it later.
int Execution::Begin(int op, const std::string& link) {
  actor_ = {at_.step, at_.tile, op, -1};
  if (!link.empty()) {
    const auto known = std::find(links_.begin(), links_.end(), link);
    actor_.link = static_cast<int>(known - links_.begin());
    if (known == links_.end()) links_.push_back(link);
  }
  actors_.push_back(actor_);
  const int run = order_.Begin(time_);
  order_.End(run, time_);
  memories_.Begin(run);
  return run;
}

// Performs the last recorded job run.
void Execution::Perform(int run) {
  std::optional<JobRun> recorded = recorder_->TakeLast();
  if (!recorded) return;
  const Job& job = recorder_->Jobs()[static_cast<size_t>(recorded->job)];
  const RunIndex& turn = recorded->turn;
  performer_.Perform(job, {recorded->job, turn.tile, turn.round, std::move(recorded->regions), {}},
                     turn.phase);
  if (!at_.mode) return;
  const std::string fault =
      modes_.Use(run, {job.on, performer_.ReadBanks(), performer_.WrittenBanks()});
  if (!fault.empty()) ReportFault(FindingKind::kForbidden, fault);
}

void Execution::Do(const execute::EnterStep& enter) {
  const int64_t before = at_.step;
  at_ = enter;
  actor_ = {enter.step, enter.tile, -1, -1};
  ++report_.tally.steps;
  if (entered_ && !enter.foreseen)
    ReportFault(FindingKind::kControl,
                fmt::format("follows step {}, which the plan's loops do not foresee", before));
  entered_ = true;
  const int subgraph = plan_.steps[static_cast<size_t>(enter.step)].subgraph;
  if (subgraph != std::exchange(subgraph_, subgraph)) recorder_.emplace(plan_, contents_, buffers_);
  if (under_way_.empty()) {
    order_.Clear();
    memories_.BeginRuns(order_);
    modes_.BeginRuns(order_);
  }
  if (enter.mode && enter.mode != mode_) Switch(*enter.mode);
}

void Execution::Switch(int mode) {
  const int run = Begin(-1, "");
  if (const std::string fault = modes_.Switch(run, mode); !fault.empty())
    ReportFault(FindingKind::kForbidden, fault);
  mode_ = mode;
  const problem::Memory& memory = performer_.Rules().Memory();
  if (static_cast<size_t>(mode) >= memory.modes.size()) return;
  const std::vector<problem::BankMode>& states = memory.modes[static_cast<size_t>(mode)].banks;
  for (size_t bank = 0; bank < std::min(states.size(), memory.banks.size()); ++bank) {
    if (states[bank].off) Lose(performer_.Rules().CellsOf(memory.banks[bank].range));
  }
}

// The contents of the cells are lost.
void Execution::Lose(const problem::AddressRange& cells) {
  const int memory = plan_.profile.tile_memory;
  const Tag lost = Contents::TagOf(contents_.Lost(), 0);
  const int64_t begin = std::max<int64_t>(0, cells.begin);
  int64_t end = begin;
  while (end < cells.end && memories_.Contains(memory, end)) ++end;
  int64_t found = 0;
  const auto tell = [&](int64_t cell, const TaggedMemories::Conflict& conflict) {
    if (found++ > 0) return;
    ReportFault(conflict.reads ? FindingKind::kMoving : FindingKind::kArriving,
                fmt::format("loses {} at address {} while {} may still be {} it",
                            contents_.Describe(conflict.found), cell / contents_.CellsPerByte(),
                            NameOf(conflict.run), conflict.reads ? "reading" : "writing"));
  };
  memories_.Write(memory, {begin, 1, end - begin}, lost, 0, tell);
}

void Execution::Do(const execute::Provide& provide) {
  if (provide.place.content < static_cast<int>(plan_.network.tensors.size()))
    whole_.Provide(provide.place.content, memories_);
}

void Execution::Do(const execute::Forget& forget) {
  Begin(-1, "");
  for (const problem::AddressRange& cells : forget.cells) Lose(cells);
}

void Execution::Do(const execute::StartTransfer& start) {
  const int run = Begin(-1, start.link);
  order_.End(run, std::numeric_limits<int64_t>::max());
  under_way_[start.number] = run;
  ++report_.tally.transfers;
  int64_t cells = 0;
  for (const Move& move : start.moves) {
    int64_t elements = 1;
    for (const plan::Range& range : move.box)
      elements *= std::max<int64_t>(0, range.end - range.begin);
    cells += elements * move.from.element_cells;
  }
  report_.tally.bytes_moved += cells / contents_.CellsPerByte();
  execute::StartTransfer able = start;
  able.moves = AbleMoves(start.moves);
  recorder_->Record(able);
  Perform(run);
}

void Execution::Do(const execute::FinishTransfer& finish) {
  const auto run = under_way_.find(finish.number);
  if (run == under_way_.end()) return;
  order_.End(run->second, time_);
  under_way_.erase(run);
}

void Execution::Do(const execute::Compute& compute) {
  const int run = Begin(compute.op, "");
  ++report_.tally.operators;
  execute::Compute able = compute;
  std::erase_if(able.operands, [this](const execute::Operand& operand) {
    return !MayTouch(operand.place, {}, AccessKind::kRead);
  });
  std::erase_if(able.results, [this](const execute::Result& result) {
    return !MayTouch(result.place, result.box, AccessKind::kWrite);
  });
  if (compute.scratch) MayTouch(*compute.scratch, {}, AccessKind::kWrite);
  if (able.results.size() < compute.results.size()) return;
  recorder_->Record(able);
  Perform(run);
}

void Execution::Do(const execute::Copy& copy) {
  const int run = Begin(copy.op, "");
  execute::Copy able = copy;
  able.moves = AbleMoves(copy.moves);
  recorder_->Record(able);
  Perform(run);
}

void Execution::Do(const execute::Expect& expect) {
  if (expect.place.where == Where::kNone) return;
  actor_ = {at_.step, -1, -1, -1};
  MayTouch(expect.place, {}, AccessKind::kRead);
  const graph::Shape& shape = contents_.ShapeOf(expect.place.content);
  report_.tally.cells_checked += graph::ElementsOf(shape) * expect.place.element_cells;
  if (const std::string missing = whole_.FindMissing(expect.place.content, memories_);
      !missing.empty())
    ReportFault(FindingKind::kIncomplete, missing);
}

void Execution::Do(const execute::Refusal& refusal) {
  actor_ = {at_.step, at_.tile, -1, -1};
  ReportFault(FindingKind::kControl, refusal.message);
}

// The moves whose source and destination exist.
std::vector<Move> Execution::AbleMoves(const std::vector<Move>& moves) {
  std::vector<Move> able;
  for (const Move& move : moves) {
    const bool reads = MayTouch(move.from, move.box, AccessKind::kRead);
    const bool writes = MayTouch(move.to, move.box, AccessKind::kWrite);
    if (reads && writes) able.push_back(move);
  }
  return able;
}

// Returns whether the place exists and has room for the box, and reports a fault if not. An access
// that is not allowed is reported too, but performed nevertheless.
bool Execution::MayTouch(const Place& place, const plan::Box& box, AccessKind kind) {
  const auto tell = [&](FindingKind finding, const std::string& why) {
    ReportFault(finding, fmt::format("{} {} {}", kind == AccessKind::kRead ? "reads" : "writes",
                                     contents_.NameOf(place.content), why));
  };
  if (place.where == Where::kNone) {
    tell(FindingKind::kOutside, "where no buffer holds it");
    return false;
  }
  if (!place.refusal.empty()) tell(FindingKind::kForbidden, place.refusal);
  const auto tensors = static_cast<int>(plan_.network.tensors.size());
  const int tensor = place.content < tensors ? place.content : place.content - tensors;
  if (place.where == Where::kHome && !recorder_->IsAtHome(tensor)) {
    tell(FindingKind::kOutside, "in its home, where it has no address");
    return false;
  }
  return IsThere(place, box);
}

bool Execution::IsThere(const Place& place, const plan::Box& box) {
  if (plan::IsEmpty(box)) return true;
  std::vector<int64_t> corner;
  bool inside = true;
  for (size_t axis = 0; axis < box.size(); ++axis) {
    const plan::Range held = place.axes[axis].held;
    inside = inside && held.begin <= box[axis].begin && box[axis].end <= held.end;
    corner.push_back(box[axis].begin);
  }
  if (inside) return true;
  ReportFault(
      FindingKind::kOutside,
      fmt::format("the box from {} {} on is not held in {}", contents_.NameOf(place.content),
                  execute::TextOf(corner),
                  place.where == Where::kHome ? "its home" : "buffer '" + place.buffer + "'"));
  return false;
}

Report Execute(const Plan& plan, const base::Stop& stop) {
  Report report;
  const Contents contents(plan.network, plan.profile.table_bytes_per_channel);
  report.obstacle = FindObstacle(plan, contents);
  if (!report.obstacle.empty()) return report;
  Execution execution(plan, contents, stop);
  execute::Unroll(plan, contents, [&](const execute::Instruction& instruction) {
    return execution.Run(instruction);
  });
  return execution.TakeReport();
}

}  // namespace tessera::plan::lowering
