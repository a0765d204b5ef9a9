#include "tessera/plan/execute/tile_boxes.h"

#include <algorithm>
#include <array>

#include "tessera/base/checked.h"
#include "tessera/plan/execute/reads.h"

// Backwards from the tile: what leaves is asked for first, then every operator, last to first, asks for the hull of what the
// judge says its part of the result is read from. Readers come after makers, so all have asked when a maker's turn comes.
namespace tessera::plan::execute {

std::vector<Users> UsersOf(const graph::Graph& network) {
  std::vector<Users> users(network.tensors.size());
  for (size_t i = 0; i < network.operators.size(); ++i) {
    const graph::Operator& op = network.operators[i];
    for (const auto* list : {&op.inputs, &op.weights}) {
      for (const int tensor : *list)
        users[static_cast<size_t>(tensor)].readers.push_back(static_cast<int>(i));
    }
    for (const int tensor : op.outputs) users[static_cast<size_t>(tensor)].maker = static_cast<int>(i);
  }
  return users;
}

std::optional<base::Axis> MeaningOf(size_t rank, size_t axis) {
  using base::Axis;
  static constexpr std::array<std::array<Axis, 4>, 4> kMeanings = {{
      {Axis::kChannels, {}, {}, {}},
      {Axis::kRows, Axis::kChannels, {}, {}},
      {Axis::kBatch, Axis::kRows, Axis::kChannels, {}},
      {Axis::kBatch, Axis::kChannels, Axis::kRows, Axis::kColumns},
  }};
  if (rank == 0 || rank > kMeanings.size()) return std::nullopt;
  return kMeanings[rank - 1][axis];
}

Tiles::Tiles(const graph::Graph& network, const std::vector<Users>& users, const Subgraph& subgraph)
    : network_(network), subgraph_(subgraph) {
  const graph::Interval interval = subgraph.interval;
  tiled_ = network.operators[static_cast<size_t>(interval.last)].outputs.front();
  for (int i = interval.first; i <= interval.last; ++i) {
    for (const int tensor : network.operators[static_cast<size_t>(i)].outputs) {
      const graph::Tensor& facts = network.tensors[static_cast<size_t>(tensor)];
      const std::vector<int>& readers = users[static_cast<size_t>(tensor)].readers;
      const bool read_later = !readers.empty() && readers.back() > interval.last;
      const bool kept = facts.network_output || facts.state || readers.empty();
      if (read_later || kept || tensor == tiled_) leaving_.push_back(tensor);
    }
  }
  const graph::Shape& shape = ShapeOf(tiled_);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    count_ =
        base::CheckedMul(count_, base::CeilDiv(shape[axis], subgraph.tile[axis])).value_or(base::kMaxTotal);
  }
}

TileBoxes Tiles::At(int64_t tile) const {
  const graph::Shape& shape = ShapeOf(tiled_);
  Box cut(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    const int64_t along = base::CeilDiv(shape[axis], subgraph_.tile[axis]);
    const int64_t begin = tile % along * subgraph_.tile[axis];
    cut[axis] = {begin, std::min(begin + subgraph_.tile[axis], shape[axis])};
    tile /= along;
  }
  TileBoxes boxes;
  const graph::Interval interval = subgraph_.interval;
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = network_.operators[static_cast<size_t>(i)];
    for (const int tensor : op.inputs) boxes.held[tensor] = EmptyBox(ShapeOf(tensor));
    for (const int tensor : op.outputs) boxes.held[tensor] = EmptyBox(ShapeOf(tensor));
  }
  for (const int tensor : leaving_) {
    boxes.leaves[tensor] = tensor == tiled_ ? cut : ShareOf(tensor, cut);
    Cover(boxes.held[tensor], boxes.leaves[tensor]);
  }
  for (int i = interval.last; i >= interval.first; --i) {
    const graph::Operator& op = network_.operators[static_cast<size_t>(i)];
    if (graph::IsBarrier(op)) {  // makes all or nothing
      for (const int tensor : op.outputs) boxes.held[tensor] = WholeBox(ShapeOf(tensor));
    }
    for (size_t input = 0; input < op.inputs.size(); ++input) {
      const int tensor = op.inputs[input];
      const ElementSet reads = ReadsOfInput(network_, op, input, boxes.held[op.outputs.front()]);
      Cover(boxes.held[tensor], HullOf(reads, ShapeOf(tensor)));
    }
  }
  return boxes;
}

// The tile's share of a tensor that leaves beside the one that is cut: in proportion along axes of the same meaning, rounded
// outwards.
Box Tiles::ShareOf(int tensor, const Box& tile) const {
  const graph::Shape& shape = ShapeOf(tensor);
  const graph::Shape& cut = ShapeOf(tiled_);
  Box share = WholeBox(shape);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (size_t other = 0; other < cut.size(); ++other) {
      const auto meaning = MeaningOf(shape.size(), axis);
      if (!meaning || meaning != MeaningOf(cut.size(), other)) continue;
      share[axis] = {tile[other].begin * shape[axis] / cut[other],
                     base::CeilDiv(tile[other].end * shape[axis], cut[other])};
    }
  }
  return share;
}

std::map<int, std::vector<int64_t>> Tiles::LargestExtents() const {
  std::map<int, std::vector<int64_t>> largest;
  for (int64_t tile = 0; tile < count_; ++tile) {
    for (const auto& [tensor, box] : At(tile).held) {
      std::vector<int64_t>& most = largest.try_emplace(tensor, box.size(), 0).first->second;
      if (IsEmpty(box)) continue;
      for (size_t axis = 0; axis < box.size(); ++axis) {
        most[axis] = std::max(most[axis], box[axis].end - box[axis].begin);
      }
    }
  }
  return largest;
}

}  // namespace tessera::plan::execute
