#pragma once

#include <vector>

#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::program {

// Whether the profile lets the operator's result take the place of an operand, tiles and lifespans
// apart.
bool MayTakeAPlace(const hw_profiles::Profile& profile, const graph::Operator& op);

// What a subgraph asks of the tile memory at least, found without its Problem (room_floor.cc).
class RoomFloor {
 public:
  // `in_place`: whether results may take the place of operands. All that is referred to outlives
  // it; `uses` may be marked for other tiles meanwhile (MarkCached).
  RoomFloor(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
            const hw_profiles::Profile& profile, const SubgraphUses& uses, bool in_place);

  // Bytes below which no placement of the subgraph has its peak, when it is cut like that and
  // `uses` are marked accordingly. base::kMaxTotal where there is none.
  problem::Bytes Find(const graph::tiling::TiledSubgraph& tiling) const;

 private:
  void AddWholes(const std::vector<graph::Usage>& usages);
  bool MayTakeAPlace(const graph::Operator& op) const;

  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  const SubgraphUses* uses_;
  bool in_place_;
  problem::Bytes largest_;     // buffer that there can be
  problem::Bytes always_ = 0;  // what is there at every step of any tile
  std::vector<problem::Bytes>
      during_;  // by operator: what else is there at its step, whatever the tile
};

}  // namespace tessera::encoder::program
