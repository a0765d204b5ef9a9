#include "tessera/plan/tiles.h"

#include <algorithm>
#include <optional>
#include <set>

#include "tessera/base/checked.h"

// From the tile backwards. A tile asks for its own box of the last operator's first output and for a share of each
// other tensor that leaves; operators are then visited last to first, and each adds what it reads to what is asked
// of its operands. As operators are in topological order, all readers of a tensor have spoken when its maker's turn
// comes, and what is asked of a tensor is the hull of their wishes.
//
// Where the halo is cached, all tiles go through the operators together, and each row of a tensor has one stay in a sweep: it comes
// with the first tile that reaches as far down, and goes after the last tile that still begins at it or above. A sweep is the tiles
// of one part of the batch.
//
//     tile      0  1  2  3                   wants of the tiles: rows [0, 3), [2, 5), none, [3, 6)
//     row 2     m  k  .  .                   made by tile 0, kept for 1
//     row 4     .  m  k  k                   made by tile 1, kept for 2 and 3, though 2 does not read it
//     row 5     .  .  .  m
//
// The operators above are then asked for what is made, tile by tile, and for nothing else; and what is made of a result leaves.
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

std::optional<size_t> RowAxis(const Shape& shape) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (AxisName(shape.size(), axis) == base::Axis::kRows) return axis;
  }
  return std::nullopt;
}

class Propagation {
 public:
  Propagation(const Graph& network, const std::vector<Users>& users, const Subgraph& subgraph)
      : network_(network), interval_(subgraph.interval) {
    const Operator& last = network.operators[static_cast<size_t>(interval_.last)];
    tiled_ = last.outputs.front();
    if (const auto rows = RowAxis(ShapeOf(network, tiled_)))
      sweep_ = static_cast<size_t>(base::CeilDiv(ShapeOf(network, tiled_)[*rows], subgraph.tile[*rows]));
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
    Tile tile = Begin(box);
    for (int i = interval_.last; i >= interval_.first; --i) {
      Ask(network_.operators[static_cast<size_t>(i)], tile);
    }
    return tile;
  }

  // All tiles of a subgraph that caches its halo.
  std::vector<Tile> RunTogether(const std::vector<Box>& boxes, bool one_image) const {
    std::vector<Tile> tiles;
    std::map<int, std::set<int64_t>> left;  // rows
    for (const Box& box : boxes) {
      if (tiles.size() % sweep_ == 0) left.clear();
      Tile& tile = tiles.emplace_back(Begin(box));
      for (const int tensor : leaving_) {
        DropRows(tensor, left[tensor], tile.shares[tensor]);
        tile.needs[tensor] = tile.shares[tensor];
      }
    }
    for (int i = interval_.last; i >= interval_.first; --i) {
      const Operator& op = network_.operators[static_cast<size_t>(i)];
      for (Tile& tile : tiles) WantWhole(op, tile);
      for (const int output : op.outputs) Settle(output, one_image, tiles);
      for (Tile& tile : tiles) {
        for (size_t operand = 0; operand < op.inputs.size(); ++operand) {
          Enclose(tile.needs[op.inputs[operand]],
                  NeedOf(network_, op, operand, tile.makes[op.outputs.front()]));
        }
      }
    }
    for (const int tensor : touched_) {
      const bool state = network_.tensors[static_cast<size_t>(tensor)].state;  // is read before it is made
      if (state || !tiles.front().makes.contains(tensor)) Settle(tensor, one_image, tiles);
    }
    return tiles;
  }

 private:
  Tile Begin(const Box& box) const {
    Tile tile;
    for (const int tensor : touched_) tile.needs[tensor] = EmptyOf(ShapeOf(network_, tensor));
    for (const int tensor : leaving_) {
      tile.shares[tensor] = tensor == tiled_ ? box : ShareOf(tensor, box);
      Enclose(tile.needs[tensor], tile.shares[tensor]);
    }
    return tile;
  }

  // Rows that have left with a tile before do not leave again.
  void DropRows(int tensor, std::set<int64_t>& left, Box& share) const {
    const std::optional<size_t> axis = RowAxis(ShapeOf(network_, tensor));
    if (!axis) return;
    Range& rows = share[*axis];
    while (rows.begin < rows.end && left.contains(rows.begin)) ++rows.begin;
    for (int64_t row = rows.begin; row < rows.end; ++row) left.insert(row);
    if (IsEmpty(share)) share = EmptyOf(ShapeOf(network_, tensor));
  }

  void Settle(int tensor, bool one_image, std::vector<Tile>& tiles) const {
    const std::optional<size_t> axis = RowAxis(ShapeOf(network_, tensor));
    for (Tile& tile : tiles) tile.makes[tensor] = tile.needs[tensor];
    if (axis && KeepsRows(tensor, *axis, one_image, tiles)) KeepRows(tensor, *axis, tiles);
  }

  bool KeepsRows(int tensor, size_t axis, bool one_image, const std::vector<Tile>& tiles) const {
    const Shape& shape = ShapeOf(network_, tensor);
    if (network_.tensors[static_cast<size_t>(tensor)].state) return false;
    std::optional<Box> first;
    for (size_t i = 0; i < tiles.size(); ++i) {
      if (i % sweep_ == 0) first.reset();
      Box need = tiles[i].needs.at(tensor);
      if (IsEmpty(need)) continue;
      for (size_t other = 0; other < shape.size(); ++other) {
        const bool images = AxisName(shape.size(), other) == base::Axis::kBatch;
        if (one_image && images && need[other].end > need[other].begin + 1) return false;
      }
      need[axis] = {0, 0};
      if (first && *first != need) return false;
      first = need;
    }
    return true;
  }

