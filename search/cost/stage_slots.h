// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <vector>

#include "tessera/search/cost/tile_cost.h"

namespace tessera::search::cost {

// The slots of a subgraph of two stages, as if each were a tile: the first stage on tile i together
// with the second on tile i - 1. There is one slot more than tiles.
struct StageSlots {
  std::vector<TileCost> costs;               // of different slots
  std::vector<int> class_of;                 // slots, into `costs`
  std::vector<std::array<int, 2>> tiles_of;  // parallel to `costs`: the class of each stage's tile
};

// The costs must be of a policy with two stages. Cost: different pairs of classes times operators.
StageSlots FindStageSlots(const TileCosts& costs, const graph::tiling::TiledSubgraph& tiling,
                          BlockChoices& blocks);

}  // namespace tessera::search::cost
