// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/order_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "../cost/small_machine.h"
#include "constraint_words.h"
#include "every_plan.h"
#include "exhaustive.h"
#include "networks.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/graph/graph.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/paths/lattice.h"
#include "tessera/search/partition/paths/ordered_network.h"

// The order of the operators as part of the search.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

partition::answer::PartitionOptions With(const std::string& metric,
                                         partition::answer::Ordering ordering) {
  partition::answer::PartitionOptions options;
  options.objective = {.weights = {{metric, 1}}, .limits = {}};
  options.engines = TestEngines();
  options.ordering = ordering;
  return options;
}

std::vector<std::string> IdsOf(const graph::Graph& graph) {
  std::vector<std::string> ids;
  for (const graph::Operator& op : graph.operators) ids.push_back(op.id);
  return ids;
}

partition::answer::PartitionResult Search(const graph::Graph& graph, const Profile& profile,
                                          const partition::answer::PartitionOptions& options) {
  auto found = partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(found) << base::Format(found.error());
  if (found && found->plan) {
    EXPECT_TRUE(plan::verify::Validate(*found->plan).empty());
    EXPECT_TRUE(cost::FindMispriced(*found->plan).empty());
    // Tensors read back have the numbers that were written.
    const std::vector<int> tensors = graph::TensorsByMaker(found->plan->network);
    EXPECT_TRUE(IdsOf(found->plan->network) == IdsOf(graph) ||
                std::is_sorted(tensors.begin(), tensors.end()));
  }
  return *std::move(found);
}

std::vector<orders::Order> EveryOrderOf(const graph::Graph& graph) {
  return *orders::FindEveryOrder(orders::Precedence(graph), 5000, base::Stop());
}

// A network in an arbitrary order of its operators.
graph::Graph ShuffledNetwork(base::Random& random, int operators) {
  const graph::Graph graph = ForkedNetwork(random, operators);
  std::vector<int64_t> keys;
  for (size_t i = 0; i < graph.operators.size(); ++i) keys.push_back(random.Uniform(0, 1000));
  return graph::Reordered(graph, orders::Precedence(graph).NearestTo(keys));
}

// Whether at most as many boundary tensors are kept at each cut as a search keeps.
bool KeepsFew(const std::vector<encoder::program::SubgraphChoice>& choices,
              const graph::Graph& graph) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  for (const encoder::program::SubgraphChoice& choice : choices) {
    const int cut = choice.interval.last;
    size_t kept = 0;
    for (const int tensor : encoder::program::KeptBy(choices)) {
      const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
      kept += usage.producer <= cut && cut < usage.consumers.back() ? 1 : 0;
    }
    if (kept > partition::paths::kMostKeptInSmall) return false;
  }
  return true;
}

double BestOf(const graph::Graph& graph, const Profile& profile, const std::string& metric) {
  return EveryPlan(graph, profile, metric)
      .BestScore([&graph](const auto& choices, const std::vector<int>&) {
        return KeepsFew(choices, graph);
      });
}

TEST(OrderSearch, FindsTheBestPlanOfAllOrdersOfSmallNetworks) {
  base::Random random(71);
  int gained = 0;
  int only_elsewhere = 0;
  for (int draw = 0; draw < 60; ++draw) {
    SCOPED_TRACE(draw);
    const graph::Graph graph = ShuffledNetwork(random, static_cast<int>(random.Uniform(3, 6)));
    const bool one_home = random.Chance(0.6);
    Profile profile =
        SmallMachine(random.Chance(0.5) ? DmaSteps::kSerialized : DmaSteps::kDoubleBuffered,
                     random.Uniform(25, 110));
    if (one_home) LayoutIn(profile, base::TensorRole::kBoundary).home = profile.tile_memory;
    const std::string metric = random.Chance(0.5) ? "latency" : "off_chip_bytes";
    const double given = BestOf(graph, profile, metric);
    double best = given;
    const std::vector<orders::Order> every = EveryOrderOf(graph);
    if (every.size() > partition::driver::kMostEvery) continue;
    for (const orders::Order& order : every)
      best = std::min(best, BestOf(graph::Reordered(graph, order), profile, metric));
    partition::answer::PartitionOptions options =
        With(metric, partition::answer::Ordering::kSearch);
    options.effort = 2'000'000;
    const partition::answer::PartitionResult found = Search(graph, profile, options);
    ASSERT_EQ(found.plan.has_value(), best < std::numeric_limits<double>::infinity())
        << found.reason;
    if (!found.plan) {
      EXPECT_TRUE(found.status == problem::Status::kInfeasible ||
                  found.reason.find("more than 2 boundary tensors") != std::string::npos)
          << found.reason;
      continue;
    }
    EXPECT_EQ(found.plan->score, best);
    if (best < given) {
      EXPECT_NE(IdsOf(found.plan->network), IdsOf(graph));
      EXPECT_THAT(found.plan->notes,
                  Contains(HasSubstr("run elsewhere than in the order of the file")));
      (given < std::numeric_limits<double>::infinity() ? gained : only_elsewhere) += 1;
    }
  }
  EXPECT_GE(gained, 3);
  EXPECT_GE(only_elsewhere, 1);
}

