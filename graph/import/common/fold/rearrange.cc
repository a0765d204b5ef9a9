// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/import/common/draft.h"
#include "tessera/graph/import/common/fold/fold.h"
#include "tessera/graph/import/common/node_attributes.h"

// Operators that only rearrange elements are folded by one rule: a list of positions in the
// operand, in the order of the result.
namespace tessera::graph::import::common::fold {
namespace {

Folded Reshaped(const Constant& from, Shape shape) {
  Constant to = from;
  to.shape = std::move(shape);
  return to;
}

// Axes of Squeeze and Unsqueeze: an operand, or an attribute before operator set 13.
std::optional<Integers> AxesOf(const Node& node, const Operands& operands) {
  if (node.HasInput(1)) return IntegersAt(operands, 1);
  return node.Ints("axes");
}

// A list with some unknown values, as in files without weights.
Folded Outline(const Operands& operands) {
  Constant joined;
  joined.type = base::DataType::kInt64;
  joined.outline.emplace();
  for (const Known& operand : operands) {
    const Constant& part = *operand.constant;
    if (part.shape.size() != 1 || !IsSmall(part.shape) || IsFloating(part.type))
      return std::nullopt;
    const Integers missing(static_cast<size_t>(part.shape[0]), -1);
    const Integers values = part.integers ? *part.integers : part.outline.value_or(missing);
    joined.outline->insert(joined.outline->end(), values.begin(), values.end());
  }
  joined.shape = {static_cast<int64_t>(joined.outline->size())};
  return joined;
}

}  // namespace

Folded FoldIdentity(const Node&, const Operands& operands) { return *operands[0].constant; }

Folded FoldSqueeze(const Node& node, const Operands& operands) {
  const Shape& shape = ShapeAt(operands, 0);
  const std::optional<Integers> axes = AxesOf(node, operands);
  if (!axes) return std::nullopt;
  std::vector<bool> goes(shape.size(), axes->empty());
  for (const int64_t stated : *axes) {
    const std::optional<int> axis = AxisFrom(stated, shape.size());
    if (!axis) return std::nullopt;
    goes[static_cast<size_t>(*axis)] = true;
  }
  Shape rest;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!goes[axis] || shape[axis] != 1) rest.push_back(shape[axis]);
  }
  return Reshaped(*operands[0].constant, rest);
}

Folded FoldUnsqueeze(const Node& node, const Operands& operands) {
  const Shape& shape = ShapeAt(operands, 0);
  const std::optional<Integers> axes = AxesOf(node, operands);
  if (!axes) return std::nullopt;
  const size_t rank = shape.size() + axes->size();
  std::vector<bool> added(rank, false);
  for (const int64_t stated : *axes) {
    const std::optional<int> axis = AxisFrom(stated, rank);
    if (!axis || added[static_cast<size_t>(*axis)]) return std::nullopt;
    added[static_cast<size_t>(*axis)] = true;
  }
  Shape longer;
  size_t next = 0;
  for (const bool is_added : added) longer.push_back(is_added ? 1 : shape[next++]);
  return Reshaped(*operands[0].constant, longer);
}

Folded FoldReshape(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  const auto stated =
      node.HasInput(1) ? IntegersAt(operands, 1) : std::optional(node.Ints("shape"));
  if (!stated) return std::nullopt;
  Shape shape = *stated;
  int64_t known = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0 && !node.Flag("allowzero") && axis < from.size()) shape[axis] = from[axis];
    if (shape[axis] < -1) return std::nullopt;
    if (shape[axis] > 0) known = base::CheckedMul(known, shape[axis]).value_or(base::kMaxTotal);
  }
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) *open = ElementsOf(from) / known;
  if (std::count(shape.begin(), shape.end(), -1) > 0 || ElementsOf(shape) != ElementsOf(from))
    return std::nullopt;
  return Reshaped(*operands[0].constant, shape);
}

Folded FoldFlatten(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  const auto rank = static_cast<int64_t>(from.size());
  const int64_t stated = node.Int("axis", 1);
  const int64_t axis = std::clamp<int64_t>(stated < 0 ? stated + rank : stated, 0, rank);
  const int64_t rows = ElementsOf(Shape(from.begin(), from.begin() + axis));
  return Reshaped(*operands[0].constant,
                  {rows, ElementsOf(Shape(from.begin() + axis, from.end()))});
}

