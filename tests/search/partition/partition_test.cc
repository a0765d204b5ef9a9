#include "tessera/search/partition/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "exhaustive.h"
#include "networks.h"
#include "tessera/base/random.h"
#include "tessera/plan/validator.h"
#include "tessera/tests/search/simulate/small_machine.h"

namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using ::testing::Contains;
using ::testing::HasSubstr;

PartitionOptions With(plan::Objective objective = {}) {
  PartitionOptions options;
  options.objective = std::move(objective);
  options.engines = TestEngines();
  options.keeping = Keeping::kNothing;
  return options;
}

plan::Objective Minimise(const std::string& metric) { return {.weights = {{metric, 1}}, .limits = {}}; }

// Two operators around a tensor of 256 bytes, 64 bytes in and out.
graph::Graph WideInTheMiddle() {
  NetworkBuilder net;
  const int wide = net.Conv(net.Input({1, 2, 8, 4}), 1, 8);
  return net.Finish(net.Conv(wide, 1, 2));
}

// Whatever crosses a cut or is the result lies whole in the tile memory; fused tiles need less.
Profile OneHome(int64_t capacity) {
  Profile profile = SmallMachine(DmaSteps::kOverlapped, capacity);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  LayoutIn(profile, base::TensorRole::kConstant).home = 0;
  LayoutIn(profile, base::TensorRole::kNetworkInput).home = 0;
  return profile;
}

// What the search finds is no better and no worse than the best of everything.
void ExpectBest(const ExhaustiveSearch& everything, const graph::Graph& graph, const Profile& profile,
                const plan::Objective& objective) {
  const auto found = SearchPartition(graph, profile, With(objective));
  ASSERT_TRUE(found) << base::Format(found.error());
  const plan::Metrics bounds = found->plan ? found->plan->lower_bounds : plan::Metrics{};
  const std::optional<double> best = everything.BestScore(objective, bounds);
  if (!best) {
    EXPECT_EQ(found->status, problem::Status::kInfeasible) << found->reason;
    return;
  }
  ASSERT_TRUE(found->plan) << found->reason;
  EXPECT_EQ(found->status, problem::Status::kOptimal);
  EXPECT_NEAR(found->plan->score, *best, 1e-9 * *best);
}

class Exhaustive : public ::testing::TestWithParam<int> {};

