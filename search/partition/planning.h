#pragma once

#include <algorithm>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"
#include "tessera/search/partition/predecessor.h"
#include "tessera/search/partition/scale.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/tiling/ladder_search.h"

namespace tessera::search {

// Everything that the parts of one search over partitions share. All of it outlives them.
struct Planning {
  const graph::Graph& graph;
  const hw_profiles::Profile& profile;
  const Simulator& simulator;
  const Scale& scale;
  const base::Stop& stop;
  Engines engines;
  Engines tile_engines;  // the same, asked whether single subgraphs fit: they may remember (cached_engines.h)
  base::Budget budget;   // for each question put to an engine, of single operators and of whole plans apart
  const Predecessor* predecessor = nullptr;  // where an older plan is to be changed little

  // Work that engines may do on what every plan needs, however small the budget.
  static constexpr int64_t kLeastBudget = 20'000;
  base::Budget LeastBudget() const { return {std::max(budget.units, kLeastBudget)}; }

  const hw_profiles::Memory& TileMemory() const {
    return profile.memories[static_cast<size_t>(profile.tile_memory)];
  }

  // Bytes of the tile memory that a plan may use: all, or as far as a limit on the peak goes.
  problem::Bytes Room() const {
    const problem::Bytes capacity = TileMemory().capacity_bytes;
    if (!scale.LimitsPeak() || scale.PeakLimit() >= static_cast<double>(capacity)) return capacity;
    return static_cast<problem::Bytes>(scale.PeakLimit());
  }

  // Of a choice. Without a weight its peak, which is within the room, does not count.
  Cost CostOf(const plan::Metrics& metrics) const {
    Cost cost = scale.CostOf(metrics);
    cost.peak = PeakCostOf(metrics.peak_bytes);
    return cost;
  }

  // What a choice of this peak counts for it.
  double PeakCostOf(problem::Bytes peak) const {
    return scale.MinimizesPeak() ? static_cast<double>(peak) : 0;
  }

  bool LooksAtPeak() const { return scale.MinimizesPeak() || scale.LimitsPeak(); }
};

}  // namespace tessera::search
