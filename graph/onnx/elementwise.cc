#include <algorithm>

#include "tessera/graph/onnx/translators.h"
#include "tessera/graph/onnx/types.h"

// Operators that work element by element. Constants of one element are immediates and no tensors.
namespace tessera::graph::onnx {
namespace {

using Positions = std::vector<size_t>;

Positions AllOperands(const Translation& node) {
  Positions positions;
  for (size_t i = 0; i < node.Operands(); ++i) {
    if (node.Has(i)) positions.push_back(i);
  }
  return positions;
}

// Emits one elementwise operator over these operands. Extents that only constants have are those of the result, too; axes that only
// constants of one element have, which are no tensors, are given to the first feature before.
Outcome EmitElementwise(Translation& node, const Positions& operands, std::string function,
                        std::optional<base::DataType> type) {
  Part part;
  part.op.kind = base::OperatorKind::kElementwise;
  part.op.function = std::move(function);
  part.type = type;
  std::optional<Shape> together = Shape{};
  size_t rank = 0;  // of the tensors
  for (const size_t i : operands) {
    const Shape& shape = node.ShapeOf(i);
    if (!IsCountable(shape)) return Fault("an operand of shape " + ToText(shape), "extents from 1 on");
    together = Broadcast(*together, shape);
    if (!together)
      return Fault("an operand of shape " + ToText(shape) + " does not fit the others",
                   "extents that are equal or 1");
    if (node.IsFeature(i)) part.inputs.push_back(node.Feature(i));
    const bool immediate = node.IsConstant(i) && ElementsOf(shape) == 1;
    if (!immediate) rank = std::max(rank, shape.size());
    if (node.IsConstant(i) && !immediate) part.wanted.tables.push_back(shape);
  }
  if (part.inputs.empty()) return Barrier("all of its operands are constants");
  if (rank < together->size()) {
    Shape longer = node.ShapeOfTensor(part.inputs.front());
    longer.insert(longer.begin(), together->size() - longer.size(), 1);
    const MadeTensor lifted = node.Reshape(part.inputs.front(), longer, "/rank");
    if (!lifted) return tl::unexpected(lifted.error());
    part.inputs.front() = *lifted;
  }
  for (const size_t i : operands) {
    if (node.IsConstant(i) && ElementsOf(node.ShapeOf(i)) > 1) part.op.weights.push_back(node.Weight(i));
  }
  part.wanted.shape = *together;
  return AsOutcome(node.Emit(std::move(part)));
}

// The value of a bound of Clip: an operand, or an attribute of old operator sets.
std::optional<double> BoundOf(const Translation& node, size_t operand, std::string_view attribute) {
  if (const auto values = node.Reals(operand); values && values->size() == 1) return values->front();
  const auto found = node.Source().attributes.find(std::string(attribute));
  if (found == node.Source().attributes.end()) return std::nullopt;
  const auto* value = std::get_if<double>(&found->second);
  return value == nullptr ? std::nullopt : std::optional<double>(*value);
}

std::string ClipFunction(const Translation& node) {
  const std::optional<double> least = BoundOf(node, 1, "min");
  const std::optional<double> most = BoundOf(node, 2, "max");
  if (least == 0.0 && most == 6.0) return "relu6";
  return "clip";
}

}  // namespace

Outcome TranslateElementwise(Translation& node) {
  const Node& source = node.Source();
  if (source.version < 7 && source.domain.empty() && source.Flag("broadcast"))
    return Barrier("it broadcasts as operator sets before 7 do");
  Positions operands = AllOperands(node);
  if (source.type == "Clip") return EmitElementwise(node, {0}, ClipFunction(node), std::nullopt);
  std::optional<base::DataType> type;
  if (source.type == "Where" && node.Has(1)) type = node.TypeOf(1);
  return EmitElementwise(node, operands, SnakeCase(source.type), type);
}

Outcome TranslateComparison(Translation& node) {
  return EmitElementwise(node, AllOperands(node), SnakeCase(node.Source().type), base::DataType::kBool);
}

// Quantised operators list a scale and a zero point behind each operand, and those of the result last.
Outcome TranslateQLinear(Translation& node) {
  const std::string function = SnakeCase(node.Source().type.substr(std::string("QLinear").size()));
  const bool binary = node.Operands() > 5;
  const size_t zero_point = binary ? 7 : 4;
  const std::optional<base::DataType> type =
      node.Has(zero_point) ? std::optional(node.TypeOf(zero_point)) : std::nullopt;
  return EmitElementwise(node, binary ? Positions{0, 3} : Positions{0}, function, type);
}

Outcome TranslateCast(Translation& node) {
  const std::optional<base::DataType> type =
      node.Source().type == "CastLike" ? node.TypeOf(1) : TypeFromOnnx(node.Source().Int("to", 0));
  if (!type) return Barrier("it casts to a data type that has no name here");
  if (*type == node.TypeOf(0)) {
    node.Drop(node.Source().inputs[0], "casts to the type that is there");
    return {};
  }
  return EmitElementwise(node, {0}, "cast", type);
}

// Alone it is a scale and a shift by the channel; behind a convolution a later pass takes it in.
Outcome TranslateBatchNorm(Translation& node) {
  if (node.Source().Flag("training_mode")) return Barrier("it works in training mode");
  const Shape& shape = node.ShapeOf(0);
  const int64_t channels = shape.size() < 2 ? 1 : shape[1];
  for (size_t i = 1; i < 5; ++i) {
    if (!node.IsConstant(i)) return Barrier("its statistics are computed while the network runs");
    if (node.ShapeOf(i) == Shape{channels}) continue;
    return Fault(
        "an operand of shape " + ToText(node.ShapeOf(i)) + " for " + std::to_string(channels) + " channels",
        "[" + std::to_string(channels) + "]");
  }
  Part part;
  part.op.kind = base::OperatorKind::kElementwise;
  part.op.function = "batch_normalization";
  part.op.weights = {node.Weight(1), node.Weight(2)};
  part.inputs = {node.Feature(0)};
  return AsOutcome(node.Emit(std::move(part)));
}

Outcome TranslateIdentity(Translation& node) {
  node.Drop(node.Source().inputs[0], "does nothing");
  return {};
}

}  // namespace tessera::graph::onnx
