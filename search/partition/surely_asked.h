#pragma once

#include <span>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/propagation.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::search {

// What a subgraph asks of the tensors of one operator at least, when nothing is known of the subgraph but that it has all operators
// on the ways from that operator to another one whose result leaves it (surely_asked.cc).
class SurelyAsked {
 public:
  // Whether operators inside the subgraph may read the result that leaves.
  enum class Result : uint8_t { kOnlyLeaves, kMayBeReadInside };

  // `operators`: ascending, the first is the one in question, the last makes what leaves, all others lie between them. `usages` are those
  // of the graph, `whole` is its propagation. All outlive it.
  SurelyAsked(const graph::Graph& graph, std::span<const graph::Usage> usages,
              const graph::Propagation& whole, const hw_profiles::Profile& profile,
              std::span<const int> operators, Result result);

  // Whether tiles of such a subgraph may keep rows for the next ones.
  bool MayKeepRows() const;

  // Elements that buffers have along each axis at least, for each tensor of the operators; all 0 where nothing is sure.
  struct Extents {
    const graph::Propagation* propagation = nullptr;
    std::vector<graph::Extent> regions;

    graph::Extents Of(int tensor) const;
  };
  Extents WhereRowsAreRecomputed() const;
  Extents WhereRowsAreKept() const;

 private:
  using Regions = std::vector<graph::Extent>;

  std::span<graph::Extent> RegionOf(Regions& regions, size_t slot) const;
  bool IsAskedFor(Regions& regions) const;
  Regions TileOf(std::span<const base::Axis> cut) const;
  Regions FollowOneWay(const Regions& tile, bool carefully) const;
  bool TakeOneRow(size_t slot, bool carefully, graph::Box& region) const;

  const hw_profiles::Profile& profile_;
  graph::Propagation propagation_;
  size_t result_;                // slot of the operator's result
  std::vector<base::Axis> cut_;  // along which the result that leaves may be cut
};

}  // namespace tessera::search
