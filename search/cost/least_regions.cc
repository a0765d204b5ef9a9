#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tessera/base/saturating.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/reads.h"
#include "tessera/graph/regions.h"
#include "tessera/search/cost/lower_bounds.h"

namespace tessera::search::cost {

namespace {

// Sorts the parts.
bool CoverTheHull(const graph::ops::Box& hull, std::vector<graph::ops::Box>& parts) {
  for (size_t axis = 0; axis < hull.size(); ++axis) {
    std::sort(parts.begin(), parts.end(),
              [axis](const graph::ops::Box& a, const graph::ops::Box& b) {
                return a[axis].begin < b[axis].begin;
              });
    int64_t end = hull[axis].begin;
    for (const graph::ops::Box& part : parts) {
      graph::ops::Box widened = part;
      widened[axis] = hull[axis];
      if (widened == hull && part[axis].begin <= end) end = std::max(end, part[axis].end);
    }
    if (end == hull[axis].end) return true;
  }
  return hull.empty();
}

// What a slice reads: every steps[axis]-th element of the box, from its first to its last.
struct Lattice {
  graph::ops::Box box;
  std::vector<int64_t> steps;
};

Lattice LatticeOf(const graph::Graph& graph, const graph::Operator& op,
                  const graph::ops::Box& made) {
  Lattice lattice{graph::InputRegion(graph, op, graph::OperandShapesOf(graph, op), 0, made), {}};
  for (const int64_t step : op.Own<base::SliceAttributes>().steps)
    lattice.steps.push_back(std::abs(step));
  return lattice;
}

// Whether lattices of equal steps have every element of the hull: each has all elements of its
// residues, and there are all residues.
bool InterleaveToTheHull(const graph::ops::Box& hull, const std::vector<Lattice>& lattices) {
  const std::vector<int64_t>& steps = lattices.front().steps;
  std::set<std::vector<int64_t>> residues;
  for (const Lattice& lattice : lattices) {
    std::vector<int64_t> residue;
    for (size_t axis = 0; axis < hull.size() && lattice.steps == steps; ++axis) {
      const graph::ops::Extent& extent = lattice.box[axis];
      const bool is_full = extent.begin - hull[axis].begin < steps[axis] &&
                           hull[axis].end - extent.end < steps[axis];
      if (is_full) residue.push_back(extent.begin % steps[axis]);
    }
    if (residue.size() == hull.size()) residues.insert(std::move(residue));
  }
  int64_t classes = 1;
  for (const int64_t step : steps) classes = base::SaturatingMul(classes, step);
  return static_cast<int64_t>(residues.size()) == classes;
}

}  // namespace

// Tiles cover the results that leave the interval. So their reads cover what these results depend
// on, element by element, and together the tiles do at least the work for it. A box is certain if
// the elements that it certainly contains leave no holes in it. From the last operator to the
// first: a result is certain as far as its readers certainly read it.
//
//     made by the reader   [====]              read by it   [======]     a kernel of 3
//                          [====]                           [= = = =]    a stride of 2: holes
//
// A convolution with a stride larger than its kernel skips rows; small tiles then need less of its
// producer than the hull that one large tile needs, and nothing of that hull counts. Of several
// readers, the union counts if it is the hull, and otherwise the largest box:
//
//     hull of q, k, v     [=====================]
//     read of them        [ q ]                      of one row
//                                [== k ==][== v =]   of all rows: k or v counts
//
// The same holds if rows are kept: the rows that a tile does not make again were made before.
Coverage::Coverage(const graph::Graph& graph, std::span<const graph::Usage> usages,
                   graph::Interval interval)
    : graph_(&graph), usages_(usages) {
  const graph::Operator& last = OpAt(interval.last);
  whole_ = graph::tiling::Tile(graph, interval,
                               graph.tensors[static_cast<size_t>(last.outputs.front())].shape);
  hulls_ = graph::tiling::RegionsOfTile(graph, interval, graph::ops::WholeBox(whole_.tile));
  made_.resize(static_cast<size_t>(interval.last - interval.first) + 1);
  for (int op = interval.last; op >= interval.first; --op)
    made_[static_cast<size_t>(op - interval.first)] = FindMade(op);
}

size_t Coverage::SlotOf(int tensor) const {
  const auto at = std::lower_bound(whole_.tensors.begin(), whole_.tensors.end(), tensor);
  return static_cast<size_t>(at - whole_.tensors.begin());
}

graph::tiling::ExtentsView Coverage::NeededOf(int tensor) const {
  return whole_.classes.front().needed[SlotOf(tensor)];
}

// An operator with several outputs makes their hulls if it makes that of one of them.
std::optional<graph::ops::Box> Coverage::FindMade(int index) const {
  const std::vector<int>& outputs = OpAt(index).outputs;
  const graph::ops::Box& hull = HullOf(outputs.front());
  if (index == whole_.interval.last) return hull;
  for (const int output : outputs) {
    if (Leaves(output) || (outputs.size() > 1 && ReadOf(output) == HullOf(output))) return hull;
  }
  return outputs.size() > 1 ? std::nullopt : ReadOf(outputs.front());
}

// What the operator certainly reads of an operand: all that the certain part of its result needs,
// if that has no holes.
std::optional<graph::ops::Box> Coverage::ReadBy(int index, const graph::ops::OperandShapes& shapes,
                                                size_t operand) const {
  const std::optional<graph::ops::Box>& made = MadeBy(index);
  if (!made) return std::nullopt;
  const graph::Operator& op = OpAt(index);
  const int output = op.outputs.front();
  graph::ops::Box read = graph::InputRegion(*graph_, op, shapes, operand, *made);
  if (ElementsOf(read) == 0) return std::nullopt;
  switch (graph::ops::HolesOf(op, ShapeOf(*graph_, op.inputs[operand]), ShapeOf(*graph_, output))) {
    case graph::ops::Holes::kNone:
      return read;
    case graph::ops::Holes::kIfLarger:
      if (ElementsOf(read) == ElementsOf(*made)) return read;
      break;
    case graph::ops::Holes::kInParts:
      if (IsWhole(output, *made)) return read;
      break;
    case graph::ops::Holes::kMaybe:
      break;
  }
  return std::nullopt;
}

// Boxes that follow each other along one axis, in the hull's width along all others, cover it, and
// so do slices that interleave.
std::optional<graph::ops::Box> Coverage::ReadOf(int tensor) const {
  std::vector<graph::ops::Box> parts;
  std::vector<Lattice> lattices;
  for (const int reader : usages_[static_cast<size_t>(tensor)].consumers) {
    if (!Inside(reader)) continue;
    if (OpAt(reader).kind == base::OperatorKind::kSlice && MadeBy(reader))
      lattices.push_back(LatticeOf(*graph_, OpAt(reader), *MadeBy(reader)));
    const std::vector<int>& inputs = OpAt(reader).inputs;
    const graph::ops::OperandShapes shapes = graph::OperandShapesOf(*graph_, OpAt(reader));
    for (size_t operand = 0; operand < inputs.size(); ++operand) {
      if (inputs[operand] != tensor) continue;
      if (std::optional<graph::ops::Box> part = ReadBy(reader, shapes, operand))
        parts.push_back(*part);
    }
  }
  if (!lattices.empty() && InterleaveToTheHull(HullOf(tensor), lattices)) return HullOf(tensor);
  if (parts.empty()) return std::nullopt;
  if (parts.size() > 1 && CoverTheHull(HullOf(tensor), parts)) return HullOf(tensor);
  return *std::max_element(parts.begin(), parts.end(),
                           [](const graph::ops::Box& a, const graph::ops::Box& b) {
                             return ElementsOf(a) < ElementsOf(b);
                           });
}

bool Coverage::MakesTheHull(int op) const { return MadeBy(op) == HullOf(OpAt(op).outputs.front()); }

// An operand with other readers is as large as they need; so this operator must need as much. It
// does so in those tiles in which it makes something; with kept rows these are fewer than all
// tiles.
bool Coverage::ReadsAndMakesAll(int index) const {
  const graph::Operator& op = OpAt(index);
  if (op.outputs.size() != 1 || !MadeBy(index) || !IsWhole(op.outputs.front(), *MadeBy(index)))
    return false;
  const graph::ops::OperandShapes shapes = graph::OperandShapesOf(*graph_, op);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const std::optional<graph::ops::Box> read = ReadBy(index, shapes, i);
    const graph::tiling::ExtentsView needed = NeededOf(op.inputs[i]);
    if (!read || !std::equal(read->begin(), read->end(), needed.begin(), needed.end(),
                             [](const graph::ops::Extent& extent, int64_t length) {
                               return extent.Length() == length;
                             }))
      return false;
  }
  return true;
}

