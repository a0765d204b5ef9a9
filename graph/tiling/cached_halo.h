#pragma once

#include <functional>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"

// Tiles that lie in strips, one below the other, each keeping rows for the next of its strip
// (docs/program.md, "Cached halo").
namespace tessera::graph::tiling {

class RowStructure;

// Whether tiles of this shape lie in strips: cut along the rows, into at least two, perhaps along
// the batch and the columns, and along no other axis.
bool CutsStrips(const Shape& output, const TileShape& tile);

// As Tile, but tiles go down one strip after the other, and a tile makes only rows that no tile
// before it in its strip has made, and asks for what that takes. Rows are kept of tensors that have
// rows and of which all tiles of a strip want the same along every other axis, but for state;
// unless `across_batch`, only of those of which tiles want one image. TiledSubgraph::largest is the
// most that is needed, rows that are kept for later tiles apart: see RowCounts. CutsStrips(output,
// tile), and what is cut may be cut (CanCut). Cost: one propagation for each strip, or for each
// tile where something ties rows to columns or images.
TiledSubgraph TileKeepingRows(const Graph& graph, Interval interval, const TileShape& tile,
                              bool across_batch = true);

// The same for many tile shapes of one interval. Classes may be there although `wants_classes` does
// not ask for them.
TiledSubgraph TileKeepingRows(const RowStructure& structure, const TileShape& tile,
                              bool across_batch, const ClassTest& wants_classes);

// Whether tiles of some shape, one below the other, may want the same row of some tensor that
// `counts`, or bring it home: only then does TileKeepingRows (kept_rows.h) make other tiles than
// Tile. May err towards true. The interval's last output has rows. Cost: one propagation for each
// row of the last output, up to the first row that is shared; most intervals share one between the
// first two.
bool MayShareRows(const Graph& graph, Interval interval,
                  const std::function<bool(int tensor)>& counts);

}  // namespace tessera::graph::tiling
