#pragma once

#include <vector>

#include "tessera/search/tiling/staircase.h"

// What tests ask of a staircase.
namespace tessera::search {

// Constants resident, nothing in place, and nothing else to choose from.
TileOptions ResidentWith(const Engines& engines);

// The tiles at its corners, in their order.
std::vector<graph::TileShape> CornersOf(const Staircase& staircase, const PolicyStaircase& policy);

}  // namespace tessera::search
