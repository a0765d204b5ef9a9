#include <algorithm>

#include "tessera/base/checked.h"
#include "tessera/graph/onnx/fold/rules.h"

// Values that come from shapes and attributes, not from other values.
namespace tessera::graph::onnx {

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
  if (!shape || std::any_of(shape->begin(), shape->end(), [](int64_t extent) { return extent < 0; }))
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
  if (!is_one(start) || !is_one(limit) || !is_one(delta) || delta->front() == 0) return std::nullopt;
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

}  // namespace tessera::graph::onnx
