#pragma once

#include <algorithm>
#include <cstdint>

#include "tessera/graph/graph.h"
#include "tessera/plan/needs.h"

// What the parts of NeedOf share: walks along one axis, and the operators that move data or resample it.
namespace tessera::plan {

// The hull of what `rule(output, add)` adds for each output index, as far as it lies in an operand of that extent.
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
Box ResizeNeed(const graph::Operator& op, const graph::Shape& in, const graph::Shape& out, const Box& output);
Box DepthToSpaceNeed(const graph::Operator& op, const graph::Shape& in, const graph::Shape& out,
                     const Box& output);
Box SpaceToDepthNeed(const graph::Operator& op, const graph::Shape& in, const Box& output);

}  // namespace tessera::plan
