#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/execute/elements.h"

// What the parts of ReadsOfInput share: lists of indices along one axis, and the operators that
// move data or resample it.
namespace tessera::plan::execute {

using Indices = std::vector<int64_t>;

// What `reads(output, indices)` adds for each output index, ascending, each once.
template <typename Definition>
Indices Gather(Range outputs, const Definition& reads) {
  Indices indices;
  for (int64_t output = outputs.begin; output < outputs.end; ++output) reads(output, indices);
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

inline Indices Same(Range outputs) {
  return Gather(outputs, [](int64_t output, Indices& indices) { indices.push_back(output); });
}

inline Indices Every(int64_t extent) { return Same({0, extent}); }

// `output` is not empty; `in` and `out` are the shapes of the input and of the first result.
ElementSet SliceReads(const graph::Operator& op, const graph::Shape& in, const Box& output);
ElementSet PadReads(const graph::Operator& op, const graph::Shape& in, const Box& output);
ElementSet GatherReads(const graph::Operator& op, const graph::Shape& in, const Box& output);
ElementSet TransposeReads(const graph::Operator& op, const graph::Shape& in, const Box& output);
ElementSet ReshapeReads(const graph::Shape& in, const graph::Shape& out, const Box& output);
ElementSet ResizeReads(const graph::Operator& op, const graph::Shape& in, const graph::Shape& out,
                       const Box& output);
ElementSet DepthToSpaceReads(const graph::Operator& op, const graph::Shape& in,
                             const graph::Shape& out, const Box& output);
ElementSet SpaceToDepthReads(const graph::Operator& op, const graph::Shape& in,
                             const graph::Shape& out, const Box& output);

}  // namespace tessera::plan::execute
