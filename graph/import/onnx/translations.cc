#include "tessera/graph/import/onnx/translations.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace tessera::graph::import::onnx {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

using Table = std::unordered_map<std::string_view, TranslationRule>;

void AddAll(Table& table, const TranslationRule& rule,
            std::initializer_list<std::string_view> types) {
  for (const std::string_view type : types) table.emplace(type, rule);
}

Table MakeOnnxTable() {
  Table table;
  AddAll(table, {TranslateConv, 2}, {"Conv", "ConvInteger"});
  AddAll(table, {TranslateConv, 8}, {"QLinearConv"});
  AddAll(table, {TranslateTransposedConv, 2}, {"ConvTranspose"});
  AddAll(table, {TranslatePool}, {"MaxPool", "AveragePool", "LpPool"});
  AddAll(table, {TranslateGlobalPool}, {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"});
  AddAll(table, {TranslateMatMul, 2, true}, {"MatMul", "MatMulInteger"});
  AddAll(table, {TranslateMatMul, 8, true}, {"QLinearMatMul"});
  AddAll(table, {TranslateGemm, 2, true}, {"Gemm"});
  AddAll(table, {TranslateCast}, {"Cast"});
  AddAll(table, {TranslateCast, 2}, {"CastLike"});
  AddAll(table, {TranslateBatchNorm, 5}, {"BatchNormalization"});
  AddAll(table, {TranslateIdentity}, {"Identity", "Dropout"});
  AddAll(table, {TranslateQuantize, 2}, {"QuantizeLinear"});
  AddAll(table, {TranslateDequantize, 2}, {"DequantizeLinear"});
  AddAll(table, {TranslateReshape}, {"Reshape"});
  AddAll(table, {TranslateFlatten}, {"Flatten"});
  AddAll(table, {TranslateSqueeze}, {"Squeeze"});
  AddAll(table, {TranslateUnsqueeze}, {"Unsqueeze"});
  AddAll(table, {TranslateTranspose}, {"Transpose"});
  AddAll(table, {TranslateConcat, 1, true}, {"Concat"});
  AddAll(table, {TranslateSplit}, {"Split"});
  AddAll(table, {TranslateSlice}, {"Slice"});
  AddAll(table, {TranslatePad}, {"Pad"});
  AddAll(table, {TranslateExpand, 2}, {"Expand"});
  AddAll(table, {TranslateTile, 2}, {"Tile"});
  AddAll(table, {TranslateGather, 2, true}, {"Gather"});
  AddAll(table, {TranslateDepthToSpace}, {"DepthToSpace", "SpaceToDepth"});
  AddAll(table, {TranslateResize}, {"Resize", "Upsample"});
  AddAll(table, {TranslateReduce},
         {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
          "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin"});
  AddAll(table, {TranslateSoftmax}, {"Softmax", "LogSoftmax", "Hardmax"});
  AddAll(
      table, {TranslateLayerNorm},
      {"LayerNormalization", "RMSNormalization", "LpNormalization", "MeanVarianceNormalization"});
  AddAll(table, {TranslateInstanceNorm, 3}, {"InstanceNormalization"});
  AddAll(table, {TranslateGroupNorm, 3}, {"GroupNormalization"});
  AddAll(table, {TranslateComparison, 1, true},
         {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not",
          "IsInf", "IsNaN"});
  AddAll(table, {TranslateElementwise, 1, true},
         {"Abs",        "Acos",      "Acosh",      "Add",      "Asin",
          "Asinh",      "Atan",      "Atanh",      "BitShift", "BitwiseAnd",
          "BitwiseNot", "BitwiseOr", "BitwiseXor", "Ceil",     "Celu",
          "Clip",       "Cos",       "Cosh",       "Div",      "Elu",
          "Erf",        "Exp",       "Floor",      "Gelu",     "HardSigmoid",
          "HardSwish",  "LeakyRelu", "Log",        "Max",      "Mean",
          "Min",        "Mish",      "Mod",        "Mul",      "Neg",
          "PRelu",      "Pow",       "Reciprocal", "Relu",     "Round",
          "Selu",       "Shrink",    "Sigmoid",    "Sign",     "Sin",
          "Sinh",       "Softplus",  "Softsign",   "Sqrt",     "Sub",
          "Sum",        "Swish",     "Tan",        "Tanh",     "ThresholdedRelu",
          "Where"});
  return table;
}

Table MakeMicrosoftTable() {
  Table table;
  AddAll(table, {TranslateConv, 2}, {"FusedConv"});
  AddAll(table, {TranslateMatMul, 2, true}, {"FusedMatMul"});
  AddAll(table, {TranslateSkipLayerNorm, 3, true},
         {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"});
  AddAll(table, {TranslateQuantize, 2}, {"QuantizeLinear"});
  AddAll(table, {TranslateDequantize, 2}, {"DequantizeLinear"});
  AddAll(table, {TranslatePool}, {"QLinearAveragePool"});
  AddAll(table, {TranslateGlobalPool}, {"QLinearGlobalAveragePool"});
  AddAll(table, {TranslateElementwise, 1, true}, {"Gelu", "FastGelu", "BiasGelu", "QuickGelu"});
  AddAll(table, {TranslateQLinear, 7, true}, {"QLinearAdd", "QLinearMul"});
  AddAll(table, {TranslateQLinear, 4}, {"QLinearSigmoid", "QLinearLeakyRelu"});
  AddAll(table, {TranslateQLinearConcat, 4, true}, {"QLinearConcat"});
  return table;
}

const Table& OnnxTable() {
  static const Table table = MakeOnnxTable();
  return table;
}

const Table& MicrosoftTable() {
  static const Table table = MakeMicrosoftTable();
  return table;
}

}  // namespace

const TranslationRule* FindTranslation(const common::Node& node) {
  if (!node.domain.empty() && node.domain != kMicrosoft) return nullptr;
  const Table& table = node.domain.empty() ? OnnxTable() : MicrosoftTable();
  const auto found = table.find(node.type);
  return found == table.end() ? nullptr : &found->second;
}

std::vector<std::string> TranslatedTypes() {
  std::vector<std::string> types;
  for (const auto& [type, rule] : OnnxTable()) types.emplace_back(type);
  for (const auto& [type, rule] : MicrosoftTable())
    types.push_back(std::string(kMicrosoft) + ":" + std::string(type));
  std::sort(types.begin(), types.end());
  return types;
}

}  // namespace tessera::graph::import::onnx
