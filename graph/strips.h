#pragma once

#include <cstddef>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/propagation.h"
#include "tessera/graph/region.h"
#include "tessera/graph/tiling.h"

// Tiles one below the other are a strip (docs/program.md, "Cached halo").
namespace tessera::graph {

// Whether tiles of this shape lie in strips: cut along the rows, into at least two, perhaps along the batch and the columns, and
// along no other axis.
bool CutsStrips(const Shape& output, const TileShape& tile);

// The strips of all tiles, by the first that is like each: columns, image by image.
struct Strips {
  std::vector<Box> boxes;    // of strips that differ, all rows
  std::vector<size_t> like;  // for each strip its place in `boxes`
  bool tied = false;         // columns or images decide over rows, or rows over them
};

// Strips are alike where tiles need as many columns and images of each tensor in the one as in the other, and nothing ties rows to these;
// unless each is to be looked at by itself. CutsStrips(output, tile). Cost: one propagation for each strip.
Strips FindStrips(const Propagation& propagation, const TileShape& tile, bool one_by_one);

// The tiles of strips that differ, those of one strip together, from the top down.
std::vector<Box> TilesOf(const Strips& strips, const Shape& output, const TileShape& tile);

}  // namespace tessera::graph
