#pragma once

#include "tessera/encoder/adapt/subgraph_drafts.h"

namespace tessera::encoder {

// Tile buffers, tensor by tensor, each with the ring, line or halos that keep rows of it.
void DraftTiles(SubgraphDrafts& drafts);

}  // namespace tessera::encoder
