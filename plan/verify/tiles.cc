// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/tiles.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "tessera/base/arithmetic.h"

// Needs are propagated from the tile backwards. A tile needs its own box of the last operator's
// first output and a share of each other tensor that leaves. Operators are then visited last to
// first, and each adds the elements that it reads to the needs of its operands. Operators are in
// topological order, so all readers of a tensor have been visited before its maker, and the need of
// a tensor is the hull of their needs.
//
// If the halo is cached, all tiles are propagated through the operators together, and each row of a
// tensor has one stay: it begins with the first tile that reaches as far down, and ends after the
// last tile that still begins at it or above.
//
//     tile      0  1  2  3               needs of the tiles: rows [0, 3), [2, 5), none, [3, 6)
//     row 2     m  k  .  .               made by tile 0, kept for 1
//     row 4     .  m  k  k               made by tile 1, kept for 2 and 3; 2 does not read it
//     row 5     .  .  .  m
//
// The operators above then need to supply only the rows that are made, tile by tile. The rows made
// of a result leave, except columns that other strips of tiles store. Strips are independent of
// each other.
namespace tessera::plan::verify {
namespace {

using graph::Graph;
using graph::Operator;
using graph::Shape;

__extension__ using Wide = __int128;

bool StandsFor(size_t tiled_rank, size_t tiled_axis, size_t rank, size_t axis) {
  const auto name = MeaningOf(rank, axis);
  return name ? MeaningOf(tiled_rank, tiled_axis) == name
              : tiled_rank == rank && tiled_axis == axis;
}

}  // namespace

// Propagates needs through one subgraph.
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
      if (IsMadeForOthers(facts, who, interval_) || tensor == tiled_) leaving_.push_back(tensor);
    }
  }

  Tile Run(const Box& box) const {
    Tile tile = Begin(box);
    for (int i = interval_.last; i >= interval_.first; --i) {
      const Operator& op = network_.operators[static_cast<size_t>(i)];
      WantWhole(op, tile);
      Ask(op, graph::OperandShapesOf(network_, op), Box(tile.needs[op.outputs.front()]), tile);
    }
    return tile;
  }

  // All tiles of a subgraph that caches its halo; `strip_length` of them form a strip.
  std::vector<Tile> RunTogether(const std::vector<Box>& boxes, size_t strip_length,
                                bool one_image) const {
    std::vector<Tile> tiles;
    tiles.reserve(boxes.size());
    for (const Box& box : boxes) tiles.push_back(Begin(box));
    std::vector<Strip> strips;
    for (size_t i = 0; i < tiles.size(); i += strip_length)
      strips.push_back(std::span(tiles).subspan(i, strip_length));
    for (const Strip strip : strips) {
      std::map<int, RowSet> left;
      for (Tile& tile : strip) {
        for (const int tensor : leaving_) {
          DropRows(tensor, left[tensor], tile.shares[tensor]);
          tile.needs[tensor] = tile.shares[tensor];
        }
      }
    }
    for (int i = interval_.last; i >= interval_.first; --i) {
      const Operator& op = network_.operators[static_cast<size_t>(i)];
      for (Tile& tile : tiles) WantWhole(op, tile);
      for (const int output : op.outputs) Settle(output, one_image, strips);
      const graph::ops::OperandShapes inputs = graph::OperandShapesOf(network_, op);
      for (Tile& tile : tiles) Ask(op, inputs, tile.makes[op.outputs.front()], tile);
    }
    for (const int tensor : touched_) {
      // is read before it is made
      const bool state = network_.tensors[static_cast<size_t>(tensor)].state;
      if (state || !tiles.front().makes.contains(tensor)) Settle(tensor, one_image, strips);
    }
    return tiles;
  }

 private:
  using Strip = std::span<Tile>;
  using RowSet = std::map<int64_t, int64_t>;  // disjoint ranges: the end of each by its begin

  // For one tensor, by tile: the rows that the tile makes, and the rows that were made before and
  // stay.
  struct Stays {
    std::vector<Range> made;
    std::vector<Range> kept;
  };

  Tile Begin(const Box& box) const {
    Tile tile;
    for (const int tensor : touched_) tile.needs[tensor] = EmptyOf(ShapeOf(network_, tensor));
    for (const int tensor : leaving_) {
      tile.shares[tensor] = tensor == tiled_ ? box : ShareOf(tensor, box);
      Enclose(tile.needs[tensor], tile.shares[tensor]);
    }
    return tile;
  }

  // Rows that have left with a previous tile do not leave again.
  void DropRows(int tensor, RowSet& left, Box& share) const {
    const std::optional<size_t> axis = RowAxisOf(ShapeOf(network_, tensor).size());
    if (!axis) return;
    Range& rows = share[*axis];
    const auto behind = left.upper_bound(rows.begin);
    if (behind != left.begin())
      rows.begin = std::min(rows.end, std::max(rows.begin, std::prev(behind)->second));
    if (rows.begin < rows.end) AddRows(rows, left);
    if (IsEmpty(share)) share = EmptyOf(ShapeOf(network_, tensor));
  }

  // Ranges that touch become one.
  static void AddRows(Range rows, RowSet& set) {
    auto at = set.upper_bound(rows.begin);
    if (at != set.begin() && std::prev(at)->second >= rows.begin) --at;
    while (at != set.end() && at->first <= rows.end) {
      rows = {std::min(rows.begin, at->first), std::max(rows.end, at->second)};
      at = set.erase(at);
    }
    set.emplace(rows.begin, rows.end);
  }

  void Settle(int tensor, bool one_image, const std::vector<Strip>& strips) const {
    const std::optional<size_t> axis = RowAxisOf(ShapeOf(network_, tensor).size());
    for (const Strip strip : strips) {
      for (Tile& tile : strip) tile.makes[tensor] = tile.needs[tensor];
    }
    if (!axis || network_.tensors[static_cast<size_t>(tensor)].state) return;
    const bool straight = std::all_of(strips.begin(), strips.end(), [&](Strip strip) {
      return WantsOneWidth(tensor, *axis, one_image, strip);
    });
    if (!straight) return;
    int64_t made_so_far = 0;
    for (const Strip strip : strips) KeepRows(tensor, *axis, strip, made_so_far);
  }

  static bool WantsOneWidth(int tensor, size_t axis, bool one_image, Strip tiles) {
    std::optional<Box> first;
    for (const Tile& tile : tiles) {
      Box need = tile.needs.at(tensor);
      if (IsEmpty(need)) continue;
      for (size_t outer = 0; outer < need.size() && one_image; ++outer) {
        const base::Axis name = MeaningOf(need.size(), outer).value_or(base::Axis::kBatch);
        if (name == base::Axis::kBatch && need[outer].end > need[outer].begin + 1) return false;
      }
      need[axis] = {0, 0};
      if (first && *first != need) return false;
      first = need;
    }
    return true;
  }

  void KeepRows(int tensor, size_t axis, Strip tiles, int64_t& made_so_far) const {
    Box width;
    std::vector<std::optional<Range>> wanted;  // rows
    for (const Tile& tile : tiles) {
      const Box& need = tile.needs.at(tensor);
      wanted.push_back(IsEmpty(need) ? std::nullopt : std::optional(need[axis]));
      if (!IsEmpty(need)) width = need;
    }
    const auto [made, kept] = StaysOf(wanted);
    const Box* share = ShareOfStrip(tensor, tiles);
    const Box leaves = share == nullptr ? Box() : *share;
    for (size_t i = 0; i < tiles.size(); ++i) {
      Tile& tile = tiles[i];
      Box& makes = tile.makes[tensor];
      makes = made[i].Length() == 0 ? EmptyOf(ShapeOf(network_, tensor)) : width;
      makes[axis] = made[i];
      if (kept[i].Length() > 0) tile.kept.emplace(tensor, width).first->second[axis] = kept[i];
      tile.made_before[tensor] = made_so_far - kept[i].Length();
      made_so_far += made[i].Length();
      if (share == nullptr) continue;
      tile.shares[tensor] = made[i].Length() == 0 ? makes : leaves;
      tile.shares[tensor][axis] = makes[axis];
    }
  }

  // Let b be the first row that tile i or a later tile needs, and r the end of the rows that
  // previous tiles reach. Tile i keeps rows [b, r), and makes the rows from max(b, r) to the end of
  // its needs.
  static Stays StaysOf(const std::vector<std::optional<Range>>& wanted) {
    constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
    std::vector<int64_t> later(wanted.size());  // the first row that the tile or a later one wants
    int64_t least = kNever;
    for (size_t i = wanted.size(); i-- > 0;) {
      if (wanted[i]) least = std::min(least, wanted[i]->begin);
      later[i] = least;
    }
    Stays stays{std::vector<Range>(wanted.size()), std::vector<Range>(wanted.size())};
    int64_t reached = 0;  // rows above are reached by a tile before
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (later[i] < reached) stays.kept[i] = {later[i], reached};
      if (!wanted[i]) continue;
      const int64_t begin = std::max(reached, later[i]);
      if (begin < wanted[i]->end) stays.made[i] = {begin, wanted[i]->end};
      reached = std::max(reached, wanted[i]->end);
    }
    return stays;
  }

  // The part that some tile of the strip must store: along all axes but the rows, the part that
  // each must store.
  static const Box* ShareOfStrip(int tensor, Strip tiles) {
    for (const Tile& tile : tiles) {
      const auto share = tile.shares.find(tensor);
      if (share != tile.shares.end() && !IsEmpty(share->second)) return &share->second;
    }
    return nullptr;
  }

  // Tile [a, b) of extent E covers [floor(aF / E), ceil(bF / E)) of extent F along the axis of the
  // same name, or at the same position if axes have no names.
  Box ShareOf(int tensor, const Box& box) const {
    const Shape& shape = ShapeOf(network_, tensor);
    const Shape& tiled = ShapeOf(network_, tiled_);
    Box share = WholeOf(shape);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      for (size_t other = 0; other < tiled.size(); ++other) {
        if (!StandsFor(tiled.size(), other, shape.size(), axis)) continue;
        const Wide extent = shape[axis];
        share[axis] = {
            static_cast<int64_t>(box[other].begin * extent / tiled[other]),
            static_cast<int64_t>((box[other].end * extent + tiled[other] - 1) / tiled[other])};
      }
    }
    return share;
  }

  // A barrier makes its result whole if any of it is needed.
  void WantWhole(const Operator& op, Tile& tile) const {
    const auto is_needed = [&tile](int output) { return !IsEmpty(tile.needs[output]); };
    if (!graph::IsBarrier(op) || std::none_of(op.outputs.begin(), op.outputs.end(), is_needed))
      return;
    for (const int output : op.outputs) tile.needs[output] = WholeOf(ShapeOf(network_, output));
  }

  // Adds what the operator reads to make that part of its first output.
  void Ask(const Operator& op, const graph::ops::OperandShapes& inputs, const Box& output,
           Tile& tile) const {
    for (size_t operand = 0; operand < op.inputs.size(); ++operand) {
      Enclose(tile.needs[op.inputs[operand]], NeedOf(network_, op, inputs, operand, output));
    }
  }

  const Graph& network_;
  const graph::Interval interval_;
  int tiled_ = 0;
  std::vector<int> touched_;
  std::vector<int> leaving_;
};

