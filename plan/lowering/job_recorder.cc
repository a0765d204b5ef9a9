// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/lowering/job_recorder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tessera/plan/execute/places.h"
#include "tessera/plan/execute/reads.h"
#include "tessera/plan/lowering/byte_layout.h"

// A place gives the location of each element of a tensor. A region describes the location of one
// box in the form that an engine driver needs: the address of the first element and a stride for
// each axis. The parts that are the same for every tile (the buffer of a phase, the strides) go to
// the job's operand. The parts that depend on the tile go to the region, as an offset from the
// buffer's begin.
//
// Regions of inputs are the hulls of the elements from which, by the reference definition, the
// results are computed. Pads are the taps that fall outside the tensor.
namespace tessera::plan::lowering {
namespace {

using execute::AxisPlace;
using execute::Place;
using plan::Box;

void SetBox(FixedRegion& region, const Box& box) {
  for (const plan::Range& range : box) {
    region.begin.push_back(range.begin);
    region.extent.push_back(std::max<int64_t>(0, range.end - range.begin));
  }
}

void DropPadsOfNone(FixedRegion& region) {
  const auto none = [](const std::vector<int64_t>& pads) {
    return std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; });
  };
  if (!none(region.pad_low) || !none(region.pad_high)) return;
  region.pad_low.clear();
  region.pad_high.clear();
}

bool IsLike(const Operand& a, const Operand& b) {
  return a.part == b.part && a.position == b.position && a.tensor == b.tensor &&
         a.table == b.table && a.memory == b.memory && a.strides == b.strides &&
         a.rolling_buffer_rows == b.rolling_buffer_rows && a.stored_pads == b.stored_pads &&
         a.padded_around == b.padded_around;
}

Part PartOf(execute::Operand::Kind kind) {
  switch (kind) {
    case execute::Operand::Kind::kInput:
      return Part::kInput;
    case execute::Operand::Kind::kConstant:
      return Part::kConstant;
    case execute::Operand::Kind::kTable:
      return Part::kTable;
    case execute::Operand::Kind::kPartialSums:
      break;
  }
  return Part::kAddend;
}

// The pads of a tile lie next to the held data, so the region extends over them. Returns whether
// any axis stores pads.
bool ReachPads(const plan::ElementSet& reads, const Place& place, Box& region) {
  bool stored = false;
  for (size_t axis = 0; axis < reads.axes.size(); ++axis) {
    const AxisPlace& at = place.axes[axis];
    if (at.pad_low + at.pad_high == 0) continue;
    stored = true;
    if (place.padded_around) continue;
    if (reads.axes[axis].front() < 0) region[axis].begin = at.held.begin;
    if (reads.axes[axis].back() >= at.extent) region[axis].end = at.held.end;
  }
  return stored;
}

// Whether no phase would have two modes.
bool MayShare(const std::vector<int>& a, const std::vector<int>& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] >= 0 && b[i] >= 0 && a[i] != b[i]) return false;
  }
  return true;
}

// Joins the spots of two operands that are the same, if none contradicts another.
bool JoinSpot(Operand& operand, const Spot& spot) {
  for (const Spot& known : operand.spots) {
    if (known.phase == spot.phase && known.slot == spot.slot) return known == spot;
  }
  operand.spots.push_back(spot);
  std::sort(operand.spots.begin(), operand.spots.end(), [](const Spot& a, const Spot& b) {
    return std::pair(a.phase, a.slot) < std::pair(b.phase, b.slot);
  });
  return true;
}

}  // namespace

BuffersById FindBuffers(const Plan& plan) {
  BuffersById buffers;
  for (size_t i = 0; i < plan.problem.buffers.size(); ++i)
    buffers.emplace(plan.problem.buffers[i].id, i);
  return buffers;
}

Recorder::Recorder(const Plan& plan, const execute::Contents& contents, const BuffersById& buffers)
    : plan_(plan), contents_(contents), buffers_(buffers) {}

void Recorder::Record(const execute::StartTransfer& transfer) {
  Job job;
  job.does = transfer.out ? Does::kStore : Does::kLoad;
  job.op = transfer.op;
  job.tensor = transfer.tensor;
  job.on = transfer.link;
  job.gives_way = transfer.gives_way;
  AddMoves(std::move(job), transfer.turn, transfer.moves);
}

void Recorder::Record(const execute::Copy& copy) {
  Job job;
  job.does = copy.restores ? Does::kRestore : Does::kSave;
  job.op = copy.op;
  job.on = copy.engine;
  AddMoves(std::move(job), copy.turn, copy.moves);
}

