// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tessera/plan/execute/reads.h"
#include "tessera/plan/lowering/performer.h"
#include "tessera/plan/verify/residency.h"

// Checks of operators. The reference definition (execute/reads.h) determines the elements from
// which the results of a run are computed. Each must lie at the address that the run's regions
// state. A region must be the hull of these elements, and its pads must be the taps outside the
// tensor, because an engine receives no other information.
namespace tessera::plan::lowering {

using execute::Contents;
using execute::Tag;
using plan::Box;
using plan::ElementSet;

// The slice of K that a run computes follows from the plan's policy and the profile alone.
std::optional<Performer::SplitKRound> Performer::SplitKRoundOf(const Job& job,
                                                               const Run& run) const {
  const auto subgraph =
      std::find_if(plan_.subgraphs.begin(), plan_.subgraphs.end(), [&](const Subgraph& each) {
        return each.interval.first <= job.op && job.op <= each.interval.last;
      });
  if (subgraph == plan_.subgraphs.end()) return std::nullopt;
  const std::optional<verify::KSlices> slices = verify::FindKSlices(plan_, *subgraph);
  if (!slices) return std::nullopt;
  const plan::Range k_extent = slices->SliceAt(run.round);
  return SplitKRound{k_extent, run.round, k_extent.end == slices->k_extent};
}

int64_t Performer::FirstNumberOf(const ResolvedRegion& resolved) const {
  if (!round_) return 0;
  const int64_t rounds = resolved.operand->part == Part::kPartialSums ? round_->number
                         : resolved.operand->part == Part::kAddend    ? round_->number - 1
                                                                      : 0;
  return rounds * graph::ElementsOf(resolved.shape);
}

// Scratch is written first, so that operands in the same cells are lost before they are read. After
// the results are written, the scratch must be intact.
void Performer::Compute(const graph::Operator& op,
                        const std::vector<ResolvedRegion>& resolved_regions) {
  Box made = plan::EmptyOf(contents_.ShapeOf(op.outputs.front()));
  scratch_cells_ = 0;
  for (const ResolvedRegion& resolved : resolved_regions) {
    const Part part = resolved.operand->part;
    const bool result = part == Part::kOutput && resolved.content == op.outputs.front();
    if (result || part == Part::kPartialSums) made = resolved.Box();
    if (part == Part::kScratch) UseScratch(resolved);
  }
  CheckAllGiven(op, resolved_regions, made);
  for (const ResolvedRegion& resolved : resolved_regions) {
    BeginOperand();
    if (!resolved.Writes()) ReadOperand(op, resolved, made);
    ReportTroubles();
  }
  for (const ResolvedRegion& resolved : resolved_regions) {
    if (resolved.Writes() && resolved.operand->part != Part::kScratch) WriteResult(op, resolved);
    ReportTroubles();
  }
  for (const ResolvedRegion& resolved : resolved_regions) {
    if (resolved.operand->part == Part::kScratch) CheckScratch(resolved);
  }
}

void Performer::UseScratch(const ResolvedRegion& scratch) {
  scratch_cells_ = scratch.region.extent.front();
  const TaggedMemories::Cells cells = {scratch.base, 1, scratch_cells_};
  WriteCells(scratch, cells, Contents::TagOf(scratch.content, 0), 0);
  NoteBanks(scratch, cells, read_banks_);
  ReportTroubles();
}

void Performer::CheckScratch(const ResolvedRegion& scratch) {
  const Tag tag = Contents::TagOf(scratch.content, 0);
  for (int64_t i = 0; i < scratch_cells_; ++i) {
    if (memories_.TagAt(scratch.operand->memory, scratch.base + i) != tag)
      ReportOnce(FindingKind::kOverwritten, "its result lies in its own scratch");
  }
}

ElementSet Performer::ReadsOf(const graph::Operator& op, Part part, size_t position,
                              const Box& made) const {
  return execute::ReadsOfOperand(plan_.network, op, part, position, made,
                                 round_ ? std::optional(round_->k_extent) : std::nullopt,
                                 contents_.TableBytes(op));
}

// Every operand that the operator reads must have a region.
void Performer::CheckAllGiven(const graph::Operator& op,
                              const std::vector<ResolvedRegion>& resolved_regions,
                              const Box& made) {
  const auto check = [&](Part part, size_t position, int content) {
    if (IsEmpty(HullOf(ReadsOf(op, part, position, made), contents_.ShapeOf(content)))) return;
    const bool given = std::any_of(
        resolved_regions.begin(), resolved_regions.end(), [&](const ResolvedRegion& resolved) {
          return resolved.operand->part == part &&
                 resolved.operand->position == static_cast<int>(position) &&
                 resolved.content == content;
        });
    if (!given)
      ReportOnce(FindingKind::kMalformed,
                 fmt::format("needs {}, which it is not given", contents_.NameOf(content)));
  };
  for (size_t i = 0; i < op.inputs.size(); ++i) check(Part::kInput, i, op.inputs[i]);
  for (size_t i = 0; i < op.weights.size(); ++i) {
    check(Part::kConstant, i, op.weights[i]);
    const int table = contents_.TablesOf(op.weights[i]);
    const bool wanted = i == 0 && (!round_ || round_->last);
    if (wanted && contents_.ShapeOf(table).front() > 0) check(Part::kTable, i, table);
  }
  if (!round_) return;
  const auto has = [&resolved_regions](Part part) {
    return std::any_of(
        resolved_regions.begin(), resolved_regions.end(),
        [part](const ResolvedRegion& resolved) { return resolved.operand->part == part; });
  };
  if (has(Part::kAddend) != (round_->number > 0))
    ReportOnce(FindingKind::kMalformed, "does not add to the sums of the round before");
  if (has(Part::kPartialSums) == round_->last || has(Part::kOutput) != round_->last)
    ReportOnce(FindingKind::kMalformed,
               "does not leave sums until the last round, and the result then");
}

// The region may extend beyond the elements that are read only where stored pads lie next to it.
void Performer::CheckOperand(const graph::Operator& op, const ResolvedRegion& resolved,
                             const ElementSet& reads) {
  const Box hull = HullOf(reads, resolved.shape);
  const Box given = resolved.Box();
  for (size_t axis = 0; axis < hull.size(); ++axis) {
    const bool to_pads =
        !reads.axes.empty() && resolved.operand->stored_pads && !resolved.operand->padded_around;
    const bool above =
        to_pads && reads.axes[axis].front() < 0 && given[axis].begin <= hull[axis].begin;
    const bool below = to_pads && reads.axes[axis].back() >= resolved.shape[axis] &&
                       given[axis].end >= hull[axis].end;
    if ((above || given[axis].begin == hull[axis].begin) &&
        (below || given[axis].end == hull[axis].end))
      continue;
    return ReportOnce(FindingKind::kMalformed,
                      fmt::format("has a region of {} that is not what it reads",
                                  contents_.NameOf(resolved.content)));
  }
  if (resolved.operand->part == Part::kInput) CheckPads(op, resolved, reads);
}

void Performer::CheckPads(const graph::Operator& op, const ResolvedRegion& resolved,
                          const ElementSet& reads) {
  const bool none = resolved.region.pad_low.empty();
  bool any = false;
  for (size_t axis = 0; axis < reads.axes.size(); ++axis) {
    const int64_t low = std::max<int64_t>(0, -reads.axes[axis].front());
    const int64_t high = std::max<int64_t>(0, reads.axes[axis].back() + 1 - resolved.shape[axis]);
    if (low != (none ? 0 : resolved.region.pad_low[axis]) ||
        high != (none ? 0 : resolved.region.pad_high[axis]))
      return ReportOnce(FindingKind::kMalformed, fmt::format("has other pads of {} than it reads",
                                                             contents_.NameOf(resolved.content)));
    any = any || low + high > 0;
  }
  const bool stored = base::TraitsOf(op.kind).slides && !plan_.profile.tiling.implicit_padding &&
                      resolved.operand->memory == plan_.profile.tile_memory;
  if (any && stored != resolved.operand->stored_pads)
    ReportOnce(FindingKind::kMalformed, fmt::format("looks for pads of {} in the wrong place",
                                                    contents_.NameOf(resolved.content)));
}

void Performer::ReadOperand(const graph::Operator& op, const ResolvedRegion& resolved,
                            const Box& made) {
  const auto position = static_cast<size_t>(resolved.operand->position);
  const bool addend = resolved.operand->part == Part::kAddend && round_;
  const std::vector<int>& list = addend                                   ? op.outputs
                                 : resolved.operand->part == Part::kInput ? op.inputs
                                                                          : op.weights;
  const bool is_table = resolved.operand->part == Part::kTable;
  if (position >= list.size() || list[position] != resolved.operand->tensor ||
      is_table != resolved.operand->table || resolved.operand->part == Part::kFrom ||
      (resolved.operand->part == Part::kAddend && !addend))
    return ReportOnce(FindingKind::kMalformed,
                      fmt::format("has no operand {}", contents_.NameOf(resolved.content)));
  const ElementSet reads = ReadsOf(op, resolved.operand->part, position, made);
  if (IsEmpty(HullOf(reads, resolved.shape)))
    return ReportOnce(
        FindingKind::kMalformed,
        fmt::format("has a region of {} and reads none of it", contents_.NameOf(resolved.content)));
  CheckOperand(op, resolved, reads);
  if (reported_) return;
  const auto read = [&](const Series& series) {
    if (!series.first.pad || resolved.operand->stored_pads) Read(resolved, series);
  };
  if (!reads.numbers) {
    Walk walk = resolved.Of(reads.axes);
    const std::vector<size_t> nesting = resolved.Nesting(walk);
    return ForEachSeries(Nested(std::move(walk), nesting), read);
  }
  for (const int64_t number : *reads.numbers) {
    Series series;
    const std::vector<int64_t> element = plan::CoordinatesOf(number, resolved.shape);
    for (size_t axis = 0; axis < element.size(); ++axis)
      series.first.address += resolved.At(axis, element[axis]).address;
    series.first.number = number;
    read(series);
  }
}

// Whether the profile's engines can put the operator's result in the place of its operand, channel
// by channel.
bool Performer::WorksByChannel(const graph::Operator& op) const {
  const auto& kinds = plan_.profile.tiling.in_place;
  return std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end() &&
         execute::MapsChannels(plan_.network, op);
}

// Whether a channel of the result fits into the scratch of the run.
bool Performer::HasRoomForAChannel(const ResolvedRegion& result) const {
  int64_t cells = result.element_cells;
  for (size_t axis = 0; axis < result.region.extent.size(); ++axis) {
    if (plan::MeaningOf(result.shape.size(), axis) != base::Axis::kChannels)
      cells *= result.region.extent[axis];
  }
  return cells <= scratch_cells_;
}

// Whether a result may replace an element of an operand that this run has read: element by element,
// or channel by channel if the element is of the same channel or a previous one.
bool Performer::MayReplace(const graph::Operator& op, Tag old_tag, Tag new_tag,
                           const ResolvedRegion& resolved) const {
  if (Contents::ContentOf(new_tag) != resolved.content) return false;
  const int old_content = Contents::ContentOf(old_tag);
  if (resolved.operand->part == Part::kPartialSums && old_content == resolved.content) {
    const int64_t grown = graph::ElementsOf(resolved.shape) * resolved.element_cells;
    return Contents::NumberOf(new_tag) == Contents::NumberOf(old_tag) + grown;
  }
  if (std::find(op.inputs.begin(), op.inputs.end(), old_content) == op.inputs.end()) return false;
  if (WorksByChannel(op) && old_content == op.inputs.front())
    return HasRoomForAChannel(resolved) &&
           contents_.CoordinatesOf(old_tag)[1] <= contents_.CoordinatesOf(new_tag)[1];
  if (contents_.CellsPerElement(old_content) != resolved.element_cells ||
      !contents_.IsSameElement(new_tag, old_tag))
    return false;
  const auto& kinds = plan_.profile.tiling.in_place;
  const bool named = std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i] != old_content) continue;
    const bool described =
        std::find(op.in_place.begin(), op.in_place.end(), static_cast<int>(i)) != op.in_place.end();
    const bool stays = op.kind == base::OperatorKind::kConcat && i == 0;
    if (!(named || described || stays) || !execute::IsPointwise(plan_.network, op, i)) return false;
  }
  return true;
}

