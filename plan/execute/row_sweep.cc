#include "tessera/plan/execute/row_sweep.h"

#include <algorithm>
#include <limits>
#include <set>

#include "tessera/plan/execute/reads.h"

// Of each tensor a window of rows is there, and the window slides down from tile to tile. Its upper edge goes to the least row that
// this tile or a later one still wants, its lower edge to the end of what was wanted so far; rows that come in below are
// made, each once:
//
//     tile        0      1      2      3         wanted: rows [0, 3), [2, 5), none, [4, 7)
//     row 0       m
//         1       m                              m  made by this tile
//         2       m      k                       k  kept from tiles before
//         3              m
//         4              m      k      k         the window is nowhere larger than it must be: row 3 goes after tile 1
//         5                            m
//         6                            m
//
// Readers come after makers. So tensors are settled from the last made to the first, each for all tiles, and an operator then
// asks for what the judge says the rows that it makes are read from.
namespace tessera::plan::execute {
namespace {

class Sweep {
 public:
  Sweep(const graph::Graph& network, const Subgraph& subgraph, std::vector<TileBoxes>& tiles)
      : network_(network), subgraph_(subgraph), tiles_(tiles) {}

  void Run() {
    for (const auto& [tensor, share] : tiles_.front().leaves) AskForShares(tensor);
    std::set<int> settled;
    for (int i = subgraph_.interval.last; i >= subgraph_.interval.first; --i) {
      const graph::Operator& op = network_.operators[static_cast<size_t>(i)];
      for (const int tensor : op.outputs) {
        if (graph::IsBarrier(op)) AskForAll(tensor);  // makes all or nothing
        Settle(tensor);
        if (!IsState(tensor)) settled.insert(tensor);  // a state is read before it is made
      }
      for (TileBoxes& tile : tiles_) Ask(op, tile);
    }
    for (const auto& [tensor, part] : tiles_.front().parts) {
      if (!settled.contains(tensor)) Settle(tensor);
    }
  }

 private:
  const graph::Shape& ShapeOf(int tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)].shape;
  }
  bool IsState(int tensor) const { return network_.tensors[static_cast<size_t>(tensor)].state; }

  // Until a tensor is settled, `held` is what the tile wants of it.
  Box& WantedOf(TileBoxes& tile, int tensor) const { return tile.parts.at(tensor).held; }

  // No row leaves twice.
  void AskForShares(int tensor) {
    const std::optional<size_t> rows = RowAxisOf(ShapeOf(tensor).size());
    int64_t left = 0;
    for (TileBoxes& tile : tiles_) {
      Box& share = tile.leaves.at(tensor);
      if (rows) {
        share[*rows].begin = std::max(share[*rows].begin, left);
        left = std::max(left, share[*rows].end);
      }
      if (IsEmpty(share)) share = EmptyBox(ShapeOf(tensor));
      Cover(WantedOf(tile, tensor), share);
    }
  }

  void AskForAll(int tensor) {
    for (TileBoxes& tile : tiles_) WantedOf(tile, tensor) = WholeBox(ShapeOf(tensor));
  }

  void Ask(const graph::Operator& op, TileBoxes& tile) const {
    const Box& made = tile.parts.at(op.outputs.front()).made;
    for (size_t input = 0; input < op.inputs.size(); ++input) {
      const int tensor = op.inputs[input];
      Cover(WantedOf(tile, tensor), HullOf(ReadsOfInput(network_, op, input, made), ShapeOf(tensor)));
    }
  }

  void Settle(int tensor) {
    const std::optional<size_t> rows = RowAxisOf(ShapeOf(tensor).size());
    if (rows && MayKeep(tensor, *rows)) {
      SlideDown(tensor, *rows);
      return;
    }
    for (TileBoxes& tile : tiles_) tile.parts.at(tensor).made = WantedOf(tile, tensor);
  }

  bool MayKeep(int tensor, size_t rows) const {
    const graph::Shape& shape = ShapeOf(tensor);
    const bool images = MeaningOf(shape.size(), 0) == base::Axis::kBatch && shape.front() > 1;
    if (IsState(tensor) || (images && subgraph_.halo == hw_profiles::HaloStorage::kAdjacent)) return false;
    const Box width = WidthOf(tensor, rows);
    return std::all_of(tiles_.begin(), tiles_.end(), [&](TileBoxes& tile) {
      Box wanted = WantedOf(tile, tensor);
      if (IsEmpty(wanted)) return true;
      wanted[rows] = width[rows];
      return wanted == width;
    });
  }

  // What the first tile that wants any of it wants along the other axes.
  Box WidthOf(int tensor, size_t rows) const {
    for (TileBoxes& tile : tiles_) {
      Box wanted = WantedOf(tile, tensor);
      if (IsEmpty(wanted)) continue;
      wanted[rows] = {};
      return wanted;
    }
    return EmptyBox(ShapeOf(tensor));
  }

  void SlideDown(int tensor, size_t rows) {
    const Box width = WidthOf(tensor, rows);
    const std::vector<int64_t> upper = UpperEdges(tensor, rows);
    int64_t lower = 0;
    int64_t made_so_far = 0;
    for (size_t i = 0; i < tiles_.size(); ++i) {
      TilePart& part = tiles_[i].parts.at(tensor);
      const int64_t begin = std::max(upper[i], lower);
      const int64_t end = std::max(lower, part.held[rows].end);
      const int64_t kept = std::max<int64_t>(0, lower - upper[i]);
      const int64_t made = std::max<int64_t>(0, end - begin);
      part.made_before = made_so_far - kept;
      part.held = part.made = kept + made > 0 ? width : EmptyBox(ShapeOf(tensor));
      if (kept + made > 0) {
        part.held[rows] = {kept > 0 ? upper[i] : begin, end};
        part.made[rows] = {begin, end};
      }
      lower = end;
      made_so_far += made;
      const auto leaves = tiles_[i].leaves.find(tensor);
      if (leaves != tiles_[i].leaves.end()) leaves->second = part.made;
    }
  }

  // The least row that each tile or a later one wants.
  std::vector<int64_t> UpperEdges(int tensor, size_t rows) const {
    std::vector<int64_t> edges(tiles_.size());
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t i = tiles_.size(); i-- > 0;) {
      const Box& wanted = WantedOf(tiles_[i], tensor);
      if (!IsEmpty(wanted)) least = std::min(least, wanted[rows].begin);
      edges[i] = least;
    }
    return edges;
  }

  const graph::Graph& network_;
  const Subgraph& subgraph_;
  std::vector<TileBoxes>& tiles_;
};

}  // namespace

void SweepRows(const graph::Graph& network, const Subgraph& subgraph, std::vector<TileBoxes>& tiles) {
  if (!tiles.empty()) Sweep(network, subgraph, tiles).Run();
}

}  // namespace tessera::plan::execute
