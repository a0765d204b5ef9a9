#pragma once

#include "tessera/encoder/adapt/subgraph_drafts.h"

namespace tessera::encoder {

// What keeps rows of a tensor from tile to tile: the ring in which its tiles lie, the line that rows wait in, or the halo before the tile
// buffer of each parity.
void DraftRing(SubgraphDrafts& drafts, const TensorUse& use);
void DraftLine(SubgraphDrafts& drafts, const TensorUse& use);
void DraftHalos(SubgraphDrafts& drafts, const TensorUse& use);

}  // namespace tessera::encoder
