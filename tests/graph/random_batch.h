// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"

namespace tessera::graph {

// Operators on a batch of 2 to 4. Both the batch and the rows (2 to 8) of the result can be cut.
// The operators are convolutions of images, in a row and some with a skip, or attention with heads
// as the batch: queries times keys, softmax, times values.
Graph RandomBatch(base::Random& random);

}  // namespace tessera::graph
