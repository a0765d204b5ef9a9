// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tessera/encoder/program/choices.h"
#include "tessera/search/partition/choices/interval_choices.h"

// The choices of an interval that are not tried at first: policies and tile shapes that were
// skipped, and choices that were put aside for their score.
namespace tessera::search::partition::choices {

std::optional<cost::Cost> IntervalChoices::UntriedBound() const {
  if (expanded_->refusal) return std::nullopt;
  if (LeavesOutShapes() || LeavesOutPolicies()) return bound_;
  if (expanded_->aside.empty()) return std::nullopt;
  cost::Cost least = bound_;
  double score = std::numeric_limits<double>::infinity();
  for (const auto& [aside, its] : expanded_->aside) score = std::min(score, its.score);
  least.score = std::max(least.score, score);
  return least;
}

bool IntervalChoices::LeavesOutShapes() const {
  return !expanded_->refusal && (!expanded_->shapes.IsExhausted() || expanded_->lost_shapes);
}

bool IntervalChoices::ProvenEmpty() const {
  const std::span<const Choice> choices = Choices();
  return IsFormulated() && IsComplete() &&
         std::all_of(choices.begin(), choices.end(), [](const Choice& choice) {
           return choice.verdict == ChoiceStatus::kImpossible;
         });
}

int64_t IntervalChoices::CountUntried() const {
  if (expanded_->refusal) return 0;
  const int64_t shapes = expanded_->shapes.CountRest();
  const auto all = shapes + static_cast<int64_t>(expanded_->tried.size());
  const auto further = static_cast<int64_t>(expanded_->further.size());
  return shapes + all * further / static_cast<int64_t>(kPoliciesForOne);
}

const std::vector<encoder::program::Policy>& IntervalChoices::Policies() {
  if (expanded_->policies.empty()) FindPolicies();
  return expanded_->policies;
}

// If a constraint requires a tile, or excludes all policies considered otherwise, all allowed
// policies are considered, although some make the same program: the constraint may require any one
// of them.
void IntervalChoices::FindPolicies() {
  encoder::program::OfferedPolicies offered = encoder::program::OfferPolicies(
      context_->graph, context_->simulator.Usages(), Cut(), interval_, kept_);
  expanded_->policies = std::move(offered.first);
  expanded_->further = std::move(offered.further);
  expanded_->lists_policies = offered.all;
  if (config_ != nullptr) {
    const auto is_refused = [this](const encoder::program::Policy& policy) {
      return !constraints::Allows(*config_, policy);
    };
    std::erase_if(expanded_->policies, is_refused);
    std::erase_if(expanded_->further, is_refused);
    if (config_->tile || expanded_->policies.empty()) {
      expanded_->policies =
          encoder::program::AllowedPolicies(context_->graph, context_->profile, interval_, kept_);
      std::erase_if(expanded_->policies, is_refused);
      expanded_->further.clear();
    }
  }
  if (context_->previous == nullptr) return;
  if (const encoder::program::Policy* before = context_->previous->PolicyOf(interval_))
    LookFirstAt(*before);
}

// Considers the policy of a previous plan among the first ones, if it is still valid.
void IntervalChoices::LookFirstAt(const encoder::program::Policy& before) {
  const auto rest = std::stable_partition(expanded_->further.begin(), expanded_->further.end(),
                                          [&before](const encoder::program::Policy& policy) {
                                            return policy.weights == before.weights &&
                                                   policy.halo == before.halo &&
                                                   policy.k_extent == before.k_extent &&
                                                   policy.serialized == before.serialized;
                                          });
  expanded_->policies.insert(expanded_->policies.end(), expanded_->further.begin(), rest);
  expanded_->further.erase(expanded_->further.begin(), rest);
}

// Tiles that keep rows although they share none are considered only if a constraint requires them.
encoder::program::TilesMade IntervalChoices::Made() const {
  const bool all = config_ != nullptr && (config_->tile || config_->halo);
  return all ? encoder::program::TilesMade::kAll : encoder::program::TilesMade::kThatDiffer;
}

// Cuts along all axes from now on, and returns the first shapes of the larger grid. Policies that
// exist only for the later axes are skipped at first.
std::vector<graph::tiling::TileShape> IntervalChoices::TakeEveryAxis() {
  has_every_axis_ = true;
  const encoder::program::OfferedPolicies offered = encoder::program::OfferPolicies(
      context_->graph, context_->simulator.Usages(), context_->profile, interval_, kept_);
  for (const auto* policies : {&offered.first, &offered.further}) {
    for (const encoder::program::Policy& policy : *policies) {
      const auto is_in = [&policy](const std::vector<encoder::program::Policy>& some) {
        return std::find(some.begin(), some.end(), policy) != some.end();
      };
      const bool is_allowed = config_ == nullptr || constraints::Allows(*config_, policy);
      if (is_allowed && !is_in(expanded_->policies) && !is_in(expanded_->further))
        expanded_->further.push_back(policy);
    }
  }
  expanded_->shapes.Extend(Grid(context_->profile));
  return expanded_->shapes.Start();
}

void IntervalChoices::AddAxes(const base::Stop& stop) {
  if (expanded_ == nullptr) has_every_axis_ = true;
  if (has_every_axis_) return;
  Policies();
  const std::vector<graph::tiling::TileShape> shapes = TakeEveryAxis();
  if (!expanded_->refusal && AddShapes(shapes, stop)) Refine(stop);
  PriceFront(stop);
  DropConfigs();
}

// Whether the smallest tile along all axes may fit. This is tested for operators without any tile
// that fits: mostly a tensor that is held whole leaves no room, and no cut helps.
bool IntervalChoices::MayFitByLaterAxes() {
  if (has_every_axis_ || expanded_ == nullptr || expanded_->refusal) return false;
  std::optional<bool>& may_fit = expanded_->may_fit_by_later_axes;
  if (may_fit) return *may_fit;
  const graph::tiling::ShapeGrid grid = Grid(context_->profile);
  graph::tiling::TileShape least;
  for (const std::vector<int64_t>& extents : grid.extents) least.push_back(extents.front());
  if (graph::tiling::MakesTooManyTiles(grid, least)) return *(may_fit = true);
  TileConfigCost configs(*context_, interval_, Policies(), Made(), /*holds_back=*/true,
                         context_->stop);
  return *(may_fit = !configs.Find({&least, 1}).empty() || configs.LeavesOut());
}

size_t IntervalChoices::Extend(size_t most) {
  if (MayFitByLaterAxes()) {
    const size_t before = expanded_->tried.size();
    AddAxes(context_->stop);
    if (expanded_->tried.size() > before) return expanded_->tried.size() - before;
  }
  return ExtendBelow(std::numeric_limits<double>::infinity(), most);
}

size_t IntervalChoices::ExtendBelow(double score, size_t most) {
  if (expanded_ == nullptr || expanded_->refusal || context_->stop.Requested()) return 0;
  if (!expanded_->formulated) PriceAll(context_->stop);
  PriceAside(score);
  std::map<Range, std::vector<graph::tiling::TileShape>> aside;
  size_t added = 0;
  for (const auto& [which, least] : expanded_->aside) {
    if (least.score < score) aside[which.first].push_back(which.second);
  }
  for (const auto& [policies, shapes] : aside) {
    for (const graph::tiling::TileShape& shape : shapes) expanded_->aside.erase({policies, shape});
    AddTileConfigs(shapes, policies, score, context_->stop);
    added += shapes.size();
  }
  if (added == 0) {
    const std::vector<graph::tiling::TileShape> rest = expanded_->shapes.Rest(most);
    if (!rest.empty()) AddShapes(rest, context_->stop, score);
    added = rest.size();
  }
  if (added == 0) added = TakePolicies(score, most);
  PriceLeastAside();
  DropConfigs();
  expanded_->bounds.reset();
  expanded_->sums.reset();
  return added;
}

size_t IntervalChoices::ExtendForExchange(double score, size_t most) {
  if (expanded_ == nullptr || expanded_->refusal) return 0;
  if (!expanded_->formulated) PriceAll(context_->stop);
  size_t added = 0;
  for (size_t more = 1; more > 0 && added < most; added += more) more = TakePolicies(score, most);
  if (added < most) return added + ExtendBelow(score, most - added);
  PriceLeastAside();
  DropConfigs();
  expanded_->bounds.reset();
  expanded_->sums.reset();
  return added;
}

// Tries some of the policies that were skipped with every shape that was tried.
size_t IntervalChoices::TakePolicies(double score, size_t most) {
  std::vector<encoder::program::Policy>& further = expanded_->further;
  if (further.empty()) return 0;
  PriceAll(context_->stop);  // under the policies so far
  const size_t shapes = std::max<size_t>(1, expanded_->tried.size());
  const size_t count =
      std::min(further.size(), std::max<size_t>(1, most * kPoliciesForOne / shapes));
  const std::span<const encoder::program::Policy> taken = std::span(further).first(count);
  const Range range = {expanded_->policies.size(), expanded_->policies.size() + count};
  expanded_->policies.insert(expanded_->policies.end(), taken.begin(), taken.end());
  if (expanded_->tiles) expanded_->tiles->Allow(taken);
  further.erase(further.begin(), further.begin() + static_cast<std::ptrdiff_t>(count));
  DropConfigs();
  AddTileConfigs(expanded_->tried, range, score, context_->stop);
  const size_t added = std::max<size_t>(1, shapes * count / kPoliciesForOne);
  expanded_->effort_further += static_cast<int64_t>(added);
  return added;
}

void IntervalChoices::TryAll(size_t most) {
  const auto room = static_cast<int64_t>(most) - expanded_->shapes.CountRest();
  if (room < 0 || CountAside(static_cast<size_t>(room)) > static_cast<size_t>(room)) return;
  while (expanded_->shapes.CountRest() > 0 || !expanded_->aside.empty()) {
    if (ExtendBelow(std::numeric_limits<double>::infinity(), most) == 0) return;
  }
}

// For each shape, either all choices under these policies are put aside, or none.
void IntervalChoices::PutAside(Range policies, double below,
                               std::map<TileConfig, TilePrice>& found) {
  std::map<graph::tiling::TileShape, double> least;
  for (const auto& [config, price] : found) {
    const double score = price.cost.score;
    const auto at = least.try_emplace(config.tile, score).first;
    at->second = std::min(at->second, score);
  }
  std::erase_if(least, [below](const auto& each) { return each.second < below; });
  std::erase_if(found, [&least](const auto& each) { return least.contains(each.first.tile); });
  for (const auto& [shape, score] : least)
    expanded_->aside.emplace(Aside{policies, shape}, Least{score});
}

// Whether serialized configurations are held back. A serialized subgraph moves the same bytes as
// the double-buffered one with the same tiles, one transfer after another. So it takes longer,
// unless nothing overlaps or engines access homes: then the costs decide. It becomes a choice only
// if the double-buffered one does not fit, so most serialized configurations cost neither a
// simulation nor a Problem. In some cases nothing is held back: if the peak counts, smaller buffers
// may be worth the time; if banks have modes, double-buffered transfers seldom fit; and a previous
// plan or constraints may require either.
bool IntervalChoices::MayHoldBack() const {
  return expanded_->holds_back && context_->scale.GainsBySpeed() && context_->previous == nullptr &&
         config_ == nullptr && context_->TileMemory().modes.size() <= 1;
}

// Holds back serialized configurations that cost at least as much as their double-buffered
// counterpart. `held` are configurations without costs; those without a counterpart in `found` are
// dropped, because their shapes were put aside.
void IntervalChoices::HoldBack(const std::set<TileConfig>& held,
                               std::map<TileConfig, TilePrice>& found) {
  if (!MayHoldBack()) return;
  for (const TileConfig& config : held) {
    if (found.contains(config.DoubleBuffered())) expanded_->held.insert(config);
  }
  for (auto at = found.begin(); at != found.end();) {
    const auto other = found.find(at->first.DoubleBuffered());
    const bool holds = at->first.serialized && other != found.end() &&
                       cost::Dominates(other->second.cost, at->second.cost);
    if (holds) expanded_->held.insert(at->first);
    at = holds ? found.erase(at) : std::next(at);
  }
}

// Returns the held configurations that must become choices: their double-buffered counterpart is no
// choice, or does not fit.
std::set<TileConfig> IntervalChoices::TakeReleased() {
  if (!expanded_->holds_back) return std::exchange(expanded_->held, {});
  const auto before = [](const TileConfig* a, const TileConfig* b) { return *a < *b; };
  std::vector<const TileConfig*> possible;
  for (const Choice& choice : expanded_->choices) {
    if (choice.verdict == ChoiceStatus::kOpen || choice.verdict == ChoiceStatus::kFits)
      possible.push_back(&choice.config);
  }
  for (const auto& [config, cost] : expanded_->pending) possible.push_back(&config);
  const std::array state = {expanded_->choices.size(), possible.size(), expanded_->held.size()};
  if (state == expanded_->released_at) return {};
  std::sort(possible.begin(), possible.end(), before);
  std::set<TileConfig> released;
  for (auto at = expanded_->held.begin(); at != expanded_->held.end();) {
    const TileConfig other = at->DoubleBuffered();
    const auto next = std::next(at);
    if (!std::binary_search(possible.begin(), possible.end(), &other, before))
      released.insert(expanded_->held.extract(at));
    at = next;
  }
  expanded_->released_at = {state[0], state[1], expanded_->held.size()};
  return released;
}

// Adds the released configurations as choices. Returns false if the encoder refuses them.
bool IntervalChoices::Release(const base::Stop& stop) {
  const std::set<TileConfig> released = TakeReleased();
  if (released.empty()) return true;
  std::set<graph::tiling::TileShape> shapes;
  std::set<TileConfig> kinds;  // without tiles
  for (TileConfig config : released) {
    shapes.insert(std::exchange(config.tile, {}));
    kinds.insert(std::move(config));
  }
  std::vector<encoder::program::Policy> policies = expanded_->policies;
  std::erase_if(policies, [&kinds](const encoder::program::Policy& policy) {
    return !kinds.contains(TileConfig({}, policy));
  });
  const std::vector<graph::tiling::TileShape> tiles(shapes.begin(), shapes.end());
  TileConfigCost configs(*context_, interval_, policies, Made(), /*holds_back=*/false, stop);
  std::map<TileConfig, TilePrice> found = configs.Find(tiles);
  std::erase_if(found, [&released](const auto& each) { return !released.contains(each.first); });
  expanded_->lost_shapes = expanded_->lost_shapes || configs.LeavesOut();
  if (expanded_->in_turn) {
    AddPending(found);
    return true;
  }
  expanded_->costs.clear();
  for (const auto& [config, price] : found) expanded_->costs.emplace(config, price.cost);
  return expanded_->costs.empty() || AddPriced(tiles, stop);
}

void IntervalChoices::LookBeyond(size_t choice) {
  expanded_->holds_back = false;
  expanded_->beyond.insert(choice);
  Release(context_->stop);
  if (expanded_->in_turn) FormulateNext(context_->stop);
  DropConfigs();
}

}  // namespace tessera::search::partition::choices
