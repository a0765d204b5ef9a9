// SPDX-License-Identifier: Apache-2.0

#include "networks.h"

#include <gmock/gmock.h>

#include <algorithm>

// Whole networks as exporters write them: no unnecessary barrier, and no operator left that could
// be folded.
namespace tessera::graph::onnx {
namespace {

using testing::Each;
using testing::Not;
using testing::StartsWith;

int CountKind(const Graph& graph, base::OperatorKind kind) {
  return static_cast<int>(std::count_if(graph.operators.begin(), graph.operators.end(),
                                        [kind](const Operator& op) { return op.kind == kind; }));
}

Import ImportNetwork(void (*build)(ModelBuilder&),
                     const std::map<std::string, int64_t>& dims = {}) {
  ModelBuilder model;
  build(model);
  ImportOptions options;
  options.dims = dims;
  Import import = MustImport(model, options);
  EXPECT_THAT(import.notes, Each(Not(StartsWith("barrier"))));
  EXPECT_EQ(std::count_if(import.graph.operators.begin(), import.graph.operators.end(), IsBarrier),
            0);
  return import;
}

TEST(Networks, ResNet) {
  const Graph graph = ImportNetwork(BuildResNet, {{"batch", 1}}).graph;
  // A stem, three blocks of two convolutions and an addition, two convolutions on skips, two pools,
  // a classifier.
  EXPECT_EQ(graph.operators.size(), 1U + 3 * 3 + 2 + 2 + 1) << Describe(graph);
  EXPECT_EQ(OperatorNamed(graph, "block1_add").activation, "relu");
  EXPECT_EQ(TensorNamed(graph, "scores").shape, (Shape{1, 10}));
}

TEST(Networks, MobileNet) {
  const Graph graph = ImportNetwork(BuildMobileNet, {{"N", 1}}).graph;
  EXPECT_EQ(graph.operators.size(), 1U + 2 * 4 + 2) << Describe(graph);
  EXPECT_EQ(CountKind(graph, base::OperatorKind::kDepthwise), 2);
  EXPECT_EQ(OperatorNamed(graph, "block0_expand").activation, "relu6");
  EXPECT_EQ(OperatorNamed(graph, "block0_project").activation, "");
}

TEST(Networks, Inception) {
  const Graph graph = ImportNetwork(BuildInception).graph;
  EXPECT_EQ(graph.operators.size(), 2U * 8) << Describe(graph);
  EXPECT_EQ(TensorNamed(graph, "block1").shape, (Shape{1, 64, 16, 16}));
}

TEST(Networks, UNet) {
  const Graph graph = ImportNetwork(BuildUNet).graph;
  EXPECT_EQ(graph.operators.size(), 11U) << Describe(graph);
  EXPECT_EQ(CountKind(graph, base::OperatorKind::kTransposedConv), 1);
  EXPECT_EQ(CountKind(graph, base::OperatorKind::kResize), 1);
}

TEST(Networks, TransformerEncoder) {
  const Graph graph = ImportNetwork(BuildTransformer, {{"length", 16}}).graph;
  EXPECT_EQ(CountKind(graph, base::OperatorKind::kLayerNorm), 2) << Describe(graph);
  EXPECT_EQ(CountKind(graph, base::OperatorKind::kMatmul), 8);
  EXPECT_EQ(CountKind(graph, base::OperatorKind::kElementwise), 2)
      << "the two residual additions alone\n"
      << Describe(graph);
  EXPECT_EQ(OperatorNamed(graph, "up_product").activation, "gelu");
}

TEST(Networks, DecoderStep) {
  const Import import = ImportNetwork(BuildDecoderStep, {{"past", 15}});
  const Graph& graph = import.graph;
  EXPECT_TRUE(TensorNamed(graph, "past_key_values.0.value").state);
  EXPECT_EQ(TensorNamed(graph, "present.0.key").shape, (Shape{1, 4, 16, 8}));
  EXPECT_EQ(CountKind(graph, base::OperatorKind::kMatmul), 6);
}

}  // namespace
}  // namespace tessera::graph::onnx
