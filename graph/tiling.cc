#include "tessera/graph/tiling.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tessera/base/checked.h"
#include "tessera/graph/propagation.h"

// Tiles of a subgraph, counted by class.
//
// A 540 x 960 output in tiles of 1 x 1 has half a million tiles, but what a tile needs of rows follows from
// its row and of columns from its column: 540 + 960 propagations say all there is to say. Two cut axes are
// tied together only where one decides over the other: a concatenation or a window far out in the padding
// makes an input empty on all axes at once, and a merged or transposed axis may follow from two. Tied axes
// form a group whose positions are tried jointly; groups are independent.
//
//     rows    | first | steady x 5 | last |        classes of the group {rows}
//     columns | first | steady x 9 | last |        classes of the group {columns}
//     tiles   = 3 x 3 classes, counts 1, 9, 1, 5, 45, 5, 1, 9, 1
//
// Within a group, positions with the same extents of every tensor form one class; the classes of the subgraph
// are the products.
namespace tessera::graph {
namespace {

using AxisSet = Propagation::AxisSet;

constexpr AxisSet Bit(size_t axis) { return AxisSet{1} << axis; }

// Positions of one group that are alike.
struct PositionClass {
  int64_t count = 0;
  // Of all regions, then of all shares; right on the axes that the group decides.
  std::vector<int64_t> lengths;
};

struct Group {
  AxisSet axes = 0;
  std::vector<PositionClass> classes;
  std::vector<int> class_at;  // of each joint position, row-major
};

class TileCounter {
 public:
  TileCounter(const Graph& graph, Interval interval, const TileShape& tile)
      : graph_(graph),
        interval_(interval),
        tile_(tile),
        propagation_(graph, interval),
        output_(OutputShape()) {
    for (size_t axis = 0; axis < output_.size(); ++axis) {
      positions_.push_back(base::CeilDiv(output_[axis], tile_[axis]));
      if (positions_.back() > 1) cut_ |= Bit(axis);
    }
    FindDeciders();
    FindGroups();
    for (Group& group : groups_) CountPositions(group);
  }

  TiledSubgraph Count() const;

 private:
  const Shape& OutputShape() const { return propagation_.ShapeOf(propagation_.LastSlot()); }
  void FindDeciders();
  void FindGroups();
  void CountPositions(Group& group);
  Box TileAt(const std::vector<int64_t>& position) const;
  std::vector<int64_t> LengthsOf(const Box& tile, std::vector<Extent>& regions) const;
  int64_t IndexOf(const std::vector<int64_t>& position, AxisSet axes) const;
  TileClass Combine(const std::vector<int>& choice) const;
  void FindLargest(TiledSubgraph& subgraph) const;

