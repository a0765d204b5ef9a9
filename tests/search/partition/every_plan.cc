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

double EveryPlan::BestScore(Filter filter) {
  filter_ = std::move(filter);
  best_ = std::numeric_limits<double>::infinity();
  std::vector<encoder::SubgraphChoice> none;
  Complete(0, {}, none, 0);
  return best_;
}

// Everything that begins with these choices, which cost that much. `crossing`: what is kept where they end.
void EveryPlan::Complete(int first, const std::vector<int>& crossing,
                         std::vector<encoder::SubgraphChoice>& so_far, double cost) {
  const auto operators = static_cast<int>(graph_.operators.size());
  if (first == operators) {
    if ((!filter_ || filter_(so_far, encoder::KeptBy(so_far))) && FitsJointly(so_far)) best_ = cost;
    return;
  }
  for (int last = operators - 1; last >= first; --last) {
    const std::vector<int> borders = MadeFor(first, last);
    for (uint64_t set = 0; set < uint64_t{1} << borders.size(); ++set) {
      std::vector<int> kept = crossing;
      for (size_t i = 0; i < borders.size(); ++i) {
        if (((set >> i) & 1U) != 0) kept.push_back(borders[i]);
      }
      std::sort(kept.begin(), kept.end());
      for (const Priced& next : ChoicesOf({first, last}, kept)) {
        if (cost + next.cost >= best_) break;
        so_far.push_back(next.choice);
        std::vector<int> behind = kept;
        std::erase_if(behind, [&](int tensor) { return LastReader(tensor) <= last; });
        Complete(last + 1, behind, so_far, cost + next.cost);
        so_far.pop_back();
      }
    }
  }
}

int EveryPlan::LastReader(int tensor) const { return usages_[static_cast<size_t>(tensor)].consumers.back(); }

// What is made in the interval, and read behind it.
std::vector<int> EveryPlan::MadeFor(int first, int last) const {
  std::vector<int> made;
  for (int tensor = 0; tensor < static_cast<int>(graph_.tensors.size()); ++tensor) {
    const graph::Usage& usage = usages_[static_cast<size_t>(tensor)];
    const bool leaves = graph_.tensors[static_cast<size_t>(tensor)].network_output || usage.consumers.empty();
    if (!leaves && first <= usage.producer && usage.producer <= last && LastReader(tensor) > last)
      made.push_back(tensor);
  }
  return made;
}

// Those that fit alone, the cheapest first.
const std::vector<EveryPlan::Priced>& EveryPlan::ChoicesOf(graph::Interval interval,
                                                           const std::vector<int>& kept) {
  const auto [place, is_new] = choices_.try_emplace({interval.first, interval.last, kept});
  std::vector<Priced>& priced = place->second;
  if (!is_new) return priced;
  TileOptions options;
  options.engines = TestEngines();
  options.kept = kept;
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

bool EveryPlan::FitsJointly(const std::vector<encoder::SubgraphChoice>& choices) const {
  const auto program = encoder::BuildProgram(graph_, profile_, choices);
  return program && Fits(program->problem);
}

}  // namespace tessera::search
