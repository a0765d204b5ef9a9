// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exhaustive.h"
#include "files.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/related_search.h"

// Plans of equal scores, and limits and memories that a known plan keeps.
namespace tessera::search {
namespace {

partition::answer::PartitionResult Search(const std::string& network, const std::string& profile,
                                          plan::Objective objective,
                                          std::vector<plan::PlanConstraint> constraints = {}) {
  partition::answer::PartitionOptions options;
  options.constraints = std::move(constraints);
  options.objective = std::move(objective);
  static const encoder::sat::SatEngine sat;
  std::vector<const problem::Engine*> engines(TestEngines().begin(), TestEngines().end());
  engines.push_back(&sat);
  options.engines = engines;
  options.budget = base::Budget{20'000};
  auto result = partition::SearchPartition(NetworkIn(network), ProfileIn(profile), options);
  EXPECT_TRUE(result) << base::Format(result.error());
  return result ? *std::move(result) : partition::answer::PartitionResult();
}

plan::Objective Least(const std::string& metric, std::map<std::string, double> limits = {}) {
  return {.weights = {{metric, 1}}, .limits = std::move(limits)};
}

constexpr const char* kTies = "tests/search/partition/ties/";
constexpr const char* kDetector = "examples/networks/event_detector.yaml";

// Both operators have tiles of many shapes that move equally many bytes.
TEST(Ties, AreBrokenAmongTilesOfOneOperator) {
  const auto found =
      Search(std::string(kTies) + "two_columns_network.json",
             std::string(kTies) + "two_columns_profile.json", Least("off_chip_bytes"));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->totals.off_chip_bytes, 98);
  EXPECT_EQ(found.plan->totals.latency_cycles, 396);
}

// The tiles of the faster plan are cut along an axis that comes later. The bytes meet their lower
// bound without it.
TEST(Ties, AreBrokenAlongLaterAxes) {
  const auto found =
      Search(std::string(kTies) + "later_rows_network.json",
             std::string(kTies) + "later_rows_profile.json", Least("off_chip_bytes"));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->totals.off_chip_bytes, 384);
  EXPECT_EQ(found.plan->totals.latency_cycles, 391);
}

// Banks with modes have no place for tensors that are kept, and the plan of single operators has
// the least work. A plan that keeps nothing has as little, and takes half the time.
TEST(Ties, AreBrokenWhereKeptTensorsDoNotFit) {
  const std::string profile = "hw_profiles/three_bank_two_mode.yaml";
  const auto found = Search(kDetector, profile, Least("macs"));
  ASSERT_TRUE(found.plan);
  const auto fast = Search(kDetector, profile, Least("latency", {{"macs", found.plan->score}}));
  ASSERT_TRUE(fast.plan) << fast.reason;
  EXPECT_LE(found.plan->totals.latency_cycles, fast.plan->totals.latency_cycles);
}

// Plans of many orders have the least peak. The fastest of them has an order of its own.
TEST(Ties, OfPeaksAreBrokenAmongAllOrders) {
  const std::string network = std::string(kTies) + "orders_network.json";
  const std::string profile = std::string(kTies) + "orders_profile.yaml";
  const auto found = Search(network, profile, Least("peak"));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->totals.peak_bytes, 98);
  EXPECT_EQ(found.status, problem::Status::kOptimal);
  const auto fast = Search(network, profile, Least("latency", {{"peak", 98}}));
  ASSERT_TRUE(fast.plan);
  EXPECT_EQ(found.plan->totals.latency_cycles, fast.plan->totals.latency_cycles);
}

// The home has room for two tensors of 234 bytes, but not at multiples of 64. That excludes all
// tiles that write both of them to it, of which there are many with a small peak.
TEST(Homes, FailAlikeForAllTiles) {
  const std::string network = std::string(kTies) + "aligned_home_network.json";
  const std::string profile = std::string(kTies) + "aligned_home_profile.yaml";
  const auto found = Search(network, profile, Least("peak"));
  ASSERT_TRUE(found.plan) << found.reason;
  EXPECT_EQ(found.status, problem::Status::kOptimal);
  EXPECT_LE(found.plan->totals.peak_bytes, 242);
}

