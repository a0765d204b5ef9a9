#pragma once

#include <cstdint>
#include <vector>

#include "tessera/encoder/adapt/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/simulate/ahead.h"
#include "tessera/search/simulate/slot.h"
#include "tessera/search/simulate/tracks.h"

// Who works when, cycle by cycle: what stands behind plan::Metrics::latency_cycles.
namespace tessera::search {

// Tiles [first, first + count) that were left out, from the begin of their first slot to the end of their last.
struct Omission {
  int64_t first = 0;
  int64_t count = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

struct SubgraphTimeline {
  std::vector<Track> tracks;         // the same for all subgraphs of a profile
  std::vector<Activity> activities;  // by begin, then track
  std::vector<Omission> omissions;   // at most one
  std::vector<int64_t> busy;         // cycles of each track at work, over all tiles; parallel to `tracks`
  int64_t cycles = 0;                // Simulate's latency_cycles
};

inline constexpr int64_t kAllTiles = INT64_MAX;

// The timeline of one subgraph from cycle 0 on. Of more than `most_tiles` tiles (at least 2) the first and the last are told, the
// rest left out. Arguments as of Simulate. Cost: O(tiles) comparisons beside the activities.
SubgraphTimeline TimelineOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                            const graph::TiledSubgraph& tiling, const encoder::Policy& policy,
                            int64_t most_tiles, const Ahead& ahead = {});

// The same for one subgraph of a finished plan.
SubgraphTimeline TimelineOf(const plan::Plan& plan, size_t subgraph, int64_t most_tiles);

}  // namespace tessera::search
