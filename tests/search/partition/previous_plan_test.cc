// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "every_plan.h"
#include "exhaustive.h"
#include "networks.h"
#include "tessera/base/random.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/search/cost/small_machine.h"

// A new plan differs from a previous plan only where that improves the score.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using ::testing::HasSubstr;

partition::answer::PartitionOptions After(const plan::Plan* old, const std::string& metric) {
  partition::answer::PartitionOptions options;
  options.objective = {.weights = {{metric, 1}}, .limits = {}};
  options.engines = TestEngines();
  options.previous = old;
  return options;
}

plan::Plan PlanAfter(const plan::Plan* old, const graph::Graph& graph, const Profile& profile,
                     const std::string& metric = "off_chip_bytes") {
  const auto result = partition::SearchPartition(graph, profile, After(old, metric));
  EXPECT_TRUE(result && result->plan) << (result ? result->reason : base::Format(result.error()));
  if (!result || !result->plan) return {};
  EXPECT_TRUE(plan::verify::Validate(*result->plan).empty());
  return *result->plan;
}

// Convolutions of 64 bytes each; `channels` is the number of channels of the last one.
graph::Graph ChainEndingIn(int64_t channels) {
  NetworkBuilder net;
  int last = net.Input({1, 2, 8, 4});
  for (int i = 0; i < 3; ++i) last = net.Conv(last, 3, 2);
  return net.Finish(net.Conv(last, 3, channels));
}

TEST(PreviousPlan, OfTheSameNetworkStaysAsItIs) {
  base::Random random(5);
  int checked = 0;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    const graph::Graph graph = AnyNetwork(random, static_cast<int>(random.Uniform(2, 6)));
    const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, random.Uniform(40, 200));
    const auto first = partition::SearchPartition(graph, profile, After(nullptr, "latency"));
    ASSERT_TRUE(first);
    if (!first->plan) continue;
    ++checked;
    const plan::Plan second = PlanAfter(&*first->plan, graph, profile, "latency");
    const plan::files::Difference difference = plan::files::FindDifference(*first->plan, second);
    EXPECT_TRUE(difference.parts.empty());
    EXPECT_TRUE(difference.shifts.empty());
    EXPECT_EQ(second.kept, first->plan->kept);
    const size_t all = second.subgraphs.size();
    EXPECT_THAT(
        second.notes.back(),
        HasSubstr(fmt::format("previous plan: {0} of {0} subgraphs, {0} of {0} tiles", all)));
  }
  ExpectEnough(checked, 15);
}

TEST(PreviousPlan, KeepsWhatIsPrefetched) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 400);
  profile.memories[0].port.shared = false;
  profile.links[0].outstanding = 2;
  const graph::Graph graph = Chain(3);
  partition::answer::PartitionOptions options = After(nullptr, "latency");
  options.max_operators = 1;
  options.prefetch = true;
  const auto first = partition::SearchPartition(graph, profile, options);
  ASSERT_TRUE(first && first->plan);
  ASSERT_FALSE(first->plan->subgraphs.back().prefetch.empty());
  options.previous = &*first->plan;
  const auto second = partition::SearchPartition(graph, profile, options);
  ASSERT_TRUE(second && second->plan);
  const plan::files::Difference difference =
      plan::files::FindDifference(*first->plan, *second->plan);
  EXPECT_TRUE(difference.parts.empty());
  EXPECT_TRUE(difference.shifts.empty());
  const size_t buffers =
      first->plan->buffers.size() + first->plan->homes.front().problem.buffers.size();
  EXPECT_EQ(
      second->plan->notes.back(),
      fmt::format("previous plan: 3 of 3 subgraphs, 3 of 3 tiles with their policies and {0} of "
                  "{0} addresses are kept",
                  buffers));
}

// A previous plan is any of many plans with equal scores. The new plan is the same one, whatever
// plan the search alone would choose.
TEST(PreviousPlan, DecidesBetweenPlansOfEqualScore) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 2000);
  const graph::Graph graph = Chain(4);
  const plan::Plan usual = PlanAfter(nullptr, graph, profile);
  for (int cut = 1; cut < 4; ++cut) {
    partition::answer::PartitionOptions options = After(nullptr, "off_chip_bytes");
    const int kept = graph.operators[static_cast<size_t>(cut - 1)].outputs.front();
    options.constraints = {{.kind = plan::PlanConstraintKind::kApart,
                            .interval = {cut, cut},
                            .config = {},
                            .memory = {}},
                           {.kind = plan::PlanConstraintKind::kKeep,
                            .interval = {},
                            .tensor = kept,
                            .config = {},
                            .memory = {}}};
    const auto old = partition::SearchPartition(graph, profile, options);
    ASSERT_TRUE(old && old->plan);
    ASSERT_EQ(old->plan->score, usual.score);
    const plan::Plan plan = PlanAfter(&*old->plan, graph, profile);
    EXPECT_TRUE(plan::files::FindDifference(*old->plan, plan).parts.empty()) << cut;
    EXPECT_EQ(plan.kept, old->plan->kept);
  }
}

