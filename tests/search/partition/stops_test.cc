// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files.h"
#include "networks.h"
#include "search_options.h"
#include "tessera/base/stop.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/orders/low_memory_orders.h"
#include "tessera/search/partition/analysis/front.h"
#include "tessera/search/partition/analysis/reproduce.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/choices/interval_choices.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/tiling/feasible_frontier.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/search/cost/small_machine.h"

// Cuts every search off at its polls of the stop, one run for each of several polls. Only few polls
// may follow the request, the answer must be honest, and its contents must be correct.
namespace tessera::search {
namespace {

using problem::Status;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Runs of one search, spread evenly over its polls.
int64_t Runs() { return IsLongRun() ? 32 : 12; }

// A search that polls less than this many times would be no subject.
constexpr int kLeastRuns = 10;

// Polls between the request and the end: each task that no longer starts polls once, and each level
// of calls polls a few times.
constexpr int64_t kMostAfter = 400;

// Calls run(stop) with a stop that requests itself at the k-th poll, for k in steps up to the
// `polls` of a whole run. Returns the number of runs.
template <typename Run>
int ForEachPoll(int64_t polls, const Run& run, int64_t most_after = kMostAfter) {
  int runs = 0;
  for (int64_t k = 1; k <= polls; k += std::max<int64_t>(1, polls / Runs())) {
    SCOPED_TRACE("stopped at poll " + std::to_string(k) + " of " + std::to_string(polls));
    const base::Stop stop(base::Stop::AtPoll{k});
    run(stop);
    EXPECT_GE(stop.Polls(), k);
    EXPECT_LE(stop.Polls() - k, most_after);
    ++runs;
  }
  return runs;
}

void ExpectRight(const plan::Plan& plan) {
  for (const plan::verify::Violation& violation : plan::verify::Validate(plan))
    ADD_FAILURE() << violation.message;
}

// Claims that the check of a plan makes again.
void ExpectConfirmed(const plan::Plan& plan, const partition::answer::PartitionOptions& options) {
  const partition::analysis::Reproduction again = partition::analysis::Reproduce(
      plan, {tiling::Engines(options.engines.begin(), options.engines.end())});
  EXPECT_TRUE(again.finished);
  for (const plan::verify::Violation& violation : again.violations)
    ADD_FAILURE() << violation.message;
}

void ExpectHonest(const partition::answer::PartitionResult& cut_off,
                  const partition::answer::PartitionResult& whole) {
  if (cut_off.plan) {
    ExpectRight(*cut_off.plan);
    EXPECT_TRUE(cut_off.plan->run.cut_off);
    EXPECT_TRUE(cut_off.status == Status::kFeasible || cut_off.status == Status::kOptimal);
    ASSERT_TRUE(whole.plan);
    if (cut_off.status == Status::kOptimal) {
      EXPECT_EQ(cut_off.plan->score, whole.plan->score);
    }
    EXPECT_GE(cut_off.plan->score, whole.plan->status == "optimal" ? whole.plan->score : 0);
    return;
  }
  EXPECT_FALSE(cut_off.reason.empty());
  if (cut_off.status == Status::kInfeasible) {
    EXPECT_EQ(whole.status, Status::kInfeasible);
    EXPECT_TRUE(cut_off.refutation);
  } else {
    EXPECT_EQ(cut_off.status, Status::kUnknown);
  }
}

std::string TextOf(const partition::answer::PartitionResult& result) {
  return result.plan ? plan::files::WritePlanJson(*result.plan) : result.reason;
}

// Runs the search with a stop that never comes, which must change nothing, and then with stops that
// come.
int CutOffEverywhere(const Subject& subject, partition::answer::PartitionOptions options) {
  const auto free = partition::SearchPartition(subject.graph, subject.profile, options);
  const base::Stop never(base::Stop::AtPoll{kNever});
  options.stop = &never;
  const auto whole = partition::SearchPartition(subject.graph, subject.profile, options);
  if (!free || !whole) {
    ADD_FAILURE() << (free ? whole.error().message : free.error().message);
    return 0;
  }
  EXPECT_EQ(TextOf(*free), TextOf(*whole));
  EXPECT_GT(never.Polls(), 0);
  return ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    options.stop = &stop;
    const auto result = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(result) << result.error().message;
    ExpectHonest(*result, *whole);
    options.stop = nullptr;
    if (result->plan) ExpectConfirmed(*result->plan, options);
  });
}

