// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/tiling/propagation.h"

#include <algorithm>
#include <utility>

#include "tessera/graph/reads.h"
#include "tessera/graph/regions.h"
#include "tessera/graph/tiling/tiling.h"

namespace tessera::graph::tiling {
namespace {

__extension__ using Wide = __int128;

bool EmptyRegion(std::span<const ops::Extent> region) {
  return std::any_of(region.begin(), region.end(),
                     [](const ops::Extent& e) { return e.Length() == 0; });
}

// Extends `region` to contain `extent` on one axis; an untouched region is all zeros.
void Grow(ops::Extent& region, bool fresh, const ops::Extent& extent) {
  region.begin = fresh ? extent.begin : std::min(region.begin, extent.begin);
  region.end = fresh ? extent.end : std::max(region.end, extent.end);
}

}  // namespace

Propagation::Propagation(const Graph& graph, Interval interval)
    : maps_(std::make_shared<std::deque<std::vector<ops::AxisMap>>>()) {
  for (int i = interval.first; i <= interval.last; ++i) operators_.push_back(i);
  CollectTensors(graph);
  MarkMade(graph);
  MarkLeaving(graph, interval);
  FindShareSources();
  CompileAsks(graph);
}

Propagation::Propagation(const Propagation& whole, const Graph& graph,
                         std::span<const int> operators)
    : operators_(operators.begin(), operators.end()), maps_(whole.maps_) {
  CollectTensors(graph);
  MarkMade(graph);
  leaves_.assign(tensors_.size(), 0);
  last_slot_ = SlotOf(graph.operators[static_cast<size_t>(operators_.back())].outputs.front());
  leaves_[last_slot_] = 1;
  FindShareSources();
  for (size_t position = operators_.size(); position-- > 0;) {
    const auto there = static_cast<size_t>(operators_[position] - whole.operators_.front());
    for (size_t i = whole.first_ask_[there + 1]; i < whole.first_ask_[there]; ++i) {
      Ask& ask = asks_.emplace_back(whole.asks_[i]);
      ask.op = position;
      ask.output = SlotOf(whole.tensors_[ask.output]);
      ask.input = SlotOf(whole.tensors_[ask.input]);
    }
  }
}

size_t Propagation::SlotOf(int tensor) const {
  return static_cast<size_t>(std::lower_bound(tensors_.begin(), tensors_.end(), tensor) -
                             tensors_.begin());
}

void Propagation::CollectTensors(const Graph& graph) {
  for (const int i : operators_) {
    const Operator& op = graph.operators[static_cast<size_t>(i)];
    tensors_.insert(tensors_.end(), op.inputs.begin(), op.inputs.end());
    tensors_.insert(tensors_.end(), op.outputs.begin(), op.outputs.end());
  }
  std::sort(tensors_.begin(), tensors_.end());
  tensors_.erase(std::unique(tensors_.begin(), tensors_.end()), tensors_.end());
  begins_.push_back(0);
  for (const int tensor : tensors_) {
    shapes_.push_back(&graph.tensors[static_cast<size_t>(tensor)].shape);
    begins_.push_back(begins_.back() + shapes_.back()->size());
  }
}

void Propagation::MarkMade(const Graph& graph) {
  made_inside_.assign(tensors_.size(), 0);
  for (const int i : operators_) {
    for (const int tensor : graph.operators[static_cast<size_t>(i)].outputs)
      made_inside_[SlotOf(tensor)] = 1;
  }
}

void Propagation::MarkLeaving(const Graph& graph, Interval interval) {
  leaves_.assign(tensors_.size(), 0);
  last_slot_ = SlotOf(graph.operators[static_cast<size_t>(interval.last)].outputs.front());
  leaves_[last_slot_] = 1;
  std::vector<char> read(tensors_.size(), 0);
  auto open = std::count(made_inside_.begin(), made_inside_.end(), 1) - 1;
  for (int i = interval.first; i < static_cast<int>(graph.operators.size()) && open > 0; ++i) {
    for (const int tensor : graph.operators[static_cast<size_t>(i)].inputs) {
      const size_t slot = SlotOf(tensor);
      if (slot == tensors_.size() || tensors_[slot] != tensor) continue;
      read[slot] = 1;
      if (i <= interval.last || made_inside_[slot] == 0 || leaves_[slot] != 0) continue;
      leaves_[slot] = 1;
      --open;
    }
  }
  for (size_t slot = 0; slot < tensors_.size(); ++slot) {
    const bool kept =
        graph.tensors[static_cast<size_t>(tensors_[slot])].network_output || !read[slot];
    if (kept && made_inside_[slot] != 0) leaves_[slot] = 1;
  }
}

// A barrier makes all its outputs whole if any is requested: its outputs request each other, and
// each requests all inputs.
void Propagation::CompileAsks(const Graph& graph) {
  first_ask_.resize(operators_.size() + 1);
  for (size_t position = operators_.size(); position-- > 0;) {
    first_ask_[position + 1] = asks_.size();
    const Operator& op = graph.operators[static_cast<size_t>(operators_[position])];
    if (IsBarrier(op)) AskForOutputs(op, position);
    const ops::OperandShapes inputs = OperandShapesOf(graph, op);
    for (size_t input = 0; input < op.inputs.size(); ++input) {
      const std::span<const ops::AxisMap> maps = Keep(AxisMapsOf(graph, op, inputs, input));
      const bool may_be_empty = std::any_of(
          maps.begin(), maps.end(), [](const ops::AxisMap& map) { return map.MayBeEmpty(); });
      for (const int output : op.outputs)
        asks_.push_back(
            Ask{position, SlotOf(output), SlotOf(op.inputs[input]), maps, may_be_empty});
    }
  }
  first_ask_[0] = asks_.size();
}

void Propagation::AskForOutputs(const Operator& op, size_t position) {
  for (const int from : op.outputs) {
    for (const int to : op.outputs) {
      std::vector<ops::AxisMap> maps;
      for (const int64_t extent : ShapeOf(SlotOf(to)))
        maps.push_back({ops::AxisMap::Whole{extent}, 0, 0});
      asks_.push_back(Ask{position, SlotOf(from), SlotOf(to), Keep(std::move(maps)), false});
    }
  }
}

std::span<const ops::AxisMap> Propagation::Keep(std::vector<ops::AxisMap> maps) {
  return maps_->emplace_back(std::move(maps));
}

void Propagation::FindShareSources() {
  const Shape& last = ShapeOf(last_slot_);
  for (size_t slot = 0; slot < tensors_.size(); ++slot) {
    const Shape& other = ShapeOf(slot);
    for (size_t axis = 0; axis < other.size(); ++axis) {
      std::optional<size_t>& source = share_sources_.emplace_back();
      if (last.size() == other.size()) source = axis;
      for (const Axis name : {Axis::kRows, Axis::kColumns, Axis::kChannels, Axis::kBatch}) {
        if (last.size() != other.size() && AxisOf(other, name) == axis) source = AxisOf(last, name);
      }
    }
  }
}

ops::Extent Propagation::ShareAlong(size_t slot, size_t axis, const ops::Box& tile) const {
  const int64_t whole = ShapeOf(slot)[axis];
  const std::optional<size_t> source = ShareSource(slot, axis);
  if (!source) return {0, whole};
  const int64_t cut = ShapeOf(last_slot_)[*source];
  if (whole == cut) return tile[*source];
  const Wide extent = cut;
  const Wide other = whole;
  return {static_cast<int64_t>(tile[*source].begin * other / extent),
          static_cast<int64_t>((tile[*source].end * other + extent - 1) / extent)};
}

ops::Box Propagation::ShareOf(size_t slot, const ops::Box& tile) const {
  ops::Box share;
  for (size_t axis = 0; axis < ShapeOf(slot).size(); ++axis)
    share.push_back(ShareAlong(slot, axis, tile));
  return share;
}

void Propagation::AppendShareLengths(size_t slot, const ops::Box& tile,
                                     std::vector<int64_t>& lengths) const {
  for (size_t axis = 0; axis < ShapeOf(slot).size(); ++axis)
    lengths.push_back(ShareAlong(slot, axis, tile).Length());
}

void Propagation::Run(const ops::Box& tile, std::span<ops::Extent> regions) const {
  std::fill(regions.begin(), regions.end(), ops::Extent{});
  const auto region = [&](size_t slot) {
    return regions.subspan(begins_[slot], begins_[slot + 1] - begins_[slot]);
  };
  for (size_t slot = 0; slot < tensors_.size(); ++slot) {
    if (!leaves_[slot]) continue;
    for (size_t axis = 0; axis < ShapeOf(slot).size(); ++axis)
      region(slot)[axis] = ShareAlong(slot, axis, tile);
  }
  for (const Ask& ask : asks_) Apply(ask, region(ask.output), region(ask.input));
}

void Propagation::Apply(const Ask& ask, std::span<const ops::Extent> output,
                        std::span<ops::Extent> input) {
  if (EmptyRegion(output)) return;
  if (ask.may_be_empty) {
    for (const ops::AxisMap& map : ask.maps) {
      if (map.Apply(output).Length() == 0) return;
    }
  }
  const bool fresh = !input.empty() && EmptyRegion(input);
  for (size_t axis = 0; axis < input.size(); ++axis)
    Grow(input[axis], fresh, ask.maps[axis].Apply(output));
}

// The same walk with sets of axes instead of extents. An input that may be empty has, on all its
// axes, the axes that determine its emptiness, unless that is kept apart.
std::vector<Propagation::Dependence> Propagation::Dependences(AxisSet cut, Emptiness counts) const {
  std::vector<Dependence> found(Size());
  std::vector<char> always(leaves_.begin(), leaves_.end());  // certainly requested at every tile
  // otherwise the axes that determine whether it is
  std::vector<AxisSet> emptiness(tensors_.size(), 0);
  for (size_t slot = 0; slot < tensors_.size(); ++slot) {
    if (!leaves_[slot]) continue;
    for (size_t axis = 0; axis < ShapeOf(slot).size(); ++axis) {
      const std::optional<size_t> source = ShareSource(slot, axis);
      const AxisSet axes = source ? cut & (AxisSet{1} << *source) : 0;
      found[begins_[slot] + axis] = {axes, axes == 0};
    }
  }
  for (const Ask& ask : asks_) {
    const bool certain = always[ask.output] && !ask.may_be_empty;
    AxisSet empty_by = always[ask.output] ? 0 : emptiness[ask.output];
    for (const ops::AxisMap& map : ask.maps) {
      if (map.MayBeEmpty() && counts == Emptiness::kOnEveryAxis)
        empty_by |= AxesBehind(ask, map, found);
    }
    for (size_t axis = 0; axis < ask.maps.size(); ++axis) {
      const ops::AxisMap& map = ask.maps[axis];
      Dependence& input = found[begins_[ask.input] + axis];
      const bool same = std::holds_alternative<ops::AxisMap::Same>(map.rule);
      const bool whole = map.IsWhole() || (same && found[begins_[ask.output] + map.source].whole);
      input.axes |= AxesBehind(ask, map, found) | empty_by;
      input.whole |= whole && certain;
      if (input.whole) input.axes = 0;
    }
    if (certain) always[ask.input] = 1;
    emptiness[ask.input] |= empty_by;
  }
  return found;
}

Propagation::AxisSet Propagation::AxesBehind(const Ask& ask, const ops::AxisMap& map,
                                             std::span<const Dependence> found) const {
  AxisSet axes = 0;
  for (size_t k = 0; k < map.sources; ++k)
    axes |= found[begins_[ask.output] + map.source + k * map.source_step].axes;
  return axes;
}

}  // namespace tessera::graph::tiling