  // One row in the sweep that begins with that tile.
  void KeepRow(int tensor, size_t axis, int64_t row, size_t begin, std::vector<Tile>& tiles,
               std::vector<std::vector<int64_t>>& made) const {
    std::optional<size_t> first;
    std::optional<size_t> last;
    for (size_t i = begin; i < std::min(begin + sweep_, tiles.size()); ++i) {
      const Box& need = tiles[i].needs[tensor];
      if (IsEmpty(need)) continue;
      if (!first && row < need[axis].end) first = i;
      if (need[axis].begin <= row) last = i;
    }
    if (!first || !last || *first > *last) return;
    made[*first].push_back(row);
    for (size_t i = *first + 1; i <= *last; ++i) ++tiles[i].kept[tensor];
  }

  void KeepRows(int tensor, size_t axis, std::vector<Tile>& tiles) const {
    std::vector<std::vector<int64_t>> made(tiles.size());
    for (size_t begin = 0; begin < tiles.size(); begin += sweep_) {
      for (int64_t row = 0; row < ShapeOf(network_, tensor)[axis]; ++row)
        KeepRow(tensor, axis, row, begin, tiles, made);
    }
    for (size_t i = 0; i < tiles.size(); ++i) {
      Box& makes = tiles[i].makes[tensor];
      if (made[i].empty()) {
        makes = EmptyOf(ShapeOf(network_, tensor));
      } else {
        makes[axis] = {made[i].front(), made[i].back() + 1};
      }
      if (const auto share = tiles[i].shares.find(tensor); share != tiles[i].shares.end())
        share->second = makes;
    }
  }

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

  // What a barrier makes, it makes whole.
  void WantWhole(const Operator& op, Tile& tile) const {
    if (!graph::IsBarrier(op)) return;
    for (const int output : op.outputs) tile.needs[output] = WholeOf(ShapeOf(network_, output));
  }

  void Ask(const Operator& op, Tile& tile) const {
    WantWhole(op, tile);
    const Box output = tile.needs[op.outputs.front()];
    for (size_t operand = 0; operand < op.inputs.size(); ++operand) {
      Enclose(tile.needs[op.inputs[operand]], NeedOf(network_, op, operand, output));
    }
  }

  const Graph& network_;
  const graph::Interval interval_;
  int tiled_ = 0;
  size_t sweep_ = 1;  // tiles one below the other, before the next part of the batch
  std::vector<int> touched_;
  std::vector<int> leaving_;
};

}  // namespace

const Box& MadeOf(const Tile& tile, int tensor) {
  return tile.makes.empty() ? tile.needs.at(tensor) : tile.makes.at(tensor);
}

int64_t CountTiles(const Shape& shape, const std::vector<int64_t>& tile) {
  int64_t count = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto product = base::CheckedMul(count, base::CeilDiv(shape[axis], tile[axis]));
    if (!product) return base::kMaxTotal;
    count = *product;
  }
  return count;
}

bool SweepsRows(const Shape& shape, const std::vector<int64_t>& tile) {
  bool rows = false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (tile[axis] == shape[axis]) continue;
    const std::optional<base::Axis> name = AxisName(shape.size(), axis);
    if (name != base::Axis::kRows && name != base::Axis::kBatch) return false;
    rows = rows || name == base::Axis::kRows;
  }
  return rows;
}

void ForEachTile(const Graph& network, const std::vector<Users>& users, const Subgraph& subgraph,
                 const std::function<void(const Tile&)>& visit) {
  const Propagation propagation(network, users, subgraph);
  const Operator& last = network.operators[static_cast<size_t>(subgraph.interval.last)];
  const Shape& shape = ShapeOf(network, last.outputs.front());
  const bool together = subgraph.halo != hw_profiles::HaloStorage::kRecompute;
  std::vector<Box> boxes;
  std::vector<int64_t> corner(shape.size(), 0);
  while (true) {
    Box box(shape.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      box[axis] = {corner[axis], std::min(corner[axis] + subgraph.tile[axis], shape[axis])};
    }
    if (together) {
      boxes.push_back(std::move(box));
    } else {
      visit(propagation.Run(box));
    }
    size_t axis = shape.size();
    while (axis > 0 && corner[axis - 1] + subgraph.tile[axis - 1] >= shape[axis - 1]) corner[--axis] = 0;
    if (axis == 0) break;
    corner[axis - 1] += subgraph.tile[axis - 1];
  }
  const bool one_image = subgraph.halo == hw_profiles::HaloStorage::kAdjacent;
  if (!together) return;
  for (const Tile& tile : propagation.RunTogether(boxes, one_image)) visit(tile);
}

void RowCount::Add(const Tile& tile) {
  for (const auto& [tensor, makes] : tile.makes) {
    const std::optional<size_t> axis = RowAxis(ShapeOf(network_, tensor));
    if (!axis) continue;
    const int64_t made = IsEmpty(makes) ? 0 : makes[*axis].end - makes[*axis].begin;
    const auto found = tile.kept.find(tensor);
    const int64_t kept = found == tile.kept.end() ? 0 : found->second;
    RowTally& tally = tallies_[tensor];
    tally.kept = std::max(tally.kept, kept);
    tally.made = std::max(tally.made, made);
    tally.held = std::max(tally.held, kept + made);
    tally.beside = std::max({tally.beside, tally.held, held_before_[tensor] + made});
    held_before_[tensor] = kept + made;
  }
}

}  // namespace tessera::plan
