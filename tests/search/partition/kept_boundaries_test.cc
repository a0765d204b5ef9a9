// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "exhaustive.h"
#include "networks.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/paths/lattice.h"
#include "tessera/tests/search/cost/small_machine.h"

// Boundary tensors that stay on chip: the places where each may be kept, and the cases in which the
// search keeps it.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;

partition::answer::PartitionOptions Minimising(
    const std::string& metric,
    partition::paths::Keeping keeping = partition::paths::Keeping::kWherePossible) {
  partition::answer::PartitionOptions options;
  options.objective = {.weights = {{metric, 1}}, .limits = {}};
  options.engines = TestEngines();
  options.keeping = keeping;
  return options;
}

plan::Plan Plan(const graph::Graph& graph, const Profile& profile,
                const partition::answer::PartitionOptions& options) {
  const auto result = partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(result && result->plan);
  if (!result || !result->plan) return {};
  EXPECT_TRUE(plan::verify::Validate(*result->plan).empty());
  return *result->plan;
}

// a, b = conv(a), a + b
struct Skip {
  Skip() {
    NetworkBuilder net;
    a = net.Conv(net.Input({1, 2, 8, 4}), 3, 2);
    b = net.Conv(a, 3, 2);
    graph = net.Finish(net.Add(a, b));
  }
  int a = 0;
  int b = 0;
  graph::Graph graph;
};

std::vector<std::vector<int>> KeptOn(const partition::paths::CutStates& states,
                                     graph::Interval interval) {
  std::vector<std::vector<int>> kept;
  for (const partition::paths::Crossing& crossing : states.CrossingsOf(interval))
    kept.push_back(crossing.kept);
  return kept;
}

using Sets = std::vector<std::vector<int>>;

TEST(CutStates, AreThePositionsWhereNothingIsKept) {
  const partition::paths::CutStates states(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered), 1000,
                                           partition::paths::Keeping::kNothing);
  EXPECT_EQ(states.Last(), 3);
  EXPECT_EQ(KeptOn(states, {1, 2}), Sets{{}});
}

TEST(CutStates, ATensorIsKeptUpToItsLastReaderOrNotAtAll) {
  const Skip net;
  const partition::paths::CutStates states(net.graph, SmallMachine(DmaSteps::kDoubleBuffered), 1000,
                                           partition::paths::Keeping::kWherePossible);
  // 1 state at the begin and at the end, 2 behind a, 4 behind b.
  EXPECT_EQ(states.Last() + 1, 1 + 2 + 4 + 1);
  EXPECT_EQ(KeptOn(states, {0, 0}), (Sets{{}, {net.a}}));
  EXPECT_EQ(KeptOn(states, {1, 1}), (Sets{{}, {net.b}, {net.a}, {net.a, net.b}}));
  EXPECT_EQ(KeptOn(states, {2, 2}), (Sets{{}, {net.a}, {net.b}, {net.a, net.b}}));
  EXPECT_EQ(KeptOn(states, {0, 2}), Sets{{}});
  EXPECT_FALSE(states.IsCapped());
}

TEST(CutStates, KeepNoMoreThanFits) {
  const Skip net;
  const partition::paths::CutStates one(net.graph, SmallMachine(DmaSteps::kDoubleBuffered), 127,
                                        partition::paths::Keeping::kWherePossible);
  EXPECT_EQ(KeptOn(one, {2, 2}), (Sets{{}, {net.a}, {net.b}}));
  const partition::paths::CutStates none(net.graph, SmallMachine(DmaSteps::kDoubleBuffered), 63,
                                         partition::paths::Keeping::kWherePossible);
  EXPECT_EQ(none.Last(), 3);
  // While conv1 runs, its operand and its result are in the memory.
  const partition::paths::CutStates chain(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered), 127,
                                          partition::paths::Keeping::kWherePossible);
  EXPECT_EQ(KeptOn(chain, {1, 1}).size(), 3U);
}

TEST(CutStates, KeepNothingWhoseHomeIsOnChip) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  LayoutIn(profile, base::TensorRole::kBoundary).home = profile.tile_memory;
  EXPECT_EQ(partition::paths::CutStates(Chain(3), profile, 1000,
                                        partition::paths::Keeping::kWherePossible)
                .Last(),
            3);
}

TEST(CutStates, SayWhereMoreCouldBeKept) {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 8, 4});
  const int a = net.Conv(x, 1, 2);
  const int b = net.Conv(x, 1, 2);
  const int c = net.Conv(x, 1, 2);
  const int d = net.Conv(x, 1, 2);
  const int e = net.Conv(x, 1, 2);
  const graph::Graph graph = net.Finish(net.Add(net.Add(net.Add(net.Add(a, b), c), d), e));
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  EXPECT_TRUE(
      partition::paths::CutStates(graph, profile, 320, partition::paths::Keeping::kWherePossible)
          .IsCapped());
  EXPECT_FALSE(
      partition::paths::CutStates(graph, profile, 319, partition::paths::Keeping::kWherePossible)
          .IsCapped());
}

