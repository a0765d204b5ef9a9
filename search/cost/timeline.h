// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/timeline.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/tile_cost.h"

// The timelines of subgraphs that run as docs/program.md defines.
namespace tessera::search::cost {

using plan::Activity;
using plan::ActivityKind;
using plan::kAllTiles;
using plan::SubgraphTimeline;

// The tracks of a profile: its engines, then the paths to every memory except the tile memory. The
// profile must outlive this object.
class Tracks {
 public:
  explicit Tracks(const hw_profiles::Profile& profile);

  int OfEngine(const hw_profiles::Engine* engine) const {
    return engine == nullptr ? 0 : static_cast<int>(engine - profile_.engines.data());
  }
  int OfMemory(int memory, Direction direction) const {
    return of_memory_[static_cast<size_t>(memory)][direction == Direction::kRead ? 0 : 1];
  }
  const std::vector<plan::Track>& All() const { return tracks_; }

 private:
  void AddMemory(int memory);

  const hw_profiles::Profile& profile_;
  std::vector<plan::Track> tracks_;
  std::vector<std::array<int, 2>> of_memory_;  // in, out
};

// A period of time with its activities. Times are relative to its begin, tile numbers to the tile
// that it computes.
struct Slot {
  int64_t cycles = 0;
  std::vector<Activity> activities;
  Touched at_tile_memory = {};  // by transfers and engines
};

// Places activities in the free time of one track.
class Filling {
 public:
  Filling(Slot& slot, int track);

  // Adds an activity as early as possible after the activities added before.
  void Add(Activity activity, int64_t cycles);

 private:
  Slot& slot_;
  int track_;
  std::vector<std::pair<int64_t, int64_t>> taken_;
  size_t next_ = 0;
  int64_t at_ = 0;
};

// Returns the cycles of the slot in which the track is idle.
int64_t FreeCycles(const Slot& slot, int track);

// Adds the slot of a tile to the end of the timeline; its activities only if `shown`.
void Append(const Slot& slot, int64_t tile, bool shown, SubgraphTimeline& timeline);

// The transfer of a tile of one tensor.
struct TensorTransfer {
  int tensor = 0;
  int op = 0;  // the first reader or the maker
  Direction direction = Direction::kRead;
  int memory = 0;
  int64_t cycles = 0;
  int64_t bytes = 0;
  int64_t behind = 0;  // tiles by which its stage is behind the slot's
};

// Returns the transfers of one tile, except those of constants and of operands that split-k cuts.
std::vector<TensorTransfer> TransfersOf(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        const std::vector<graph::Usage>& usages,
                                        const graph::tiling::TiledSubgraph& tiling,
                                        const graph::tiling::TileClass& tile,
                                        const std::vector<int>& kept, const TileCosts& costs);

// Returns the transfer as an activity of the slot that computes `tile`.
Activity AsActivity(const TensorTransfer& transfer, int64_t tile);

// The work of one tile, or of one slot of two stages.
struct TileWork {
  TileCost cost;
  std::vector<TensorTransfer> transfers;
  bool lacks_first = false;  // of two stages, the first has no tile
};

// The work of the slots of two stages. `tiles`: of each tile class, in one stage.
struct StagedWork {
  std::vector<TileWork> slots;
  std::vector<int> class_of;  // slots in time, into `slots`
};
StagedWork PairStages(const TileCosts& costs, const graph::tiling::TiledSubgraph& tiling,
                      const std::vector<TileWork>& tiles, BlockChoices& blocks);

// Adds the steps of both stages to the slot, side by side.
void AddStages(const TileWork& here, const TileCosts& costs, graph::Interval interval,
               const Tracks& tracks, Slot& slot);

// Returns the timeline of one subgraph, from cycle 0. If there are more than `most_tiles` tiles (at
// least 2), it contains the first and the last ones and omits the rest. The arguments are those of
// Simulator::Run. Cost: O(tiles) comparisons in addition to the activities.
SubgraphTimeline TimelineOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                            const graph::tiling::TiledSubgraph& tiling,
                            const encoder::program::Policy& policy, int64_t most_tiles,
                            const Prefetches& prefetches = {});

// Returns the timeline of one subgraph of a finished plan.
SubgraphTimeline PlannedTimeline(const plan::Plan& plan, size_t subgraph, int64_t most_tiles);

}  // namespace tessera::search::cost
