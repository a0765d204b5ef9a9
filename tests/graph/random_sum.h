// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"

namespace tessera::graph {

// One operator that adds up products along a K of 2 to 9, with its weights, all of shapes that fit:
// a convolution of one group, transposed or not, a reduction, or a matmul of one operand or two, of
// rank 2 to 4, in any order of their axes. In some draws another operator makes the operand, and in
// some there is a second constant. Tensors are of `type`.
Graph RandomSum(base::Random& random, base::DataType type = base::DataType::kInt8);

}  // namespace tessera::graph
