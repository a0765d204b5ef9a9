// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <array>
#include <string_view>

#include "model_builder.h"

// Operators that become part of another operator, and operators that do not.
namespace tessera::graph::onnx {
namespace {

using Ints = std::vector<int64_t>;
using testing::HasSubstr;
using testing::Not;

// A model in which "c" is a convolution of x to [1, 4, 8, 8].
class FuseTest : public testing::Test {
 protected:
  FuseTest() {
    model_.Input("x", {1, 4, 8, 8});
    model_.Weight("w", {4, 4, 1, 1});
    model_.Add("Conv", {"x", "w"}, "c");
  }
  std::string Add(const std::string& type, const std::vector<std::string>& inputs,
                  const std::string& output) {
    return model_.Add(type, inputs, output);
  }
  std::string GraphOf(const std::string& output) {
    model_.Output(output);
    return Describe(MustImportGraph(model_));
  }
  ModelBuilder model_;
};

TEST_F(FuseTest, BatchNormAndActivation) {
  for (const char* part : {"scale", "shift", "mean", "variance"}) model_.Weight(part, {4});
  Add("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, "n");
  Add("Relu", {"n"}, "y");
  EXPECT_EQ(GraphOf("y"), "conv then relu (x, w) -> y [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, ABiasByTheChannel) {
  Add("Add", {"c", model_.Weight("bias", {1, 4, 1, 1})}, "y");
  EXPECT_EQ(GraphOf("y"), "conv (x, w) -> y [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, NotAnAddendOfAnotherForm) {
  Add("Add", {"c", model_.Weight("map", {1, 1, 8, 8})}, "y");
  EXPECT_EQ(GraphOf("y"),
            "conv (x, w) -> c [1, 4, 8, 8]\nelementwise add (c, map) -> y [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, AnActivationOfSeveralOperators) {
  Add("Mul", {"c", Add("Sigmoid", {"c"}, "s")}, "y");
  EXPECT_EQ(GraphOf("y"), "conv then silu (x, w) -> y [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, HardSwishSpelledOut) {
  Add("Add", {"c", model_.Real("three", 3)}, "a");
  model_.Real("zero", 0);
  model_.Real("six", 6);
  Add("Clip", {"a", "zero", "six"}, "b");
  Add("Div", {Add("Mul", {"c", "b"}, "m"), "six"}, "y");
  EXPECT_EQ(GraphOf("y"), "conv then hard_swish (x, w) -> y [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, NotWhatAnotherReads) {
  Add("Relu", {"c"}, "r");
  Add("Add", {"c", "r"}, "s");
  model_.Output("c");
  EXPECT_EQ(GraphOf("s"),
            "conv (x, w) -> c [1, 4, 8, 8]\nelementwise relu (c) -> r [1, 4, 8, 8]\nelementwise "
            "add (c, r) "
            "-> s [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, ClipOfZeroAndSixIsRelu6) {
  model_.Real("zero", 0);
  model_.Real("six", 6);
  Add("Clip", {"c", "zero", "six"}, "y");
  EXPECT_EQ(GraphOf("y"), "conv then relu6 (x, w) -> y [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, ASkipGoesOnWithItsActivation) {
  Add("Relu", {Add("Add", {"c", "x"}, "s")}, "y");
  EXPECT_EQ(GraphOf("y"),
            "conv (x, w) -> c [1, 4, 8, 8]\nelementwise add then relu (c, x) -> y [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, IdentityAndDropoutVanish) {
  Add("Relu", {Add("Dropout", {Add("Identity", {"c"}, "i")}, "d")}, "y");
  EXPECT_EQ(GraphOf("y"), "conv then relu (x, w) -> y [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, AnOutputKeepsItsName) {
  Add("Identity", {"c"}, "y");
  EXPECT_EQ(GraphOf("y"), "conv (x, w) -> y [1, 4, 8, 8]\n");
}

TEST_F(FuseTest, ReshapesInARowAreOne) {
  Add("Reshape", {"c", model_.Integers("a", {1, 4, 64})}, "r");
  Add("Reshape", {"r", model_.Integers("b", {4, 64})}, "y");
  EXPECT_EQ(GraphOf("y"), "conv (x, w) -> c [1, 4, 8, 8]\nreshape (c) -> y [4, 64]\n");
}

TEST_F(FuseTest, ATransposeOfAxesOfExtentOneIsAReshape) {
  Add("Reshape", {"c", model_.Integers("a", {1, 4, 64})}, "r");
  model_.Add("Transpose", {"r"}, "y", {{"perm", Ints{1, 0, 2}}});
  EXPECT_EQ(GraphOf("y"), "conv (x, w) -> c [1, 4, 8, 8]\nreshape (c) -> y [4, 1, 64]\n");
}

TEST_F(FuseTest, ATransposeThatIsPartOfAnotherStaysOne) {
  model_.Add("Transpose", {"c"}, "t", {{"perm", Ints{1, 0, 2, 3}}});
  model_.Add("Transpose", {"t"}, "y", {{"perm", Ints{0, 1, 3, 2}}});
  EXPECT_EQ(GraphOf("y"), "conv (x, w) -> c [1, 4, 8, 8]\ntranspose (c) -> y [4, 1, 8, 8]\n");
}

TEST(Fuse, ATransposeThatKeepsTheShapeIsNothing) {
  ModelBuilder model;
  model.Input("x", {1, 1, 8});
  model.Weight("w", {8, 12});
  model.Add("Transpose", {"x"}, "t", {{"perm", Ints{1, 0, 2}}});
  model.Add("MatMul", {"t", "w"}, "y");
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)), "matmul (x, w) -> y [1, 1, 12]\n");
}

// x [1, 6, 8] -> [6, 1, 8] x [8, 12] -> [6, 1, 12] -> the shape of y
std::string Between(const Shape& x, const Shape& turned, const Shape& wanted) {
  ModelBuilder model;
  model.Input("x", {x.begin(), x.end()});
  model.Weight("w", {8, 12});
  model.Add("Reshape", {"x", model.Integers("a", turned)}, "r");
  model.Add("MatMul", {"r", "w"}, "p");
  model.Add("Reshape", {"p", model.Integers("b", wanted)}, "y");
  model.Output("y");
  return Describe(MustImportGraph(model));
}

TEST(Fuse, AProductBetweenReshapesTakesTheShapeWithoutThem) {
  EXPECT_EQ(Between({1, 6, 8}, {6, 1, 8}, {1, 6, 12}), "matmul (x, w) -> y [1, 6, 12]\n");
  EXPECT_EQ(Between({1, 6, 8}, {6, 1, 8}, {6, 1, 3, 4}),
            "matmul (x, w) -> p [1, 6, 12]\nreshape (p) -> y [6, 1, 3, 4]\n");
}

TEST(Fuse, AProductKeepsTheShapeWithMoreRows) {
  EXPECT_EQ(Between({6, 1, 8}, {1, 6, 8}, {6, 1, 12}),
            "reshape (x) -> r [1, 6, 8]\nmatmul (r, w) -> p [1, 6, 12]\n"
            "reshape (p) -> y [6, 1, 12]\n");
  EXPECT_EQ(Between({1, 2, 24}, {6, 8}, {1, 6, 12}),
            "reshape (x) -> r [6, 8]\nmatmul (r, w) -> p [6, 12]\nreshape (p) -> y [1, 6, 12]\n");
}

TEST_F(FuseTest, WhatHasNoReaderIsDropped) {
  Add("Exp", {"c"}, "unread");
  Add("Relu", {"c"}, "y");
  model_.Output("y");
  const import::common::Import import = MustImport(model_);
  EXPECT_EQ(Describe(import.graph), "conv then relu (x, w) -> y [1, 4, 8, 8]\n");
  EXPECT_EQ(import.notes, (std::vector<std::string>{"dropped, 1: unread (no output depends on it)",
                                                    "fused, 1: y (relu into c)"}));
}

TEST(Fuse, GeluInEitherSpelling) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Weight("w", {8, 8});
  model.Add("MatMul", {"x", "w"}, "p");
  const std::string cube = model.Add("Pow", {"p", model.Real("three", 3)}, "cube");
  const std::string small = model.Add("Mul", {cube, model.Real("c0", 0.044715)}, "small");
  const std::string sum = model.Add("Add", {"p", small}, "sum");
  const std::string scaled = model.Add("Mul", {sum, model.Real("c1", 0.797885)}, "scaled");
  const std::string shifted =
      model.Add("Add", {model.Add("Tanh", {scaled}, "tanh"), model.Real("one", 1)}, "shifted");
  const std::string half = model.Add("Mul", {"p", model.Real("c2", 0.5)}, "half");
  model.Add("Mul", {half, shifted}, "y");
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)), "matmul then gelu (x, w) -> y [4, 8]\n");
}

TEST(Fuse, ALayerNormSpelledOutIsOne) {
  ModelBuilder model;
  model.Input("x", {1, 6, 8});
  const Attributes last = {{"axes", Ints{-1}}};
  const std::string centred =
      model.Add("Sub", {"x", model.Add("ReduceMean", {"x"}, "mean", last)}, "centred");
  const std::string square = model.Add("Mul", {centred, centred}, "square");
  const std::string shifted = model.Add(
      "Add", {model.Add("ReduceMean", {square}, "variance", last), model.Real("eps", 1e-5)},
      "shifted");
  model.Add("Div", {centred, model.Add("Sqrt", {shifted}, "root")}, "normed");
  model.Add("Mul", {"normed", model.Weight("scale", {8})}, "scaled");
  model.Add("Add", {"scaled", model.Weight("bias", {8})}, "y");
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)), "layer_norm (x, scale, bias) -> y [1, 6, 8]\n");
}

// The variance as mean(x * x) - m * m, the root inverted as exporters of torch.rsqrt do.
TEST(Fuse, ALayerNormOfMeansOfSquaresIsOne) {
  ModelBuilder model;
  model.Input("x", {1, 6, 8});
  const Attributes last = {{"axes", Ints{-1}}};
  const std::string mean = model.Add("ReduceMean", {"x"}, "mean", last);
  const std::string square = model.Add("Pow", {"x", model.Real("two", 2)}, "square");
  const std::string variance = model.Add("Sub",
                                         {model.Add("ReduceMean", {square}, "mean_square", last),
                                          model.Add("Mul", {mean, mean}, "square_of_mean")},
                                         "variance");
  const std::string root =
      model.Add("Sqrt", {model.Add("Add", {variance, model.Real("eps", 1e-5)}, "shifted")}, "root");
  const std::string inverse = model.Add("Div", {model.Real("one", 1), root}, "inverse");
  model.Add("Mul", {model.Add("Sub", {"x", mean}, "centred"), inverse}, "y");
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)), "layer_norm (x) -> y [1, 6, 8]\n");
}

