#pragma once

#include "tessera/graph/tiling.h"

// Tiles that lie one below the other, each keeping rows for the next (docs/program.md, "Cached halo"): one sweep down the rows, or
// one for each part of the batch.
namespace tessera::graph {

class Propagation;

// Whether tiles of this shape go down the rows in sweeps: cut along the rows, into at least two, and along no other axis but the
// batch.
bool SweepsRows(const Shape& output, const TileShape& tile);

// As Tile, but a tile makes only rows that no tile of its sweep before has made, and asks for what that takes. Rows are
// kept of tensors that have rows and of which all tiles of a sweep want the same along every other axis, but for state;
// unless `across_batch`, only of those of which tiles want one image. TiledSubgraph::largest is the most that is needed, rows
// that are kept for later tiles apart: see RowCounts. SweepsRows(output, tile), and the rows may be cut
// (CanCut). Cost: one propagation for each tile. `propagation` is that of the interval.
TiledSubgraph TileKeepingRows(const Graph& graph, Interval interval, const TileShape& tile,
                              bool across_batch = true);
TiledSubgraph TileKeepingRows(const Graph& graph, Interval interval, const Propagation& propagation,
                              const TileShape& tile, bool across_batch);

}  // namespace tessera::graph
