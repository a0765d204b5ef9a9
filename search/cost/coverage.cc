// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/coverage.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/reads.h"
#include "tessera/graph/regions.h"

// Tiles cover the results that leave the interval. So their reads cover what these results depend
// on, element by element, and together the tiles do at least the work for it. A box is certain if
// the certain elements leave no holes in it. Certainty is computed from the last operator to the
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
//
// Slices that interleave, each with a step, together leave no holes either.
namespace tessera::search::cost {

namespace {

// Returns whether the parts cover the hull. Sorts the parts.
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

// The elements that a slice reads: every steps[axis]-th of the box, from its first to its last.
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

// Returns whether lattices of equal steps contain every element of the hull: each contains all
// elements of its residues, and all residues occur.
bool InterleaveToTheHull(const graph::ops::Box& hull, const std::vector<Lattice>& lattices) {
  const std::vector<int64_t>& steps = lattices.front().steps;
  std::set<std::vector<int64_t>> residues;
  for (const Lattice& lattice : lattices) {
    if (ElementsOf(lattice.box) == 0) continue;
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

graph::tiling::Extents ExtentsOf(const graph::ops::Box& box) {
  graph::tiling::Extents extents;
  extents.reserve(box.size());
  for (const graph::ops::Extent& extent : box) extents.push_back(extent.Length());
  return extents;
}

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
  for (const int tensor : whole_.tensors)
    read_.push_back(Inside(usages_[static_cast<size_t>(tensor)].producer) ? std::nullopt
                                                                          : FindRead(tensor));
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
    if (Leaves(output) || (outputs.size() > 1 && FindRead(output) == HullOf(output))) return hull;
  }
  return outputs.size() > 1 ? std::nullopt : FindRead(outputs.front());
}

// Returns the part of an operand that the operator certainly reads: the box that the certain part
// of its result needs, if that has no holes.
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

// The hull is covered by boxes that follow each other along one axis and have the hull's width
// along all others, or by slices that interleave.
std::optional<graph::ops::Box> Coverage::FindRead(int tensor) const {
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

std::vector<int> Coverage::Touched(std::span<const int> tensors) const {
  std::vector<int> touched;
  std::ranges::set_intersection(tensors, whole_.tensors, std::back_inserter(touched));
  return touched;
}

bool Coverage::MakesTheHull(int op) const { return MadeBy(op) == HullOf(OpAt(op).outputs.front()); }

// An operand with other readers is as large as these need, so this operator must need as much. It
// does in the tiles in which it makes something; with kept rows, these are not all tiles.
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

}  // namespace tessera::search::cost