const Box& MadeOf(const Tile& tile, int tensor) {
  return tile.makes.empty() ? tile.needs.at(tensor) : tile.makes.at(tensor);
}

Box KeptOf(const Tile& tile, int tensor) {
  const auto kept = tile.kept.find(tensor);
  return kept == tile.kept.end() ? Box(tile.needs.at(tensor).size()) : kept->second;
}

Box HeldOf(const Tile& tile, int tensor) {
  Box held = KeptOf(tile, tensor);
  if (tile.kept.contains(tensor)) {
    Enclose(held, MadeOf(tile, tensor));
    return held;
  }
  return MadeOf(tile, tensor);
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

std::vector<size_t> LoopOrder(const Subgraph& subgraph, size_t rank) {
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  const std::optional<size_t> rows = RowAxisOf(rank);
  if (rows && subgraph.halo != hw_profiles::HaloStorage::kRecompute) {
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(*rows));
    axes.push_back(*rows);
  }
  return axes;
}

Tile SingleTile(const Graph& network, const std::vector<Users>& users, const Subgraph& subgraph,
                const Box& box) {
  return Propagation(network, users, subgraph).Run(box);
}

Tiles::Tiles(const Graph& network, const std::vector<Users>& users, const Subgraph& subgraph)
    : subgraph_(subgraph),
      shape_(ShapeOf(
          network, network.operators[static_cast<size_t>(subgraph.interval.last)].outputs.front())),
      propagation_(std::make_shared<Propagation>(network, users, subgraph)),
      count_(CountTiles(shape_, subgraph.tile)) {
  axes_ = LoopOrder(subgraph, shape_.size());
  const std::optional<size_t> rows = RowAxisOf(shape_.size());
  if (rows && subgraph.halo != hw_profiles::HaloStorage::kRecompute) FindTogether(*rows);
}

