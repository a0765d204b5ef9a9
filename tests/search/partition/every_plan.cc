// SPDX-License-Identifier: Apache-2.0

#include "every_plan.h"

#include <algorithm>
#include <utility>

#include "exhaustive.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"
#include "tessera/tests/search/cost/simulate.h"

namespace tessera::search {
namespace {

bool Fits(const problem::Problem& problem) {
  allocate::AllocateOptions options;
  options.capacity = problem.memories.front().capacity;
  return allocate::Allocate(problem, nullptr, 0, TestEngines(), options)->allocation.has_value();
}

}  // namespace

EveryPlan::EveryPlan(const graph::Graph& graph, const hw_profiles::Profile& profile,
                     std::string metric)
    : graph_(graph),
      profile_(profile),
      metric_(std::move(metric)),
      usages_(graph::UsagesOf(graph)) {}

double EveryPlan::BestScore(Filter filter) {
  filter_ = std::move(filter);
  best_ = std::numeric_limits<double>::infinity();
  std::vector<encoder::program::SubgraphChoice> none;
  Complete(0, {}, none, 0);
  return best_;
}

// Visits every interval that begins there, with every set of tensors that it may keep in addition
// to those that cross it.
void EveryPlan::ForEachInterval(int first, const std::vector<int>& crossing, const Visit& visit) {
  for (int last = first; last < static_cast<int>(graph_.operators.size()); ++last) {
    const std::vector<int> boundaries = MadeFor(first, last);
    for (uint64_t set = 0; set < uint64_t{1} << boundaries.size(); ++set) {
      std::vector<int> kept = crossing;
      for (size_t i = 0; i < boundaries.size(); ++i) {
        if (((set >> i) & 1U) != 0) kept.push_back(boundaries[i]);
      }
      std::sort(kept.begin(), kept.end());
      std::vector<Priced>& choices = ChoicesOf({first, last}, kept);
      std::erase_if(kept, [&](int tensor) { return LastReader(tensor) <= last; });
      visit(choices, last, std::move(kept));
    }
  }
}

// The least cost of the operators from `first` on, where these tensors are kept.
double EveryPlan::LeastFrom(int first, const std::vector<int>& crossing) {
  if (first == static_cast<int>(graph_.operators.size())) return 0;
  if (const auto known = least_.find({first, crossing}); known != least_.end())
    return known->second;
  double least = std::numeric_limits<double>::infinity();
  ForEachInterval(first, crossing,
                  [&](std::vector<Priced>& choices, int last, const std::vector<int>& behind) {
                    if (choices.empty()) return;
                    least = std::min(least, choices.front().cost + LeastFrom(last + 1, behind));
                  });
  least_[{first, crossing}] = least;
  return least;
}

// Tries all plans that begin with these choices, which cost that much. `crossing`: the kept tensors
// where the choices end.
void EveryPlan::Complete(int first, const std::vector<int>& crossing,
                         std::vector<encoder::program::SubgraphChoice>& so_far, double cost) {
  if (first == static_cast<int>(graph_.operators.size())) {
    if ((!filter_ || filter_(so_far, encoder::program::KeptBy(so_far))) && FitsJointly(so_far))
      best_ = cost;
    return;
  }
  std::vector<Step> steps;
  ForEachInterval(first, crossing,
                  [&](std::vector<Priced>& choices, int last, const std::vector<int>& behind) {
                    const double least = LeastFrom(last + 1, behind);
                    for (Priced& next : choices)
                      steps.push_back({next.cost + least, &next, behind});
                  });
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.least < b.least; });
  for (const Step& step : steps) {
    if (cost + step.least >= best_) return;
    if (!step.next->fits) step.next->fits = Fits(step.next->problem);
    if (!*step.next->fits) continue;
    so_far.push_back(step.next->choice);
    Complete(step.next->choice.interval.last + 1, step.behind, so_far, cost + step.next->cost);
    so_far.pop_back();
  }
}

int EveryPlan::LastReader(int tensor) const {
  return usages_[static_cast<size_t>(tensor)].consumers.back();
}

// Tensors made in the interval and read behind it.
std::vector<int> EveryPlan::MadeFor(int first, int last) const {
  std::vector<int> made;
  for (int tensor = 0; tensor < static_cast<int>(graph_.tensors.size()); ++tensor) {
    const graph::Usage& usage = usages_[static_cast<size_t>(tensor)];
    const bool leaves =
        graph_.tensors[static_cast<size_t>(tensor)].network_output || usage.consumers.empty();
    if (!leaves && first <= usage.producer && usage.producer <= last && LastReader(tensor) > last)
      made.push_back(tensor);
  }
  return made;
}

// The choices that are not too large by their sizes alone, cheapest first.
std::vector<EveryPlan::Priced>& EveryPlan::ChoicesOf(graph::Interval interval,
                                                     const std::vector<int>& kept) {
  const auto [place, is_new] = choices_.try_emplace({interval.first, interval.last, kept});
  std::vector<Priced>& priced = place->second;
  if (!is_new) return priced;
  tiling::TileOptions options;
  options.engines = TestEngines();
  options.policies = encoder::program::AllowedPolicies(graph_, profile_, interval, kept);
  options.made = encoder::program::TilesMade::kAll;
  options.shapes = graph::tiling::ShapesOf(
      graph::tiling::WithEveryExtent(tiling::GridOf(graph_, profile_, interval)));
  const auto tiles = tiling::IntervalTiles::Build(graph_, profile_, interval, options);
  if (!tiles) return priced;
  for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
    problem::Problem problem = tiles->ProblemOf(i);
    if (tiles->Candidates()[i].lower_bound > problem.memories.front().capacity) continue;
    const encoder::program::SubgraphChoice& choice = tiles->Candidates()[i].choice;
    const plan::Metrics metrics =
        cost::Simulate(graph_, profile_, tiles->TilingOf(i), choice.policy);
    priced.push_back({choice, std::move(problem), plan::ValueOf(metrics, metric_), std::nullopt});
  }
  std::stable_sort(priced.begin(), priced.end(),
                   [](const Priced& a, const Priced& b) { return a.cost < b.cost; });
  return priced;
}

bool EveryPlan::FitsJointly(const std::vector<encoder::program::SubgraphChoice>& choices) const {
  const auto program = encoder::program::BuildProgram(graph_, profile_, choices);
  return program && Fits(program->problem);
}

}  // namespace tessera::search
