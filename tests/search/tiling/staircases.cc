// SPDX-License-Identifier: Apache-2.0

#include "staircases.h"

namespace tessera::search {

using graph::tiling::TileShape;
using hw_profiles::WeightPolicy;

tiling::TileOptions ResidentWith(const tiling::Engines& engines) {
  tiling::TileOptions options;
  options.engines = engines;
  options.policies = {{WeightPolicy::kResident, false}};
  return options;
}

std::vector<TileShape> CornersOf(const tiling::Staircase& staircase,
                                 const tiling::PolicyStaircase& policy) {
  std::vector<TileShape> shapes;
  for (const tiling::Corner& corner : policy.corners)
    shapes.push_back(staircase.tiles.Candidates()[corner.candidate].choice.tile);
  return shapes;
}

}  // namespace tessera::search
