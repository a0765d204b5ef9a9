// SPDX-License-Identifier: Apache-2.0

#include "examples.h"

namespace tessera::graph::onnx {
namespace {

using Ints = std::vector<int64_t>;
using Operand = ExampleOperand;

constexpr int64_t kOne = 1;

Operand Float(const Ints& shape) { return {shape, kFloat}; }
Operand Real(double value) { return {{}, kFloat, {value}}; }
Operand Reals(const std::vector<double>& values) {
  return {{static_cast<int64_t>(values.size())}, kFloat, values};
}
Operand Integers(const std::vector<double>& values) {
  return {{static_cast<int64_t>(values.size())}, kInt64, values};
}
Operand Integer(double value) { return {{}, kInt64, {value}}; }
Operand Byte(const Ints& shape) { return {shape, kUint8}; }
Operand LeftOut() { return {.shape = {}, .left_out = true}; }
// The scale and the zero point of a quantised operand.
Operand Scale() { return Real(0.5); }
Operand Zero() { return {{}, kUint8, {3}}; }

class Table {
 public:
  std::vector<Example> Run() {
    AddElementwise();
    AddConvolutions();
    AddPools();
    AddProducts();
    AddShapes();
    AddPieces();
    AddReductions();
    AddQuantised();
    AddBarriers();
    return std::move(examples_);
  }

 private:
  void Add(const std::string& type, std::vector<Operand> operands,
           std::vector<ExampleResult> results, Attributes attributes = {}, int64_t version = 13) {
    examples_.push_back(
        {type, version, std::move(operands), std::move(results), std::move(attributes)});
  }

