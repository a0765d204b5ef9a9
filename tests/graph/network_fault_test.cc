// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tessera/graph/import/yaml/network_yaml.h"

// Faults of a network: message, place and cure.
namespace tessera::graph {
namespace {

// A network around `operators`, which begin on line 5.
std::string Around(const std::string& operators, const std::string& tail = "") {
  return "schema: 1\n"
         "name: n\n"
         "inputs: [{id: x, shape: [1, 4, 8, 8]}]\n"
         "operators:\n" +
         operators + tail;
}

base::Diagnostic FaultOf(const std::string& text) {
  const base::Expected<Graph> graph = import::yaml::ReadNetwork(text, "n.yaml");
  if (graph) {
    ADD_FAILURE() << "accepted:\n" << text;
    return {};
  }
  return graph.error();
}

struct Expectation {
  int line = 0;
  int column = 0;
  std::string message;
  std::string cure;  // part of what is expected, or of the hint
};

void ExpectFault(const std::string& text, const Expectation& expected) {
  const base::Diagnostic fault = FaultOf(text);
  EXPECT_EQ(fault.file, "n.yaml");
  EXPECT_EQ(fault.line, expected.line) << base::Format(fault);
  EXPECT_EQ(fault.column, expected.column) << base::Format(fault);
  EXPECT_EQ(fault.message, expected.message);
  EXPECT_NE((fault.expected + "|" + fault.hint).find(expected.cure), std::string::npos)
      << base::Format(fault);
}

TEST(NetworkFault, UnknownKind) {
  ExpectFault(Around("  - {id: a, kind: cnov, inputs: [x], out_channels: 4, kernel: 1}\n"),
              {5, 19, "unknown name 'cnov'", "did you mean 'conv'?"});
}

TEST(NetworkFault, UnknownKey) {
  ExpectFault(
      Around("  - {id: a, kind: conv, inputs: [x], out_channels: 4, kernel: 1, strde: 2}\n"),
      {5, 66, "unknown key 'strde'", "did you mean 'stride'?"});
}

TEST(NetworkFault, KeyOfAnotherKind) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [x], kernel: 1, groups: 2}\n"),
              {5, 49, "unknown key 'groups'", "kernel"});
}

TEST(NetworkFault, AChosenEngineWithoutItsName) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [x], kernel: 1, engine_chosen: true}\n"),
              {5, 64, "'engine_chosen' without 'engine'", "both keys, or neither"});
}

TEST(NetworkFault, BytesByARatioThatAreNotStated) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [x], kernel: 1}\n",
                     "constants: [{id: w, shape: [1], stored_by_ratio: true}]\n"),
              {6, 50, "'stored_by_ratio' without 'stored_bytes'", "both keys, or neither"});
}

TEST(NetworkFault, UnknownInput) {
  ExpectFault(Around("  - {id: stem, kind: pool, inputs: [x], kernel: 1}\n"
                     "  - {id: b, kind: pool, inputs: [stme], kernel: 1}\n"),
              {6, 34, "unknown input 'stme'", "did you mean 'stem'?"});
}

TEST(NetworkFault, ConstantAsInput) {
  ExpectFault(Around("  - {id: a, kind: elementwise, function: add, inputs: [x, w]}\n",
                     "constants: [{id: w, shape: [1]}]\n"),
              {5, 59, "constant 'w' as an input", "under 'weights'"});
}

TEST(NetworkFault, DuplicateOperator) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [x], kernel: 1}\n"
                     "  - {id: a, kind: pool, inputs: [x], kernel: 1}\n"),
              {6, 10, "duplicate operator id 'a'", "a name of its own"});
}

TEST(NetworkFault, OperatorNamedLikeAnInput) {
  ExpectFault(Around("  - {id: x, kind: pool, inputs: [x], kernel: 1}\n"),
              {5, 10, "duplicate tensor id 'x'", "a name of its own"});
}

TEST(NetworkFault, CycleIsNamed) {
  ExpectFault(
      Around("  - {id: a, kind: elementwise, function: add, inputs: [x, c]}\n"
             "  - {id: b, kind: pool, inputs: [a], kernel: 1}\n"
             "  - {id: c, kind: pool, inputs: [b], kernel: 1}\n"),
      {6, 33, "operators depend on each other in a cycle: b -> c -> a -> b", "made before"});
}

TEST(NetworkFault, OperatorThatReadsItself) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [a], kernel: 1}\n"),
              {5, 33, "operators depend on each other in a cycle: a -> a", "made before"});
}

TEST(NetworkFault, ElementwiseShapes) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [x], kernel: 3}\n"
                     "  - {id: b, kind: elementwise, function: add, inputs: [x, a]}\n"),
              {6, 55, "shapes [1, 4, 8, 8] and [1, 4, 6, 6] do not agree", "equal extents, or 1"});
}

