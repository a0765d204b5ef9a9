// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"

// Tiles that lie in strips, one below the other. Each keeps rows for the next tile of its strip
// (docs/program.md, "Cached halo").
namespace tessera::graph::tiling {

class RowStructure;

// Whether tiles of this shape lie in strips: cut along the rows into at least two, optionally along
// the batch and the columns, and along no other axis.
bool CutsStrips(const Shape& output, const TileShape& tile);

// Cuts like Tile, but tiles are visited strip by strip from top to bottom. A tile makes only rows
// that no previous tile of its strip has made, and needs only the operands of those rows. Rows are
// kept of tensors that have rows and of which all tiles of a strip need the same part along every
// other axis, except for state. Unless `across_batch`, they are kept only of tensors of which tiles
// need one image. TiledSubgraph::largest is the maximum need, without rows that are kept for later
// tiles: see RowCounts. Requires CutsStrips(output, tile), and that the cut axes may be cut
// (CanCut). Cost: one propagation for each strip, or for each tile if rows depend on columns or
// images.
TiledSubgraph TileKeepingRows(const Graph& graph, Interval interval, const TileShape& tile,
                              bool across_batch = true);

// The same for many tile shapes of one interval. Classes may be present although `wants_classes`
// does not request them. The result has no tiles if the stop, which may be nullptr, came first.
TiledSubgraph TileKeepingRows(const RowStructure& structure, const TileShape& tile,
                              bool across_batch, const ClassTest& wants_classes,
                              const base::Stop* stop);

// Whether tiles of some shape, one below the other, may need the same row of some tensor that
// `counts`, or store it. Only then the tiles of TileKeepingRows differ from those of Tile. The
// result may be true although no row is shared. The interval's last output has rows. Cost: one
// propagation for each row of the last output, up to the first row that is shared; in most
// intervals the first two rows share one.
bool MayShareRows(const Graph& graph, Interval interval,
                  const std::function<bool(int tensor)>& counts);

}  // namespace tessera::graph::tiling
