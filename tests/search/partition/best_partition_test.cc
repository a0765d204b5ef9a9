// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exhaustive.h"
#include "networks.h"
#include "search_options.h"
#include "tessera/base/random.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/search/cost/small_machine.h"

// The plan that the search finds is the best of all, and allowing more never gives a worse plan.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;

// The whole scope, less the kept tensors that KeepingNothing leaves out.
plan::Scope SpillingAll() {
  plan::Scope scope;
  scope.kept = "boundary tensors, as asked";
  return scope;
}

// Expects that the search's plan is as good as the best of all plans.
void ExpectBest(const ExhaustiveSearch& everything, const graph::Graph& graph,
                const Profile& profile, const plan::Objective& objective) {
  const auto found = partition::SearchPartition(graph, profile, KeepingNothing(objective));
  ASSERT_TRUE(found) << base::Format(found.error());
  const plan::Metrics bounds = found->plan ? found->plan->lower_bounds : plan::Metrics{};
  const std::optional<double> best = everything.BestScore(objective, bounds);
  if (!best) {
    EXPECT_EQ(found->status, problem::Status::kInfeasible) << found->reason;
    return;
  }
  ASSERT_TRUE(found->plan) << found->reason;
  EXPECT_TRUE(found->plan->proven);
  EXPECT_TRUE(found->status == problem::Status::kOptimal || found->plan->scope == SpillingAll())
      << ::testing::PrintToString(plan::DescribeProof(*found->plan));
  EXPECT_NEAR(found->plan->score, *best, 1e-9 * *best);
}

class Exhaustive : public ::testing::TestWithParam<int> {};

TEST_P(Exhaustive, EveryObjectiveFindsTheBestOfAllPartitions) {
  base::Random random(static_cast<uint64_t>(GetParam()));
  const int operators = static_cast<int>(random.Uniform(2, 4));
  const graph::Graph graph = AnyNetwork(random, operators);
  const DmaSteps dma = random.Chance(0.5) ? DmaSteps::kSerialized : DmaSteps::kDoubleBuffered;
  Profile profile = SmallMachine(dma, random.Uniform(30, 150));
  profile.tiling.may_serialize = dma == DmaSteps::kDoubleBuffered && random.Chance(0.5);
  if (GetParam() % 2 == 1) {
    profile.tiling.halo = {hw_profiles::HaloStorage::kRollingBuffer,
                           hw_profiles::HaloStorage::kLineBuffer,
                           hw_profiles::HaloStorage::kAdjacent};
  }
  const ExhaustiveSearch everything(graph, profile);
  ExpectBest(everything, graph, profile, Minimise("latency"));
  ExpectBest(everything, graph, profile, Minimise("energy"));
  ExpectBest(everything, graph, profile, Minimise("off_chip_bytes"));
  ExpectBest(everything, graph, profile, Minimise("peak"));
  ExpectBest(everything, graph, profile, Minimise("macs"));
  ExpectBest(everything, graph, profile,
             {.weights = {{"latency", 1}, {"energy", 2}, {"off_chip_bytes", 0.5}}, .limits = {}});
  ExpectBest(everything, graph, profile, {.weights = {{"latency", 1}, {"peak", 1}}, .limits = {}});
}

TEST_P(Exhaustive, LimitsAreKeptExactly) {
  base::Random random(static_cast<uint64_t>(GetParam()) + 1000);
  const graph::Graph graph = AnyNetwork(random, 3);
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 200);
  const auto free = partition::SearchPartition(graph, profile, KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(free && free->plan);
  const plan::Metrics& totals = free->plan->totals;
  const ExhaustiveSearch everything(graph, profile);
  // A tenth less than the fastest plan needs, so that the search must find another plan, or none.
  ExpectBest(everything, graph, profile,
             {.weights = {{"latency", 1}},
              .limits = {{"peak", 0.9 * static_cast<double>(totals.peak_bytes)}}});
  ExpectBest(everything, graph, profile,
             {.weights = {{"latency", 1}}, .limits = {{"energy", 0.9 * totals.energy_pj}}});
  ExpectBest(everything, graph, profile,
             {.weights = {{"peak", 1}}, .limits = {{"macs", static_cast<double>(totals.macs)}}});
  ExpectBest(
      everything, graph, profile,
      {.weights = {{"off_chip_bytes", 1}},
       .limits = {{"latency", 1.1 * static_cast<double>(totals.latency_cycles)}, {"peak", 150}}});
}

