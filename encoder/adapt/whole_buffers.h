#pragma once

#include <span>
#include <vector>

#include "tessera/encoder/adapt/buffer_draft.h"
#include "tessera/encoder/adapt/residence.h"
#include "tessera/encoder/adapt/timeline.h"

namespace tessera::encoder {

// The whole buffers of a program, by tensor, sizes included: whatever is at home in the tile memory, or kept there, and held while
// the program runs, touched by it or not. `uses` and `timelines` are parallel: the program's subgraphs in order, at least one; all
// keep the same.
std::vector<BufferDraft> DraftWholeBuffers(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                                           const hw_profiles::Profile& profile,
                                           std::span<const SubgraphUses> uses,
                                           std::span<const Timeline> timelines);

}  // namespace tessera::encoder