TEST(NetworkFault, ConcatShapes) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [x], kernel: 3}\n"
                     "  - {id: b, kind: concat, axis: 1, inputs: [x, a]}\n"),
              {6, 44, "shapes [1, 4, 8, 8] and [1, 4, 6, 6] do not agree", "every axis but 1"});
}

TEST(NetworkFault, MatmulKExtents) {
  ExpectFault(Around("  - {id: a, kind: reshape, inputs: [x], shape: [32, 8]}\n"
                     "  - {id: b, kind: reshape, inputs: [x], shape: [16, 16]}\n"
                     "  - {id: c, kind: matmul, inputs: [a, b]}\n"),
              {7, 35, "shapes [32, 8] and [16, 16] do not agree", "a depth of 8"});
}

TEST(NetworkFault, StatedShape) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [x], kernel: 3, shape: [1, 4, 8, 8]}\n"),
              {5, 56, "operator 'a' has an output of shape [1, 4, 6, 6]", "[1, 4, 6, 6]"});
}

TEST(NetworkFault, ReshapeElements) {
  ExpectFault(Around("  - {id: a, kind: reshape, inputs: [x], shape: [1, 255]}\n"),
              {5, 48, "shape [1, 255] does not hold the elements of [1, 4, 8, 8]", "256 elements"});
}

TEST(NetworkFault, KernelLargerThanPaddedInput) {
  ExpectFault(
      Around("  - {id: a, kind: conv, inputs: [x], out_channels: 4, kernel: 5, dilation: 3}\n"),
      {5, 63, "kernel reaches over 13 rows of a padded input of 8", "pad more"});
}

TEST(NetworkFault, GroupsThatDoNotDivide) {
  ExpectFault(
      Around("  - {id: a, kind: conv, inputs: [x], out_channels: 6, kernel: 1, groups: 3}\n"),
      {5, 74, "3 groups do not divide 4 input channels", "a divisor of 4"});
}

TEST(NetworkFault, MissingAttribute) {
  ExpectFault(Around("  - {id: a, kind: conv, inputs: [x], kernel: 1}\n"),
              {5, 5, "missing key 'out_channels' in 'item 1 of operators'", "an integer from 1"});
}

TEST(NetworkFault, MissingInputsAndAlternatives) {
  ExpectFault(Around("  - {id: a, kind: conv, out_channels: 4, kernel: 1}\n"),
              {5, 5, "missing key 'inputs' in 'item 1 of operators'", "a list"});
  ExpectFault(Around("  - {id: a, kind: softmax, inputs: [x]}\n"),
              {5, 5, "missing key 'axis' in 'item 1 of operators'", "an integer|"});
  ExpectFault(Around("  - {id: a, kind: resize, inputs: [x]}\n"),
              {5, 5, "missing key 'size'", "size or scales"});
}

TEST(NetworkFault, AnOperatorIsNoSuggestionForItsOwnInput) {
  EXPECT_EQ(FaultOf(Around("  - {id: yy, kind: pool, inputs: [yz], kernel: 1}\n")).hint, "");
  EXPECT_EQ(FaultOf(Around("  - {id: yy, kind: pool, inputs: [xx], kernel: 1}\n")).hint,
            "did you mean 'x'?");
}

TEST(NetworkFault, ZeroExtent) {
  ExpectFault("schema: 1\nname: n\ninputs:\n  - {id: x, shape: [1, 0, 8]}\noperators: []\n",
              {4, 24, "out of range", "an integer from 1"});
}

TEST(NetworkFault, NegativeStride) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [x], kernel: 1, stride: -1}\n"),
              {5, 57, "out of range", "an integer from 1 to 65536"});
}

TEST(NetworkFault, ShapeBeyondCounting) {
  ExpectFault(
      "schema: 1\nname: n\ninputs:\n  - {id: x, shape: [1073741824, 1073741824]}\noperators: []\n",
      {4, 20, "shape [1073741824, 1073741824] is too large", "2^56"});
}

TEST(NetworkFault, OutputBeyondCounting) {
  ExpectFault(Around("  - {id: a, kind: resize, inputs: [x], size: [72057594037927936, 1]}\n"),
              {5, 10, "output of shape [1, 4, 72057594037927936, 1] is too large", "2^56"});
}

TEST(NetworkFault, MultiplyAccumulatesBeyondCounting) {
  ExpectFault(
      "schema: 1\nname: n\ninputs: [{id: x, shape: [1, 134217728, 1, 1]}]\noperators:\n"
      "  - {id: a, kind: resize, inputs: [x], size: [1, 134217728]}\n"
      "  - {id: b, kind: conv, inputs: [a], out_channels: 134217728, kernel: 1}\n",
      {6, 10, "multiply-accumulates of the network pass 2^62", "2^62"});
}

