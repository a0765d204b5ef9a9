// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/state_aliasing.h"

#include <algorithm>
#include <array>
#include <optional>

#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"

// The data that one run passes to the next should lie where the next run reads it: the next value y
// of a state h lies in the place of h.
//
//     h   |--------------------------------|      present for all program time
//     y              |---------------------|      made by k, present to the end: colocated with h
//                    k
//
// That is sound if no operator needs the old value once k begins. Every reader of h must run before
// k, or be k itself and read each element in the step in which it writes the one at the same
// coordinates. Such a k is an elementwise operator that the profile lets work in place, an operator
// whose own description allows it, or a concatenation of h with new data, which leaves h in place.
// In addition each element of h must have its address in y's buffer too, so that nothing moves; a
// cache that grows by a row satisfies this if rows are outermost.
//
// A subgraph in which another operator reads h together with k, or in which tiles overlap in what
// they make of y, runs in one tile (graph::CanCut). So all this follows from network and profile
// alone, and holds for every interval. Cost: for each tensor that is a next value, the readers of
// its state.
namespace tessera::encoder::program {
namespace {

using base::OperatorKind;

// Bits from an element to the next one along each axis, for a tensor that is whole in the tile
// memory.
graph::tiling::Extents StridesOf(const hw_profiles::RoleLayout& layout,
                                 const graph::Tensor& tensor) {
  const int64_t element = base::BitsOf(tensor.type);
  const NamedExtents extents = NameExtents(tensor.shape, tensor.shape);
  const int64_t column = base::RoundUp(extents.channels, layout.channel_block) * element;
  const int64_t row = FeatureBytes(layout, tensor.type,
                                   {.channels = extents.channels, .columns = extents.columns}, {}) *
                      8;
  graph::tiling::Extents strides(tensor.shape.size(), element);
  if (const auto index = graph::tiling::AxisOf(tensor.shape, base::Axis::kColumns))
    strides[*index] = column;
  if (const auto index = graph::tiling::AxisOf(tensor.shape, base::Axis::kRows))
    strides[*index] = row;
  int64_t stride = extents.rows * row;
  for (const size_t axis : graph::tiling::OuterAxes(tensor.shape)) {
    strides[axis] = stride;
    stride *= tensor.shape[axis];
  }
  return strides;
}

class Candidate {
 public:
  Candidate(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
            const hw_profiles::Profile& profile, int next)
      : graph_(graph),
        profile_(profile),
        next_(next),
        state_(TensorAt(next).next_of),
        maker_(usages[static_cast<size_t>(next)].producer),
        readers_(usages[static_cast<size_t>(state_)].consumers),
        next_readers_(usages[static_cast<size_t>(next)].consumers) {}

  bool MayLieInPlace(RunsIn runs) const {
    const auto is_done = [this, runs](int reader) {
      if (reader == maker_) return MakesInStep();
      return reader < maker_ || runs == RunsIn::kSomeOrder;
    };
    return maker_ >= 0 && !TensorAt(state_).network_output && IsUnpadded() && KeepsAddresses() &&
           std::all_of(readers_.begin(), readers_.end(), is_done);
  }

 private:
  const graph::Tensor& TensorAt(int tensor) const {
    return graph_.tensors[static_cast<size_t>(tensor)];
  }

  bool IsUnpadded() const {
    const Pads state = PadsFor(graph_, profile_, readers_);
    const Pads next = PadsFor(graph_, profile_, next_readers_);
    return state.rows + state.columns + next.rows + next.columns == 0;
  }

  bool KeepsAddresses() const {
    const graph::Tensor& h = TensorAt(state_);
    const graph::Tensor& y = TensorAt(next_);
    if (h.type != y.type || h.shape.size() != y.shape.size()) return false;
    const hw_profiles::RoleLayout& layout =
        hw_profiles::LayoutOf(profile_, base::TensorRole::kState);
    const graph::tiling::Extents from = StridesOf(layout, h);
    const graph::tiling::Extents to = StridesOf(layout, y);
    for (size_t axis = 0; axis < h.shape.size(); ++axis) {
      if (h.shape[axis] > y.shape[axis] || (h.shape[axis] > 1 && from[axis] != to[axis]))
        return false;
    }
    return true;
  }

