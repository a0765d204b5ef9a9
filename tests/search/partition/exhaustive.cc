// SPDX-License-Identifier: Apache-2.0

#include "exhaustive.h"

#include <algorithm>

#include "tessera/encoder/program/build_program.h"
#include "tessera/plan/metrics.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"
#include "tessera/tests/search/cost/simulate.h"

namespace tessera::search {
namespace {

// Of a choice or of several, in the order of exhaustive.h. Peaks are maxima, the others add up.
enum Cost : size_t { kLatency, kEnergy, kOffChip, kPeak, kMacs, kBusiest, kCosts };
using Costs = std::array<double, kCosts>;

// Values of the metrics of a whole partition, in the order of plan::kMetrics.
using Values = std::array<double, plan::kMetrics.size()>;

Costs Join(const Costs& a, const Costs& b) {
  Costs joined;
  for (size_t i = 0; i < kCosts; ++i)
    joined[i] = i == kPeak || i == kBusiest ? std::max(a[i], b[i]) : a[i] + b[i];
  return joined;
}

// The definitions of docs/plan-format.md. Milliwatts are picojoules over nanoseconds.
Values MetricsOf(const Costs& whole, double clock_hz) {
  const double nanoseconds = whole[kLatency] / clock_hz * 1e9;
  return {whole[kLatency],
          whole[kEnergy],
          whole[kOffChip],
          whole[kPeak],
          whole[kMacs],
          whole[kEnergy] / nanoseconds,
          whole[kOffChip] / whole[kLatency],
          whole[kBusiest]};
}

void KeepEachOnce(std::vector<Costs>& costs) {
  std::sort(costs.begin(), costs.end());
  costs.erase(std::unique(costs.begin(), costs.end()), costs.end());
}

std::vector<Costs> ChoicesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                             graph::Interval interval) {
  tiling::TileOptions options;
  options.engines = TestEngines();
  options.policies = encoder::program::AllowedPolicies(graph, profile, interval);
  options.made = encoder::program::TilesMade::kAll;
  options.shapes = graph::tiling::ShapesOf(
      graph::tiling::WithEveryExtent(tiling::GridOf(graph, profile, interval)));
  const auto tiles = tiling::IntervalTiles::Build(graph, profile, interval, options);
  std::vector<Costs> fitting;
  for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
    allocate::AllocateOptions allocate;
    allocate.minimize = true;
    allocate.capacity = profile.memories[static_cast<size_t>(profile.tile_memory)].capacity_bytes;
    const auto result =
        allocate::Allocate(tiles->ProblemOf(i), nullptr, 0, TestEngines(), allocate);
    if (!result->allocation) continue;
    const plan::Metrics metrics =
        cost::Simulate(graph, profile, tiles->TilingOf(i), tiles->Candidates()[i].choice.policy);
    fitting.push_back({static_cast<double>(metrics.latency_cycles), metrics.energy_pj,
                       static_cast<double>(metrics.off_chip_bytes),
                       static_cast<double>(*result->peak), static_cast<double>(metrics.macs),
                       metrics.peak_bytes_per_cycle});
  }
  KeepEachOnce(fitting);
  return fitting;
}

}  // namespace

const std::vector<const problem::Engine*>& TestEngines() {
  static const engines::greedy::GreedyEngine greedy;
  static const engines::canonical::CanonicalEngine canonical;
  static const engines::lazy::LazyEngine lazy;
  static const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &lazy};
  return engines;
}

// From the first cut on, every choice of every subgraph that begins there follows every sum so far.
ExhaustiveSearch::ExhaustiveSearch(const graph::Graph& graph, const hw_profiles::Profile& profile)
    : clock_hz_(profile.clock_hz) {
  const int operators = static_cast<int>(graph.operators.size());
  std::vector<std::vector<Costs>> up_to(graph.operators.size() + 1);  // by cut
  up_to.front().emplace_back();
  for (int first = 0; first < operators; ++first) {
    std::vector<Costs>& before = up_to[static_cast<size_t>(first)];
    KeepEachOnce(before);
    for (int last = first; last < operators; ++last) {
      std::vector<Costs>& behind = up_to[static_cast<size_t>(last) + 1];
      for (const Costs& choice : ChoicesOf(graph, profile, {first, last})) {
        for (const Costs& so_far : before) behind.push_back(Join(so_far, choice));
      }
      KeepEachOnce(behind);
    }
  }
  partitions_ = std::move(up_to.back());
}

std::optional<double> ExhaustiveSearch::BestScore(const plan::Objective& objective,
                                                  const plan::Metrics& lower_bounds) const {
  double sum = 0;
  for (const auto& [metric, weight] : objective.weights) sum += weight;
  Values weights = {};
  Values limits = {};
  for (size_t i = 0; i < plan::kMetrics.size(); ++i) {
    const plan::Metric& metric = plan::kMetrics[i];
    const std::string name(metric.name);
    limits[i] = objective.limits.contains(name) ? objective.limits.at(name) : 1e300;
    if (!objective.weights.contains(name)) continue;
    const bool single = objective.weights.size() == 1;
    weights[i] = single ? 1
                        : objective.weights.at(name) / sum /
                              plan::DivisorOf(lower_bounds, metric, objective.limits);
  }
  std::optional<double> best;
  for (const Costs& partition : partitions_) {
    const Values values = MetricsOf(partition, clock_hz_);
    double score = 0;
    for (size_t i = 0; i < values.size(); ++i)
      score += values[i] > limits[i] ? 1e300 : weights[i] * values[i];
    if (score < best.value_or(1e300)) best = score;
  }
  return best;
}

}  // namespace tessera::search
