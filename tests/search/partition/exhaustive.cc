#include "exhaustive.h"

#include <algorithm>

#include "tessera/encoder/program/build_program.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/tiling/tile_driver.h"
#include "tessera/tests/search/cost/simulate.h"

namespace tessera::search {
namespace {

// The first of plan::kMetrics, all but the peak of which add up.
constexpr size_t kPeak = 3;
constexpr size_t kValues = 5;

using Values = std::array<double, kValues>;

std::vector<Values> ChoicesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              graph::Interval interval) {
  tiling::TileOptions options;
  options.engines = TestEngines();
  options.policies = encoder::program::AllowedPolicies(graph, profile, interval);
  options.made = encoder::program::TilesMade::kAll;
  const auto tiles = tiling::IntervalTiles::Build(graph, profile, interval, options);
  std::vector<Values> fitting;
  for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
    allocate::AllocateOptions allocate;
    allocate.minimize = true;
    allocate.capacity = profile.memories[static_cast<size_t>(profile.tile_memory)].capacity_bytes;
    const auto result =
        allocate::Allocate(tiles->ProblemOf(i), nullptr, 0, TestEngines(), allocate);
    if (!result->allocation) continue;
    const plan::Metrics metrics =
        cost::Simulate(graph, profile, tiles->TilingOf(i), tiles->Candidates()[i].choice.policy);
    fitting.push_back({plan::ValueOf(metrics, "latency"), plan::ValueOf(metrics, "energy"),
                       plan::ValueOf(metrics, "off_chip_bytes"), static_cast<double>(*result->peak),
                       plan::ValueOf(metrics, "macs")});
  }
  return fitting;
}

// Visits every path through the cut points.
struct Walk {
  const std::vector<std::vector<std::vector<Values>>>& choices;
  Values weights = {};
  Values limits = {};
  std::optional<double> best;

  void From(size_t first, const Values& so_far) {
    if (first == choices.size()) return Finish(so_far);
    for (size_t length = 1; length <= choices[first].size(); ++length) {
      for (const Values& choice : choices[first][length - 1]) {
        Values total = so_far;
        for (size_t i = 0; i < total.size(); ++i)
          total[i] = i == kPeak ? std::max(total[i], choice[i]) : total[i] + choice[i];
        From(first + length, total);
      }
    }
  }

  void Finish(const Values& total) {
    double score = 0;
    for (size_t i = 0; i < total.size(); ++i) {
      if (total[i] > limits[i]) return;
      score += weights[i] * total[i];
    }
    best = best ? std::min(*best, score) : score;
  }
};

}  // namespace

const std::vector<const problem::Engine*>& TestEngines() {
  static const engines::greedy::GreedyEngine greedy;
  static const engines::canonical::CanonicalEngine canonical;
  static const engines::lazy::LazyEngine lazy;
  static const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &lazy};
  return engines;
}

ExhaustiveSearch::ExhaustiveSearch(const graph::Graph& graph, const hw_profiles::Profile& profile) {
  const int operators = static_cast<int>(graph.operators.size());
  choices_.resize(graph.operators.size());
  for (int first = 0; first < operators; ++first) {
    for (int last = first; last < operators; ++last) {
      choices_[static_cast<size_t>(first)].push_back(ChoicesOf(graph, profile, {first, last}));
    }
  }
}

std::optional<double> ExhaustiveSearch::BestScore(const plan::Objective& objective,
                                                  const plan::Metrics& lower_bounds) const {
  Walk walk{.choices = choices_, .weights = {}, .limits = {}, .best = std::nullopt};
  const std::vector<std::string_view> names = plan::MetricNames();
  double sum = 0;
  for (const auto& [metric, weight] : objective.weights) sum += weight;
  for (size_t i = 0; i < kValues; ++i) {
    const std::string name(names[i]);
    walk.limits[i] = objective.limits.contains(name) ? objective.limits.at(name) : 1e300;
    if (!objective.weights.contains(name)) continue;
    const bool single = objective.weights.size() == 1;
    walk.weights[i] =
        single ? 1 : objective.weights.at(name) / sum / plan::ValueOf(lower_bounds, name);
  }
  walk.From(0, {});
  return walk.best;
}

}  // namespace tessera::search
