#include "tessera/search/partition/interval_choices.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tessera/encoder/adapt/choice.h"
#include "tessera/search/allocate/portfolio.h"

namespace tessera::search {
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
                                 const Demands* demands)
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

graph::ShapeGrid IntervalChoices::Grid() const {
  if (way_ == nullptr || !way_->tile) return GridOf(planning_->graph, planning_->profile, interval_);
  graph::ShapeGrid grid;
  for (const int64_t extent : *way_->tile) grid.extents.push_back({extent});
  return grid;
}

// The tile of an older plan is looked at first, if it still is one.
std::vector<graph::TileShape> IntervalChoices::FirstShapes() {
  std::vector<graph::TileShape> shapes = shapes_->Start();
  if (planning_->predecessor == nullptr || (way_ != nullptr && way_->tile)) return shapes;
  const graph::TileShape* before = planning_->predecessor->TileOf(interval_);
  if (before == nullptr || encoder::FindFault(planning_->graph, interval_, *before)) return shapes;
  if (std::find(shapes.begin(), shapes.end(), *before) == shapes.end()) shapes.push_back(*before);
  return shapes;
}

// Before the interval is posed a choice stands for several policies: it changes as little as is possible.
Cost IntervalChoices::CostOf(const Choice& choice) const {
  Cost cost = planning_->CostOf(choice.metrics);
  if (planning_->predecessor == nullptr) return cost;
  cost.change = posed_ && tiles_
                    ? planning_->predecessor->ChangeOf(tiles_->Candidates()[choice.candidate].choice)
                    : bound_.change;
  return cost;
}

const std::vector<encoder::Policy>& IntervalChoices::Policies() {
  if (!policies_.empty()) return policies_;
  policies_ = encoder::PoliciesOf(planning_->graph, planning_->profile, interval_, kept_);
  if (way_ != nullptr)
    std::erase_if(policies_, [this](const encoder::Policy& policy) { return !way_->Allows(policy); });
  return policies_;
}

void IntervalChoices::Open() {
  opened_ = true;
  shapes_.emplace(Grid());
  ways_ = std::make_unique<WayCosts>(*planning_, interval_, Policies());
  if (ways_->IsRefused()) {
    tried_ = FirstShapes();
    Pose();
  } else {
    AddShapes(FirstShapes());
    Refine();
  }
  ways_.reset();
}

void IntervalChoices::Pose() {
  if (posed_) return;
  posed_ = true;
  for (Choice& choice : choices_) costs_.emplace(std::move(choice.way), std::move(choice.metrics));
  choices_.clear();
  if (costs_.empty() ? AddCandidates(tried_, {}) : AddPriced(tried_)) Refine();
  costs_.clear();
  // Of choices with equal costs the one that needs least room is likeliest to fit.
  std::stable_sort(choices_.begin(), choices_.end(), [](const Choice& a, const Choice& b) {
    return a.metrics.peak_bytes < b.metrics.peak_bytes;
  });
  ways_.reset();
}

// Of what is posed with its costs, the rest surely has no room.
void IntervalChoices::PoseRefused(size_t index, size_t most) {
  if (!tiles_) return;
  std::set<Way> known;
  std::set<Way> refused;
  for (const Choice& choice : choices_) {
    known.insert(choice.way);
    if (choice.metrics.bound_by.empty()) refused.insert(choice.way);
  }
  const TileFilter is_refused = [&known](const encoder::Policy& policy, const graph::TileShape& shape) {
    return !known.contains({shape, policy.weights, policy.halo, policy.depth});
  };
  std::map<int64_t, std::vector<graph::TileShape>> larger;  // by their elements
  const int64_t elements = graph::ElementsOf(choices_[index].way.tile);
  for (const graph::TileShape& shape : tried_) {
    if (graph::ElementsOf(shape) > elements) larger[graph::ElementsOf(shape)].push_back(shape);
  }
  for (const auto& [size, shapes] : larger) {
    if (refused.size() >= most || planning_->stop.Requested()) return;
    const size_t first = choices_.size();
    if (!AddCandidates(shapes, is_refused)) return;
    for (size_t i = first; i < choices_.size(); ++i) {
      choices_[i].verdict = Verdict::kImpossible;
      refused.insert(choices_[i].way);
    }
  }
}

