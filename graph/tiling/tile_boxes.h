// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/region.h"
#include "tessera/graph/tiling/tiling.h"

namespace tessera::graph::tiling {

// The boxes of a tile in each tensor of a subgraph, by position in TiledSubgraph::tensors. A box is
// empty if the tile has no part of the tensor.
struct TileBoxes {
  std::vector<ops::Box> needed;  // the part that the tile reads or makes
  std::vector<ops::Box> made;    // the part that it makes or loads, without kept rows
  std::vector<ops::Box> shares;  // the part that it stores of a tensor that leaves; otherwise empty
};

// Calls `visit` for each tile in program order: row-major or, if rows are kept, strip by strip.
// TiledSubgraph has the extents of these boxes. Ends early and returns false if the stop, which may
// be nullptr, comes. Cost: one propagation for each tile; if rows are kept, all boxes are held in
// memory together.
bool ForEachTile(const Graph& graph, Interval interval, const TileShape& tile,
                 const base::Stop* stop, const std::function<void(const TileBoxes&)>& visit);
bool ForEachTileKeepingRows(const Graph& graph, Interval interval, const TileShape& tile,
                            bool across_batch, const base::Stop* stop,
                            const std::function<void(const TileBoxes&)>& visit);

// The boxes of all tiles of an output that has rows, strip by strip.
std::vector<ops::Box> BoxesOfStrips(const Shape& output, const TileShape& tile);

}  // namespace tessera::graph::tiling
