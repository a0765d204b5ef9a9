// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/graph/ops/operator.h"

// Boxes of elements, half-open and clipped to the tensor. A box with an empty extent is empty.
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

// The smallest box that contains both. An empty box adds nothing.
Box Hull(const Box& a, const Box& b);

}  // namespace tessera::graph::ops
