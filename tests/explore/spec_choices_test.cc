// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "fixture.h"
#include "tessera/explore/output.h"
#include "tessera/explore/spec_sections.h"

// The networks of `choices` in a specification.
namespace tessera::explore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SpecChoicesTest : public SpecTest {
 protected:
  SpecChoicesTest() {
    Write("blocks.space",
          "schema: 1\nname: blocks\nfamily: inverted_residual\nresolution: 16\n"
          "stem: {channels: 8}\nstages:\n"
          "  - {channels: 8, depth: [1, 2], kernel: [3, 5], expansion: 1}\n"
          "head: {channels: 8, classes: 4}\n");
    Write("layers.space",
          "schema: 1\nname: layers\nfamily: transformer\nsequence: 8\nwidth: [16, 24]\n"
          "layers: 1\nheads: [2, 3]\nmlp_ratio: 2\n");
  }

  base::Expected<Spec> ReadWith(const std::string& network) const {
    return Read("schema: 1\nnetworks:\n  - {" + network + "}\nprofile: " +
                Shipped("hw_profiles/edge_npu_1mib.yaml") + "\nminimize: [latency]\n");
  }

  static std::vector<std::string> NamesOf(const Spec& spec) {
    std::vector<std::string> names;
    for (const NetworkEntry& network : spec.networks) names.push_back(network.name);
    return names;
  }
};

TEST_F(SpecChoicesTest, EqualNetworksAreOneWithoutNamesThatHaveNoEffect) {
  const auto spec =
      ReadWith("file: blocks.space, choices: {stage1.depth: [1, 2], stage1.block2.kernel: [3, 5]}");
  ASSERT_TRUE(spec) << base::Format(spec.error());
  EXPECT_THAT(NamesOf(*spec),
              ElementsAre("blocks stage1.depth=1", "blocks stage1.depth=2 stage1.block2.kernel=3",
                          "blocks stage1.depth=2 stage1.block2.kernel=5"));
}

TEST_F(SpecChoicesTest, ACombinationThatIsNoNetworkIsRefusedAlone) {
  const auto spec =
      ReadWith("file: layers.space, choices: {width: [16, 24], layer1.heads: [2, 3]}");
  ASSERT_TRUE(spec) << base::Format(spec.error());
  EXPECT_THAT(NamesOf(*spec),
              ElementsAre("layers width=16 layer1.heads=2", "layers width=24 layer1.heads=2",
                          "layers width=24 layer1.heads=3"));
  ASSERT_EQ(spec->refused_networks.size(), 1U);
  EXPECT_EQ(spec->refused_networks[0].name, "layers width=16 layer1.heads=3");
  const Json description = SpecAsDocument(*spec, *spec->space.Enumerate(), {});
  EXPECT_EQ(description.at("refused_networks")[0].at("name"), "layers width=16 layer1.heads=3");
  EXPECT_THAT(DescribeSpec(description),
              HasSubstr("'layers width=16 layer1.heads=3' is no network: 3 heads"));
}

TEST_F(SpecChoicesTest, NoOtherNetworkHasTheNameOfACombination) {
  const auto spec =
      ReadWith("file: layers.space, choices: {width: [16]}}\n  - {file: " +
               Shipped("examples/networks/patent_chain.yaml") + ", name: layers width=16");
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().message, "there are two networks 'layers width=16'");
}

TEST_F(SpecChoicesTest, FaultsHaveLineAndColumn) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"file: layers.space, choices: {width: [16], layer1.heads: [3]}", "no combination is a"},
      {"file: layers.space, choices: {widht: [16]}", "no parameter 'widht'"},
      {"file: layers.space, choices: {width: [16, 17]}", "'width' is 17"},
      {"file: layers.space, dims: {width: 16}, choices: {width: [16]}", "under 'dims' too"},
      {"file: layers.space, dims: {width: 17}, choices: {layer1.heads: [2]}", "of 'dims', "},
      {"file: layers.space, floats_as: int8, choices: {width: [16]}", "'floats_as' has no effect"},
      {"file: layers.space, floats_as: int8", "'floats_as' has no effect"},
      {"file: blocks.space, dims: {stage1.block2.kernel: 5}, choices: {stage1.depth: [1]}",
       "'stage1.block2.kernel' of 'dims' has no effect in any combination"},
      {"file: blocks.space, choices: {stage1.block2.kernel: [3, 5]}",
       "'stage1.block2.kernel' has no effect in any combination"}};
  for (const auto& [network, message] : faults) {
    const auto spec = ReadWith(network);
    ASSERT_FALSE(spec) << network;
    EXPECT_THAT(spec.error().message, HasSubstr(message)) << network;
    EXPECT_EQ(spec.error().line, 3) << network;
    EXPECT_GT(spec.error().column, 1) << network;
  }
}

}  // namespace
}  // namespace tessera::explore
