#pragma once

#include "tessera/graph/row_tiles.h"
#include "tessera/graph/tiling.h"

namespace tessera::graph {

// Adds the classes of the tiles, and which tile is of which, strip by strip. Two tiles are of one class where their strips are alike, the
// same is lacking, and all that hangs on rows is equal. Cost: one look at each tile of one strip, and one class made for each that there is
// by rows in each strip that is like no other.
void AddRowClasses(const RowTiles& tiles, TiledSubgraph& subgraph);

}  // namespace tessera::graph