void Recorder::SetMode(int mode, Before before, int op, int64_t tile, int phase) {
  Job like;
  like.does = Does::kMode;
  like.op = op;
  like.before = before;
  like.once = tile < 0;
  like.modes.resize(static_cast<size_t>(phase) + 1, -1);
  like.modes.back() = mode;
  const int number = JobFor(like);
  Job& job = jobs_[static_cast<size_t>(number)];
  if (job.modes.size() < like.modes.size()) job.modes.resize(like.modes.size(), -1);
  job.modes[static_cast<size_t>(phase)] = mode;
  const int64_t round = switches_[{number, tile}]++;
  job.rounds = std::max(job.rounds, round + 1);
  job_runs_.push_back({number, {tile, phase, round, 1, 0}, {}});
}

void Recorder::AddMoves(Job like, const RunIndex& turn, const std::vector<execute::Move>& moves) {
  std::vector<Found> found;
  for (size_t i = 0; i < moves.size(); ++i) {
    const execute::Move& move = moves[i];
    Found from = Find(move.from, move.box, turn);
    Found to = Find(move.to, move.box, turn);
    from.operand.part = Part::kFrom;
    to.operand.part = Part::kTo;
    from.operand.position = to.operand.position = static_cast<int>(i);
    to.region.fills = move.fills;
    AddWrittenPads(move.to, move.box, to.region);
    const bool writes = WritesSomething(to);
    to.region.begin.clear();
    to.region.extent.clear();
    if (!writes) continue;
    found.push_back(std::move(from));
    found.push_back(std::move(to));
  }
  Add(std::move(like), turn, std::move(found));
}

void Recorder::Record(const execute::Compute& compute) {
  const RunIndex& turn = compute.turn;
  Job job;
  job.does = Does::kCompute;
  job.op = compute.op;
  job.on = compute.engine;
  std::vector<Found> results;
  for (size_t i = 0; i < compute.results.size(); ++i) {
    const execute::Result& result = compute.results[i];
    Found found = Find(result.place, result.box, turn);
    const bool sums = result.place.content == contents_.PartialSumsOf(compute.op);
    found.operand.part = sums ? Part::kPartialSums : Part::kOutput;
    found.operand.position = static_cast<int>(i);
    found.region.fills = result.fills;
    AddWrittenPads(result.place, result.box, found.region);
    if (WritesSomething(found)) results.push_back(std::move(found));
  }
  if (results.empty()) return;
  std::vector<Found> found;
  AddOperands(compute, turn, found);
  found.insert(found.end(), results.begin(), results.end());
  if (compute.scratch) {
    Operand scratch;
    scratch.part = Part::kScratch;
    scratch.memory = plan_.profile.tile_memory;
    scratch.strides = {1};
    scratch.spots = {{turn.phase, 0, compute.scratch->buffer, compute.scratch->cells.begin}};
    FixedRegion all;
    all.begin = {0};
    all.extent = {compute.scratch->cells.end - compute.scratch->cells.begin};
    found.push_back({std::move(scratch), std::move(all)});
  }
  Add(std::move(job), turn, std::move(found));
}

void Recorder::AddOperands(const execute::Compute& compute, const RunIndex& turn,
                           std::vector<Found>& found) {
  const graph::Operator& op = plan_.network.operators[static_cast<size_t>(compute.op)];
  const Box& made = compute.results.front().box;
  for (const execute::Operand& operand : compute.operands) {
    const graph::Shape& shape = contents_.ShapeOf(operand.place.content);
    const plan::ElementSet reads =
        execute::ReadsOfOperand(plan_.network, op, PartOf(operand.kind), operand.position, made,
                                compute.k_extent, contents_.TableBytes(op));
    Box region = HullOf(reads, shape);
    if (plan::IsEmpty(region)) continue;
    const bool stored = ReachPads(reads, operand.place, region);
    Found read = Find(operand.place, region, turn);
    read.operand.part = PartOf(operand.kind);
    read.operand.position = static_cast<int>(operand.position);
    read.operand.stored_pads = stored;
    for (size_t axis = 0; axis < reads.axes.size(); ++axis) {
      const std::vector<int64_t>& indices = reads.axes[axis];
      read.region.pad_low.push_back(std::max<int64_t>(0, -indices.front()));
      read.region.pad_high.push_back(std::max<int64_t>(0, indices.back() + 1 - shape[axis]));
    }
    DropPadsOfNone(read.region);
    found.push_back(std::move(read));
  }
}

// The tensor that the partial sums become.
int Recorder::ResultOf(int sums) const {
  return plan_.network.operators[static_cast<size_t>(sums - contents_.PartialSumsOf(0))]
      .outputs.front();
}