  const Graph& graph_;
  Interval interval_;
  const TileShape& tile_;
  Propagation propagation_;
  const Shape& output_;
  std::vector<int64_t> positions_;  // how many along each axis of the output
  AxisSet cut_ = 0;
  std::vector<AxisSet> deciders_;  // parallel to PositionClass::lengths
  std::vector<Group> groups_;
};

void TileCounter::FindDeciders() {
  for (const Propagation::Dependence& dependence : propagation_.Dependences(cut_))
    deciders_.push_back(dependence.axes);
  for (size_t slot = 0; slot < propagation_.Tensors().size(); ++slot) {
    if (!propagation_.Leaves(slot)) continue;
    for (size_t axis = 0; axis < propagation_.ShapeOf(slot).size(); ++axis) {
      const std::optional<size_t> source = propagation_.ShareSource(slot, axis);
      deciders_.push_back(source ? cut_ & Bit(*source) : 0);
    }
  }
}

// Groups are the connected components of the sets of deciders. Without any cut there is one group, with one
// position.
void TileCounter::FindGroups() {
  for (size_t axis = 0; axis < output_.size(); ++axis) {
    if (cut_ & Bit(axis)) groups_.push_back({Bit(axis), {}, {}});
  }
  for (const AxisSet deciders : deciders_) {
    const bool ties = (deciders & (deciders - 1)) != 0;
    if (!ties) continue;
    Group tied{deciders, {}, {}};
    std::erase_if(groups_, [&tied, deciders](const Group& group) {
      if ((group.axes & deciders) == 0) return false;
      tied.axes |= group.axes;
      return true;
    });
    groups_.push_back(std::move(tied));
  }
  if (groups_.empty()) groups_.emplace_back();
}

// Goes to the next position along the axes of the set, in row-major order; false after the last one.
bool Advance(std::vector<int64_t>& position, const std::vector<int64_t>& counts, AxisSet axes) {
  for (size_t axis = position.size(); axis-- > 0;) {
    if ((axes & Bit(axis)) == 0) continue;
    if (++position[axis] < counts[axis]) return true;
    position[axis] = 0;
  }
  return false;
}

void TileCounter::CountPositions(Group& group) {
  std::map<std::vector<int64_t>, size_t> class_of;
  std::vector<Extent> regions(propagation_.Size());
  std::vector<int64_t> position(output_.size(), 0);
  do {
    std::vector<int64_t> lengths = LengthsOf(TileAt(position), regions);
    const auto [entry, fresh] = class_of.try_emplace(std::move(lengths), group.classes.size());
    if (fresh) group.classes.push_back({0, entry->first});
    ++group.classes[entry->second].count;
    group.class_at.push_back(static_cast<int>(entry->second));
  } while (Advance(position, positions_, group.axes));
}

Box TileCounter::TileAt(const std::vector<int64_t>& position) const {
  Box box(position.size());
  for (size_t axis = 0; axis < position.size(); ++axis) {
    box[axis].begin = position[axis] * tile_[axis];
    box[axis].end = std::min(box[axis].begin + tile_[axis], output_[axis]);
  }
  return box;
}

std::vector<int64_t> TileCounter::LengthsOf(const Box& tile, std::vector<Extent>& regions) const {
  propagation_.Run(tile, regions);
  std::vector<int64_t> lengths;
  lengths.reserve(deciders_.size());
  for (const Extent& extent : regions) lengths.push_back(extent.Length());
  for (size_t slot = 0; slot < propagation_.Tensors().size(); ++slot) {
    if (!propagation_.Leaves(slot)) continue;
    for (const Extent& extent : propagation_.ShareOf(slot, tile)) lengths.push_back(extent.Length());
  }
  return lengths;
}

// Row-major number of a position among those along the axes of the set.
int64_t TileCounter::IndexOf(const std::vector<int64_t>& position, AxisSet axes) const {
  int64_t index = 0;
  for (size_t axis = 0; axis < position.size(); ++axis) {
    if (axes & Bit(axis)) index = index * positions_[axis] + position[axis];
  }
  return index;
}

// One class of tiles from one class of each group: each length comes from the group that decides over it.
TileClass TileCounter::Combine(const std::vector<int>& choice) const {
  TileClass tiles;
  tiles.count = 1;
  const auto chosen = [&](size_t g) -> const PositionClass& {
    return groups_[g].classes[static_cast<size_t>(choice[g])];
  };
  for (size_t g = 0; g < groups_.size(); ++g) tiles.count *= chosen(g).count;
  const auto length = [&](size_t i) {
    size_t g = 0;
    while (g + 1 < groups_.size() && (groups_[g].axes & deciders_[i]) == 0) ++g;
    return chosen(g).lengths[i];
  };
  size_t next_share = propagation_.Size();
  for (size_t slot = 0; slot < propagation_.Tensors().size(); ++slot) {
    Extents& needed = tiles.needed.emplace_back();
    Extents& share = tiles.share.emplace_back();
    for (size_t i = propagation_.Begin(slot); i < propagation_.Begin(slot + 1); ++i)
      needed.push_back(length(i));
    if (!propagation_.Leaves(slot)) continue;
    for (size_t axis = 0; axis < needed.size(); ++axis) share.push_back(length(next_share++));
  }
  for (int i = interval_.first; i <= interval_.last; ++i) {
    const Operator& op = graph_.operators[static_cast<size_t>(i)];
    Box made;
    for (const int64_t extent : tiles.needed[propagation_.SlotOf(op.outputs.front())])
      made.push_back({0, extent});
    tiles.macs.push_back(MacsOf(graph_, op, made));
  }
  return tiles;
}

// Products of the groups' classes, numbered in order of their first tile.
TiledSubgraph TileCounter::Count() const {
  TiledSubgraph subgraph;
  subgraph.interval = interval_;
  subgraph.tile = tile_;
  subgraph.tensors = propagation_.Tensors();
  size_t products = 1;
  for (const Group& group : groups_) products *= group.classes.size();
  std::vector<int> number_of(products, -1);  // mixed radix: one digit for the class of each group
  std::vector<int> choice(groups_.size(), 0);
  std::vector<int64_t> position(output_.size(), 0);
  do {
    size_t product = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      choice[g] = groups_[g].class_at[static_cast<size_t>(IndexOf(position, groups_[g].axes))];
      product = product * groups_[g].classes.size() + static_cast<size_t>(choice[g]);
    }
    if (number_of[product] < 0) {
      number_of[product] = static_cast<int>(subgraph.classes.size());
      subgraph.classes.push_back(Combine(choice));
    }
    subgraph.class_of.push_back(number_of[product]);
  } while (Advance(position, positions_, cut_));
  subgraph.tiles = static_cast<int64_t>(subgraph.class_of.size());
  FindLargest(subgraph);
  return subgraph;
}

void TileCounter::FindLargest(TiledSubgraph& subgraph) const {
  for (const int tensor : subgraph.tensors) {
    subgraph.largest.emplace_back(graph_.tensors[static_cast<size_t>(tensor)].shape.size(), 0);
  }
  for (const TileClass& tiles : subgraph.classes) {
    for (size_t slot = 0; slot < subgraph.largest.size(); ++slot) {
      Extents& largest = subgraph.largest[slot];
      for (size_t axis = 0; axis < largest.size(); ++axis) {
        largest[axis] = std::max(largest[axis], tiles.needed[slot][axis]);
      }
    }
  }
}

}  // namespace

TiledSubgraph Tile(const Graph& graph, Interval interval, const TileShape& tile) {
  return TileCounter(graph, interval, tile).Count();
}

std::vector<Box> RegionsOfTile(const Graph& graph, Interval interval, const Box& tile) {
  const Propagation propagation(graph, interval);
  std::vector<Extent> regions(propagation.Size());
  propagation.Run(tile, regions);
  std::vector<Box> boxes;
  for (size_t slot = 0; slot < propagation.Tensors().size(); ++slot) {
    const auto at = [&](size_t i) {
      return regions.begin() + static_cast<std::ptrdiff_t>(propagation.Begin(i));
    };
    boxes.emplace_back(at(slot), at(slot + 1));
  }
  return boxes;
}

}  // namespace tessera::graph
