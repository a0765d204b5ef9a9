#include "tessera/graph/onnx/fold/operands.h"

#include <algorithm>

namespace tessera::graph::onnx {

bool HasConstant(const Operands& operands, size_t i) {
  return i < operands.size() && operands[i].constant != nullptr;
}

std::optional<Integers> IntegersAt(const Operands& operands, size_t i) {
  return HasConstant(operands, i) ? operands[i].constant->integers : std::nullopt;
}

const Shape& ShapeAt(const Operands& operands, size_t i) {
  return operands[i].constant != nullptr ? operands[i].constant->shape : *operands[i].shape;
}

Constant FromIntegers(Shape shape, base::DataType type, Integers values) {
  Constant constant;
  constant.shape = std::move(shape);
  constant.type = type;
  constant.integers = std::move(values);
  return constant;
}

Constant FromReals(Shape shape, base::DataType type, Reals values) {
  Constant constant;
  constant.shape = std::move(shape);
  constant.type = type;
  constant.reals = std::move(values);
  return constant;
}

Constant WithoutValues(Shape shape, base::DataType type) {
  Constant constant;
  constant.shape = std::move(shape);
  constant.type = type;
  return constant;
}

bool IsSmall(const Shape& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) {
    if (extent < 0 || extent > kMostValues) return false;
    elements *= extent;
    if (elements > kMostValues) return false;
  }
  return true;
}

std::vector<int64_t> StridesOf(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

Folded Rearranged(const Constant& from, Shape shape, const Integers& places) {
  Constant to;
  to.shape = std::move(shape);
  to.type = from.type;
  const auto pick = [&places](const auto& values) {
    auto picked = values;
    picked.resize(places.size());
    std::transform(places.begin(), places.end(), picked.begin(),
                   [&values](int64_t place) { return values[static_cast<size_t>(place)]; });
    return picked;
  };
  if (from.integers) to.integers = pick(*from.integers);
  if (from.reals) to.reals = pick(*from.reals);
  if (!to.integers && !to.reals) return std::nullopt;
  return to;
}

Integers PlacesAlong(const Shape& shape, const std::vector<int64_t>& steps, int64_t offset) {
  Integers places;
  Shape index(shape.size(), 0);
  int64_t place = offset;
  for (int64_t left = ElementsOf(shape); left > 0; --left) {
    places.push_back(place);
    for (size_t axis = shape.size(); axis-- > 0;) {
      place += steps[axis];
      if (++index[axis] < shape[axis]) break;
      place -= steps[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return places;
}

Integers PlacesOfBroadcast(const Shape& from, const Shape& shape) {
  const std::vector<int64_t> strides = StridesOf(from);
  const size_t missing = shape.size() - from.size();
  std::vector<int64_t> steps(shape.size(), 0);
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] != 1) steps[axis + missing] = strides[axis];
  }
  return PlacesAlong(shape, steps);
}

}  // namespace tessera::graph::onnx