partition::answer::PartitionOptions KeepingWherePossible(plan::Objective objective = {}) {
  partition::answer::PartitionOptions options = KeepingNothing(std::move(objective));
  options.keeping = partition::paths::Keeping::kWherePossible;
  return options;
}

// Whether a longer subgraph has room takes a search; what an operator alone needs does not.
TEST(Stops, LeaveTimeToNameTheOperatorThatNeedsMost) {
  partition::answer::PartitionOptions options = KeepingWherePossible();
  const Subject subject{Chain(3), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 40)};
  int unknown = 0;
  int named = 0;
  for (int64_t k = 1; k <= 40; ++k) {
    const base::Stop stop(base::Stop::AtPoll{k});
    options.stop = &stop;
    const auto result = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(result) << result.error().message;
    if (result->status != Status::kUnknown) continue;
    ++unknown;
    EXPECT_NE(result->reason.find("more time may find one"), std::string::npos);
    if (result->obstacle && result->obstacle->op >= 0) ++named;
  }
  EXPECT_GE(unknown, 20);
  EXPECT_GE(named, unknown / 2);
}

// After an interrupt, one operator with many tile shapes, none of which fits, is left undecided.
TEST(Stops, EndTheExaminationOfOneOperator) {
  graph::Graph graph = Chain(1);
  for (graph::Tensor& tensor : graph.tensors) {
    if (!tensor.constant) tensor.shape[2] = 30'000;
  }
  const hw_profiles::Profile profile = SmallMachine(hw_profiles::DmaSteps::kSerialized, 30);
  const auto scale = cost::Scale::Make(Minimise("latency"), cost::FindLowerBounds(graph, profile));
  ASSERT_TRUE(scale);
  const cost::Simulator simulator(graph, profile);
  const auto listed = KeepingNothing().engines;
  const tiling::Engines engines(listed.begin(), listed.end());
  base::Stop deadline;
  deadline.Request();
  const partition::choices::SearchContext context{.graph = graph,
                                                  .profile = profile,
                                                  .simulator = simulator,
                                                  .scale = *scale,
                                                  .stop = deadline,
                                                  .engines = engines,
                                                  .tile_engines = engines,
                                                  .budget = {}};
  const auto examine = [&context](const base::Stop& stop) {
    partition::choices::IntervalChoices operator_alone(context, {0, 0}, {});
    operator_alone.ExpandInHaste(stop);
    for (const partition::choices::Choice& choice : operator_alone.Choices())
      EXPECT_NE(choice.verdict, partition::choices::ChoiceStatus::kFits);
  };
  const base::Stop never(base::Stop::AtPoll{kNever});
  examine(never);
  EXPECT_GE(ForEachPoll(never.Polls(), examine, 10), kLeastRuns);
}

// 30 000 tiles are more than the check of a plan goes through after an interruption, four are not.
TEST(Stops, EndTheCheckOfAPlanWithManyTiles) {
  graph::Graph graph = Chain(1);
  for (graph::Tensor& tensor : graph.tensors) {
    if (!tensor.constant) tensor.shape[2] = 30'000;
  }
  const auto found = partition::SearchPartition(
      graph, SmallMachine(hw_profiles::DmaSteps::kSerialized, int64_t{1} << 20),
      KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(found && found->plan);
  plan::Plan plan = *found->plan;
  ASSERT_LE(plan.subgraphs.front().tiles, 4);
  base::Stop stop;
  stop.Request();
  const auto checked = plan::verify::ValidateUnlessInterrupted(plan, 1, stop);
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->empty());
  plan.subgraphs.front().tile[2] = 1;
  plan.subgraphs.front().tiles = 30'000;
  EXPECT_FALSE(plan::verify::ValidateUnlessInterrupted(plan, 1, stop));
  const base::Stop never;
  const auto refused = plan::verify::ValidateUnlessInterrupted(plan, 1, never);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->empty());
}

