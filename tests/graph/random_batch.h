#pragma once

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"

namespace tessera::graph {

// Operators on a batch of 2 to 4, of which both the batch and the rows (2 to 8) of the result can
// be cut: convolutions of images, one behind the other and some beside a skip, or attention, whose
// batch are heads: queries times keys, softmax, times values.
Graph RandomBatch(base::Random& random);

}  // namespace tessera::graph
