// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera {

// Gives some operators measurements of some of their tiles, above and below what any model says:
// often of the whole extent along an axis, so that tiles have them.
inline void DrawMeasured(base::Random& random, const hw_profiles::Profile& profile,
                         graph::Graph& network) {
  for (graph::Operator& op : network.operators) {
    if (random.Chance(0.6)) continue;
    const graph::Shape& made = graph::ShapeOf(network, op.outputs.front());
    for (int64_t i = random.Uniform(1, 4); i > 0; --i) {
      graph::MeasuredTile tile;
      for (const int64_t extent : made)
        tile.tile.push_back(random.Chance(0.7) ? extent : random.Uniform(1, extent));
      tile.engine = profile
                        .engines[static_cast<size_t>(
                            random.Uniform(0, static_cast<int64_t>(profile.engines.size()) - 1))]
                        .name;
      tile.cycles = random.Chance(0.5) ? random.Uniform(0, 20) : random.Uniform(0, 400);
      if (random.Chance(0.5)) tile.pj = static_cast<double>(random.Uniform(0, 200));
      graph::AddMeasured(op, std::move(tile));
    }
  }
}

}  // namespace tessera
