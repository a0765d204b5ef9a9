#include "tessera/search/partition/prefetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../simulate/small_machine.h"
#include "exhaustive.h"
#include "networks.h"
#include "tessera/plan/validator.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/pricing.h"

// Constants that arrive while the subgraph before theirs runs, where that is better.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Two ports, so that something may arrive while something leaves.
Profile Machine(Profile profile) {
  profile.tiling.dma = DmaSteps::kOverlapped;
  profile.memories[0].port.shared = false;
  profile.links[0].outstanding = 2;
  return profile;
}

PartitionOptions Prefetching() {
  PartitionOptions options;
  options.engines = TestEngines();
  options.max_operators = 2;  // so that there are several subgraphs
  options.prefetch = true;
  return options;
}

plan::Plan Search(const graph::Graph& graph, const Profile& profile, const PartitionOptions& options) {
  auto found = SearchPartition(graph, profile, options);
  EXPECT_TRUE(found && found->plan) << (found ? found->reason : base::Format(found.error()));
  if (!found || !found->plan) return {};
  EXPECT_TRUE(plan::Validate(*found->plan).empty());
  EXPECT_TRUE(FindMispriced(*found->plan).empty());
  return *std::move(found->plan);
}

int64_t Prefetched(const plan::Plan& plan) {
  return std::count_if(plan.subgraphs.begin(), plan.subgraphs.end(),
                       [](const plan::Subgraph& subgraph) { return subgraph.prefetch; });
}

TEST(Prefetch, IsNeverWorseAndOftenBetter) {
  int better = 0;
  int subgraphs = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Subject subject = AnySubject(seed, {3, 7}, {200, 2000});
    const Profile profile = Machine(subject.profile);
    PartitionOptions options = Prefetching();
    options.prefetch = false;
    const auto plain = SearchPartition(subject.graph, profile, options);
    ASSERT_TRUE(plain.has_value());
    if (!plain->plan) continue;
    options.prefetch = true;
    const plan::Plan plan = Search(subject.graph, profile, options);
    EXPECT_LE(plan.score, plain->plan->score) << "seed " << seed;
    EXPECT_EQ(plan.score<plain->plan->score, Prefetched(plan)> 0) << "seed " << seed;
    EXPECT_EQ(plan.totals.off_chip_bytes == plain->plan->totals.off_chip_bytes || Prefetched(plan) > 0, true);
    better += plan.score < plain->plan->score ? 1 : 0;
    subgraphs += static_cast<int>(plan.subgraphs.size());
  }
  EXPECT_GE(better, 10);
  EXPECT_GE(subgraphs, 60);
}

// With room for everything, no further subgraph would gain.
TEST(Prefetch, LeavesNoGainWhereThereIsRoom) {
  for (uint64_t seed = 100; seed < 120; ++seed) {
    Subject subject = AnySubject(seed, {3, 7}, {4000, 8000});
    const Profile profile = Machine(subject.profile);
    const plan::Plan plan = Search(subject.graph, profile, Prefetching());
    const Simulator simulator(plan.network, profile);
    for (size_t i = 1; i < plan.subgraphs.size(); ++i) {
      if (plan.subgraphs[i].prefetch) continue;
      std::vector<plan::Subgraph> with = plan.subgraphs;
      with[i].prefetch = true;
      int64_t cycles = 0;
      for (size_t s = 0; s < with.size(); ++s)
        cycles += PriceOf(plan.network, profile, simulator, with, s, plan.kept).latency_cycles;
      EXPECT_GE(cycles, plan.totals.latency_cycles) << "seed " << seed << ", subgraph " << i;
    }
  }
}

TEST(Prefetch, SaysWhatTheStatusIsAbout) {
  const graph::Graph graph = Chain(3);
  const Profile profile = Machine(SmallMachine(DmaSteps::kOverlapped, 400));
  PartitionOptions options = Prefetching();
  options.max_operators = 1;
  const plan::Plan plan = Search(graph, profile, options);
  EXPECT_EQ(Prefetched(plan), 2);
  EXPECT_EQ(plan.status, "feasible");
  EXPECT_THAT(plan.notes, Contains(HasSubstr("2 subgraphs have their constants prefetched; the score was ")));
  EXPECT_THAT(plan.notes, Contains(HasSubstr("optimal among plans without")));
}

// 64 bytes come and go, and 12 are weights: 2 * 64 + 12 of 140.
TEST(Prefetch, NeedsRoom) {
  const graph::Graph graph = Chain(3);
  PartitionOptions options = Prefetching();
  options.max_operators = 1;
  options.keeping = Keeping::kNothing;
  for (const auto& [capacity, count] : {std::pair<int64_t, int64_t>{152, 2}, {140, 0}}) {
    Profile profile = Machine(SmallMachine(DmaSteps::kOverlapped, capacity));
    profile.tiling.axes.clear();
    EXPECT_EQ(Prefetched(Search(graph, profile, options)), count) << capacity;
  }
}

TEST(Prefetch, KeepsWeightsAsDemanded) {
  const graph::Graph graph = Chain(3);
  Profile profile = Machine(SmallMachine(DmaSteps::kOverlapped, 1000));
  profile.tiling.weights = {WeightPolicy::kStreamed, WeightPolicy::kResident};
  PartitionOptions options = Prefetching();
  options.max_operators = 1;
  Demand streamed;
  streamed.kind = DemandKind::kSubgraph;
  streamed.interval = {1, 1};
  streamed.way.weights = WeightPolicy::kStreamed;
  options.demands = {streamed};
  const plan::Plan plan = Search(graph, profile, options);
  EXPECT_EQ(plan.subgraphs[1].weights, WeightPolicy::kStreamed);
  EXPECT_TRUE(plan.subgraphs[2].prefetch);
}

TEST(Prefetch, IsNothingWhereTransfersHaveStepsOfTheirOwn) {
  const plan::Plan plan = Search(Chain(3), SmallMachine(DmaSteps::kOwnSteps, 1000), Prefetching());
  EXPECT_EQ(Prefetched(plan), 0);
  EXPECT_THAT(plan.notes, Contains(HasSubstr("no subgraph gains by prefetching constants")));
}

}  // namespace
}  // namespace tessera::search
