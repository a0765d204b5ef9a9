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

  // The first shapes to examine, without those returned before: see shape_search.cc.
  std::vector<graph::tiling::TileShape> Start();

  // The score of a shape, and what decides between equal scores; less is better.
  using Rate = std::array<double, 4>;

  // The rate of a returned shape; nullopt if it is not usable.
  using Rating = std::function<std::optional<Rate>(const graph::tiling::TileShape&)>;

  // A lower bound of the score of a shape that has no rate yet; nullopt if it has one, or is not
  // usable.
  using Bounding = std::function<std::optional<double>(const graph::tiling::TileShape&)>;

  // Further shapes, around the best so far; none if no neighbour of those is left. With bounds,
  // rates are asked for only where the bound does not exclude that the shape is the best.
  std::vector<graph::tiling::TileShape> Refine(const Rating& rating, const Bounding& bounding = {});

  // Up to `most` of the shapes that were not returned: even cuts first, then those with fewest
  // elements; none if there are more than 2^16 in total.
  std::vector<graph::tiling::TileShape> Rest(size_t most);

  // The number of shapes that Rest would return without a limit.
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
  std::vector<AxisSet> subsets_;    // of the axes that have a choice; not the empty one
  // Returned shapes, and for which subsets.
  std::map<graph::tiling::TileShape, std::vector<AxisSet>> out_;
};

}  // namespace tessera::search::tiling
