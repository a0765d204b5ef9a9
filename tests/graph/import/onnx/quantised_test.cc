// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>

#include "model_builder.h"

// Operators that move elements are between quantised operators and have no conversions of their
// own. They keep the quantised type, in whatever form the file writes its conversions.
namespace tessera::graph::onnx {
namespace {

using Ints = std::vector<int64_t>;
using base::DataType;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Pieces of quantised models.
class QuantisedTest : public testing::Test {
 protected:
  QuantisedTest() {
    model_.Weight("scale", {});
    model_.Weight("zero", {}, kUint8);
  }

  std::string Quantise(const std::string& value, const std::string& scale = "scale") {
    return model_.Add("QuantizeLinear", {value, scale, "zero"}, value + "_q" + scale);
  }
  std::string Dequantise(const std::string& value, const std::string& scale = "scale") {
    return model_.Add("DequantizeLinear", {value, scale, "zero"}, value + "_dq" + scale);
  }
  std::string Pair(const std::string& value) { return Dequantise(Quantise(value)); }

  std::string Weight(const std::string& name, const Ints& shape) {
    return Dequantise(model_.Weight(name, shape, kUint8));
  }
  std::string Conv(const std::string& x, const std::string& name) {
    return model_.Add("Conv", {x, Weight(name + ".w", {4, 4, 1, 1})}, name);
  }
  std::string QLinearConv(const std::string& x, const std::string& name) {
    model_.Weight(name + ".w", {4, 4, 1, 1}, kUint8);
    return model_.Add("QLinearConv",
                      {x, "scale", "zero", name + ".w", "scale", "zero", "scale", "zero"}, name);
  }
  std::string QLinearMatMul(const std::string& x, Ints weight, const std::string& name) {
    model_.Weight(name + ".w", weight, kUint8);
    return model_.Add("QLinearMatMul",
                      {x, "scale", "zero", name + ".w", "scale", "zero", "scale", "zero"}, name);
  }

