#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"

// Sets of elements of one tensor, by coordinates along its axes.
namespace tessera::plan::execute {

struct Range {
  int64_t begin = 0;
  int64_t end = 0;  // one past the last
  friend bool operator==(const Range&, const Range&) = default;
};

// What an axis of a tensor of this rank means; nullopt for ranks without names.
std::optional<base::Axis> MeaningOf(size_t rank, size_t axis);
std::optional<size_t> RowAxisOf(size_t rank);

// One range for each axis; empty as soon as one of them is.
using Box = std::vector<Range>;

Box WholeBox(const graph::Shape& shape);
Box EmptyBox(const graph::Shape& shape);
bool IsEmpty(const Box& box);

// Grows `hull` to the smallest box that holds `part` too.
void Cover(Box& hull, const Box& part);

// Exactly the elements that somebody touches, holes left out: a product of indices, ascending along
// each axis, or, where no product says it, elements one by one.
struct ElementSet {
  std::vector<std::vector<int64_t>> axes;
  std::optional<std::vector<int64_t>>
      listed;  // row-major numbers, ascending; then `axes` means nothing
};

ElementSet AllOf(const Box& box);

// The smallest box around them; indices that lie outside the tensor, in its padding, do not count.
Box HullOf(const ElementSet& elements, const graph::Shape& shape);

// The coordinates of the element of that row-major number.
std::vector<int64_t> CoordinatesOf(int64_t number, const graph::Shape& shape);

}  // namespace tessera::plan::execute
