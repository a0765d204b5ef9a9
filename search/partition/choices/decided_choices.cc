// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/problem/structure.h"
#include "tessera/problem/validator.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/choices/interval_choices.h"

// Decides which choices fit, and which of these an optimal partition may use. A choice is decided
// by the engines, by an answer for another choice that implies it, or by its bound.
namespace tessera::search::partition::choices {
namespace {

ChoiceStatus VerdictOf(problem::Status status) {
  switch (status) {
    case problem::Status::kOptimal:
    case problem::Status::kFeasible:
      return ChoiceStatus::kFits;
    case problem::Status::kInfeasible:
      return ChoiceStatus::kImpossible;
    default:
      return ChoiceStatus::kGivenUp;
  }
}

}  // namespace

void IntervalChoices::Decide(size_t index, const base::Stop& stop) {
  Choice& choice = expanded_->choices[index];
  if (choice.verdict != ChoiceStatus::kOpen) return;
  if (context_->LooksAtPeak()) {
    DecideByPeak(choice, stop);
    return;
  }
  choice.verdict = VerdictOf(expanded_->tiles->Decide(choice.candidate, stop));
  if (choice.verdict == ChoiceStatus::kGivenUp) {
    const problem::Problem problem = expanded_->tiles->ProblemOf(choice.candidate);
    if (std::optional<problem::Result> before = PlacedBefore(choice, problem)) {
      choice.verdict = ChoiceStatus::kFits;
      choice.allocation = std::move(before->allocation);
      choice.peak_bytes = *before->peak;
    }
  }
  expanded_->solves = expanded_->tiles->Solves();
  TakeAnswers();
  Release(context_->stop);
  if (expanded_->in_turn) FormulateNext(context_->stop);
  DropConfigs();
}

// For objectives that use peaks: the search needs the least peak, or one within the limit. For
// others, any placement suffices.
void IntervalChoices::DecideByPeak(Choice& choice, const base::Stop& stop) {
  const problem::Problem problem = expanded_->tiles->ProblemOf(choice.candidate);
  const bool minimize = context_->scale.MinimizesPeak();
  base::Expected<problem::Result> result = context_->Place(
      problem, minimize, IsSingle() ? context_->LeastBudget() : context_->budget, stop);
  ++expanded_->solves;
  if (!result && !expanded_->fault) expanded_->fault = result.error();
  if (result && result->status != problem::Status::kInfeasible) {
    std::optional<problem::Result> before = PlacedBefore(choice, problem);
    if (before && (!result->allocation || *before->peak < *result->peak))
      result = *std::move(before);
  }
  choice.verdict = result ? VerdictOf(result->status) : ChoiceStatus::kGivenUp;
  if (choice.verdict != ChoiceStatus::kFits) return;
  choice.exact = !minimize || result->status == problem::Status::kOptimal;
  choice.allocation = std::move(result->allocation);
  SetPeak(choice, *result->peak);
}

// Returns the placement of the choice in the previous plan, if it is valid for this problem. So a
// choice that fitted before still does when a limit ends the engines' work.
std::optional<problem::Result> IntervalChoices::PlacedBefore(
    const Choice& choice, const problem::Problem& problem) const {
  if (context_->previous == nullptr) return std::nullopt;
  const std::span<const encoder::program::BufferUse> buffers =
      expanded_->tiles->CandidatesOf(choice.candidate).program.buffers;
  std::optional<std::vector<problem::Bytes>> offsets = context_->previous->OffsetsOf(
      expanded_->tiles->Candidates()[choice.candidate].choice, buffers);
  if (!offsets) return std::nullopt;
  problem::Result before;
  before.allocation = {.offsets = *std::move(offsets), .modes = problem::ConstantModes(problem)};
  if (!problem::Validate(problem, *before.allocation, context_->Room(), 1).empty())
    return std::nullopt;
  before.status = problem::Status::kFeasible;
  before.peak = problem::PeakOf(problem, *before.allocation);
  return before;
}

void IntervalChoices::SetPeak(Choice& choice, problem::Bytes peak) const {
  choice.peak_bytes = peak;
  choice.cost.maxima[cost::kPeakMaximum] = context_->PeakCostOf(peak);
  choice.cost.tie.peak = static_cast<double>(peak);
}

// Updates all choices: one answer often decides others too, and bounds decide some without a query.
void IntervalChoices::TakeAnswers() {
  for (Choice& choice : expanded_->choices) {
    const tiling::CandidateAnswer& known = expanded_->tiles->Known(choice.candidate);
    const bool beyond = choice.peak_bytes > context_->TileMemory().capacity_bytes;
    if (choice.verdict == ChoiceStatus::kOpen &&
        (beyond || known.status == problem::Status::kInfeasible)) {
      choice.verdict = ChoiceStatus::kImpossible;
    }
    if (choice.verdict == ChoiceStatus::kFits && !choice.allocation) {
      choice.allocation = known.allocation;
      choice.peak_bytes = known.peak.value_or(choice.peak_bytes);
    }
  }
}

std::vector<size_t> IntervalChoices::Front(const std::vector<size_t>& kept) const {
  std::vector<size_t> order;
  if (expanded_ == nullptr) return order;
  for (size_t i = 0; i < expanded_->choices.size(); ++i) {
    if (expanded_->choices[i].verdict == ChoiceStatus::kOpen ||
        expanded_->choices[i].verdict == ChoiceStatus::kFits)
      order.push_back(i);
  }
  const auto is_kept = [&kept](size_t i) {
    return std::find(kept.begin(), kept.end(), i) != kept.end();
  };
  const auto before = [this](size_t a, size_t b) {
    const auto key = [this](size_t i) {
      const cost::Cost& cost = expanded_->choices[i].cost;
      return std::tie(cost.score, cost.change, cost.tie.latency, cost.tie.energy,
                      cost.tie.off_chip_bytes, cost.tie.peak, cost.maxima, cost.sums);
    };
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  };
  // The first one dominates most of the others.
  std::optional<size_t> first;
  for (const size_t i : order) {
    if (!is_kept(i) && (!first || before(i, *first))) first = i;
  }
  std::erase_if(order, [&](size_t i) {
    return first && i != *first && !is_kept(i) &&
           cost::Dominates(expanded_->choices[*first].cost, expanded_->choices[i].cost);
  });
  // A choice that dominates another one comes before it.
  std::sort(order.begin(), order.end(), before);
  std::vector<size_t> front;
  std::vector<size_t> dominating;
  for (const size_t i : order) {
    const bool dominated = std::any_of(dominating.begin(), dominating.end(), [&](size_t j) {
      return cost::Dominates(expanded_->choices[j].cost, expanded_->choices[i].cost);
    });
    if (dominated && !is_kept(i)) continue;
    front.push_back(i);
    if (!is_kept(i)) dominating.push_back(i);
  }
  std::sort(front.begin(), front.end());
  return front;
}

}  // namespace tessera::search::partition::choices
