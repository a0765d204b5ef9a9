#pragma once

#include <vector>

#include "tessera/encoder/adapt/buffer_draft.h"
#include "tessera/encoder/adapt/residence.h"
#include "tessera/encoder/adapt/timeline.h"

namespace tessera::encoder {

// The buffers of subgraph number `subgraph`, whole ones apart: resident constants, tiles, slices, scratch, in that order. Sizes of
// tiles and scratch, which depend on the tile shape, stay 1. Enters each transfer in the steps of the timeline, or of the one
// `before`, where constants are prefetched: there it is not nullptr. See lifespans.cc.
std::vector<BufferDraft> DraftBuffers(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                      const SubgraphUses& uses, int subgraph, Timeline& timeline,
                                      Timeline* before);

// The scratch of operator k of the subgraph, for each parity, whether the profile gives it any or not.
std::vector<BufferDraft> DraftScratch(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                      const SubgraphUses& uses, int subgraph, Timeline& timeline, int k);

}  // namespace tessera::encoder