// Of 80 tensors that are all needed at the end there are 3 160 pairs.
TEST(CutStates, AreLimitedInNumber) {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 8, 4});
  std::vector<int> parts;
  for (int i = 0; i < 80; ++i) parts.push_back(net.Conv(x, 1, 2));
  int sum = parts.back();
  for (int i = 78; i >= 0; --i) sum = net.Add(sum, parts[static_cast<size_t>(i)]);
  const graph::Graph graph = net.Finish(sum);
  const partition::paths::CutStates states(graph, SmallMachine(DmaSteps::kDoubleBuffered), 1 << 20,
                                           partition::paths::Keeping::kWherePossible);
  EXPECT_TRUE(states.LacksSets());
  EXPECT_TRUE(states.IsCapped());
  const auto most = static_cast<int>(partition::paths::MostSets(graph.operators.size()));
  EXPECT_EQ(states.CountAt(80), most);
  EXPECT_EQ(states.CountAt(20), 1 + 20 + 20 * 19 / 2);
}

TEST(KeptBoundaries, AreNotMoved) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 400);
  partition::answer::PartitionOptions options =
      Minimising("off_chip_bytes", partition::paths::Keeping::kNothing);
  options.max_operators = 1;
  const plan::Plan moved = Plan(Chain(3), profile, options);
  options.keeping = partition::paths::Keeping::kWherePossible;
  const plan::Plan kept = Plan(Chain(3), profile, options);
  EXPECT_EQ(moved.totals.off_chip_bytes, 6 * 64 + 3 * 12);
  EXPECT_EQ(kept.totals.off_chip_bytes, 2 * 64 + 3 * 12);
  EXPECT_LT(kept.totals.latency_cycles, moved.totals.latency_cycles);
  EXPECT_LT(kept.totals.energy_pj, moved.totals.energy_pj);
  EXPECT_EQ(kept.kept.size(), 2U);
  EXPECT_EQ(kept.status, "optimal");
}

TEST(KeptBoundaries, MayPassOverASubgraph) {
  const Skip net;
  partition::answer::PartitionOptions options = Minimising("off_chip_bytes");
  options.max_operators = 1;
  const plan::Plan plan = Plan(net.graph, SmallMachine(DmaSteps::kSerialized, 400), options);
  EXPECT_EQ(plan.kept, (std::vector<int>{net.a, net.b}));
  EXPECT_EQ(plan.totals.off_chip_bytes, 2 * 64 + 2 * 12);
}

TEST(KeptBoundaries, GoHomeWhereTheyDoNotFit) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 70);
  partition::answer::PartitionOptions options = Minimising("latency");
  options.max_operators = 1;
  const plan::Plan plan = Plan(Chain(2), profile, options);
  EXPECT_TRUE(plan.kept.empty());
  options.keeping = partition::paths::Keeping::kNothing;
  EXPECT_EQ(plan.score, Plan(Chain(2), profile, options).score);
}

// A row of x has 16 bytes, and nine rows of it make one row of a. With a of 64 bytes kept, tiles of
// two rows are the largest that fit, and x is loaded four times. 272 bytes hold two tiles of eight
// rows.
TEST(KeptBoundaries, GoHomeWhereLargerTilesAreWorthMore) {
  NetworkBuilder net;
  const int a = net.Conv(net.Input({1, 4, 16, 4}), 9, 1);
  const graph::Graph graph = net.Finish(net.Conv(a, 1, 1));
  partition::answer::PartitionOptions options = Minimising("off_chip_bytes");
  options.max_operators = 1;
  const int64_t weights = 36 + 1;
  const int64_t moved = 2 * 12 * 16 + 3 * 64 + weights;
  const int64_t kept = 68 * 16 + 64 + weights;
  ASSERT_LT(moved, kept);
  const plan::Plan tight = Plan(graph, SmallMachine(DmaSteps::kSerialized, 272), options);
  EXPECT_TRUE(tight.kept.empty());
  EXPECT_EQ(tight.totals.off_chip_bytes, moved);
  const plan::Plan roomy = Plan(graph, SmallMachine(DmaSteps::kSerialized, 300), options);
  EXPECT_EQ(roomy.kept, std::vector<int>{a});
  EXPECT_EQ(roomy.totals.off_chip_bytes, 2 * 12 * 16 + 64 + weights);
}

// The claims of a search that spills every boundary tensor are about such plans only.
TEST(KeptBoundaries, AreNotSpokenOfWhereAllAreToBeBroughtHome) {
  int missed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto [graph, profile] = AnySubject(seed, {4, 7}, {40, 90});
    partition::answer::PartitionOptions options = Minimising("off_chip_bytes");
    const auto kept = partition::SearchPartition(graph, profile, options);
    options.keeping = partition::paths::Keeping::kNothing;
    const auto spilled = partition::SearchPartition(graph, profile, options);
    ASSERT_TRUE(kept && spilled);
    if (!kept->plan || !spilled->plan || spilled->plan->score == kept->plan->score) continue;
    EXPECT_EQ(spilled->plan->scope.kept, "boundary tensors, as asked");
    options.objective.limits["off_chip_bytes"] = kept->plan->score;
    const auto none = partition::SearchPartition(graph, profile, options);
    ASSERT_TRUE(none);
    EXPECT_EQ(none->status, problem::Status::kInfeasible);
    EXPECT_THAT(none->reason, testing::HasSubstr("brought home"));
    ++missed;
  }
  EXPECT_GE(missed, 3);
}

TEST(KeptBoundaries, DoNotDependOnThreads) {
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 200);
  partition::answer::PartitionOptions options = Minimising("latency");
  const plan::Plan one = Plan(Chain(6), profile, options);
  options.threads = 2;
  const plan::Plan two = Plan(Chain(6), profile, options);
  EXPECT_EQ(one.kept, two.kept);
  EXPECT_EQ(one.score, two.score);
  EXPECT_EQ(one.allocation.offsets, two.allocation.offsets);
}

}  // namespace
}  // namespace tessera::search
