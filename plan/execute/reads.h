// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "tessera/graph/graph.h"
#include "tessera/plan/index_box.h"
#include "tessera/plan/lowered_program.h"

// The reads of an operator: the reference for an execution. Reads of features follow the definition
// of the kind (graph/reads.h).
namespace tessera::plan::execute {

// The elements of an operand that the operator reads to make the box `made` of its first output.
// For a constant with filters these are the filters of the channels of `made`; any other constant
// is read whole. For a table they are bytes, in one entry for each channel of the constant. For
// partial sums they are those of `made`. `k_extent` is the part of K that the operator adds up, if
// it is not all of K.
ElementSet ReadsOfOperand(const graph::Graph& network, const graph::Operator& op, Part part,
                          size_t position, const Box& made, const std::optional<Range>& k_extent,
                          int64_t table_bytes);

// Whether each channel of the result is made from the same channel of its only input and no other:
// depthwise, one for one.
bool MapsChannels(const graph::Graph& network, const graph::Operator& op);

// Whether each element of the result is made from the element of op.inputs[input] at the same
// coordinates, if there is one, and no other of it.
bool IsPointwise(const graph::Graph& network, const graph::Operator& op, size_t input);

}  // namespace tessera::plan::execute