// The same operators that compute something else stay as they are.
class Formula : public testing::TestWithParam<std::array<const char*, 4>> {};

TEST_P(Formula, OfSimilarOperatorsIsNoNormalization) {
  const auto& [difference, square, root, quotient] = GetParam();
  ModelBuilder model;
  model.Input("x", {1, 6, 8});
  const Attributes last = {{"axes", Ints{-1}}};
  const std::string mean = model.Add("ReduceMean", {"x"}, "mean", last);
  const std::string d = model.Add(difference, {"x", mean}, "d");
  const bool is_power = std::string_view(square) == "Pow";
  const std::string squares =
      model.Add(square, {d, is_power ? model.Real("three", 3) : d}, "squares");
  const std::string shifted = model.Add(
      "Add", {model.Add("ReduceMean", {squares}, "variance", last), model.Real("e", 1e-5)},
      "shifted");
  const std::string s = model.Add(root, {shifted}, "s");
  const bool turns = std::string_view(quotient) == "turned";
  model.Add("Div", {turns ? s : d, turns ? d : s}, "y");
  model.Output("y");
  EXPECT_THAT(Describe(MustImportGraph(model)), Not(HasSubstr("layer_norm")));
}

INSTANTIATE_TEST_SUITE_P(Other, Formula,
                         testing::Values(std::array{"Sub", "Mul", "Sqrt", "turned"},
                                         std::array{"Sub", "Mul", "Exp", "Div"},
                                         std::array{"Sub", "Pow", "Sqrt", "Div"},
                                         std::array{"Sub", "Add", "Sqrt", "Div"},
                                         std::array{"Add", "Mul", "Sqrt", "Div"}),
                         [](const auto& info) { return "Number" + std::to_string(info.index); });

