// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "exhaustive.h"
#include "networks.h"
#include "search_options.h"
#include "tessera/base/stop.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/search/cost/small_machine.h"

// A search of limited effort leaves out work, and reports that. It never leaves out what every
// answer needs.
namespace tessera::search {
namespace {

Subject DrawSubject(uint64_t seed) { return AnySubject(seed, {4, 9}, {40, 90}); }

partition::answer::PartitionResult Search(const Subject& subject, int64_t effort,
                                          plan::Objective objective,
                                          const base::Stop* stop = nullptr) {
  partition::answer::PartitionOptions options;
  options.objective = std::move(objective);
  options.engines = TestEngines();
  options.effort = effort;
  options.stop = stop;
  auto result = partition::SearchPartition(subject.graph, subject.profile, options);
  EXPECT_TRUE(result) << result.error().message;
  return *std::move(result);
}

struct Both {
  partition::answer::PartitionResult all;
  partition::answer::PartitionResult some;
};

// The results with enough effort, and with almost none.
Both SearchBoth(const Subject& subject) {
  const plan::Objective traffic{.weights = {{"off_chip_bytes", 1}}, .limits = {}};
  return {Search(subject, partition::answer::kUsualEffort, traffic), Search(subject, 1, traffic)};
}

bool TellsWhatItLeftOut(const plan::Plan& plan) {
  return plan.scope.kept == "boundary tensors, for want of effort";
}

// A search that its work limit ends has considered no part of the scope to the end.
TEST(LimitedEffort, AWorkLimitLeavesOutSomeOfEachPart) {
  int cut_short = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Subject subject = DrawSubject(seed);
    partition::answer::PartitionOptions options;
    options.engines = TestEngines();
    options.most_work = 1;
    const auto result = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(result);
    if (!result->plan || result->plan->score <= result->plan->bound) continue;
    ++cut_short;
    EXPECT_FALSE(result->plan->proven);
    for (const plan::ScopePart& part : plan::kScopeParts)
      EXPECT_NE(result->plan->scope.*part.left_out, "") << part.name;
  }
  EXPECT_GE(cut_short, 5);
}

// Single operators that the limit leaves undecided are decided by a short search.
TEST(LimitedEffort, EveryWorkLimitEndsWithAPlanOnAnyNumberOfThreads) {
  int with_baseline = 0;
  int without_baseline = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const Subject subject = AnySubject(seed, {9, 14}, {40, 90});
    partition::answer::PartitionOptions options;
    options.engines = TestEngines();
    const auto whole = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(whole);
    if (!whole->plan || !whole->plan->baseline->complete) continue;
    for (const int64_t most : {0, 50, 200, 1000}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", work " << most);
      options.most_work = most;
      std::optional<double> score;
      for (const int threads : {1, 3}) {
        options.threads = threads;
        const auto result = partition::SearchPartition(subject.graph, subject.profile, options);
        ASSERT_TRUE(result);
        ASSERT_TRUE(result->plan) << result->reason;
        EXPECT_TRUE(plan::verify::Validate(*result->plan).empty());
        EXPECT_EQ(score.value_or(result->plan->score), result->plan->score);
        score = result->plan->score;
        ++(result->plan->baseline ? with_baseline : without_baseline);
        if (result->plan->baseline) {
          EXPECT_EQ(result->plan->baseline->score, whole->plan->baseline->score);
        }
      }
      options.threads = 1;
    }
  }
  EXPECT_GE(with_baseline, 10);
  EXPECT_GE(without_baseline, 10);
}

TEST(LimitedEffort, FindsAPlanWhereThereIsOneAndSaysWhatItLeftOut) {
  int worse = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Subject subject = DrawSubject(seed);
    const auto [all, some] = SearchBoth(subject);
    ASSERT_EQ(all.plan.has_value(), some.plan.has_value());
    if (!all.plan) continue;
    EXPECT_TRUE(plan::verify::Validate(*some.plan).empty());
    EXPECT_FALSE(TellsWhatItLeftOut(*all.plan));
    EXPECT_GE(some.plan->score, all.plan->score);
    EXPECT_TRUE(some.plan->kept.empty() || !TellsWhatItLeftOut(*some.plan));
    if (some.plan->score == all.plan->score) continue;
    EXPECT_TRUE(TellsWhatItLeftOut(*some.plan));
    ++worse;
  }
  EXPECT_GE(worse, 3);
}

TEST(LimitedEffort, SaysThatExtentsOfTilesWereLeftOut) {
  NetworkBuilder net;
  const Subject subject = {net.Finish(net.Conv(net.Input({1, 1, 1000, 2}), 3, 1)),
                           SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 200)};
  const partition::answer::PartitionResult some =
      Search(subject, 1, {.weights = {{"latency", 1}}, .limits = {}});
  ASSERT_TRUE(some.plan.has_value()) << some.reason;
  EXPECT_GT(some.plan->score, some.plan->bound);
  EXPECT_EQ(some.status, problem::Status::kFeasible);
  EXPECT_NE(some.plan->scope.tile_extents, "");
  EXPECT_EQ(some.plan->scope.cuts + some.plan->scope.kept + some.plan->scope.orders, "");
}

