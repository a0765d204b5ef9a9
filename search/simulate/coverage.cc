#include "tessera/search/simulate/coverage.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/region.h"

// Tiles overlap, so together they do at least what one tile of the whole output does, provided that they leave no holes: a
// convolution with a stride beyond its kernel skips rows, and small tiles then ask its producer for less than the hull that one
// large tile asks for. So an operator counts when somebody outside reads its result, or when an operator that counts reads it
// without holes; the rest counts nothing. The same where rows are kept: what a tile does not make again was made before.
namespace tessera::search {
namespace {

bool SlidesWithoutHoles(const graph::Window& window) {
  for (size_t axis = 0; axis < 2; ++axis) {
    if (window.dilation[axis] != 1 && window.kernel[axis] > 1) return false;
    if (window.stride[axis] > window.kernel[axis]) return false;
  }
  return true;
}

}  // namespace

Coverage::Coverage(const graph::Graph& graph, std::span<const graph::Usage> usages, graph::Interval interval)
    : graph_(&graph), usages_(usages) {
  const graph::Operator& last = OpAt(interval.last);
  whole_ = graph::Tile(graph, interval, graph.tensors[static_cast<size_t>(last.outputs.front())].shape);
  const bool shared = std::any_of(whole_.tensors.begin(), whole_.tensors.end(),
                                  [this](int tensor) { return ReadersInside(tensor) > 1; });
  if (shared) regions_ = graph::RegionsOfTile(graph, interval, graph::WholeBox(whole_.tile));
  counted_.assign(static_cast<size_t>(interval.last - interval.first) + 1, false);
  counted_.back() = true;
  for (int op = interval.last - 1; op >= interval.first; --op) {
    const std::vector<int>& outputs = OpAt(op).outputs;
    counted_[static_cast<size_t>(op - interval.first)] = std::any_of(
        outputs.begin(), outputs.end(), [this](int tensor) { return Leaves(tensor) || SurelyRead(tensor); });
  }
}

size_t Coverage::SlotOf(int tensor) const {
  const auto at = std::lower_bound(whole_.tensors.begin(), whole_.tensors.end(), tensor);
  return static_cast<size_t>(at - whole_.tensors.begin());
}

graph::ExtentsView Coverage::NeededOf(int tensor) const {
  return whole_.classes.front().needed[SlotOf(tensor)];
}

bool Coverage::SurelyRead(int tensor) const {
  std::vector<int> readers;
  for (const int op : usages_[static_cast<size_t>(tensor)].consumers) {
    if (Inside(op) && Counts(op) && ReadsWithoutHoles(OpAt(op), tensor)) readers.push_back(op);
  }
  if (readers.empty()) return false;
  return ReadersInside(tensor) == 1 || CoverTheHull(tensor, readers);
}

int Coverage::ReadersInside(int tensor) const {
  const std::vector<int>& consumers = usages_[static_cast<size_t>(tensor)].consumers;
  return static_cast<int>(
      std::count_if(consumers.begin(), consumers.end(), [this](int op) { return Inside(op); }));
}

// What several operators read may have gaps between them, which only the hull of one large tile fills.
bool Coverage::CoverTheHull(int tensor, const std::vector<int>& readers) const {
  const graph::Box& hull = regions_[SlotOf(tensor)];
  std::vector<graph::Box> parts;
  for (const int index : readers) {
    const graph::Operator& op = OpAt(index);
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] == tensor)
        parts.push_back(graph::InputRegion(*graph_, op, i, regions_[SlotOf(op.outputs.front())]));
    }
  }
  for (size_t axis = 0; axis < hull.size(); ++axis) {
    std::sort(parts.begin(), parts.end(),
              [axis](const graph::Box& a, const graph::Box& b) { return a[axis].begin < b[axis].begin; });
    int64_t end = hull[axis].begin;
    for (graph::Box part : parts) {
      const graph::Extent along = std::exchange(part[axis], hull[axis]);
      if (part == hull && along.begin <= end) end = std::max(end, along.end);
    }
    if (end == hull[axis].end) return true;
  }
  return hull.empty();
}

// An operand that others read too is as large as they want it; then this operator must want as much. So it does in those tiles in
// which it makes something, of which rows that are kept leave fewer than there are tiles.
bool Coverage::ReadsAndMakesAll(int index) const {
  const graph::Operator& op = OpAt(index);
  if (!Counts(index) || op.outputs.size() != 1 || !IsNeededWhole(op)) return false;
  const graph::Box made = graph::WholeBox(graph_->tensors[static_cast<size_t>(op.outputs.front())].shape);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (!ReadsWithoutHoles(op, op.inputs[i])) return false;
    const graph::Box wanted = graph::InputRegion(*graph_, op, i, made);
    const graph::ExtentsView needed = NeededOf(op.inputs[i]);
    if (!std::equal(wanted.begin(), wanted.end(), needed.begin(), needed.end(),
                    [](const graph::Extent& extent, int64_t length) { return extent.Length() == length; }))
      return false;
  }
  return true;
}

bool Coverage::IsNeededWhole(const graph::Operator& op) const {
  const int output = op.outputs.front();
  return NeededOf(output) == graph_->tensors[static_cast<size_t>(output)].shape;
}

// Whether a cover of the output asks for a cover of the input's hull. Kinds that put every element in another place leave holes in
// parts alone.
bool Coverage::ReadsWithoutHoles(const graph::Operator& op, int input) const {
  switch (op.kind) {
    case base::OperatorKind::kResize: {
      const graph::Shape& from = graph_->tensors[static_cast<size_t>(input)].shape;
      const graph::Shape& to = graph_->tensors[static_cast<size_t>(op.outputs.front())].shape;
      return op.resize.scales.empty() &&
             std::equal(from.begin(), from.end(), to.begin(), to.end(), std::less_equal<>());
    }
    case base::OperatorKind::kSlice:
      return std::all_of(op.steps.begin(), op.steps.end(),
                         [](int64_t step) { return step == 1 || step == -1; });
    case base::OperatorKind::kPad:
      return IsNeededWhole(op) || op.padding.mode != graph::PadMode::kWrap;
    case base::OperatorKind::kReshape:
    case base::OperatorKind::kDepthToSpace:
    case base::OperatorKind::kSpaceToDepth:
      return IsNeededWhole(op);
    case base::OperatorKind::kGather:
      return false;
    case base::OperatorKind::kOpaque:
      return std::all_of(op.accesses.begin(), op.accesses.end(), [](const graph::OperandAccess& access) {
        return SlidesWithoutHoles(access.window);
      });
    default:
      return SlidesWithoutHoles(op.window);
  }
}

bool Coverage::Leaves(int tensor) const {
  return graph::RoleIn(*graph_, usages_[static_cast<size_t>(tensor)], tensor, whole_.interval) !=
         base::TensorRole::kFeature;
}

}  // namespace tessera::search
