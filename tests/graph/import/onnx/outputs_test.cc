// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "model_builder.h"

// Every output that the file lists is an output of the graph. MustImport counts them and compares
// each with its value.
namespace tessera::graph::onnx {
namespace {

using testing::Contains;
using testing::ElementsAre;

std::vector<std::string> OutputsOf(const Graph& graph) {
  std::vector<std::string> outputs;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.network_output) outputs.push_back(tensor.id);
  }
  return outputs;
}

class OutputsTest : public testing::Test {
 protected:
  OutputsTest() {
    model_.Input("x", {1, 8});
    model_.Add("Relu", {"x"}, "a");
  }
  Graph GraphOf(const std::vector<std::string>& outputs) {
    for (const std::string& output : outputs) model_.Output(output);
    return MustImportGraph(model_);
  }
  ModelBuilder model_;
};

TEST_F(OutputsTest, OfOneValueAreCopies) {
  model_.Add("Identity", {"a"}, "y1");
  model_.Add("Identity", {"a"}, "y2");
  const Graph graph = GraphOf({"y1", "y2"});
  EXPECT_EQ(Describe(graph),
            "elementwise relu (x) -> y1 [1, 8]\nelementwise identity (y1) -> y2 [1, 8]\n");
  EXPECT_THAT(OutputsOf(graph), ElementsAre("y1", "y2"));
}

TEST_F(OutputsTest, KeepTheNameOfTheValueWhereItIsOne) {
  model_.Add("Dropout", {"a"}, "y");
  EXPECT_EQ(Describe(GraphOf({"y", "a"})),
            "elementwise relu (x) -> a [1, 8]\nelementwise identity (a) -> y [1, 8]\n");
}

TEST_F(OutputsTest, ListedTwiceAreThereTwice) {
  EXPECT_THAT(OutputsOf(GraphOf({"a", "a"})), ElementsAre("a", "a.2"));
}

TEST_F(OutputsTest, MayBeReadByOthers) {
  model_.Add("Identity", {"a"}, "y");
  model_.Add("Exp", {"y"}, "z");
  EXPECT_EQ(Describe(GraphOf({"z", "y", "a"})),
            "elementwise relu (x) -> a [1, 8]\nelementwise exp (a) -> z [1, 8]\n"
            "elementwise identity (a) -> y [1, 8]\n");
}

TEST_F(OutputsTest, MayBeNetworkInputs) {
  model_.Add("Identity", {"x"}, "y");
  const Graph graph = GraphOf({"a", "x", "y"});
  EXPECT_THAT(OutputsOf(graph), ElementsAre("x", "a", "y"));
  EXPECT_TRUE(TensorNamed(graph, "x").network_input);
  EXPECT_EQ(Describe(graph),
            "elementwise relu (x) -> a [1, 8]\nelementwise identity (x) -> y [1, 8]\n");
}

TEST_F(OutputsTest, MayBeNetworkInputsThatNoOperatorReads) {
  model_.Input("spare", {3});
  EXPECT_THAT(OutputsOf(GraphOf({"a", "spare"})), ElementsAre("spare", "a"));
}

TEST_F(OutputsTest, MayBeConstants) {
  model_.Weight("w", {8});
  model_.Add("Add", {"a", "w"}, "s");
  model_.Add("Identity", {"w"}, "same");
  model_.Add("Neg", {model_.Integers("list", {1, 2})}, "folded");
  const Graph graph = GraphOf({"s", "w", "same", "folded", "w"});
  EXPECT_THAT(OutputsOf(graph), ElementsAre("w", "same", "folded", "w.2", "s"));
  EXPECT_EQ(Describe(graph),
            "elementwise relu (x) -> a [1, 8]\nelementwise add (a, w) -> s [1, 8]\n");
  for (const char* constant : {"w", "same", "folded", "w.2"})
    EXPECT_TRUE(TensorNamed(graph, constant).constant) << constant;
  EXPECT_EQ(TensorNamed(graph, "folded").type, base::DataType::kInt64);
}

TEST_F(OutputsTest, OfAStateAreCopiedWhereTheyLeaveTwice) {
  import::common::ImportOptions options;
  options.states = {{"x", "next"}};
  model_.Add("Identity", {"a"}, "next");
  model_.Output("a");
  model_.Output("next");
  const Graph graph = MustImportGraph(model_, options);
  EXPECT_THAT(OutputsOf(graph), ElementsAre("a", "next"));
  EXPECT_EQ(TensorNamed(graph, "next").next_of, FindTensor(graph, "x"));
}

TEST_F(OutputsTest, WithoutElementsAreLeftOutWithANote) {
  model_.Integers("none", {});
  model_.Output("a");
  model_.Output("none");
  const base::Expected<import::common::Import> import =
      import::onnx::ImportOnnx(model_.Bytes(), "model.onnx", {});
  ASSERT_TRUE(import.has_value());
  EXPECT_THAT(import->notes,
              Contains("assumed of none: this output has no elements; it is left out"));
}

}  // namespace
}  // namespace tessera::graph::onnx