Box Tiles::BoxOf(int64_t tile) const {
  Box box(shape_.size());
  for (size_t inner = axes_.size(); inner-- > 0;) {
    const size_t axis = axes_[inner];
    const int64_t along = base::CeilDiv(shape_[axis], subgraph_.tile[axis]);
    const int64_t begin = tile % along * subgraph_.tile[axis];
    box[axis] = {begin, std::min(begin + subgraph_.tile[axis], shape_[axis])};
    tile /= along;
  }
  return box;
}

void Tiles::FindTogether(size_t rows) {
  std::vector<Box> boxes;
  for (int64_t tile = 0; tile < count_; ++tile) boxes.push_back(BoxOf(tile));
  const auto strip_length = static_cast<size_t>(base::CeilDiv(shape_[rows], subgraph_.tile[rows]));
  const bool one_image = subgraph_.halo == hw_profiles::HaloStorage::kAdjacent;
  together_ = propagation_->RunTogether(boxes, strip_length, one_image);
}

Tile Tiles::At(int64_t tile) const {
  if (!together_.empty()) return together_[static_cast<size_t>(tile)];
  return propagation_->Run(BoxOf(tile));
}

void ForEachTileWhile(const Graph& network, const std::vector<Users>& users,
                      const Subgraph& subgraph, const std::function<bool(const Tile&)>& visit) {
  const Tiles tiles(network, users, subgraph);
  for (int64_t tile = 0; tile < tiles.Count() && visit(tiles.At(tile)); ++tile) {
  }
}

void TileMaxima::Add(const Tile& tile) {
  for (const auto& [tensor, need] : tile.needs) {
    const std::vector<int64_t> extents = ExtentsOf(need);
    std::vector<int64_t>& most = extents_.try_emplace(tensor, extents).first->second;
    for (size_t axis = 0; axis < extents.size(); ++axis)
      most[axis] = std::max(most[axis], extents[axis]);
  }
  for (const auto& [tensor, makes] : tile.makes) {
    const std::optional<size_t> axis = RowAxisOf(makes.size());
    if (!axis) continue;
    const int64_t made = ExtentsOf(makes)[*axis];
    const int64_t kept = ExtentsOf(KeptOf(tile, tensor))[*axis];
    RowTally& tally = rows_[tensor];
    tally.kept = std::max(tally.kept, kept);
    tally.made = std::max(tally.made, made);
    tally.held = std::max(tally.held, kept + made);
    tally.with_next = std::max({tally.with_next, tally.held, held_before_[tensor] + made});
    held_before_[tensor] = kept + made;
  }
}

}  // namespace tessera::plan::verify
