#pragma once

#include <cstdint>
#include <vector>

#include "tessera/graph/graph.h"

// Which part of each input an operator needs for a part of its output (FACTS: regions). Boxes are
// half-open and clipped to the tensor; a box with an empty extent needs nothing.
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

// The smallest box that holds both; an empty box adds nothing.
Box Hull(const Box& a, const Box& b);

// What `op` needs of its input number `input` (index into op.inputs) to compute `output` of its
// first output. Barriers need everything.
Box InputRegion(const Graph& graph, const Operator& op, size_t input, const Box& output);

// The multiply-accumulates that computing `output` takes; of an opaque operator its share, rounded
// up.
int64_t MacsOf(const Graph& graph, const Operator& op, const Box& output);

// The multiply-accumulates of one operator: of its whole (first) output, taps that fall into the
// padding included, as is usual; those of a transposed convolution are shared out evenly, taps /
// (row stride * column stride) to each output, rounded up in sum. 0 for kinds without any: pools,
// elementwise, softmax and layout changes, and for operators of unknown work.
int64_t MacsOf(const Graph& graph, const Operator& op);

}  // namespace tessera::graph::ops
