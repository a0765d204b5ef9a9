// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/tiling/tile_driver.h"

// The boundary between the tile shapes of an interval that fit and those that do not.
//
//     columns
//        ^   x x x x x      o fits   x does not
//        |   o x x x x
//        |   O x x x x      the corners O determine it: a shape inside a corner makes more tiles,
//        |   o o O x x      and a shape inside no corner does not fit
//        |   o o o o O
//        '--------------> rows
namespace tessera::search::tiling {

// A tile shape that fits and that no other fitting shape of the grid contains, under one policy.
struct Corner {
  size_t candidate = 0;  // index into the staircase's candidates
  // The candidates that are one extent larger along one axis; none at the end of the grid.
  std::vector<size_t> beyond;
  bool proven = false;  // each of those is proven infeasible, and the grid skipped no extent
};

struct PolicyStaircase {
  encoder::program::Policy policy;
  std::vector<Corner> corners;  // fewest elements first
  // Every shape of the grid that no corner contains is proven infeasible, except those that make
  // too many tiles.
  bool complete = false;
};

struct FewestTiles {
  int64_t tiles = 0;
  size_t candidate = 0;  // a corner with this number of tiles
  bool proven = false;   // every shape with fewer tiles is proven infeasible, under every policy
};

struct Staircase {
  IntervalTiles tiles;            // every shape of the grid as a candidate; classes dropped
  graph::tiling::ShapeGrid grid;  // GridOf, thinned if it has more than kMostShapes
  std::vector<PolicyStaircase> policies;
  std::optional<FewestTiles> fewest;  // none if nothing fits
  // The corner with most elements; among equals the first. Proven: every shape with more elements
  // is infeasible under every policy; without corners, every shape is.
  std::optional<size_t> largest;
  bool largest_proven = false;
};

inline constexpr int64_t kMostShapes = 1 << 14;

// Finds the corners under every policy with about as many queries to engines as there are corners;
// see feasible_frontier.cc. options.shapes is ignored. Refuses what IntervalTiles::Build refuses.
base::Expected<Staircase> FindStaircase(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        graph::Interval interval, const TileOptions& options,
                                        const base::Stop& stop);

}  // namespace tessera::search::tiling
