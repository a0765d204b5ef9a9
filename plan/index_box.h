// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/region.h"
#include "tessera/graph/reads.h"

// Boxes and sets of elements of one tensor, by indices along its axes.
namespace tessera::plan {

// Indices [begin, end) along one axis; empty when begin >= end.
using Range = graph::ops::Extent;

// The meaning of an axis of a tensor of this rank; nullopt for axes without a name.
std::optional<base::Axis> MeaningOf(size_t rank, size_t axis);
std::optional<size_t> RowAxisOf(size_t rank);

// A range for each axis of a tensor. A box of rank 0 contains the one element and is never empty.
using Box = graph::ops::Box;
using graph::ops::IsEmpty;

Box WholeOf(const graph::Shape& shape);
Box EmptyOf(const graph::Shape& shape);
int64_t VolumeOf(const Box& box);

// Extents of the box, all 0 if it is empty.
std::vector<int64_t> ExtentsOf(const Box& box);

// Extends `hull` to the least box that contains both; they have the same rank.
void Enclose(Box& hull, const Box& part);

// Exactly the elements that are touched, without holes.
using ElementSet = graph::ElementReads;

ElementSet AllOf(const Box& box);

// The least box around the elements, without indices outside the tensor (in its padding).
Box HullOf(const ElementSet& elements, const graph::Shape& shape);

// The least box around all that the operator reads of op.inputs[operand] for this part of its first
// output; graph::ReadsOf returns the elements themselves.
inline Box NeedOf(const graph::Graph& graph, const graph::Operator& op, size_t operand,
                  const Box& output) {
  return graph::HullOfReads(graph, op, operand, output);
}

// The same with the shapes of all operands as an argument, for loops over operands.
inline Box NeedOf(const graph::Graph& graph, const graph::Operator& op,
                  const graph::ops::OperandShapes& inputs, size_t operand, const Box& output) {
  return graph::HullOfReads(graph, op, inputs, operand, output);
}

// The coordinates of the element with that row-major number.
std::vector<int64_t> CoordinatesOf(int64_t number, const graph::Shape& shape);

}  // namespace tessera::plan
