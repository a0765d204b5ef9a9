#include "tessera/plan/execute/tile_boxes.h"

#include <algorithm>
#include <optional>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/execute/reads.h"

// Backwards from the tile: what leaves is asked for first, then every operator, last to first, asks
// for the hull of what the judge says its part of the result is read from. Readers come after
// makers, so all have asked when a maker's turn comes. Tiles that keep rows for each other are
// looked at together (row_sweep.cc).
namespace tessera::plan::execute {

std::vector<Users> UsersOf(const graph::Graph& network) {
  std::vector<Users> users(network.tensors.size());
  for (size_t i = 0; i < network.operators.size(); ++i) {
    const graph::Operator& op = network.operators[i];
    for (const auto* list : {&op.inputs, &op.weights}) {
      for (const int tensor : *list)
        users[static_cast<size_t>(tensor)].readers.push_back(static_cast<int>(i));
    }
    for (const int tensor : op.outputs)
      users[static_cast<size_t>(tensor)].maker = static_cast<int>(i);
  }
  return users;
}

Box KeptOf(const TilePart& part) {
  Box kept = part.held;
  if (const auto rows = RowAxisOf(kept.size())) {
    kept[*rows].end = part.made[*rows].begin;
    return kept;
  }
  return Box(kept.size());
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
    count_ = base::CheckedMul(count_, base::CeilDiv(shape[axis], subgraph.tile[axis]))
                 .value_or(base::kMaxTotal);
  }
  if (subgraph.halo == hw_profiles::HaloStorage::kRecompute) return;
  for (int64_t tile = 0; tile < count_; ++tile) swept_.push_back(AskedOf(tile));
  const std::optional<size_t> rows = RowAxisOf(shape.size());
  if (rows)
    SweepRows(network, subgraph,
              static_cast<size_t>(base::CeilDiv(shape[*rows], subgraph.tile[*rows])), swept_);
}

// The axes of what is cut in the order in which tiles advance along them.
std::vector<size_t> Tiles::FastestFirst() const {
  const size_t rank = ShapeOf(tiled_).size();
  std::vector<size_t> axes;
  const bool keeps = subgraph_.halo != hw_profiles::HaloStorage::kRecompute;
  const std::optional<size_t> down = keeps ? RowAxisOf(rank) : std::nullopt;
  if (down) axes.push_back(*down);
  for (size_t axis = rank; axis-- > 0;) {
    if (axis != down) axes.push_back(axis);
  }
  return axes;
}

// The tile with what leaves of it, and empty parts.
TileBoxes Tiles::AskedOf(int64_t tile) const {
  const graph::Shape& shape = ShapeOf(tiled_);
  Box cut(shape.size());
  for (const size_t axis : FastestFirst()) {
    const int64_t along = base::CeilDiv(shape[axis], subgraph_.tile[axis]);
    const int64_t begin = tile % along * subgraph_.tile[axis];
    cut[axis] = {begin, std::min(begin + subgraph_.tile[axis], shape[axis])};
    tile /= along;
  }
  TileBoxes boxes;
  const graph::Interval interval = subgraph_.interval;
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = network_.operators[static_cast<size_t>(i)];
    for (const auto* list : {&op.inputs, &op.outputs}) {
      for (const int tensor : *list)
        boxes.parts[tensor] = {EmptyOf(ShapeOf(tensor)), EmptyOf(ShapeOf(tensor)), 0};
    }
  }
  for (const int tensor : leaving_) {
    boxes.leaves[tensor] = tensor == tiled_ ? cut : ShareOf(tensor, cut);
  }
  return boxes;
}

TileBoxes Tiles::At(int64_t tile) const {
  if (!swept_.empty()) return swept_[static_cast<size_t>(tile)];
  TileBoxes boxes = AskedOf(tile);
  for (const auto& [tensor, share] : boxes.leaves) Enclose(boxes.parts.at(tensor).held, share);
  for (int i = subgraph_.interval.last; i >= subgraph_.interval.first; --i) {
    const graph::Operator& op = network_.operators[static_cast<size_t>(i)];
    const bool is_needed = std::any_of(op.outputs.begin(), op.outputs.end(), [&boxes](int tensor) {
      return !IsEmpty(boxes.parts.at(tensor).held);
    });
    if (graph::IsBarrier(op) && is_needed) {  // makes all or nothing
      for (const int tensor : op.outputs) boxes.parts.at(tensor).held = WholeOf(ShapeOf(tensor));
    }
    for (size_t input = 0; input < op.inputs.size(); ++input) {
      const int tensor = op.inputs[input];
      const ElementSet reads =
          ReadsOfInput(network_, op, input, boxes.parts.at(op.outputs.front()).held);
      Enclose(boxes.parts.at(tensor).held, HullOf(reads, ShapeOf(tensor)));
    }
  }
  for (auto& [tensor, part] : boxes.parts) part.made = part.held;
  return boxes;
}

// The tile's share of a tensor that leaves together with the one that is cut: in proportion along
// axes of the same meaning, rounded outwards.
Box Tiles::ShareOf(int tensor, const Box& tile) const {
  const graph::Shape& shape = ShapeOf(tensor);
  const graph::Shape& cut = ShapeOf(tiled_);
  Box share = WholeOf(shape);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (size_t other = 0; other < cut.size(); ++other) {
      const auto meaning = MeaningOf(shape.size(), axis);
      if (!meaning || meaning != MeaningOf(cut.size(), other)) continue;
      __extension__ using Wide = __int128;
      const Wide begin = Wide{tile[other].begin} * shape[axis];
      const Wide end = Wide{tile[other].end} * shape[axis];
      share[axis] = {static_cast<int64_t>(begin / cut[other]),
                     static_cast<int64_t>((end + cut[other] - 1) / cut[other])};
    }
  }
  return share;
}

std::map<int, LargestPart> Tiles::Largest() const {
  std::map<int, LargestPart> largest;
  std::map<int, int64_t> held_before;  // rows
  for (int64_t tile = 0; tile < count_; ++tile) {
    for (const auto& [tensor, part] : At(tile).parts) {
      LargestPart& most = largest[tensor];
      most.held.resize(part.held.size(), 0);
      if (!IsEmpty(part.held)) {
        for (size_t axis = 0; axis < part.held.size(); ++axis) {
          most.held[axis] = std::max(most.held[axis], part.held[axis].end - part.held[axis].begin);
        }
      }
      const std::optional<size_t> rows = RowAxisOf(part.held.size());
      if (!rows) continue;
      const int64_t held = part.held[*rows].end - part.held[*rows].begin;
      const int64_t made = part.made[*rows].end - part.made[*rows].begin;
      most.kept_rows = std::max(most.kept_rows, held - made);
      most.rows_beside = std::max({most.rows_beside, held, held_before[tensor] + made});
      held_before[tensor] = held;
    }
  }
  return largest;
}

}  // namespace tessera::plan::execute
