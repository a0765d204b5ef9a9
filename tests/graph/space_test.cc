// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/space/space.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tessera/base/json_document.h"
#include "tessera/base/random.h"
#include "tessera/graph/import/common/format.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/regions.h"

// Spaces of networks: what is written is the network that the choice describes.
namespace tessera::graph::import::space {

extern const common::NetworkFormat kFormat;

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

// Parameters of one layer of a transformer.
size_t CountOfEachLayer(const Space& space) {
  return static_cast<size_t>(
      std::count_if(space.Parameters().begin(), space.Parameters().end(),
                    [](const Parameter& each) { return each.name.starts_with("layer1."); }));
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

// A name is the text that the file states, whatever it means in YAML.
TEST(Spaces, NamesAreTextOfTheirNetworks) {
  const auto named = [](const std::string& name, const std::string& dtype) {
    return Space::Parse("schema: 1\nname: " + name + "\ndtype: " + dtype +
                            "\nfamily: transformer\nsequence: 4\nwidth: 4\nlayers: 1\n"
                            "heads: 1\nmlp_ratio: 1\n",
                        "a.space");
  };
  for (const std::string name :
       {"a: b", "[a, b]", "a #1", "- a", "a\ndtype: int16", "\\ \" '", "*a", "caf\u00e9"}) {
    const std::string quoted = base::WriteJsonLine(name);
    EXPECT_EQ(Network(Must(named(quoted, "int16")), {}).name, name);
  }
  const auto fault = named("a", "\"int8\\noutputs: [x]\"");
  ASSERT_FALSE(fault);
  EXPECT_EQ(fault.error().line, 3);
  EXPECT_EQ(fault.error().column, 8);
  EXPECT_FALSE(named("a", "int9"));
}

TEST(Spaces, NamesBeyondTheDepthHaveNoEffect) {
  const Space space = Must(Space::Parse(
      "schema: 1\nname: a\nfamily: inverted_residual\nresolution: 16\nstem: {channels: 8}\n"
      "stages:\n  - {channels: 8, depth: [1, 2], kernel: [3, 5], expansion: 1}\n"
      "head: {channels: 8, classes: 4}\n",
      "a.space"));
  EXPECT_THAT(space.NamesWithoutEffect({{"stage1.block2.kernel", 5}}),
              testing::ElementsAre("stage1.block2.kernel"));
  EXPECT_THAT(space.NamesWithoutEffect({{"stage1.depth", 2}, {"stage1.block2.kernel", 5}}),
              testing::IsEmpty());
  EXPECT_THAT(space.NamesWithoutEffect({{"stage1.block1.kernel", 5}}), testing::IsEmpty());
  base::Random random(7);
  const Space shipped = Shipped("transformer.space");
  for (int drawn = 0; drawn < 20; ++drawn) {
    Choice choice = Drawn(shipped, random);
    const std::string whole = *shipped.Write(choice);
    for (const std::string& name : shipped.NamesWithoutEffect(choice)) choice.erase(name);
    EXPECT_EQ(*shipped.Write(choice), whole);
    const auto layers = static_cast<size_t>(choice.at("layers"));
    EXPECT_EQ(std::count_if(choice.begin(), choice.end(),
                            [](const auto& each) { return each.first.starts_with("layer"); }),
              static_cast<ptrdiff_t>(1 + CountOfEachLayer(shipped) * layers));
  }
}

// What a space ignores is refused or told where its file is read.
TEST(Spaces, ImportTellsWhatHasNoEffect) {
  const std::string text =
      "schema: 1\nname: a\nfamily: transformer\nsequence: 4\nwidth: 4\nlayers: [1, 2]\n"
      "heads: [1, 2]\nmlp_ratio: 1\n";
  common::ImportOptions options;
  options.dims["layer2.heads"] = 2;
  const auto refused = kFormat.read(text, "a.space", options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("'layer2.heads' has no effect"));
  options.dims["layers"] = 2;
  options.floats_as = base::DataType::kInt8;
  const auto import = kFormat.read(text, "a.space", options);
  ASSERT_TRUE(import) << base::Format(import.error());
  EXPECT_THAT(import->notes, testing::ElementsAre(HasSubstr("--floats-as")));
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