bool Coverage::IsWhole(int tensor, const graph::ops::Box& box) const {
  return box == graph::ops::WholeBox(ShapeOf(*graph_, tensor));
}

bool Coverage::Leaves(int tensor) const {
  return graph::RoleIn(*graph_, usages_[static_cast<size_t>(tensor)], tensor, whole_.interval) !=
         base::TensorRole::kFeature;
}

// Let v be the operator, e the one whose result leaves, and P all operators on the paths from v to
// e. A subgraph with v and e contains P, since it is an interval of an order. It may end with any
// operator, and contain others that read what P makes.
//
//     order 1    a  b [v  e] d  f       v --> e --> f     in any order, a subgraph with v and f
//     order 2    a [v  d  e  f] b       '---> d ----'     contains all paths from v to f
//
// *Cut axes.* Each tile produces a share of e's result: all of it along an axis that no subgraph
// with P can cut (graph::MayCutAmongOthers), and at least one index along any other axis. The
// shares cover the result. So for every choice of one index along each of these axes, some tile has
// it in its share.
//
// *Rows that are recomputed.* That tile runs all of P, and regions only grow with the region that
// is needed. So what it needs of a tensor contains the result of propagation through P for the
// share of one index; the subgraph's other operators add to it. A buffer is as large as the largest
// need of any tile. Any index is valid. The middle one is used, or the next to it for which v is
// needed at all: a concatenation takes some indices from elsewhere.
//
// *Rows that are kept.* Here a tile makes only rows that no previous tile has made. So several
// readers need not read in the same tile, and no hull over them is certain. But each needed row of
// a tensor is made in some tile of the strip, in the width that this strip needs along the other
// axes, and the operator that makes a row needs all inputs of it. So one path from e back to v is
// followed: the need for one row of a result is a need for the previous operand, of which again one
// row is made in some tile. The need is that of the reader that needs most; the row is the middle
// one.
//
//     rows of    e   [5, 6)   -- needs -->   d   [4, 7)
//                -- one of them -->   [5, 6)   -- needs -->   v   [4, 7)
//
// A tensor that cannot be cached is needed in full by each tile, so one row of it is a valid lower
// bound. Strips are cut along rows, images and, if padding is implicit, columns; without rows to
// cut there are none.
//
// Cost: as many propagations as there are axes to cut, and one walk. If the middle index needs
// nothing of v, one for each index or row that is tried.

