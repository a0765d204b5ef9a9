#include "every_plan.h"

#include <algorithm>
#include <utility>

#include "exhaustive.h"
#include "tessera/encoder/adapt/choice.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search {
namespace {

bool Fits(const problem::Problem& problem) {
  AllocateOptions options;
  options.capacity = problem.memories.front().capacity;
  return Allocate(problem, nullptr, 0, TestEngines(), options)->allocation.has_value();
}

}  // namespace

EveryPlan::EveryPlan(const graph::Graph& graph, const hw_profiles::Profile& profile, std::string metric)
    : graph_(graph), profile_(profile), metric_(std::move(metric)), usages_(graph::UsagesOf(graph)) {}

double EveryPlan::BestScore() {
  const auto operators = static_cast<int>(graph_.operators.size());
  for (uint64_t cuts = 0; cuts < uint64_t{1} << (operators - 1); ++cuts) {
    std::vector<graph::Interval> intervals = {{0, 0}};
    for (int op = 1; op < operators; ++op) {
      if (((cuts >> (op - 1)) & 1U) != 0) intervals.push_back({op, op});
      intervals.back().last = op;
    }
    TryAllKept(intervals);
  }
  return best_;
}

void EveryPlan::TryAllKept(const std::vector<graph::Interval>& intervals) {
  std::vector<encoder::SubgraphChoice> choices;
  for (const graph::Interval interval : intervals) choices.push_back({interval, {}, {}});
  std::vector<int> borders;
  for (int tensor = 0; tensor < static_cast<int>(graph_.tensors.size()); ++tensor) {
    if (!encoder::FindUnkeepable(graph_, choices, {&tensor, 1})) borders.push_back(tensor);
  }
  for (uint64_t set = 0; set < uint64_t{1} << borders.size(); ++set) {
    std::vector<int> kept;
    for (size_t i = 0; i < borders.size(); ++i) {
      if (((set >> i) & 1U) != 0) kept.push_back(borders[i]);
    }
    choices.clear();
    Complete(intervals, kept, choices, 0);
  }
}

void EveryPlan::Complete(const std::vector<graph::Interval>& intervals, const std::vector<int>& kept,
                         std::vector<encoder::SubgraphChoice>& so_far, double cost) {
  if (so_far.size() == intervals.size()) {
    if (FitsJointly(so_far)) best_ = cost;
    return;
  }
  for (const Priced& next : ChoicesOf(intervals[so_far.size()], kept)) {
    if (cost + next.cost >= best_) return;
    so_far.push_back(next.choice);
    Complete(intervals, kept, so_far, cost + next.cost);
    so_far.pop_back();
  }
}

// Those that fit alone, the cheapest first.
const std::vector<EveryPlan::Priced>& EveryPlan::ChoicesOf(graph::Interval interval,
                                                           const std::vector<int>& kept) {
  const std::vector<int> here = WhatMatters(interval, kept);
  const auto [place, is_new] = choices_.try_emplace({interval.first, interval.last, here});
  std::vector<Priced>& priced = place->second;
  if (!is_new) return priced;
  TileOptions options;
  options.engines = TestEngines();
  options.kept = here;
  options.shapes = graph::ShapesOf(GridOf(graph_, profile_, interval));
  const auto tiles = IntervalTiles::Build(graph_, profile_, interval, options);
  if (!tiles) return priced;
  for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
    if (!Fits(tiles->ProblemOf(i))) continue;
    const encoder::SubgraphChoice& choice = tiles->Candidates()[i].choice;
    priced.push_back(
        {choice, plan::ValueOf(Simulate(graph_, profile_, tiles->TilingOf(i), choice.policy), metric_)});
  }
  std::stable_sort(priced.begin(), priced.end(),
                   [](const Priced& a, const Priced& b) { return a.cost < b.cost; });
  return priced;
}

// What the interval touches, and what passes over it.
std::vector<int> EveryPlan::WhatMatters(graph::Interval interval, const std::vector<int>& kept) const {
  std::vector<int> here;
  for (const int tensor : kept) {
    const graph::Usage& usage = usages_[static_cast<size_t>(tensor)];
    if (usage.producer <= interval.last && usage.consumers.back() >= interval.first) here.push_back(tensor);
  }
  return here;
}

bool EveryPlan::FitsJointly(const std::vector<encoder::SubgraphChoice>& choices) const {
  const auto program = encoder::BuildProgram(graph_, profile_, choices);
  return program && Fits(program->problem);
}

}  // namespace tessera::search