TEST(Limits, OfTheMetricThatIsMinimisedLoseNoPlan) {
  const std::string profile = "hw_profiles/edge_npu_64kib.yaml";
  const auto found = Search(kDetector, profile, Least("latency"));
  ASSERT_TRUE(found.plan);
  const auto again = Search(kDetector, profile, Least("latency", {{"latency", found.plan->score}}));
  ASSERT_TRUE(again.plan);
  EXPECT_EQ(again.plan->score, found.plan->score);
  EXPECT_EQ(again.status, found.status);
  EXPECT_EQ(again.plan->objective.limits.count("latency"), 1U);
}

// The limits are the metrics of the plan of least latency. No search with them finds a plan.
TEST(Limits, OfAnotherPlanKeepThatPlan) {
  const std::string profile = "hw_profiles/edge_npu_64kib.yaml";
  const auto found = Search(kDetector, profile, Least("latency"));
  ASSERT_TRUE(found.plan);
  const plan::Metrics& totals = found.plan->totals;
  const auto again =
      Search(kDetector, profile,
             Least("off_chip_bytes", {{"latency", static_cast<double>(totals.latency_cycles)},
                                      {"peak", static_cast<double>(totals.peak_bytes)}}));
  ASSERT_TRUE(again.plan) << again.reason;
  EXPECT_LE(again.plan->totals.latency_cycles, totals.latency_cycles);
  EXPECT_LE(again.plan->totals.peak_bytes, totals.peak_bytes);
}

// The plans of least energy are faster, and so have more power.
TEST(Limits, OfTheLatencyLeaveRatiosNoWorseThanLayerByLayer) {
  const auto found =
      Search(std::string(kTies) + "slow_network.json", std::string(kTies) + "slow_profile.json",
             Least("power", {{"latency", 1929}}));
  ASSERT_TRUE(found.plan && found.plan->baseline);
  EXPECT_LE(found.plan->score, plan::ValueOf(found.plan->baseline->totals, "power") * (1 + 1e-9));
}

// Constraints on single operators do not exclude a plan layer by layer.
TEST(Limits, AndConstraintsLeaveRatiosNoWorseThanLayerByLayer) {
  std::vector<plan::PlanConstraint> constraints;
  for (const int op : {2, 4}) {
    plan::PlanConstraint held;
    held.kind = plan::PlanConstraintKind::kSubgraph;
    held.interval = {op, op};
    held.config.weights = hw_profiles::WeightPolicy::kResident;
    constraints.push_back(held);
  }
  plan::Objective objective;
  objective.weights = {{"bandwidth_average", 0.5}, {"bandwidth_peak", 0.5}, {"peak", 1}};
  const std::string network = std::string(kTies) + "held_network.yaml";
  const std::string profile = std::string(kTies) + "held_profile.yaml";
  const auto found = Search(network, profile, objective, constraints);
  ASSERT_TRUE(found.plan && found.plan->baseline);
  constexpr double kOfSingleOperators = 1.2697;  // --max-operators 1 --no-keep
  EXPECT_LE(found.plan->score, kOfSingleOperators * (1 + 1e-3));
}

// The first 27 combinations of subgraphs fit one by one, yet not jointly, because of the modes.
TEST(Limits, AndConstraintsThatFewCombinationsKeepLeaveAPlan) {
  plan::PlanConstraint first;
  first.kind = plan::PlanConstraintKind::kSubgraph;
  first.interval = {0, 0};
  first.config.weights = hw_profiles::WeightPolicy::kResident;
  first.config.in_place = false;
  first.config.halo = hw_profiles::HaloStorage::kRecompute;
  plan::PlanConstraint second;
  second.kind = plan::PlanConstraintKind::kSubgraph;
  second.interval = {1, 1};
  second.config.tile = graph::tiling::TileShape{1, 3, 1, 2, 1, 1};
  second.config.halo = hw_profiles::HaloStorage::kRecompute;
  const auto found = Search(
      std::string(kTies) + "jointly_network.yaml", std::string(kTies) + "jointly_profile.yaml",
      Least("power", {{"energy", 1733}, {"latency", 65214}}), {first, second});
  ASSERT_TRUE(found.plan) << found.reason;
  EXPECT_LE(found.plan->score, 1.2917);
}

