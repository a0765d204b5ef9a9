// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files.h"
#include "networks.h"
#include "search_options.h"
#include "stops_at_polls.h"
#include "tessera/base/stop.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/partition/analysis/analyses.h"
#include "tessera/search/partition/analysis/reproduce.h"
#include "tessera/search/partition/choices/interval_choices.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/search/cost/small_machine.h"

// Cuts searches for plans off at their polls of the stop, one run for each of several polls. Few
// polls may follow the request, the answer must be honest, and its contents must be correct.
namespace tessera::search {
namespace {

using problem::Status;

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
int CutOffEverywhere(const Subject& subject, partition::answer::PartitionOptions options,
                     int64_t most_after = kMostAfter) {
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
  return ForEachPoll(
      never.Polls(),
      [&](const base::Stop& stop) {
        options.stop = &stop;
        const auto result = partition::SearchPartition(subject.graph, subject.profile, options);
        ASSERT_TRUE(result) << result.error().message;
        ExpectHonest(*result, *whole);
        options.stop = nullptr;
        if (result->plan) ExpectConfirmed(*result->plan, options);
      },
      most_after);
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

// The baseline of a plan whose search cannot be repeated is made again, up to the stop.
TEST(Stops, EndTheRepetitionOfABaseline) {
  const auto options = KeepingNothing(Minimise("latency"));
  const auto found = partition::SearchPartition(
      Chain(4), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 400), options);
  ASSERT_TRUE(found && found->plan && found->plan->baseline);
  plan::Plan plan = *found->plan;
  plan.run.cut_off = true;
  const auto repeat = [&](const base::Stop& stop) {
    return partition::analysis::Reproduce(
        plan, {.engines = tiling::Engines(options.engines.begin(), options.engines.end()),
               .stop = &stop});
  };
  const base::Stop never(base::Stop::AtPoll{kNever});
  EXPECT_TRUE(repeat(never).finished);
  EXPECT_GE(ForEachPoll(never.Polls(), repeat), kLeastRuns);
  EXPECT_FALSE(repeat(base::Stop(base::Stop::AtPoll{1})).finished);
  EXPECT_FALSE(repeat(base::Stop(base::Stop::AtPoll{never.Polls() / 4})).finished);

  // Nothing is made again for a baseline that the plan does not state.
  plan.baseline.reset();
  const base::Stop counting(base::Stop::AtPoll{kNever});
  EXPECT_TRUE(repeat(counting).finished);
  EXPECT_LT(counting.Polls(), never.Polls() / 2);
}

// Whenever the deadline comes, before, in or after the time left for a plan in haste, the answer is
// honest, and there is a plan, because each operator fits alone.
TEST(Stops, AtADeadlineLeaveAPlan) {
  const Subject subject{Chain(12), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 400)};
  auto options = KeepingWherePossible();
  const auto whole = partition::SearchPartition(subject.graph, subject.profile, options);
  ASSERT_TRUE(whole && whole->plan);
  for (const int64_t ms : {-10, 0, 1, 2, 4, 8, 16, 24, 32, 48, 64}) {
    SCOPED_TRACE(std::to_string(ms) + " ms");
    const base::Stop stop(base::Stop::Clock::now() + std::chrono::milliseconds(ms));
    options.stop = &stop;
    const auto found = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(found && found->plan);
    ExpectRight(*found->plan);
    options.stop = nullptr;
    ExpectConfirmed(*found->plan, options);
    EXPECT_EQ(found->plan->run.cut_off, stop.HasCutOff());
    if (found->plan->status == "optimal") {
      EXPECT_EQ(found->plan->score, whole->plan->score);
    }
  }
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

// With 900 bytes the network is sure to have no plan, and is searched in parts at once. With 1750
// bytes it is refuted first: a stop before the other form was searched leaves the answer open.
TEST(Stops, EndSearchesOfOperatorsInPartsAtEachPoll) {
  const partition::answer::PartitionOptions options = KeepingNothing(Minimise("latency"));
  EXPECT_GE(CutOffEverywhere(WideSum(900), options, 2 * kMostAfter), kLeastRuns);
  EXPECT_GE(CutOffEverywhere(WideSum(1750), options, 2 * kMostAfter), kLeastRuns);
}

TEST(Stops, LeaveANetworkOpenThatHasAnotherForm) {
  for (const problem::Bytes capacity : {900, 1750}) {
    const Subject subject = WideSum(capacity);
    partition::answer::PartitionOptions options = KeepingNothing(Minimise("latency"));
    base::Stop stop;
    stop.Request();
    options.stop = &stop;
    const auto result = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_NE(result->status, Status::kInfeasible) << result->reason;
  }
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

}  // namespace
}  // namespace tessera::search