std::array<double, 5> ScoreAndTiesOf(const plan::Plan& plan) {
  const plan::Metrics& totals = plan.totals;
  return {plan.score, static_cast<double>(totals.latency_cycles), totals.energy_pj,
          static_cast<double>(totals.off_chip_bytes), static_cast<double>(totals.peak_bytes)};
}

TEST(OrderSearch, BreaksTiesAmongAllOrdersOfSmallNetworks) {
  base::Random random(75);
  int elsewhere = 0;
  for (int draw = 0; draw < 40; ++draw) {
    SCOPED_TRACE(draw);
    const graph::Graph graph = ShuffledNetwork(random, static_cast<int>(random.Uniform(4, 6)));
    const Profile profile = SmallMachine(DmaSteps::kSerialized, random.Uniform(60, 200));
    const std::vector<orders::Order> every = EveryOrderOf(graph);
    if (every.size() > 24) continue;
    partition::answer::PartitionOptions options =
        With("off_chip_bytes", partition::answer::Ordering::kSearch);
    const partition::answer::PartitionResult found = Search(graph, profile, options);
    if (!found.plan || found.plan->status != "optimal") continue;
    options.ordering = partition::answer::Ordering::kGiven;
    for (const orders::Order& order : every) {
      const graph::Graph ordered = graph::Reordered(graph, order);
      const partition::answer::PartitionResult of_order = Search(ordered, profile, options);
      if (!of_order.plan) continue;
      EXPECT_LE(ScoreAndTiesOf(*found.plan), ScoreAndTiesOf(*of_order.plan));
      if (ordered == graph && of_order.plan->score == found.plan->score)
        elsewhere += ScoreAndTiesOf(*found.plan) < ScoreAndTiesOf(*of_order.plan) ? 1 : 0;
    }
  }
  EXPECT_GE(elsewhere, 1);
}

TEST(OrderSearch, IsNeverWorseThanTheOrderOfTheFile) {
  base::Random random(72);
  int gained = 0;
  for (int draw = 0; draw < 8; ++draw) {
    SCOPED_TRACE(draw);
    const graph::Graph graph = ShuffledNetwork(random, 14);
    const Profile profile = SmallMachine(DmaSteps::kSerialized, random.Uniform(60, 110));
    partition::answer::PartitionOptions options = With(
        random.Chance(0.5) ? "latency" : "off_chip_bytes", partition::answer::Ordering::kGiven);
    options.keeping = random.Chance(0.8) ? partition::paths::Keeping::kNothing
                                         : partition::paths::Keeping::kWherePossible;
    const partition::answer::PartitionResult given = Search(graph, profile, options);
    options.ordering = partition::answer::Ordering::kSearch;
    const partition::answer::PartitionResult found = Search(graph, profile, options);
    if (!given.plan) continue;
    ASSERT_TRUE(found.plan);
    EXPECT_LE(found.plan->score, given.plan->score);
    gained += found.plan->score < given.plan->score ? 1 : 0;
    EXPECT_EQ(found.plan->network == graph, found.plan->score == given.plan->score);
    options.threads = 3;
    EXPECT_EQ(plan::files::WritePlanJson(*Search(graph, profile, options).plan),
              plan::files::WritePlanJson(*found.plan));
  }
  EXPECT_GE(gained, 2);
}

TEST(OrderSearch, CostsAChainNothing) {
  const graph::Graph graph = Chain(6);
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 150);
  const partition::answer::PartitionResult given =
      Search(graph, profile, With("latency", partition::answer::Ordering::kGiven));
  partition::answer::PartitionResult found =
      Search(graph, profile, With("latency", partition::answer::Ordering::kSearch));
  found.plan->run.searches_order = false;  // the only difference in the output
  EXPECT_EQ(plan::files::WritePlanJson(*found.plan), plan::files::WritePlanJson(*given.plan));
}

