// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "../cost/small_machine.h"
#include "exhaustive.h"
#include "networks.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/draws.h"

// Constants that arrive while the previous subgraph runs, where that is better.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Two ports, so that one tensor may arrive while another leaves.
Profile Machine(Profile profile) {
  profile.tiling.dma = DmaSteps::kDoubleBuffered;
  profile.memories[0].port.shared = false;
  profile.links[0].outstanding = 2;
  return profile;
}

partition::answer::PartitionOptions Prefetching() {
  partition::answer::PartitionOptions options;
  options.engines = TestEngines();
  options.max_operators = 2;  // so that there are several subgraphs
  options.prefetch = true;
  return options;
}

plan::Plan FindPlan(const graph::Graph& graph, const Profile& profile,
                    const partition::answer::PartitionOptions& options) {
  auto found = partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(found && found->plan) << (found ? found->reason : base::Format(found.error()));
  if (!found || !found->plan) return {};
  EXPECT_TRUE(plan::verify::Validate(*found->plan).empty());
  EXPECT_TRUE(cost::FindMispriced(*found->plan).empty());
  return *std::move(found->plan);
}

int64_t Prefetched(const plan::Plan& plan) {
  return std::count_if(plan.subgraphs.begin(), plan.subgraphs.end(),
                       [](const plan::Subgraph& subgraph) { return !subgraph.prefetch.empty(); });
}

bool RejectsItself(const plan::Subgraph& subgraph) {
  return std::any_of(subgraph.rejected_alternatives.begin(), subgraph.rejected_alternatives.end(),
                     [&](const plan::RejectedAlternative& other) {
                       return other.interval == subgraph.interval && other.tile == subgraph.tile &&
                              other.weights == subgraph.weights && other.halo == subgraph.halo &&
                              other.k_extent == subgraph.k_extent;
                     });
}

TEST(Prefetch, IsNeverWorseAndOftenBetter) {
  int better = 0;
  int subgraphs = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Subject subject = AnySubject(seed, {3, 7}, {200, 2000});
    const Profile profile = Machine(subject.profile);
    partition::answer::PartitionOptions options = Prefetching();
    options.prefetch = false;
    const auto plain = partition::SearchPartition(subject.graph, profile, options);
    ASSERT_TRUE(plain.has_value());
    if (!plain->plan) continue;
    options.prefetch = true;
    const plan::Plan plan = FindPlan(subject.graph, profile, options);
    EXPECT_LE(plan.score, plain->plan->score) << "seed " << seed;
    EXPECT_EQ(plan.score < plain->plan->score, (Prefetched(plan) > 0)) << "seed " << seed;
    for (const plan::Subgraph& subgraph : plan.subgraphs) EXPECT_FALSE(RejectsItself(subgraph));
    EXPECT_TRUE(plan.totals.off_chip_bytes == plain->plan->totals.off_chip_bytes ||
                Prefetched(plan) > 0);
    better += plan.score < plain->plan->score ? 1 : 0;
    subgraphs += static_cast<int>(plan.subgraphs.size());
  }
  EXPECT_GE(better, 10);
  EXPECT_GE(subgraphs, 60);
}

// Subgraphs are cut and joined for the sake of constants, within what the options allow.
TEST(Prefetch, RegroupsSubgraphsAsAllowed) {
  int regrouped = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Subject subject = AnySubject(seed, {4, 8}, {300, 3000});
    const Profile profile = Machine(subject.profile);
    partition::answer::PartitionOptions options = Prefetching();
    options.max_operators = 3;
    if (seed % 3 == 0) options.keeping = partition::paths::Keeping::kNothing;
    options.prefetch = false;
    const auto plain = partition::SearchPartition(subject.graph, profile, options);
    ASSERT_TRUE(plain.has_value());
    if (!plain->plan) continue;
    options.prefetch = true;
    const plan::Plan plan = FindPlan(subject.graph, profile, options);
    EXPECT_LE(plan.score, plain->plan->score) << "seed " << seed;
    for (const plan::Subgraph& subgraph : plan.subgraphs)
      EXPECT_LE(subgraph.interval.last - subgraph.interval.first, 2) << "seed " << seed;
    if (options.keeping == partition::paths::Keeping::kNothing) {
      EXPECT_TRUE(plan.kept.empty()) << "seed " << seed;
    }
    regrouped += plan.subgraphs.size() != plain->plan->subgraphs.size() ? 1 : 0;
  }
  ExpectEnough(regrouped, 10);
}

// With enough space for everything, no further subgraph would gain.
TEST(Prefetch, LeavesNoGainWhereThereIsSpace) {
  int checked = 0;
  for (uint64_t seed = 100; seed < 160; ++seed) {
    Subject subject = AnySubject(seed, {3, 7}, {4000, 8000});
    const Profile profile = Machine(subject.profile);
    const plan::Plan plan = FindPlan(subject.graph, profile, Prefetching());
    const cost::Simulator simulator(plan.network, profile);
    for (size_t i = 1; i < plan.subgraphs.size(); ++i) {
      if (!plan.subgraphs[i].prefetch.empty()) continue;
      ++checked;
      std::vector<plan::Subgraph> with = plan.subgraphs;
      with[i].prefetch = {1};
      int64_t cycles = 0;
      for (size_t s = 0; s < with.size(); ++s)
        cycles +=
            cost::PriceOf(plan.network, profile, simulator, with, s, plan.kept).latency_cycles;
      EXPECT_GE(cycles, plan.totals.latency_cycles) << "seed " << seed << ", subgraph " << i;
    }
  }
  ExpectEnough(checked, 10);
}