TEST(LimitedEffort, IsNotHeldToWhereOnlyWhatWasLeftOutKeepsALimit) {
  int needed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Subject subject = DrawSubject(seed);
    const auto [all, some] = SearchBoth(subject);
    if (!all.plan || some.plan->score == all.plan->score) continue;
    const plan::Objective limited{.weights = {{"latency", 1}},
                                  .limits = {{"off_chip_bytes", all.plan->score}}};
    const partition::answer::PartitionResult within = Search(subject, 1, limited);
    ASSERT_TRUE(within.plan.has_value()) << within.reason;
    EXPECT_LE(within.plan->totals.off_chip_bytes, all.plan->totals.off_chip_bytes);
    ++needed;
  }
  EXPECT_GE(needed, 3);
}

// With the least effort few combinations of subgraphs are compared where there are limits.
TEST(LimitedEffort, OfCombinationsWithinLimitsClaimsNoMoreThanItCompared) {
  int left_open = 0;
  int worse = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Subject subject = AnySubject(seed, {4, 7}, {40, 90});
    plan::Objective objective{.weights = {{"latency", 1}}, .limits = {}};
    const partition::answer::PartitionResult fast =
        Search(subject, partition::answer::kUsualEffort, objective);
    if (!fast.plan) continue;
    objective.weights["peak"] = 1;
    objective.limits["energy"] = fast.plan->totals.energy_pj;
    const auto all = Search(subject, partition::answer::kUsualEffort, objective);
    const auto some = Search(subject, 1, objective);
    EXPECT_FALSE(all.plan && some.status == problem::Status::kInfeasible) << some.reason;
    if (!all.plan || !some.plan) continue;
    EXPECT_TRUE(plan::verify::Validate(*some.plan).empty());
    const bool is_worse = cost::IsLess(all.plan->score, some.plan->score);
    EXPECT_FALSE(is_worse && some.status == problem::Status::kOptimal);
    const bool is_open = some.plan->scope.cuts.find("not compared") != std::string::npos;
    EXPECT_FALSE(is_open && some.plan->proven);
    left_open += is_open ? 1 : 0;
    worse += is_worse ? 1 : 0;
  }
  EXPECT_GE(left_open, 20);
  EXPECT_GE(worse, 5);
}

// A deadline may end the search at any time. The test checks the answer that is left: no plan is
// called best and no question impossible that is not.
TEST(LimitedTime, ClaimsNoMoreThanItFound) {
  const plan::Objective latency{.weights = {{"latency", 1}}, .limits = {}};
  int plans = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Subject subject = DrawSubject(seed);
    const partition::answer::PartitionResult all =
        Search(subject, partition::answer::kUsualEffort, latency);
    for (const int milliseconds : {0, 1, 2, 4, 8, 16}) {
      const base::Stop stop(base::Stop::Clock::now() + std::chrono::milliseconds(milliseconds));
      const partition::answer::PartitionResult some =
          Search(subject, partition::answer::kUsualEffort, latency, &stop);
      EXPECT_FALSE(all.plan && some.status == problem::Status::kInfeasible) << some.reason;
      if (!some.plan) continue;
      ++plans;
      ASSERT_TRUE(all.plan);
      EXPECT_TRUE(plan::verify::Validate(*some.plan).empty());
      EXPECT_GE(some.plan->score, all.plan->score);
      EXPECT_TRUE(some.plan->score == all.plan->score || some.status == problem::Status::kFeasible);
    }
  }
  ExpectEnough(plans, DrawsOf(20));
}

// A large network is planned layer by layer, in haste, before it is searched. Where the search goes
// on, nothing of that is left in the answer; where a stop ends it, there is a plan.
TEST(LimitedTime, OfALargeNetworkLeavesAPlanAndNoOtherTrace) {
  const Subject subject{Chain(300), SmallMachine(hw_profiles::DmaSteps::kSerialized, 1 << 12)};
  partition::answer::PartitionOptions options = KeepingNothing(Minimise("off_chip_bytes"));
  options.max_operators = 2;
  const base::Stop stop;
  options.stop = &stop;
  const auto whole = partition::SearchPartition(subject.graph, subject.profile, options);
  ASSERT_TRUE(whole && whole->plan);
  EXPECT_FALSE(stop.HasCutOff());
  EXPECT_FALSE(whole->plan->run.cut_off);
  EXPECT_TRUE(whole->plan->baseline);
  EXPECT_EQ(whole->plan->subgraphs.size(), size_t{150});
  for (const int64_t polls : {1, 2, 300}) {
    SCOPED_TRACE(polls);
    const base::Stop early(base::Stop::AtPoll{polls});
    options.stop = &early;
    const auto some = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(some && some->plan);
    EXPECT_TRUE(some->plan->run.cut_off);
    EXPECT_EQ(some->status, problem::Status::kFeasible);
    EXPECT_TRUE(plan::verify::Validate(*some->plan).empty());
  }
}

}  // namespace
}  // namespace tessera::search