  // Whether the maker reads elements of the state where it writes them.
  bool MakesInStep() const {
    const graph::Operator& op = graph_.operators[static_cast<size_t>(maker_)];
    if (std::count(op.inputs.begin(), op.inputs.end(), state_) != 1 || op.outputs.front() != next_)
      return false;
    const auto number = std::find(op.inputs.begin(), op.inputs.end(), state_) - op.inputs.begin();
    if (op.kind == OperatorKind::kConcat) return number == 0;
    if (TensorAt(state_).shape != TensorAt(next_).shape) return false;
    const std::vector<OperatorKind>& kinds = profile_.tiling.in_place;
    if (op.kind == OperatorKind::kElementwise)
      return std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
    const auto index = static_cast<size_t>(number);
    return std::count(op.in_place.begin(), op.in_place.end(), static_cast<int>(number)) > 0 &&
           op.accesses[index].kind == graph::ReadPattern::kElementwise;
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  int next_;
  int state_;
  int maker_;
  const std::vector<int>& readers_;
  const std::vector<int>& next_readers_;
};

// Whether the next value and its state both have their home in the tile memory.
bool AreWhole(const graph::Graph& graph, const hw_profiles::Profile& profile, int next) {
  const auto is_whole = [&](int tensor) {
    return HomeOf(graph, profile, tensor, base::TensorRole::kState) == profile.tile_memory;
  };
  return is_whole(next) && is_whole(graph.tensors[static_cast<size_t>(next)].next_of);
}

// The index of the whole buffer of a tensor.
std::optional<int> WholeOf(const std::vector<BufferUse>& buffers, int tensor) {
  const auto found =
      std::find_if(buffers.begin(), buffers.end(), [tensor](const BufferUse& buffer) {
        return buffer.kind == BufferKind::kWhole && buffer.tensor == tensor;
      });
  if (found == buffers.end()) return std::nullopt;
  return static_cast<int>(found - buffers.begin());
}

}  // namespace

bool MayLieInPlace(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                   const hw_profiles::Profile& profile, int next, RunsIn runs) {
  return Candidate(graph, usages, profile, next).MayLieInPlace(runs);
}

std::vector<problem::Relation> AliasedStates(const graph::Graph& graph,
                                             const std::vector<graph::Usage>& usages,
                                             const hw_profiles::Profile& profile,
                                             const std::vector<BufferUse>& buffers) {
  std::vector<problem::Relation> relations;
  for (const int next : NextInPlace(graph, usages, profile)) {
    const std::optional<int> from =
        WholeOf(buffers, graph.tensors[static_cast<size_t>(next)].next_of);
    const std::optional<int> to = WholeOf(buffers, next);
    if (from && to)
      relations.push_back({problem::RelationKind::kColocate, *from, *to, /*delta=*/0});
  }
  return relations;
}

std::vector<int> NextInPlace(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                             const hw_profiles::Profile& profile) {
  std::vector<int> in_place;
  for (int next = 0; next < static_cast<int>(graph.tensors.size()); ++next) {
    if (graph.tensors[static_cast<size_t>(next)].next_of >= 0 && AreWhole(graph, profile, next) &&
        MayLieInPlace(graph, usages, profile, next, RunsIn::kGivenOrder))
      in_place.push_back(next);
  }
  return in_place;
}

std::optional<size_t> AxisOfGrowth(const graph::Graph& graph,
                                   const std::vector<graph::Usage>& usages,
                                   const hw_profiles::Profile& profile, const graph::Operator& op,
                                   RunsIn runs) {
  if (op.kind != OperatorKind::kConcat) return std::nullopt;
  const int next = op.outputs.front();
  const int state = graph.tensors[static_cast<size_t>(next)].next_of;
  const bool grows = state >= 0 && op.inputs.front() == state && AreWhole(graph, profile, next);
  if (!grows || !MayLieInPlace(graph, usages, profile, next, runs)) return std::nullopt;
  return static_cast<size_t>(op.axis);
}

}  // namespace tessera::encoder::program