namespace {

using base::Axis;
using graph::Graph;
using graph::ops::Box;
using graph::ops::Extent;
using graph::tiling::Propagation;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;

// By slot: whether operators outside the part may read the tensor, or it may leave.
std::vector<char> FindOpen(const Graph& graph, std::span<const graph::Usage> usages,
                           std::span<const int> operators, const Propagation& propagation,
                           SurelyAsked::Result result) {
  std::vector<char> open;
  for (const int tensor : propagation.Tensors()) {
    const std::vector<int>& readers = usages[static_cast<size_t>(tensor)].consumers;
    const bool is_read_elsewhere =
        std::any_of(readers.begin(), readers.end(), [operators](int reader) {
          return !std::binary_search(operators.begin(), operators.end(), reader);
        });
    open.push_back(static_cast<char>(is_read_elsewhere ||
                                     graph.tensors[static_cast<size_t>(tensor)].network_output));
  }
  open[propagation.LastSlot()] = static_cast<char>(result == SurelyAsked::Result::kMayBeReadInside);
  return open;
}

bool IsEmpty(std::span<const Extent> region) {
  return std::any_of(region.begin(), region.end(),
                     [](const Extent& extent) { return extent.Length() == 0; });
}

int64_t VolumeOf(std::span<const Extent> region) {
  int64_t volume = 1;
  for (const Extent& extent : region) volume *= extent.Length();
  return volume;
}

// Calls visit(index) for each index of the extent, the middle one first, until it returns true.
template <typename Visit>
void FromTheMiddle(const Extent& extent, const Visit& visit) {
  const int64_t middle = extent.begin + extent.Length() / 2;
  for (int64_t distance = 0; distance <= extent.Length() / 2; ++distance) {
    if (middle + distance < extent.end && visit(middle + distance)) return;
    if (distance > 0 && visit(middle - distance)) return;
  }
}

}  // namespace

SurelyAsked::SurelyAsked(const Graph& graph, std::span<const graph::Usage> usages,
                         const Propagation& whole, const Profile& profile,
                         std::span<const int> operators, Result result)
    : profile_(profile),
      propagation_(whole, graph, operators),
      result_(propagation_.SlotOf(
          graph.operators[static_cast<size_t>(operators.front())].outputs.front())) {
  const std::vector<char> open = FindOpen(graph, usages, operators, propagation_, result);
  const graph::Shape& shape = propagation_.ShapeOf(propagation_.LastSlot());
  for (const hw_profiles::AxisGranularity& cut : profile.tiling.axes) {
    const std::optional<size_t> axis = graph::tiling::AxisOf(shape, cut.axis);
    if (axis && graph::tiling::MayCutAmongOthers(graph, propagation_, open, *axis))
      cut_.push_back(cut.axis);
  }
}