// Of the searches that follow one without a plan, the last is for the ratio that has a limit. Here
// it is the only one that finds a plan.
TEST(Limits, OfARatioAreSoughtByTheRatioItself) {
  const graph::Graph network = NetworkIn(std::string(kTies) + "slow_network.json");
  const hw_profiles::Profile profile = ProfileIn(std::string(kTies) + "slow_profile.json");
  const auto least =
      Search(std::string(kTies) + "slow_network.json", std::string(kTies) + "slow_profile.json",
             Least("power", {{"latency", 1e6}}));
  ASSERT_TRUE(least.plan);
  partition::answer::PartitionOptions options;
  options.objective =
      Least("latency", {{"power", plan::ValueOf(least.plan->totals, "power") * 1.01}});
  options.engines = TestEngines();
  const partition::SearchFunction search = [&](const graph::Graph& graph,
                                               const partition::answer::PartitionOptions& asked)
      -> base::Expected<partition::answer::PartitionResult> {
    if (!asked.objective.weights.contains("power")) return partition::answer::PartitionResult();
    return partition::SearchPartition(graph, profile, asked);
  };
  const auto found = partition::SearchForLimits(network, profile, options, search);
  ASSERT_TRUE(found && found->plan);
  EXPECT_LE(plan::ValueOf(found->plan->totals, "power"), options.objective.limits.at("power"));
  EXPECT_EQ(found->plan->objective.weights, options.objective.weights);
  EXPECT_EQ(found->plan->objective.limits, options.objective.limits);
  EXPECT_NE(found->status, problem::Status::kOptimal);
}

// If a peak is minimised, the least latency within the same limits is searched first. Here it is
// the only search that finds a plan.
TEST(Limits, OfPeaksAreSoughtWithoutLeastPeaks) {
  const graph::Graph network = NetworkIn(kDetector);
  const hw_profiles::Profile profile = ProfileIn("hw_profiles/edge_npu_64kib.yaml");
  const auto fast = Search(kDetector, "hw_profiles/edge_npu_64kib.yaml", Least("latency"));
  ASSERT_TRUE(fast.plan);
  partition::answer::PartitionOptions options;
  options.objective =
      Least("peak", {{"latency", static_cast<double>(fast.plan->totals.latency_cycles)},
                     {"peak", static_cast<double>(fast.plan->totals.peak_bytes)}});
  options.engines = TestEngines();
  const partition::SearchFunction search = [&](const graph::Graph& graph,
                                               const partition::answer::PartitionOptions& asked)
      -> base::Expected<partition::answer::PartitionResult> {
    const bool is_quick =
        asked.objective.weights.contains("latency") && asked.objective.limits.size() == 2;
    if (!is_quick) return partition::answer::PartitionResult();
    return partition::SearchPartition(graph, profile, asked);
  };
  const auto found = partition::SearchForLimits(network, profile, options, search);
  ASSERT_TRUE(found && found->plan);
  EXPECT_LE(found->plan->totals.peak_bytes, fast.plan->totals.peak_bytes);
  EXPECT_EQ(found->plan->objective.weights, options.objective.weights);
  EXPECT_NE(found->status, problem::Status::kOptimal);
}

// A search with limits has a share of the time. Here the first one ends with it, and with a plan of
// single operators.
TEST(Limits, LeaveNoTimeUnused) {
  const graph::Graph network = NetworkIn("examples/networks/patent_chain.yaml");
  const hw_profiles::Profile profile = ProfileIn("hw_profiles/edge_npu_1mib.yaml");
  const base::Stop stop(base::Stop::Clock::now() + std::chrono::seconds(8));
  partition::answer::PartitionOptions options;
  options.objective = Least("latency", {{"peak", 1'000'000}});
  options.engines = TestEngines();
  options.stop = &stop;
  int searches = 0;
  const partition::SearchFunction search = [&](const graph::Graph& graph,
                                               const partition::answer::PartitionOptions& asked) {
    partition::answer::PartitionOptions narrow = asked;
    narrow.stop = nullptr;
    if (++searches == 1) narrow.max_operators = 1;
    auto found = partition::SearchPartition(graph, profile, narrow);
    while (searches == 1 && !asked.stop->Requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return found;
  };
  const auto found = partition::SearchForLimits(network, profile, options, search);
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(searches, 2);
  EXPECT_FALSE(found->plan->run.max_operators) << "the plan of the first search";
}

}  // namespace
}  // namespace tessera::search
