#include "tessera/search/partition/choices/interval_choices.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/allocate/portfolio.h"

namespace tessera::search::partition::choices {
namespace {

Verdict VerdictOf(problem::Status status) {
  switch (status) {
    case problem::Status::kOptimal:
    case problem::Status::kFeasible:
      return Verdict::kFits;
    case problem::Status::kInfeasible:
      return Verdict::kImpossible;
    default:
      return Verdict::kGivenUp;
  }
}

}  // namespace

IntervalChoices::IntervalChoices(const Planning& planning, graph::Interval interval, std::vector<int> kept,
                                 const constraints::Demands* demands)
    : planning_(&planning), interval_(interval), kept_(std::move(kept)) {
  if (planning.predecessor != nullptr) bound_.change = planning.predecessor->LeastChange(interval, kept_);
  if (demands == nullptr) return;
  way_ = demands->WayOf(interval);
  pins_ = demands->PinsOf(interval, 0, planning.TileMemory().name);
}

void IntervalChoices::SetBound(const plan::Metrics& bound) {
  const auto change = bound_.change;
  bound_ = planning_->scale.CostOf(bound);
  bound_.change = change;
}

graph::tiling::ShapeGrid IntervalChoices::Grid() const {
  if (way_ == nullptr || !way_->tile) return tiling::GridOf(planning_->graph, planning_->profile, interval_);
  graph::tiling::ShapeGrid grid;
  for (const int64_t extent : *way_->tile) grid.extents.push_back({extent});
  return grid;
}

// The tile of an older plan is looked at first, if it still is one.
std::vector<graph::tiling::TileShape> IntervalChoices::FirstShapes() {
  std::vector<graph::tiling::TileShape> shapes = opened_->shapes.Start();
  if (planning_->predecessor == nullptr || (way_ != nullptr && way_->tile)) return shapes;
  const graph::tiling::TileShape* before = planning_->predecessor->TileOf(interval_);
  if (before == nullptr || encoder::program::FindFault(planning_->graph, interval_, *before)) return shapes;
  if (std::find(shapes.begin(), shapes.end(), *before) == shapes.end()) shapes.push_back(*before);
  return shapes;
}

// Before the interval is posed a choice stands for several policies: it changes as little as is possible.
double IntervalChoices::ChangeOf(const Choice& choice) const {
  const bool stands_for_one = opened_->posed && opened_->tiles;
  return planning_->predecessor != nullptr && stands_for_one
             ? planning_->predecessor->ChangeOf(opened_->tiles->Candidates()[choice.candidate].choice)
             : bound_.change;
}

const base::Diagnostic* IntervalChoices::Refusal() const {
  return opened_ != nullptr && opened_->refusal ? &*opened_->refusal : nullptr;
}

std::span<const Choice> IntervalChoices::Choices() const {
  return opened_ == nullptr ? std::span<const Choice>() : opened_->choices;
}

bool IntervalChoices::IsComplete() const { return opened_ != nullptr && !UntriedBound(); }

std::optional<cost::Cost> IntervalChoices::UntriedBound() const {
  if (opened_->refusal) return std::nullopt;
  if (LeavesOutShapes() || LeavesOutPolicies()) return bound_;
  if (opened_->aside.empty()) return std::nullopt;
  cost::Cost least = bound_;
  double score = std::numeric_limits<double>::infinity();
  for (const auto& [aside, its] : opened_->aside) score = std::min(score, its);
  least.score = std::max(least.score, score);
  return least;
}

bool IntervalChoices::LeavesOutShapes() const {
  return !opened_->refusal && (!opened_->shapes.IsExhausted() || opened_->lost_shapes);
}

int64_t IntervalChoices::CountUntried() const {
  if (opened_->refusal) return 0;
  const int64_t shapes = opened_->shapes.CountRest();
  const auto all = shapes + static_cast<int64_t>(opened_->tried.size());
  const auto further = static_cast<int64_t>(opened_->further.size());
  return shapes + all * further / static_cast<int64_t>(kPoliciesForOne);
}

const std::vector<encoder::program::Policy>& IntervalChoices::Policies() {
  if (opened_->policies.empty()) FindPolicies();
  return opened_->policies;
}

// Where a tile is demanded all of its policies are looked at, though some make the same program: what is demanded of them may be
// just that. So they are where nothing else keeps the demand.
void IntervalChoices::FindPolicies() {
  encoder::program::OfferedPolicies offered =
      encoder::program::OfferPolicies(planning_->graph, planning_->profile, interval_, kept_);
  opened_->policies = std::move(offered.first);
  opened_->further = std::move(offered.further);
  opened_->lists_policies = offered.all;
  if (way_ != nullptr) {
    const auto is_refused = [this](const encoder::program::Policy& policy) {
      return !constraints::Allows(*way_, policy);
    };
    std::erase_if(opened_->policies, is_refused);
    std::erase_if(opened_->further, is_refused);
    if (way_->tile || opened_->policies.empty()) {
      opened_->policies =
          encoder::program::AllowedPolicies(planning_->graph, planning_->profile, interval_, kept_);
      std::erase_if(opened_->policies, is_refused);
      opened_->further.clear();
    }
  }
  if (planning_->predecessor == nullptr) return;
  if (const encoder::program::Policy* before = planning_->predecessor->PolicyOf(interval_))
    LookFirstAt(*before);
}

// The policy of an older plan is looked at first, if it still is one.
void IntervalChoices::LookFirstAt(const encoder::program::Policy& before) {
  const auto rest = std::stable_partition(
      opened_->further.begin(), opened_->further.end(), [&before](const encoder::program::Policy& policy) {
        return policy.weights == before.weights && policy.halo == before.halo && policy.depth == before.depth;
      });
  opened_->policies.insert(opened_->policies.end(), opened_->further.begin(), rest);
  opened_->further.erase(opened_->further.begin(), rest);
}

// Tiles that keep rows although none are shared are looked at where they are demanded.
encoder::program::TilesMade IntervalChoices::Made() const {
  const bool all = way_ != nullptr && (way_->tile || way_->halo);
  return all ? encoder::program::TilesMade::kAll : encoder::program::TilesMade::kThatDiffer;
}

void IntervalChoices::Open(const base::Stop& stop) {
  opened_ = std::make_unique<Opened>(Grid());
  opened_->ways = std::make_unique<WayCosts>(*planning_, interval_, Policies(), Made(), stop);
  if (opened_->ways->IsRefused()) {
    opened_->tried = FirstShapes();
    Pose(stop);
  } else {
    AddShapes(FirstShapes(), stop);
    Refine(stop);
  }
  opened_->ways.reset();
}

void IntervalChoices::Pose(const base::Stop& stop) {
  if (opened_->posed) return;
  opened_->posed = true;
  for (Choice& choice : opened_->choices) opened_->costs.emplace(std::move(choice.way), choice.cost);
  opened_->choices.clear();
  if (opened_->costs.empty() ? AddCandidates(opened_->tried, {}, stop) : AddPriced(opened_->tried, stop))
    Refine(stop);
  opened_->costs.clear();
  // Of choices with equal costs the one that needs least room is likeliest to fit.
  std::stable_sort(opened_->choices.begin(), opened_->choices.end(),
                   [](const Choice& a, const Choice& b) { return a.peak_bytes < b.peak_bytes; });
  opened_->ways.reset();
}

// Of what is posed with its costs, the rest surely has no room.
void IntervalChoices::PoseRefused(size_t index, size_t most) {
  if (!opened_->tiles) return;
  std::set<Way> known;
  std::set<Way> refused;
  for (const Choice& choice : opened_->choices) {
    known.insert(choice.way);
    if (!choice.priced) refused.insert(choice.way);
  }
  const tiling::TileFilter is_refused = [&known](const encoder::program::Policy& policy,
                                                 const graph::tiling::TileShape& shape) {
    return !known.contains({shape, policy.weights, policy.halo, policy.depth});
  };
  std::map<int64_t, std::vector<graph::tiling::TileShape>> larger;  // by their elements
  const int64_t elements = graph::ElementsOf(opened_->choices[index].way.tile);
  for (const graph::tiling::TileShape& shape : opened_->tried) {
    if (graph::ElementsOf(shape) > elements) larger[graph::ElementsOf(shape)].push_back(shape);
  }
  for (const auto& [size, shapes] : larger) {
    if (refused.size() >= most || planning_->stop.Requested()) return;
    const size_t first = opened_->choices.size();
    if (!AddCandidates(shapes, is_refused, planning_->stop)) return;
    for (size_t i = first; i < opened_->choices.size(); ++i) {
      opened_->choices[i].verdict = Verdict::kImpossible;
      refused.insert(opened_->choices[i].way);
    }
  }
}

// Looks around the best shapes that no bound refuses until nothing is left there.
void IntervalChoices::Refine(const base::Stop& stop) {
  std::map<graph::tiling::TileShape, double> scores;
  size_t rated = 0;
  const tiling::ShapeSearch::Rating rating =
      [&scores](const graph::tiling::TileShape& shape) -> std::optional<double> {
    const auto found = scores.find(shape);
    return found == scores.end() ? std::nullopt : std::optional(found->second);
  };
  while (!stop.Requested()) {
    for (; rated < opened_->choices.size(); ++rated) {
      const Choice& choice = opened_->choices[rated];
      if (choice.verdict == Verdict::kImpossible) continue;
      const double score = planning_->scale.ScoreOf(choice.cost);
      double& least = scores.try_emplace(choice.way.tile, score).first->second;
      least = std::min(least, score);
    }
    const std::vector<graph::tiling::TileShape> next = opened_->shapes.Refine(rating);
    if (next.empty() || !AddShapes(next, stop)) return;
  }
}

size_t IntervalChoices::Extend(size_t most) {
  return ExtendBelow(std::numeric_limits<double>::infinity(), most);
}

size_t IntervalChoices::ExtendBelow(double score, size_t most) {
  if (opened_ == nullptr || opened_->refusal) return 0;
  std::map<Range, std::vector<graph::tiling::TileShape>> aside;
  size_t added = 0;
  for (const auto& [which, least] : opened_->aside) {
    if (least < score) aside[which.first].push_back(which.second);
  }
  for (const auto& [policies, shapes] : aside) {
    for (const graph::tiling::TileShape& shape : shapes) opened_->aside.erase({policies, shape});
    AddWays(shapes, policies, score, planning_->stop);
    added += shapes.size();
  }
  if (added == 0) {
    const std::vector<graph::tiling::TileShape> rest = opened_->shapes.Rest(most);
    if (!rest.empty()) AddShapes(rest, planning_->stop, score);
    added = rest.size();
  }
  if (added == 0) added = TakePolicies(score, most);
  opened_->ways.reset();
  return added;
}

// Tries some of the policies that were passed over with every shape that was tried.
size_t IntervalChoices::TakePolicies(double score, size_t most) {
  std::vector<encoder::program::Policy>& further = opened_->further;
  if (further.empty()) return 0;
  const size_t shapes = std::max<size_t>(1, opened_->tried.size());
  const size_t count = std::min(further.size(), std::max<size_t>(1, most * kPoliciesForOne / shapes));
  const std::span<const encoder::program::Policy> taken = std::span(further).first(count);
  const Range range = {opened_->policies.size(), opened_->policies.size() + count};
  opened_->policies.insert(opened_->policies.end(), taken.begin(), taken.end());
  if (opened_->tiles) opened_->tiles->Allow(taken);
  further.erase(further.begin(), further.begin() + static_cast<std::ptrdiff_t>(count));
  opened_->ways.reset();
  AddWays(opened_->tried, range, score, planning_->stop);
  const size_t added = std::max<size_t>(1, shapes * count / kPoliciesForOne);
  opened_->effort_further += static_cast<int64_t>(added);
  return added;
}

void IntervalChoices::TryAll(size_t most) {
  const auto missing = opened_->shapes.CountRest() + static_cast<int64_t>(opened_->aside.size());
  if (missing > static_cast<int64_t>(most)) return;
  while (opened_->shapes.CountRest() > 0 || !opened_->aside.empty()) {
    if (ExtendBelow(std::numeric_limits<double>::infinity(), most) == 0) return;
  }
}

// Of a shape under these policies all choices are put aside, or none.
void IntervalChoices::PutAside(Range policies, double below, std::map<Way, plan::Metrics>& found) {
  std::map<graph::tiling::TileShape, double> least;
  for (const auto& [way, metrics] : found) {
    const double score = planning_->scale.CostOf(metrics).score;
    const auto at = least.try_emplace(way.tile, score).first;
    at->second = std::min(at->second, score);
  }
  std::erase_if(least, [below](const auto& each) { return each.second < below; });
  std::erase_if(found, [&least](const auto& each) { return least.contains(each.first.tile); });
  for (const auto& [shape, score] : least) opened_->aside.emplace(Aside{policies, shape}, score);
}

// Under all policies that are tried, behind those that are there; false where the encoder refuses.
bool IntervalChoices::AddShapes(const std::vector<graph::tiling::TileShape>& tile_shapes,
                                const base::Stop& stop, double below) {
  opened_->tried.insert(opened_->tried.end(), tile_shapes.begin(), tile_shapes.end());
  Policies();
  return AddWays(tile_shapes, EveryPolicy(), below, stop);
}

bool IntervalChoices::AddWays(const std::vector<graph::tiling::TileShape>& tile_shapes, Range policies,
                              double below, const base::Stop& stop) {
  std::map<Way, plan::Metrics> found;
  if (policies == EveryPolicy()) {
    if (opened_->ways == nullptr)
      opened_->ways = std::make_unique<WayCosts>(*planning_, interval_, Policies(), Made(), stop);
    found = opened_->ways->Find(tile_shapes);
    opened_->lost_shapes = opened_->lost_shapes || opened_->ways->LeavesOut();
  } else {
    const auto some = std::span(opened_->policies).subspan(policies.begin, policies.end - policies.begin);
    WayCosts ways(*planning_, interval_, some, Made(), stop);
    found = ways.Find(tile_shapes);
    opened_->lost_shapes = opened_->lost_shapes || ways.LeavesOut();
  }
  PutAside(policies, below, found);
  if (opened_->posed) {
    opened_->costs.clear();
    for (const auto& [way, metrics] : found) opened_->costs.emplace(way, planning_->CostOf(metrics));
    return opened_->costs.empty() || AddPriced(tile_shapes, stop);
  }
  opened_->choices.reserve(opened_->choices.size() + found.size());
  for (const auto& [way, metrics] : found) {
    Choice& choice = opened_->choices.emplace_back();
    choice.way = way;
    choice.peak_bytes = metrics.peak_bytes;
    choice.cost = planning_->CostOf(metrics);
    choice.cost.change = ChangeOf(choice);
  }
  return true;
}

// Those of them that have costs.
bool IntervalChoices::AddPriced(const std::vector<graph::tiling::TileShape>& tile_shapes,
                                const base::Stop& stop) {
  const tiling::TileFilter has_costs = [this](const encoder::program::Policy& policy,
                                              const graph::tiling::TileShape& shape) {
    return opened_->costs.contains({shape, policy.weights, policy.halo, policy.depth});
  };
  return AddCandidates(tile_shapes, has_costs, stop);
}

bool IntervalChoices::AddCandidates(const std::vector<graph::tiling::TileShape>& tile_shapes,
                                    const tiling::TileFilter& filter, const base::Stop& stop) {
  size_t first = 0;
  if (opened_->tiles) {
    first = opened_->tiles->Candidates().size();
    if (opened_->tiles->Add(tile_shapes, filter, &stop)) {
      opened_->lost_shapes = true;
      return false;
    }
  } else {
    tiling::TileOptions options;
    options.engines = planning_->tile_engines;
    options.budget = IsSingle() ? planning_->LeastBudget() : planning_->budget;
    options.shapes = tile_shapes;
    options.policies = Policies();
    options.made = Made();
    options.pins = pins_;
    base::Expected<tiling::IntervalTiles> tiles =
        tiling::IntervalTiles::Build(planning_->graph, planning_->profile, interval_, options, filter, &stop);
    if (!tiles) {
      opened_->refusal = tiles.error();
      return false;
    }
    opened_->tiles.emplace(*std::move(tiles));
  }
  opened_->lost_shapes = opened_->lost_shapes || stop.Requested();
  const std::span<const tiling::TileCandidate> candidates = opened_->tiles->Candidates();
  for (size_t i = first; i < candidates.size(); ++i) {
    const encoder::program::SubgraphChoice& made = candidates[i].choice;
    Choice& choice = opened_->choices.emplace_back();
    choice.way = {made.tile, made.policy.weights, made.policy.halo, made.policy.depth};
    choice.candidate = i;
    // What its bound refuses needs no costs.
    auto known = opened_->costs.find(choice.way);
    if (known == opened_->costs.end() && opened_->tiles->Known(i).status != problem::Status::kInfeasible) {
      const graph::tiling::TiledSubgraph& tiling = opened_->tiles->TilingOf(i);
      const cost::ClassCosts costs = planning_->simulator.CostsOf(tiling, made.policy, &stop);
      plan::Metrics metrics;
      if (!stop.Requested())
        metrics =
            planning_->simulator.Run(tiling, costs, made.policy.weights, cost::Detail::kTotals, {}, &stop);
      if (stop.Requested()) {
        opened_->choices.pop_back();
        break;
      }
      known = opened_->costs.emplace(choice.way, planning_->CostOf(metrics)).first;
    }
    choice.priced = known != opened_->costs.end();
    if (choice.priced) choice.cost = known->second;
    SetPeak(choice, candidates[i].lower_bound);
    choice.cost.change = ChangeOf(choice);
  }
  opened_->tiles->DropClasses();
  TakeAnswers();
  return true;
}

void IntervalChoices::Decide(size_t index, const base::Stop& stop) {
  Choice& choice = opened_->choices[index];
  if (choice.verdict != Verdict::kOpen) return;
  if (planning_->LooksAtPeak()) {
    DecideByPeak(choice, stop);
    return;
  }
  choice.verdict = VerdictOf(opened_->tiles->Decide(choice.candidate, stop));
  opened_->solves = opened_->tiles->Solves();
  TakeAnswers();
}

// Any placement will do unless the objective looks at peaks; then the least one must be found, or one below the limit.
void IntervalChoices::DecideByPeak(Choice& choice, const base::Stop& stop) {
  const problem::Problem problem = opened_->tiles->ProblemOf(choice.candidate);
  allocate::AllocateOptions options;
  options.minimize = planning_->scale.MinimizesPeak();
  options.budget = IsSingle() ? planning_->LeastBudget() : planning_->budget;
  options.stop = &stop;
  options.capacity = planning_->Room();
  base::Expected<problem::Result> result =
      allocate::Allocate(problem, nullptr, 0, planning_->engines, options);
  ++opened_->solves;
  if (!result && !opened_->fault) opened_->fault = result.error();
  choice.verdict = result ? VerdictOf(result->status) : Verdict::kGivenUp;
  if (choice.verdict != Verdict::kFits) return;
  choice.exact = !options.minimize || result->status == problem::Status::kOptimal;
  choice.allocation = std::move(result->allocation);
  SetPeak(choice, *result->peak);
}

void IntervalChoices::SetPeak(Choice& choice, problem::Bytes peak) const {
  choice.peak_bytes = peak;
  choice.cost.peak = planning_->PeakCostOf(peak);
  choice.cost.tie.peak = static_cast<double>(peak);
}

// One answer often settles other choices too, and bounds settle some without a question.
void IntervalChoices::TakeAnswers() {
  for (Choice& choice : opened_->choices) {
    const tiling::RungAnswer& known = opened_->tiles->Known(choice.candidate);
    const bool beyond = choice.peak_bytes > planning_->TileMemory().capacity_bytes;
    if (choice.verdict == Verdict::kOpen && (beyond || known.status == problem::Status::kInfeasible)) {
      choice.verdict = Verdict::kImpossible;
    }
    if (choice.verdict == Verdict::kFits && !choice.allocation) {
      choice.allocation = known.allocation;
      choice.peak_bytes = known.peak.value_or(choice.peak_bytes);
    }
  }
}

std::vector<size_t> IntervalChoices::Front(const std::vector<size_t>& kept) const {
  std::vector<size_t> order;
  if (opened_ == nullptr) return order;
  for (size_t i = 0; i < opened_->choices.size(); ++i) {
    if (opened_->choices[i].verdict == Verdict::kOpen || opened_->choices[i].verdict == Verdict::kFits)
      order.push_back(i);
  }
  // Whatever dominates a choice comes before it.
  std::sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    const auto key = [this](size_t i) {
      const cost::Cost& cost = opened_->choices[i].cost;
      return std::tie(cost.score, cost.change, cost.tie.latency, cost.tie.energy, cost.tie.off_chip_bytes,
                      cost.tie.peak, cost.peak, cost.limited);
    };
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  });
  std::vector<size_t> front;
  std::vector<size_t> dominating;
  for (const size_t i : order) {
    const bool is_kept = std::find(kept.begin(), kept.end(), i) != kept.end();
    const bool dominated = std::any_of(dominating.begin(), dominating.end(), [&](size_t j) {
      return cost::Dominates(opened_->choices[j].cost, opened_->choices[i].cost);
    });
    if (dominated && !is_kept) continue;
    front.push_back(i);
    if (!is_kept) dominating.push_back(i);
  }
  std::sort(front.begin(), front.end());
  return front;
}

