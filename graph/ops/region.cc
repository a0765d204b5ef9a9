// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/ops/region.h"

#include <algorithm>

namespace tessera::graph::ops {

Box WholeBox(const Shape& shape) {
  Box box;
  box.reserve(shape.size());
  for (const int64_t extent : shape) box.push_back({0, extent});
  return box;
}

bool IsEmpty(const Box& box) {
  return std::any_of(box.begin(), box.end(),
                     [](const Extent& extent) { return extent.Length() == 0; });
}

int64_t ElementsOf(const Box& box) {
  int64_t elements = 1;
  for (const Extent& extent : box) elements *= extent.Length();
  return elements;
}

Box Hull(const Box& a, const Box& b) {
  if (IsEmpty(a)) return b;
  if (IsEmpty(b)) return a;
  Box hull = a;
  for (size_t axis = 0; axis < hull.size(); ++axis) {
    hull[axis].begin = std::min(a[axis].begin, b[axis].begin);
    hull[axis].end = std::max(a[axis].end, b[axis].end);
  }
  return hull;
}

int64_t ElementsOf(const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  return elements;
}

}  // namespace tessera::graph::ops