TEST_P(Exhaustive, EveryObjectiveFindsTheBestOfAllPartitions) {
  base::Random random(static_cast<uint64_t>(GetParam()));
  const int operators = static_cast<int>(random.Uniform(2, 4));
  const graph::Graph graph = AnyNetwork(random, operators);
  const DmaSteps dma = random.Chance(0.5) ? DmaSteps::kOwnSteps : DmaSteps::kOverlapped;
  Profile profile = SmallMachine(dma, random.Uniform(30, 150));
  if (GetParam() % 2 == 1) {
    profile.tiling.halo = {hw_profiles::HaloStorage::kRing, hw_profiles::HaloStorage::kCopy,
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
  const Profile profile = SmallMachine(DmaSteps::kOverlapped, 200);
  const auto free = SearchPartition(graph, profile, With(Minimise("latency")));
  ASSERT_TRUE(free && free->plan);
  const plan::Metrics& totals = free->plan->totals;
  const ExhaustiveSearch everything(graph, profile);
  // A tenth less than the fastest plan needs, so that another one must be found, or none.
  ExpectBest(
      everything, graph, profile,
      {.weights = {{"latency", 1}}, .limits = {{"peak", 0.9 * static_cast<double>(totals.peak_bytes)}}});
  ExpectBest(everything, graph, profile,
             {.weights = {{"latency", 1}}, .limits = {{"energy", 0.9 * totals.energy_pj}}});
  ExpectBest(everything, graph, profile,
             {.weights = {{"peak", 1}}, .limits = {{"macs", static_cast<double>(totals.macs)}}});
  ExpectBest(everything, graph, profile,
             {.weights = {{"off_chip_bytes", 1}},
              .limits = {{"latency", 1.1 * static_cast<double>(totals.latency_cycles)}, {"peak", 150}}});
}

// Convolutions of more channels than the memory has room for in many tiles.
graph::Graph DeepNetwork(base::Random& random) {
  NetworkBuilder net;
  int last = net.Input({1, random.Uniform(16, 60), random.Uniform(1, 3), 1});
  for (int64_t layers = random.Uniform(1, 2); layers > 0; --layers)
    last = net.Conv(last, 1, layers > 1 ? random.Uniform(8, 30) : random.Uniform(1, 3));
  return net.Finish(last);
}

TEST(ByDepth, IsTakenWhereItIsBest) {
  int taken = 0;
  int needed = 0;
  for (uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    const graph::Graph graph = DeepNetwork(random);
    const DmaSteps dma = random.Chance(0.5) ? DmaSteps::kOwnSteps : DmaSteps::kOverlapped;
    Profile profile = SmallMachine(dma, random.Uniform(40, 250));
    const auto without = SearchPartition(graph, profile, With(Minimise("latency")));
    profile.tiling.weights.push_back(hw_profiles::WeightPolicy::kByDepth);
    profile.tiling.depth_granule = random.Uniform(2, 12);
    const ExhaustiveSearch everything(graph, profile);
    for (const std::string metric : {"latency", "energy", "off_chip_bytes", "peak"})
      ExpectBest(everything, graph, profile, Minimise(metric));
    const auto with = SearchPartition(graph, profile, With(Minimise("latency")));
    ASSERT_TRUE(without && with);
    if (!with->plan) continue;
    EXPECT_TRUE(plan::Validate(*with->plan).empty());
    const bool by_depth = std::any_of(with->plan->subgraphs.begin(), with->plan->subgraphs.end(),
                                      [](const plan::Subgraph& subgraph) {
                                        return subgraph.weights == hw_profiles::WeightPolicy::kByDepth;
                                      });
    taken += by_depth ? 1 : 0;
    needed += without->plan ? 0 : 1;
  }
  EXPECT_GE(taken, 8);
  EXPECT_GE(needed, 4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Exhaustive, ::testing::Range(0, 12));

TEST(SearchPartition, LatencyIsTheDefaultObjective) {
  const auto by_default = SearchPartition(Chain(3), SmallMachine(DmaSteps::kOverlapped, 200), With());
  const auto by_name =
      SearchPartition(Chain(3), SmallMachine(DmaSteps::kOverlapped, 200), With(Minimise("latency")));
  ASSERT_TRUE(by_default && by_default->plan && by_name && by_name->plan);
  EXPECT_EQ(by_default->plan->score, by_name->plan->score);
  EXPECT_EQ(by_default->plan->score, static_cast<double>(by_default->plan->totals.latency_cycles));
}

TEST(SearchPartition, ThreadsChangeNothing) {
  PartitionOptions options = With({.weights = {{"latency", 1}, {"off_chip_bytes", 1}}, .limits = {}});
  const Profile profile = SmallMachine(DmaSteps::kOverlapped, 150);
  const auto one = SearchPartition(Chain(6), profile, options);
  options.threads = 2;
  const auto two = SearchPartition(Chain(6), profile, options);
  ASSERT_TRUE(one && one->plan && two && two->plan);
  EXPECT_EQ(one->plan->score, two->plan->score);
  EXPECT_EQ(one->plan->allocation.offsets, two->plan->allocation.offsets);
  ASSERT_EQ(one->plan->subgraphs.size(), two->plan->subgraphs.size());
  for (size_t i = 0; i < one->plan->subgraphs.size(); ++i) {
    EXPECT_EQ(one->plan->subgraphs[i].interval, two->plan->subgraphs[i].interval);
    EXPECT_EQ(one->plan->subgraphs[i].tile, two->plan->subgraphs[i].tile);
  }
}

TEST(SearchPartition, FusesWhatFitsAndSaysWhatAloneWouldCost) {
  const auto result =
      SearchPartition(Chain(3), SmallMachine(DmaSteps::kOverlapped), With(Minimise("off_chip_bytes")));
  ASSERT_TRUE(result && result->plan);
  EXPECT_EQ(result->plan->subgraphs.size(), 1U);
  EXPECT_EQ(result->plan->totals.off_chip_bytes, 2 * 64 + 3 * 12);
  EXPECT_TRUE(result->plan->baseline.complete);
  EXPECT_EQ(result->plan->baseline.totals.off_chip_bytes, 6 * 64 + 3 * 12);
}

TEST(SearchPartition, BaselineNamesWhatDoesNotFitAlone) {
  const auto result = SearchPartition(WideInTheMiddle(), OneHome(140), With());
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_EQ(result->plan->subgraphs.size(), 1U);
  EXPECT_FALSE(result->plan->baseline.complete);
  EXPECT_EQ(result->plan->baseline.do_not_fit, (std::vector<int>{0, 1}));
}

TEST(SearchPartition, CapOnOperatorsIsKeptAndTold) {
  PartitionOptions options = With(Minimise("off_chip_bytes"));
  options.max_operators = 2;
  const auto result = SearchPartition(Chain(4), SmallMachine(DmaSteps::kOverlapped), options);
  ASSERT_TRUE(result && result->plan);
  EXPECT_EQ(result->plan->subgraphs.size(), 2U);
  EXPECT_EQ(result->status, problem::Status::kOptimal);
  EXPECT_THAT(result->plan->notes, Contains(HasSubstr("capped at 2 operators: optimal among such plans")));
}

TEST(SearchPartition, WhatOnlyTheCapRulesOutIsNotCalledInfeasible) {
  PartitionOptions options = With();
  options.max_operators = 1;
  const auto result = SearchPartition(WideInTheMiddle(), OneHome(140), options);
  ASSERT_TRUE(result) << base::Format(result.error());
  EXPECT_EQ(result->status, problem::Status::kUnknown);
  EXPECT_THAT(result->reason, HasSubstr("fits in no subgraph of at most 1 operators"));
  EXPECT_THAT(result->reason, HasSubstr("longer subgraphs were not tried, try --max-operators 2"));
}

TEST(SearchPartition, WhatNoSubgraphCanHoldIsInfeasibleWhateverTheCap) {
  PartitionOptions options = With();
  options.max_operators = 1;
  const auto result = SearchPartition(Chain(3), SmallMachine(DmaSteps::kOverlapped, 10), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible);
  EXPECT_THAT(result->reason, HasSubstr("fits in no subgraph: it needs"));
}

TEST(SearchPartition, TheLowerBoundOfThePeakHoldsForLongerSubgraphsToo) {
  PartitionOptions options = With(Minimise("peak"));
  const auto fused = SearchPartition(WideInTheMiddle(), OneHome(400), options);
  options.max_operators = 1;
  const auto apart = SearchPartition(WideInTheMiddle(), OneHome(400), options);
  ASSERT_TRUE(fused && fused->plan && apart && apart->plan);
  EXPECT_EQ(fused->plan->lower_bounds.peak_bytes, apart->plan->lower_bounds.peak_bytes);
  EXPECT_LE(apart->plan->lower_bounds.peak_bytes, fused->plan->totals.peak_bytes);
  EXPECT_LT(fused->plan->totals.peak_bytes, apart->plan->totals.peak_bytes);
}

TEST(SearchPartition, FindsRoomForTheSmallestTilesOfALargeMap) {
  // 96 MiB in and out; tiles of a row and up to eight columns fit twice. Single pixels would be 2^21 tiles.
  NetworkBuilder net;
  const int x = net.Input({1, 16, 2048, 1024});
  const graph::Graph graph = net.Finish(net.Add(x, x));
  Profile profile = SmallMachine(DmaSteps::kOverlapped, 512);
  profile.tiling.axes = {{base::Axis::kRows, 1}, {base::Axis::kColumns, 1}};
  const auto result = SearchPartition(graph, profile, With());
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_LE(graph::ElementsOf(result->plan->subgraphs[0].tile), 16 * 8);
}

TEST(SearchPartition, ATileIsProvenLargestOnlyAmongAllShapes) {
  NetworkBuilder net;
  const graph::Graph graph = net.Finish(net.Conv(net.Input({1, 2, 36, 30}), 1, 2));
  Profile profile = SmallMachine(DmaSteps::kOverlapped, 900);
  const auto by_rows = SearchPartition(graph, profile, With());
  ASSERT_TRUE(by_rows && by_rows->plan);
  EXPECT_EQ(by_rows->plan->subgraphs[0].tile, (std::vector<int64_t>{1, 2, 3, 30}));
  EXPECT_TRUE(by_rows->plan->subgraphs[0].largest_proven);  // four rows take 960 bytes

  profile.tiling.axes.push_back({base::Axis::kColumns, 1});
  const auto by_both = SearchPartition(graph, profile, With());
  ASSERT_TRUE(by_both && by_both->plan);
  EXPECT_FALSE(by_both->plan->subgraphs[0].largest_proven);
}

TEST(SearchPartition, TooLittleMemoryIsProvenAndExplained) {
  const auto result = SearchPartition(Chain(3), SmallMachine(DmaSteps::kOverlapped, 10), With());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible);
  EXPECT_FALSE(result->plan);
  EXPECT_THAT(result->reason, HasSubstr("operator 'conv0' fits in no subgraph"));
  EXPECT_THAT(result->reason, HasSubstr("the memory holds 10"));
}

TEST(SearchPartition, WithoutBudgetNothingIsCalledImpossible) {
  PartitionOptions options = With();
  options.budget.units = 0;
  const auto result = SearchPartition(Chain(3), SmallMachine(DmaSteps::kOverlapped, 200), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kUnknown);
  EXPECT_THAT(result->reason, HasSubstr("a limit came before"));
}

TEST(SearchPartition, WithoutEnginesOnlyBoundsSpeak) {
  PartitionOptions options = With();
  options.engines = {};
  const auto roomy = SearchPartition(Chain(2), SmallMachine(DmaSteps::kOverlapped, 200), options);
  ASSERT_TRUE(roomy);
  EXPECT_EQ(roomy->status, problem::Status::kUnknown);
  const auto tight = SearchPartition(Chain(2), SmallMachine(DmaSteps::kOverlapped, 10), options);
  ASSERT_TRUE(tight);
  EXPECT_EQ(tight->status, problem::Status::kInfeasible);
}

TEST(SearchPartition, AStopIsNoProof) {
  base::Stop stop;
  stop.Request();
  PartitionOptions options = With();
  options.stop = &stop;
  const auto result = SearchPartition(Chain(3), SmallMachine(DmaSteps::kOverlapped, 200), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kUnknown);
}

TEST(SearchPartition, AStopAfterTheBaselineLeavesAPlan) {
  base::Stop stop;
  PartitionOptions options = With(Minimise("off_chip_bytes"));
  options.stop = &stop;
  options.progress = [&stop](std::string_view) { stop.Request(); };
  const auto result = SearchPartition(Chain(4), SmallMachine(DmaSteps::kOverlapped, 200), options);
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_EQ(result->status, problem::Status::kFeasible);
  EXPECT_EQ(result->plan->subgraphs.size(), 4U);
  EXPECT_TRUE(result->plan->baseline.complete);
  EXPECT_THAT(result->plan->notes, Contains(HasSubstr("stopped")));
}

TEST(SearchPartition, AStopLeavesAPlanEvenWhereAddressesMustAgree) {
  Profile profile = SmallMachine(DmaSteps::kOverlapped, 400);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  base::Stop stop;
  PartitionOptions options = With();
  options.stop = &stop;
  options.progress = [&stop](std::string_view) { stop.Request(); };
  const auto result = SearchPartition(Chain(4), profile, options);
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_THAT(result->plan->notes, Contains(HasSubstr("stopped")));
}

// 36 rows of 30 columns: more shapes than are tried one and all.
class MoreAxes : public ::testing::TestWithParam<int> {};

TEST_P(MoreAxes, NeverMakeAPlanWorse) {
  base::Random random(static_cast<uint64_t>(GetParam()));
  NetworkBuilder net;
  int last = net.Input({1, 4, 36, 30});
  for (int i = 0; i < 3; ++i) last = net.Conv(last, random.Chance(0.5) ? 3 : 1, random.Uniform(1, 24));
  const graph::Graph graph = net.Finish(last);
  Profile profile = SmallMachine(DmaSteps::kOverlapped, random.Uniform(1500, 12'000));
  const plan::Objective objectives[] = {Minimise("latency"),
                                        Minimise("off_chip_bytes"),
                                        {.weights = {{"latency", 1}, {"energy", 1}}, .limits = {}}};
  const std::vector<hw_profiles::AxisGranule> all = {
      {base::Axis::kRows, 1}, {base::Axis::kColumns, 1}, {base::Axis::kChannels, 2}};
  for (const plan::Objective& objective : objectives) {
    std::optional<double> before;
    for (size_t axes = 1; axes <= all.size(); ++axes) {
      profile.tiling.axes.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(axes));
      const auto result = SearchPartition(graph, profile, With(objective));
      ASSERT_TRUE(result) << base::Format(result.error());
      EXPECT_TRUE(result->plan || !before) << result->reason;
      if (!result->plan) continue;
      EXPECT_LE(result->plan->score, before.value_or(result->plan->score)) << axes << " axes";
      before = result->plan->score;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MoreAxes, ::testing::Range(0, 6));

TEST(SearchPartition, ALimitThatNoPlanKeepsIsInfeasible) {
  const plan::Objective objective = {.weights = {{"latency", 1}}, .limits = {{"off_chip_bytes", 100}}};
  const auto result = SearchPartition(Chain(3), SmallMachine(DmaSteps::kOverlapped, 200), With(objective));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible);
  EXPECT_THAT(result->reason, HasSubstr("keeps the limits: off_chip_bytes at most 100"));
}

TEST(SearchPartition, AnOperatorWithoutAnEngineIsUnsupported) {
  Profile profile = SmallMachine(DmaSteps::kOverlapped);
  profile.engines[0].throughputs.pop_back();
  NetworkBuilder net;
  const int x = net.Input({1, 2, 4, 4});
  const auto result = SearchPartition(net.Finish(net.Add(net.Conv(x, 1, 2), x)), profile, With());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kUnsupported);
  EXPECT_THAT(result->reason, HasSubstr("'add1'"));
}

TEST(SearchPartition, NoOperatorWithAnEngineIsUnsupportedToo) {
  // Every operator alone is refused, so the search looks at few of the longer subgraphs.
  Profile profile = SmallMachine(DmaSteps::kOverlapped);
  profile.engines[0].throughputs.clear();
  const auto result = SearchPartition(Chain(3), profile, With());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kUnsupported);
  EXPECT_THAT(result->reason, HasSubstr("'conv0'"));
}

TEST(SearchPartition, WholeBuffersKeepOneAddressThroughout) {
  Profile profile = SmallMachine(DmaSteps::kOverlapped, 400);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  PartitionOptions options = With();
  options.max_operators = 1;
  const auto result = SearchPartition(Chain(4), profile, options);
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_EQ(result->plan->subgraphs.size(), 4U);
  EXPECT_LE(result->plan->totals.peak_bytes, 400);
}

TEST(SearchPartition, BadObjectivesAreRefused) {
  const auto misspelt =
      SearchPartition(Chain(1), SmallMachine(DmaSteps::kOverlapped), With(Minimise("latncy")));
  ASSERT_FALSE(misspelt);
  EXPECT_EQ(misspelt.error().hint, "did you mean 'latency'?");
  EXPECT_FALSE(SearchPartition(Chain(1), SmallMachine(DmaSteps::kOverlapped),
                               With({.weights = {{"latency", -1}}, .limits = {}})));
  EXPECT_FALSE(SearchPartition(Chain(1), SmallMachine(DmaSteps::kOverlapped),
                               With({.weights = {{"latency", 0}}, .limits = {}})));
  EXPECT_FALSE(SearchPartition(graph::Graph{}, SmallMachine(DmaSteps::kOverlapped), With()));
}

// Two convolutions of 8 rows. Tiles of 2 rows do not fit if rows are made again; those of 1 row fetch each row of the input up to
// five times.
TEST(SearchPartition, KeepsRowsWhereThatFetchesLess) {
  Profile profile = SmallMachine(DmaSteps::kOwnSteps, 100);
  const auto again = SearchPartition(Chain(2), profile, With(Minimise("off_chip_bytes")));
  profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute, hw_profiles::HaloStorage::kRing};
  const auto kept = SearchPartition(Chain(2), profile, With(Minimise("off_chip_bytes")));
  ASSERT_TRUE(again && again->plan && kept && kept->plan);
  EXPECT_GT(again->plan->totals.off_chip_bytes, 64 + 64 + 24);
  EXPECT_EQ(kept->plan->totals.off_chip_bytes, 64 + 64 + 24);
  EXPECT_EQ(kept->plan->totals.recomputed_macs, 0);
  ASSERT_EQ(kept->plan->subgraphs.size(), 1U);
  EXPECT_EQ(kept->plan->subgraphs[0].halo, hw_profiles::HaloStorage::kRing);
  EXPECT_TRUE(plan::Validate(*kept->plan).empty());
}

}  // namespace
}  // namespace tessera::search
