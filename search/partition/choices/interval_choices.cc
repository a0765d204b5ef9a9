// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/choices/interval_choices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tessera/encoder/program/choices.h"
#include "tessera/search/allocate/portfolio.h"

namespace tessera::search::partition::choices {

base::Expected<problem::Result> SearchContext::Place(const problem::Problem& problem, bool minimize,
                                                     const base::Budget& query_budget,
                                                     const base::Stop& query_stop) const {
  allocate::AllocateOptions options;
  options.capacity = Room();
  options.minimize = minimize;
  options.budget = query_budget;
  options.stop = &query_stop;
  return allocate::Allocate(problem, nullptr, 0, engines, options);
}

IntervalChoices::IntervalChoices(const SearchContext& context, graph::Interval interval,
                                 std::vector<int> kept,
                                 const constraints::PlanConstraints* constraints)
    : context_(&context),
      interval_(interval),
      kept_(std::move(kept)),
      off_chip_peak_(context.at_homes == nullptr
                         ? 0
                         : static_cast<double>(context.at_homes->LeastPeak(interval, kept_))),
      has_every_axis_(context.first_axes == nullptr ||
                      (context.previous != nullptr && context.previous->TileOf(interval))) {
  if (context.previous != nullptr) bound_.change = context.previous->LeastChange(interval, kept_);
  SetOffChipPeak(bound_);
  if (constraints == nullptr) return;
  config_ = constraints->ConfigOf(interval);
  pins_ = constraints->PinsOf(interval, 0, context.TileMemory().name);
}

void IntervalChoices::SetBound(const plan::Metrics& bound) {
  const auto change = bound_.change;
  bound_ = context_->scale.BoundOf(bound);
  bound_.change = change;
  SetOffChipPeak(bound_);
}

// The off-chip peak is no part of a price, because equal intervals share prices although different
// tensors may lie off chip during them.
void IntervalChoices::SetOffChipPeak(cost::Cost& cost) const {
  cost.maxima[cost::kOffChipPeakMaximum] = off_chip_peak_;
}

graph::tiling::ShapeGrid IntervalChoices::Grid(const hw_profiles::Profile& cut) const {
  if (config_ == nullptr || !config_->tile) return tiling::GridOf(context_->graph, cut, interval_);
  graph::tiling::ShapeGrid grid;
  for (const int64_t extent : *config_->tile) grid.extents.push_back({extent});
  return grid;
}

// Returns the shapes that the search begins with, and the tile of a previous plan if it is still
// valid.
std::vector<graph::tiling::TileShape> IntervalChoices::FirstShapes() {
  std::vector<graph::tiling::TileShape> shapes = expanded_->shapes.Start();
  if (context_->previous == nullptr || (config_ != nullptr && config_->tile)) return shapes;
  const graph::tiling::TileShape* before = context_->previous->TileOf(interval_);
  if (before == nullptr || encoder::program::CheckWellFormed(context_->graph, interval_, *before))
    return shapes;
  if (std::find(shapes.begin(), shapes.end(), *before) == shapes.end()) shapes.push_back(*before);
  return shapes;
}

// Before the interval is formulated, a choice represents several policies. The result is then a
// lower bound of their changes.
double IntervalChoices::ChangeOf(const Choice& choice) const {
  const bool stands_for_one = expanded_->formulated && expanded_->tiles;
  return context_->previous != nullptr && stands_for_one
             ? context_->previous->ChangeOf(expanded_->tiles->Candidates()[choice.candidate].choice)
             : bound_.change;
}

const base::Diagnostic* IntervalChoices::Refusal() const {
  return expanded_ != nullptr && expanded_->refusal ? &*expanded_->refusal : nullptr;
}

void IntervalChoices::Expand(const base::Stop& stop) {
  expanded_ = std::make_unique<Expanded>(Grid(Cut()));
  expanded_->configs = std::make_unique<TileConfigCost>(*context_, interval_, Policies(), Made(),
                                                        MayHoldBack(), stop);
  if (expanded_->configs->IsRefused()) {
    expanded_->tried = FirstShapes();
    Formulate(stop);
  } else {
    AddShapes(FirstShapes(), stop);
    Refine(stop);
    PriceFront(stop);
  }
  DropConfigs();
}

void IntervalChoices::Formulate(const base::Stop& stop) {
  if (expanded_->formulated) return;
  expanded_->in_turn = OnlyLeastMatters() && !expanded_->choices.empty();
  if (!expanded_->in_turn) PriceAll(stop);
  expanded_->formulated = true;
  std::map<TileConfig, cost::Cost>& costs =
      expanded_->in_turn ? expanded_->pending : expanded_->costs;
  for (Choice& choice : expanded_->choices) costs.emplace(std::move(choice.config), choice.cost);
  expanded_->choices.clear();
  if (expanded_->in_turn ? FormulateNext(stop)
      : costs.empty()    ? AddCandidates(expanded_->tried, {}, stop)
                         : AddPriced(expanded_->tried, stop) && Release(stop))
    Refine(stop);
  expanded_->costs.clear();
  // Among choices with equal costs, the one that needs least memory is most likely to fit.
  std::stable_sort(expanded_->choices.begin(), expanded_->choices.end(),
                   [](const Choice& a, const Choice& b) { return a.peak_bytes < b.peak_bytes; });
  DropConfigs();
}

// Only tiles with known costs are formulated; the others certainly do not fit.
void IntervalChoices::FormulateRefused(size_t index, size_t most) {
  if (!expanded_->tiles || context_->stop.Requested()) return;
  const TileConfig chosen = expanded_->choices[index].config;
  const int64_t elements = graph::ElementsOf(chosen.tile);
  FormulateForReport(elements, chosen, most);
  std::set<TileConfig> known;
  std::set<TileConfig> refused;
  for (const Choice& choice : expanded_->choices) {
    known.insert(choice.config);
    if (!choice.priced) refused.insert(choice.config);
  }
  for (const auto& [config, cost] : expanded_->pending) known.insert(config);
  const tiling::TileFilter is_refused = [this, &known](const encoder::program::Policy& policy,
                                                       const graph::tiling::TileShape& shape) {
    const TileConfig config(shape, policy);
    return !known.contains(config) && !expanded_->held.contains(config);
  };
  std::map<int64_t, std::vector<graph::tiling::TileShape>> larger;  // by their elements
  for (const graph::tiling::TileShape& shape : expanded_->tried) {
    if (graph::ElementsOf(shape) > elements) larger[graph::ElementsOf(shape)].push_back(shape);
  }
  for (const auto& [size, shapes] : larger) {
    if (refused.size() >= most || context_->stop.Requested()) return;
    const size_t first = expanded_->choices.size();
    if (!AddCandidates(shapes, is_refused, context_->stop)) return;
    for (size_t i = first; i < expanded_->choices.size(); ++i) {
      expanded_->choices[i].verdict = ChoiceStatus::kImpossible;
      refused.insert(expanded_->choices[i].config);
    }
  }
}

tiling::ShapeSearch::Rate IntervalChoices::RateOf(const Choice& choice) const {
  const cost::Tie& tie = choice.cost.tie;
  return {context_->scale.ScoreOf(choice.cost), tie.latency, tie.energy, tie.off_chip_bytes};
}

// Searches around the best shapes that no bound excludes, until no neighbour is left. A waiting
// shape is priced if it may be the best.
void IntervalChoices::Refine(const base::Stop& stop) {
  using Rate = tiling::ShapeSearch::Rate;
  std::map<graph::tiling::TileShape, Rate> rates;
  const auto rate = [&](const Choice& choice) {
    if (choice.verdict == ChoiceStatus::kImpossible) return;
    Rate& least = rates.try_emplace(choice.config.tile, RateOf(choice)).first->second;
    least = std::min(least, RateOf(choice));
  };
  const tiling::ShapeSearch::Rating rating =
      [&](const graph::tiling::TileShape& shape) -> std::optional<Rate> {
    const bool waits = expanded_->waiting.contains(shape);
    if ((waits || (!rates.contains(shape) && LeastPending(shape))) && !stop.Requested()) {
      if (waits) PriceWaiting(shape, stop);
      FormulatePending(
          [&shape](const TileConfig& config, const auto&) { return config.tile == shape; }, stop);
      for (const Choice& choice : expanded_->choices) {
        if (choice.config.tile == shape) rate(choice);
      }
    }
    const auto found = rates.find(shape);
    return found == rates.end() ? std::nullopt : std::optional(found->second);
  };
  const tiling::ShapeSearch::Bounding bounding =
      [&](const graph::tiling::TileShape& shape) -> std::optional<double> {
    if (const auto waiting = expanded_->waiting.find(shape); waiting != expanded_->waiting.end())
      return waiting->second.least_score;
    return rates.contains(shape) ? std::nullopt : LeastPending(shape);
  };
  size_t rated = 0;
  while (!stop.Requested()) {
    // If no shapes wait, new choices are at the end.
    if (!expanded_->waiting.empty()) rated = 0;
    for (; rated < expanded_->choices.size(); ++rated) rate(expanded_->choices[rated]);
    const std::vector<graph::tiling::TileShape> next = expanded_->shapes.Refine(rating, bounding);
    if (next.empty() || !AddShapes(next, stop)) return;
  }
}

// Adds choices under all policies that are tried, after the existing choices. Returns false if the
// encoder refuses the shapes.
bool IntervalChoices::AddShapes(const std::vector<graph::tiling::TileShape>& tile_shapes,
                                const base::Stop& stop, double below) {
  expanded_->tried.insert(expanded_->tried.end(), tile_shapes.begin(), tile_shapes.end());
  Policies();
  return AddTileConfigs(tile_shapes, EveryPolicy(), below, stop);
}

bool IntervalChoices::AddTileConfigs(const std::vector<graph::tiling::TileShape>& tile_shapes,
                                     Range policies, double below, const base::Stop& stop) {
  if (below == std::numeric_limits<double>::infinity() && policies == EveryPolicy() &&
      MakeWait(tile_shapes))
    return !expanded_->formulated || FormulateNext(stop);
  const std::vector<graph::tiling::TileShape> priced =
      PutAsideUnpriced(tile_shapes, policies, below);
  LookForLost(tile_shapes, policies, stop);
  std::set<TileConfig> held;
  std::map<TileConfig, TilePrice> found = FindPrices(priced, policies, stop, held);
  PutAside(policies, below, found);
  HoldBack(held, found);
  if (expanded_->in_turn) {
    AddPending(found);
    return FormulateNext(stop);
  }
  if (expanded_->formulated) {
    expanded_->costs.clear();
    for (const auto& [config, price] : found) expanded_->costs.emplace(config, price.cost);
    return expanded_->costs.empty() || (AddPriced(tile_shapes, stop) && Release(stop));
  }
  AddChoices(found, ++expanded_->additions);
  return true;
}

std::map<TileConfig, TilePrice> IntervalChoices::FindPrices(
    std::span<const graph::tiling::TileShape> tile_shapes, Range policies, const base::Stop& stop,
    std::set<TileConfig>& held) {
  std::map<TileConfig, TilePrice> found;
  if (tile_shapes.empty()) return found;
  const auto find = [&](TileConfigCost& configs) {
    found = configs.Find(tile_shapes);
    held = configs.Held();
    expanded_->lost_shapes = expanded_->lost_shapes || configs.LeavesOut();
  };
  if (policies == EveryPolicy()) {
    if (expanded_->configs == nullptr)
      expanded_->configs = std::make_unique<TileConfigCost>(*context_, interval_, Policies(),
                                                            Made(), MayHoldBack(), stop);
    find(*expanded_->configs);
  } else {
    const auto some =
        std::span(expanded_->policies).subspan(policies.begin, policies.end - policies.begin);
    TileConfigCost configs(*context_, interval_, some, Made(), MayHoldBack(), stop);
    find(configs);
  }
  return found;
}

void IntervalChoices::AddChoices(const std::map<TileConfig, TilePrice>& found, size_t addition) {
  expanded_->choices.reserve(expanded_->choices.size() + found.size());
  for (const auto& [config, price] : found) {
    Choice& choice = expanded_->choices.emplace_back();
    choice.config = config;
    choice.peak_bytes = price.peak_bytes;
    choice.cost = price.cost;
    SetOffChipPeak(choice.cost);
    choice.cost.change = ChangeOf(choice);
    choice.addition = addition;
  }
}

// Adds candidates for the configurations that have costs.
bool IntervalChoices::AddPriced(const std::vector<graph::tiling::TileShape>& tile_shapes,
                                const base::Stop& stop) {
  const tiling::TileFilter has_costs = [this](const encoder::program::Policy& policy,
                                              const graph::tiling::TileShape& shape) {
    return expanded_->costs.contains(TileConfig(shape, policy));
  };
  return AddCandidates(tile_shapes, has_costs, stop);
}

bool IntervalChoices::AddCandidates(const std::vector<graph::tiling::TileShape>& tile_shapes,
                                    const tiling::TileFilter& filter, const base::Stop& stop) {
  size_t first = 0;
  if (expanded_->tiles) {
    first = expanded_->tiles->Candidates().size();
    if (expanded_->tiles->Add(tile_shapes, filter, &stop)) {
      expanded_->lost_shapes = true;
      return false;
    }
  } else {
    tiling::TileOptions options;
    options.engines = context_->tile_engines;
    options.budget = IsSingle() ? context_->LeastBudget() : context_->budget;
    options.shapes = tile_shapes;
    options.policies = Policies();
    options.made = Made();
    options.pins = pins_;
    options.usages = &context_->simulator.Usages();
    base::Expected<tiling::IntervalTiles> tiles = tiling::IntervalTiles::Build(
        context_->graph, context_->profile, interval_, options, filter, &stop);
    if (!tiles) {
      expanded_->refusal = tiles.error();
      return false;
    }
    expanded_->tiles.emplace(*std::move(tiles));
  }
  expanded_->lost_shapes = expanded_->lost_shapes || stop.Requested();
  const std::span<const tiling::TileCandidate> candidates = expanded_->tiles->Candidates();
  for (size_t i = first; i < candidates.size(); ++i) {
    const encoder::program::SubgraphChoice& made = candidates[i].choice;
    Choice& choice = expanded_->choices.emplace_back();
    choice.config = TileConfig(made.tile, made.policy);
    choice.candidate = i;
    // A choice that its bound excludes needs no costs.
    auto known = expanded_->costs.find(choice.config);
    if (known == expanded_->costs.end() &&
        expanded_->tiles->Known(i).status != problem::Status::kInfeasible &&
        !expanded_->tiles->TilingOf(i).classes.empty()) {
      const graph::tiling::TiledSubgraph& tiling = expanded_->tiles->TilingOf(i);
      const cost::ClassCosts costs = context_->simulator.CostsOf(tiling, made.policy, &stop);
      plan::Metrics metrics;
      if (!stop.Requested())
        metrics =
            context_->simulator.Run(tiling, costs, made.policy, cost::Detail::kTotals, {}, &stop);
      if (stop.Requested()) {
        expanded_->choices.pop_back();
        break;
      }
      known = expanded_->costs.emplace(choice.config, context_->CostOf(metrics)).first;
    }
    choice.priced = known != expanded_->costs.end();
    if (choice.priced) choice.cost = known->second;
    SetOffChipPeak(choice.cost);
    SetPeak(choice, candidates[i].lower_bound);
    choice.cost.change = ChangeOf(choice);
  }
  expanded_->tiles->DropClasses(context_->stop);
  TakeAnswers();
  return true;
}

int64_t IntervalChoices::Effort() const {
  if (expanded_ == nullptr) return 0;
  const auto shapes = static_cast<int64_t>(expanded_->tried.size());
  const bool keeps_rows = std::any_of(expanded_->policies.begin(), expanded_->policies.end(),
                                      [](const encoder::program::Policy& policy) {
                                        return policy.halo != hw_profiles::HaloStorage::kRecompute;
                                      });
  const int64_t tried = shapes * (keeps_rows ? 2 : 1) + expanded_->effort_further;
  const bool twice = expanded_->formulated && !expanded_->in_turn;
  return tried * (interval_.last - interval_.first + 1) * (twice ? 2 : 1);
}

bool IntervalChoices::AnyGivenUp() const {
  const std::span<const Choice> choices = Choices();
  return std::any_of(choices.begin(), choices.end(), [](const Choice& choice) {
    return choice.verdict == ChoiceStatus::kGivenUp || !choice.exact;
  });
}

const base::Diagnostic* IntervalChoices::Fault() const {
  if (expanded_ == nullptr) return nullptr;
  if (expanded_->fault) return &*expanded_->fault;
  return expanded_->tiles ? expanded_->tiles->Fault() : nullptr;
}

}  // namespace tessera::search::partition::choices
