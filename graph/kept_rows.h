#pragma once

#include "tessera/graph/tiling.h"

// Tiles that lie in strips (strips.h), each keeping rows for the next of its strip (docs/program.md, "Cached halo").
namespace tessera::graph {

class Propagation;

// As Tile, but tiles go down one strip after the other, and a tile makes only rows that no tile before it in its strip has made, and
// asks for what that takes. Rows are kept of tensors that have rows and of which all tiles of a strip want the same along every
// other axis, but for state; unless `across_batch`, only of those of which tiles want one image. TiledSubgraph::largest is the most that is needed,
// rows that are kept for later tiles apart: see RowCounts. CutsStrips(output, tile), and what is cut may be cut (CanCut). Cost: one
// propagation for each tile of strips that differ in width. `propagation` is that of the interval.
TiledSubgraph TileKeepingRows(const Graph& graph, Interval interval, const TileShape& tile,
                              bool across_batch = true);
TiledSubgraph TileKeepingRows(const Graph& graph, Interval interval, const Propagation& propagation,
                              const TileShape& tile, bool across_batch);

}  // namespace tessera::graph
