#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/region.h"

// A subgraph cut into tiles: what every tile computes and holds, in elements, recomputing the halo between
// neighbours.
namespace tessera::graph {

using base::Axis;

// The axis of a shape that a name means, or nullopt (see Shape).
std::optional<size_t> AxisOf(const Shape& shape, Axis axis);

// The extents of a tile along each axis of the last operator's output; at most the output's own.
using TileShape = std::vector<int64_t>;

// Whether the subgraph can be cut along this axis of its last output: every tensor made inside is then cut
// too, so that no tile makes anything whole. Opaque operators, reductions over the axis and reshapes that
// cannot be followed forbid it, an extent of 1 as well. What comes from outside may be needed whole: the
// input channels of a convolution, the second operand of a matmul.
bool CanCut(const Graph& graph, Interval interval, size_t output_axis);

using Extents = std::vector<int64_t>;  // elements along each axis of a tensor

// Tiles that are alike: the same extents of every tensor, hence the same work. Vectors are parallel to
// TiledSubgraph::tensors, but for `macs`, which is parallel to the operators of the interval.
struct TileClass {
  int64_t count = 0;
  std::vector<Extents> needed;  // what the tile reads or makes of the tensor; all zero: nothing
  std::vector<Extents> share;   // of what is made here and leaves: what this tile must bring home; else empty
  std::vector<int64_t> macs;
};

struct TiledSubgraph {
  Interval interval;
  TileShape tile;
  int64_t tiles = 0;               // in all
  std::vector<int> tensors;        // every feature tensor read or written inside, ascending
  std::vector<Extents> largest;    // parallel to `tensors`: the greatest extent on each axis over all tiles
  std::vector<TileClass> classes;  // in order of their first tile; counts add up to `tiles`
  std::vector<int> class_of;       // for each tile in program order (row-major), its class
};

// Cuts the last operator's (first) output into tiles in row-major order; every other border output is asked
// for its share of the tile (floor(aF/E), ceil(bF/E)) hulled with what consumers inside need; the rest
// follows by propagation from last to first. Exact over all positions. `tile` has a value from 1 to the
// extent for each axis. Cost: one propagation for each position along each cut axis, not for each tile,
// unless a concatenation, a far padding or a reshape ties axes together.
TiledSubgraph Tile(const Graph& graph, Interval interval, const TileShape& tile);

// The regions of one tile, a box of the last operator's (first) output; parallel to TiledSubgraph::tensors. A
// tensor that the tile does not need has a box of empty extents.
std::vector<Box> RegionsOfTile(const Graph& graph, Interval interval, const Box& tile);

// The tile shapes worth trying: the distinct values of ceil(extent/k), rounded up to the granule, for each
// axis that may be cut; ascending, `most` at the most for each axis (spread evenly), always with the whole
// extent. Shapes that make more than 2^20 tiles are left out.
struct CutAxis {
  Axis axis = Axis::kRows;
  int64_t granule = 1;
};
std::vector<TileShape> TileShapes(const Graph& graph, Interval interval, const std::vector<CutAxis>& axes,
                                  size_t most);

}  // namespace tessera::graph
