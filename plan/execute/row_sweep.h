#pragma once

#include <vector>

#include "tessera/plan/execute/tile_boxes.h"

namespace tessera::plan::execute {

// Tiles that lie one below the other and keep rows for each other (docs/program.md, "Cached halo").
// Given are all of them in order, `strip_length` to a strip, each with an empty part of every
// tensor and, in `leaves`, its share of what leaves; all parts and what really leaves are filled
// in. Cost: the reads of every operator for every tile.
void SweepRows(const graph::Graph& network, const Subgraph& subgraph, size_t strip_length,
               std::vector<TileBoxes>& tiles);

}  // namespace tessera::plan::execute
