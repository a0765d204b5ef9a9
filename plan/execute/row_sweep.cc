#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include "tessera/plan/execute/reads.h"
#include "tessera/plan/execute/tile_boxes.h"

// Of each tensor a window of rows is there, and the window slides down from tile to tile. Its upper
// edge goes to the least row that this tile or a later one still wants, its lower edge to the end
// of what was wanted so far; rows that come in below are made, each once:
//
//     tile        0      1      2      3         wanted: rows [0, 3), [2, 5), none, [4, 7)
//     row 0       m
//         1       m                              m  made by this tile
//         2       m      k                       k  kept from tiles before
//         3              m
//         4              m      k      k         row 3 is dropped after tile 1
//         5                            m
//         6                            m
//
// Where there are several strips of tiles, or parts of the batch, a window slides down each by
// itself.
//
// Readers come after makers. So tensors are settled from the last made to the first, each for all
// tiles, and an operator then asks for what the judge says the rows that it makes are read from.
namespace tessera::plan::execute {
namespace {

class Sweep {
 public:
  Sweep(const graph::Graph& network, const Subgraph& subgraph, size_t strip_length,
        std::vector<TileBoxes>& tiles)
      : network_(network), subgraph_(subgraph), tiles_(tiles) {
    for (size_t first = 0; first < tiles.size(); first += strip_length)
      strips_.push_back(std::span(tiles).subspan(first, strip_length));
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
  using Strip = std::span<TileBoxes>;

  const graph::Shape& ShapeOf(int tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)].shape;
  }
  bool IsState(int tensor) const { return network_.tensors[static_cast<size_t>(tensor)].state; }

  // Until a tensor is settled, `held` is what the tile wants of it.
  Box& WantedOf(TileBoxes& tile, int tensor) const { return tile.parts.at(tensor).held; }

  void AskForShares(int tensor) {
    for (const Strip strip : strips_) AskForShares(tensor, strip);
  }

  // No row of a strip leaves twice.
  void AskForShares(int tensor, Strip strip) {
    const std::optional<size_t> rows = RowAxisOf(ShapeOf(tensor).size());
    int64_t left = 0;
    for (TileBoxes& tile : strip) {
      Box& share = tile.leaves.at(tensor);
      if (rows) {
        share[*rows].begin = std::max(share[*rows].begin, left);
        left = std::max(left, share[*rows].end);
      }
      if (IsEmpty(share)) share = EmptyOf(ShapeOf(tensor));
      Enclose(WantedOf(tile, tensor), share);
    }
  }

  void AskForAll(int tensor) {
    for (TileBoxes& tile : tiles_) WantedOf(tile, tensor) = WholeOf(ShapeOf(tensor));
  }

  void Ask(const graph::Operator& op, TileBoxes& tile) const {
    const Box& made = tile.parts.at(op.outputs.front()).made;
    for (size_t input = 0; input < op.inputs.size(); ++input) {
      const int tensor = op.inputs[input];
      Enclose(WantedOf(tile, tensor),
              HullOf(ReadsOfInput(network_, op, input, made), ShapeOf(tensor)));
    }
  }

  void Settle(int tensor) {
    const std::optional<size_t> rows = RowAxisOf(ShapeOf(tensor).size());
    if (rows && MayKeep(tensor, *rows)) {
      int64_t made_so_far = 0;
      for (const Strip strip : strips_) SlideDown(tensor, *rows, strip, made_so_far);
      return;
    }
    for (TileBoxes& tile : tiles_) tile.parts.at(tensor).made = WantedOf(tile, tensor);
  }

  bool MayKeep(int tensor, size_t rows) const {
    const graph::Shape& shape = ShapeOf(tensor);
    const bool one_image = MeaningOf(shape.size(), 0) == base::Axis::kBatch &&
                           subgraph_.halo == hw_profiles::HaloStorage::kAdjacent;
    if (IsState(tensor)) return false;
    return std::all_of(strips_.begin(), strips_.end(), [&](const Strip strip) {
      const Box width = WidthOf(tensor, rows, strip);
      return std::all_of(strip.begin(), strip.end(), [&](TileBoxes& tile) {
        Box wanted = WantedOf(tile, tensor);
        if (IsEmpty(wanted)) return true;
        if (one_image && wanted.front().end > wanted.front().begin + 1) return false;
        wanted[rows] = width[rows];
        return wanted == width;
      });
    });
  }

  // What the first tile of the strip that wants any of it wants along the other axes.
  Box WidthOf(int tensor, size_t rows, Strip strip) const {
    for (TileBoxes& tile : strip) {
      Box wanted = WantedOf(tile, tensor);
      if (IsEmpty(wanted)) continue;
      wanted[rows] = {};
      return wanted;
    }
    return EmptyOf(ShapeOf(tensor));
  }

  void SlideDown(int tensor, size_t rows, Strip strip, int64_t& made_so_far) {
    const Box width = WidthOf(tensor, rows, strip);
    const Box leaves = ShareOf(tensor, strip);
    const std::vector<int64_t> upper = UpperEdges(tensor, rows, strip);
    int64_t lower = 0;
    for (size_t i = 0; i < strip.size(); ++i) {
      TilePart& part = strip[i].parts.at(tensor);
      const int64_t begin = std::max(upper[i], lower);
      const int64_t end = std::max(lower, part.held[rows].end);
      const int64_t kept = std::max<int64_t>(0, lower - upper[i]);
      const int64_t made = std::max<int64_t>(0, end - begin);
      part.made_before = made_so_far - kept;
      part.held = part.made = kept + made > 0 ? width : EmptyOf(ShapeOf(tensor));
      if (kept + made > 0) {
        part.held[rows] = {kept > 0 ? upper[i] : begin, end};
        part.made[rows] = {begin, end};
      }
      lower = end;
      made_so_far += made;
      const auto share = strip[i].leaves.find(tensor);
      if (share == strip[i].leaves.end()) continue;
      share->second = made > 0 ? leaves : EmptyOf(ShapeOf(tensor));
      if (made > 0) share->second[rows] = part.made[rows];
    }
  }

  // What the first tile of the strip that brings any of it home brings home; rows apart, that is
  // what all of them do.
  Box ShareOf(int tensor, Strip strip) const {
    for (const TileBoxes& tile : strip) {
      const auto share = tile.leaves.find(tensor);
      if (share != tile.leaves.end() && !IsEmpty(share->second)) return share->second;
    }
    return EmptyOf(ShapeOf(tensor));
  }

  // The least row that each tile of the strip or a later one wants.
  std::vector<int64_t> UpperEdges(int tensor, size_t rows, Strip strip) const {
    std::vector<int64_t> edges(strip.size());
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t i = strip.size(); i-- > 0;) {
      const Box& wanted = WantedOf(strip[i], tensor);
      if (!IsEmpty(wanted)) least = std::min(least, wanted[rows].begin);
      edges[i] = least;
    }
    return edges;
  }

  const graph::Graph& network_;
  const Subgraph& subgraph_;
  std::vector<TileBoxes>& tiles_;
  std::vector<Strip> strips_;
};

}  // namespace

void SweepRows(const graph::Graph& network, const Subgraph& subgraph, size_t strip_length,
               std::vector<TileBoxes>& tiles) {
  if (!tiles.empty()) Sweep(network, subgraph, strip_length, tiles).Run();
}

}  // namespace tessera::plan::execute
