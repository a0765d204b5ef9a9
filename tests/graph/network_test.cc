// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tessera/base/random.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/regions.h"
#include "tessera/graph/tiling/tiling.h"

// The networks under examples/, compared with published or hand-counted figures.
namespace tessera::graph {
namespace {

using base::OperatorKind;

std::string TextOf(const std::string& name) {
  std::ifstream file(std::string(EXAMPLES_FOLDER) + "/networks/" + name + ".yaml");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Graph Load(const std::string& name) {
  base::Expected<Graph> graph = import::yaml::ReadNetwork(TextOf(name), name + ".yaml");
  if (!graph) {
    ADD_FAILURE() << base::Format(graph.error());
    return {};
  }
  return *std::move(graph);
}

int64_t TotalMacs(const Graph& graph) {
  int64_t macs = 0;
  for (const Operator& op : graph.operators) macs += MacsOf(graph, op);
  return macs;
}

int64_t CountKind(const Graph& graph, OperatorKind kind) {
  return std::count_if(graph.operators.begin(), graph.operators.end(),
                       [kind](const Operator& op) { return op.kind == kind; });
}

int64_t BytesOf(const Graph& graph, int tensor) {
  const Tensor& t = graph.tensors[static_cast<size_t>(tensor)];
  return base::BytesOf(t.type, ElementsOf(t.shape));
}

int64_t WeightBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].constant) bytes += BytesOf(graph, static_cast<int>(i));
  }
  return bytes;
}

// Features moved layer by layer: each operator reads its inputs and writes its outputs.
int64_t BytesLayerByLayer(const Graph& graph) {
  int64_t bytes = 0;
  for (const Operator& op : graph.operators) {
    for (const int tensor : op.inputs) bytes += BytesOf(graph, tensor);
    for (const int tensor : op.outputs) bytes += BytesOf(graph, tensor);
  }
  return bytes;
}

// Features moved when the whole network is one subgraph: network inputs and outputs.
int64_t BytesFused(const Graph& graph) {
  int64_t bytes = 0;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    if (tensor.network_input || tensor.network_output) bytes += BytesOf(graph, static_cast<int>(i));
  }
  return bytes;
}

TEST(Networks, MobileNetV2) {
  const Graph graph = Load("mobilenet_v2");
  EXPECT_EQ(graph.operators.size(), 64U);
  EXPECT_EQ(CountKind(graph, OperatorKind::kConv), 35);
  EXPECT_EQ(CountKind(graph, OperatorKind::kDepthwise), 17);
  EXPECT_EQ(CountKind(graph, OperatorKind::kElementwise), 10);
  EXPECT_EQ(TotalMacs(graph), 300'774'272);
  EXPECT_EQ(graph.tensors.back().shape, (Shape{1, 1000}));
}

// Patches of 4x4 through the 28x28x32 output of block 3 recompute 9.28 % of the network.
TEST(Networks, MobileNetV2PatchesRecomputeAsPublished) {
  const Graph graph = Load("mobilenet_v2");
  const int last = FindOperator(graph, "block3_project").value();
  int64_t plain = 0;
  for (int i = 0; i <= last; ++i) plain += MacsOf(graph, graph.operators[static_cast<size_t>(i)]);
  const tiling::TiledSubgraph tiled = tiling::Tile(graph, {0, last}, {1, 32, 7, 7});
  int64_t tiles_macs = 0;
  for (const tiling::TileClass& tile : tiled.classes) {
    for (const int64_t macs : tile.macs) tiles_macs += tile.count * macs;
  }
  EXPECT_EQ(tiled.tiles, 16);
  EXPECT_EQ(tiles_macs - plain, 27'919'344);
}

