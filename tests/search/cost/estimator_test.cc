// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "simulate.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile_yaml.h"

// The Arm profiles against a sample of what another estimator says. Source of the cycles: the
// performance functions of Arm's compiler for Ethos-U (Vela 3.10), asked about single operators of
// MobileNetV2 in stripes of so many rows. bench/cost_tables.py compares whole tables.
namespace tessera::search::cost {
namespace {

struct Row {
  const char* name;
  int64_t rows;
  const char* weights;
  double cycles;
};

struct Table {
  std::string profile;
  std::vector<Row> rows;
};

void PrintTo(const Table& table, std::ostream* out) { *out << table.profile; }

std::string ReadFile(const std::string& path) {
  std::ifstream file(std::string(TESSERA_SOURCE_DIR) + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class EstimatorTest : public testing::TestWithParam<Table> {};

TEST_P(EstimatorTest, SaysNearlyTheSame) {
  const auto network = graph::import::yaml::ReadNetwork(
      ReadFile("examples/networks/mobilenet_v2.yaml"), "mobilenet_v2.yaml");
  const auto profile = hw_profiles::ReadProfile(
      ReadFile("hw_profiles/" + GetParam().profile + ".yaml"), "profile.yaml", {});
  ASSERT_TRUE(network);
  ASSERT_TRUE(profile);
  std::vector<int> kept(network->tensors.size());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = static_cast<int>(i);
  std::vector<double> ratios;
  for (const Row& row : GetParam().rows) {
    const auto op = std::find_if(network->operators.begin(), network->operators.end(),
                                 [&](const auto& each) { return each.id == row.name; });
    const auto index = static_cast<int>(op - network->operators.begin());
    graph::tiling::TileShape tile =
        network->tensors[static_cast<size_t>(op->outputs.front())].shape;
    tile[2] = std::min(tile[2], row.rows);
    const std::string weights = row.weights;
    encoder::program::Policy policy{.kept = kept};
    if (weights == "direct") policy.weights = hw_profiles::WeightPolicy::kDirect;
    if (weights == "streamed") policy.weights = hw_profiles::WeightPolicy::kStreamed;
    Prefetches prefetches;
    if (weights == "buffered") prefetches.own = {1};
    const auto tiling = graph::tiling::Tile(*network, {index, index}, tile);
    const plan::Metrics metrics = Simulate(*network, *profile, tiling, policy, prefetches);
    ratios.push_back(static_cast<double>(metrics.latency_cycles) / row.cycles);
    // Streamed weights of single rows: the estimator waits for tables at each block.
    EXPECT_GT(ratios.back(), weights == "streamed" && row.rows == 1 ? 0.6 : 0.8)
        << row.name << ' ' << row.rows << ' ' << row.weights;
    EXPECT_LT(ratios.back(), 1.45) << row.name << ' ' << row.rows << ' ' << row.weights;
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_NEAR(ratios[ratios.size() / 2], 1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Of, EstimatorTest,
                         testing::Values(Table{"ethos_u55_256",
                                               {{"block0_depthwise", 1, "buffered", 389200},
                                                {"block0_depthwise", 4, "direct", 179200},
                                                {"block0_depthwise", 14, "buffered", 156800},
                                                {"block0_depthwise", 28, "direct", 153664},
                                                {"block0_depthwise", 112, "buffered", 151312},
                                                {"block2_expand", 1, "direct", 285824},
                                                {"block2_expand", 7, "buffered", 142688},
                                                {"block2_expand", 14, "direct", 152320},
                                                {"block2_expand", 56, "buffered", 121543},
                                                {"block4_project", 1, "direct", 165312},
                                                {"block4_project", 7, "buffered", 26048},
                                                {"block4_project", 14, "direct", 45312},
                                                {"block7_add", 1, "buffered", 9408},
                                                {"block7_add", 14, "buffered", 9408},
                                                {"block13_depthwise", 1, "direct", 78624},
                                                {"block13_depthwise", 7, "buffered", 17640},
                                                {"head", 1, "direct", 2695952},
                                                {"head", 7, "buffered", 104039}}},
                                         Table{"ethos_u65_256",
                                               {{"block0_depthwise", 1, "buffered", 381808},
                                                {"block0_depthwise", 4, "streamed", 179200},
                                                {"block0_depthwise", 14, "buffered", 156800},
                                                {"block0_depthwise", 28, "streamed", 153664},
                                                {"block0_depthwise", 112, "buffered", 151312},
                                                {"block2_expand", 1, "streamed", 179704},
                                                {"block2_expand", 7, "buffered", 142080},
                                                {"block2_expand", 14, "streamed", 122976},
                                                {"block2_expand", 56, "buffered", 121464},
                                                {"block4_project", 1, "streamed", 44083},
                                                {"block4_project", 7, "buffered", 25600},
                                                {"block4_project", 14, "streamed", 23552},
                                                {"block7_add", 1, "buffered", 9408},
                                                {"block7_add", 14, "buffered", 9408},
                                                {"block13_depthwise", 1, "streamed", 80094},
                                                {"block13_depthwise", 7, "buffered", 14046},
                                                {"head", 1, "streamed", 718921},
                                                {"head", 7, "buffered", 103965}}}),
                         [](const auto& info) { return info.param.profile; });

}  // namespace
}  // namespace tessera::search::cost