int64_t IntervalChoices::Effort() const {
  if (opened_ == nullptr) return 0;
  const auto shapes = static_cast<int64_t>(opened_->tried.size());
  const bool keeps_rows = std::any_of(opened_->policies.begin(), opened_->policies.end(),
                                      [](const encoder::program::Policy& policy) {
                                        return policy.halo != hw_profiles::HaloStorage::kRecompute;
                                      });
  const int64_t tried = shapes * (keeps_rows ? 2 : 1) + opened_->effort_further;
  return tried * (interval_.last - interval_.first + 1) * (opened_->posed ? 2 : 1);
}

bool IntervalChoices::ProvenEmpty() const {
  const std::span<const Choice> choices = Choices();
  return IsPosed() && IsComplete() && std::all_of(choices.begin(), choices.end(), [](const Choice& choice) {
           return choice.verdict == Verdict::kImpossible;
         });
}

bool IntervalChoices::AnyGivenUp() const {
  const std::span<const Choice> choices = Choices();
  return std::any_of(choices.begin(), choices.end(), [](const Choice& choice) {
    return choice.verdict == Verdict::kGivenUp || !choice.exact;
  });
}

const base::Diagnostic* IntervalChoices::Fault() const {
  if (opened_ == nullptr) return nullptr;
  if (opened_->fault) return &*opened_->fault;
  return opened_->tiles ? opened_->tiles->Fault() : nullptr;
}

}  // namespace tessera::search::partition::choices
