// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/attempts.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "tessera/search/partition/driver/order_search.h"

namespace tessera::search::partition::driver {
namespace {

// Limits on selections that are placed, and then forbidden if they do not keep their promise: fewer
// than kMostForbidden in total. As long as there is no plan, the first attempts may use all.
constexpr size_t kMostAttempts = 26;
constexpr size_t kMostCompletions = 16;
constexpr size_t kMostExchanges = 8;
constexpr size_t kMostTies = 8;
constexpr size_t kMostForFirst = kMostAttempts + kMostCompletions + kMostExchanges + kMostTies;

// The work on skipped shapes of the later axes is this part of that of the first axes.
constexpr int64_t kLaterAxes = 4;

// The work on skipped shapes and policies of the best plan's subgraphs is this part of it.
constexpr int64_t kExchange = 4 * kCompletion;

// The work on skipped shapes that may only decide ties, once it is proven that no score is lower,
// is this part of it.
constexpr int64_t kTies = 4;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

}  // namespace

Attempts::Attempts(const paths::OrderedNetwork& network, const answer::LowerBounds& lower_bounds,
                   paths::PathSearch& paths)
    : context_(network.Context()),
      constraints_(network.PlanConstraints()),
      lower_bounds_(lower_bounds),
      paths_(paths),
      reordered_(!network.IsInOrderOfFile()) {}

// The previous plan comes first, because it has addresses already. The other selection is placed
// even after a stop if it promises more.
std::optional<base::Diagnostic> Attempts::TakeKnown() {
  if (const auto previous = paths_.FindPrevious()) Place(*previous);
  const auto known = fault_ ? std::nullopt : paths_.FindKnown();
  if (!known) return fault_;
  const bool promises_more = cost::IsLess(context_.scale.ScoreOf(known->cost), BestScore());
  if (promises_more || !context_.stop.Requested()) PlaceNow(*known);
  return fault_;
}

// Tensors kept on chip must have one address throughout, so the best selections may all fail;
// selections that keep nothing rarely do, and may be better than the plan of single operators. So a
// second search keeps nothing. If there is no plan yet, selections that were excluded for lack of
// effort are tried before that.
std::optional<base::Diagnostic> Attempts::Run(int64_t effort) {
  Search();
  if (!attempted_.best && !paths_.IsCutShort() && paths_.Widen()) Search();
  if (!attempted_.outcome.settled && !paths_.IsCutShort() && paths_.MayKeep()) {
    paths_.KeepNothing();
    Search();
    attempted_.outcome.settled = false;
  }
  if (!attempted_.best || !attempted_.outcome.settled) return fault_;
  if (!MeetsBound()) {
    paths_.AllowAddedChoices();
    if (!paths_.CutsBestPath()) {
      Complete(effort);
    } else if (paths_.CutEveryAxis(effort / kLaterAxes)) {
      Complete(effort / kLaterAxes);
    }
    if (!attempted_.outcome.complete) Exchange(effort / kExchange);
  }
  if (attempted_.outcome.complete || MeetsBound()) BreakTies(effort / kTies);
  return fault_;
}

double Attempts::BestScore() const {
  if (attempted_.best) return attempted_.best->score;
  return kNoLimit;
}

bool Attempts::MeetsBound() const {
  return BestScore() <= context_.scale.ScoreOfBounds(lower_bounds_.costs);
}

// After a stop no plan is placed if there is one already.
Attempts::Outcome Attempts::Place(const paths::Selection& selection) {
  if (attempted_.best && context_.stop.Requested()) return Outcome::kNoPlan;
  return PlaceNow(selection);
}

// Places the selection as one program. A plan with the score of the best one replaces it if ties
// prefer it. Each plan is checked before it is accepted, so that after a stop the last one can be
// returned immediately. After an interruption, selections that would take long are not placed.
Attempts::Outcome Attempts::PlaceNow(const paths::Selection& selection) {
  int64_t work = 0;
  for (const paths::Selected& subgraph : selection.subgraphs)
    work += answer::WorkOf(subgraph.Choices(), subgraph.Chosen());
  if (answer::IsTooLate(context_, work)) return Outcome::kNoPlan;
  base::Expected<placement::JointPlacement> joint =
      placement::PlaceJointly(context_, constraints_, selection);
  if (!joint) {
    fault_ = joint.error();
    return Outcome::kNoPlan;
  }
  if (!joint->result.allocation) {
    (joint->result.status == problem::Status::kInfeasible ? attempted_.outcome.failed
                                                          : attempted_.outcome.undecided)++;
    attempted_.last_reason = joint->result.reason;
    attempted_.obstacle = std::move(joint->obstacle);
    return joint->fails_at_home ? Outcome::kNoPlanAtHome : Outcome::kNoPlan;
  }
  std::optional<plan::Plan> assembled = answer::AssemblePlan(context_, selection, *joint);
  if (!assembled) return Outcome::kNoPlan;
  plan::Plan& plan = *assembled;
  const bool as_promised = !cost::IsLess(context_.scale.ScoreOf(selection.cost), plan.score);
  if (!as_promised && !IsProvenLowest(*joint))
    attempted_.outcome.least_unproven =
        std::min(attempted_.outcome.least_unproven, context_.scale.ScoreOf(selection.cost));
  const auto off_chip_peak = static_cast<double>(plan.totals.off_chip_peak_bytes);
  if (!attempted_.best || IsBetter(plan, selection)) {
    if (!IsChecked(plan)) return Outcome::kNoPlan;
    paths_.ReportPlan(plan.score);
    attempted_.best = std::move(plan);
    attempted_.selection = selection;
  }
  if (as_promised) return Outcome::kAsPromised;
  // If peaks count, other tiles may be better although tensors at home lie the same.
  const bool is_worse_at_home = context_.scale.LooksAtOffChipPeak() &&
                                !context_.scale.MinimizesPeak() &&
                                off_chip_peak > selection.cost.maxima[cost::kOffChipPeakMaximum];
  return is_worse_at_home ? Outcome::kWorseAtHome : Outcome::kWorse;
}

// Whether the plan would be valid if it were returned now. If not, there is an error of the program
// (fault_), or an interruption came.
bool Attempts::IsChecked(const plan::Plan& plan) {
  plan::Plan now = plan;
  now.lower_bounds = lower_bounds_.costs;
  now.bound = context_.scale.ScoreOfBounds(lower_bounds_.costs);
  now.constraints = constraints_.All();
  answer::ClaimByBound(now);
  if (reordered_) answer::RenumberTensors(now);
  const base::Expected<bool> passes = answer::PassesCheck(now, &context_.stop);
  if (!passes) fault_ = passes.error();
  return passes && *passes;
}

// Whether it is proven that no other addresses have lower peaks, of those that the objective uses.
bool Attempts::IsProvenLowest(const placement::JointPlacement& joint) const {
  return (!context_.scale.MinimizesPeak() || joint.result.status == problem::Status::kOptimal) &&
         (!context_.scale.LooksAtOffChipPeak() || joint.are_homes_lowest);
}

// The change of a plan relative to a previous one follows from its selection.
cost::Cost Attempts::CostOf(const plan::Plan& plan, const paths::Selection& selection) const {
  cost::Cost cost = context_.scale.CostOf(plan.totals);
  cost.change = selection.cost.change;
  return cost;
}

// Returns the cost that the best plan's selection promised; if the plan exceeds it, that of the
// plan.
cost::Cost Attempts::CostOfBest() const {
  const paths::Selection& selection = attempted_.selection;
  if (!cost::IsLess(context_.scale.ScoreOf(selection.cost), attempted_.best->score))
    return selection.cost;
  return CostOf(*attempted_.best, selection);
}

bool Attempts::IsBetter(const plan::Plan& plan, const paths::Selection& selection) const {
  return context_.scale.Prefers(CostOf(plan, selection),
                                CostOf(*attempted_.best, attempted_.selection));
}

Attempted Attempts::Take() {
  if (attempted_.best) attempted_.cost = CostOfBest();
  return std::move(attempted_);
}

void Attempts::Search() {
  attempted_.outcome.settled = false;
  const auto most = [this] { return attempted_.best ? kMostAttempts : kMostForFirst; };
  for (size_t attempt = 0; attempt < most() && !fault_;) {
    paths::Found found = paths_.FindBest();
    if (found.ending == paths::Ending::kMilestone) {
      TakeOpen();
      continue;
    }
    if (found.ending == paths::Ending::kCutShort) return;
    if (found.ending == paths::Ending::kNone ||
        cost::IsLess(BestScore(), context_.scale.ScoreOf(found.selection.cost))) {
      attempted_.outcome.settled = true;
      return;
    }
    ++attempt;
    const Outcome outcome = Place(found.selection);
    if (outcome == Outcome::kAsPromised) {
      attempted_.outcome.settled = true;
      return;
    }
    Forbid(found.selection, outcome);
  }
}

void Attempts::Forbid(const paths::Selection& selection, Outcome outcome) {
  switch (outcome) {
    case Outcome::kNoPlanAtHome:
      return paths_.ForbidIntervalsOf(selection);
    case Outcome::kWorseAtHome:
      return paths_.ForbidKnownChoicesOf(selection);
    default:
      return paths_.Forbid(selection);
  }
}

// Places an open selection at a milestone. A failure does not count, because the search returns to
// the selection if it is the best.
void Attempts::TakeOpen() {
  const std::optional<paths::Selection> open = paths_.FindOpen(BestScore());
  if (!open) return;
  const auto counts = std::tuple(attempted_.outcome.failed, attempted_.outcome.undecided);
  Place(*open);
  std::tie(attempted_.outcome.failed, attempted_.outcome.undecided) = counts;
}

// Considers everything that was skipped and that bounds do not exclude.
void Attempts::Complete(int64_t effort) {
  for (size_t attempt = 0; attempt < kMostCompletions && !fault_; ++attempt) {
    const paths::Found found = paths_.FindBetter(BestScore(), effort);
    attempted_.outcome.complete = found.ending == paths::Ending::kNone;
    if (found.ending != paths::Ending::kFound) return;
    const Outcome outcome = Place(found.selection);
    if (outcome != Outcome::kAsPromised) Forbid(found.selection, outcome);
  }
}

// If Complete is too much work, considers only what was skipped in the subgraphs of the best plan.
void Attempts::Exchange(int64_t effort) {
  for (size_t attempt = 0; attempt < kMostExchanges && !fault_; ++attempt) {
    const std::optional<paths::Selection> found =
        paths_.FindExchange(attempted_.selection, BestScore(), effort);
    if (!found) return;
    const Outcome outcome = Place(*found);
    if (outcome != Outcome::kAsPromised) Forbid(*found, outcome);
  }
}

// Considers what was skipped, for plans of the same score. Intervals that were excluded because
// their plan exceeds its promise are allowed again: skipped tiles may have better ties.
void Attempts::BreakTies(int64_t effort) {
  paths_.AllowAddedChoices();
  const bool cuts_all = !paths_.CutsBestPath() || paths_.CutEveryAxis(effort / kLaterAxes);
  for (size_t attempt = 0; attempt < kMostTies && !fault_; ++attempt) {
    std::optional<paths::Selection> found;
    if (cuts_all) found = paths_.FindTie(CostOfBest(), effort);
    if (!found) found = paths_.FindTiedExchange(attempted_.selection, effort / kExchange);
    if (!found) return;
    const Outcome outcome = Place(*found);
    const bool is_best = cost::CompareTies(attempted_.selection.cost, found->cost) == 0;
    if (!is_best || outcome == Outcome::kWorseAtHome) Forbid(*found, outcome);
  }
}

}  // namespace tessera::search::partition::driver
