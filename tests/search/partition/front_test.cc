// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "exhaustive.h"
#include "networks.h"
#include "search_options.h"
#include "tessera/base/random.h"
#include "tessera/base/stop.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/analysis/analyses.h"
#include "tessera/tests/search/cost/small_machine.h"

namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;

Subject DrawFrontCase(uint64_t seed) { return AnySubject(seed, {3, 5}, {60, 150}); }

// The least latency of a point that keeps the limit.
double BestWithin(const partition::analysis::Front& front, std::string_view metric, double limit) {
  double best = std::numeric_limits<double>::infinity();
  for (const plan::FrontPoint& point : front.points) {
    if (plan::ValueOf(point.plan.totals, metric) <= limit)
      best = std::min(best, static_cast<double>(point.plan.totals.latency_cycles));
  }
  return best;
}

TEST(FindFront, FollowsTheCurveOfAllPlans) {
  constexpr int kSteps = 40;
  int curves = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Subject subject = DrawFrontCase(seed);
    const auto front =
        partition::analysis::FindFront(subject.graph, subject.profile, KeepingNothing(), 1000);
    ASSERT_TRUE(front);
    if (front->points.empty()) continue;
    EXPECT_TRUE(front->complete);
    const ExhaustiveSearch everything(subject.graph, subject.profile);
    const plan::Metrics bounds = cost::FindLowerBounds(subject.graph, subject.profile);
    for (const std::string metric : {"energy", "off_chip_bytes", "peak"}) {
      const double low = *everything.BestScore({.weights = {{metric, 1}}, .limits = {}}, bounds);
      const double slow = BestWithin(*front, metric, low);
      const double fast = static_cast<double>(front->points.front().plan.totals.latency_cycles);
      ASSERT_LT(slow, std::numeric_limits<double>::infinity())
          << "the least " << metric << " is missing";
      const double high = plan::ValueOf(front->points.front().plan.totals, metric);
      if (slow <= fast || high <= low) continue;
      ++curves;
      double excess = 0;
      for (int step = 0; step <= kSteps; ++step) {
        const double limit = low + (high - low) * step / kSteps;
        const double best = *everything.BestScore(
            {.weights = {{"latency", 1}}, .limits = {{metric, limit}}}, bounds);
        const double found = BestWithin(*front, metric, limit);
        EXPECT_GE(found, best);
        excess += (found - best) / (slow - fast) / kSteps;
      }
      EXPECT_LE(excess, 0.2)
          << metric;  // two steps of a curve may be too near to each other to distinguish
    }
  }
  EXPECT_GE(curves, 6);
}

TEST(FindFront, NamesObjectivesThatFindItsPlans) {
  const Subject subject = DrawFrontCase(3);
  const auto front =
      partition::analysis::FindFront(subject.graph, subject.profile, KeepingNothing(), 1000);
  ASSERT_TRUE(front);
  ASSERT_GE(front->points.size(), 2U);
  for (const plan::FrontPoint& point : front->points) {
    partition::answer::PartitionOptions options = KeepingNothing();
    options.objective = point.objective;
    const auto again = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(again && again->plan);
    EXPECT_EQ(again->plan->totals.latency_cycles, point.plan.totals.latency_cycles);
    EXPECT_EQ(again->plan->allocation.offsets, point.plan.allocation.offsets);
  }
}

TEST(FindFront, KeepsLimitsOfItsOwn) {
  const Subject subject = DrawFrontCase(3);
  const auto free =
      partition::analysis::FindFront(subject.graph, subject.profile, KeepingNothing(), 1000);
  ASSERT_TRUE(free);
  const int64_t most =
      (free->points.front().plan.totals.peak_bytes + free->points.back().plan.totals.peak_bytes) /
      2;
  partition::answer::PartitionOptions options = KeepingNothing();
  options.objective.limits["peak"] = static_cast<double>(most);
  const auto limited =
      partition::analysis::FindFront(subject.graph, subject.profile, options, 1000);
  ASSERT_TRUE(limited);
  ASSERT_FALSE(limited->points.empty());
  for (const plan::FrontPoint& point : limited->points)
    EXPECT_LE(point.plan.totals.peak_bytes, most);
}

TEST(FindFront, SaysWhyThereIsNone) {
  const auto front = partition::analysis::FindFront(
      Chain(2), SmallMachine(DmaSteps::kSerialized, 10), KeepingNothing(), 10);
  ASSERT_TRUE(front);
  EXPECT_TRUE(front->points.empty());
  EXPECT_EQ(front->refusal.status, problem::Status::kInfeasible);
  EXPECT_FALSE(front->refusal.reason.empty());
}

// Whether some ends of curves are unknown, or gaps are left.
TEST(FindFront, CountsItsSearches) {
  for (const int most : {1, 2, 4, 5}) {
    const Subject subject = DrawFrontCase(3);
    const auto front =
        partition::analysis::FindFront(subject.graph, subject.profile, KeepingNothing(), most);
    ASSERT_TRUE(front);
    EXPECT_EQ(front->searches, most);
    EXPECT_FALSE(front->complete);
  }
}

}  // namespace
}  // namespace tessera::search