TEST(Weights, SharedByTwoAreOneTensor) {
  ModelBuilder model;
  model.Input("x", {1, 4, 8, 8});
  model.Weight("w", {4, 4, 1, 1});
  model.Add("Conv", {"x", "w"}, "a");
  model.Add("Conv", {"a", model.Add("Identity", {"w"}, "same")}, "y");
  model.Output("y");
  const Graph graph = MustImportGraph(model);
  EXPECT_EQ(graph.operators[0].weights, graph.operators[1].weights);
  EXPECT_EQ(graph.tensors.size(), 4U);
}

// x -> Q -> DQ -> Q -> DQ -> relu: the second pair rounds in another way, and is computed.
TEST(Quantization, PairsThatRoundInAnotherWayAreComputed) {
  ModelBuilder model;
  model.Input("x", {1, 4});
  std::string value = "x";
  for (const double scale : {0.1, 0.2}) {
    const std::string name = model.Real("scale" + std::to_string(scale), scale);
    value = model.Add("QuantizeLinear", {value, name}, "q" + name);
    value = model.Add("DequantizeLinear", {value, name}, "dq" + name);
  }
  model.Add("Relu", {value}, "y");
  model.Output("y");
  EXPECT_THAT(Describe(MustImportGraph(model)), HasSubstr("quantize"));
}

