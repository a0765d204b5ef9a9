// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/onnx/translations.h"

// Elementwise operators. Constants of one element are immediates and not tensors.
namespace tessera::graph::import::onnx {
namespace {

using Positions = std::vector<size_t>;

Positions AllOperands(const common::Translation& node) {
  Positions positions;
  for (size_t i = 0; i < node.Operands(); ++i) {
    if (node.Has(i)) positions.push_back(i);
  }
  return positions;
}

// Emits one elementwise operator over these operands. The result also has the extents that only
// constants have. If only constants of one element, which are not tensors, have certain axes, the
// first feature gets these axes before.
common::Outcome EmitElementwise(common::Translation& node, const Positions& operands,
                                std::string function, std::optional<base::DataType> type) {
  common::Part part;
  part.op.kind = base::OperatorKind::kElementwise;
  part.op.function = std::move(function);
  part.type = type;
  std::optional<Shape> together = Shape{};
  size_t rank = 0;  // of the tensors
  for (const size_t i : operands) {
    const Shape& shape = node.ShapeOf(i);
    if (!ops::IsCountable(shape))
      return common::Fault("an operand of shape " + ops::ToText(shape), "extents from 1 on");
    together = ops::Broadcast(*together, shape);
    if (!together)
      return common::Fault("an operand of shape " + ops::ToText(shape) + " does not fit the others",
                           "extents that are equal or 1");
    if (node.IsFeature(i)) part.inputs.push_back(node.Feature(i));
    const bool immediate = node.IsConstant(i) && ElementsOf(shape) == 1;
    if (!immediate) rank = std::max(rank, shape.size());
    if (node.IsConstant(i) && !immediate) part.wanted.tables.push_back(shape);
  }
  if (part.inputs.empty()) return common::Barrier("all of its operands are constants");
  if (rank < together->size()) {
    Shape longer = node.ShapeOfTensor(part.inputs.front());
    longer.insert(longer.begin(), together->size() - longer.size(), 1);
    const common::MadeTensor lifted = node.Reshape(part.inputs.front(), longer, "/rank");
    if (!lifted) return tl::unexpected(lifted.error());
    part.inputs.front() = *lifted;
  }
  for (const size_t i : operands) {
    if (node.IsConstant(i) && ElementsOf(node.ShapeOf(i)) > 1)
      part.op.weights.push_back(node.Weight(i));
  }
  part.wanted.shape = *together;
  return common::AsOutcome(node.Emit(std::move(part)));
}

// The value of a bound of Clip: an operand, or an attribute of old operator sets.
std::optional<double> BoundOf(const common::Translation& node, size_t operand,
                              std::string_view attribute) {
  if (const auto values = node.Reals(operand); values && values->size() == 1)
    return values->front();
  const auto found = node.Source().attributes.find(std::string(attribute));
  if (found == node.Source().attributes.end()) return std::nullopt;
  const auto* value = std::get_if<double>(&found->second);
  return value == nullptr ? std::nullopt : std::optional<double>(*value);
}

common::Outcome ExpectOneElement(const common::Translation& node, size_t operand) {
  if (!node.Has(operand) || ElementsOf(node.ShapeOf(operand)) == 1) return {};
  return common::Fault(
      "operand " + std::to_string(operand + 1) + " has shape " + ops::ToText(node.ShapeOf(operand)),
      "a scalar");
}

std::string ClipFunction(const common::Translation& node) {
  const std::optional<double> least = BoundOf(node, 1, "min");
  const std::optional<double> most = BoundOf(node, 2, "max");
  if (least == 0.0 && most == 6.0) return "relu6";
  return "clip";
}

std::optional<double> ImmediateOf(const common::Translation& node, size_t operand) {
  const auto values = node.IsConstant(operand) ? node.Reals(operand) : std::nullopt;
  return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
}

// Names powers and quotients that have special names, by the value of an immediate.
std::string FunctionOf(const common::Translation& node) {
  std::string function = common::SnakeCase(node.Source().type);
  if (function == "div" && ImmediateOf(node, 0) == 1.0) return "reciprocal";
  if (function != "pow") return function;
  const std::optional<double> exponent = ImmediateOf(node, 1);
  if (exponent == 2.0) return "square";
  if (exponent == 0.5) return "sqrt";
  if (exponent == -0.5) return "rsqrt";
  return function;
}

common::Outcome TranslateElementwise(common::Translation& node) {
  const common::Node& source = node.Source();
  if (source.version < 7 && source.domain.empty() && source.Flag("broadcast"))
    return common::Barrier("it broadcasts as operator sets before 7 do");
  Positions operands = AllOperands(node);
  if (source.type == "Clip") {
    for (const size_t bound : {size_t{1}, size_t{2}}) {
      if (auto scalar = ExpectOneElement(node, bound); !scalar) return scalar;
    }
    return EmitElementwise(node, {0}, ClipFunction(node), std::nullopt);
  }
  std::optional<base::DataType> type;
  if (source.type == "Where" && node.Has(1)) type = node.TypeOf(1);
  return EmitElementwise(node, operands, FunctionOf(node), type);
}

common::Outcome TranslateComparison(common::Translation& node) {
  return EmitElementwise(node, AllOperands(node), common::SnakeCase(node.Source().type),
                         base::DataType::kBool);
}

// Quantised operators list a scale and a zero point after each operand, and those of the result
// last.
common::Outcome TranslateQLinear(common::Translation& node) {
  const std::string function =
      common::SnakeCase(node.Source().type.substr(std::string("QLinear").size()));
  const bool binary = node.Operands() > 5;
  const size_t zero_point = binary ? 7 : 4;
  const std::optional<base::DataType> type =
      node.Has(zero_point) ? std::optional(node.TypeOf(zero_point)) : std::nullopt;
  return EmitElementwise(node, binary ? Positions{0, 3} : Positions{0}, function, type);
}

common::Outcome TranslateCast(common::Translation& node) {
  const std::optional<base::DataType> type = node.Source().type == "CastLike"
                                                 ? node.TypeOf(1)
                                                 : common::TypeFromOnnx(node.Source().Int("to", 0));
  constexpr int64_t kLastType = 26;  // of TensorProto.DataType in ONNX 1.20
  const int64_t number = node.Source().Int("to", 0);
  if (!type && node.Source().type == "Cast" && (number < 1 || number > kLastType)) {
    return common::Fault("'to' is " + std::to_string(number),
                         "the number of a data type, 1 to " + std::to_string(kLastType));
  }
  if (!type) return common::Barrier("it casts to a data type that has no name here");
  if (*type == node.TypeOf(0)) {
    node.Drop(node.Source().inputs[0], "casts to the type that is there");
    return {};
  }
  return EmitElementwise(node, {0}, "cast", type);
}

constexpr const char* kTestUnset = "it works in training mode, because 'is_test' is 0";

// A batch normalisation is a scale and a shift by channel. A later pass merges it into a preceding
// convolution.
common::Outcome TranslateBatchNorm(common::Translation& node) {
  if (node.Source().Flag("training_mode")) return common::Barrier("it works in training mode");
  if (node.Source().LacksTestMode()) return common::Barrier(kTestUnset);
  const Shape& shape = node.ShapeOf(0);
  const int64_t channels = shape.size() < 2 ? 1 : shape[1];
  for (size_t i = 1; i < 5; ++i) {
    if (!node.IsConstant(i))
      return common::Barrier("its statistics are computed while the network runs");
    if (node.ShapeOf(i) == Shape{channels}) continue;
    return common::Fault("an operand of shape " + ops::ToText(node.ShapeOf(i)) + " for " +
                             std::to_string(channels) + " channels",
                         "[" + std::to_string(channels) + "]");
  }
  common::Part part;
  part.op.kind = base::OperatorKind::kElementwise;
  part.op.function = "batch_normalization";
  part.op.weights = {node.Weight(1), node.Weight(2)};
  part.inputs = {node.Feature(0)};
  return common::AsOutcome(node.Emit(std::move(part)));
}

common::Outcome TranslateIdentity(common::Translation& node) {
  node.Drop(node.Source().inputs[0], "does nothing");
  return {};
}

// In training mode random elements become 0.
common::Outcome TranslateDropout(common::Translation& node) {
  if (node.Source().LacksTestMode()) return common::Barrier(kTestUnset);
  const auto trains = node.Has(2) ? node.Integers(2) : std::nullopt;
  const auto ratio = node.Has(1) ? node.Reals(1) : std::nullopt;
  const bool drops_none = ratio && !ratio->empty() && ratio->front() == 0;
  if (trains && !trains->empty() && trains->front() != 0 && !drops_none)
    return common::Barrier("it works in training mode");
  return TranslateIdentity(node);
}

// Conversions between real numbers and their quantised form. Each becomes an elementwise operator
// here. The pass on data types (quantization.cc) then removes the pairs, and the conversions that a
// neighbour can perform.

// The scale is one number, one for each place on an axis, or one for each block of such places.
common::Outcome ExpectScale(const common::Translation& node) {
  const common::Node& source = node.Source();
  const Shape& scale = node.ShapeOf(1);
  if (ElementsOf(scale) == 1 || source.Int("block_size", 0) != 0) return {};
  const Shape& input = node.ShapeOf(0);
  const std::optional<int> axis = common::AxisFrom(source.Int("axis", 1), input.size());
  if (!axis) {
    return common::Fault("axis " + std::to_string(source.Int("axis", 1)) +
                             " of an input of shape " + ops::ToText(input),
                         "an axis of the input");
  }
  return ExpectShape(node, 1, {input[static_cast<size_t>(*axis)]});
}

common::Outcome Convert(common::Translation& node, std::string function, base::DataType type) {
  if (auto scale = ExpectScale(node); !scale) return scale;
  common::Part part;
  part.op.kind = base::OperatorKind::kElementwise;
  part.op.function = std::move(function);
  part.type = type;
  part.inputs = {node.Feature(0)};
  const common::MadeTensor made = node.Emit(std::move(part));
  if (made)
    node.Target().roundings[node.Target().graph.operators.back().id] = {node.Reals(1),
                                                                        node.Integers(2)};
  return common::AsOutcome(made);
}

common::Outcome TranslateQuantize(common::Translation& node) {
  constexpr int64_t kUnsignedByte = 2;
  const std::optional<base::DataType> stated =
      common::TypeFromOnnx(node.Source().Int("output_dtype", kUnsignedByte));
  if (!node.Has(2) && !stated) return common::Barrier("it gives a data type that has no name here");
  return Convert(node, "quantize", node.Has(2) ? node.TypeOf(2) : *stated);
}

common::Outcome TranslateDequantize(common::Translation& node) {
  return Convert(node, "dequantize", node.Has(1) ? node.TypeOf(1) : base::DataType::kFloat32);
}

}  // namespace

TranslationTable TranslationsOfElementwise() {
  return {
      {{TranslateCast}, {"Cast"}},
      {{TranslateCast, 2}, {"CastLike"}},
      {{TranslateBatchNorm, 5}, {"BatchNormalization"}},
      {{TranslateIdentity}, {"Identity"}},
      {{TranslateDropout}, {"Dropout"}},
      {{TranslateQuantize, 2}, {"QuantizeLinear", "com.microsoft:QuantizeLinear"}},
      {{TranslateDequantize, 2}, {"DequantizeLinear", "com.microsoft:DequantizeLinear"}},
      {{TranslateComparison, 1, true},
       {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not",
        "IsInf", "IsNaN"}},
      {{TranslateElementwise, 1, true},
       {"Abs",
        "Acos",
        "Acosh",
        "Add",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "BitShift",
        "BitwiseAnd",
        "BitwiseNot",
        "BitwiseOr",
        "BitwiseXor",
        "Ceil",
        "Celu",
        "Clip",
        "Cos",
        "Cosh",
        "Div",
        "Elu",
        "Erf",
        "Exp",
        "Floor",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "Log",
        "Max",
        "Mean",
        "Min",
        "Mish",
        "Mod",
        "Mul",
        "Neg",
        "PRelu",
        "Pow",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Shrink",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Sub",
        "Sum",
        "Swish",
        "Tan",
        "Tanh",
        "ThresholdedRelu",
        "Where",
        "com.microsoft:Gelu",
        "com.microsoft:FastGelu",
        "com.microsoft:BiasGelu",
        "com.microsoft:QuickGelu"}},
      {{TranslateQLinear, 7, true}, {"com.microsoft:QLinearAdd", "com.microsoft:QLinearMul"}},
      {{TranslateQLinear, 4}, {"com.microsoft:QLinearSigmoid", "com.microsoft:QLinearLeakyRelu"}}};
}

}  // namespace tessera::graph::import::onnx
