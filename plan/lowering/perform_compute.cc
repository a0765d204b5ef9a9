#include <fmt/core.h>

#include <algorithm>

#include "tessera/plan/execute/reads.h"
#include "tessera/plan/lowering/performer.h"

// Operators: the judge (execute/reads.h) names the elements that the results of a run are made from; each must lie where the run's
// regions say. A region must be the hull of these elements, and its pads the taps beyond the tensor, since an engine is given no
// more than that.
namespace tessera::plan::lowering {

using execute::Box;
using execute::Contents;
using execute::ElementSet;
using execute::Tag;

// Which slice of the depth a run takes follows from the plan's policy and the profile alone.
std::optional<Performer::DepthRound> Performer::DepthRoundOf(const Job& job, const Run& run) const {
  const graph::Operator& op = plan_.network.operators[static_cast<size_t>(job.op)];
  const auto subgraph = std::find_if(
      plan_.subgraphs.begin(), plan_.subgraphs.end(),
      [&](const Subgraph& each) { return each.interval.first <= job.op && job.op <= each.interval.last; });
  const bool by_depth = subgraph != plan_.subgraphs.end() &&
                        subgraph->weights == hw_profiles::WeightPolicy::kByDepth && !op.inputs.empty();
  if (!by_depth) return std::nullopt;
  const std::optional<size_t> axis = execute::DepthAxisOfInput(plan_.network, op, 0);
  if (!axis) return std::nullopt;
  const int64_t depth = contents_.ShapeOf(op.inputs.front())[*axis];
  const int64_t granule = subgraph->depth > 0 ? subgraph->depth : plan_.profile.tiling.depth_granule;
  const int64_t begin = std::min(run.round * granule, depth);
  const int64_t end = std::min(begin + granule, depth);
  return DepthRound{{begin, end}, run.round, end == depth};
}

int64_t Performer::FirstNumberOf(const Reach& reach) const {
  if (!round_) return 0;
  const int64_t rounds = reach.operand->part == Part::kSums     ? round_->number
                         : reach.operand->part == Part::kAddend ? round_->number - 1
                                                                : 0;
  return rounds * graph::ElementsOf(reach.shape);
}

void Performer::Compute(const graph::Operator& op, const std::vector<Reach>& reaches) {
  Box made = execute::EmptyBox(contents_.ShapeOf(op.outputs.front()));
  scratch_bytes_ = 0;
  for (const Reach& reach : reaches) {
    const bool result = reach.operand->part == Part::kOutput && reach.content == op.outputs.front();
    if (result || reach.operand->part == Part::kSums) made = reach.Box();
    if (reach.operand->part == Part::kScratch) scratch_bytes_ = reach.region.extent.front();
  }
  CheckAllGiven(op, reaches, made);
  for (const Reach& reach : reaches) {
    told_ = false;
    if (!reach.Writes()) ReadOperand(op, reach, made);
  }
  for (const Reach& reach : reaches) {
    told_ = false;
    if (reach.Writes()) WriteResult(op, reach);
  }
}

ElementSet Performer::ReadsOf(const graph::Operator& op, Part part, size_t position, const Box& made) const {
  ElementSet reads;
  if (part == Part::kInput) {
    reads = ReadsOfInput(plan_.network, op, position, made);
    if (round_) KeepDepth(execute::DepthAxisOfInput(plan_.network, op, position), round_->depth, reads);
    return reads;
  }
  if (part == Part::kConstant) {
    reads = ReadsOfConstant(plan_.network, op, position, made);
    if (round_) KeepDepth(execute::DepthAxisOfConstant(plan_.network, op, position), round_->depth, reads);
    return reads;
  }
  if (part == Part::kAddend) return execute::AllOf(made);
  return ReadsOfTable(plan_.network, op, position, contents_.TableBytes(op), made);
}

// Whatever the operator reads must have a region.
void Performer::CheckAllGiven(const graph::Operator& op, const std::vector<Reach>& reaches, const Box& made) {
  const auto check = [&](Part part, size_t position, int content) {
    if (IsEmpty(HullOf(ReadsOf(op, part, position, made), contents_.ShapeOf(content)))) return;
    const bool given = std::any_of(reaches.begin(), reaches.end(), [&](const Reach& reach) {
      return reach.operand->part == part && reach.operand->position == static_cast<int>(position) &&
             reach.content == content;
    });
    if (!given) TellOnce(fmt::format("needs {}, which it is not given", contents_.NameOf(content)));
  };
  for (size_t i = 0; i < op.inputs.size(); ++i) check(Part::kInput, i, op.inputs[i]);
  for (size_t i = 0; i < op.weights.size(); ++i) {
    check(Part::kConstant, i, op.weights[i]);
    const int table = contents_.TablesOf(op.weights[i]);
    const bool wanted = i == 0 && (!round_ || round_->last);
    if (wanted && contents_.ShapeOf(table).front() > 0) check(Part::kTable, i, table);
  }
  if (!round_) return;
  const auto has = [&reaches](Part part) {
    return std::any_of(reaches.begin(), reaches.end(),
                       [part](const Reach& reach) { return reach.operand->part == part; });
  };
  if (has(Part::kAddend) != (round_->number > 0)) TellOnce("does not add to the sums of the round before");
  if (has(Part::kSums) == round_->last || has(Part::kOutput) != round_->last)
    TellOnce("does not leave sums until the last round, and the result then");
}

// It may go further than what is read only to where stored pads stand beside it.
void Performer::CheckOperand(const graph::Operator& op, const Reach& reach, const ElementSet& reads) {
  const Box hull = HullOf(reads, reach.shape);
  const Box given = reach.Box();
  for (size_t axis = 0; axis < hull.size(); ++axis) {
    const bool to_pads = !reads.axes.empty() && reach.operand->stored_pads && !reach.operand->bordered;
    const bool above = to_pads && reads.axes[axis].front() < 0 && given[axis].begin <= hull[axis].begin;
    const bool below =
        to_pads && reads.axes[axis].back() >= reach.shape[axis] && given[axis].end >= hull[axis].end;
    if ((above || given[axis].begin == hull[axis].begin) && (below || given[axis].end == hull[axis].end))
      continue;
    return TellOnce(
        fmt::format("has a region of {} that is not what it reads", contents_.NameOf(reach.content)));
  }
  if (reach.operand->part == Part::kInput) CheckPads(op, reach, reads);
}

void Performer::CheckPads(const graph::Operator& op, const Reach& reach, const ElementSet& reads) {
  const bool none = reach.region.pad_low.empty();
  bool any = false;
  for (size_t axis = 0; axis < reads.axes.size(); ++axis) {
    const int64_t low = std::max<int64_t>(0, -reads.axes[axis].front());
    const int64_t high = std::max<int64_t>(0, reads.axes[axis].back() + 1 - reach.shape[axis]);
    if (low != (none ? 0 : reach.region.pad_low[axis]) || high != (none ? 0 : reach.region.pad_high[axis]))
      return TellOnce(fmt::format("has other pads of {} than it reads", contents_.NameOf(reach.content)));
    any = any || low + high > 0;
  }
  const bool windowed = op.kind == base::OperatorKind::kConv || op.kind == base::OperatorKind::kDepthwise ||
                        op.kind == base::OperatorKind::kPool;
  const bool stored = windowed && !plan_.profile.tiling.implicit_padding &&
                      reach.operand->memory == plan_.profile.tile_memory;
  if (any && stored != reach.operand->stored_pads)
    TellOnce(fmt::format("looks for pads of {} in the wrong place", contents_.NameOf(reach.content)));
}

void Performer::ReadOperand(const graph::Operator& op, const Reach& reach, const Box& made) {
  const auto position = static_cast<size_t>(reach.operand->position);
  const bool addend = reach.operand->part == Part::kAddend && round_;
  const std::vector<int>& list = addend                                ? op.outputs
                                 : reach.operand->part == Part::kInput ? op.inputs
                                                                       : op.weights;
  const bool is_table = reach.operand->part == Part::kTable;
  if (position >= list.size() || list[position] != reach.operand->tensor ||
      is_table != reach.operand->table || reach.operand->part == Part::kFrom ||
      (reach.operand->part == Part::kAddend && !addend))
    return TellOnce(fmt::format("has no operand {}", contents_.NameOf(reach.content)));
  const ElementSet reads = ReadsOf(op, reach.operand->part, position, made);
  if (IsEmpty(HullOf(reads, reach.shape)))
    return TellOnce(fmt::format("has a region of {} and reads none of it", contents_.NameOf(reach.content)));
  CheckOperand(op, reach, reads);
  if (told_) return;
  if (!reads.listed) {
    ForEachPoint(reach.Nearby(reach.Of(reads.axes)), [&](const Point& point) { ReadElement(reach, point); });
    return;
  }
  for (const int64_t number : *reads.listed) {
    Point point;
    const std::vector<int64_t> element = execute::CoordinatesOf(number, reach.shape);
    for (size_t axis = 0; axis < element.size(); ++axis)
      point.address += reach.At(axis, element[axis]).address;
    point.number = number;
    ReadElement(reach, point);
  }
}

void Performer::ReadElement(const Reach& reach, const Point& point) {
  if (point.pad && !reach.operand->stored_pads) return;
  for (int64_t part = 0; part < reach.element_bytes; ++part) {
    const int64_t byte = reach.base + point.address + part;
    ReadByte(reach, byte);
    const Tag wanted =
        point.pad ? Contents::TagOf(contents_.PaddingOf(reach.operand->tensor), 0)
                  : Contents::TagOf(reach.content,
                                    (FirstNumberOf(reach) + point.number) * reach.element_bytes + part);
    const Tag found = memories_.TagAt(reach.operand->memory, byte);
    if (found != wanted)
      TellOnce(fmt::format("reads {} at address {}, which holds {}", contents_.Describe(wanted), byte,
                           contents_.Describe(found)));
  }
}

// Whether a channel of the result has room in the scratch of the run.
bool Performer::HasRoomForAChannel(const Reach& result) const {
  int64_t bytes = result.element_bytes;
  for (size_t axis = 0; axis < result.region.extent.size(); ++axis) {
    if (execute::MeaningOf(result.shape.size(), axis) != base::Axis::kChannels)
      bytes *= result.region.extent[axis];
  }
  return bytes <= scratch_bytes_;
}

// Whether a result may take the place of an operand's element that this run has read: element by element, or channel by channel
// where it is of the same channel or one before.
bool Performer::MayReplace(const graph::Operator& op, Tag old_tag, Tag new_tag, const Reach& reach) const {
  if (Contents::ContentOf(new_tag) != reach.content) return false;
  if (reach.operand->part == Part::kSums && Contents::ContentOf(old_tag) == reach.content) {
    const int64_t grown = graph::ElementsOf(reach.shape) * reach.element_bytes;
    return Contents::NumberOf(new_tag) == Contents::NumberOf(old_tag) + grown;
  }
  const auto& kinds = plan_.profile.tiling.in_place;
  const bool named = std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
  if (named && execute::MapsChannels(plan_.network, op) && Contents::ContentOf(old_tag) == op.inputs.front())
    return HasRoomForAChannel(reach) &&
           contents_.CoordinatesOf(old_tag)[1] <= contents_.CoordinatesOf(new_tag)[1];
  const int old_content = Contents::ContentOf(old_tag);
  if (std::find(op.inputs.begin(), op.inputs.end(), old_content) == op.inputs.end()) return false;
  if (!contents_.IsSameElement(new_tag, old_tag)) return false;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i] != Contents::ContentOf(old_tag)) continue;
    const bool described =
        std::find(op.in_place.begin(), op.in_place.end(), static_cast<int>(i)) != op.in_place.end();
    const bool stays = op.kind == base::OperatorKind::kConcat && i == 0;
    if (!(named || described || stays) || !execute::IsPointwise(plan_.network, op, i)) return false;
  }
  return true;
}

