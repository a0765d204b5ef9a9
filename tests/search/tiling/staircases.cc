#include "staircases.h"

namespace tessera::search {

using graph::TileShape;
using hw_profiles::WeightPolicy;

TileOptions ResidentWith(const Engines& engines) {
  TileOptions options;
  options.engines = engines;
  options.policies = {{WeightPolicy::kResident, false}};
  return options;
}

std::vector<TileShape> CornersOf(const Staircase& staircase, const PolicyStaircase& policy) {
  std::vector<TileShape> shapes;
  for (const Corner& corner : policy.corners)
    shapes.push_back(staircase.tiles.Candidates()[corner.candidate].choice.tile);
  return shapes;
}

}  // namespace tessera::search
