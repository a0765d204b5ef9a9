// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/tiling/tiling.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/stop.h"
#include "tessera/graph/regions.h"
#include "tessera/graph/tiling/cached_halo.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/row_structure.h"

// Tiles of a subgraph, counted by class.
//
// A 540 x 960 output in tiles of 1 x 1 has half a million tiles. But the rows that a tile needs
// follow from its row and the columns from its column, so 540 + 960 propagations are enough. Two
// cut axes are coupled only if one affects the other: a concatenation or a window far out in the
// padding makes an input empty on all axes together, and a merged or transposed axis may follow
// from two. Coupled axes form a group whose positions are enumerated jointly. Groups are
// independent.
//
//     rows    | first | steady x 5 | last |        classes of the group {rows}
//     columns | first | steady x 9 | last |        classes of the group {columns}
//     tiles   = 3 x 3 classes, counts 1, 9, 1, 5, 45, 5, 1, 9, 1
//
// Within a group, positions with the same extents of every tensor form one class. The classes of
// the subgraph are the products.
namespace tessera::graph::tiling {

// The cut axes on which each length depends, and the resulting groups; the same for all tiles that
// cut the same axes.
struct CutStructure {
  std::vector<Propagation::AxisSet> deciders;  // parallel to PositionClass::lengths
  std::vector<Propagation::AxisSet> groups;
};

// Equal positions of one group.
struct PositionClass {
  int64_t count = 0;
  // Of all regions, then of all shares; correct on the axes that depend on the group.
  std::vector<int64_t> lengths;
};

struct PositionGroup {
  Propagation::AxisSet axes = 0;
  std::vector<PositionClass> classes;
  std::vector<int> class_at;  // of each joint position, row-major
};

// Groups of one axis, by the axis and the tiles' extent along it. They serve all shapes with this
// extent, because lengths that depend on the group do not depend on other axes.
using KnownGroups =
    std::map<std::pair<Propagation::AxisSet, int64_t>, std::shared_ptr<const PositionGroup>>;

namespace {

using AxisSet = Propagation::AxisSet;

constexpr AxisSet Bit(size_t axis) { return AxisSet{1} << axis; }

class TileCounter {
 public:
  TileCounter(const Graph& graph, Interval interval, const Propagation& propagation,
              const CutStructure& structure, const TileShape& tile, KnownGroups& known,
              const base::Stop* stop)
      : stop_(stop),
        work_(stop),
        graph_(graph),
        interval_(interval),
        tile_(tile),
        propagation_(propagation),
        output_(propagation.ShapeOf(propagation.LastSlot())),
        deciders_(structure.deciders),
        regions_(propagation.Size()),
        box_(output_.size()) {
    for (size_t axis = 0; axis < output_.size(); ++axis) {
      positions_.push_back(base::CeilDiv(output_[axis], tile_[axis]));
      if (positions_.back() > 1) cut_ |= Bit(axis);
    }
    for (const AxisSet axes : structure.groups) groups_.push_back(GroupOver(axes, known));
  }

  TiledSubgraph Count(const ClassTest& wants_classes);

 private:
  std::shared_ptr<const PositionGroup> GroupOver(AxisSet axes, KnownGroups& known);
  void CountPositions(PositionGroup& group);
  void GoTo(const std::vector<int64_t>& position, AxisSet axes);
  int64_t IndexOf(const std::vector<int64_t>& position, AxisSet axes) const;
  size_t GroupOf(size_t length) const;
  TileClass Combine(const std::vector<int>& choice) const;
  Extents LargestOf(size_t slot) const;
  void AddClasses(TiledSubgraph& subgraph);

  // Counts the operators of one position or tile as work. Returns false after the stop.
  bool Continues() { return work_.Continues(interval_.last - interval_.first + 1); }

  const base::Stop* stop_;
  base::PolledWork work_;
  const Graph& graph_;
  Interval interval_;
  const TileShape& tile_;
  const Propagation& propagation_;
  const Shape& output_;
  const std::vector<AxisSet>& deciders_;
  std::vector<int64_t> positions_;  // the number of positions along each axis of the output
  AxisSet cut_ = 0;
  std::vector<std::shared_ptr<const PositionGroup>> groups_;

