#include "tessera/plan/tiles.h"

#include <algorithm>
#include <set>

#include "tessera/base/checked.h"

// From the tile backwards. A tile asks for its own box of the last operator's first output and for a share of each
// other tensor that leaves; operators are then visited last to first, and each adds what it reads to what is asked
// of its operands. As operators are in topological order, all readers of a tensor have spoken when its maker's turn
// comes, and what is asked of a tensor is the hull of their wishes.
namespace tessera::plan {
namespace {

using graph::Graph;
using graph::Operator;
using graph::Shape;

const Shape& ShapeOf(const Graph& network, int tensor) {
  return network.tensors[static_cast<size_t>(tensor)].shape;
}

bool StandsFor(size_t tiled_rank, size_t tiled_axis, size_t rank, size_t axis) {
  const auto name = AxisName(rank, axis);
  return name ? AxisName(tiled_rank, tiled_axis) == name : tiled_rank == rank && tiled_axis == axis;
}

class Propagation {
 public:
  Propagation(const Graph& network, const std::vector<Users>& users, const Subgraph& subgraph)
      : network_(network), interval_(subgraph.interval) {
    const Operator& last = network.operators[static_cast<size_t>(interval_.last)];
    tiled_ = last.outputs.front();
    for (const int tensor : TensorsOf(network, interval_)) {
      const graph::Tensor& facts = network.tensors[static_cast<size_t>(tensor)];
      if (facts.constant) continue;
      touched_.push_back(tensor);
      const Users& who = users[static_cast<size_t>(tensor)];
      if (!AnyInside(who.makers, interval_)) continue;
      const bool read_later =
          std::any_of(who.readers.begin(), who.readers.end(), [&](int op) { return op > interval_.last; });
      const bool leaves = facts.network_output || facts.state || read_later || who.readers.empty();
      if (leaves || tensor == tiled_) leaving_.push_back(tensor);
    }
  }

  Tile Run(const Box& box) const {
    Tile tile;
    for (const int tensor : touched_) tile.needs[tensor] = EmptyOf(ShapeOf(network_, tensor));
    for (const int tensor : leaving_) {
      tile.shares[tensor] = tensor == tiled_ ? box : ShareOf(tensor, box);
      Enclose(tile.needs[tensor], tile.shares[tensor]);
    }
    for (int i = interval_.last; i >= interval_.first; --i) {
      Ask(network_.operators[static_cast<size_t>(i)], tile);
    }
    return tile;
  }

 private:
  // Tile [a, b) of extent E answers for [floor(aF / E), ceil(bF / E)) of extent F along the axis of the same name, or
  // the same place where no axis has a name.
  Box ShareOf(int tensor, const Box& box) const {
    const Shape& shape = ShapeOf(network_, tensor);
    const Shape& tiled = ShapeOf(network_, tiled_);
    Box share = WholeOf(shape);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      for (size_t other = 0; other < tiled.size(); ++other) {
        if (!StandsFor(tiled.size(), other, shape.size(), axis)) continue;
        share[axis] = {base::FloorDiv(box[other].begin * shape[axis], tiled[other]),
                       base::CeilDiv(box[other].end * shape[axis], tiled[other])};
      }
    }
    return share;
  }

  void Ask(const Operator& op, Tile& tile) const {
    if (graph::IsBarrier(op)) {
      for (const int output : op.outputs) tile.needs[output] = WholeOf(ShapeOf(network_, output));
    }
    const Box output = tile.needs[op.outputs.front()];
    for (size_t operand = 0; operand < op.inputs.size(); ++operand) {
      Enclose(tile.needs[op.inputs[operand]], NeedOf(network_, op, operand, output));
    }
  }

  const Graph& network_;
  const graph::Interval interval_;
  int tiled_ = 0;
  std::vector<int> touched_;
  std::vector<int> leaving_;
};

}  // namespace

int64_t CountTiles(const Shape& shape, const std::vector<int64_t>& tile) {
  int64_t count = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto product = base::CheckedMul(count, base::CeilDiv(shape[axis], tile[axis]));
    if (!product) return base::kMaxTotal;
    count = *product;
  }
  return count;
}

void ForEachTile(const Graph& network, const std::vector<Users>& users, const Subgraph& subgraph,
                 const std::function<void(const Tile&)>& visit) {
  const Propagation propagation(network, users, subgraph);
  const Operator& last = network.operators[static_cast<size_t>(subgraph.interval.last)];
  const Shape& shape = ShapeOf(network, last.outputs.front());
  std::vector<int64_t> corner(shape.size(), 0);
  while (true) {
    Box box(shape.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      box[axis] = {corner[axis], std::min(corner[axis] + subgraph.tile[axis], shape[axis])};
    }
    visit(propagation.Run(box));
    size_t axis = shape.size();
    while (axis > 0 && corner[axis - 1] + subgraph.tile[axis - 1] >= shape[axis - 1]) corner[--axis] = 0;
    if (axis == 0) return;
    corner[axis - 1] += subgraph.tile[axis - 1];
  }
}

}  // namespace tessera::plan