// x -> Q -> DQ -> conv (weights DQ) -> relu -> Q -> DQ -> y
TEST(Quantization, PairsSetDataTypes) {
  ModelBuilder model;
  model.Input("x", {1, 4, 8, 8});
  model.Weight("scale", {});
  model.Weight("zero", {}, kInt8);
  model.Weight("w8", {4, 4, 1, 1}, kInt8);
  const auto pair = [&model](const std::string& value) {
    model.Add("QuantizeLinear", {value, "scale", "zero"}, value + "_q");
    return model.Add("DequantizeLinear", {value + "_q", "scale", "zero"}, value + "_dq");
  };
  const std::string w = model.Add("DequantizeLinear", {"w8", "scale", "zero"}, "w");
  const std::string c = model.Add("Conv", {pair("x"), w}, "c");
  pair(model.Add("Relu", {c}, "r"));
  model.Output("r_dq");
  const import::common::Import import = MustImport(model);
  EXPECT_EQ(Describe(import.graph), "conv then relu (x, w8) -> r_dq [1, 4, 8, 8]\n");
  for (const Tensor& tensor : import.graph.tensors)
    EXPECT_EQ(tensor.type, base::DataType::kInt8) << tensor.id;
  EXPECT_THAT(import.notes, testing::Contains(HasSubstr("x: it is handed in as int8")));
  EXPECT_THAT(import.notes, testing::Contains(HasSubstr("r_dq: it is handed out as int8")));
}

TEST(Quantization, ALoneConversionIsDoneByTheOperatorBefore) {
  ModelBuilder model;
  model.Input("x", {1, 4, 8, 8}, kUint8);
  for (const char* scale : {"s0", "s1", "s2"}) model.Weight(scale, {});
  model.Weight("zero", {}, kUint8);
  model.Weight("w", {4, 4, 1, 1}, kUint8);
  model.Add("QLinearConv", {"x", "s0", "zero", "w", "s1", "zero", "s2", "zero"}, "c");
  model.Add("DequantizeLinear", {"c", "s2", "zero"}, "y");
  model.Output("y");
  const Graph graph = MustImportGraph(model);
  EXPECT_EQ(Describe(graph), "conv (x, w) -> y [1, 4, 8, 8]\n");
  EXPECT_EQ(TensorNamed(graph, "y").type, base::DataType::kFloat32);
}

TEST(Quantization, OfSharedValuesStays) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("Relu", {"x"}, "r");
  model.Add("QuantizeLinear", {"r", model.Weight("scale", {}), model.Weight("zero", {}, kInt8)},
            "q");
  model.Output("r");
  model.Output("q", {}, kInt8);
  EXPECT_EQ(Describe(MustImportGraph(model)),
            "elementwise relu (x) -> r [4, 8]\nelementwise quantize (r) -> q [4, 8]\n");
}

