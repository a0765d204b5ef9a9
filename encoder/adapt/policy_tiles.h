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
                                          const Policy& policy);

  // nullptr for a shape of which a policy with a cached halo would keep no rows, or which it would cut into more than 4096 tiles.
  // Whatever is returned, Uses() says from then on what tiles of this shape keep. The shape has no fault (choice.h).
  std::shared_ptr<graph::TiledSubgraph> Cut(const graph::TileShape& tile, const TileCutter& cut);

  // Whether the policy makes these tiles; Uses() says from then on what they keep.
  bool Mark(const graph::TiledSubgraph& tiling);

  const SubgraphUses& Uses() const { return uses_; }

 private:
  PolicyTiles(const graph::Graph& graph, const hw_profiles::Profile& profile, hw_profiles::HaloStorage halo,
              SubgraphUses uses)
      : graph_(&graph), profile_(&profile), halo_(halo), uses_(std::move(uses)) {}

  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  hw_profiles::HaloStorage halo_;
  SubgraphUses uses_;
};

}  // namespace tessera::encoder
