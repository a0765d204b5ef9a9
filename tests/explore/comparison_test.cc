// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <nlohmann/json.hpp>

#include "tessera/base/random.h"

// What the library says about two profiles without a search: it must agree with the plans.
namespace tessera::explore {
namespace {

using Json = nlohmann::ordered_json;
using Changes = std::vector<std::pair<std::string, std::vector<double>>>;

// Entries that matter to small networks, with values from tight to ample.
const Changes kChanges = {
    {"/memories/sram/capacity_bytes", {1536, 2048, 3072, 4096, 16384}},
    {"/memories/sram/read_pj_per_byte", {0.5, 1, 2}},
    {"/memories/sram/leakage_mw", {0, 1, 100}},
    {"/memories/sram/port/read_bytes_per_cycle", {4, 16, 64}},
    {"/memories/dram/port/read_bytes_per_cycle", {0.5, 2, 8}},
    {"/memories/dram/port/write_bytes_per_cycle", {0.5, 2, 8}},
    {"/memories/dram/port/read_latency_cycles", {0, 100, 500}},
    {"/memories/dram/port/burst_bytes", {1, 16, 48, 64}},
    {"/engines/npu/operators/conv/unroll/out_channels", {1, 5, 8, 32}},
    {"/engines/npu/operators/conv/unroll/out_rows", {1, 3, 4}},
    {"/engines/npu/operators/conv/start_cycles", {0, 10, 200}},
    {"/engines/npu/mac_pj", {0.01, 0.04}},
    {"/engines/npu/outstanding", {1, 1, 1, 2}},
    {"/links/dma/setup_cycles", {0, 20, 90}},
    {"/links/dma/outstanding", {1, 4}},
    {"/links/dma/alignment_bytes", {1, 16}},
    {"/clock_hz", {1e8, 1e9}},
};

Profile Draw(base::Random& random, Json document, int changes) {
  for (int i = 0; i < changes; ++i) {
    const auto& [path, values] =
        kChanges[static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(kChanges.size()) - 1))];
    document[Json::json_pointer(path)] =
        values[static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(values.size()) - 1))];
  }
  for (const char* path :
       {"/memories/sram/capacity_bytes", "/memories/dram/port/read_latency_cycles",
        "/memories/dram/port/burst_bytes", "/engines/npu/operators/conv/unroll/out_channels",
        "/engines/npu/operators/conv/unroll/out_rows", "/engines/npu/operators/conv/start_cycles",
        "/engines/npu/outstanding", "/links/dma/setup_cycles", "/links/dma/outstanding",
        "/links/dma/alignment_bytes"}) {
    Json& value = document[Json::json_pointer(path)];
    value = static_cast<int64_t>(value.get<double>());
  }
  const auto profile = Profile::Parse(document.dump());
  EXPECT_TRUE(profile) << profile.Error().text;
  return *profile;
}

PlanAnswer PlanOf(const Network& network, const Profile& profile, const std::string& metric,
                  const std::vector<MetricValue>& limits) {
  PlanOptions options;
  options.minimize = {{metric, 1}};
  options.limits = limits;
  options.transfers = Transfers::kPerSubgraph;  // as in explorations
  options.budget = 20'000;
  const auto answer = MakePlan(network, profile, options);
  EXPECT_TRUE(answer);
  return *answer;
}

class ComparisonTest : public testing::Test {
 protected:
  const Network network_ =
      *Network::Load(std::string(TESSERA_SOURCE_DIR) + "/examples/networks/patent_chain.yaml");
  const Json base_ = Json::parse(
      Profile::Load(std::string(TESSERA_SOURCE_DIR) + "/hw_profiles/edge_npu_64kib.yaml")->Json());
};

TEST_F(ComparisonTest, ABetterProfileHasNoWorseOptimum) {
  base::Random random(3);
  int known = 0;
  int different = 0;
  for (int round = 0; round < 120; ++round) {
    const Profile one = Draw(random, base_, static_cast<int>(random.Uniform(1, 4)));
    const Profile other =
        Draw(random, Json::parse(one.Json()), static_cast<int>(random.Uniform(1, 2)));
    const std::string metric = random.Chance(0.6) ? "latency" : "energy";
    std::vector<MetricValue> limits;
    if (random.Chance(0.3))
      limits.emplace_back("latency", static_cast<double>(random.Uniform(3000, 9000)));
    std::vector<std::string> metrics = {metric};
    if (!limits.empty()) metrics.emplace_back("latency");
    const auto better = IsAtLeastAsGood(network_, one, other, metrics);
    ASSERT_TRUE(better);
    if (!*better) continue;
    ++known;
    const PlanAnswer best = PlanOf(network_, one, metric, limits);
    const PlanAnswer worst = PlanOf(network_, other, metric, limits);
    if (best.outcome == Outcome::kInfeasible) {
      EXPECT_FALSE(worst.plan) << one.Json() << other.Json();
    }
    if (best.outcome != Outcome::kOptimal || !worst.plan) continue;
    const double least = best.plan->FindMetric(metric)->value;
    const double value = worst.plan->FindMetric(metric)->value;
    different += least < value ? 1 : 0;
    EXPECT_LE(least, value * (1 + 1e-12)) << metric << one.Json() << other.Json();
  }
  EXPECT_GT(known, 40);
  EXPECT_GT(different, 8);
}

TEST_F(ComparisonTest, NoPlanIsBelowTheBounds) {
  base::Random random(4);
  for (int round = 0; round < 40; ++round) {
    const Profile profile = Draw(random, base_, 4);
    const auto bounds = LowerBounds(network_, profile);
    ASSERT_TRUE(bounds);
    const PlanAnswer answer = PlanOf(network_, profile, "latency", {});
    if (!answer.plan) continue;
    for (const auto& [metric, bound] : *bounds)
      EXPECT_LE(bound, answer.plan->FindMetric(metric)->value * (1 + 1e-12)) << metric;
  }
}

TEST_F(ComparisonTest, WhatIsNotNamedMustBeEqual) {
  Json other = base_;
  other["links"]["dma"]["alignment_bytes"] = 1;
  const Profile one = *Profile::Parse(base_.dump());
  EXPECT_FALSE(*IsAtLeastAsGood(network_, *Profile::Parse(other.dump()), one, {"latency"}));
  EXPECT_TRUE(*IsAtLeastAsGood(network_, one, one, {"latency", "energy", "peak"}));
  EXPECT_FALSE(*IsAtLeastAsGood(network_, one, one, {"power"}));
  other = base_;
  other["name"] = "other";
  other["memories"]["sram"]["area_mm2"] = 3;
  EXPECT_TRUE(*IsAtLeastAsGood(network_, *Profile::Parse(other.dump()), one, {"latency"}));
}

TEST_F(ComparisonTest, EnergiesDoNotMatterToCycles) {
  Json other = base_;
  other["memories"]["sram"]["read_pj_per_byte"] = 100;
  const Profile costly = *Profile::Parse(other.dump());
  const Profile one = *Profile::Parse(base_.dump());
  EXPECT_TRUE(*IsAtLeastAsGood(network_, costly, one, {"latency"}));
  EXPECT_FALSE(*IsAtLeastAsGood(network_, costly, one, {"energy"}));
  EXPECT_TRUE(*IsAtLeastAsGood(network_, one, costly, {"energy"}));
}

}  // namespace
}  // namespace tessera::explore
