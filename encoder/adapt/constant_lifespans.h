#pragma once

#include "tessera/encoder/adapt/subgraph_drafts.h"

namespace tessera::encoder {

// Constants that are loaded once, by tensor; perhaps while the subgraph before runs.
void DraftResidents(SubgraphDrafts& drafts);

// The slots in which an operator gets what comes in slices.
void DraftSlices(SubgraphDrafts& drafts, int k);

}  // namespace tessera::encoder
