// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/common/fold/fold.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "tessera/base/arithmetic.h"

namespace tessera::graph::import::common::fold {

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

// Values that come from shapes and attributes, not from other values.
Folded FoldShape(const Node& node, const Operands& operands) {
  const Shape& shape = ShapeAt(operands, 0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto place = [rank](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t first = place(std::max(node.Int("start", 0), -rank));
  const int64_t end = std::max(first, place(std::max(node.Int("end", rank), -rank)));
  Integers extents(shape.begin() + first, shape.begin() + end);
  return FromIntegers({end - first}, base::DataType::kInt64, std::move(extents));
}

Folded FoldSize(const Node&, const Operands& operands) {
  return FromIntegers({}, base::DataType::kInt64, {ElementsOf(ShapeAt(operands, 0))});
}

Folded FoldConstant(const Node& node, const Operands&) {
  for (const auto& [key, value] : node.attributes) {
    if (const auto* tensor = std::get_if<Constant>(&value)) return *tensor;
    if (const auto* integer = std::get_if<int64_t>(&value))
      return FromIntegers({}, base::DataType::kInt64, {*integer});
    if (const auto* real = std::get_if<double>(&value))
      return FromReals({}, base::DataType::kFloat32, {*real});
    if (const auto* list = std::get_if<Integers>(&value))
      return FromIntegers({static_cast<int64_t>(list->size())}, base::DataType::kInt64, *list);
    if (const auto* list = std::get_if<Reals>(&value))
      return FromReals({static_cast<int64_t>(list->size())}, base::DataType::kFloat32, *list);
  }
  return std::nullopt;
}

Folded FoldConstantOfShape(const Node& node, const Operands& operands) {
  const std::optional<Integers> shape = IntegersAt(operands, 0);
  if (!shape ||
      std::any_of(shape->begin(), shape->end(), [](int64_t extent) { return extent < 0; }))
    return std::nullopt;
  Constant value = FromReals({1}, base::DataType::kFloat32, {0});
  if (const auto found = node.attributes.find("value"); found != node.attributes.end()) {
    if (const auto* tensor = std::get_if<Constant>(&found->second)) value = *tensor;
  }
  if (!IsSmall(*shape)) return WithoutValues(*shape, value.type);
  return Rearranged(value, *shape, Integers(static_cast<size_t>(ElementsOf(*shape)), 0));
}

Folded FoldRange(const Node&, const Operands& operands) {
  const auto start = IntegersAt(operands, 0);
  const auto limit = IntegersAt(operands, 1);
  const auto delta = IntegersAt(operands, 2);
  const auto is_one = [](const auto& values) { return values && values->size() == 1; };
  if (!is_one(start) || !is_one(limit) || !is_one(delta) || delta->front() == 0)
    return std::nullopt;
  Integers values;
  const int64_t step = delta->front();
  std::optional<int64_t> value = start->front();
  while (value && (step > 0 ? *value < limit->front() : *value > limit->front())) {
    values.push_back(*value);
    if (static_cast<int64_t>(values.size()) > kMostValues) return std::nullopt;
    value = base::CheckedAdd(*value, step);
  }
  const auto count = static_cast<int64_t>(values.size());
  return FromIntegers({count}, operands[0].constant->type, std::move(values));
}

// Exporters compute shapes by operators: Shape, Gather, Mul, Concat, Reshape. All such arithmetic
// is evaluated here, so that only operators that depend on data remain. Costs are linear in the
// elements; a constant has at most kMostValues of them.
namespace {

using Rule = Folded (*)(const Node&, const Operands&);

Rule FindRule(std::string_view type) {
  static const std::unordered_map<std::string_view, Rule> table = {
      {"ConstantOfShape", FoldConstantOfShape},
      {"Range", FoldRange},
      {"Identity", FoldIdentity},
      {"Dropout", FoldIdentity},
      {"Squeeze", FoldSqueeze},
      {"Unsqueeze", FoldUnsqueeze},
      {"Reshape", FoldReshape},
      {"Flatten", FoldFlatten},
      {"Transpose", FoldTranspose},
      {"Gather", FoldGather},
      {"Slice", FoldSlice},
      {"Expand", FoldExpand},
      {"Concat", FoldConcat},
      {"Cast", FoldCast},
      {"Where", FoldWhere},
      {"ReduceProd", FoldReduce},
      {"ReduceSum", FoldReduce},
      {"ReduceMax", FoldReduce},
      {"ReduceMin", FoldReduce}};
  const auto found = table.find(type);
  return found == table.end() ? nullptr : found->second;
}

Folded FoldOne(const Node& node, const Operands& operands) {
  if (node.type == "Shape" && !operands.empty()) return FoldShape(node, operands);
  if (node.type == "Size" && !operands.empty()) return FoldSize(node, operands);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.HasInput(i) && !HasConstant(operands, i)) return std::nullopt;
  }
  if (node.type == "Constant") return FoldConstant(node, operands);
  if (!HasConstant(operands, 0)) return std::nullopt;
  const Rule rule = FindRule(node.type);
  return rule != nullptr ? rule(node, operands) : FoldArithmetic(node, operands);
}

}  // namespace

std::optional<std::vector<Constant>> Fold(const Node& node, const std::vector<Known>& operands) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.type == "Split") {
    if (!HasConstant(operands, 0)) return std::nullopt;
    return FoldSplit(node, operands);
  }
  Folded output = FoldOne(node, operands);
  if (!output) return std::nullopt;
  return std::vector<Constant>{*std::move(output)};
}

}  // namespace tessera::graph::import::common::fold