void Performer::WriteResult(const graph::Operator& op, const ResolvedRegion& resolved) {
  const auto position = static_cast<size_t>(resolved.operand->position);
  const bool sums = resolved.operand->part == Part::kPartialSums && round_ && !round_->last;
  if ((resolved.operand->part != Part::kOutput && !sums) || position >= op.outputs.size() ||
      op.outputs[position] != resolved.operand->tensor)
    return ReportOnce(FindingKind::kMalformed,
                      fmt::format("has no result {}", contents_.NameOf(resolved.content)));
  Walk walk = resolved.Elements();
  const std::vector<size_t> nesting = resolved.Nesting(walk);
  walk = Nested(std::move(walk), nesting);
  if (MayHaveRead(resolved)) CheckInPlace(op, resolved, walk);
  BeginAnew(resolved);
  ForEachSeries(walk, [&](const Series& series) { Write(resolved, series); });
  WritePads(resolved);
}

// Whether the result reaches cells near those that the run has read.
bool Performer::MayHaveRead(const ResolvedRegion& resolved) const {
  return std::any_of(read_spans_.begin(), read_spans_.end(), [&](const ReadSpan& read) {
    const bool apart = resolved.buffer.end > 0 && (read.cells.end <= resolved.buffer.begin ||
                                                   resolved.buffer.end <= read.cells.begin);
    return read.operand->memory == resolved.operand->memory && !apart;
  });
}