// The number of operators whose subgraph differs from the old plan, in a network in which only
// operator `changed` is different; a second implementation.
int ChangeFrom(const plan::Plan& old, int changed,
               const std::vector<encoder::program::SubgraphChoice>& choices,
               const std::vector<int>& kept) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(old.network);
  int change = 0;
  for (const encoder::program::SubgraphChoice& choice : choices) {
    const auto crossing = [&](const std::vector<int>& tensors) {
      std::set<int> found;
      for (const int tensor : tensors) {
        const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
        for (const int cut : {choice.interval.first, choice.interval.last + 1}) {
          if (usage.producer < cut && cut <= usage.consumers.back()) found.insert(tensor);
        }
      }
      return found;
    };
    const bool same = std::any_of(
        old.subgraphs.begin(), old.subgraphs.end(), [&](const plan::Subgraph& subgraph) {
          return subgraph.interval == choice.interval && subgraph.tile == choice.tile &&
                 subgraph.weights == choice.policy.weights &&
                 subgraph.in_place == choice.policy.in_place &&
                 subgraph.halo == choice.policy.halo && crossing(old.kept) == crossing(kept);
        });
    const bool touched = choice.interval.first <= changed && changed <= choice.interval.last;
    change += same && !touched ? 0 : choice.interval.last - choice.interval.first + 1;
  }
  return change;
}

TEST(PreviousPlan, DiffersLeastFromTheBestOfAllPlans) {
  base::Random random(41);
  int partly = 0;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const graph::Graph graph = AnyNetwork(random, static_cast<int>(random.Uniform(3, 5)));
    const Profile profile = SmallMachine(DmaSteps::kSerialized, random.Uniform(60, 300));
    graph::Graph before = graph;
    const int changed =
        static_cast<int>(random.Uniform(0, static_cast<int64_t>(graph.operators.size()) - 1));
    before.operators[static_cast<size_t>(changed)].activation = "relu";
    partition::answer::PartitionOptions options = After(nullptr, "off_chip_bytes");
    options.max_operators = 2;
    const auto old = partition::SearchPartition(before, profile, options);
    ASSERT_TRUE(old);
    if (!old->plan) continue;
    EveryPlan every(graph, profile, "off_chip_bytes");
    const double best = every.BestScore();
    if (best == std::numeric_limits<double>::infinity()) continue;
    const plan::Plan plan = PlanAfter(&*old->plan, graph, profile);
    ASSERT_EQ(plan.score, best);
    int least = 0;
    while (every.BestScore([&](const auto& choices, const auto& kept) {
      return ChangeFrom(*old->plan, changed, choices, kept) <= least;
    }) > best)
      ++least;
    std::vector<encoder::program::SubgraphChoice> choices;
    for (const plan::Subgraph& subgraph : plan.subgraphs) {
      choices.push_back(
          {subgraph.interval,
           subgraph.tile,
           {.weights = subgraph.weights, .in_place = subgraph.in_place, .halo = subgraph.halo}});
    }
    EXPECT_EQ(ChangeFrom(*old->plan, changed, choices, plan.kept), least);
    partly += 0 < least && least < static_cast<int>(graph.operators.size()) ? 1 : 0;
  }
  EXPECT_GE(partly, 3);
}

TEST(PreviousPlan, NeverCostsAnything) {
  base::Random random(17);
  int checked = 0;
  for (int round = 0; round < 20; ++round) {
    const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, random.Uniform(40, 200));
    const graph::Graph before = AnyNetwork(random, static_cast<int>(random.Uniform(2, 6)));
    const graph::Graph graph = AnyNetwork(random, static_cast<int>(random.Uniform(2, 6)));
    const auto old = partition::SearchPartition(before, profile, After(nullptr, "latency"));
    const auto fresh = partition::SearchPartition(graph, profile, After(nullptr, "latency"));
    ASSERT_TRUE(old && fresh);
    if (!old->plan || !fresh->plan) continue;
    ++checked;
    const plan::Plan plan = PlanAfter(&*old->plan, graph, profile, "latency");
    EXPECT_EQ(plan.score, fresh->plan->score);
    EXPECT_EQ(plan.status, fresh->plan->status);
  }
  ExpectEnough(checked, 12);
}

