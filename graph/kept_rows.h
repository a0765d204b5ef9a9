#pragma once

#include "tessera/graph/tiling.h"

// Tiles that lie in strips, one below the other, each keeping rows for the next of its strip (docs/program.md, "Cached halo").
namespace tessera::graph {

class RowStructure;

// Whether tiles of this shape lie in strips: cut along the rows, into at least two, perhaps along the batch and the columns, and
// along no other axis.
bool CutsStrips(const Shape& output, const TileShape& tile);

// As Tile, but tiles go down one strip after the other, and a tile makes only rows that no tile before it in its strip has made, and
// asks for what that takes. Rows are kept of tensors that have rows and of which all tiles of a strip want the same along every
// other axis, but for state; unless `across_batch`, only of those of which tiles want one image. TiledSubgraph::largest is the most that is needed,
// rows that are kept for later tiles apart: see RowCounts. CutsStrips(output, tile), and what is cut may be cut (CanCut). Cost: one
// propagation for each strip, or for each tile where something ties rows to columns or images.
TiledSubgraph TileKeepingRows(const Graph& graph, Interval interval, const TileShape& tile,
                              bool across_batch = true);

// The same for many tile shapes of one interval. Classes may be there although `wants_classes` does not ask for them.
TiledSubgraph TileKeepingRows(const RowStructure& structure, const TileShape& tile, bool across_batch,
                              const ClassTest& wants_classes);

}  // namespace tessera::graph