  void AddElementwise() {
    const Ints map = {1, 4, 6, 6};
    for (const char* type : {"Abs",       "Acos",
                             "Acosh",     "Asin",
                             "Asinh",     "Atan",
                             "Atanh",     "Ceil",
                             "Celu",      "Cos",
                             "Cosh",      "Elu",
                             "Erf",       "Exp",
                             "Floor",     "HardSigmoid",
                             "LeakyRelu", "Log",
                             "Neg",       "Reciprocal",
                             "Relu",      "Round",
                             "Selu",      "Shrink",
                             "Sigmoid",   "Sign",
                             "Sin",       "Sinh",
                             "Softplus",  "Softsign",
                             "Sqrt",      "Tan",
                             "Tanh",      "ThresholdedRelu",
                             "Identity"})
      Add(type, {Float(map)}, {{map}});
    for (const char* type : {"HardSwish", "Mish", "Gelu", "Swish"})
      Add(type, {Float(map)}, {{map}}, {}, 24);
    for (const char* type : {"Gelu", "FastGelu", "QuickGelu"})
      Add(std::string("com.microsoft:") + type, {Float(map)}, {{map}});
    Add("com.microsoft:BiasGelu", {Float({2, 8}), Float({8})}, {{{2, 8}}});
    for (const char* type : {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mean", "Sum"}) {
      Add(type, {Float(map), Float({4, 1, 1})}, {{map}});
      Add(type, {Float({6, 6}), Float(map)}, {{map}});
      Add(type, {Float(map), Real(2)}, {{map}});
    }
    Add("Sum", {Float(map), Float({6}), Float(map)}, {{map}});
    Add("PRelu", {Float(map), Float({4, 1, 1})}, {{map}});
    Add("Mod", {Integers({7, 8}), Integer(3)}, {{{2}, kInt64}});
    Add("BitShift", {Byte({4}), Byte({4})}, {{{4}, kUint8}}, {{"direction", "LEFT"}});
    for (const char* type : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
      Add(type, {Byte({4}), Byte({4})}, {{{4}, kUint8}}, {}, 18);
    Add("BitwiseNot", {Byte({4})}, {{{4}, kUint8}}, {}, 18);
    for (const char* type : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
      Add(type, {Float(map), Float({1})}, {{map, kBool}});
    for (const char* type : {"And", "Or", "Xor"})
      Add(type, {{map, kBool}, {{6}, kBool}}, {{map, kBool}});
    Add("Not", {{map, kBool}}, {{map, kBool}});
    for (const char* type : {"IsInf", "IsNaN"}) Add(type, {Float(map)}, {{map, kBool}});
    Add("Where", {{map, kBool}, Float({4, 1, 1}), Float({1, 1, 6})}, {{map}});
    Add("Clip", {Float(map), Real(0), Real(6)}, {{map}});
    Add("Clip", {Float(map), LeftOut(), Real(6)}, {{map}});
    Add("Cast", {Float(map)}, {{map, kInt32}}, {{"to", int64_t{kInt32}}});
    Add("CastLike", {Float(map), {{3}, kInt32}}, {{map, kInt32}}, {}, 15);
    Add("Dropout", {Float(map), Real(0.5), {{}, kBool, {0}}}, {{map}, {map, kBool}});
    Add("BatchNormalization", {Float(map), Float({4}), Float({4}), Float({4}), Float({4})},
        {{map}});
  }

  void AddConvolutions() {
    const Ints map = {1, 4, 6, 6};
    Add("Conv", {Float(map), Float({8, 4, 3, 3}), Float({8})}, {{{1, 8, 4, 4}}});
    Add("Conv", {Float({1, 4, 9}), Float({4, 1, 3}), Float({4})}, {{{1, 4, 7}}},
        {{"group", int64_t{4}}});
    Add("Conv", {Float({1, 4, 5, 5, 5}), Float({2, 4, 3, 3, 3}), Float({2})}, {{{1, 2, 3, 3, 3}}});
    Add("ConvInteger", {Byte(map), Byte({8, 4, 3, 3}), Zero(), Zero()}, {{{1, 8, 4, 4}, kInt32}});
    Add("QLinearConv",
        {Byte(map),
         Scale(),
         Zero(),
         Byte({8, 4, 3, 3}),
         Scale(),
         Zero(),
         Scale(),
         Zero(),
         {{8}, kInt32}},
        {{{1, 8, 4, 4}, kUint8}});
    Add("ConvTranspose", {Float(map), Float({4, 8, 2, 2}), Float({8})}, {{{1, 8, 12, 12}}},
        {{"strides", Ints{2, 2}}});
    Add("com.microsoft:FusedConv",
        {Float(map), Float({8, 4, 3, 3}), Float({8}), Float({1, 8, 4, 4})}, {{{1, 8, 4, 4}}},
        {{"activation", "Relu"}});
    Add("com.microsoft:FusedConv", {Float(map), Float({8, 4, 3, 3}), Float({8})}, {{{1, 8, 4, 4}}},
        {{"activation", "Relu"}});
  }

  void AddPools() {
    const Ints map = {1, 4, 6, 6};
    const Attributes window = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
    for (const char* type : {"MaxPool", "AveragePool", "LpPool"})
      Add(type, {Float(map)}, {{{1, 4, 3, 3}}}, window);
    Add("MaxPool", {Float(map)}, {{{1, 4, 3, 3}}, {{1, 4, 3, 3}, kInt64}}, window);
    for (const char* type : {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"})
      Add(type, {Float(map)}, {{{1, 4, 1, 1}}});
    const std::vector<Operand> quantised = {Byte(map), Scale(), Zero(), Scale(), Zero()};
    Add("com.microsoft:QLinearAveragePool", quantised, {{{1, 4, 3, 3}, kUint8}}, window);
    Add("com.microsoft:QLinearGlobalAveragePool", quantised, {{{1, 4, 1, 1}, kUint8}});
  }

  void AddProducts() {
    Add("MatMul", {Float({2, 5, 8}), Float({8, 3})}, {{{2, 5, 3}}});
    Add("MatMul", {Float({2, 5, 8}), Float({2, 8, 3})}, {{{2, 5, 3}}});
    Add("MatMul", {Float({8}), Float({8})}, {{{}}});
    Add("MatMulInteger", {Byte({5, 8}), Byte({8, 3}), Zero(), Zero()}, {{{5, 3}, kInt32}});
    Add("QLinearMatMul",
        {Byte({5, 8}), Scale(), Zero(), Byte({8, 3}), Scale(), Zero(), Scale(), Zero()},
        {{{5, 3}, kUint8}});
    Add("Gemm", {Float({5, 8}), Float({8, 3}), Float({3})}, {{{5, 3}}});
    Add("Gemm", {Float({5, 8}), Float({3, 8}), Float({5, 1})}, {{{5, 3}}}, {{"transB", kOne}});
    Add("com.microsoft:FusedMatMul", {Float({5, 8}), Float({3, 8})}, {{{5, 3}}},
        {{"transB", kOne}});
    Add("com.microsoft:FusedMatMul", {Float({5, 2, 8}), Float({2, 8, 3})}, {{{2, 5, 3}}},
        {{"transBatchA", kOne}});
  }

  void AddShapes() {
    Add("Reshape", {Float({2, 3, 4}), Integers({6, 4})}, {{{6, 4}}});
    Add("Flatten", {Float({2, 3, 4})}, {{{2, 12}}});
    Add("Squeeze", {Float({2, 1, 4}), Integers({1})}, {{{2, 4}}});
    Add("Unsqueeze", {Float({2, 4}), Integers({1})}, {{{2, 1, 4}}});
    Add("Transpose", {Float({2, 3, 4})}, {{{4, 3, 2}}});
    Add("Transpose", {Float({2, 3, 4})}, {{{2, 3, 4}}}, {{"perm", Ints{0, 1, 2}}});
    Add("DepthToSpace", {Float({1, 8, 3, 3})}, {{{1, 2, 6, 6}}}, {{"blocksize", int64_t{2}}});
    Add("SpaceToDepth", {Float({1, 2, 6, 6})}, {{{1, 8, 3, 3}}}, {{"blocksize", int64_t{2}}});
  }

  void AddPieces() {
    const Ints map = {1, 4, 6, 6};
    Add("Concat", {Float({1, 2, 4}), Float({1, 3, 4}), Float({1, 1, 4})}, {{{1, 6, 4}}},
        {{"axis", kOne}});
    Add("Split", {Float({2, 7}), Integers({3, 4})}, {{{2, 3}}, {{2, 4}}}, {{"axis", kOne}});
    Add("Split", {Float({2, 7}), Integers({7})}, {{{2, 7}}}, {{"axis", kOne}});
    Add("Slice", {Float({2, 7}), Integers({1}), Integers({5}), Integers({1}), Integers({2})},
        {{{2, 2}}});
    Add("Slice", {Float({2, 7}), Integers({0}), Integers({7}), Integers({1})}, {{{2, 7}}});
    Add("Pad", {Float({2, 7}), Integers({0, 1, 0, 2}), Real(0)}, {{{2, 10}}});
    Add("Pad", {Float({2, 7}), Integers({0, 0, 0, 0}), Real(0)}, {{{2, 7}}});
    Add("Pad", {Float({2, 7}), Integers({1, 2}), Real(0), Integers({1})}, {{{2, 10}}}, {}, 18);
    Add("Expand", {Float({2, 1}), Integers({2, 3})}, {{{2, 3}}});
    Add("Expand", {Float({2, 3}), Integers({2, 3})}, {{{2, 3}}});
    Add("Tile", {Float({2, 3}), Integers({1, 2})}, {{{2, 6}}});
    Add("Tile", {Float({2, 3}), Integers({1, 1})}, {{{2, 3}}});
    Add("Gather", {Float({5, 3}), Integers({4, 0})}, {{{2, 3}}});
    Add("Gather", {Float({5, 3}), Integers({1, 0})}, {{{5, 2}}}, {{"axis", kOne}});
    const Operand scales = Reals({1, 1, 2, 2});
    Add("Resize", {Float(map), LeftOut(), scales}, {{{1, 4, 12, 12}}});
    Add("Resize", {Float(map), Reals({0, 0, 0, 0, 1, 1, 1, 1}), scales}, {{{1, 4, 12, 12}}});
    Add("Resize", {Float(map), LeftOut(), LeftOut(), Integers({1, 4, 9, 9})}, {{{1, 4, 9, 9}}});
    Add("Resize", {Float(map), Reals({0, 0, 0, 0, 1, 1, 1, 1}), Reals({1, 1, 1, 1})}, {{map}});
    Add("Upsample", {Float(map), scales}, {{{1, 4, 12, 12}}}, {}, 9);
  }

  void AddReductions() {
    for (const char* type : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                             "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"})
      Add(type, {Float({2, 3, 4}), Integers({1})}, {{{2, 1, 4}}}, {}, 18);
    Add("ReduceSum", {Float({2, 3, 4}), Integers({1})}, {{{2, 1, 4}}});
    Add("ReduceSum", {Float({2, 3, 4}), {{0}, kInt64}}, {{{2, 3, 4}}},
        {{"noop_with_empty_axes", kOne}});
    for (const char* type : {"ArgMax", "ArgMin"})
      Add(type, {Float({2, 3, 4})}, {{{2, 1, 4}, kInt64}}, {{"axis", kOne}});
    Add("CumSum", {Float({2, 3}), Integer(1)}, {{{2, 3}}});
    Add("TopK", {Float({2, 8}), Integers({3})}, {{{2, 3}}, {{2, 3}, kInt64}});
    for (const char* type : {"Softmax", "LogSoftmax", "Hardmax"})
      Add(type, {Float({2, 8})}, {{{2, 8}}});
    Add("LayerNormalization", {Float({2, 8}), Float({8}), Float({8})}, {{{2, 8}}}, {}, 17);
    Add("RMSNormalization", {Float({2, 8}), Float({8})}, {{{2, 8}}}, {}, 23);
    Add("LpNormalization", {Float({2, 8})}, {{{2, 8}}});
    Add("MeanVarianceNormalization", {Float({1, 4, 6, 6})}, {{{1, 4, 6, 6}}});
    Add("InstanceNormalization", {Float({1, 4, 6, 6}), Float({4}), Float({4})}, {{{1, 4, 6, 6}}});
    Add("GroupNormalization", {Float({1, 4, 6, 6}), Float({4}), Float({4})}, {{{1, 4, 6, 6}}},
        {{"num_groups", int64_t{2}}}, 21);
    const std::vector<Operand> skip = {Float({1, 2, 8}), Float({1, 2, 8}), Float({8}), Float({8}),
                                       Float({8})};
    Add("com.microsoft:SkipLayerNormalization", skip, {{{1, 2, 8}}});
    Add("com.microsoft:SkipSimplifiedLayerNormalization", {skip[0], skip[1], skip[2], skip[4]},
        {{{1, 2, 8}}});
  }

  void AddQuantised() {
    const Ints map = {1, 4, 6, 6};
    for (const char* domain : {"", "com.microsoft:"}) {
      Add(std::string(domain) + "QuantizeLinear", {Float(map), Scale(), Zero()}, {{map, kUint8}});
      Add(std::string(domain) + "DequantizeLinear", {Byte(map), Scale(), Zero()}, {{map}});
    }
    const std::vector<Operand> both = {Byte(map), Scale(), Zero(),  Byte(map),
                                       Scale(),   Zero(),  Scale(), Zero()};
    for (const char* type : {"QLinearAdd", "QLinearMul"})
      Add(std::string("com.microsoft:") + type, both, {{map, kUint8}});
    Add("com.microsoft:QLinearConcat",
        {Scale(), Zero(), Byte({1, 2, 6}), Scale(), Zero(), Byte({1, 3, 6}), Scale(), Zero()},
        {{{1, 5, 6}, kUint8}}, {{"axis", kOne}});
    for (const char* type : {"QLinearSigmoid", "QLinearLeakyRelu"})
      Add(std::string("com.microsoft:") + type, {Byte(map), Scale(), Zero(), Scale(), Zero()},
          {{map, kUint8}});
  }

  // Types that are barriers whatever their operands.
  void AddBarriers() {
    Add("GatherElements", {Float({2, 3}), {{2, 2}, kInt64, {0, 1, 1, 0}}}, {{{2, 2}}},
        {{"axis", kOne}});
    Add("GatherND", {Float({2, 3}), {{4, 1}, kInt64, {0, 1, 1, 0}}}, {{{4, 3}}});
    Add("ScatterND", {Float({4, 3}), {{2, 1}, kInt64, {0, 2}}, Float({2, 3})}, {{{4, 3}}});
    Add("OneHot", {Integers({1, 0, 2}), Integer(4), Reals({0, 1})}, {{{3, 4}}});
    Add("Range", {Integer(0), Integer(6), Integer(2)}, {{{3}, kInt64}});
    Add("ConstantOfShape", {Integers({2, 3})}, {{{2, 3}}});
    Add("Einsum", {Float({2, 8, 16}), Float({2, 16, 8})}, {{{2, 8, 8}}},
        {{"equation", "bij,bjk->bik"}});
    Add("DynamicQuantizeLinear", {Float({2, 3})}, {{{2, 3}, kUint8}, {{}, kFloat}, {{}, kUint8}},
        {}, 11);
    const Operand lengths = {{1}, kInt32, {5}};
    Add("LSTM",
        {Float({5, 1, 8}), Float({1, 64, 8}), Float({1, 64, 16}), Float({1, 128}), lengths,
         Float({1, 1, 16}), Float({1, 1, 16}), Float({1, 48})},
        {{{5, 1, 1, 16}}, {{1, 1, 16}}, {{1, 1, 16}}}, {{"hidden_size", int64_t{16}}});
    Add("GRU", {Float({5, 1, 8}), Float({1, 48, 8}), Float({1, 48, 16})},
        {{{5, 1, 1, 16}}, {{1, 1, 16}}}, {{"hidden_size", int64_t{16}}});
    Add("my.domain:Warp", {Float({2, 3}), Float({2}), Float({})}, {{{2, 3}}, {{3}}});
  }

  std::vector<Example> examples_;
};

}  // namespace

std::vector<Example> Examples() { return Table().Run(); }

std::vector<std::string> AddExample(ModelBuilder& model, const Example& example,
                                    const std::vector<std::string>& operands,
                                    const std::string& name) {
  std::vector<std::string> results;
  for (size_t i = 0; i < example.results.size(); ++i) {
    results.push_back(i == 0 ? name : name + "_" + std::to_string(i));
    const ExampleResult& result = example.results[i];
    model.Declare(results.back(), {result.shape.begin(), result.shape.end()}, result.type);
  }
  model.AddMany(example.type, operands, results, example.attributes);
  return results;
}

}  // namespace tessera::graph::onnx
