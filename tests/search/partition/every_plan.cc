#include "every_plan.h"

#include <algorithm>

#include "exhaustive.h"
#include "tessera/encoder/adapt/choice.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search {
namespace {

bool Fits(const problem::Problem& problem) {
  AllocateOptions options;
  options.capacity = problem.memories.front().capacity;
  return Allocate(problem, nullptr, 0, TestEngines(), options)->allocation.has_value();
}

}  // namespace

double EveryPlan::BestScore(const Filter& filter) {
  filter_ = filter;
  best_ = std::numeric_limits<double>::infinity();
  const auto tensors = static_cast<int>(graph_.tensors.size());
  const auto operators = static_cast<int>(graph_.operators.size());
  for (uint64_t cuts = 0; cuts < uint64_t{1} << (operators - 1); ++cuts) {
    std::vector<graph::Interval> intervals = {{0, 0}};
    for (int op = 1; op < operators; ++op) {
      if (((cuts >> (op - 1)) & 1U) != 0) intervals.push_back({op, op});
      intervals.back().last = op;
    }
    std::vector<encoder::SubgraphChoice> choices;
    for (const graph::Interval interval : intervals) choices.push_back({interval, {}, {}});
    std::vector<int> borders;
    for (int tensor = 0; tensor < tensors; ++tensor) {
      if (!encoder::FindUnkeepable(graph_, choices, {&tensor, 1})) borders.push_back(tensor);
    }
    for (uint64_t set = 0; set < uint64_t{1} << borders.size(); ++set) {
      std::vector<int> kept;
      for (size_t i = 0; i < borders.size(); ++i) {
        if (((set >> i) & 1U) != 0) kept.push_back(borders[i]);
      }
      Complete(intervals, kept, {}, 0);
    }
  }
  return best_;
}

void EveryPlan::Complete(const std::vector<graph::Interval>& intervals, const std::vector<int>& kept,
                         const std::vector<encoder::SubgraphChoice>& so_far, double cost) {
  if (cost >= best_) return;
  if (so_far.size() == intervals.size()) {
    if ((!filter_ || filter_(so_far, kept)) && FitsJointly(so_far)) best_ = cost;
    return;
  }
  for (const Priced& next : ChoicesOf(intervals[so_far.size()], kept)) {
    std::vector<encoder::SubgraphChoice> longer = so_far;
    longer.push_back(next.choice);
    Complete(intervals, kept, longer, cost + next.cost);
  }
}

const std::vector<EveryPlan::Priced>& EveryPlan::ChoicesOf(graph::Interval interval,
                                                           const std::vector<int>& kept) {
  const auto [place, is_new] = choices_.try_emplace({interval.first, interval.last, kept});
  std::vector<Priced>& priced = place->second;
  if (!is_new) return priced;
  TileOptions options;
  options.engines = TestEngines();
  options.kept = kept;
  const auto tiles = IntervalTiles::Build(graph_, profile_, interval, options);
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

bool EveryPlan::FitsJointly(const std::vector<encoder::SubgraphChoice>& choices) const {
  const auto program = encoder::BuildProgram(graph_, profile_, choices);
  return program && Fits(program->problem);
}

}  // namespace tessera::search
