// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/saturating.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/cost/traffic.h"

// The cost of operands that come in slices.
namespace tessera::search::cost {

// The slices of one tile that come from one memory. The first must arrive before the operator
// begins.
struct SliceFlow {
  int64_t first_cycles = 0;
  int64_t first_bytes = 0;
  int64_t later_cycles = 0;
  int64_t later_bytes = 0;

  int64_t Cycles() const { return base::SaturatingAdd(first_cycles, later_cycles); }
  int64_t Bytes() const { return base::SaturatingAdd(first_bytes, later_bytes); }
};

// The additional cost of a tile of a subgraph with split-k (encoder/program/residence.h).
struct SplitKCost {
  std::vector<SliceFlow> memories;  // parallel to Profile::memories
  int64_t input_bytes = 0;          // bytes moved
  int64_t weight_bytes = 0;
  int64_t constant_bytes = 0;  // bytes of the constant that the engine reads
  // Bytes of partial sums that are written before the last slice and read again.
  int64_t sums_bytes = 0;
};

// A feature tensor that is a factor of the products and whose slices are moved.
struct SlicedFeature {
  const graph::Tensor* tensor = nullptr;
  encoder::program::KOperand along;
  Route route;
  graph::tiling::ExtentsView needed;  // by the tile
};

SplitKCost SplitKCostOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                        const encoder::program::KCut& cut, TransferKind constants,
                        const std::vector<SlicedFeature>& features,
                        graph::tiling::ExtentsView result);

}  // namespace tessera::search::cost