// Two branches of two convolutions each. The file alternates them: 0 2 is one, 1 3 the other.
struct SideBySide {
  SideBySide() {
    NetworkBuilder net;
    const int x = net.Input({1, 2, 8, 4});
    const int a = net.Conv(x, 1, 4);
    const int b = net.Conv(x, 1, 4);
    const int c = net.Conv(a, 1, 1);
    const int d = net.Conv(b, 1, 1);
    graph = net.Finish(net.Add(c, d));
  }
  graph::Graph graph;
};

TEST(OrderSearch, BringsBranchesTogether) {
  const SideBySide net;
  partition::answer::PartitionOptions options =
      With("off_chip_bytes", partition::answer::Ordering::kSearch);
  options.max_operators = 2;
  options.keeping = partition::paths::Keeping::kNothing;
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 2000);
  const partition::answer::PartitionResult found = Search(net.graph, profile, options);
  ASSERT_TRUE(found.plan);
  EXPECT_THAT(IdsOf(found.plan->network), ElementsAre("conv0", "conv2", "conv1", "conv3", "add4"));
  EXPECT_THAT(found.plan->notes, Contains("all 6 orders of the operators were tried"));
  EXPECT_TRUE(found.plan->proven);
  EXPECT_EQ(found.plan->scope.orders, "");
  options.ordering = partition::answer::Ordering::kGiven;
  const partition::answer::PartitionResult given = Search(net.graph, profile, options);
  EXPECT_EQ(given.plan->network, net.graph);
  EXPECT_GT(given.plan->score, found.plan->score);
}

// Operator 1 of the file comes third where branches are together.
TEST(OrderSearch, ConstraintsAreAboutTheOrderOfTheFile) {
  const SideBySide net;
  partition::answer::PartitionOptions options =
      With("off_chip_bytes", partition::answer::Ordering::kSearch);
  options.keeping = partition::paths::Keeping::kNothing;
  options.max_operators = 2;
  options.constraints = {Apart(1)};
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 2000);
  const partition::answer::PartitionResult found = Search(net.graph, profile, options);
  ASSERT_TRUE(found.plan);
  ASSERT_EQ(found.plan->network.operators[2].id, "conv1");
  EXPECT_TRUE(plan::verify::Keeps(*found.plan, Apart(2)));
  EXPECT_THAT(found.plan->notes,
              Contains(HasSubstr("a subgraph that begins with operator 'conv1'")));

  options.constraints = {Together(0, 1)};
  const partition::answer::PartitionResult held = Search(net.graph, profile, options);
  ASSERT_TRUE(held.plan);
  EXPECT_EQ(held.plan->subgraphs[0].interval, (graph::Interval{0, 1}));
  EXPECT_THAT(IdsOf(held.plan->network),
              ElementsAre("conv0", "conv1", testing::_, testing::_, "add4"));
}

TEST(OrderSearch, RandomConstraintsAreKeptInEveryOrder) {
  base::Random random(73);
  int elsewhere = 0;
  for (int draw = 0; draw < 30; ++draw) {
    SCOPED_TRACE(draw);
    const graph::Graph graph = ForkedNetwork(random, 7);
    const int first = static_cast<int>(random.Uniform(0, 4));
    partition::answer::PartitionOptions options =
        With("off_chip_bytes", partition::answer::Ordering::kSearch);
    const int result = graph.operators[static_cast<size_t>(first)].outputs.front();
    options.constraints = {Together(first, first + 1),
                           Apart(static_cast<int>(random.Uniform(first + 2, 6))),
                           {.kind = plan::PlanConstraintKind::kSpill,
                            .interval = {},
                            .tensor = result,
                            .config = {},
                            .memory = {}}};
    const partition::answer::PartitionResult found =
        Search(graph, SmallMachine(DmaSteps::kSerialized, 90), options);
    if (!found.plan) continue;
    const std::vector<std::string> ids = IdsOf(found.plan->network);
    const auto place_of = [&](int op) {
      const std::string& id = graph.operators[static_cast<size_t>(op)].id;
      return static_cast<int>(std::find(ids.begin(), ids.end(), id) - ids.begin());
    };
    EXPECT_EQ(place_of(first + 1), place_of(first) + 1);
    EXPECT_TRUE(plan::verify::Keeps(*found.plan, Together(place_of(first), place_of(first) + 1)));
    EXPECT_TRUE(
        plan::verify::Keeps(*found.plan, Apart(place_of(options.constraints[1].interval.first))));
    EXPECT_EQ(Describe(found.plan->network, found.plan->constraints),
              Describe(graph, options.constraints));
    elsewhere += ids != IdsOf(graph) ? 1 : 0;
  }
  EXPECT_GE(elsewhere, 3);
}