// A limit of the latency leaves room for slower plans than the fastest.
void ExpectBestRatios(uint64_t seed) {
  SCOPED_TRACE(seed);
  base::Random random(seed);
  const auto [graph, profile] = AnySubject(seed, {2, 5}, {30, 150});
  const auto fastest =
      partition::SearchPartition(graph, profile, KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(fastest) << base::Format(fastest.error());
  if (!fastest->plan) return;
  const plan::Metrics& totals = fastest->plan->totals;
  const std::map<std::string, double> time = {
      {"latency", std::floor(plan::ValueOf(totals, "latency") * (1 + random.Real()))}};
  const ExhaustiveSearch everything(graph, profile);
  ExpectBest(everything, graph, profile, Minimise("bandwidth_peak"));
  for (const std::string metric : {"power", "bandwidth_average", "bandwidth_peak"}) {
    SCOPED_TRACE(metric);
    ExpectBest(everything, graph, profile, {.weights = {{metric, 1}}, .limits = time});
    ExpectBest(everything, graph, profile,
               {.weights = {{metric, 2}, {"latency", 1}}, .limits = {}});
    // A tenth less than the fastest plan has, so that the search must find another plan, or none.
    ExpectBest(
        everything, graph, profile,
        {.weights = {{"latency", 1}}, .limits = {{metric, 0.9 * plan::ValueOf(totals, metric)}}});
  }
}

TEST_P(Exhaustive, RatiosAndThePeakBandwidthAreTheBestOfAllPartitions) {
  for (const uint64_t draw : {0, 1, 2, 3})
    ExpectBestRatios(2000 + 4 * static_cast<uint64_t>(GetParam()) + draw);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Exhaustive, ::testing::Range(0, 12));

// The plan has one step, which moves the bytes that every plan moves, for as long as is allowed.
TEST(PeakBandwidth, OfOneStepMeetsTheBoundOfTheAverage) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 400);
  const auto fastest =
      partition::SearchPartition(Chain(1), profile, KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(fastest && fastest->plan);
  const plan::Metrics& totals = fastest->plan->totals;
  ASSERT_EQ(fastest->plan->subgraphs.front().tiles, 1);
  ASSERT_EQ(totals.off_chip_bytes, fastest->plan->lower_bounds.off_chip_bytes);
  plan::Objective objective = Minimise("bandwidth_peak");
  objective.limits["latency"] = static_cast<double>(totals.latency_cycles);
  const auto found = partition::SearchPartition(Chain(1), profile, KeepingNothing(objective));
  ASSERT_TRUE(found && found->plan);
  EXPECT_DOUBLE_EQ(found->plan->bound, plan::ValueOf(totals, "bandwidth_average"));
  EXPECT_DOUBLE_EQ(found->plan->score, found->plan->bound);
  EXPECT_EQ(found->status, problem::Status::kOptimal);
}

// What was minimised in place of a ratio is said.
TEST(Ratios, OfLargerNetworksAreNotClaimedToBeMinimised) {
  for (const int operators : {2, 9}) {
    const Profile profile = SmallMachine(DmaSteps::kSerialized, 400);
    plan::Objective objective = Minimise("power");
    objective.limits["latency"] = 1'000'000;
    const auto found =
        partition::SearchPartition(Chain(operators), profile, KeepingNothing(objective));
    ASSERT_TRUE(found && found->plan);
    const std::vector<std::string>& notes = found->plan->notes;
    const bool says =
        std::find(notes.begin(), notes.end(),
                  "power was not minimised itself: this is the best, by it, of the plans of least "
                  "energy") != notes.end();
    EXPECT_EQ(says, operators == 9);
    EXPECT_EQ(found->plan->proven, operators == 2);
    if (says) {
      EXPECT_EQ(found->status, problem::Status::kFeasible);
      EXPECT_NE(found->plan->scope.cuts.find("its numerator"), std::string::npos);
    }
  }
}

// Slow plans are better by a ratio: no other plan that is at hand may be.
TEST(Ratios, AreNoWorseThanLayerByLayerOrThanThePreviousPlan) {
  base::Random random(17);
  int checked = 0;
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    const graph::Graph graph = AnyNetwork(random, round % 2 == 0 ? 5 : 10);
    const Profile profile = SmallMachine(DmaSteps::kSerialized, 200);
    partition::answer::PartitionOptions options = KeepingNothing(Minimise("power"));
    options.objective.limits["latency"] = 1'000'000;
    const auto found = partition::SearchPartition(graph, profile, options);
    ASSERT_TRUE(found) << base::Format(found.error());
    partition::answer::PartitionOptions narrow = options;
    narrow.objective = Minimise("energy");
    narrow.max_operators = 1;
    const auto alone = partition::SearchPartition(graph, profile, narrow);
    if (!found->plan || !alone || !alone->plan) continue;
    ++checked;
    const double least = plan::ValueOf(alone->plan->totals, "power");
    EXPECT_LE(found->plan->score, least * (1 + 1e-9));

    narrow.objective = options.objective;
    const auto slow = partition::SearchPartition(graph, profile, narrow);
    ASSERT_TRUE(slow && slow->plan);
    options.previous = &*slow->plan;
    const auto after = partition::SearchPartition(graph, profile, options);
    ASSERT_TRUE(after && after->plan);
    EXPECT_LE(after->plan->score, slow->plan->score * (1 + 1e-9));
  }
  ExpectEnough(checked, 8);
}

