#include "tessera/plan/execute/row_sweep.h"

#include <algorithm>
#include <limits>
#include <set>

#include "tessera/base/checked.h"
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
// The next part of the batch, if there is one, begins above again: a window of its own, of which nothing is there.
//
// Readers come after makers. So tensors are settled from the last made to the first, each for all tiles, and an operator then
// asks for what the judge says the rows that it makes are read from.
namespace tessera::plan::execute {
namespace {

class Sweep {
 public:
  Sweep(const graph::Graph& network, const Subgraph& subgraph, std::vector<TileBoxes>& tiles)
      : network_(network), subgraph_(subgraph), tiles_(tiles), down_(tiles.size()) {
    const graph::Operator& last = network.operators[static_cast<size_t>(subgraph.interval.last)];
    const graph::Shape& shape = ShapeOf(last.outputs.front());
    if (const auto rows = RowAxisOf(shape.size()))
      down_ = static_cast<size_t>(base::CeilDiv(shape[*rows], subgraph.tile[*rows]));
  }

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
    for (size_t i = 0; i < tiles_.size(); ++i) {
      TileBoxes& tile = tiles_[i];
      if (i % down_ == 0) left = 0;
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
    const bool one_image = MeaningOf(shape.size(), 0) == base::Axis::kBatch &&
                           subgraph_.halo == hw_profiles::HaloStorage::kAdjacent;
    if (IsState(tensor)) return false;
    for (size_t i = 0; i < tiles_.size(); ++i) {
      Box wanted = WantedOf(tiles_[i], tensor);
      if (IsEmpty(wanted)) continue;
      if (one_image && wanted.front().end > wanted.front().begin + 1) return false;
      wanted[rows] = {};
      if (wanted != WidthOf(tensor, rows, i)) return false;
    }
    return true;
  }

  // What the first tile that wants any of it, down from above with that one, wants along the other axes.
  Box WidthOf(int tensor, size_t rows, size_t tile) const {
    const size_t begin = tile - tile % down_;
    for (size_t i = begin; i < std::min(begin + down_, tiles_.size()); ++i) {
      Box wanted = WantedOf(tiles_[i], tensor);
      if (IsEmpty(wanted)) continue;
      wanted[rows] = {};
      return wanted;
    }
    return EmptyBox(ShapeOf(tensor));
  }

  void SlideDown(int tensor, size_t rows) {
    const std::vector<int64_t> upper = UpperEdges(tensor, rows);
    Box width;
    int64_t lower = 0;
    int64_t made_so_far = 0;
    for (size_t i = 0; i < tiles_.size(); ++i) {
      if (i % down_ == 0) {
        lower = 0;
        width = WidthOf(tensor, rows, i);
      }
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
      if (i % down_ == 0) least = std::numeric_limits<int64_t>::max();
    }
    return edges;
  }

  const graph::Graph& network_;
  const Subgraph& subgraph_;
  std::vector<TileBoxes>& tiles_;
  size_t down_;  // tiles one below the other
};

}  // namespace

void SweepRows(const graph::Graph& network, const Subgraph& subgraph, std::vector<TileBoxes>& tiles) {
  if (!tiles.empty()) Sweep(network, subgraph, tiles).Run();
}

}  // namespace tessera::plan::execute