TEST(PreviousPlan, SubgraphsWhoseOperatorsChangedAreNoLongerThere) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 2000);
  const graph::Graph before = ChainEndingIn(2);
  partition::answer::PartitionOptions options = After(nullptr, "off_chip_bytes");
  options.max_operators = 2;
  options.keeping = partition::paths::Keeping::kNothing;
  const auto old = partition::SearchPartition(before, profile, options);
  ASSERT_TRUE(old && old->plan);
  ASSERT_EQ(old->plan->subgraphs.size(), 2U);
  const graph::Graph graph = ChainEndingIn(3);
  const partition::choices::PreviousPlan previous(*old->plan, graph, profile);
  EXPECT_NE(previous.TileOf({0, 1}), nullptr);
  EXPECT_EQ(previous.TileOf({2, 3}), nullptr);
  EXPECT_EQ(previous.TileOf({0, 2}), nullptr);
  options.previous = &*old->plan;
  const auto plan = partition::SearchPartition(graph, profile, options);
  ASSERT_TRUE(plan && plan->plan);
  EXPECT_THAT(plan->plan->notes.back(),
              HasSubstr("previous plan: operators of 1 of 2 subgraphs are unchanged; "
                        "1 of 2 subgraphs, 1 of 2 tiles"));
}

// The last weights are smaller than before, and leave a gap in DRAM.
TEST(PreviousPlan, TensorsStayAtHomeWhereTheyWere) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 2000);
  const plan::Plan old = PlanAfter(nullptr, ChainEndingIn(8), profile);
  const auto moved = [&old](const plan::Plan& plan) {
    std::vector<std::string> ids;
    for (const plan::files::Shift& shift : plan::files::FindDifference(old, plan).shifts) {
      if (shift.memory == "dram" && shift.first_offset != shift.second_offset)
        ids.push_back(shift.id);
    }
    return ids;
  };
  const graph::Graph graph = ChainEndingIn(1);
  EXPECT_FALSE(moved(PlanAfter(nullptr, graph, profile)).empty());
  EXPECT_TRUE(moved(PlanAfter(&old, graph, profile)).empty());
}

// The sum has no weights. The new profile calls its only policy by another name.
TEST(PreviousPlan, PoliciesThatMakeOneProgramAreOne) {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 8, 4});
  const graph::Graph graph = net.Finish(net.Add(x, net.Conv(x, 3, 2)));
  Profile profile = SmallMachine(DmaSteps::kSerialized, 2000);
  profile.tiling.weights = {hw_profiles::WeightPolicy::kStreamed};
  partition::answer::PartitionOptions options = After(nullptr, "latency");
  options.max_operators = 1;
  const auto old = partition::SearchPartition(graph, profile, options);
  ASSERT_TRUE(old && old->plan);
  ASSERT_EQ(old->plan->subgraphs[1].weights, hw_profiles::WeightPolicy::kStreamed);
  profile.tiling.weights = {hw_profiles::WeightPolicy::kResident,
                            hw_profiles::WeightPolicy::kStreamed};
  const partition::choices::PreviousPlan previous(*old->plan, graph, profile);
  ASSERT_NE(previous.PolicyOf({1, 1}), nullptr);
  EXPECT_EQ(previous.PolicyOf({1, 1})->weights, hw_profiles::WeightPolicy::kResident);
}

TEST(PreviousPlan, OperatorsAreTheSameWithTheirTensors) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 2000);
  partition::answer::PartitionOptions options = After(nullptr, "off_chip_bytes");
  options.keeping = partition::paths::Keeping::kNothing;
  const auto whole = partition::SearchPartition(Chain(3), profile, options);
  ASSERT_TRUE(whole && whole->plan);
  const plan::Plan& old = *whole->plan;
  graph::Graph graph = Chain(4);
  for (graph::Operator& op : graph.operators) op.id = op.id == "conv3" ? "other" : op.id;
  const partition::choices::PreviousPlan longer(old, graph, profile);
  EXPECT_EQ(longer.TileOf({0, 2}), nullptr);  // its result is no longer an output of the network
  EXPECT_EQ(longer.LeastChange({0, 3}, {}), 4);
  EXPECT_NE(partition::choices::PreviousPlan(old, Chain(3), profile).TileOf({0, 2}), nullptr);
  EXPECT_EQ(partition::choices::PreviousPlan(old, Chain(3), profile).LeastChange({0, 2}, {}), 0);
}

}  // namespace
}  // namespace tessera::search