// Convolutions with so many channels that the memory needs many tiles.
graph::Graph DeepNetwork(base::Random& random) {
  NetworkBuilder net;
  int last = net.Input({1, random.Uniform(16, 60), random.Uniform(1, 3), 1});
  for (int64_t layers = random.Uniform(1, 2); layers > 0; --layers)
    last = net.Conv(last, 1, layers > 1 ? random.Uniform(8, 30) : random.Uniform(1, 3));
  return net.Finish(last);
}

TEST(SplitK, IsTakenWhereItIsBest) {
  int taken = 0;
  int needed = 0;
  for (uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    const graph::Graph graph = DeepNetwork(random);
    const DmaSteps dma = random.Chance(0.5) ? DmaSteps::kSerialized : DmaSteps::kDoubleBuffered;
    Profile profile = SmallMachine(dma, random.Uniform(40, 250));
    const auto without =
        partition::SearchPartition(graph, profile, KeepingNothing(Minimise("latency")));
    profile.tiling.weights.push_back(hw_profiles::WeightPolicy::kSplitK);
    profile.tiling.k_granularity = random.Uniform(2, 12);
    const ExhaustiveSearch everything(graph, profile);
    for (const std::string metric : {"latency", "energy", "off_chip_bytes", "peak"})
      ExpectBest(everything, graph, profile, Minimise(metric));
    const auto with =
        partition::SearchPartition(graph, profile, KeepingNothing(Minimise("latency")));
    ASSERT_TRUE(without && with);
    if (!with->plan) continue;
    EXPECT_TRUE(plan::verify::Validate(*with->plan).empty());
    const bool split_k =
        std::any_of(with->plan->subgraphs.begin(), with->plan->subgraphs.end(),
                    [](const plan::Subgraph& subgraph) {
                      return subgraph.weights == hw_profiles::WeightPolicy::kSplitK;
                    });
    taken += split_k ? 1 : 0;
    needed += without->plan ? 0 : 1;
  }
  EXPECT_GE(taken, 8);
  EXPECT_GE(needed, 4);
}

// 36 rows of 30 columns: more shapes than the search tries one by one.
class MoreAxes : public ::testing::TestWithParam<int> {};

TEST_P(MoreAxes, NeverMakeAPlanWorse) {
  base::Random random(static_cast<uint64_t>(GetParam()));
  NetworkBuilder net;
  int last = net.Input({1, 4, 36, 30});
  for (int i = 0; i < 3; ++i)
    last = net.Conv(last, random.Chance(0.5) ? 3 : 1, random.Uniform(1, 24));
  const graph::Graph graph = net.Finish(last);
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, random.Uniform(1500, 12'000));
  const plan::Objective objectives[] = {Minimise("latency"),
                                        Minimise("off_chip_bytes"),
                                        {.weights = {{"latency", 1}, {"energy", 1}}, .limits = {}}};
  const std::vector<hw_profiles::AxisGranularity> all = {
      {base::Axis::kRows, 1}, {base::Axis::kColumns, 1}, {base::Axis::kChannels, 2}};
  int checked = 0;
  for (const plan::Objective& objective : objectives) {
    std::optional<double> before;
    for (size_t axes = 1; axes <= all.size(); ++axes) {
      profile.tiling.axes.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(axes));
      const auto result = partition::SearchPartition(graph, profile, KeepingNothing(objective));
      ASSERT_TRUE(result) << base::Format(result.error());
      EXPECT_TRUE(result->plan || !before) << result->reason;
      if (!result->plan) continue;
      ++checked;
      EXPECT_LE(result->plan->score, before.value_or(result->plan->score)) << axes << " axes";
      before = result->plan->score;
    }
  }
  ExpectEnough(checked, 5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, MoreAxes, ::testing::Range(0, 6));

}  // namespace
}  // namespace tessera::search
