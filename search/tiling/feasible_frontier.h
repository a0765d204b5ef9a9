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
  // There is no such candidate; or each is proven infeasible, and the grid skipped no extent.
  bool proven = false;
};

struct PolicyStaircase {
  encoder::program::Policy policy;
  std::vector<Corner> corners;  // fewest elements first
  // Every shape that no corner contains is proven infeasible, except those that make too many
  // tiles, and the grid skipped no extent.
  bool complete = false;
};

struct FewestTiles {
  int64_t tiles = 0;
  size_t candidate = 0;  // a corner with this number of tiles
  bool proven = false;   // every shape with fewer tiles is proven infeasible, under every policy
};

struct Staircase {
  IntervalTiles tiles;            // with every shape of the grid as a candidate, without classes
  graph::tiling::ShapeGrid grid;  // GridOf, thinned if it has more than kMostShapes
  std::vector<PolicyStaircase> policies;
  std::optional<FewestTiles> fewest;  // none if nothing fits
  // The corner with most elements; among equals the first.
  std::optional<size_t> largest;
  // Every shape with more elements is proven infeasible under every policy; without corners, every
  // shape is.
  bool largest_proven = false;
};

// The largest number of shapes in Staircase::grid.
inline constexpr int64_t kMostShapes = 1 << 14;

// Finds the corners under every policy with about as many queries to engines as there are corners;
// see feasible_frontier.cc. Ignores options.shapes. Returns the errors of IntervalTiles::Build.
base::Expected<Staircase> FindStaircase(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        graph::Interval interval, const TileOptions& options,
                                        const base::Stop& stop);

}  // namespace tessera::search::tiling