  // A chain of operators that move or select, from [1, 4, 8, 8] to [1, 4 * 4 * 4].
  std::string Move(const std::string& x) {
    const std::string pooled = model_.Add("MaxPool", {x}, x + "_pooled",
                                          {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
    const std::string turned =
        model_.Add("Transpose", {pooled}, x + "_turned", {{"perm", Ints{0, 2, 3, 1}}});
    const std::string longer =
        model_.Add("Unsqueeze", {turned, model_.Integers(x + ".axis", {0})}, x + "_longer");
    const std::string shorter =
        model_.Add("Squeeze", {longer, model_.Integers(x + ".axis2", {0})}, x + "_shorter");
    const std::string cut =
        model_.Add("Slice",
                   {shorter, model_.Integers(x + ".from", {0}), model_.Integers(x + ".to", {2}),
                    model_.Integers(x + ".along", {1})},
                   x + "_cut");
    const std::string doubled =
        model_.Add("Concat", {cut, cut}, x + "_doubled", {{"axis", int64_t{1}}});
    return model_.Add("Flatten", {doubled}, x + "_flat");
  }

  Graph GraphOf(const std::string& output, int type = kFloat) {
    model_.Output(output, {}, type);
    return MustImportGraph(model_);
  }

  static void ExpectAllBytes(const Graph& graph) {
    for (const Tensor& tensor : graph.tensors)
      EXPECT_EQ(tensor.type, DataType::kUint8) << tensor.id << " of\n" << Describe(graph);
    EXPECT_THAT(Describe(graph), AllOf(Not(HasSubstr("quantize")), Not(HasSubstr("identity"))));
  }

  ModelBuilder model_;
};

TEST_F(QuantisedTest, ChainsBetweenPairsKeepTheType) {
  model_.Input("x", {1, 4, 8, 8});
  const std::string moved = Move(Pair(Conv(Pair("x"), "c")));
  ExpectAllBytes(GraphOf(Pair(model_.Add("MatMul", {moved, Weight("m.w", {64, 3})}, "m"))));
}

TEST_F(QuantisedTest, ChainsWithAConversionBehindThemAloneAreRoundedBefore) {
  model_.Input("x", {1, 4, 8, 8});
  const std::string moved = Pair(Move(Conv(Pair("x"), "c")));
  ExpectAllBytes(GraphOf(Pair(model_.Add("MatMul", {moved, Weight("m.w", {64, 3})}, "m"))));
}

TEST_F(QuantisedTest, ChainsBetweenQLinearOperatorsKeepTheType) {
  model_.Input("x", {1, 4, 8, 8}, kUint8);
  const std::string moved = Move(QLinearConv("x", "c"));
  ExpectAllBytes(GraphOf(QLinearMatMul(moved, {64, 3}, "m"), kUint8));
}

TEST_F(QuantisedTest, ChainsThatConvertAtTheirEndsKeepTheType) {
  model_.Input("x", {1, 4, 8, 8}, kUint8);
  const std::string moved = Move(Dequantise(QLinearConv("x", "c")));
  ExpectAllBytes(GraphOf(QLinearMatMul(Quantise(moved), {64, 3}, "m"), kUint8));
}

TEST_F(QuantisedTest, FromAQLinearOperatorToAPairTheTypeIsKept) {
  model_.Input("x", {1, 4, 8, 8}, kUint8);
  const std::string moved = Move(Dequantise(QLinearConv("x", "c")));
  ExpectAllBytes(GraphOf(Pair(model_.Add("MatMul", {moved, Weight("m.w", {64, 3})}, "m"))));
}

TEST_F(QuantisedTest, ANetworkInputIsReadInItsOwnType) {
  model_.Input("x", {1, 4, 8, 8}, kUint8);
  ExpectAllBytes(GraphOf(Pair(Conv(Dequantise("x"), "c"))));
}

TEST_F(QuantisedTest, PartsOfAConcatenationAreReadAsTheyAre) {
  model_.Input("x", {1, 4, 8, 8}, kUint8);
  const std::string a = Dequantise(QLinearConv("x", "a"));
  const std::string b = Dequantise(QLinearConv("x", "b"));
  model_.Add("Concat", {a, b}, "joined", {{"axis", int64_t{1}}});
  ExpectAllBytes(GraphOf(Quantise("joined"), kUint8));
}

// One part leaves the network as real numbers, so the other part keeps its type too.
TEST_F(QuantisedTest, PartsOfAConcatenationAreConvertedTogetherOrNotAtAll) {
  model_.Input("x", {1, 4, 8, 8}, kUint8);
  const std::string a = Dequantise(QLinearConv("x", "a"));
  const std::string b = Dequantise(QLinearConv("x", "b"));
  model_.Add("Concat", {a, b}, "joined", {{"axis", int64_t{1}}});
  model_.Output(a);
  const Graph graph = GraphOf(Quantise("joined"), kUint8);
  EXPECT_EQ(TensorNamed(graph, a).type, DataType::kFloat32);
  EXPECT_EQ(TensorNamed(graph, b).type, DataType::kFloat32);
}

// The conversion states another scale than that of its operand: it is work, and stays.
TEST_F(QuantisedTest, ARequantisationIsComputed) {
  model_.Real("one", 1.0);
  model_.Real("half", 0.5);
  model_.Input("x", {1, 4, 8, 8}, kUint8);
  const std::string real = Dequantise(QLinearConv("x", "c"), "one");
  const std::string flat = model_.Add("Flatten", {real}, "flat");
  const Graph graph = GraphOf(QLinearMatMul(Quantise(flat, "half"), {256, 3}, "m"), kUint8);
  EXPECT_EQ(Describe(graph),
            "conv then quantize (x, c.w) -> c [1, 4, 8, 8]\nreshape (c) -> flat_qhalf [1, 256]\n"
            "matmul (flat_qhalf, m.w) -> m [1, 3]\n");
  EXPECT_EQ(TensorNamed(graph, "flat_qhalf").type, DataType::kUint8);
}

TEST_F(QuantisedTest, APairThatRoundsTwiceIsNoPair) {
  model_.Real("one", 1.0);
  model_.Real("half", 0.5);
  model_.Input("x", {1, 4, 8, 8});
  const std::string c = model_.Add("Relu", {"x"}, "c");
  const std::string rounded = Dequantise(Quantise(c, "one"), "half");
  model_.Add("Softmax", {rounded}, "y");
  const Graph graph = GraphOf("y");
  EXPECT_EQ(Describe(graph),
            "elementwise relu (x) -> c_qone_dqhalf [1, 4, 8, 8]\n"
            "softmax (c_qone_dqhalf) -> y [1, 4, 8, 8]\n");
  EXPECT_EQ(TensorNamed(graph, rounded).type, DataType::kFloat32)
      << "both conversions are done on the way";
}

TEST_F(QuantisedTest, WhatComputesInRealNumbersKeepsThem) {
  model_.Input("x", {1, 4, 8, 8}, kUint8);
  model_.Add("Softmax", {Dequantise(QLinearConv("x", "c"))}, "y");
  const Graph graph = GraphOf("y");
  EXPECT_EQ(graph.operators.size(), 2U) << Describe(graph);
  EXPECT_EQ(
      TensorNamed(graph, graph.tensors[static_cast<size_t>(graph.operators[0].outputs[0])].id).type,
      DataType::kFloat32);
}

TEST_F(QuantisedTest, TwoOutputsOfOnePairAreBothThere) {
  model_.Input("x", {1, 4, 8, 8});
  const std::string q = Quantise(Conv(Pair("x"), "c"));
  model_.Add("DequantizeLinear", {q, "scale", "zero"}, "y1");
  model_.Add("DequantizeLinear", {q, "scale", "zero"}, "y2");
  model_.Output("y1");
  const Graph graph = GraphOf("y2");
  EXPECT_EQ(Describe(graph),
            "conv (x, c.w) -> y1 [1, 4, 8, 8]\nelementwise identity (y1) -> y2 [1, 4, 8, 8]\n");
}

}  // namespace
}  // namespace tessera::graph::onnx