// Looks around the best shapes that no bound refuses until nothing is left there.
void IntervalChoices::Refine() {
  std::map<graph::TileShape, double> scores;
  size_t rated = 0;
  const ShapeSearch::Rating rating = [&scores](const graph::TileShape& shape) -> std::optional<double> {
    const auto found = scores.find(shape);
    return found == scores.end() ? std::nullopt : std::optional(found->second);
  };
  while (!planning_->stop.Requested()) {
    for (; rated < choices_.size(); ++rated) {
      const Choice& choice = choices_[rated];
      if (choice.verdict == Verdict::kImpossible) continue;
      const double score = planning_->scale.ScoreOf(choice.cost);
      double& least = scores.try_emplace(choice.way.tile, score).first->second;
      least = std::min(least, score);
    }
    const std::vector<graph::TileShape> next = shapes_->Refine(rating);
    if (next.empty() || !AddShapes(next)) return;
  }
}

size_t IntervalChoices::Extend(size_t most) {
  if (!opened_ || refusal_) return 0;
  const std::vector<graph::TileShape> rest = shapes_->Rest(most);
  if (!rest.empty()) AddShapes(rest);
  ways_.reset();
  return rest.size();
}

// Behind those that are there; false where the encoder refuses.
bool IntervalChoices::AddShapes(const std::vector<graph::TileShape>& tile_shapes) {
  tried_.insert(tried_.end(), tile_shapes.begin(), tile_shapes.end());
  if (ways_ == nullptr) ways_ = std::make_unique<WayCosts>(*planning_, interval_, Policies());
  std::map<Way, plan::Metrics> costs = ways_->Find(tile_shapes);
  if (posed_) {
    costs_ = std::move(costs);
    return AddPriced(tile_shapes);
  }
  for (auto& [way, metrics] : costs) {
    Choice& choice = choices_.emplace_back();
    choice.way = way;
    choice.metrics = std::move(metrics);
    choice.cost = CostOf(choice);
  }
  return true;
}

// Those of them that have costs.
bool IntervalChoices::AddPriced(const std::vector<graph::TileShape>& tile_shapes) {
  return AddCandidates(tile_shapes, [this](const encoder::Policy& policy, const graph::TileShape& shape) {
    return costs_.contains({shape, policy.weights, policy.halo, policy.depth});
  });
}

bool IntervalChoices::AddCandidates(const std::vector<graph::TileShape>& tile_shapes,
                                    const TileFilter& filter) {
  size_t first = 0;
  if (tiles_) {
    first = tiles_->Candidates().size();
    if (tiles_->Add(tile_shapes, filter)) {
      lost_shapes_ = true;
      return false;
    }
  } else {
    TileOptions options;
    options.engines = planning_->tile_engines;
    options.budget = planning_->budget;
    options.shapes = tile_shapes;
    options.policies = Policies();
    options.pins = pins_;
    base::Expected<IntervalTiles> tiles =
        IntervalTiles::Build(planning_->graph, planning_->profile, interval_, options, filter);
    if (!tiles) {
      refusal_ = tiles.error();
      return false;
    }
    tiles_.emplace(*std::move(tiles));
  }
  const std::span<const TileCandidate> candidates = tiles_->Candidates();
  for (size_t i = first; i < candidates.size(); ++i) {
    const encoder::SubgraphChoice& made = candidates[i].choice;
    Choice& choice = choices_.emplace_back();
    choice.way = {made.tile, made.policy.weights, made.policy.halo, made.policy.depth};
    choice.candidate = i;
    // What its bound refuses needs no costs.
    auto known = costs_.find(choice.way);
    if (known == costs_.end() && tiles_->Known(i).status != problem::Status::kInfeasible)
      known = costs_
                  .emplace(choice.way,
                           planning_->simulator.Run(tiles_->TilingOf(i), made.policy, Detail::kTotals))
                  .first;
    if (known != costs_.end()) choice.metrics = known->second;
    choice.metrics.peak_bytes = candidates[i].lower_bound;
    choice.cost = CostOf(choice);
  }
  tiles_->DropClasses();
  TakeAnswers();
  return true;
}