void Performer::WriteResult(const graph::Operator& op, const Reach& reach) {
  const bool scratch = reach.operand->part == Part::kScratch;
  const auto position = static_cast<size_t>(reach.operand->position);
  const bool sums = reach.operand->part == Part::kSums && round_ && !round_->last;
  if (!scratch && ((reach.operand->part != Part::kOutput && !sums) || position >= op.outputs.size() ||
                   op.outputs[position] != reach.operand->tensor))
    return TellOnce(fmt::format("has no result {}", contents_.NameOf(reach.content)));
  const auto tag_of = [&](const Point& point, int64_t part) {
    const int64_t number = FirstNumberOf(reach) + point.number;
    return Contents::TagOf(reach.content, scratch ? 0 : number * reach.element_bytes + part);
  };
  const Walk walk = reach.Nearby(reach.Elements());
  ForEachPoint(walk, [&](const Point& point) {
    for (int64_t part = 0; part < reach.element_bytes; ++part) {
      const int64_t byte = reach.base + point.address + part;
      if (memories_.HasRead(reach.operand->memory, byte) &&
          !MayReplace(op, memories_.TagAt(reach.operand->memory, byte), tag_of(point, part), reach))
        TellOnce(fmt::format("overwrites its own operand at address {}", byte));
    }
  });
  BeginAnew(reach);
  ForEachPoint(walk, [&](const Point& point) {
    for (int64_t part = 0; part < reach.element_bytes; ++part)
      WriteByte(reach, reach.base + point.address + part, tag_of(point, part));
  });
  if (!scratch) WritePads(reach);
}

}  // namespace tessera::plan::lowering
