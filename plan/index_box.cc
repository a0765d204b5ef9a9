// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/index_box.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace tessera::plan {
namespace {

Box HullOfListed(const std::vector<int64_t>& numbers, const graph::Shape& shape) {
  Box hull = EmptyOf(shape);
  for (const int64_t number : numbers) {
    Box element;
    for (const int64_t index : CoordinatesOf(number, shape)) element.push_back({index, index + 1});
    Enclose(hull, element);
  }
  return hull;
}

}  // namespace

std::optional<base::Axis> MeaningOf(size_t rank, size_t axis) {
  using base::Axis;
  static constexpr std::array<std::array<Axis, 4>, 4> kMeanings = {{
      {Axis::kChannels, {}, {}, {}},
      {Axis::kRows, Axis::kChannels, {}, {}},
      {Axis::kBatch, Axis::kRows, Axis::kChannels, {}},
      {Axis::kBatch, Axis::kChannels, Axis::kRows, Axis::kColumns},
  }};
  if (rank == 0) return std::nullopt;
  if (rank <= kMeanings.size()) return kMeanings[rank - 1][axis];
  if (axis + 1 == rank) return Axis::kChannels;
  if (axis + 2 == rank) return Axis::kRows;
  return axis == 0 ? std::optional(Axis::kBatch) : std::nullopt;
}

std::optional<size_t> RowAxisOf(size_t rank) {
  for (size_t axis = 0; axis < rank; ++axis) {
    if (MeaningOf(rank, axis) == base::Axis::kRows) return axis;
  }
  return std::nullopt;
}

Box WholeOf(const graph::Shape& shape) {
  Box box;
  for (const int64_t extent : shape) box.push_back({0, extent});
  return box;
}

Box EmptyOf(const graph::Shape& shape) { return Box(shape.size()); }

int64_t VolumeOf(const Box& box) {
  const std::vector<int64_t> extents = ExtentsOf(box);
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> ExtentsOf(const Box& box) {
  std::vector<int64_t> extents(box.size(), 0);
  if (IsEmpty(box)) return extents;
  for (size_t axis = 0; axis < box.size(); ++axis) extents[axis] = box[axis].end - box[axis].begin;
  return extents;
}

void Enclose(Box& hull, const Box& part) {
  if (IsEmpty(part)) return;
  if (IsEmpty(hull)) {
    hull = part;
    return;
  }
  for (size_t axis = 0; axis < hull.size(); ++axis) {
    hull[axis].begin = std::min(hull[axis].begin, part[axis].begin);
    hull[axis].end = std::max(hull[axis].end, part[axis].end);
  }
}

ElementSet AllOf(const Box& box) {
  ElementSet elements;
  for (const Range& range : box) {
    std::vector<int64_t>& indices = elements.axes.emplace_back();
    indices.resize(static_cast<size_t>(std::max<int64_t>(0, range.end - range.begin)));
    std::iota(indices.begin(), indices.end(), range.begin);
  }
  return elements;
}

Box HullOf(const ElementSet& elements, const graph::Shape& shape) {
  if (elements.numbers) return HullOfListed(*elements.numbers, shape);
  Box hull;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const std::vector<int64_t>& indices = elements.axes[axis];
    const auto first = std::lower_bound(indices.begin(), indices.end(), 0);
    const auto last = std::lower_bound(indices.begin(), indices.end(), shape[axis]);
    if (first == last) return EmptyOf(shape);
    hull.push_back({*first, *(last - 1) + 1});
  }
  return hull;
}

std::vector<int64_t> CoordinatesOf(int64_t number, const graph::Shape& shape) {
  std::vector<int64_t> coordinates(shape.size(), 0);
  for (size_t axis = shape.size(); axis-- > 0;) {
    coordinates[axis] = number % shape[axis];
    number /= shape[axis];
  }
  return coordinates;
}

}  // namespace tessera::plan
