// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"
#include "tessera/search/cost/objective.h"

namespace tessera::search::partition::choices {

// The properties of an interval's execution that determine its costs. Results in place do not.
struct TileConfig {
  graph::tiling::TileShape tile;
  hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  int64_t k_extent = 0;  // encoder::Policy::k_extent
  bool serialized = false;

  TileConfig() = default;
  TileConfig(graph::tiling::TileShape shape, const encoder::program::Policy& policy)
      : tile(std::move(shape)),
        weights(policy.weights),
        halo(policy.halo),
        k_extent(policy.k_extent),
        serialized(policy.serialized) {}

  TileConfig DoubleBuffered() const {
    TileConfig config = *this;
    config.serialized = false;
    return config;
  }

  friend bool operator==(const TileConfig&, const TileConfig&) = default;
  friend bool operator<(const TileConfig& a, const TileConfig& b) {
    return std::tie(a.tile, a.weights, a.halo, a.k_extent, a.serialized) <
           std::tie(b.tile, b.weights, b.halo, b.k_extent, b.serialized);
  }
};

// The cost of an interval in one configuration, whether it fits or not.
struct TilePrice {
  cost::Cost cost;
  problem::Bytes peak_bytes = 0;  // a lower bound (encoder/program/memory_lower_bound.h)
};

// The configurations of one tile shape.
struct ShapePrices {
  std::vector<std::pair<TileConfig, TilePrice>> priced;
  // Serialized configurations without a price: the same tiles have a price double-buffered, and are
  // not slower.
  std::vector<TileConfig> held;
  bool leaves_out = false;  // some policy makes too many tiles of the shape to follow
};

}  // namespace tessera::search::partition::choices
