// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/paths/label_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "path_arcs.h"
#include "tessera/base/random.h"
#include "tessera/base/stop.h"
#include "tessera/search/partition/paths/lattice.h"

namespace tessera::search {
namespace {

struct IndexedPath {
  std::vector<size_t> arcs;  // of those that were given
  cost::Cost cost;
};

// Prices of limits from the first label on change only the time.
std::optional<IndexedPath> FindBestPath(const cost::Scale& scale, int last,
                                        std::span<const partition::paths::Arc> arcs,
                                        std::span<const partition::paths::Forbidden> forbidden) {
  partition::paths::PathLook look;
  const auto path = partition::paths::FindBestPath(scale, last, arcs, forbidden, look);
  partition::paths::PathLook with_prices{.most_labels = 0};
  const auto same = partition::paths::FindBestPath(scale, last, arcs, forbidden, with_prices);
  EXPECT_EQ(path.has_value(), same.has_value());
  if (path && same) {
    EXPECT_FALSE(scale.Prefers(path->cost, same->cost));
    EXPECT_FALSE(scale.Prefers(same->cost, path->cost));
  }
  if (!path) return std::nullopt;
  IndexedPath indexed{.arcs = {}, .cost = path->cost};
  for (const partition::paths::Arc& arc : path->arcs) {
    const auto at = std::find_if(arcs.begin(), arcs.end(), [&arc](const auto& each) {
      return each.begin == arc.begin && each.end == arc.end && each.choice == arc.choice;
    });
    indexed.arcs.push_back(static_cast<size_t>(at - arcs.begin()));
  }
  return indexed;
}

// An arc for each interval of at most `most` operators in a chain.
std::vector<partition::paths::Arc> IntervalsOf(int operators, int most) {
  orders::Order chain(static_cast<size_t>(operators));
  std::iota(chain.begin(), chain.end(), 0);
  const partition::paths::OrderLattice lattice({chain});
  std::vector<partition::paths::Arc> arcs;
  for (const auto [first, last] :
       partition::paths::DistinctIntervals(lattice, /*alike=*/false).Take(0, most))
    arcs.push_back(ArcOf(first, last + 1, 0, 1));
  return arcs;
}

int CountPartitions(int operators, int most) {
  int count = 0;
  ForEachPath(operators, IntervalsOf(operators, most),
              [&count](const std::vector<size_t>&) { ++count; });
  return count;
}

TEST(CountIntervals, ChainOfFourHasTen) {
  EXPECT_EQ(IntervalsOf(4, 4).size(), 10U);
  EXPECT_EQ(IntervalsOf(4, 1).size(), 4U);
  EXPECT_EQ(IntervalsOf(64, 12).size(), 702U);
}

TEST(CountPartitions, ChainOfFourHasEight) {
  EXPECT_EQ(CountPartitions(4, 4), 8);
  EXPECT_EQ(CountPartitions(4, 1), 1);
  EXPECT_EQ(CountPartitions(4, 2), 5);
}

TEST(FindBestPath, TakesTheCheapestSum) {
  const std::vector<partition::paths::Arc> arcs = {ArcOf(0, 1, 0, 2), ArcOf(0, 2, 0, 5),
                                                   ArcOf(1, 2, 0, 2), ArcOf(2, 3, 0, 1)};
  const auto path = FindBestPath(ScaleOf({}), 3, arcs, {});
  ASSERT_TRUE(path);
  EXPECT_EQ(path->arcs, (std::vector<size_t>{0, 2, 3}));
  EXPECT_EQ(path->cost.score, 5);
}

TEST(FindBestPath, NoneWhereACutPointIsOutOfReach) {
  EXPECT_FALSE(
      FindBestPath(ScaleOf({}), 3,
                   std::vector<partition::paths::Arc>{ArcOf(0, 1, 0, 1), ArcOf(2, 3, 0, 1)}, {}));
}

TEST(FindBestPath, AHighPeakIsWorthNothingWhenAnotherIsHigher) {
  const cost::Scale scale = ScaleOf({.weights = {{"latency", 1}, {"peak", 1}}, .limits = {}});
  // The first operator could lower its peak at a higher cost, but the second needs 10 anyway.
  const std::vector<partition::paths::Arc> arcs = {ArcOf(0, 1, 0, 1, 9), ArcOf(0, 1, 1, 3, 2),
                                                   ArcOf(1, 2, 0, 1, 10)};
  const auto path = FindBestPath(scale, 2, arcs, {});
  ASSERT_TRUE(path);
  EXPECT_EQ(path->arcs, (std::vector<size_t>{0, 2}));
}

TEST(FindBestPath, ForbiddenPathsGiveTheNextBest) {
  base::Random random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<partition::paths::Arc> arcs;
    const int operators = 4;
    for (int begin = 0; begin < operators; ++begin) {
      for (int end = begin + 1; end <= operators; ++end) {
        for (size_t choice = 0; choice < 2; ++choice) {
          arcs.push_back(ArcOf(begin, end, choice,
                               static_cast<double>(random.Uniform(1, 9) * (end - begin)),
                               static_cast<double>(random.Uniform(1, 9))));
        }
      }
    }
    const cost::Scale scale =
        ScaleOf({.weights = {{"latency", 1}, {"peak", 1}}, .limits = {{"peak", 8}}});
    std::vector<double> scores;
    ForEachPath(operators, arcs, [&](const std::vector<size_t>& each) {
      cost::Cost cost;
      for (const size_t arc : each) cost = cost::Join(cost, arcs[arc].cost);
      if (scale.WithinLimits(cost)) scores.push_back(scale.ScoreOf(cost));
    });
    std::sort(scores.begin(), scores.end());
    std::vector<partition::paths::Forbidden> forbidden;
    for (size_t rank = 0; rank < std::min<size_t>(6, scores.size()); ++rank) {
      const auto found = FindBestPath(scale, operators, arcs, forbidden);
      ASSERT_TRUE(found);
      EXPECT_DOUBLE_EQ(scale.ScoreOf(found->cost), scores[rank]);
      partition::paths::Forbidden& next = forbidden.emplace_back();
      for (const size_t arc : found->arcs) next.push_back(arcs[arc]);
    }
  }
}

plan::Metrics DrawMetrics(base::Random& random) {
  plan::Metrics metrics;
  metrics.clock_hz = 1e9;
  metrics.latency_cycles = random.Uniform(1, 9);
  metrics.energy_pj = static_cast<double>(random.Uniform(1, 9));
  metrics.off_chip_bytes = random.Uniform(0, 9);
  metrics.macs = random.Uniform(0, 9);
  metrics.peak_bytes = random.Uniform(1, 9);
  metrics.off_chip_peak_bytes = random.Uniform(1, 9);
  metrics.peak_bytes_per_cycle = static_cast<double>(random.Uniform(0, 9));
  return metrics;
}

plan::Objective DrawObjective(base::Random& random) {
  const auto draw = [&random] {
    return std::string(plan::kMetrics[static_cast<size_t>(random.Uniform(
                                          0, static_cast<int64_t>(plan::kMetrics.size()) - 1))]
                           .name);
  };
  plan::Objective objective;
  for (int64_t count = random.Uniform(1, 3); count > 0; --count)
    objective.weights[draw()] = static_cast<double>(random.Uniform(1, 3));
  for (int64_t count = random.Uniform(0, 2); count > 0; --count)
    objective.limits[draw()] = static_cast<double>(random.Uniform(2, 25));
  if (objective.weights.size() == 1 && random.Chance(0.5)) objective.limits["latency"] = 20;
  return objective;
}

// The best path, compared with the least score of all paths. `score_of`: of the arcs at these
// positions, nullopt if they exceed a limit.
std::optional<IndexedPath> FindBestOf(
    const cost::Scale& scale, int operators, std::span<const partition::paths::Arc> arcs,
    const std::function<std::optional<double>(const std::vector<size_t>&)>& score_of) {
  std::optional<double> least;
  ForEachPath(operators, arcs, [&](const std::vector<size_t>& each) {
    const std::optional<double> score = score_of(each);
    if (score && (!least || *score < *least)) least = score;
  });
  std::optional<IndexedPath> best = FindBestPath(scale, operators, arcs, {});
  EXPECT_EQ(best.has_value(), least.has_value());
  if (best && least) {
    EXPECT_NEAR(scale.ScoreOf(best->cost), *least, 1e-9 * (1 + *least));
  }
  return best;
}

// The definition: every path, the metrics of the whole, and their score.
TEST(FindBestPath, IsTheBestOfAllUnderDrawnObjectives) {
  constexpr int kOperators = 4;
  base::Random random(17);
  int found = 0;
  for (int draw = 0; draw < 1000; ++draw) {
    const plan::Objective objective = DrawObjective(random);
    const auto scale = cost::Scale::Make(objective, DrawMetrics(random));
    if (!scale) continue;  // a ratio alone without a limit
    std::vector<partition::paths::Arc> arcs;
    std::vector<plan::Metrics> metrics;
    for (const partition::paths::Arc& interval : IntervalsOf(kOperators, 3)) {
      for (size_t choice = 0; choice < 2; ++choice) {
        metrics.push_back(DrawMetrics(random));
        arcs.push_back(ArcOf(interval.begin, interval.end, choice, 0));
        arcs.back().cost = scale->CostOf(metrics.back());
      }
    }
    const auto best = FindBestOf(*scale, kOperators, arcs, [&](const std::vector<size_t>& each) {
      plan::Metrics whole;
      for (const size_t arc : each) plan::Accumulate(whole, metrics[arc]);
      const bool keeps_limits = std::none_of(
          objective.limits.begin(), objective.limits.end(), [&whole](const auto& limit) {
            const double value = plan::ValueOf(whole, limit.first) * (1 - 1e-10);
            return cost::IsLess(limit.second, value);
          });
      return keeps_limits ? std::optional(scale->ScoreOf(whole)) : std::nullopt;
    });
    if (best) ++found;
  }
  EXPECT_GT(found, 300);
}

// Some arcs are bounds of subgraphs that are not examined: their latency may be any that the limit
// leaves.
TEST(FindBestPath, IsTheBestOfAllUnderRatiosAlone) {
  constexpr int kOperators = 5;
  base::Random random(18);
  int found = 0;
  int bounded = 0;
  for (int draw = 0; draw < 1500; ++draw) {
    plan::Objective objective{.weights = {{"power", 1}}, .limits = {}};
    if (random.Chance(0.5)) objective.weights = {{"bandwidth_average", 1}};
    if (random.Chance(0.3)) objective.weights = {{"power", 1}, {"bandwidth_average", 2}};
    objective.limits["latency"] = static_cast<double>(random.Uniform(5, 60));
    if (random.Chance(0.5)) objective.limits["energy"] = static_cast<double>(random.Uniform(9, 30));
    if (random.Chance(0.3)) objective.limits["peak"] = 6;
    if (random.Chance(0.2)) objective.limits["power"] = 1 + random.Real();
    const auto scale = cost::Scale::Make(objective, DrawMetrics(random));
    ASSERT_TRUE(scale);
    std::vector<partition::paths::Arc> arcs;
    const bool has_bounds = random.Chance(0.5);
    for (const partition::paths::Arc& interval : IntervalsOf(kOperators, 3)) {
      for (size_t choice = 0; choice < 3; ++choice) {
        const plan::Metrics metrics = DrawMetrics(random);
        arcs.push_back(ArcOf(interval.begin, interval.end, choice, 0));
        const bool is_bound = has_bounds && random.Chance(0.2);
        arcs.back().cost = is_bound ? scale->BoundOf(metrics) : scale->CostOf(metrics);
      }
    }
    const auto best = FindBestOf(*scale, kOperators, arcs, [&](const std::vector<size_t>& each) {
      cost::Cost whole;
      for (const size_t arc : each) whole = cost::Join(whole, arcs[arc].cost);
      return scale->WithinLimits(whole) ? std::optional(scale->ScoreOf(whole)) : std::nullopt;
    });
    if (!best) continue;
    ++found;
    bounded += cost::Scale::LatencyOf(best->cost) == cost::Scale::Latency::kUnknown ? 1 : 0;
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(bounded, 100);
}

// Each choice takes longer and needs more energy than the one before it, so no label replaces
// another, and each is compared with all others of its state.
TEST(FindBestPath, EndsWithTooManyLabelsOfARatio) {
  constexpr int kStates = 24;
  const cost::Scale scale = ScaleOf(
      {.weights = {{"power", 1}, {"off_chip_bytes", 1}}, .limits = {{"latency", 1'000'000}}});
  base::Random random(5);
  std::vector<partition::paths::Arc> arcs;
  for (int state = 0; state < kStates; ++state) {
    plan::Metrics metrics;
    metrics.clock_hz = 1e9;
    for (size_t choice = 0; choice < 1000; ++choice) {
      metrics.latency_cycles += random.Uniform(1, 99);
      metrics.energy_pj += static_cast<double>(random.Uniform(1, 99));
      arcs.push_back(ArcOf(state, state + 1, choice, 0));
      arcs.back().cost = scale.CostOf(metrics);
    }
  }
  const base::Stop stop;
  auto look = partition::paths::PathLook::For(scale, stop);
  EXPECT_FALSE(partition::paths::FindBestPath(scale, kStates, arcs, {}, look));
  EXPECT_TRUE(look.IsCutShort());
  EXPECT_LT(look.joins, 100 * look.most_joins);
}

TEST(FindBestPath, EndsAtAStop) {
  constexpr int kStates = 1000;
  std::vector<partition::paths::Arc> arcs;
  for (int state = 0; state < kStates; ++state) arcs.push_back(ArcOf(state, state + 1, 0, 1));
  base::Stop stop;
  partition::paths::PathLook look{.stop = &stop};
  EXPECT_TRUE(partition::paths::FindBestPath(ScaleOf({}), kStates, arcs, {}, look));
  stop.Request();
  EXPECT_FALSE(partition::paths::FindBestPath(ScaleOf({}), kStates, arcs, {}, look));
}

}  // namespace
}  // namespace tessera::search
