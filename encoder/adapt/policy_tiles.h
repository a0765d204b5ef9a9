#pragma once

#include <memory>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::encoder {

// The tiles that one policy makes of one interval. Graph and profile outlive it.
class PolicyTiles {
 public:
  // Refuses an interval that is none, and what FindUses refuses. `usages` are those of the graph.
  static base::Expected<PolicyTiles> Make(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                                          const hw_profiles::Profile& profile, graph::Interval interval,
                                          const Policy& policy, TilesMade made = TilesMade::kThatDiffer);

  // nullptr for a shape that a policy with a cached halo refuses, or would cut into more than 4096
  // tiles; with kThatDiffer also where it makes the tiles of recomputing, and where `cut` gives
  // none. Whatever is returned, Uses() says from then on what tiles of this shape keep. The shape
  // has no fault (choice.h).
  std::shared_ptr<graph::TiledSubgraph> Cut(const graph::TileShape& tile, const TileCutter& cut);

  // Whether the policy would cut the shape, but into too many tiles to follow.
  bool LeavesOut(const graph::TileShape& tile) const;

  // Whether the policy makes these tiles; Uses() says from then on what they keep.
  bool Mark(const graph::TiledSubgraph& tiling);

  // Whether tiles of the shape that was marked last keep rows in some tile buffer.
  bool AnyCached() const;

  const SubgraphUses& Uses() const { return uses_; }

 private:
  PolicyTiles(const graph::Graph& graph, const hw_profiles::Profile& profile, hw_profiles::HaloStorage halo,
              TilesMade made, SubgraphUses uses)
      : graph_(&graph), profile_(&profile), halo_(halo), made_(made), uses_(std::move(uses)) {}

  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  hw_profiles::HaloStorage halo_;
  TilesMade made_;
  SubgraphUses uses_;
};

}  // namespace tessera::encoder