bool SurelyAsked::MayKeepRows() const {
  const std::vector<HaloStorage>& halos = profile_.tiling.halo;
  return std::find(cut_.begin(), cut_.end(), Axis::kRows) != cut_.end() &&
         std::any_of(halos.begin(), halos.end(),
                     [](HaloStorage halo) { return halo != HaloStorage::kRecompute; });
}

graph::tiling::Extents SurelyAsked::Extents::Of(int tensor) const {
  graph::tiling::Extents extents;
  const size_t slot = propagation->SlotOf(tensor);
  for (size_t i = propagation->Begin(slot); i < propagation->Begin(slot + 1); ++i)
    extents.push_back(regions[i].Length());
  return extents;
}

SurelyAsked::Extents SurelyAsked::WhereRowsAreRecomputed() const {
  return {&propagation_, TileOf(cut_)};
}

SurelyAsked::Extents SurelyAsked::WhereRowsAreKept() const {
  std::vector<Axis> cut = cut_;
  std::erase_if(cut, [this](Axis axis) {
    return axis == Axis::kChannels || (axis == Axis::kColumns && !profile_.tiling.implicit_padding);
  });
  const Regions tile = TileOf(cut);
  Regions regions = FollowOneWay(tile, /*carefully=*/false);
  if (!IsAskedFor(regions)) regions = FollowOneWay(tile, /*carefully=*/true);
  return {&propagation_, std::move(regions)};
}

std::span<Extent> SurelyAsked::RegionOf(Regions& regions, size_t slot) const {
  const size_t begin = propagation_.Begin(slot);
  return std::span(regions).subspan(begin, propagation_.Begin(slot + 1) - begin);
}

bool SurelyAsked::IsAskedFor(Regions& regions) const {
  return !IsEmpty(RegionOf(regions, result_));
}

// The regions of a tile of one index along each of these axes.
SurelyAsked::Regions SurelyAsked::TileOf(std::span<const Axis> cut) const {
  const graph::Shape& shape = propagation_.ShapeOf(propagation_.LastSlot());
  Box tile = graph::ops::WholeBox(shape);
  Regions regions(propagation_.Size());
  propagation_.Run(tile, regions);
  for (const Axis name : cut) {
    Extent& extent = tile[*graph::tiling::AxisOf(shape, name)];
    FromTheMiddle(Extent(extent), [&](int64_t index) {
      extent = {index, index + 1};
      propagation_.Run(tile, regions);
      return IsAskedFor(regions);
    });
  }
  return regions;
}

SurelyAsked::Regions SurelyAsked::FollowOneWay(const Regions& tile, bool carefully) const {
  Regions regions(propagation_.Size());
  const size_t last = propagation_.LastSlot();
  std::copy(tile.begin() + static_cast<std::ptrdiff_t>(propagation_.Begin(last)),
            tile.begin() + static_cast<std::ptrdiff_t>(propagation_.Begin(last + 1)),
            RegionOf(regions, last).begin());
  for (const Propagation::Ask& ask : propagation_.Asks()) {
    Box needed(propagation_.ShapeOf(ask.input).size());
    Propagation::Apply(ask, RegionOf(regions, ask.output), needed);
    if (IsEmpty(needed)) continue;
    if (propagation_.MadeInside(ask.input) && !TakeOneRow(ask.input, carefully, needed)) continue;
    const std::span<Extent> known = RegionOf(regions, ask.input);
    if (IsEmpty(known) || VolumeOf(needed) > VolumeOf(known))
      std::copy(needed.begin(), needed.end(), known.begin());
  }
  return regions;
}

// If careful: a row for which the operator is needed; false if there is none.
bool SurelyAsked::TakeOneRow(size_t slot, bool carefully, Box& region) const {
  const std::optional<size_t> rows = graph::tiling::AxisOf(propagation_.ShapeOf(slot), Axis::kRows);
  if (!rows) return true;
  bool found = false;
  FromTheMiddle(Extent(region[*rows]), [&](int64_t row) {
    region[*rows] = {row, row + 1};
    Regions regions(carefully ? propagation_.Size() : 0);
    if (carefully) {
      std::copy(region.begin(), region.end(), RegionOf(regions, slot).begin());
      for (const Propagation::Ask& ask : propagation_.Asks())
        Propagation::Apply(ask, RegionOf(regions, ask.output), RegionOf(regions, ask.input));
    }
    found = !carefully || IsAskedFor(regions);
    return found;
  });
  return found;
}

}  // namespace tessera::search::cost