TEST(Stops, EndASearchForPartitionsAtEachPoll) {
  int runs = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    runs += CutOffEverywhere(AnySubject(seed, {3, 5}, {120, 400}), KeepingWherePossible());
  }
  EXPECT_GE(runs, 6 * kLeastRuns);
}

TEST(Stops, EndASearchOverOrdersUnderLimitsAtEachPoll) {
  base::Random random(3);
  const Subject subject{ForkedNetwork(random, 5),
                        SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 300)};
  partition::answer::PartitionOptions options =
      KeepingWherePossible({.weights = {{"latency", 1}, {"peak", 1}}, .limits = {}});
  EXPECT_GE(CutOffEverywhere(subject, options), kLeastRuns);
  options.objective.limits = {{"energy", 1e9}, {"off_chip_bytes", 4000}, {"macs", 1e6}};
  options.prefetch = true;
  EXPECT_GE(CutOffEverywhere(subject, options), kLeastRuns);
}

// The plan may be that of a related search, and the operators may not fit alone in the order of the
// file.
TEST(Stops, EndRelatedSearchesAtEachPoll) {
  const auto faults = [](const std::string& name) {
    return Subject{NetworkIn("tests/data/faults/" + name + ".net.json"),
                   ProfileIn("tests/data/faults/" + name + ".hw.json")};
  };
  const Subject six = faults("six_operators");
  const auto under = [](const std::string& metric) {
    return KeepingWherePossible({.weights = {{metric, 1}}, .limits = {{"latency", 1721}}});
  };
  EXPECT_GE(CutOffEverywhere(six, under("power")), kLeastRuns);
  EXPECT_GE(CutOffEverywhere(six, under("bandwidth_average")), kLeastRuns);
  EXPECT_GE(CutOffEverywhere(six, under("off_chip_bytes")), kLeastRuns);
  const partition::answer::PartitionOptions peak = KeepingWherePossible(Minimise("peak"));
  EXPECT_GE(CutOffEverywhere(faults("order_of_outputs"), peak), kLeastRuns);
}

// The first of the searches has no limit. Its layer-by-layer plan exceeds the limit.
TEST(Stops, ClaimNoBaselineBeyondTheLimitOfTheMinimizedMetric) {
  for (const uint64_t seed : {9, 13, 16}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Subject subject = AnySubject(seed, {2, 4}, {120, 400});
    partition::answer::PartitionOptions options = KeepingWherePossible(Minimise("peak"));
    const auto least = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(least && least->plan);
    options.objective.limits["peak"] = static_cast<double>(least->plan->totals.peak_bytes);
    EXPECT_GE(CutOffEverywhere(subject, options), kLeastRuns);
  }
}

TEST(Stops, EndASearchWhereNothingFitsAtEachPoll) {
  for (const int64_t bytes : {16, 40, 60}) {
    SCOPED_TRACE(bytes);
    CutOffEverywhere({Chain(3), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, bytes)},
                     KeepingWherePossible());
  }
}

TEST(Stops, EndASearchThatTakesAnOlderPlanAsItsModel) {
  const Subject subject{Chain(4), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 200)};
  partition::answer::PartitionOptions options = KeepingWherePossible();
  const auto older = partition::SearchPartition(subject.graph, subject.profile, options);
  ASSERT_TRUE(older && older->plan);
  options.previous = &*older->plan;
  EXPECT_GE(CutOffEverywhere(subject, options), kLeastRuns);
}