TEST(OrderSearch, OfEqualsKeepsTheOrderOfAnOlderPlan) {
  const SideBySide net;
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 2000);
  partition::answer::PartitionOptions options =
      With("off_chip_bytes", partition::answer::Ordering::kGiven);
  const orders::Order other = {1, 3, 0, 2, 4};
  const partition::answer::PartitionResult old =
      Search(graph::Reordered(net.graph, other), profile, options);
  ASSERT_TRUE(old.plan);
  options.previous = &*old.plan;
  options.ordering = partition::answer::Ordering::kSearch;
  const partition::answer::PartitionResult found = Search(net.graph, profile, options);
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.plan->score, old.plan->score);
  EXPECT_EQ(IdsOf(found.plan->network), IdsOf(old.plan->network));
  EXPECT_EQ(found.plan->allocation.offsets, old.plan->allocation.offsets);
  options.ordering = partition::answer::Ordering::kGiven;
  EXPECT_EQ(Search(net.graph, profile, options).plan->network, net.graph);
}

// All tensors are in the tile memory, whole.
Profile InOneMemory(problem::Bytes capacity) {
  Profile profile = SmallMachine(DmaSteps::kSerialized, capacity);
  LayoutIn(profile, base::TensorRole::kBoundary).home = profile.tile_memory;
  profile.tiling.axes.clear();
  return profile;
}

// Results of 64 bytes. The file makes all of them before the first two are added. The memory holds
// one of them, a sum, and the results made of them.
TEST(OrderSearch, FitsWhereTheOrderOfTheFileDoesNot) {
  NetworkBuilder net;
  const int x = net.Input({1, 1, 4, 4});
  std::vector<int> ends;
  ends.reserve(5);
  for (int branch = 0; branch < 5; ++branch) ends.push_back(net.Conv(net.Conv(x, 1, 1), 1, 4));
  int sum = ends[0];
  for (int branch = 1; branch < 5; ++branch) sum = net.Add(sum, ends[static_cast<size_t>(branch)]);
  const graph::Graph graph = net.Finish(sum);
  const partition::answer::PartitionResult given =
      Search(graph, InOneMemory(240), With("latency", partition::answer::Ordering::kGiven));
  EXPECT_EQ(given.status, problem::Status::kInfeasible);
  const partition::answer::PartitionResult found =
      Search(graph, InOneMemory(240), With("latency", partition::answer::Ordering::kSearch));
  ASSERT_TRUE(found.plan) << found.reason;
  EXPECT_LE(found.plan->totals.peak_bytes, 240);
  EXPECT_THAT(found.plan->notes,
              Contains(HasSubstr("than in the order of the file, in which no plan was found")));
}

// Two results are added twice: four of 64 bytes live at the same time in every order.
graph::Graph AddedTwice(int bystanders) {
  NetworkBuilder net;
  const int x = net.Input({1, 1, 4, 4});
  const int a = net.Conv(x, 1, 4);
  const int b = net.Conv(x, 1, 4);
  const int first = net.Add(a, b);
  int sum = net.Add(first, net.Add(a, b));
  for (int i = 0; i < bystanders; ++i) sum = net.Add(sum, net.Conv(x, 1, 4));
  return net.Finish(sum);
}

TEST(OrderSearch, WhatFitsInNoOrderIsInfeasible) {
  const partition::answer::PartitionResult found = Search(
      AddedTwice(0), InOneMemory(240), With("latency", partition::answer::Ordering::kSearch));
  EXPECT_EQ(found.status, problem::Status::kInfeasible);
  EXPECT_THAT(found.reason, HasSubstr("the same holds for each of the 4 orders of the operators"));
}

TEST(OrderSearch, WhatWasNotTriedInAllOrdersIsNotCalledInfeasible) {
  const graph::Graph graph = AddedTwice(5);
  EXPECT_EQ(
      Search(graph, InOneMemory(240), With("latency", partition::answer::Ordering::kGiven)).status,
      problem::Status::kInfeasible);
  const partition::answer::PartitionResult found =
      Search(graph, InOneMemory(240), With("latency", partition::answer::Ordering::kSearch));
  EXPECT_EQ(found.status, problem::Status::kUnknown);
  EXPECT_THAT(found.reason, StartsWith("in the order of the file "));
}

TEST(OrderSearch, WhatWasNotTriedInAllOrdersIsNotCalledOptimal) {
  const partition::answer::PartitionResult found =
      Search(AddedTwice(5), SmallMachine(DmaSteps::kSerialized, 90),
             With("off_chip_bytes", partition::answer::Ordering::kSearch));
  ASSERT_TRUE(found.plan) << found.reason;
  EXPECT_GT(found.plan->score, found.plan->bound);
  EXPECT_EQ(found.status, problem::Status::kFeasible);
  EXPECT_THAT(found.plan->scope.orders, HasSubstr("some orders"));
}

