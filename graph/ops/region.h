#pragma once

#include <cstdint>
#include <vector>

#include "tessera/graph/graph.h"

// The part of each input that an operator needs for a part of its output (FACTS: regions). Boxes
// are half-open and clipped to the tensor. A box with an empty extent needs nothing.
namespace tessera::graph::ops {

struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t Length() const { return end > begin ? end - begin : 0; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

using Box = std::vector<Extent>;  // one extent for each axis of the tensor

Box WholeBox(const Shape& shape);
bool IsEmpty(const Box& box);
int64_t ElementsOf(const Box& box);

// The smallest box that contains both; an empty box adds nothing.
Box Hull(const Box& a, const Box& b);

// The part of input number `input` (index into op.inputs) that `op` needs to compute `output` of
// its first output. Barriers need everything.
Box InputRegion(const Graph& graph, const Operator& op, size_t input, const Box& output);

// The multiply-accumulates to compute `output`; for an opaque operator its share, rounded up.
int64_t MacsOf(const Graph& graph, const Operator& op, const Box& output);

// The multiply-accumulates of one operator for its whole (first) output, including taps in the
// padding, as is usual. Those of a transposed convolution are divided evenly, taps / (row stride *
// column stride) for each output, rounded up in sum. 0 for kinds without any (pools, elementwise,
// softmax and layout changes), and for operators with unknown work.
int64_t MacsOf(const Graph& graph, const Operator& op);

}  // namespace tessera::graph::ops
