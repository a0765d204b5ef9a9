#pragma once

#include <cstdint>
#include <vector>

#include "tessera/encoder/adapt/depth.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/simulate/traffic.h"

namespace tessera::search {

// Slices of one tile that one memory sends. The first must be there before the operator begins.
struct SliceFlow {
  int64_t first_cycles = 0;
  int64_t first_bytes = 0;
  int64_t later_cycles = 0;
  int64_t later_bytes = 0;
};

// What a tile of a subgraph that adds up by depth (encoder/adapt/depth.h) takes beyond what other tiles do.
struct DepthCost {
  std::vector<SliceFlow> memories;  // parallel to Profile::memories
  int64_t input_bytes = 0;          // that are moved
  int64_t weight_bytes = 0;
  int64_t constant_bytes = 0;  // that the engine reads of the constant
  int64_t sums_bytes = 0;      // that it writes of sums before the last slice, and reads again
};

// A factor whose slices are moved.
struct SlicedFeature {
  const graph::Tensor* tensor = nullptr;
  encoder::DepthOperand along;
  Route route;
  graph::ExtentsView needed;  // by the tile
};

DepthCost DepthCostOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const encoder::DepthCut& cut, Passage constants,
                      const std::vector<SlicedFeature>& features, graph::ExtentsView result);

}  // namespace tessera::search