// Its tiles and addresses are known, so no engine needs time for them.
TEST(Stops, LoseNoOlderPlan) {
  int shorter = 0;
  for (const uint64_t seed : {2, 9, 13, 16}) {
    for (const char* metric : {"peak", "latency"}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + metric);
      const Subject subject = AnySubject(seed, {3, 5}, {120, 400});
      partition::answer::PartitionOptions options = KeepingWherePossible(Minimise(metric));
      const auto older = partition::SearchPartition(subject.graph, subject.profile, options);
      ASSERT_TRUE(older && older->plan);
      if (older->plan->subgraphs.size() < subject.graph.operators.size()) ++shorter;
      options.previous = &*older->plan;
      const base::Stop never(base::Stop::AtPoll{kNever});
      options.stop = &never;
      ASSERT_TRUE(partition::SearchPartition(subject.graph, subject.profile, options));
      ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
        options.stop = &stop;
        const auto result = partition::SearchPartition(subject.graph, subject.profile, options);
        ASSERT_TRUE(result && result->plan);
        EXPECT_LE(result->plan->score, older->plan->score);
      });
    }
  }
  EXPECT_GE(shorter, 4);  // have subgraphs of several operators
}

// A plan for another objective is no worse than none.
TEST(Stops, LoseNothingByAnOlderPlanForAnotherObjective) {
  int better = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Subject subject = AnySubject(seed, {3, 5}, {120, 400});
    partition::answer::PartitionOptions options = KeepingWherePossible(Minimise("peak"));
    const auto older = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(older);
    if (!older->plan) continue;
    options = KeepingWherePossible(Minimise("latency"));
    const base::Stop at_once(base::Stop::AtPoll{1});
    options.stop = &at_once;
    const auto without = partition::SearchPartition(subject.graph, subject.profile, options);
    const base::Stop again(base::Stop::AtPoll{1});
    options.stop = &again;
    options.previous = &*older->plan;
    const auto with = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(without && with && with->plan);
    if (!without->plan) continue;
    EXPECT_LE(with->plan->score, without->plan->score);
    better +=
        without->plan->score < static_cast<double>(older->plan->totals.latency_cycles) ? 1 : 0;
  }
  EXPECT_GE(better, 3);
}

TEST(Stops, EndASearchForAFrontAtEachPoll) {
  const Subject subject{Chain(4), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 200)};
  partition::answer::PartitionOptions options = KeepingWherePossible();
  const base::Stop never(base::Stop::AtPoll{kNever});
  options.stop = &never;
  ASSERT_TRUE(partition::analysis::FindFront(subject.graph, subject.profile, options, 6));
  const int runs = ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    options.stop = &stop;
    const auto front = partition::analysis::FindFront(subject.graph, subject.profile, options, 6);
    ASSERT_TRUE(front) << front.error().message;
    EXPECT_FALSE(front->complete);
    for (const plan::FrontPoint& point : front->points) ExpectRight(point.plan);
    if (front->points.empty()) {
      EXPECT_EQ(front->refusal.status, Status::kUnknown);
    }
  });
  EXPECT_GE(runs, kLeastRuns);
}

TEST(Stops, EndASearchForTilesAtEachPoll) {
  const Subject subject{Chain(3), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 250)};
  tiling::TileOptions options;
  const auto engines = KeepingNothing().engines;
  options.engines = tiling::Engines(engines.begin(), engines.end());
  const base::Stop never(base::Stop::AtPoll{kNever});
  const auto whole = tiling::FindStaircase(subject.graph, subject.profile, {0, 2}, options, never);
  ASSERT_TRUE(whole && whole->largest);
  const int64_t most = graph::ElementsOf(whole->tiles.Candidates()[*whole->largest].choice.tile);
  ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    const auto cut_off =
        tiling::FindStaircase(subject.graph, subject.profile, {0, 2}, options, stop);
    ASSERT_TRUE(cut_off) << cut_off.error().message;
    if (!cut_off->largest_proven) return;
    ASSERT_TRUE(cut_off->largest);
    EXPECT_EQ(graph::ElementsOf(cut_off->tiles.Candidates()[*cut_off->largest].choice.tile), most);
  });
}