TEST(PeakLowerBound, IsTheSameInEveryOrderAndBelowEveryPeak) {
  base::Random random(74);
  for (int draw = 0; draw < 20; ++draw) {
    SCOPED_TRACE(draw);
    const graph::Graph graph = ForkedNetwork(random, 6);
    const Profile profile = SmallMachine(DmaSteps::kSerialized, 1000);
    const problem::Bytes floor = cost::FindPeakLowerBound(graph, profile).bytes;
    for (const orders::Order& order : EveryOrderOf(graph)) {
      const graph::Graph reordered = graph::Reordered(graph, order);
      EXPECT_EQ(cost::FindPeakLowerBound(reordered, profile).bytes, floor);
      const partition::answer::PartitionResult found =
          Search(reordered, profile, With("peak", partition::answer::Ordering::kGiven));
      ASSERT_TRUE(found.plan);
      EXPECT_GE(found.plan->totals.peak_bytes, floor);
    }
  }
}

TEST(OrderLattice, HasOneCutForEachSetOfOperatorsDone) {
  const partition::paths::OrderLattice lattice({{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 2, 3}});
  EXPECT_EQ(lattice.Cuts(), 6);
  EXPECT_EQ(lattice.CutAt(0, 1), lattice.CutAt(1, 1));
  EXPECT_NE(lattice.CutAt(0, 2), lattice.CutAt(1, 2));
  EXPECT_EQ(lattice.CutAt(0, 3), lattice.CutAt(1, 3));
  partition::paths::DistinctIntervals distinct(lattice, false);
  EXPECT_THAT(distinct.Take(0, 4), SizeIs(10));
  EXPECT_THAT(distinct.Take(1, 4),
              ElementsAre(graph::Interval{0, 1}, graph::Interval{0, 2}, graph::Interval{0, 3},
                          graph::Interval{1, 1}, graph::Interval{1, 2}, graph::Interval{1, 3},
                          graph::Interval{2, 2}, graph::Interval{2, 3}));
  EXPECT_THAT(distinct.Take(2, 4), SizeIs(0));
}

TEST(OrderLattice, OrdersOfDifferentKindsShareNothingButTheirEnds) {
  const partition::paths::OrderLattice lattice({{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 1, 2, 3}},
                                               {{}, {7}, {7}});
  EXPECT_EQ(lattice.Cuts(), 9);
  for (const int position : {0, 4})
    EXPECT_EQ(lattice.CutAt(0, position), lattice.CutAt(1, position));
  for (const int position : {1, 2, 3})
    EXPECT_NE(lattice.CutAt(0, position), lattice.CutAt(1, position));
  EXPECT_EQ(lattice.CutAt(1, 2), lattice.CutAt(2, 2));
  EXPECT_EQ(lattice.CutAt(0, 4), lattice.Cuts() - 1);
  partition::paths::DistinctIntervals distinct(lattice, false);
  EXPECT_THAT(distinct.Take(0, 4), SizeIs(10));
  EXPECT_THAT(distinct.Take(1, 4), SizeIs(10));
  EXPECT_THAT(distinct.Take(2, 4), SizeIs(7));  // all but those of operators 0 and 1
}

TEST(OrderLattice, OfEqualIntervalsTakesOne) {
  const partition::paths::OrderLattice lattice({{0, 1, 2, 3}, {0, 2, 1, 3}});
  partition::paths::DistinctIntervals distinct(lattice, true);
  EXPECT_THAT(distinct.Take(0, 4), SizeIs(10));
  EXPECT_THAT(distinct.Take(1, 4),
              ElementsAre(graph::Interval{0, 1}, graph::Interval{0, 2}, graph::Interval{1, 1},
                          graph::Interval{1, 2}, graph::Interval{2, 2}, graph::Interval{2, 3}));
}

TEST(OrderCandidates, StayWithinWhatMayBeVisited) {
  const std::vector<orders::Order> orders = {
      {0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 2, 3}, {2, 0, 1, 3}};
  EXPECT_THAT(partition::paths::TakeFirst(orders, 4, false, 1000), SizeIs(3));
  EXPECT_THAT(partition::paths::TakeFirst(orders, 4, false, 20), SizeIs(2));
  EXPECT_THAT(partition::paths::TakeFirst(orders, 4, false, 1), SizeIs(1));
}

}  // namespace
}  // namespace tessera::search
