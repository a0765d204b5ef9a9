#pragma once

#include <functional>
#include <map>
#include <vector>

#include "tessera/plan/holdings.h"
#include "tessera/plan/needs.h"

// The tiles of a subgraph and what each needs of every tensor.
namespace tessera::plan {

struct Tile {
  std::map<int, Box> needs;   // by tensor: what one pass reads of it, or makes of it; constants are not here
  std::map<int, Box> shares;  // by tensor that leaves the subgraph: the part that this pass answers for
};

// The product over axes of ceil(extent / tile).
int64_t CountTiles(const graph::Shape& shape, const std::vector<int64_t>& tile);

// Calls `visit` for each tile in row-major order; the last along each axis may be smaller. subgraph.tile is within
// the shape. Cost: tiles times operators times the walk of NeedOf.
void ForEachTile(const graph::Graph& network, const std::vector<Users>& users, const Subgraph& subgraph,
                 const std::function<void(const Tile&)>& visit);

}  // namespace tessera::plan