TEST(Floats, MayBePlannedAsAnotherType) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("Relu", {"x"}, "y");
  model.Output("y");
  import::common::ImportOptions options;
  options.floats_as = base::DataType::kInt8;
  EXPECT_EQ(TensorNamed(MustImportGraph(model, options), "y").type, base::DataType::kInt8);
}

// Rows and columns are split into blocks and phases, and the phases become images: kind and shape
// of the result, with the axes in this order.
std::string SpaceToBatch(const Ints& order, const Ints& images,
                         const Ints& parts = {1, 3, 4, 2, 2, 4}) {
  ModelBuilder model;
  model.Input("x", {1, 3, 7, 8});
  model.Integers("pads", {0, 0, 1, 0, 0, 0, 0, 0});
  model.Add("Pad", {"x", "pads"}, "padded");
  model.Integers("parts", parts);
  model.Add("Reshape", {"padded", "parts"}, "split");
  model.Add("Transpose", {"split"}, "turned", {{"perm", order}});
  model.Integers("images", images);
  model.Add("Reshape", {"turned", "images"}, "y");
  model.Output("y");
  return Describe(MustImportGraph(model));
}

TEST(SpaceToBatch, IsOneOperator) {
  EXPECT_EQ(SpaceToBatch({3, 5, 0, 1, 2, 4}, {8, 3, 4, 2}),
            "pad (x) -> padded [1, 3, 8, 8]\nspace_to_batch (padded) -> y [8, 3, 4, 2]\n");
}

TEST(SpaceToBatch, SplitsRowsOrColumnsAlone) {
  EXPECT_EQ(SpaceToBatch({3, 0, 1, 2, 4}, {2, 3, 4, 8}, {1, 3, 4, 2, 8}),
            "pad (x) -> padded [1, 3, 8, 8]\nspace_to_batch (padded) -> y [2, 3, 4, 8]\n");
  EXPECT_EQ(SpaceToBatch({4, 0, 1, 2, 3}, {4, 3, 8, 2}, {1, 3, 8, 2, 4}),
            "pad (x) -> padded [1, 3, 8, 8]\nspace_to_batch (padded) -> y [4, 3, 8, 2]\n");
}

TEST(SpaceToBatch, OfOnePhaseIsAReshape) {
  EXPECT_EQ(SpaceToBatch({3, 5, 0, 1, 2, 4}, {1, 3, 8, 8}, {1, 3, 8, 1, 8, 1}),
            "pad (x) -> padded [1, 3, 8, 8]\nreshape (padded) -> turned [1, 1, 1, 3, 8, 8]\n"
            "reshape (turned) -> y [1, 3, 8, 8]\n");
}

TEST(SpaceToBatch, FollowsAReshape) {
  ModelBuilder model;
  model.Input("x", {1, 3, 64});
  model.Integers("map", {1, 3, 8, 8});
  model.Add("Reshape", {"x", "map"}, "square");
  model.Integers("parts", {1, 3, 4, 2, 2, 4});
  model.Add("Reshape", {"square", "parts"}, "split");
  model.Add("Transpose", {"split"}, "turned", {{"perm", Ints{3, 5, 0, 1, 2, 4}}});
  model.Integers("images", {8, 3, 4, 2});
  model.Add("Reshape", {"turned", "images"}, "y");
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)),
            "reshape (x) -> square [1, 3, 8, 8]\nspace_to_batch (square) -> y [8, 3, 4, 2]\n");
}

TEST(SpaceToBatch, IsNoOtherOrderOfThePhases) {
  EXPECT_THAT(SpaceToBatch({5, 3, 0, 1, 2, 4}, {8, 3, 4, 2}), HasSubstr("transpose (split)"));
  EXPECT_THAT(SpaceToBatch({3, 5, 0, 1, 2, 4}, {8, 3, 2, 4}), HasSubstr("transpose (split)"));
}

}  // namespace
}  // namespace tessera::graph::onnx
