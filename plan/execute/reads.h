// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "tessera/graph/graph.h"
#include "tessera/plan/index_box.h"
#include "tessera/plan/lowered_program.h"

// The reads of an operator, and the axes along which it goes: the reference for an execution.
// Operands that are features follow the definition of the kind (graph/reads.h).
namespace tessera::plan::execute {

// The elements of an operand that the operator reads to make this part of its first output. Of a
// constant: filters of the output channels in question, all of any other constant. Of a table, its
// bytes: one entry after the other for each channel of the constant. Of sums, those of the part.
// `k_extent`: what the operator adds up, if that is not everything.
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