  // For the current position.
  std::vector<ops::Extent> regions_;
  ops::Box box_;
  std::vector<int64_t> lengths_;
};

std::vector<AxisSet> FindDeciders(const Propagation& propagation, AxisSet cut) {
  std::vector<AxisSet> deciders;
  for (const Propagation::Dependence& dependence : propagation.Dependences(cut))
    deciders.push_back(dependence.axes);
  for (size_t slot = 0; slot < propagation.Tensors().size(); ++slot) {
    if (!propagation.Leaves(slot)) continue;
    for (size_t axis = 0; axis < propagation.ShapeOf(slot).size(); ++axis) {
      const std::optional<size_t> source = propagation.ShareSource(slot, axis);
      deciders.push_back(source ? cut & Bit(*source) : 0);
    }
  }
  return deciders;
}

// Groups are the connected components of the sets of deciders. Without any cut there is one group
// with one position.
CutStructure FindStructure(const Propagation& propagation, AxisSet cut) {
  CutStructure structure{FindDeciders(propagation, cut), {}};
  for (AxisSet left = cut; left != 0; left &= left - 1) structure.groups.push_back(left & -left);
  for (const AxisSet deciders : structure.deciders) {
    const bool ties = (deciders & (deciders - 1)) != 0;
    if (!ties) continue;
    AxisSet tied = deciders;
    std::erase_if(structure.groups, [&tied, deciders](AxisSet group) {
      if ((group & deciders) == 0) return false;
      tied |= group;
      return true;
    });
    structure.groups.push_back(tied);
  }
  if (structure.groups.empty()) structure.groups.push_back(0);
  return structure;
}

// Advances to the next position along the axes of the set, in row-major order; returns false after
// the last one.
bool Advance(std::vector<int64_t>& position, const std::vector<int64_t>& counts, AxisSet axes) {
  for (size_t axis = position.size(); axis-- > 0;) {
    if ((axes & Bit(axis)) == 0) continue;
    if (++position[axis] < counts[axis]) return true;
    position[axis] = 0;
  }
  return false;
}

// Groups with very many positions are not stored.
std::shared_ptr<const PositionGroup> TileCounter::GroupOver(AxisSet axes, KnownGroups& known) {
  constexpr int64_t kMostKept = 4'096;
  const auto axis = static_cast<size_t>(std::countr_zero(axes));
  const bool is_one = std::has_single_bit(axes);
  if (is_one) {
    const auto found = known.find({axes, tile_[axis]});
    if (found != known.end()) return found->second;
  }
  auto group = std::make_shared<PositionGroup>(PositionGroup{axes, {}, {}});
  CountPositions(*group);
  if (is_one && positions_[axis] <= kMostKept && !work_.IsCutOff())
    known.emplace(std::pair(axes, tile_[axis]), group);
  return group;
}

void TileCounter::CountPositions(PositionGroup& group) {
  std::map<std::vector<int64_t>, size_t> class_of;
  std::vector<int64_t> position(output_.size(), 0);
  box_ = ops::WholeBox(output_);
  do {
    GoTo(position, group.axes);
    auto entry = class_of.find(lengths_);
    if (entry == class_of.end()) {
      entry = class_of.emplace(lengths_, group.classes.size()).first;
      group.classes.push_back({0, lengths_});
    }
    ++group.classes[entry->second].count;
    group.class_at.push_back(static_cast<int>(entry->second));
  } while (Continues() && Advance(position, positions_, group.axes));
}

// Goes to a position along the axes of the group.
void TileCounter::GoTo(const std::vector<int64_t>& position, AxisSet axes) {
  for (size_t axis = 0; axis < position.size(); ++axis) {
    if ((axes & Bit(axis)) == 0) continue;
    box_[axis].begin = position[axis] * tile_[axis];
    box_[axis].end = std::min(box_[axis].begin + tile_[axis], output_[axis]);
  }
  propagation_.Run(box_, regions_);
  lengths_.clear();
  for (const ops::Extent& extent : regions_) lengths_.push_back(extent.Length());
  for (size_t slot = 0; slot < propagation_.Tensors().size(); ++slot) {
    if (propagation_.Leaves(slot)) propagation_.AppendShareLengths(slot, box_, lengths_);
  }
}

// The row-major number of a position among those along the axes of the set.
int64_t TileCounter::IndexOf(const std::vector<int64_t>& position, AxisSet axes) const {
  int64_t index = 0;
  for (size_t axis = 0; axis < position.size(); ++axis) {
    if (axes & Bit(axis)) index = index * positions_[axis] + position[axis];
  }
  return index;
}

// The group on which a length depends; any group if there is none.
size_t TileCounter::GroupOf(size_t length) const {
  size_t g = 0;
  while (g + 1 < groups_.size() && (groups_[g]->axes & deciders_[length]) == 0) ++g;
  return g;
}

// One class of tiles from one class of each group. Each length comes from the group on which it
// depends.
TileClass TileCounter::Combine(const std::vector<int>& choice) const {
  TileClass tiles;
  tiles.count = 1;
  const auto chosen = [&](size_t g) -> const PositionClass& {
    return groups_[g]->classes[static_cast<size_t>(choice[g])];
  };
  for (size_t g = 0; g < groups_.size(); ++g) tiles.count *= chosen(g).count;
  const auto length = [&](size_t i) { return chosen(GroupOf(i)).lengths[i]; };
  const size_t slots = propagation_.Tensors().size();
  tiles.needed.Reserve(slots, propagation_.Size());
  tiles.share.Reserve(slots, deciders_.size() - propagation_.Size());
  size_t next_share = propagation_.Size();
  for (size_t slot = 0; slot < slots; ++slot) {
    for (size_t i = propagation_.Begin(slot); i < propagation_.Begin(slot + 1); ++i) {
      tiles.needed.AddAxis(length(i));
      if (propagation_.Leaves(slot)) tiles.share.AddAxis(length(next_share++));
    }
    tiles.needed.EndTensor();
    tiles.share.EndTensor();
  }
  AddMacs(graph_, interval_, propagation_, tiles);
  return tiles;
}

TiledSubgraph TileCounter::Count(const ClassTest& wants_classes) {
  if (work_.IsCutOff()) return {};
  TiledSubgraph subgraph;
  subgraph.interval = interval_;
  subgraph.tile = tile_;
  subgraph.tensors = propagation_.Tensors();
  subgraph.tiles = 1;
  for (const int64_t positions : positions_) subgraph.tiles *= positions;
  subgraph.largest.reserve(subgraph.tensors.size());
  for (size_t slot = 0; slot < subgraph.tensors.size(); ++slot)
    subgraph.largest.push_back(LargestOf(slot));
  if (!wants_classes || wants_classes(subgraph)) AddClasses(subgraph);
  if (!work_.IsCutOff()) return subgraph;
  FreeClasses(subgraph, stop_);
  return {};
}

// Each class of a group is part of some tile.
Extents TileCounter::LargestOf(size_t slot) const {
  Extents largest;
  for (size_t i = propagation_.Begin(slot); i < propagation_.Begin(slot + 1); ++i) {
    int64_t& most = largest.emplace_back(0);
    for (const PositionClass& each : groups_[GroupOf(i)]->classes)
      most = std::max(most, each.lengths[i]);
  }
  return largest;
}

// Products of the groups' classes, numbered in order of their first tile. They are counted before
// they are built, because a list of a million classes takes long to move when it grows.
void TileCounter::AddClasses(TiledSubgraph& subgraph) {
  size_t products = 1;
  for (const auto& group : groups_) products *= group->classes.size();
  std::vector<int> number_of(products, -1);  // mixed radix: one digit for the class of each group
  std::vector<size_t> product_of;            // by number
  std::vector<int> choice(groups_.size(), 0);
  std::vector<int64_t> position(output_.size(), 0);
  subgraph.class_of.reserve(static_cast<size_t>(subgraph.tiles));
  do {
    size_t product = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      choice[g] = groups_[g]->class_at[static_cast<size_t>(IndexOf(position, groups_[g]->axes))];
      product = product * groups_[g]->classes.size() + static_cast<size_t>(choice[g]);
    }
    if (number_of[product] < 0) {
      number_of[product] = static_cast<int>(product_of.size());
      product_of.push_back(product);
    }
    subgraph.class_of.push_back(number_of[product]);
  } while (Continues() && Advance(position, positions_, cut_));
  subgraph.classes.reserve(product_of.size());
  for (size_t product : product_of) {
    if (!Continues()) return;
    for (size_t g = groups_.size(); g-- > 0; product /= groups_[g]->classes.size())
      choice[g] = static_cast<int>(product % groups_[g]->classes.size());
    subgraph.classes.push_back(Combine(choice));
  }
}

}  // namespace

