// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/search/tiling/feasible_frontier.h"

// Functions about staircases for tests.
namespace tessera::search {

// Constants resident, nothing in place, and no other choice.
tiling::TileOptions ResidentWith(const tiling::Engines& engines);

// The tiles at its corners, in their order.
std::vector<graph::tiling::TileShape> CornersOf(const tiling::Staircase& staircase,
                                                const tiling::PolicyStaircase& policy);

}  // namespace tessera::search
