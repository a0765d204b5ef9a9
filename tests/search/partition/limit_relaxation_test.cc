// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/paths/limit_relaxation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "path_arcs.h"
#include "tessera/base/random.h"
#include "tessera/base/stop.h"
#include "tessera/tests/draws.h"

namespace tessera::search {
namespace {

using partition::paths::Arc;
using partition::paths::LimitRelaxation;
using partition::paths::LimitShares;
using partition::paths::Path;
using partition::paths::PathLook;
using partition::paths::PriceMaster;

// From each state some arcs to the next one and some to the one behind it. Fewer cycles need more
// energy, bytes or memory.
std::vector<Arc> DrawArcs(const cost::Scale& scale, int states, size_t choices,
                          base::Random& random) {
  std::vector<Arc> arcs;
  for (int begin = 0; begin < states; ++begin) {
    for (int end = begin + 1; end <= std::min(begin + 2, states); ++end) {
      for (size_t choice = 0; choice < choices; ++choice) {
        plan::Metrics metrics;
        metrics.latency_cycles = random.Uniform(1, 60) * (end - begin);
        metrics.energy_pj = static_cast<double>(random.Uniform(1, 90 - metrics.latency_cycles / 2));
        metrics.off_chip_bytes = random.Uniform(0, 50);
        metrics.peak_bytes_per_cycle = static_cast<double>(random.Uniform(1, 70));
        metrics.off_chip_peak_bytes = random.Uniform(1, 90);
        metrics.peak_bytes = random.Uniform(1, 120 - metrics.latency_cycles / 2);
        arcs.push_back({.begin = begin, .end = end, .choice = choice, .cost = {}});
        arcs.back().cost = scale.CostOf(metrics);
      }
    }
  }
  return arcs;
}

plan::Objective DrawLimits(int states, base::Random& random) {
  plan::Objective objective{.weights = {{"latency", 1}}, .limits = {}};
  if (random.Chance(0.6)) objective.weights["peak"] = 1;
  if (random.Chance(0.3)) objective.weights["off_chip_peak"] = 2;
  if (random.Chance(0.2)) objective.weights["bandwidth_peak"] = 3;
  if (random.Chance(0.2)) objective.weights = {{"peak", 1}};
  if (random.Chance(0.8))
    objective.limits["energy"] = static_cast<double>(random.Uniform(8, 45)) * states;
  if (random.Chance(0.5))
    objective.limits["off_chip_bytes"] = static_cast<double>(random.Uniform(3, 30)) * states;
  if (random.Chance(0.3))
    objective.limits["latency"] = static_cast<double>(random.Uniform(9, 40)) * states;
  if (random.Chance(0.2)) objective.limits["peak"] = static_cast<double>(random.Uniform(40, 100));
  return objective;
}

// Against every path: no bound is above what it bounds, what is left out is on no path of interest,
// and what is raised makes no path of interest exceed a limit.
TEST(LimitRelaxation, BoundsEveryPath) {
  constexpr int kStates = 5;
  base::Random random(91);
  int with_paths = 0;
  int restricted = 0;
  int raised = 0;
  for (int draw = 0; draw < 400; ++draw) {
    const cost::Scale scale = ScaleOf(DrawLimits(kStates, random));
    const std::vector<Arc> arcs = DrawArcs(scale, kStates, 3, random);
    const partition::paths::ListedArcs lists(kStates, arcs);
    PathLook look;
    const LimitRelaxation relaxation(scale, lists.Lists(), {}, look);
    restricted += std::any_of(arcs.begin(), arcs.end(),
                              [&](const Arc& arc) { return !relaxation.MayUse(arc); })
                      ? 1
                      : 0;
    double least = std::numeric_limits<double>::infinity();
    ForEachPath(kStates, arcs, [&](const std::vector<size_t>& each) {
      cost::Cost whole;
      for (const size_t arc : each) whole = cost::Join(whole, arcs[arc].cost);
      if (!scale.WithinLimits(whole)) return;
      const double score = scale.ScoreOf(whole);
      least = std::min(least, score);
      if (score > relaxation.Most()) return;
      cost::Cost so_far;
      cost::Cost other;
      EXPECT_LE(relaxation.LeastScore(0, so_far), score);
      for (const size_t i : each) {
        EXPECT_TRUE(relaxation.MayUse(arcs[i]));
        so_far = cost::Join(so_far, arcs[i].cost);
        other = cost::Join(other, arcs[i].cost);
        const auto state = static_cast<size_t>(arcs[i].end);
        EXPECT_LE(relaxation.LeastScore(state, so_far), score);
        relaxation.RaiseToLeast(state, other);
        EXPECT_LE(relaxation.LeastScore(state, other), score * (1 + 1e-12));
        raised += other.sums != so_far.sums || other.maxima != so_far.maxima ? 1 : 0;
      }
      EXPECT_TRUE(scale.WithinLimits(other));
      EXPECT_NEAR(scale.ScoreOf(other), score, 1e-9 * score);
    });
    EXPECT_GE(relaxation.Most(), least);
    const std::optional<Path> solution = relaxation.Solution();
    ASSERT_EQ(solution.has_value(), relaxation.Most() < std::numeric_limits<double>::infinity());
    if (solution) {
      EXPECT_TRUE(scale.WithinLimits(solution->cost));
      EXPECT_NEAR(scale.ScoreOf(solution->cost), relaxation.Most(), 1e-9 * relaxation.Most());
    }
    with_paths += least < std::numeric_limits<double>::infinity() ? 1 : 0;
  }
  EXPECT_GT(with_paths, 200);
  EXPECT_GT(restricted, 200);
  EXPECT_GT(raised, 1000);
}

// Of networks with too many paths to list all: prices from the first label on change no score.
TEST(LimitRelaxation, ChangesNoScore) {
  constexpr int kStates = 9;
  base::Random random(95);
  int found = 0;
  for (int draw = 0; draw < DrawsOf(500); ++draw) {
    const cost::Scale scale = ScaleOf(DrawLimits(kStates, random));
    const std::vector<Arc> arcs = DrawArcs(scale, kStates, 4, random);
    PathLook without;
    PathLook with{.most_labels = 0};
    const auto expected = partition::paths::FindBestPath(scale, kStates, arcs, {}, without);
    const auto path = partition::paths::FindBestPath(scale, kStates, arcs, {}, with);
    ASSERT_EQ(path.has_value(), expected.has_value());
    if (!path) continue;
    ++found;
    const double score = scale.ScoreOf(expected->cost);
    EXPECT_NEAR(scale.ScoreOf(path->cost), score, 1e-9 * score);
    EXPECT_FALSE(scale.Prefers(expected->cost, path->cost));
  }
  ExpectEnough(found, DrawsOf(200));
}

// More labels than a search extends without prices, and few with them.
TEST(LimitRelaxation, FindsTheBestPathAmongVeryManyLabels) {
  constexpr int kStates = 27;
  base::Random random(92);
  int found = 0;
  int64_t joins = 0;
  int64_t joins_without = 0;
  for (int draw = 0; draw < 6; ++draw) {
    const cost::Scale scale =
        ScaleOf({.weights = {{"latency", 1}, {"peak", 1}},
                 .limits = {{"energy", 19.0 * kStates}, {"off_chip_bytes", 17.0 * kStates}}});
    const std::vector<Arc> arcs = DrawArcs(scale, kStates, 12, random);
    const base::Stop never;
    PathLook without;
    PathLook usual = PathLook::For(scale, never);
    const auto expected = partition::paths::FindBestPath(scale, kStates, arcs, {}, without);
    const auto path = partition::paths::FindBestPath(scale, kStates, arcs, {}, usual);
    EXPECT_FALSE(usual.left_open);
    joins += usual.joins;
    joins_without += without.joins;
    ASSERT_EQ(path.has_value(), expected.has_value());
    if (!path) continue;
    ++found;
    EXPECT_EQ(scale.ScoreOf(path->cost), scale.ScoreOf(expected->cost));
  }
  EXPECT_GT(found, 2);
  EXPECT_LT(joins, joins_without / 2);
}

// A path within the limits, and no claim that there is no better one.
TEST(LimitRelaxation, LeavesOpenWhatTakesTooManyLabels) {
  constexpr int kStates = 40;
  base::Random random(93);
  const cost::Scale scale =
      ScaleOf({.weights = {{"latency", 1}, {"peak", 1}},
               .limits = {{"energy", 19.0 * kStates}, {"off_chip_bytes", 17.0 * kStates}}});
  const std::vector<Arc> arcs = DrawArcs(scale, kStates, 8, random);
  PathLook look{.most_labels = 8, .most_labels_with_prices = 8};
  const auto path = partition::paths::FindBestPath(scale, kStates, arcs, {}, look);
  EXPECT_TRUE(look.left_open);
  EXPECT_TRUE(look.IsOpen());
  ASSERT_TRUE(path);
  EXPECT_TRUE(scale.WithinLimits(path->cost));
}

// The weight times this peak, divided by the weight, is greater by rounding.
TEST(LimitRelaxation, RaisedMaximaKeepTheirLimits) {
  constexpr double kPeak = 1'043'031;
  plan::Metrics bounds;
  bounds.latency_cycles = 1;
  bounds.peak_bytes = 19'997;
  const auto scale = cost::Scale::Make(
      {.weights = {{"latency", 1}, {"peak", 1}}, .limits = {{"peak", kPeak}}}, bounds);
  ASSERT_TRUE(scale);
  cost::Cost least;
  least.maxima[cost::kPeakMaximum] = kPeak;
  cost::Cost raised;
  scale->RaiseMaxima(scale->ScoreOfMaxima(least), raised);
  EXPECT_TRUE(scale->WithinLimits(raised));
  EXPECT_NEAR(raised.maxima[cost::kPeakMaximum], kPeak, 1e-6);
}

// At its prices the least priced path has the value, and at no others is it greater.
TEST(PriceMaster, FindsThePricesOfTheGreatestValue) {
  constexpr double kGreatest = 100;
  base::Random random(94);
  int priced = 0;
  for (int draw = 0; draw < 300; ++draw) {
    PriceMaster master(kGreatest);
    std::vector<std::pair<double, LimitShares>> paths;
    for (int64_t count = random.Uniform(1, 8); count > 0; --count) {
      LimitShares excess = {};
      for (size_t i = 0; i < 2; ++i) excess[i] = random.Real() * 2 - 1;
      paths.emplace_back(static_cast<double>(random.Uniform(1, 60)), excess);
      master.Add(paths.back().first, excess);
      if (random.Chance(0.5)) master.Solve();
    }
    master.Solve();
    const auto value_at = [&](double first, double second) {
      double least = kGreatest;
      for (const auto& [score, excess] : paths)
        least = std::min(least, score + first * excess[0] + second * excess[1]);
      return least;
    };
    const LimitShares& prices = master.Prices();
    EXPECT_NEAR(value_at(prices[0], prices[1]), master.Value(), 1e-6);
    priced += prices[0] > 0 && prices[1] > 0 ? 1 : 0;
    for (int trial = 0; trial < 200; ++trial) {
      const double first = random.Real() * (trial % 2 == 0 ? 300 : 3);
      const double second = random.Real() * (trial % 3 == 0 ? 300 : 3);
      EXPECT_LE(value_at(first, second), master.Value() + 1e-6);
      const auto near = [&random](double price) { return price * (0.9 + 0.2 * random.Real()); };
      EXPECT_LE(value_at(near(prices[0]), near(prices[1])), master.Value() + 1e-6);
    }
  }
  EXPECT_GT(priced, 50);
}

}  // namespace
}  // namespace tessera::search