Folded FoldTranspose(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  const auto permutation = ReadPermutation(node, from.size());
  if (!permutation) return std::nullopt;
  Shape shape;
  for (const int axis : *permutation) shape.push_back(from[static_cast<size_t>(axis)]);
  if (!IsSmall(shape)) return WithoutValues(shape, operands[0].constant->type);
  const std::vector<int64_t> strides = StridesOf(from);
  std::vector<int64_t> steps;
  for (const int axis : *permutation) steps.push_back(strides[static_cast<size_t>(axis)]);
  return Rearranged(*operands[0].constant, shape, PlacesAlong(shape, steps));
}

Folded FoldGather(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  const std::optional<int> stated = AxisFrom(node.Int("axis", 0), from.size());
  const std::optional<Integers> indices = IntegersAt(operands, 1);
  if (!stated || !indices) return std::nullopt;
  const auto axis = static_cast<size_t>(*stated);
  const Shape& picked = ShapeAt(operands, 1);
  Shape shape(from.begin(), from.begin() + *stated);
  shape.insert(shape.end(), picked.begin(), picked.end());
  shape.insert(shape.end(), from.begin() + *stated + 1, from.end());
  if (!IsSmall(shape)) return std::nullopt;
  const int64_t inner = StridesOf(from)[axis];
  const int64_t outer = ElementsOf(Shape(from.begin(), from.begin() + *stated));
  Integers places;
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t index : *indices) {
      const int64_t place = index < 0 ? index + from[axis] : index;
      if (place < 0 || place >= from[axis]) return std::nullopt;
      for (int64_t i = 0; i < inner; ++i) places.push_back((o * from[axis] + place) * inner + i);
    }
  }
  return Rearranged(*operands[0].constant, shape, places);
}

Folded FoldSlice(const Node& node, const Operands& operands) {
  const Shape& from = ShapeAt(operands, 0);
  const auto cut = ReadCut(node, from, [&operands](size_t i) { return IntegersAt(operands, i); });
  if (!cut || !IsSmall(cut->shape)) return std::nullopt;
  const std::vector<int64_t> strides = StridesOf(from);
  std::vector<int64_t> steps;
  int64_t first = 0;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    steps.push_back(cut->steps[axis] * strides[axis]);
    first += cut->starts[axis] * strides[axis];
  }
  return Rearranged(*operands[0].constant, cut->shape, PlacesAlong(cut->shape, steps, first));
}

Folded FoldExpand(const Node&, const Operands& operands) {
  const std::optional<Integers> wanted = IntegersAt(operands, 1);
  if (!wanted) return std::nullopt;
  const std::optional<Shape> shape = ops::Broadcast(ShapeAt(operands, 0), *wanted);
  if (!shape || !ops::IsCountable(*shape)) return std::nullopt;
  if (!IsSmall(*shape)) return WithoutValues(*shape, operands[0].constant->type);
  return Rearranged(*operands[0].constant, *shape, PlacesOfBroadcast(ShapeAt(operands, 0), *shape));
}

Folded FoldConcat(const Node&, const Operands& operands) {
  Constant joined = *operands[0].constant;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Constant& next = *operands[i].constant;
    if (next.shape.size() != 1) return std::nullopt;
    if (i == 0) continue;
    if (joined.integers && next.integers) {
      joined.integers->insert(joined.integers->end(), next.integers->begin(), next.integers->end());
    } else if (joined.reals && next.reals) {
      joined.reals->insert(joined.reals->end(), next.reals->begin(), next.reals->end());
    } else {
      return Outline(operands);
    }
    joined.shape[0] += next.shape[0];
  }
  if (!IsSmall(joined.shape)) return std::nullopt;
  return joined;
}

std::optional<std::vector<Constant>> FoldSplit(const Node& node, const Operands& operands) {
  const std::optional<Integers> values = IntegersAt(operands, 0);
  if (!values || ShapeAt(operands, 0).size() != 1) return std::nullopt;
  const std::optional<Integers> stated =
      node.HasInput(1) ? IntegersAt(operands, 1) : std::optional(node.Ints("split"));
  if (!stated) return std::nullopt;
  Integers sizes = *stated;
  const auto parts = static_cast<int64_t>(node.outputs.size());
  const auto extent = static_cast<int64_t>(values->size());
  if (sizes.empty()) {
    const int64_t each = base::CeilDiv(extent, parts);
    sizes.assign(node.outputs.size(), each);
    sizes.back() = extent - each * (parts - 1);
  }
  std::vector<Constant> outputs;
  int64_t first = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > extent - first) return std::nullopt;
    const int64_t end = first + size;
    outputs.push_back(FromIntegers({size}, operands[0].constant->type,
                                   Integers(values->begin() + first, values->begin() + end)));
    first = end;
  }
  if (outputs.size() != node.outputs.size() || first != extent) return std::nullopt;
  return outputs;
}

}  // namespace tessera::graph::import::common::fold