TEST(Networks, ResNet18) {
  const Graph graph = Load("resnet_18");
  EXPECT_EQ(graph.operators.size(), 31U);
  EXPECT_EQ(TotalMacs(graph), 1'814'073'344);
}

TEST(Networks, FsrcnnValid) {
  const Graph graph = Load("fsrcnn_valid");
  EXPECT_EQ(TotalMacs(graph), 8'362'594'208);
  EXPECT_EQ(WeightBytes(graph), 15'992);
  EXPECT_EQ(BytesLayerByLayer(graph), 190'276'524);
  EXPECT_EQ(BytesFused(graph), 8'833'996);
}

TEST(Networks, FsrcnnSame) {
  const Graph graph = Load("fsrcnn_same");
  EXPECT_EQ(TotalMacs(graph), 8'290'252'800);
  EXPECT_EQ(BytesLayerByLayer(graph), 187'142'400);
  EXPECT_EQ(BytesFused(graph), 8'812'800);
  EXPECT_EQ(WeightBytes(graph), 15'992 - 12 * 12 * 9);
}

TEST(Networks, FsrcnnSameSharesOneWeightTensor) {
  const Graph graph = Load("fsrcnn_same");
  int shared = 0;
  for (const Usage& usage : UsagesOf(graph))
    shared += usage.producer < 0 && usage.consumers.size() == 2 ? 1 : 0;
  EXPECT_EQ(shared, 1);
}

TEST(Networks, TransformerEncoder) {
  const Graph graph = Load("transformer_encoder");
  const int64_t projections = 4 * 128 * 256 * 256;
  const int64_t attention = 2 * 4 * 128 * 128 * 64;
  const int64_t feed_forward = 2 * 128 * 256 * 1024;
  EXPECT_EQ(TotalMacs(graph), projections + attention + feed_forward);
  EXPECT_EQ(graph.tensors.back().shape, (Shape{1, 128, 256}));
}

TEST(Networks, PatentChain) {
  const Graph graph = Load("patent_chain");
  EXPECT_EQ(TotalMacs(graph), 9 * (3 * 8 * 8 * 18 + 8 * 8 * 6 * 16 + 8 * 4 * 4 * 14));
}

TEST(Networks, PatentFig1) {
  const Graph graph = Load("patent_fig1");
  const std::vector<Usage> usages = UsagesOf(graph);
  const auto blob = [&](const std::string& id) { return FindTensor(graph, id).value(); };
  EXPECT_EQ(BytesOf(graph, blob("blob_a")), 4);
  EXPECT_EQ(BytesOf(graph, blob("blob_b")), 3);
  EXPECT_EQ(BytesOf(graph, blob("blob_c")), 2);
  EXPECT_EQ(BytesOf(graph, blob("blob_d")), 5);
  EXPECT_EQ(usages[static_cast<size_t>(blob("blob_b"))].producer, 0);
  EXPECT_EQ(usages[static_cast<size_t>(blob("blob_b"))].consumers, std::vector<int>{2});
  EXPECT_TRUE(graph.tensors[static_cast<size_t>(blob("blob_d"))].network_output);
}

TEST(Networks, ImagePipeline) {
  const Graph graph = Load("image_pipeline");
  EXPECT_EQ(TotalMacs(graph), 480 * 640 * 3 * (25 + 3 + 25));
  EXPECT_TRUE(
      graph.tensors[static_cast<size_t>(FindTensor(graph, "preview").value())].network_output);
}

class EveryNetwork : public testing::TestWithParam<const char*> {};

TEST_P(EveryNetwork, SurvivesTheRoundTripThroughJson) {
  const Graph graph = Load(GetParam());
  const std::string json = import::yaml::WriteNetworkJson(graph);
  const base::Expected<Graph> again = import::yaml::ReadNetwork(json, "round_trip.json");
  ASSERT_TRUE(again) << base::Format(again.error());
  EXPECT_EQ(*again, graph);
  EXPECT_EQ(import::yaml::WriteNetworkJson(*again), json);
}

// A changed byte gives another network or a fault with a position, and never a crash.
TEST_P(EveryNetwork, SlipsOfThePenAreReadOrRefused) {
  const std::string text = TextOf(GetParam());
  base::Random random(1);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string changed = text;
    const auto place =
        static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(text.size()) - 1));
    if (random.Chance(0.3)) {
      changed.resize(place);
    } else {
      changed[place] = static_cast<char>(random.Uniform(32, 126));
    }
    const base::Expected<Graph> graph = import::yaml::ReadNetwork(changed, "slip.yaml");
    if (graph) {
      EXPECT_EQ(
          import::yaml::ReadNetwork(import::yaml::WriteNetworkJson(*graph), "slip.json").value(),
          *graph);
      continue;
    }
    ++refused;
    EXPECT_EQ(graph.error().file, "slip.yaml");
    EXPECT_GE(graph.error().line, 1) << base::Format(graph.error());
  }
  EXPECT_GT(refused, 20);
}

INSTANTIATE_TEST_SUITE_P(Examples, EveryNetwork,
                         testing::Values("mobilenet_v2", "mobilenet_v2_035", "resnet_18",
                                         "fsrcnn_valid", "fsrcnn_same", "transformer_encoder",
                                         "patent_chain", "patent_fig1", "image_pipeline",
                                         "event_detector"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tessera::graph