void IntervalChoices::Decide(size_t index) {
  Choice& choice = choices_[index];
  if (choice.verdict != Verdict::kOpen) return;
  if (planning_->LooksAtPeak()) {
    DecideByPeak(choice);
    return;
  }
  choice.verdict = VerdictOf(tiles_->Decide(choice.candidate, planning_->stop));
  solves_ = tiles_->Solves();
  TakeAnswers();
}

// Any placement will do unless the objective looks at peaks; then the least one must be found, or one below the limit.
void IntervalChoices::DecideByPeak(Choice& choice) {
  const problem::Problem problem = tiles_->ProblemOf(choice.candidate);
  AllocateOptions options;
  options.minimize = planning_->scale.MinimizesPeak();
  options.budget = planning_->budget;
  options.stop = &planning_->stop;
  options.capacity = planning_->Room();
  base::Expected<problem::Result> result = Allocate(problem, nullptr, 0, planning_->engines, options);
  ++solves_;
  if (!result && !fault_) fault_ = result.error();
  choice.verdict = result ? VerdictOf(result->status) : Verdict::kGivenUp;
  if (choice.verdict != Verdict::kFits) return;
  choice.exact = !options.minimize || result->status == problem::Status::kOptimal;
  choice.allocation = std::move(result->allocation);
  choice.metrics.peak_bytes = *result->peak;
  choice.cost = CostOf(choice);
}

// One answer often settles other choices too, and bounds settle some without a question.
void IntervalChoices::TakeAnswers() {
  for (Choice& choice : choices_) {
    const RungAnswer& known = tiles_->Known(choice.candidate);
    const bool beyond = choice.metrics.peak_bytes > planning_->TileMemory().capacity_bytes;
    if (choice.verdict == Verdict::kOpen && (beyond || known.status == problem::Status::kInfeasible)) {
      choice.verdict = Verdict::kImpossible;
    }
    if (choice.verdict == Verdict::kFits && !choice.allocation) {
      choice.allocation = known.allocation;
      choice.metrics.peak_bytes = known.peak.value_or(choice.metrics.peak_bytes);
    }
  }
}

std::vector<size_t> IntervalChoices::Front(const std::vector<size_t>& kept) const {
  std::vector<size_t> order;
  for (size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i].verdict == Verdict::kOpen || choices_[i].verdict == Verdict::kFits) order.push_back(i);
  }
  // Whatever dominates a choice comes before it.
  std::sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    const auto key = [this](size_t i) {
      const Cost& cost = choices_[i].cost;
      return std::tie(cost.score, cost.change, cost.peak, cost.limited, cost.tie);
    };
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  });
  std::vector<size_t> front;
  std::vector<size_t> dominating;
  for (const size_t i : order) {
    const bool is_kept = std::find(kept.begin(), kept.end(), i) != kept.end();
    const bool dominated = std::any_of(dominating.begin(), dominating.end(), [&](size_t j) {
      return Dominates(choices_[j].cost, choices_[i].cost);
    });
    if (dominated && !is_kept) continue;
    front.push_back(i);
    if (!is_kept) dominating.push_back(i);
  }
  std::sort(front.begin(), front.end());
  return front;
}

int64_t IntervalChoices::Effort() const {
  const auto shapes = static_cast<int64_t>(tried_.size());
  const bool keeps_rows = std::any_of(policies_.begin(), policies_.end(), [](const encoder::Policy& policy) {
    return policy.halo != hw_profiles::HaloStorage::kRecompute;
  });
  return shapes * (interval_.last - interval_.first + 1) * (posed_ ? 2 : 1) * (keeps_rows ? 2 : 1);
}

bool IntervalChoices::ProvenEmpty() const {
  return posed_ && IsComplete() && std::all_of(choices_.begin(), choices_.end(), [](const Choice& choice) {
           return choice.verdict == Verdict::kImpossible;
         });
}

bool IntervalChoices::AnyGivenUp() const {
  return std::any_of(choices_.begin(), choices_.end(), [](const Choice& choice) {
    return choice.verdict == Verdict::kGivenUp || !choice.exact;
  });
}

const base::Diagnostic* IntervalChoices::Fault() const {
  if (fault_) return &*fault_;
  return tiles_ ? tiles_->Fault() : nullptr;
}

}  // namespace tessera::search
