#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tessera/graph/graph.h"

// Which elements of its operands an operator reads: the definition of each kind, one output index
// at a time.
namespace tessera::plan::verify {

// Indices [begin, end) along one axis; empty when begin >= end.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

// A range for each axis of a tensor, in elements. With rank 0: the one element, never empty.
using Box = std::vector<Range>;

Box WholeOf(const graph::Shape& shape);
Box EmptyOf(const graph::Shape& shape);
bool IsEmpty(const Box& box);
int64_t VolumeOf(const Box& box);

// Extents of the box, all 0 if it is empty.
std::vector<int64_t> ExtentsOf(const Box& box);

// Extends `hull` to the least box that contains both; they have the same rank.
void Enclose(Box& hull, const Box& part);

// The least box that contains every element of op.inputs[operand] that is read to compute the
// elements `output` of op.outputs[0]. Empty if no element is read (a branch of a concatenation, a
// window wholly in padding). Cost: the output indices along each axis, times the window.
Box NeedOf(const graph::Graph& graph, const graph::Operator& op, size_t operand, const Box& output);

// Shared by the parts of NeedOf: walks along one axis, and the operators that move data or resample
// it.

// The hull of the indices that `rule(output, add)` adds for each output index, clipped to an
// operand of that extent.
template <typename Rule>
Range HullOf(Range outputs, int64_t extent, const Rule& rule) {
  Range hull{extent, 0};
  const auto add = [&](int64_t index) {
    if (index < 0 || index >= extent) return;
    hull.begin = std::min(hull.begin, index);
    hull.end = std::max(hull.end, index + 1);
  };
  for (int64_t output = outputs.begin; output < outputs.end; ++output) rule(output, add);
  return hull.begin < hull.end ? hull : Range{};
}

Range SameIndex(Range outputs, int64_t extent);

// `output` is not empty; `in` and `out` are the shapes of the operand and of op.outputs[0].
Box SliceNeed(const graph::Operator& op, const graph::Shape& in, const Box& output);
Box PadNeed(const graph::Operator& op, const graph::Shape& in, const Box& output);
Box GatherNeed(const graph::Operator& op, const graph::Shape& in, const Box& output);
Box TransposeNeed(const graph::Operator& op, const graph::Shape& in, const Box& output);
Box ReshapeNeed(const graph::Shape& in, const graph::Shape& out, const Box& output);
Box ResizeNeed(const graph::Operator& op, const graph::Shape& in, const graph::Shape& out,
               const Box& output);
Box DepthToSpaceNeed(const graph::Operator& op, const graph::Shape& in, const graph::Shape& out,
                     const Box& output);
Box SpaceToDepthNeed(const graph::Operator& op, const graph::Shape& in, const Box& output);

}  // namespace tessera::plan::verify
