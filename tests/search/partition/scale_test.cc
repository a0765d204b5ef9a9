// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "path_arcs.h"
#include "tessera/search/cost/objective.h"

namespace tessera::search {
namespace {

TEST(Dominates, TiesDecideInTheirOrderBetweenEqualScores) {
  cost::Cost fast;
  fast.tie = {.latency = 1, .energy = 9, .off_chip_bytes = 9, .peak = 9};
  cost::Cost slow;
  slow.tie = {.latency = 2, .energy = 1, .off_chip_bytes = 1, .peak = 1};
  EXPECT_TRUE(cost::Dominates(fast, slow));
  EXPECT_FALSE(cost::Dominates(slow, fast));
  cost::Cost small = fast;
  small.tie.peak = 8;
  EXPECT_TRUE(cost::Dominates(small, fast));
  EXPECT_FALSE(cost::Dominates(fast, small));
  slow.score = -1;
  EXPECT_FALSE(cost::Dominates(fast, slow));
  EXPECT_TRUE(cost::Dominates(slow, fast));
}

TEST(Scale, AMeanIsOneWhereEveryBoundIsMet) {
  plan::Metrics bounds;
  bounds.latency_cycles = 50;
  bounds.energy_pj = 7;
  const cost::Scale scale =
      *cost::Scale::Make({.weights = {{"latency", 3}, {"energy", 1}}, .limits = {}}, bounds);
  EXPECT_DOUBLE_EQ(scale.ScoreOf(bounds), 1.0);
  bounds.latency_cycles = 100;
  EXPECT_DOUBLE_EQ(scale.ScoreOf(bounds), 1.75);
}

// Without a limit of the latency the lower bound of a ratio is 0; the mean then takes the ratio of
// the bounds, in any unit.
TEST(Scale, AMeanOfRatiosDoesNotDependOnUnits) {
  for (const double clock_hz : {1.0, 1e9}) {
    plan::Metrics bounds;
    bounds.clock_hz = clock_hz;
    bounds.latency_cycles = 50;
    bounds.energy_pj = 100;
    bounds.off_chip_bytes = 200;
    const cost::Scale scale = *cost::Scale::Make(
        {.weights = {{"latency", 1}, {"power", 1}, {"bandwidth_average", 1}, {"bandwidth_peak", 1}},
         .limits = {}},
        bounds);
    plan::Metrics totals = bounds;
    totals.peak_bytes_per_cycle = 4;
    EXPECT_DOUBLE_EQ(scale.ScoreOf(totals), 1);
    EXPECT_DOUBLE_EQ(scale.ScoreOf(scale.CostOf(totals)), 1);
    totals.latency_cycles = 100;
    EXPECT_DOUBLE_EQ(scale.ScoreOf(totals), (2 + 0.5 + 0.5 + 1) / 4);
    EXPECT_LE(scale.ScoreOfBounds(bounds), 0.25) << "ratios of slow plans are near 0";
  }
}

TEST(Scale, AMetricThatMayBe0CountsInItsUnit) {
  plan::Metrics bounds;
  bounds.latency_cycles = 50;
  const cost::Scale scale =
      *cost::Scale::Make({.weights = {{"latency", 1}, {"macs", 1}}, .limits = {}}, bounds);
  bounds.macs = 3;
  EXPECT_DOUBLE_EQ(scale.ScoreOf(bounds), (1 + 3) / 2.0);
}

TEST(Scale, EveryMetricMayBeLimited) {
  plan::Metrics metrics;
  metrics.latency_cycles = metrics.off_chip_bytes = metrics.macs = metrics.peak_bytes = 10;
  metrics.off_chip_peak_bytes = 10;
  metrics.energy_pj = metrics.peak_bytes_per_cycle = 10;
  metrics.clock_hz = 1e9;
  for (const plan::Metric& metric : plan::kMetrics) {
    SCOPED_TRACE(metric.name);
    const std::string name(metric.name);
    const double value = plan::ValueOf(metrics, metric);
    ASSERT_GT(value, 0);
    const cost::Scale at = ScaleOf({.weights = {}, .limits = {{name, value}}});
    EXPECT_TRUE(at.WithinLimits(at.CostOf(metrics)));
    const cost::Scale below = ScaleOf({.weights = {}, .limits = {{name, 0.9 * value}}});
    EXPECT_FALSE(below.WithinLimits(below.CostOf(metrics)));
  }
}

// A part with a higher ratio may belong to a plan that keeps the limit of it.
TEST(Scale, LimitsOfRatiosHoldForThePlanAsAWhole) {
  plan::Metrics part;
  part.clock_hz = 1e9;
  part.latency_cycles = 10;
  part.energy_pj = 100;
  plan::Metrics other = part;
  other.latency_cycles = 40;
  const cost::Scale scale = ScaleOf({.weights = {}, .limits = {{"power", 4}}});
  EXPECT_FALSE(scale.WithinLimits(scale.CostOf(part)));
  EXPECT_TRUE(scale.WithinLimits(scale.BoundOf(part)));
  const cost::Cost joined = cost::Join(scale.CostOf(part), scale.CostOf(other));
  EXPECT_TRUE(scale.WithinLimits(joined));
  plan::Metrics whole = part;
  plan::Accumulate(whole, other);
  EXPECT_DOUBLE_EQ(plan::ValueOf(whole, "power"), 4);
  EXPECT_TRUE(scale.WithinLimits(scale.CostOf(whole)));
}

TEST(Scale, ARatioAloneNeedsALimitOfTheLatency) {
  EXPECT_FALSE(cost::Scale::Make({.weights = {{"power", 1}}, .limits = {}}, {}));
  EXPECT_TRUE(cost::Scale::Make({.weights = {{"power", 1}}, .limits = {{"latency", 5}}}, {}));
  EXPECT_TRUE(cost::Scale::Make({.weights = {{"power", 1}, {"latency", 1}}, .limits = {}}, {}));
  EXPECT_FALSE(cost::Scale::Make({.weights = {{"power", 1}, {"latency", 0}}, .limits = {}}, {}));
  EXPECT_FALSE(
      cost::Scale::Make({.weights = {{"power", 1}, {"bandwidth_average", 1}}, .limits = {}}, {}));
}

// The bound of a ratio is that of its numerator over the longest time that is allowed.
TEST(Scale, BoundsOfRatiosNeedALimitOfTheLatency) {
  plan::Metrics bounds;
  bounds.clock_hz = 1e9;
  bounds.latency_cycles = 10;
  bounds.off_chip_bytes = 60;
  const plan::Metric& average = *plan::FindMetric("bandwidth_average");
  const plan::Metric& peak = *plan::FindMetric("bandwidth_peak");
  EXPECT_EQ(plan::LowerBoundOf(bounds, average, {}), 0);
  EXPECT_EQ(plan::LowerBoundOf(bounds, average, {{"latency", 20}}), 3);
  EXPECT_EQ(plan::LowerBoundOf(bounds, peak, {{"latency", 20}}), 3);
}

TEST(Scale, ASingleMetricIsItsOwnScoreWhateverItsWeight) {
  plan::Metrics metrics;
  metrics.off_chip_bytes = 123;
  EXPECT_EQ(ScaleOf({.weights = {{"off_chip_bytes", 4}}, .limits = {}}).ScoreOf(metrics), 123);
}

}  // namespace
}  // namespace tessera::search
