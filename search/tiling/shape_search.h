// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "tessera/graph/tiling/tiling.h"

// Selects tile shapes of a grid to examine, if there are too many to examine all.
namespace tessera::search::tiling {

class ShapeSearch {
 public:
  explicit ShapeSearch(graph::tiling::ShapeGrid grid);

  // Replaces the grid by one that has all of its shapes, and more.
  void Extend(graph::tiling::ShapeGrid grid);

  // Returns the first shapes to examine, without those returned before: see shape_search.cc.
  std::vector<graph::tiling::TileShape> Start();

  // The score of a shape, and then values that decide between equal scores; less is better.
  using Rate = std::array<double, 4>;

  // Returns the rate of a shape that was returned; nullopt if the shape is not usable.
  using Rating = std::function<std::optional<Rate>(const graph::tiling::TileShape&)>;

  // Returns a lower bound of the score of a shape that has no rate yet; nullopt if it has one, or
  // is not usable.
  using Bounding = std::function<std::optional<double>(const graph::tiling::TileShape&)>;

  // Returns further shapes, around the best so far; none if no neighbour of those is left. With
  // bounds, calls `rating` only for shapes that may be the best according to their bounds.
  std::vector<graph::tiling::TileShape> Refine(const Rating& rating, const Bounding& bounding = {});

  // Returns up to `most` of the shapes that were not returned yet: even cuts first, then the
  // others; of both, those with fewest elements first. Returns none if there are more than 2^16
  // shapes in total.
  std::vector<graph::tiling::TileShape> Rest(size_t most);

  // Returns the number of shapes that were not returned yet.
  int64_t CountRest() const;

  // Whether every tile shape was returned, even cut or not. False if some were excluded from the
  // grid or make too many tiles.
  bool IsExhausted() const;

 private:
  using AxisSet = uint32_t;  // bit i: axis i of the output

  std::optional<graph::tiling::TileShape> FindBest(AxisSet axes, const Rating& rating,
                                                   const Bounding& bounding) const;
  bool LacksNeighbour(AxisSet axes, const graph::tiling::TileShape& shape) const;
  void AppendNeighbours(AxisSet axes, const graph::tiling::TileShape& best,
                        std::vector<graph::tiling::TileShape>& wanted) const;
  void AppendGap(AxisSet axes, const graph::tiling::TileShape& best, size_t axis, bool upwards,
                 std::vector<graph::tiling::TileShape>& wanted) const;
  static bool IsKnownTo(AxisSet axes, const std::vector<AxisSet>& owners);
  bool IsKnownTo(AxisSet axes, const graph::tiling::TileShape& shape) const;
  bool HandOut(AxisSet axes, const graph::tiling::TileShape& shape);

  graph::tiling::ShapeGrid grid_;   // the even cuts
  graph::tiling::ShapeGrid every_;  // every extent
  std::vector<AxisSet> subsets_;    // nonempty, of the axes with several extents
  // The returned shapes, and the subsets for which each was returned.
  std::map<graph::tiling::TileShape, std::vector<AxisSet>> out_;
};

}  // namespace tessera::search::tiling
