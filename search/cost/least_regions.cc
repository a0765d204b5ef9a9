// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "tessera/base/vocabulary.h"
#include "tessera/search/cost/lower_bounds.h"

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
// need of any tile. Any index is valid. The middle one is used, or the nearest to it that needs v
// at all, because a concatenation takes some indices from other operands.
//
// *Rows that are kept.* Here a tile makes only rows that no previous tile has made. So several
// readers need not read in the same tile, and no hull over them is certain. But each needed row of
// a tensor is made in some tile of the strip, in the width that this strip needs along the other
// axes, and the operator that makes a row needs all inputs of it. So one path from e back to v is
// followed: the need for one row of a result is a need for the previous operand, of which again one
// row is made in some tile. The walk follows the reader that needs most, and its middle row.
//
//     rows of    e   [5, 6)   -- needs -->   d   [4, 7)
//                -- one of them -->   [5, 6)   -- needs -->   v   [4, 7)
//
// A tensor that cannot be cached is needed in full by each tile, so one row of it is a valid lower
// bound. Strips are cut along rows, images and, if padding is implicit, columns; without rows to
// cut there are none.
//
// Cost: as many propagations as there are axes to cut, and one walk. If the middle index needs
// nothing of v, further indices or rows are tried, at most kMostTries for an axis, with only the
// operands between v and e. If none is found, nothing of v counts.
namespace tessera::search::cost {
namespace {

using base::Axis;
using graph::Graph;
using graph::ops::Box;
using graph::ops::Extent;
using graph::tiling::Propagation;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;

// Returns for each slot whether operators outside the part may read the tensor, or it may leave.
std::vector<char> FindOpen(const Graph& graph, std::span<const graph::Usage> usages,
                           std::span<const int> operators, const Propagation& propagation,
                           LeastRegions::Result result) {
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
  open[propagation.LastSlot()] =
      static_cast<char>(result == LeastRegions::Result::kMayBeReadInside);
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

constexpr int64_t kMostTries = 1'000;

// Calls visit(index) for the indices of the extent, the middle one first, until it returns true.
template <typename Visit>
void FromTheMiddle(const Extent& extent, const Visit& visit) {
  const int64_t middle = extent.begin + extent.Length() / 2;
  const int64_t farthest = std::min(extent.Length(), kMostTries) / 2;
  for (int64_t distance = 0; distance <= farthest; ++distance) {
    if (middle + distance < extent.end && visit(middle + distance)) return;
    if (distance > 0 && visit(middle - distance)) return;
  }
}

}  // namespace

LeastRegions::LeastRegions(const Graph& graph, std::span<const graph::Usage> usages,
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
  FindPathsToResult();
}

void LeastRegions::FindPathsToResult() {
  const std::vector<Propagation::Ask>& asks = propagation_.Asks();
  std::vector<char> leads(propagation_.Tensors().size());
  leads[result_] = 1;
  for (size_t i = asks.size(); i-- > 0;) {
    if (!leads[asks[i].input]) continue;
    leads[asks[i].output] = 1;
    asks_to_result_.push_back(i);
  }
  std::reverse(asks_to_result_.begin(), asks_to_result_.end());
  for (size_t slot = 0; slot < leads.size(); ++slot) {
    if (leads[slot]) slots_to_result_.push_back(slot);
  }
}

template <typename Request>
bool LeastRegions::IsNeededFor(Regions& regions, const Request& request) const {
  for (const size_t slot : slots_to_result_) {
    const std::span<Extent> region = RegionOf(regions, slot);
    std::fill(region.begin(), region.end(), Extent{});
    request(slot, region);
  }
  for (const size_t i : asks_to_result_) {
    const Propagation::Ask& ask = propagation_.Asks()[i];
    Propagation::Apply(ask, RegionOf(regions, ask.output), RegionOf(regions, ask.input));
  }
  return IsNeeded(regions);
}

bool LeastRegions::MayKeepRows() const {
  const std::vector<HaloStorage>& halos = profile_.tiling.halo;
  return std::find(cut_.begin(), cut_.end(), Axis::kRows) != cut_.end() &&
         std::any_of(halos.begin(), halos.end(),
                     [](HaloStorage halo) { return halo != HaloStorage::kRecompute; });
}

graph::tiling::Extents LeastRegions::Extents::Of(int tensor) const {
  graph::tiling::Extents extents;
  const size_t slot = propagation->SlotOf(tensor);
  for (size_t i = propagation->Begin(slot); i < propagation->Begin(slot + 1); ++i)
    extents.push_back(regions[i].Length());
  return extents;
}

LeastRegions::Extents LeastRegions::WhereRowsAreRecomputed() const {
  return {&propagation_, TileOf(cut_)};
}

LeastRegions::Extents LeastRegions::WhereRowsAreKept() const {
  std::vector<Axis> cut = cut_;
  std::erase_if(cut, [this](Axis axis) {
    return axis == Axis::kChannels || (axis == Axis::kColumns && !profile_.tiling.implicit_padding);
  });
  const Regions tile = TileOf(cut);
  Regions regions = FollowOneWay(tile, /*carefully=*/false);
  if (!IsNeeded(regions)) regions = FollowOneWay(tile, /*carefully=*/true);
  return {&propagation_, std::move(regions)};
}

std::span<Extent> LeastRegions::RegionOf(Regions& regions, size_t slot) const {
  const size_t begin = propagation_.Begin(slot);
  return std::span(regions).subspan(begin, propagation_.Begin(slot + 1) - begin);
}

bool LeastRegions::IsNeeded(Regions& regions) const { return !IsEmpty(RegionOf(regions, result_)); }

// Returns the regions of a tile of one index along each of these axes.
LeastRegions::Regions LeastRegions::TileOf(std::span<const Axis> cut) const {
  const graph::Shape& shape = propagation_.ShapeOf(propagation_.LastSlot());
  Box tile = graph::ops::WholeBox(shape);
  Regions regions(propagation_.Size());
  const auto request = [&](size_t slot, std::span<Extent> region) {
    if (!propagation_.Leaves(slot)) return;
    for (size_t axis = 0; axis < region.size(); ++axis)
      region[axis] = propagation_.ShareAlong(slot, axis, tile);
  };
  for (const Axis name : cut) {
    Extent& extent = tile[*graph::tiling::AxisOf(shape, name)];
    FromTheMiddle(Extent(extent), [&](int64_t index) {
      extent = {index, index + 1};
      return IsNeededFor(regions, request);
    });
  }
  propagation_.Run(tile, regions);
  return regions;
}

LeastRegions::Regions LeastRegions::FollowOneWay(const Regions& tile, bool carefully) const {
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

// Reduces the region to one row; if `carefully`, to a row that needs the operator. Returns false if
// there is none.
bool LeastRegions::TakeOneRow(size_t slot, bool carefully, Box& region) const {
  const std::optional<size_t> rows = graph::tiling::AxisOf(propagation_.ShapeOf(slot), Axis::kRows);
  if (!rows) return true;
  bool found = false;
  Regions regions(carefully ? propagation_.Size() : 0);
  const auto request = [&](size_t other, std::span<Extent> requested) {
    if (other == slot) std::copy(region.begin(), region.end(), requested.begin());
  };
  FromTheMiddle(Extent(region[*rows]), [&](int64_t row) {
    region[*rows] = {row, row + 1};
    found = !carefully || IsNeededFor(regions, request);
    return found;
  });
  return found;
}

}  // namespace tessera::search::cost