TEST(Stops, EndAnAllocationAtEachPoll) {
  const auto plan = partition::SearchPartition(
      Chain(5), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 200), KeepingNothing());
  ASSERT_TRUE(plan && plan->plan);
  const problem::Problem& problem = plan->plan->problem;
  const auto listed = KeepingNothing().engines;
  const tiling::Engines engines(listed.begin(), listed.end());
  allocate::AllocateOptions options;
  options.minimize = true;
  const base::Stop never(base::Stop::AtPoll{kNever});
  options.stop = &never;
  const auto whole = allocate::Allocate(problem, nullptr, 0, engines, options);
  ASSERT_TRUE(whole && whole->peak);
  ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    options.stop = &stop;
    const auto result = allocate::Allocate(problem, nullptr, 0, engines, options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_NE(result->status, Status::kInfeasible);
    if (result->status == Status::kOptimal) {
      EXPECT_EQ(result->peak, whole->peak);
    }
  });
}

TEST(Stops, EndAJudgementAtEachPoll) {
  const Subject subject{Chain(3), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 60)};
  partition::answer::PartitionOptions options = KeepingWherePossible();
  const base::Stop never(base::Stop::AtPoll{kNever});
  options.stop = &never;
  const bool refuted = partition::answer::JudgeWhetherNone(subject.graph, subject.profile, options)
                           .refutation.has_value();
  ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    options.stop = &stop;
    const plan::verify::infeasibility::RefutationResult judgement =
        partition::answer::JudgeWhetherNone(subject.graph, subject.profile, options);
    if (judgement.refutation) {
      EXPECT_TRUE(refuted);
    } else {
      EXPECT_FALSE(judgement.gap.empty());
    }
  });
}

// Independent operators: every order is legal, and there are as many cuts as sets of operators.
graph::Graph Parallel(int operators) {
  NetworkBuilder net;
  const int input = net.Input({1, 1, 4, 4});
  int last = 0;
  for (int i = 0; i < operators; ++i) last = net.Conv(input, 1, 1);
  return net.Finish(last);
}

TEST(Stops, EndASearchForOrdersAtEachPoll) {
  const graph::Graph graph = Parallel(24);
  const orders::Precedence precedence(graph);
  const orders::LiveBytes live(graph, precedence, std::vector<int64_t>(graph.tensors.size(), 16));
  const base::Stop never(base::Stop::AtPoll{kNever});
  ASSERT_TRUE(orders::FindLeastLiveOrder(precedence, live, orders::LiveGoal::kPeak, never));
  const int runs = ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    EXPECT_FALSE(orders::FindLeastLiveOrder(precedence, live, orders::LiveGoal::kPeak, stop));
  });
  EXPECT_GE(runs, kLeastRuns);
  EXPECT_FALSE(orders::FindEveryOrder(precedence, 1'000, base::Stop(base::Stop::AtPoll{40})));
}

// 400 parallel operators: the work between two polls is a node and a cut, whatever the number of
// nodes.
TEST(Stops, OfManyParallelOperatorsEndImmediately) {
  const Subject subject{Parallel(100), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 400)};
  partition::answer::PartitionOptions options = KeepingWherePossible();
  for (const int64_t k : {1, 500, 5'000}) {
    const base::Stop stop(base::Stop::AtPoll{k});
    options.stop = &stop;
    const auto result = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(result && result->plan);
    ExpectRight(*result->plan);
    EXPECT_TRUE(result->plan->run.cut_off);
    EXPECT_LE(stop.Polls() - k, 20'000);  // intervals that are no longer bounded
  }
}

}  // namespace
}  // namespace tessera::search
