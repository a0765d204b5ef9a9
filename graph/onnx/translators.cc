#include "tessera/graph/onnx/translators.h"

#include <string_view>
#include <unordered_map>

namespace tessera::graph::onnx {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

using Table = std::unordered_map<std::string_view, Translator>;

void AddAll(Table& table, Translator translator, std::initializer_list<std::string_view> types) {
  for (const std::string_view type : types) table.emplace(type, translator);
}

Table MakeOnnxTable() {
  Table table = {{"ConvTranspose", TranslateTransposedConv},
                 {"Gemm", TranslateGemm},
                 {"BatchNormalization", TranslateBatchNorm},
                 {"QuantizeLinear", TranslateQuantize},
                 {"DequantizeLinear", TranslateDequantize},
                 {"Reshape", TranslateReshape},
                 {"Flatten", TranslateFlatten},
                 {"Squeeze", TranslateSqueeze},
                 {"Unsqueeze", TranslateUnsqueeze},
                 {"Transpose", TranslateTranspose},
                 {"Concat", TranslateConcat},
                 {"Split", TranslateSplit},
                 {"Slice", TranslateSlice},
                 {"Pad", TranslatePad},
                 {"Expand", TranslateExpand},
                 {"Tile", TranslateTile},
                 {"Gather", TranslateGather},
                 {"InstanceNormalization", TranslateInstanceNorm},
                 {"GroupNormalization", TranslateGroupNorm}};
  AddAll(table, TranslateConv, {"Conv", "ConvInteger", "QLinearConv"});
  AddAll(table, TranslatePool, {"MaxPool", "AveragePool", "LpPool"});
  AddAll(table, TranslateGlobalPool, {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"});
  AddAll(table, TranslateMatMul, {"MatMul", "MatMulInteger", "QLinearMatMul"});
  AddAll(table, TranslateCast, {"Cast", "CastLike"});
  AddAll(table, TranslateIdentity, {"Identity", "Dropout"});
  AddAll(table, TranslateDepthToSpace, {"DepthToSpace", "SpaceToDepth"});
  AddAll(table, TranslateResize, {"Resize", "Upsample"});
  AddAll(table, TranslateReduce,
         {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
          "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin"});
  AddAll(table, TranslateSoftmax, {"Softmax", "LogSoftmax", "Hardmax"});
  AddAll(table, TranslateLayerNorm,
         {"LayerNormalization", "RMSNormalization", "LpNormalization", "MeanVarianceNormalization"});
  AddAll(table, TranslateComparison,
         {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not", "IsInf",
          "IsNaN"});
  AddAll(table, TranslateElementwise, {"Abs",        "Acos",      "Acosh",      "Add",      "Asin",
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
  Table table = {{"FusedConv", TranslateConv},
                 {"FusedMatMul", TranslateMatMul},
                 {"SkipLayerNormalization", TranslateSkipLayerNorm},
                 {"SkipSimplifiedLayerNormalization", TranslateSkipLayerNorm},
                 {"QuantizeLinear", TranslateQuantize},
                 {"DequantizeLinear", TranslateDequantize},
                 {"QLinearAveragePool", TranslatePool},
                 {"QLinearGlobalAveragePool", TranslateGlobalPool}};
  AddAll(table, TranslateElementwise, {"Gelu", "FastGelu", "BiasGelu", "QuickGelu"});
  AddAll(table, TranslateQLinear, {"QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu"});
  return table;
}

}  // namespace

Translator FindTranslator(const Node& node) {
  static const Table onnx = MakeOnnxTable();
  static const Table microsoft = MakeMicrosoftTable();
  if (!node.domain.empty() && node.domain != kMicrosoft) return nullptr;
  const Table& table = node.domain.empty() ? onnx : microsoft;
  const auto found = table.find(node.type);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tessera::graph::onnx
