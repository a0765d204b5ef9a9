#pragma once

#include <functional>

#include "tessera/graph/graph.h"

namespace tessera::graph {

// Whether tiles of some shape, one below the other, may want the same row of some tensor that `counts`, or bring it home: only then does
// TileKeepingRows (kept_rows.h) make other tiles than Tile. May err towards true. The interval's last output has rows. Cost: one
// propagation for each row of the last output, up to the first row that is shared; most intervals share one between the first two.
bool MayShareRows(const Graph& graph, Interval interval, const std::function<bool(int tensor)>& counts);

}  // namespace tessera::graph
