// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/ops/shape_inference.h"
#include "tessera/graph/regions.h"

// Every kind of operator: the shape of its result, its work, and the same graph again from its
// JSON.
namespace tessera::graph {
namespace {

// A network of the one operator `line` on x [2, 4, 8, 6] and, where the line names it, m [3, 8, 5].
std::string NetworkOf(const std::string& line) {
  return "schema: 1\nname: n\ninputs:\n  - {id: x, shape: [2, 4, 8, 6]}\n" +
         std::string(line.find("[m") != std::string::npos || line.find(", m]") != std::string::npos
                         ? "  - {id: m, shape: [3, 8, 5]}\n"
                         : "") +
         "operators:\n  - {id: y, " + line + "}\n";
}

struct Kind {
  std::string name;
  std::string line;
  Shape shape;
  int64_t macs = 0;
};

class EveryKind : public testing::TestWithParam<Kind> {};

TEST_P(EveryKind, HasItsShapeAndItsWorkAndReadsBackFromJson) {
  const base::Expected<Graph> graph =
      import::yaml::ReadNetwork(NetworkOf(GetParam().line), "n.yaml");
  ASSERT_TRUE(graph) << base::Format(graph.error());
  EXPECT_EQ(ops::ToText(graph->tensors[static_cast<size_t>(*FindTensor(*graph, "y"))].shape),
            ops::ToText(GetParam().shape));
  EXPECT_EQ(MacsOf(*graph, graph->operators[0]), GetParam().macs);
  const base::Expected<Graph> again =
      import::yaml::ReadNetwork(import::yaml::WriteNetworkJson(*graph), "n.json");
  ASSERT_TRUE(again) << base::Format(again.error());
  EXPECT_EQ(*again, *graph);
}

INSTANTIATE_TEST_SUITE_P(
    Operators, EveryKind,
    testing::Values(
        // 8 rows in steps of 2 make 14, plus a kernel of 3; 6 columns make 10, plus 3; a pad of 1
        // is subtracted at either end, and one row is added.
        Kind{"TransposedConv",
             "kind: transposed_conv, inputs: [x], out_channels: 5, kernel: 3, stride: 2, pads: [1, "
             "1], "
             "output_padding: [1, 0]",
             {2, 5, 16, 11},
             (2 * 5 * 16 * 11 * 4 * 9 + 3) / 4},
        Kind{"TransposedConvSame",
             "kind: transposed_conv, inputs: [x], out_channels: 4, groups: 2, kernel: 2, stride: "
             "3, pads: "
             "same",
             {2, 4, 24, 18},
             (2 * 4 * 24 * 18 * 2 * 4 + 8) / 9},
        Kind{"Pool", "kind: pool, inputs: [x], kernel: 3, stride: 2", {2, 4, 3, 2}},
        Kind{"PoolRoundedUp",
             "kind: pool, inputs: [x], kernel: 3, stride: 2, ceil_mode: true",
             {2, 4, 4, 3}},
        // A third window of 3 in steps of 4 would begin at 8, behind the last row, in the high pad.
        Kind{"PoolThatBeginsInThePad",
             "kind: pool, inputs: [x], kernel: [3, 1], stride: [4, 1], pads: [0, 0, 1, 0], "
             "ceil_mode: true",
             {2, 4, 2, 6}},
        Kind{"PoolOfStatedSize",
             "kind: pool, inputs: [x], kernel: [3, 1], stride: [4, 1], pads: [0, 0, 1, 0], size: "
             "[3, 6]",
             {2, 4, 3, 6}},
        Kind{"Reduce", "kind: reduce, inputs: [x], function: mean, axis: [1, 3]", {2, 1, 8, 1}},
        Kind{"ReduceAndDrop",
             "kind: reduce, inputs: [x], function: max, axis: 2, keep_axes: false",
             {2, 4, 6}},
        Kind{"Softmax", "kind: softmax, inputs: [x], axis: [2, 3]", {2, 4, 8, 6}},
        Kind{"Slice",
             "kind: slice, inputs: [x], starts: [0, 3, 7, 1], steps: [1, -1, -2, 2], shape: [2, 4, "
             "4, 3]",
             {2, 4, 4, 3}},
        Kind{"Pad",
             "kind: pad, inputs: [x], low: [0, 0, 1, 2], high: [0, 0, 3, 0], mode: reflect",
             {2, 4, 12, 8}},
        Kind{"Gather", "kind: gather, inputs: [x], axis: 2, indices: [7, 0, 7]", {2, 4, 3, 6}},
        Kind{"GatherOne", "kind: gather, inputs: [x], axis: 1, indices: 3", {2, 8, 6}},
        Kind{"MatmulOfTransposed",
             "kind: matmul, inputs: [m], columns: 7, transpose_first: true",
             {3, 5, 7},
             3 * 5 * 7 * 8},
        Kind{"MatmulOfBothTransposed",
             "kind: matmul, inputs: [m, m], transpose_first: true",
             {3, 5, 5},
             3 * 5 * 5 * 8},
        Kind{"Resize",
             "kind: resize, inputs: [x], size: [4, 9], mode: cubic, coordinates: align_corners",
             {2, 4, 4, 9}},
        Kind{"ResizeByScales",
             "kind: resize, inputs: [m], scales: [3/2, 2/3], rounding: ceil",
             {3, 12, 3}},
        Kind{"DepthToSpace",
             "kind: depth_to_space, inputs: [x], block: 2, order: crd",
             {2, 1, 16, 12}},
        Kind{"SpaceToDepth", "kind: space_to_depth, inputs: [x], block: 2", {2, 16, 4, 3}},
        Kind{"Cumsum",
             "kind: cumsum, inputs: [x], axis: 2, exclusive: true, reverse: true",
             {2, 4, 8, 6}},
        Kind{"SpaceToBatch", "kind: space_to_batch, inputs: [x], block: [4, 3]", {24, 4, 2, 2}},
        Kind{"TopK", "kind: top_k, inputs: [x], axis: 3, k: 2", {2, 4, 8, 2}},
        Kind{"TopKIndices",
             "kind: top_k, inputs: [m], axis: 1, k: 8, largest: false, sorted: false, result: "
             "indices",
             {3, 8, 5}},
        Kind{"Described",
             "kind: opaque, inputs: [x, m], accesses: [{kernel: 3, pads: [1, 1], every_channel: "
             "true}, full], "
             "outputs: [{id: y, shape: [2, 5, 8, 6]}], macs: 1000, scratch_bytes: 64, engine: npu, "
             "in_place: "
             "[0]",
             {2, 5, 8, 6},
             1000}),
    [](const auto& info) { return info.param.name; });

struct Slip {
  std::string name;
  std::string line;
  std::string message;
};

class SlipOfKind : public testing::TestWithParam<Slip> {};

TEST_P(SlipOfKind, IsRefused) {
  const base::Expected<Graph> graph =
      import::yaml::ReadNetwork(NetworkOf(GetParam().line), "n.yaml");
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Operators, SlipOfKind,
    testing::Values(
        Slip{"PadsThatLeaveNothing",
             "kind: transposed_conv, inputs: [x], out_channels: 5, kernel: 1, pads: [4, 0]",
             "pads leave nothing of the rows"},
        Slip{"PoolOfTooManyRows", "kind: pool, inputs: [x], kernel: 3, stride: 2, size: [5, 2]",
             "5 rows"},
        Slip{"AxesOutOfOrder", "kind: softmax, inputs: [x], axis: [3, 2]", "axes out of order"},
        Slip{"SliceBehindTheEnd",
             "kind: slice, inputs: [x], starts: [0, 0, 0, 3], steps: [1, 1, 1, 2], shape: [2, 4, "
             "8, 3]",
             "3 elements from 3 in steps of 2 leave axis 3 of 6"},
        Slip{"SliceThatStands",
             "kind: slice, inputs: [x], starts: [0, 0, 0, 3], steps: [1, 1, 1, 0], shape: [2, 4, "
             "8, 3]",
             "a step of 0"},
        Slip{"PadsOfTooFewAxes", "kind: pad, inputs: [x], low: [1, 1]", "a list of 2 for 4 axes"},
        Slip{"GatherBehindTheEnd", "kind: gather, inputs: [x], axis: 3, indices: [0, 6]",
             "index 6 of an axis of 6"},
        Slip{"ScaleOfNothing", "kind: resize, inputs: [x], scales: [0/2]", "scale '0/2'"},
        Slip{"ScaleThatLeavesNothing", "kind: resize, inputs: [x], scales: [1/9]",
             "nothing is left of the 6 along axis 3"},
        Slip{"BlockThatDoesNotDivide", "kind: space_to_depth, inputs: [x], block: 4",
             "blocks of 4 do not divide 6 columns"},
        Slip{"SumsAlongNoAxis", "kind: cumsum, inputs: [x], axis: 4",
             "axis 4 of an input of shape [2, 4, 8, 6]"},
        Slip{"BlockThatDoesNotDivideTheRows", "kind: space_to_batch, inputs: [x], block: [3, 2]",
             "blocks of 3 do not divide 8 rows"},
        Slip{"MoreThanThereAre", "kind: top_k, inputs: [x], axis: 3, k: 7", "7 of an axis of 6"},
        Slip{"TopOfTwoAxes", "kind: top_k, inputs: [x], axis: [2, 3], k: 1", "2 axes"},
        Slip{"IndicesOfFloats",
             "kind: top_k, inputs: [x], axis: 3, k: 1, result: indices, dtype: float32",
             "operator 'y' makes indices up to 5 of dtype float32"},
        Slip{"IndicesOfTruthValues",
             "kind: top_k, inputs: [x], axis: 3, k: 1, result: indices, dtype: bool",
             "operator 'y' makes indices up to 5 of dtype bool"},
        Slip{"AccessOfAnotherShape",
             "kind: opaque, inputs: [x], accesses: [elementwise], outputs: [{id: y, shape: [2, 4, "
             "8, 7]}]",
             "shapes [2, 4, 8, 6] and [2, 4, 8, 7] do not agree"},
        Slip{"TooFewAccesses",
             "kind: opaque, inputs: [x, m], accesses: [full], outputs: [{id: y, shape: [2]}]",
             "1 accesses for 2 inputs"},
        Slip{"BarrierInPlace",
             "kind: opaque, inputs: [x], in_place: [0], outputs: [{id: y, shape: [2]}]",
             "a place to overwrite in a barrier"}),
    [](const auto& info) { return info.param.name; });

base::Expected<Graph> IndicesOf(int64_t extent, const std::string& keys) {
  return import::yaml::ReadNetwork(
      "schema: 1\nname: n\ninputs: [{id: x, shape: [" + std::to_string(extent) +
          "]}]\noperators:\n  - {id: y, kind: top_k, inputs: [x], axis: 0, k: 1, result: indices" +
          keys + "}\n",
      "n.yaml");
}

TEST(TopK, IndicesFitIntoTheirDataType) {
  const struct {
    std::string type;
    int64_t most;  // extent of the axis
  } cases[] = {{"int4", 8}, {"int8", 128}, {"uint8", 256}, {"int16", 32768}};
  for (const auto& [type, most] : cases) {
    EXPECT_TRUE(IndicesOf(most, ", dtype: " + type)) << type;
    EXPECT_FALSE(IndicesOf(most + 1, ", dtype: " + type)) << type;
    EXPECT_TRUE(IndicesOf(most + 1, ", activation: cast, dtype: " + type)) << type;
  }
  EXPECT_TRUE(IndicesOf(int64_t{1} << 40, ", dtype: int64"));
}

// The default data type of the network is int8.
TEST(TopK, ADefaultThatDoesNotHoldTheIndicesIsRefusedAtTheResult) {
  const base::Expected<Graph> graph = IndicesOf(200, "");
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "operator 'y' makes indices up to 199 of dtype int8");
  EXPECT_EQ(graph.error().expected, "a dtype of the operator, one of uint8, int16, int32, int64");
  EXPECT_EQ(graph.error().hint, "the smallest is dtype: uint8");
  EXPECT_EQ(graph.error().line, 5);
  EXPECT_EQ(graph.error().column, 62);
}

// y reads x [1, 3] with the constant t.
std::string AlongATable(const std::string& table, const std::string& shape) {
  return "schema: 1\nname: n\ninputs: [{id: x, shape: [1, 3]}]\nconstants: [{id: t, shape: " +
         table +
         "}]\noperators:\n  - {id: y, kind: elementwise, function: add, inputs: [x], weights: [t]" +
         (shape.empty() ? "" : ", shape: " + shape) + "}\n";
}

TEST(Elementwise, MayHaveTheExtentsOfItsConstantsWhereItStatesThem) {
  const base::Expected<Graph> graph =
      import::yaml::ReadNetwork(AlongATable("[4, 5, 1]", "[4, 5, 3]"), "n.yaml");
  ASSERT_TRUE(graph) << base::Format(graph.error());
  EXPECT_EQ(graph->tensors.back().shape, (Shape{4, 5, 3}));
  const base::Expected<Graph> again =
      import::yaml::ReadNetwork(import::yaml::WriteNetworkJson(*graph), "n.json");
  ASSERT_TRUE(again) << base::Format(again.error());
  EXPECT_EQ(*again, *graph);
  const base::Expected<Graph> silent =
      import::yaml::ReadNetwork(AlongATable("[4, 5, 1]", ""), "n.yaml");
  ASSERT_TRUE(silent) << base::Format(silent.error());
  EXPECT_EQ(silent->tensors.back().shape, (Shape{1, 3})) << "the constant is a table of any shape";
}

TEST(Elementwise, HasNoExtentThatNothingHas) {
  for (const char* shape : {"[4, 6, 3]", "[5, 3]", "[4, 5, 6]"}) {
    const base::Expected<Graph> graph =
        import::yaml::ReadNetwork(AlongATable("[4, 5, 1]", shape), "n.yaml");
    ASSERT_FALSE(graph) << shape;
    EXPECT_NE(graph.error().message.find("has an output of shape [1, 3]"), std::string::npos)
        << base::Format(graph.error());
  }
}

TEST(Outputs, MayBeInputsAndConstants) {
  const std::string text = AlongATable("[3]", "") + "outputs: [y, x, t]\n";
  const base::Expected<Graph> graph = import::yaml::ReadNetwork(text, "n.yaml");
  ASSERT_TRUE(graph) << base::Format(graph.error());
  for (const Tensor& tensor : graph->tensors) EXPECT_TRUE(tensor.network_output) << tensor.id;
  const base::Expected<Graph> again =
      import::yaml::ReadNetwork(import::yaml::WriteNetworkJson(*graph), "n.json");
  ASSERT_TRUE(again) << base::Format(again.error());
  EXPECT_EQ(*again, *graph);
}

// Every kind and every key that it has.
TEST(OperatorKinds, AreAllInTheReference) {
  std::ostringstream text;
  text << std::ifstream(std::string(EXAMPLES_FOLDER) + "/../docs/network-format.md").rdbuf();
  const std::string reference = text.str();
  for (const std::string_view name : base::OperatorKindNames()) {
    EXPECT_NE(reference.find("`" + std::string(name) + "`"), std::string::npos) << name;
    Operator op;
    ops::Wanted wanted;
    op.kind = *base::ParseOperatorKind(name);
    for (const size_t operands : {1, 2}) {
      for (const ops::Field& field : ops::DefinitionOf(op.kind).fields(op, wanted, operands)) {
        EXPECT_NE(reference.find("`" + std::string(field.key) + "`"), std::string::npos)
            << name << ": " << field.key;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::graph