Recorder::Found Recorder::Find(const Place& place, const Box& box, const RunIndex& turn) {
  Found found;
  Spot spot;
  const auto tensors = static_cast<int>(plan_.network.tensors.size());
  const bool sums = place.content >= contents_.PartialSumsOf(0);
  found.operand.table = !sums && place.content >= tensors;
  found.operand.tensor = sums                  ? ResultOf(place.content)
                         : found.operand.table ? place.content - tensors
                                               : place.content;
  SetBox(found.region, box);
  if (place.where == execute::Where::kHome) {
    FindAtHome(place, box, found, spot);
  } else if (place.where == execute::Where::kNone) {
    Refuse(fmt::format("the plan has no buffer for {}", contents_.NameOf(place.content)));
  } else {
    found.operand.memory = plan_.profile.tile_memory;
    found.operand.padded_around = place.padded_around;
    spot.buffer = place.buffer;
    const size_t buffer = buffers_.at(place.buffer);
    const BufferKind kind = plan_.buffers[buffer].kind;
    spot.address = plan_.allocation.offsets[buffer] * contents_.CellsPerByte();
    if (kind == BufferKind::kSlice) spot.slot = turn.slot;
    if (kind == BufferKind::kSlice || kind == BufferKind::kTile || kind == BufferKind::kHalo ||
        kind == BufferKind::kAccumulator)
      spot.phase = turn.phase;
    found.region.offset = place.base - spot.address;
    for (size_t axis = 0; axis < place.axes.size(); ++axis) {
      const AxisPlace& at = place.axes[axis];
      found.operand.strides.push_back(at.address_step);
      const int64_t position = box[axis].begin - at.held.begin;
      if (at.modulus > 0) {
        found.operand.rolling_buffer_rows = at.modulus;
        found.region.turn = at.made_before + position;
      } else {
        found.region.offset += position * at.address_step;
      }
    }
  }
  found.operand.spots = {spot};
  return found;
}

const std::optional<HomeLocation>& Recorder::AtHome(int tensor) {
  const auto [known, fresh] = homes_.try_emplace(tensor);
  if (fresh) known->second = lowering::FindAtHome(plan_, contents_, tensor);
  return known->second;
}

void Recorder::FindAtHome(const Place& place, const Box& box, Found& found, Spot& spot) {
  const std::optional<HomeLocation>& home = AtHome(found.operand.tensor);
  if (!home)
    return Refuse(fmt::format("the plan says nowhere at which address {} lies",
                              contents_.NameOf(place.content)));
  found.operand.memory = home->memory;
  found.operand.strides =
      found.operand.table ? std::vector<int64_t>{contents_.CellsPerByte()} : home->strides;
  spot.address = found.operand.table ? home->table : home->address;
  for (size_t axis = 0; axis < box.size(); ++axis) {
    found.region.offset += box[axis].begin * found.operand.strides[axis];
  }
}

void Recorder::AddWrittenPads(const Place& place, const Box& box, FixedRegion& region) {
  if (place.where != execute::Where::kTileMemory) return;
  const plan::ElementSet elements = WithPads(place, box);
  for (size_t axis = 0; axis < box.size(); ++axis) {
    const std::vector<int64_t>& indices = elements.axes[axis];
    const auto outside = [&](int64_t index) { return index >= place.axes[axis].extent; };
    region.pad_low.push_back(
        std::count_if(indices.begin(), indices.end(), [](int64_t index) { return index < 0; }));
    region.pad_high.push_back(std::count_if(indices.begin(), indices.end(), outside));
  }
  DropPadsOfNone(region);
}

bool Recorder::WritesSomething(const Found& found) const {
  for (size_t axis = 0; axis < found.region.extent.size(); ++axis) {
    int64_t indices = found.region.extent[axis];
    if (!found.region.pad_low.empty())
      indices += found.region.pad_low[axis] + found.region.pad_high[axis];
    if (indices == 0) return false;
  }
  return true;
}

int Recorder::JobFor(const Job& like) {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const Job& job = jobs_[i];
    if (job.does == like.does && job.op == like.op && job.tensor == like.tensor &&
        job.before == like.before && job.once == like.once && job.gives_way == like.gives_way &&
        MayShare(job.modes, like.modes))
      return static_cast<int>(i);
  }
  jobs_.push_back(like);
  return static_cast<int>(jobs_.size()) - 1;
}

void Recorder::Add(Job like, const RunIndex& turn, std::vector<Found> found) {
  if (found.empty()) return;
  like.once = turn.tile < 0;
  like.rounds = turn.rounds;
  JobRun job_run = {JobFor(like), turn, {}};
  Job& job = jobs_[static_cast<size_t>(job_run.job)];
  job.rounds = std::max(job.rounds, turn.rounds);
  for (Found& each : found) {
    size_t at = 0;
    while (at < job.operands.size() && !(IsLike(job.operands[at], each.operand) &&
                                         JoinSpot(job.operands[at], each.operand.spots.front())))
      ++at;
    if (at == job.operands.size()) job.operands.push_back(std::move(each.operand));
    each.region.operand = at;
    job_run.regions.push_back(std::move(each.region));
  }
  job_runs_.push_back(std::move(job_run));
}

std::optional<JobRun> Recorder::TakeLast() {
  if (job_runs_.empty()) return std::nullopt;
  JobRun last = std::move(job_runs_.back());
  job_runs_.pop_back();
  return last;
}

}  // namespace tessera::plan::lowering
