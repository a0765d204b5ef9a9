#pragma once

#include "tessera/graph/onnx/draft.h"

// What makes operators fewer once all nodes are translated. Each keeps what the network computes, and reports what it takes out.
namespace tessera::graph::onnx {

// Takes out operators whose results nobody reads, and network inputs that nobody reads.
void DropUnread(Draft& draft);

// Takes out quantisation: a pair gives the tensor before it the quantised type; a lone conversion is done by the operator that
// makes its operand, where nobody else reads that.
void SetDataTypes(Draft& draft);

// Joins reshapes and transposes in a row, those that end where they began vanish; a pool over a whole map drops its axes itself.
void JoinReshapes(Draft& draft);

// Layer normalisations that are spelled out as means, differences and quotients become one operator each.
void GatherNormalizations(Draft& draft);

// Batch normalisation, biases and scales by the channel go into the convolution or product before them; what is computed element
// by element from the result of an operator alone becomes its activation.
void Fuse(Draft& draft);

}  // namespace tessera::graph::onnx