TEST(NetworkFault, UnreadTensorNextToListedOutputs) {
  ExpectFault(Around("  - {id: a, kind: pool, inputs: [x], kernel: 1}\n"
                     "  - {id: b, kind: pool, inputs: [x], kernel: 1}\n",
                     "outputs: [a]\n"),
              {6, 10, "no operator reads tensor 'b', and it is no network output",
               "an entry in 'outputs'"});
}

TEST(NetworkFault, UnknownOutput) {
  ExpectFault(Around("  - {id: first, kind: pool, inputs: [x], kernel: 1}\n", "outputs: [frist]\n"),
              {6, 11, "unknown output 'frist'", "did you mean 'first'?"});
}

TEST(NetworkFault, SharedWeightsOfAnotherShape) {
  ExpectFault(
      Around("  - {id: a, kind: conv, inputs: [x], out_channels: 4, kernel: 3}\n"
             "  - {id: b, kind: conv, inputs: [x], out_channels: 8, kernel: 3, weights: a}\n"),
      {6, 75, "weights of shape [4, 4, 3, 3] do not fit operator 'b'", "[8, 4, 3, 3]"});
}

TEST(NetworkFault, NoHintNamesTheOperatorItself) {
  const base::Diagnostic fault = FaultOf(
      Around("  - {id: a, kind: conv, inputs: [x], out_channels: 4, kernel: 3, weights: z}\n"));
  EXPECT_EQ(fault.message, "unknown weights 'z'");
  EXPECT_EQ(fault.hint, "");
}

TEST(NetworkFault, WeightsOfABorrower) {
  ExpectFault(
      Around("  - {id: a, kind: conv, inputs: [x], out_channels: 4, kernel: 1, weights: b}\n"
             "  - {id: b, kind: conv, inputs: [a], out_channels: 4, kernel: 1, weights: a}\n"),
      {5, 75, "operator 'b' has no weights of its own", "owns its weights"});
}

TEST(NetworkFault, WrongNumberOfInputs) {
  ExpectFault(Around("  - {id: a, kind: softmax, axis: 1, inputs: [x, x]}\n"),
              {5, 45, "2 inputs for operator 'a'", "exactly 1"});
}

TEST(NetworkFault, AxisOutsideTheShape) {
  ExpectFault(Around("  - {id: a, kind: softmax, axis: 4, inputs: [x]}\n"),
              {5, 34, "axis 4 of an input of shape [1, 4, 8, 8]", "0 to 3"});
  ExpectFault(Around("  - {id: a, kind: concat, axis: -1, inputs: [x]}\n"),
              {5, 33, "axis -1 of an input of shape [1, 4, 8, 8]",
               "0 to 3|axes count from the first: write 3"});
  ExpectFault(Around("  - {id: a, kind: gather, axis: 1, indices: -2, inputs: [x]}\n"),
              {5, 45, "index -2 of an axis of 4", "0 to 3"});
}

TEST(NetworkFault, UnknownSchema) {
  ExpectFault("schema: 2\nname: n\noperators: []\n", {1, 9, "out of range", "1"});
}

TEST(NetworkFault, TruncatedFile) {
  const base::Diagnostic fault = FaultOf(Around("  - {id: a, kind: conv, inputs: [x"));
  EXPECT_EQ(fault.file, "n.yaml");
  EXPECT_GE(fault.line, 5);
}

TEST(NetworkFault, EmptyFile) { EXPECT_EQ(FaultOf("").file, "n.yaml"); }

TEST(NetworkReader, OperatorsMayStandInAnyOrder) {
  const base::Expected<Graph> graph =
      import::yaml::ReadNetwork(Around("  - {id: c, kind: pool, inputs: [b], kernel: 1}\n"
                                       "  - {id: a, kind: pool, inputs: [x], kernel: 1}\n"
                                       "  - {id: b, kind: pool, inputs: [a], kernel: 1}\n"),
                                "n.yaml");
  ASSERT_TRUE(graph);
  std::string order;
  for (const Operator& op : graph->operators) order += op.id;
  EXPECT_EQ(order, "abc");
}

TEST(NetworkReader, AliasesRepeatAttributes) {
  const base::Expected<Graph> graph = import::yaml::ReadNetwork(
      Around(
          "  - {id: a, kind: conv, inputs: [x], out_channels: &many 16, kernel: &square [3, 3]}\n"
          "  - {id: b, kind: conv, inputs: [a], out_channels: *many, kernel: *square}\n"),
      "n.yaml");
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->tensors.back().shape, (Shape{1, 16, 4, 4}));
}

