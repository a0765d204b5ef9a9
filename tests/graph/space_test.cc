#include "tessera/graph/import/space/space.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tessera/base/random.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/regions.h"

// Spaces of networks: what is written is the network that the choice describes.
namespace tessera::graph::import::space {
namespace {

using testing::HasSubstr;

Space Must(const base::Expected<Space>& space) {
  EXPECT_TRUE(space) << base::Format(space.error());
  return *space;
}

Space Shipped(const std::string& name) {
  std::ifstream file(EXAMPLES_FOLDER "/nas/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return Must(Space::Parse(text.str(), name));
}

Graph Network(const Space& space, const Choice& choice) {
  const auto text = space.Write(choice);
  EXPECT_TRUE(text) << base::Format(text.error());
  const auto graph = yaml::ReadNetwork(*text, "space");
  EXPECT_TRUE(graph) << base::Format(graph.error());
  return *graph;
}

Choice Drawn(const Space& space, base::Random& random) {
  Choice choice;
  for (const Parameter& parameter : space.Parameters()) {
    const auto last = static_cast<int64_t>(parameter.values.size()) - 1;
    choice[parameter.name] = parameter.values[static_cast<size_t>(random.Uniform(0, last))];
  }
  return choice;
}

// Counts of operators and extents of tensors follow from the choice by other means.
TEST(Spaces, InvertedResidualNetworksAreThoseOfTheChoice) {
  const Space space = Shipped("mcunet_like.space");
  base::Random random(28);
  for (int drawn = 0; drawn < 20; ++drawn) {
    const Choice choice = Drawn(space, random);
    const Graph graph = Network(space, choice);
    size_t blocks = 1;
    for (int stage = 2; stage <= 5; ++stage)
      blocks += static_cast<size_t>(choice.at("stage" + std::to_string(stage) + ".depth"));
    size_t sums = 0;
    for (const Operator& op : graph.operators)
      sums += op.kind == base::OperatorKind::kElementwise ? 1 : 0;
    EXPECT_EQ(graph.operators.size(), 1 + 3 * blocks + sums + 3);
    EXPECT_GE(sums, blocks - 5);  // all but the first of each stage
    const int64_t resolution = choice.at("resolution");
    EXPECT_EQ(graph.tensors[static_cast<size_t>(*FindTensor(graph, "image"))].shape,
              (Shape{1, 3, resolution, resolution}));
    const Shape& last = graph.tensors[static_cast<size_t>(*FindTensor(graph, "head"))].shape;
    EXPECT_EQ(last[2], (resolution + 31) / 32);  // five strides of 2
    const int kernel = static_cast<int>(choice.at("stage2.block1.kernel"));
    const Operator& filter =
        graph.operators[static_cast<size_t>(*FindOperator(graph, "stage2_block1_filter"))];
    EXPECT_EQ(filter.window.kernel[0], kernel);
    const auto channels = [&](const char* id) {
      return graph.tensors[static_cast<size_t>(*FindTensor(graph, id))].shape[1];
    };
    EXPECT_EQ(channels("stage2_block1_expand"),
              channels("stage1_block1_project") * choice.at("stage2.block1.expansion"));
    EXPECT_EQ(channels("head") % 8, 0);
  }
}

TEST(Spaces, TransformersAreThoseOfTheChoice) {
  const Space space = Shipped("transformer.space");
  base::Random random(28);
  for (int drawn = 0; drawn < 20; ++drawn) {
    const Choice choice = Drawn(space, random);
    const Graph graph = Network(space, choice);
    int64_t macs = 0;
    const int64_t n = choice.at("sequence");
    const int64_t c = choice.at("width");
    for (int64_t layer = 1; layer <= choice.at("layers"); ++layer)
      macs += 4 * n * c * c + 2 * n * n * c +
              2 * n * c * c * choice.at("layer" + std::to_string(layer) + ".mlp_ratio");
    int64_t found = 0;
    for (const Operator& op : graph.operators) {
      if (op.kind == base::OperatorKind::kMatmul) found += MacsOf(graph, op);
    }
    EXPECT_EQ(found, macs);
  }
}

TEST(Spaces, RefuseWhatTheyDoNotHave) {
  const Space space = Shipped("transformer.space");
  EXPECT_THAT(space.Write({{"layer", 2}}).error().hint, HasSubstr("layers"));
  EXPECT_THAT(space.Write({{"layers", 7}}).error().expected, HasSubstr("2, 3, 4"));
  const auto odd = Space::Parse(
      "schema: 1\nname: a\nfamily: transformer\nsequence: 4\nwidth: 6\nlayers: 1\nheads: [1, 4]\n"
      "mlp_ratio: 1\n",
      "a.space");
  EXPECT_THAT(Must(odd).Write({{"layer1.heads", 4}}).error().message, HasSubstr("do not divide"));
  const auto fault = Space::Parse("schema: 1\nname: a\nfamily: convnet\n", "a.space");
  ASSERT_FALSE(fault);
  EXPECT_EQ(fault.error().line, 3);
  EXPECT_FALSE(
      Space::Parse("schema: 1\nname: a\nfamily: transformer\nsequence: [4, 4]\nwidth: 6\n"
                   "layers: 1\nheads: 1\nmlp_ratio: 1\n",
                   "a.space"));
}

}  // namespace
}  // namespace tessera::graph::import::space