// Results may be written before the last operand is read. An element may cover one that it
// replaces; gaps and pads, which are written too, cover nothing that has been read.
void Performer::CheckInPlace(const graph::Operator& op, const ResolvedRegion& result,
                             const Walk& walk) {
  const int memory = result.operand->memory;
  const auto refuse = [&](int64_t cell) {
    ReportOnce(
        FindingKind::kInPlace,
        fmt::format("overwrites its own operand {} at address {}, which it may still have to read",
                    contents_.Describe(memories_.TagAt(memory, cell)),
                    cell / contents_.CellsPerByte()));
  };
  std::set<int64_t> replaced;
  const auto look = [&](const Series& series) {
    const Tag first = TagOf(result, series);
    const Tag step = TagStep(result, series);
    for (int64_t i = 0; i < series.count; ++i) {
      for (int64_t part = 0; part < result.element_cells; ++part) {
        const int64_t cell = result.base + series.first.address + i * series.address_step + part;
        if (!memories_.HasRead(memory, cell)) continue;
        const Tag coming = first + static_cast<Tag>(i) * step + static_cast<Tag>(part);
        if (!MayReplace(op, memories_.TagAt(memory, cell), coming, result)) {
          refuse(cell);
        } else if (result.region.fills) {
          replaced.insert(cell);
        }
      }
    }
  };
  ForEachSeries(walk, look);
  for (int64_t cell = result.buffer.begin; result.region.fills && cell < result.buffer.end;
       ++cell) {
    if (memories_.HasRead(memory, cell) && !replaced.contains(cell)) refuse(cell);
  }
  if (!result.region.pad_low.empty()) {
    ForEachSeries(result.ElementsAndPads(), [&](const Series& series) {
      if (series.first.pad) look(series);
    });
  }
  if (reported_ && WorksByChannel(op) && !HasRoomForAChannel(result))
    listener_.ReportFault(FindingKind::kOutside,
                          "its scratch has no room for a channel of its result");
}

}  // namespace tessera::plan::lowering