TEST(NetworkReader, UnreadTensorsAreOutputsByDefault) {
  const base::Expected<Graph> graph = import::yaml::ReadNetwork(
      Around("  - {id: a, kind: pool, inputs: [x], kernel: 1}\n"), "n.yaml");
  ASSERT_TRUE(graph);
  EXPECT_TRUE(graph->tensors.back().network_output);
}

TEST(NetworkReader, SamePadsGiveTheCeilingAndPutTheOddOneBelow) {
  const base::Expected<Graph> graph = import::yaml::ReadNetwork(
      Around("  - {id: a, kind: pool, inputs: [x], kernel: 3, stride: 2, pads: same}\n"), "n.yaml");
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->tensors.back().shape, (Shape{1, 4, 4, 4}));
  EXPECT_EQ(graph->operators[0].window.pad_low[0], 0);
  EXPECT_EQ(graph->operators[0].window.pad_high[0], 1);
}

TEST(NetworkReader, UserKeysComeBackUntouched) {
  const base::Expected<Graph> graph = import::yaml::ReadNetwork(
      Around("  - {id: a, kind: pool, inputs: [x], kernel: 1, x-note: \"two\\nlines\"}\n",
             "x-owner: me\n"),
      "n.yaml");
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->annotations.at("x-owner"), "me");
  EXPECT_EQ(graph->operators[0].annotations.at("x-note"), "two\nlines");
  const base::Expected<Graph> again =
      import::yaml::ReadNetwork(import::yaml::WriteNetworkJson(*graph), "n.json");
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *graph);
}

TEST(NetworkReader, StateIsNoNetworkInput) {
  const base::Expected<Graph> graph = import::yaml::ReadNetwork(
      "schema: 1\nname: n\ninputs:\n  - {id: x, shape: [2, 4]}\n  - {id: cache, shape: [4, 3], "
      "state: true}\n"
      "operators:\n  - {id: a, kind: matmul, inputs: [x, cache], output: y}\n",
      "n.yaml");
  ASSERT_TRUE(graph);
  EXPECT_TRUE(graph->tensors[1].state);
  EXPECT_FALSE(graph->tensors[1].network_input);
  const base::Expected<Graph> again =
      import::yaml::ReadNetwork(import::yaml::WriteNetworkJson(*graph), "n.json");
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *graph);
}

std::string WithState(const std::string& state, const std::string& outputs = "") {
  return "schema: 1\nname: n\ninputs:\n  - {id: x, shape: [2, 1, 4]}\n  - " + state +
         "\noperators:\n  - {id: grow, kind: concat, inputs: [cache, x], axis: 1, output: longer}\n"
         "  - {id: look, kind: elementwise, function: relu, inputs: [longer], output: y}\n" +
         outputs;
}

TEST(NetworkReader, AStateNamesItsNextValue) {
  const base::Expected<Graph> graph = import::yaml::ReadNetwork(
      WithState("{id: cache, shape: [2, 3, 4], state: true, next: longer}"), "n.yaml");
  ASSERT_TRUE(graph) << base::Format(graph.error());
  const Tensor& longer = graph->tensors[static_cast<size_t>(*FindTensor(*graph, "longer"))];
  EXPECT_EQ(longer.next_of, FindTensor(*graph, "cache"));
  EXPECT_TRUE(longer.network_output);
  EXPECT_EQ(RoleIn(*graph, {}, *FindTensor(*graph, "longer"), {0, 1}), base::TensorRole::kState);
  const base::Expected<Graph> again =
      import::yaml::ReadNetwork(import::yaml::WriteNetworkJson(*graph), "n.json");
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *graph);
}

TEST(NetworkReader, ANextValueIsAResultOfTheStatesType) {
  const auto fault_of = [](const std::string& state) {
    const base::Expected<Graph> graph = import::yaml::ReadNetwork(WithState(state), "n.yaml");
    return graph ? "none" : graph.error().message;
  };
  EXPECT_EQ(fault_of("{id: cache, shape: [2, 3, 4], state: true, next: longest}"),
            "unknown tensor 'longest'");
  EXPECT_EQ(fault_of("{id: cache, shape: [2, 3, 4], state: true, next: x}"), "unknown tensor 'x'");
  EXPECT_EQ(fault_of("{id: cache, shape: [2, 3, 4], next: longer}"), "input 'cache' is no state");
  EXPECT_EQ(fault_of("{id: cache, shape: [2, 3, 4], state: true, next: y}\n"
                     "  - {id: other, shape: [2], state: true, next: y}"),
            "'y' is also the next value of 'cache'");
  EXPECT_EQ(fault_of("{id: cache, shape: [2, 3, 4], state: true, next: y}\n"
                     "  - {id: other, shape: [2], dtype: int16, state: true, next: longer}"),
            "state 'other' is of type int16, 'longer' of type int8");
}

}  // namespace
}  // namespace tessera::graph