TEST(Prefetch, SaysWhatTheStatusIsAbout) {
  const graph::Graph graph = Chain(3);
  const Profile profile = Machine(SmallMachine(DmaSteps::kDoubleBuffered, 400));
  partition::answer::PartitionOptions options = Prefetching();
  options.max_operators = 1;
  const plan::Plan plan = FindPlan(graph, profile, options);
  EXPECT_EQ(Prefetched(plan), 2);
  EXPECT_EQ(plan.status, "feasible");
  EXPECT_THAT(plan.notes, AllOf(Contains("2 subgraphs have their constants prefetched"),
                                Contains(HasSubstr("without prefetched constants the score is "))));
  EXPECT_TRUE(plan.proven);
  EXPECT_FALSE(plan.scope.policies.empty());
}

// 64 bytes arrive, 64 bytes leave, and 12 are weights: 2 * 64 + 12 of 140.
TEST(Prefetch, NeedsSpace) {
  const graph::Graph graph = Chain(3);
  partition::answer::PartitionOptions options = Prefetching();
  options.max_operators = 1;
  options.keeping = partition::paths::Keeping::kNothing;
  Profile profile = Machine(SmallMachine(DmaSteps::kDoubleBuffered, 152));
  profile.tiling.axes.clear();
  EXPECT_EQ(Prefetched(FindPlan(graph, profile, options)), 2);
  profile.memories[1].capacity_bytes = 140;
  const plan::Plan plan = FindPlan(graph, profile, options);
  EXPECT_EQ(Prefetched(plan), 0);
  EXPECT_THAT(plan.notes, Contains(AllOf(HasSubstr("no constants are prefetched"),
                                         HasSubstr("no room was found for 2"))));
}

// The sum takes the place of an operand: 2 * 64 bytes, and the weights of the last convolution.
TEST(Prefetch, CountsAResultInPlaceOnce) {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 4, 8});
  const graph::Graph graph =
      net.Finish(net.Conv(net.Add(net.Conv(x, 1, 2), net.Conv(x, 1, 2)), 1, 2));
  partition::answer::PartitionOptions options = Prefetching();
  options.max_operators = 1;
  options.keeping = partition::paths::Keeping::kNothing;
  Profile profile = Machine(SmallMachine(DmaSteps::kDoubleBuffered, 152));
  profile.tiling.axes.clear();
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  EXPECT_GT(Prefetched(FindPlan(graph, profile, options)), 0);
}

// Three independent convolutions, with streamed or resident weights. A constraint may state the
// weights of the second.
plan::Plan FindPlanApart(partition::paths::Keeping keeping,
                         const std::optional<plan::TileConfigConstraint>& second) {
  Profile profile = Machine(SmallMachine(DmaSteps::kDoubleBuffered, 1000));
  profile.tiling.weights = {WeightPolicy::kStreamed, WeightPolicy::kResident};
  partition::answer::PartitionOptions options = Prefetching();
  options.max_operators = 1;
  options.keeping = keeping;
  if (second) {
    plan::PlanConstraint constraint;
    constraint.kind = plan::PlanConstraintKind::kSubgraph;
    constraint.interval = {1, 1};
    constraint.config = *second;
    options.constraints = {constraint};
  }
  return FindPlan(Chain(3), profile, options);
}

TEST(Prefetch, KeepsWeightsAsRequired) {
  plan::TileConfigConstraint streamed;
  streamed.weights = WeightPolicy::kStreamed;
  const plan::Plan plan = FindPlanApart(partition::paths::Keeping::kWherePossible, streamed);
  EXPECT_EQ(plan.subgraphs[1].weights, WeightPolicy::kStreamed);
  EXPECT_FALSE(plan.subgraphs[2].prefetch.empty());
}

// Resident weights have no slices that could lie there.
TEST(Prefetch, KeepsSlicesWhoseAddressesAreRequired) {
  EXPECT_FALSE(FindPlanApart(partition::paths::Keeping::kNothing, std::nullopt)
                   .subgraphs[1]
                   .prefetch.empty());
  plan::TileConfigConstraint pinned;
  pinned.addresses = {{"conv1/w3@0.0", 512}};
  const plan::Plan plan = FindPlanApart(partition::paths::Keeping::kNothing, pinned);
  EXPECT_EQ(plan.subgraphs[1].weights, WeightPolicy::kStreamed);
  EXPECT_TRUE(plan.subgraphs[1].prefetch.empty());
  EXPECT_FALSE(plan.subgraphs[2].prefetch.empty());
}

TEST(Prefetch, IsNothingWhereTransfersHaveStepsOfTheirOwn) {
  const plan::Plan plan =
      FindPlan(Chain(3), SmallMachine(DmaSteps::kSerialized, 1000), Prefetching());
  EXPECT_EQ(Prefetched(plan), 0);
  EXPECT_TRUE(plan.proven);
  EXPECT_EQ(plan.scope.policies, "");
  EXPECT_THAT(plan.notes, Not(Contains(HasSubstr("prefetched"))));
}

}  // namespace
}  // namespace tessera::search