void FreeClasses(TiledSubgraph& tiling, const base::Stop* stop) {
  constexpr std::ptrdiff_t kTogether = 4'096;
  std::vector<TileClass>& classes = tiling.classes;
  while (stop != nullptr && !classes.empty()) {
    if (stop->HasEndedProcess()) {
      base::LeaveReachable(std::make_unique<std::vector<TileClass>>(std::move(classes)).release());
      break;
    }
    classes.erase(classes.end() - std::min(kTogether, std::ssize(classes)), classes.end());
  }
  classes = {};
  tiling.class_of = std::vector<int>();
}

void AddMacs(const Graph& graph, Interval interval, const Propagation& propagation,
             TileClass& tiles) {
  tiles.macs.reserve(static_cast<size_t>(interval.last - interval.first) + 1);
  ops::Box made;
  for (int i = interval.first; i <= interval.last; ++i) {
    const Operator& op = graph.operators[static_cast<size_t>(i)];
    made.clear();
    for (const int64_t extent : MadeOf(tiles, propagation.SlotOf(op.outputs.front())))
      made.push_back({0, extent});
    tiles.macs.push_back(MacsOf(graph, op, made));
  }
}

class Tiler::Interior {
 public:
  Interior(const Graph& graph, Interval interval, const base::Stop* stop)
      : graph_(graph), interval_(interval), stop_(stop), propagation_(graph, interval) {}

