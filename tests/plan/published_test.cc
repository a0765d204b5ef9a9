// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "fixture.h"
#include "tessera/base/arithmetic.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/plan/verify/derivation.h"

// Published figures, counted tile by tile by the validator's own rules.
namespace tessera::plan {
namespace {

Plan WholeTiles(const std::string& network, int operators_each) {
  const std::string name = std::string(EXAMPLES_FOLDER) + "/networks/" + network;
  std::stringstream text;
  text << std::ifstream(name).rdbuf();
  Plan plan;
  plan.network = graph::import::yaml::ReadNetwork(text.str(), network).value();
  plan.profile = SmallProfile();
  const auto operators = static_cast<int>(plan.network.operators.size());
  for (int first = 0; first < operators; first += operators_each) {
    Subgraph subgraph;
    subgraph.interval = {first, std::min(first + operators_each, operators) - 1};
    const graph::Operator& last =
        plan.network.operators[static_cast<size_t>(subgraph.interval.last)];
    subgraph.tile = plan.network.tensors[static_cast<size_t>(last.outputs.front())].shape;
    subgraph.tiles = 1;
    plan.subgraphs.push_back(subgraph);
  }
  return plan;
}

// All operators in one subgraph, in tiles of that many rows below one another.
Plan RowsOf(const std::string& network, int64_t rows, hw_profiles::HaloStorage halo) {
  Plan plan = WholeTiles(network, 100);
  Subgraph& subgraph = plan.subgraphs.front();
  subgraph.tiles = base::CeilDiv(subgraph.tile[2], rows);
  subgraph.tile[2] = rows;
  subgraph.halo = halo;
  return plan;
}

struct Counted {
  int64_t macs = 0;
  int64_t recomputed = 0;
  int64_t features = 0;  // off-chip bytes of inputs and outputs
};

Counted Count(const Plan& plan) {
  Counted counted;
  for (const verify::Work& work : verify::Derive(plan).work) {
    counted.macs += work.macs;
    counted.recomputed += work.recomputed_macs;
    counted.features += work.off_chip.at("inputs") + work.off_chip.at("outputs");
  }
  return counted;
}

TEST(Published, FsrcnnLayerByLayerAndFullyFused) {
  EXPECT_EQ(Count(WholeTiles("fsrcnn_valid.yaml", 1)).features, 190'276'524);
  EXPECT_EQ(Count(WholeTiles("fsrcnn_valid.yaml", 8)).features, 8'833'996);
  EXPECT_EQ(Count(WholeTiles("fsrcnn_valid.yaml", 8)).macs, 8'362'594'208);
  EXPECT_EQ(Count(WholeTiles("fsrcnn_same.yaml", 1)).features, 187'142'400);
  EXPECT_EQ(Count(WholeTiles("fsrcnn_same.yaml", 8)).features, 8'812'800);
  EXPECT_EQ(Count(WholeTiles("fsrcnn_same.yaml", 8)).macs, 8'290'252'800);
}

// Traffic and work of a fused network do not depend on the tile when rows are kept.
TEST(Published, FsrcnnFusedInTilesThatKeepTheirRows) {
  for (const int64_t rows : {4, 100}) {
    const Counted valid =
        Count(RowsOf("fsrcnn_valid.yaml", rows, hw_profiles::HaloStorage::kRollingBuffer));
    EXPECT_EQ(valid.features, 8'833'996);
    EXPECT_EQ(valid.macs, 8'362'594'208);
    EXPECT_EQ(valid.recomputed, 0);
    const Counted same =
        Count(RowsOf("fsrcnn_same.yaml", rows, hw_profiles::HaloStorage::kRollingBuffer));
    EXPECT_EQ(same.features, 8'812'800);
    EXPECT_EQ(same.macs, 8'290'252'800);
    EXPECT_EQ(same.recomputed, 0);
  }
}

// Two rows for each of the five convolutions, with the columns that pad them.
TEST(Published, VggEKeepsTwoRowsForEachConvolution) {
  Plan plan = RowsOf("../../tests/plan/vgg_e_fused.yaml", 1, hw_profiles::HaloStorage::kLineBuffer);
  plan.profile.tiling.implicit_padding = false;
  EXPECT_EQ(Count(plan).features, 3'813'376);
  EXPECT_EQ(Count(plan).recomputed, 0);
  int lines = 0;
  int64_t bytes = 0;
  for (const auto& [use, footprint] : verify::Derive(plan).footprints) {
    if (use.kind != BufferKind::kLine) continue;
    ++lines;
    bytes += footprint.size;
  }
  EXPECT_EQ(lines, 5);
  EXPECT_EQ(bytes, 355'632);
}

// Everything but the additions: the reader of an addition reads its second operand instead.
graph::Graph WithoutAdditions(const std::string& network) {
  std::ifstream file(std::string(EXAMPLES_FOLDER) + "/networks/" + network);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line.find("kind: elementwise") != std::string::npos) continue;
    const size_t sum = line.find("_add]");
    if (sum != std::string::npos) line.replace(sum, 5, "_project]");
    text += line + "\n";
  }
  return graph::import::yaml::ReadNetwork(text, network).value();
}

// Sixteen patches up to the map of 28 x 28 x 32; the rest layer by layer.
TEST(Published, MobileNetV2InPatchesComputesNinePercentAgain) {
  Plan plan;
  plan.network = WithoutAdditions("mobilenet_v2.yaml");
  plan.profile = SmallProfile();
  const std::vector<graph::Operator>& operators = plan.network.operators;
  const auto patched =
      std::find_if(operators.begin(), operators.end(),
                   [](const graph::Operator& op) { return op.id == "block3_project"; });
  for (int first = 0; first < static_cast<int>(operators.size());) {
    Subgraph& subgraph = plan.subgraphs.emplace_back();
    subgraph.interval = {first, first == 0 ? static_cast<int>(patched - operators.begin()) : first};
    const graph::Operator& last = operators[static_cast<size_t>(subgraph.interval.last)];
    subgraph.tile = plan.network.tensors[static_cast<size_t>(last.outputs.front())].shape;
    subgraph.tiles = first == 0 ? 16 : 1;
    if (first == 0) subgraph.tile = {1, 32, 7, 7};
    first = subgraph.interval.last + 1;
  }
  EXPECT_EQ(Count(plan).recomputed, 27'919'344);
  EXPECT_EQ(Count(plan).macs, 300'774'272 + 27'919'344);
}

TEST(Published, MobileNetV2MultiplyAccumulates) {
  EXPECT_EQ(Count(WholeTiles("mobilenet_v2.yaml", 1)).macs, 300'774'272);
}

}  // namespace
}  // namespace tessera::plan
