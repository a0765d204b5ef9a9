#include "tessera/search/partition/interval_choices.h"

#include <algorithm>

#include "tessera/search/allocate/portfolio.h"

namespace tessera::search {
namespace {

// The most values tried along one axis, by the number of axes that tiles may be cut along: about as many shapes for each.
size_t ShapesPerAxis(size_t axes) {
  if (axes <= 1) return 24;
  return axes == 2 ? 8 : 4;
}

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

IntervalChoices::IntervalChoices(const Planning& planning, graph::Interval interval)
    : planning_(&planning),
      interval_(interval),
      bound_(planning.scale.CostOf(LowerBound(planning.graph, planning.profile, interval))) {}

void IntervalChoices::Open() {
  opened_ = true;
  TileOptions options;
  options.engines = planning_->engines;
  options.budget = planning_->budget;
  options.shapes_per_axis = ShapesPerAxis(planning_->profile.tiling.axes.size());
  base::Expected<IntervalTiles> tiles =
      IntervalTiles::Build(planning_->graph, planning_->profile, interval_, options);
  if (!tiles) {
    refusal_ = tiles.error();
    return;
  }
  tiles_.emplace(std::move(*tiles));
  const std::span<const TileCandidate> candidates = tiles_->Candidates();
  for (size_t i = 0; i < candidates.size(); ++i) {
    Choice choice;
    choice.candidate = i;
    choice.metrics = planning_->simulator.Run(tiles_->TilingOf(i), candidates[i].choice.policy);
    choice.metrics.peak_bytes = candidates[i].lower_bound;
    choice.cost = planning_->scale.CostOf(choice.metrics);
    choices_.push_back(std::move(choice));
  }
  // Of choices with equal costs the one that needs least room is likeliest to fit.
  std::stable_sort(choices_.begin(), choices_.end(), [](const Choice& a, const Choice& b) {
    return a.metrics.peak_bytes < b.metrics.peak_bytes;
  });
  TakeAnswers();
}

void IntervalChoices::Decide(size_t index) {
  Choice& choice = choices_[index];
  if (choice.verdict != Verdict::kOpen) return;
  if (planning_->scale.MinimizesPeak() || planning_->scale.LimitsPeak()) {
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
  const problem::Bytes capacity = problem.memories.front().capacity;
  options.capacity = capacity;
  if (planning_->scale.LimitsPeak() && planning_->scale.PeakLimit() < static_cast<double>(capacity)) {
    options.capacity = static_cast<problem::Bytes>(planning_->scale.PeakLimit());
  }
  base::Expected<problem::Result> result = Allocate(problem, nullptr, 0, planning_->engines, options);
  ++solves_;
  if (!result && !fault_) fault_ = result.error();
  choice.verdict = result ? VerdictOf(result->status) : Verdict::kGivenUp;
  if (choice.verdict != Verdict::kFits) return;
  choice.exact = !options.minimize || result->status == problem::Status::kOptimal;
  choice.allocation = std::move(result->allocation);
  choice.metrics.peak_bytes = *result->peak;
  choice.cost = planning_->scale.CostOf(choice.metrics);
}

// One answer often settles other choices too, and bounds settle some without a question.
void IntervalChoices::TakeAnswers() {
  for (Choice& choice : choices_) {
    const RungAnswer& known = tiles_->Known(choice.candidate);
    const bool beyond =
        choice.metrics.peak_bytes >
        planning_->profile.memories[static_cast<size_t>(planning_->profile.tile_memory)].capacity_bytes;
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
  const auto usable = [this](size_t i) {
    return choices_[i].verdict == Verdict::kOpen || choices_[i].verdict == Verdict::kFits;
  };
  const auto is_kept = [&kept](size_t i) { return std::find(kept.begin(), kept.end(), i) != kept.end(); };
  std::vector<size_t> front;
  for (size_t i = 0; i < choices_.size(); ++i) {
    if (!usable(i)) continue;
    bool dominated = false;
    for (size_t j = 0; j < choices_.size() && !dominated && !is_kept(i); ++j) {
      if (j == i || !usable(j) || is_kept(j) || !Dominates(choices_[j].cost, choices_[i].cost)) continue;
      dominated = j < i || !Dominates(choices_[i].cost, choices_[j].cost);
    }
    if (!dominated) front.push_back(i);
  }
  return front;
}

bool IntervalChoices::ProvenEmpty() const {
  return opened_ && std::all_of(choices_.begin(), choices_.end(),
                                [](const Choice& choice) { return choice.verdict == Verdict::kImpossible; });
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
