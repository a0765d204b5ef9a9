// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/tiling/shape_search.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

// Pattern search (Hooke, Jeeves 1961) from coarse to fine, once for every subset of the axes.
//
//  columns                      axes {rows}: all o at the bottom; {columns}: all o at the right;
//     ^  o . . o . . . o        both: the o in between, thinned; then, around the best of them, the
//     |  . . . : . . . o        shapes between it and its neighbours along each axis (:), until
//     |  o . : O : : . o        none is left
//     |  . . . : . . . o
//     '--o-o-o-o-o-o-o-o--> rows, the whole extent last
//
// All of these are even cuts (ShapeGrid). Only Rest considers other extents.
//
// The search of a subset considers shapes that are whole along all other axes, and uses only its
// results and those of smaller subsets of it. So a search that may cut along more axes considers
// all shapes of a search with fewer axes, and more: an additional axis never makes an answer worse.
// Along a single axis every even cut is tried; in a small grid, every shape.
//
// Cost: for 1, 2, 3 axes about 20, 65, 150 initial shapes, if each axis has 20 extents; then a few
// for each subset.
namespace tessera::search::tiling {
namespace {

using graph::tiling::ShapeGrid;
using graph::tiling::TileShape;

constexpr int64_t kFewShapes = 64;        // a grid of at most so many shapes is tried completely
constexpr size_t kBetween = 4;            // the most shapes tried together between two neighbours
constexpr int64_t kMostListed = 1 << 16;  // the most shapes that Rest lists

// Returns the largest number of extents tried along each axis.
size_t CoarseExtents(size_t axes) {
  if (axes <= 1) return graph::tiling::kMostExtents;
  return axes == 2 ? 5 : 3;
}

// Thins each axis to the extents that do not make too many tiles together with the extents chosen
// before, so that the smallest tiles stay.
std::vector<TileShape> ThinnedShapes(const ShapeGrid& grid, size_t most) {
  std::vector<TileShape> shapes = {{}};
  for (const std::vector<int64_t>& extents : grid.extents) {
    std::vector<TileShape> longer;
    for (TileShape shape : shapes) {
      shape.push_back(0);
      std::vector<int64_t> few_tiles;
      for (const int64_t extent : extents) {
        shape.back() = extent;
        if (!MakesTooManyTiles(grid, shape)) few_tiles.push_back(extent);
      }
      for (const int64_t extent : graph::tiling::Thin(few_tiles, most)) {
        shape.back() = extent;
        longer.push_back(shape);
      }
    }
    shapes = std::move(longer);
  }
  return shapes;
}

}  // namespace

ShapeSearch::ShapeSearch(ShapeGrid grid) { Extend(std::move(grid)); }

void ShapeSearch::Extend(ShapeGrid grid) {
  grid_ = std::move(grid);
  every_ = WithEveryExtent(grid_);
  subsets_.clear();
  AxisSet all = 0;
  for (size_t axis = 0; axis < grid_.extents.size(); ++axis) {
    if (grid_.extents[axis].size() > 1) all |= AxisSet{1} << axis;
  }
  for (AxisSet axes = 1; axes <= all; ++axes) {
    if ((axes & ~all) == 0) subsets_.push_back(axes);
  }
}

std::vector<TileShape> ShapeSearch::Start() {
  std::vector<TileShape> shapes;
  for (const AxisSet axes : subsets_) {
    ShapeGrid part = grid_;
    for (size_t axis = 0; axis < part.extents.size(); ++axis) {
      if ((axes >> axis & 1U) == 0) part.extents[axis] = {part.extents[axis].back()};
    }
    const size_t most = CoarseExtents(static_cast<size_t>(std::popcount(axes)));
    for (const TileShape& shape :
         CountShapes(part) <= kFewShapes ? ShapesOf(part) : ThinnedShapes(part, most)) {
      if (HandOut(axes, shape)) shapes.push_back(shape);
    }
  }
  TileShape whole;
  for (const std::vector<int64_t>& extents : grid_.extents) whole.push_back(extents.back());
  if (HandOut(0, whole)) shapes.push_back(whole);
  return shapes;
}

std::vector<TileShape> ShapeSearch::Refine(const Rating& rating, const Bounding& bounding) {
  std::vector<TileShape> shapes;
  bool any = true;
  while (any && shapes.empty()) {
    std::vector<std::pair<AxisSet, std::vector<TileShape>>> wanted;
    for (const AxisSet axes : subsets_) {
      const std::optional<TileShape> best = FindBest(axes, rating, bounding);
      if (best)
        AppendNeighbours(axes, *best, wanted.emplace_back(axes, std::vector<TileShape>{}).second);
    }
    any = false;
    for (const auto& [axes, neighbours] : wanted) {
      for (const TileShape& shape : neighbours) {
        any = true;
        if (HandOut(axes, shape)) shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

std::vector<TileShape> ShapeSearch::Rest(size_t most) {
  if (CountShapes(every_) > kMostListed) return {};
  const auto is_even = [this](const TileShape& shape) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const std::vector<int64_t>& even = grid_.extents[axis];
      if (!std::binary_search(even.begin(), even.end(), shape[axis])) return false;
    }
    return true;
  };
  std::vector<TileShape> all = ShapesOf(every_);
  std::vector<std::tuple<bool, int64_t, size_t>> order;  // uneven, elements, place in `all`
  for (size_t i = 0; i < all.size(); ++i) {
    if (!out_.contains(all[i])) order.emplace_back(!is_even(all[i]), graph::ElementsOf(all[i]), i);
  }
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), end, order.end());
  std::vector<TileShape> rest;
  for (auto each = order.begin(); each != end; ++each) {
    TileShape& shape = rest.emplace_back(std::move(all[std::get<size_t>(*each)]));
    HandOut(subsets_.empty() ? 0 : subsets_.back(), shape);
  }
  return rest;
}

int64_t ShapeSearch::CountRest() const {
  return CountShapes(every_) - static_cast<int64_t>(out_.size());
}

bool ShapeSearch::IsExhausted() const { return !every_.thinned && CountRest() == 0; }

// Returns the shape with the least rate; of equal ones, the first. Rates the shapes that only have
// bounds last, least bound first. Returns nullopt too if every shape that may be the best has all
// neighbours: then it does not matter which one is best.
std::optional<TileShape> ShapeSearch::FindBest(AxisSet axes, const Rating& rating,
                                               const Bounding& bounding) const {
  const TileShape* best = nullptr;
  Rate least = {};
  const auto look_at = [&](const TileShape& shape) {
    const std::optional<Rate> rated = rating(shape);
    if (!rated) return;
    if (best != nullptr && (*rated > least || (*rated == least && shape > *best))) return;
    best = &shape;
    least = *rated;
  };
  std::vector<std::pair<double, const TileShape*>> bounded;
  for (const auto& [shape, owners] : out_) {
    if (!IsKnownTo(axes, owners)) continue;
    const std::optional<double> bound = bounding ? bounding(shape) : std::nullopt;
    if (bound) {
      bounded.emplace_back(*bound, &shape);
    } else {
      look_at(shape);
    }
  }
  std::sort(bounded.begin(), bounded.end(), [](const auto& a, const auto& b) {
    return a.first < b.first || (a.first == b.first && *a.second < *b.second);
  });
  const auto may_be_best = [&](double bound) { return best == nullptr || bound <= least[0]; };
  const auto lacks_neighbour = [&](size_t first) {
    if (best != nullptr && LacksNeighbour(axes, *best)) return true;
    for (size_t i = first; i < bounded.size() && may_be_best(bounded[i].first); ++i) {
      if (LacksNeighbour(axes, *bounded[i].second)) return true;
    }
    return false;
  };
  for (size_t i = 0; i < bounded.size() && may_be_best(bounded[i].first); ++i) {
    if (!lacks_neighbour(i)) return std::nullopt;
    look_at(*bounded[i].second);
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

// Whether AppendNeighbours would append any.
bool ShapeSearch::LacksNeighbour(AxisSet axes, const TileShape& shape) const {
  TileShape next = shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if ((axes >> axis & 1U) == 0) continue;
    const std::vector<int64_t>& extents = grid_.extents[axis];
    const auto here = std::lower_bound(extents.begin(), extents.end(), shape[axis]);
    const auto is_open = [&](int64_t extent) {
      next[axis] = extent;
      return !IsKnownTo(axes, next) && !MakesTooManyTiles(grid_, next);
    };
    if (here != extents.begin() && is_open(*std::prev(here))) return true;
    if (here != extents.end() && std::next(here) != extents.end() && is_open(*std::next(here)))
      return true;
    next[axis] = shape[axis];
  }
  return false;
}

void ShapeSearch::AppendNeighbours(AxisSet axes, const TileShape& best,
                                   std::vector<TileShape>& wanted) const {
  for (size_t axis = 0; axis < best.size(); ++axis) {
    if ((axes >> axis & 1U) == 0) continue;
    AppendGap(axes, best, axis, false, wanted);
    AppendGap(axes, best, axis, true, wanted);
  }
}

// Appends shapes between `best` and the next shape along the axis that is known to the subset.
void ShapeSearch::AppendGap(AxisSet axes, const TileShape& best, size_t axis, bool upwards,
                            std::vector<TileShape>& wanted) const {
  const std::vector<int64_t>& extents = grid_.extents[axis];
  auto rank = std::lower_bound(extents.begin(), extents.end(), best[axis]) - extents.begin();
  TileShape shape = best;
  std::vector<int64_t> gap;
  while (upwards ? ++rank < static_cast<std::ptrdiff_t>(extents.size()) : --rank >= 0) {
    shape[axis] = extents[static_cast<size_t>(rank)];
    if (IsKnownTo(axes, shape) || MakesTooManyTiles(grid_, shape)) break;
    gap.push_back(shape[axis]);
  }
  for (const int64_t extent : graph::tiling::Thin(gap, kBetween)) {
    shape[axis] = extent;
    wanted.push_back(shape);
  }
}

bool ShapeSearch::IsKnownTo(AxisSet axes, const std::vector<AxisSet>& owners) {
  return std::any_of(owners.begin(), owners.end(),
                     [axes](AxisSet owner) { return (owner & ~axes) == 0; });
}

bool ShapeSearch::IsKnownTo(AxisSet axes, const TileShape& shape) const {
  const auto found = out_.find(shape);
  return found != out_.end() && IsKnownTo(axes, found->second);
}

// Notes that the shape is returned for these axes. Returns whether it was not returned before.
bool ShapeSearch::HandOut(AxisSet axes, const TileShape& shape) {
  std::vector<AxisSet>& owners = out_[shape];
  owners.push_back(axes);
  return owners.size() == 1;
}

}  // namespace tessera::search::tiling
