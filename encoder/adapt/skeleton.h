#pragma once

#include <span>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/residence.h"
#include "tessera/encoder/adapt/timeline.h"

namespace tessera::encoder {

// A program without what depends on the tile shapes: sizes of tiles and scratch are 1, and nothing is in place but channel by
// channel. It holds for every choice of tiles that has the same numbers of tiles up to parity (timeline.h), caches the same tensors
// and allows the same operators to work channel by channel. Refers to the profile.
struct Skeleton {
  Program program;
  std::vector<SubgraphUses> uses;   // by subgraph
  std::vector<Timeline> timelines;  // by subgraph
};

// `uses` and `tiles` are parallel. Of uses.by_channel, what may be done by channel, the skeleton keeps what is.
Skeleton BuildSkeleton(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                       const hw_profiles::Profile& profile, std::vector<SubgraphUses> uses,
                       std::span<const int64_t> tiles);

// Bytes of the buffer that holds a tile of the tensor, or the ring with its rows, when the subgraph is cut like that. `uses` are
// marked accordingly (MarkCached).
problem::Bytes TileBytes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                         const SubgraphUses& uses, const graph::TiledSubgraph& tiling, int tensor);

// The size of each buffer when the subgraphs are cut like that. Refuses totals beyond base::kMaxTotal.
base::Expected<std::vector<problem::Bytes>> SizesOf(const graph::Graph& graph,
                                                    const hw_profiles::Profile& profile,
                                                    const Skeleton& skeleton,
                                                    std::span<const graph::TiledSubgraph> tilings);

}  // namespace tessera::encoder