  TiledSubgraph Cut(const TileShape& tile, const ClassTest& wants_classes) {
    const Shape& output = propagation_.ShapeOf(propagation_.LastSlot());
    AxisSet cut = 0;
    for (size_t axis = 0; axis < output.size(); ++axis) {
      if (tile[axis] < output[axis]) cut |= Bit(axis);
    }
    auto structure = structures_.find(cut);
    if (structure == structures_.end())
      structure = structures_.emplace(cut, FindStructure(propagation_, cut)).first;
    return TileCounter(graph_, interval_, propagation_, structure->second, tile, known_groups_,
                       stop_)
        .Count(wants_classes);
  }

  TiledSubgraph CutKeepingRows(const TileShape& tile, bool across_batch,
                               const ClassTest& wants_classes) {
    if (stop_ != nullptr && stop_->Requested()) return {};
    if (!row_structure_) row_structure_.emplace(graph_, interval_, propagation_);
    return TileKeepingRows(*row_structure_, tile, across_batch, wants_classes, stop_);
  }

 private:
  const Graph& graph_;
  Interval interval_;
  const base::Stop* stop_;
  Propagation propagation_;
  std::map<AxisSet, CutStructure> structures_;  // by the axes that are cut
  KnownGroups known_groups_;
  std::optional<RowStructure> row_structure_;  // set once rows are kept
};

Tiler::Tiler(const Graph& graph, Interval interval, const base::Stop* stop)
    : interior_(std::make_unique<Interior>(graph, interval, stop)) {}
Tiler::~Tiler() = default;

TiledSubgraph Tiler::Cut(const TileShape& tile, const ClassTest& wants_classes) {
  return interior_->Cut(tile, wants_classes);
}

TiledSubgraph Tiler::CutKeepingRows(const TileShape& tile, bool across_batch,
                                    const ClassTest& wants_classes) {
  return interior_->CutKeepingRows(tile, across_batch, wants_classes);
}

TiledSubgraph Tile(const Graph& graph, Interval interval, const TileShape& tile) {
  return Tiler(graph, interval).Cut(tile);
}

}  // namespace tessera::graph::tiling
