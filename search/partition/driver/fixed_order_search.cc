// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/encoder/program/homes.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

namespace tessera::search::partition::driver {
namespace {

// Limits on selections that are placed, and then forbidden if they do not give what they promise:
// kMostForbidden in total. Without a plan, the first attempts have what the others do not use.
constexpr size_t kMostAttempts = 26;
constexpr size_t kMostCompletions = 16;
constexpr size_t kMostExchanges = 8;
constexpr size_t kMostTies = 8;
constexpr size_t kMostForFirst = kMostAttempts + kMostCompletions + kMostExchanges + kMostTies;

// Skipped shapes of the later axes are considered for a share of the work that those of the first
// axes may take.
constexpr int64_t kLaterAxes = 4;

// Skipped shapes and policies of the best plan alone are considered for another share.
constexpr int64_t kExchange = 4 * kCompletion;

// So are skipped shapes that may only decide ties, once it is proven that no score is lower.
constexpr int64_t kTies = 4;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct Attempted {
  std::optional<plan::Plan> best;
  paths::Selection selection;  // of the best plan
  answer::SearchOutcome outcome;
  std::string last_reason;
  std::optional<placement::Obstacle> obstacle;  // of the last failure
};

// After an error of an engine or the encoder, no result can be trusted.
std::optional<base::Diagnostic> FindEngineFault(const paths::PathSearch& paths) {
  for (const paths::LatticeInterval& interval : paths.Lattice().Intervals()) {
    if (interval.choices.Fault() != nullptr) return *interval.choices.Fault();
  }
  return std::nullopt;
}

// Tries selections in the order of their scores and keeps the best plan.
class Attempts {
 public:
  Attempts(const paths::OrderedNetwork& network, const answer::LowerBounds& lower_bounds,
           paths::PathSearch& paths)
      : context_(network.Context()),
        constraints_(network.PlanConstraints()),
        lower_bounds_(lower_bounds),
        paths_(paths),
        reordered_(!std::is_sorted(network.InOrder().begin(), network.InOrder().end())) {}

  // The previous plan, and the best plan of choices that are known to fit, if there are any: from
  // then on there is a result. The previous plan comes first, because it has addresses already. The
  // other is not lost to a stop if it promises more.
  std::optional<base::Diagnostic> TakeKnown() {
    if (const auto previous = paths_.FindPrevious()) Place(*previous);
    const auto known = fault_ ? std::nullopt : paths_.FindKnown();
    if (!known) return fault_;
    const bool promises_more = cost::IsLess(context_.scale.ScoreOf(known->cost), BestScore());
    if (promises_more || !context_.stop.Requested()) PlaceNow(*known);
    return fault_;
  }

  // Tensors kept on chip must keep one address throughout, so the best selections may all fail;
  // selections that keep nothing rarely do, and may be better than the plan of single operators.
  // Also, selections excluded for lack of effort may be the only ones that fit.
  std::optional<base::Diagnostic> Run(int64_t effort) {
    Search();
    if (!attempted_.best && !paths_.IsCutShort() && paths_.Widen()) Search();
    if (!attempted_.outcome.settled && !paths_.IsCutShort() && paths_.MayKeep()) {
      paths_.KeepNothing();
      Search();
      attempted_.outcome.settled = false;
    }
    if (!attempted_.best || !attempted_.outcome.settled) return fault_;
    if (!MeetsBound()) {
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

  bool HasPlan() const { return attempted_.best.has_value(); }
  Attempted Take() { return std::move(attempted_); }

 private:
  // The outcome for a selection; of the last two kinds, every selection of the same intervals.
  enum class Outcome : uint8_t { kAsPromised, kWorse, kNoPlan, kWorseAtHome, kNoPlanAtHome };

  double BestScore() const {
    if (attempted_.best) return attempted_.best->score;
    return kNoLimit;
  }
  bool MeetsBound() const {
    return BestScore() <= context_.scale.ScoreOfBounds(lower_bounds_.costs);
  }

  // After a stop no plan is placed if there is one already.
  Outcome Place(const paths::Selection& selection) {
    if (attempted_.best && context_.stop.Requested()) return Outcome::kNoPlan;
    return PlaceNow(selection);
  }

  // Places the selection as one program. A plan with the score of the best one replaces it if ties
  // prefer it. Each plan is checked before it counts, so that a stop can return the last one
  // immediately. After an interruption no plan is placed that takes long.
  Outcome PlaceNow(const paths::Selection& selection) {
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
    plan::Plan plan = answer::AssemblePlan(context_, selection, *joint);
    const bool as_promised = !cost::IsLess(context_.scale.ScoreOf(selection.cost), plan.score);
    if (!as_promised && !IsProvenLowest(*joint))
      attempted_.outcome.least_unproven =
          std::min(attempted_.outcome.least_unproven, context_.scale.ScoreOf(selection.cost));
    const auto off_chip_peak = static_cast<double>(plan.totals.off_chip_peak_bytes);
    if (!attempted_.best || IsBetter(plan, selection)) {
      if (!IsChecked(plan)) return Outcome::kNoPlan;
      attempted_.best = std::move(plan);
      attempted_.selection = selection;
    }
    if (as_promised) return Outcome::kAsPromised;
    // If peaks count, other tiles may do better although they lie at home as these do.
    const bool is_worse_at_home = context_.scale.LooksAtOffChipPeak() &&
                                  !context_.scale.MinimizesPeak() &&
                                  off_chip_peak > selection.cost.maxima[cost::kOffChipPeakMaximum];
    return is_worse_at_home ? Outcome::kWorseAtHome : Outcome::kWorse;
  }

  // Whether the plan would be valid if returned now. If not, that is an error of the program, or an
  // interruption came.
  bool IsChecked(const plan::Plan& plan) {
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

  // Whether no other addresses have lower peaks, as far as these count.
  bool IsProvenLowest(const placement::JointPlacement& joint) const {
    return (!context_.scale.MinimizesPeak() || joint.result.status == problem::Status::kOptimal) &&
           (!context_.scale.LooksAtOffChipPeak() || joint.are_homes_lowest);
  }

  // The change of a plan relative to a previous one follows from its selection.
  bool IsBetter(const plan::Plan& plan, const paths::Selection& selection) const {
    const auto cost_of = [this](const plan::Plan& its, const paths::Selection& behind) {
      cost::Cost cost = context_.scale.CostOf(its.totals);
      cost.change = behind.cost.change;
      return cost;
    };
    return context_.scale.Prefers(cost_of(plan, selection),
                                  cost_of(*attempted_.best, attempted_.selection));
  }

  void Search() {
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

  void Forbid(const paths::Selection& selection, Outcome outcome) {
    if (outcome == Outcome::kWorseAtHome || outcome == Outcome::kNoPlanAtHome) {
      paths_.ForbidIntervalsOf(selection);
    } else {
      paths_.Forbid(selection);
    }
  }

  // At a milestone: a failure does not count, because the search returns to the selection if it is
  // the best.
  void TakeOpen() {
    const std::optional<paths::Selection> open = paths_.FindOpen(BestScore());
    if (!open) return;
    const auto counts = std::tuple(attempted_.outcome.failed, attempted_.outcome.undecided);
    Place(*open);
    std::tie(attempted_.outcome.failed, attempted_.outcome.undecided) = counts;
  }

  // Considers what was skipped, as far as bounds do not exclude it.
  void Complete(int64_t effort) {
    for (size_t attempt = 0; attempt < kMostCompletions && !fault_; ++attempt) {
      const paths::Found found = paths_.FindBetter(BestScore(), effort);
      attempted_.outcome.complete = found.ending == paths::Ending::kNone;
      if (found.ending != paths::Ending::kFound) return;
      const Outcome outcome = Place(found.selection);
      if (outcome != Outcome::kAsPromised) Forbid(found.selection, outcome);
    }
  }

  // Where that is too much, considers what was skipped of the subgraphs of the best plan.
  void Exchange(int64_t effort) {
    for (size_t attempt = 0; attempt < kMostExchanges && !fault_; ++attempt) {
      const std::optional<paths::Selection> found =
          paths_.FindExchange(attempted_.selection, BestScore(), effort);
      if (!found) return;
      const Outcome outcome = Place(*found);
      if (outcome != Outcome::kAsPromised) Forbid(*found, outcome);
    }
  }

  // Considers what was skipped, for plans of the same score.
  void BreakTies(int64_t effort) {
    const bool cuts_all = !paths_.CutsBestPath() || paths_.CutEveryAxis(effort / kLaterAxes);
    for (size_t attempt = 0; attempt < kMostTies && !fault_; ++attempt) {
      std::optional<paths::Selection> found;
      if (cuts_all) found = paths_.FindTie(attempted_.selection.cost, effort);
      if (!found) found = paths_.FindTiedExchange(attempted_.selection, effort / kExchange);
      if (!found) return;
      Place(*found);
      const bool is_best = cost::CompareTies(attempted_.selection.cost, found->cost) == 0;
      if (!is_best) paths_.Forbid(*found);
    }
  }

  const choices::SearchContext& context_;
  const constraints::PlanConstraints& constraints_;
  const answer::LowerBounds& lower_bounds_;
  paths::PathSearch& paths_;
  bool reordered_;  // tensors are renumbered when the plan is returned
  Attempted attempted_;
  std::optional<base::Diagnostic> fault_;
};

answer::PartitionResult WithoutPlan(const choices::SearchContext& context,
                                    const paths::PathSearch& paths, const Attempted& attempted,
                                    const answer::LowerBounds& lower_bounds) {
  const int tried = attempted.outcome.failed + attempted.outcome.undecided;
  if (tried == 0) return answer::ExplainAbsence(context, paths, lower_bounds);
  const std::string text =
      fmt::format("{} combination{} of subgraphs fit{} one by one, yet not jointly{}{}", tried,
                  tried == 1 ? "" : "s", tried == 1 ? "s" : "",
                  attempted.last_reason.empty() ? "" : ": ", attempted.last_reason);
  const paths::SearchCoverage coverage = paths.Coverage();
  const bool proven = attempted.outcome.settled && attempted.outcome.undecided == 0 &&
                      !coverage.any_given_up && coverage.IsWhole() && !paths.UntriedCouldFit();
  return {proven ? problem::Status::kInfeasible : problem::Status::kUnknown, std::nullopt,
          coverage.spills_all ? text + std::string(answer::kAllSpilled) : text, attempted.obstacle};
}

// The result if no plan was found.
base::Expected<answer::PartitionResult> Decline(const paths::OrderedNetwork& network,
                                                const answer::PartitionOptions& options,
                                                const paths::PathSearch& paths,
                                                const Attempted& attempted,
                                                const answer::LowerBounds& lower_bounds,
                                                const paths::SearchLimits& search_limits) {
  answer::PartitionResult result = WithoutPlan(network.Context(), paths, attempted, lower_bounds);
  if (network.PlanConstraints().IsEmpty()) return result;
  const answer::ConstraintProbe probe{network.Context(), lower_bounds, options.keeping,
                                      search_limits, options.threads};
  return answer::BlameConstraints(probe, network.PlanConstraints().All(), std::move(result));
}

// Why the independent checker excludes every plan, if it knows that without a search; else empty.
// Its arguments hold for all orders, so it is asked about that of the file only. Constraints have
// reasons of their own (BlameConstraints). After a stop nothing is asked.
std::string FindArgument(const paths::OrderedNetwork& network,
                         const answer::PartitionOptions& options) {
  const bool is_of_file = std::is_sorted(network.InOrder().begin(), network.InOrder().end());
  const choices::SearchContext& context = network.Context();
  if (!is_of_file || !network.PlanConstraints().IsEmpty() || context.stop.Requested()) return "";
  plan::Plan question = answer::QuestionOf(context.graph, context.profile, options);
  question.objective = context.scale.Objective();
  return plan::verify::infeasibility::FindQuickArgument(question);
}

}  // namespace

base::Expected<FixedOrderResult> SearchFixedOrder(const paths::OrderedNetwork& network,
                                                  const answer::PartitionOptions& options,
                                                  const answer::LowerBounds& lower_bounds,
                                                  std::span<paths::PathSearch* const> before,
                                                  Known known, paths::LaterAxes later_axes) {
  const choices::SearchContext& context = network.Context();
  const constraints::PlanConstraints& constraints = network.PlanConstraints();
  const paths::SearchLimits search_limits =
      SearchLimitsFor(network.Graph(), context.scale, options, later_axes);
  FixedOrderResult found;
  const std::vector<paths::Ordered> orders = {network.AsOrdered()};
  found.paths = std::make_unique<paths::PathSearch>(
      orders, search_limits, paths::OtherOrderLimits{}, options.threads, options.progress, before);
  paths::PathSearch& paths = *found.paths;
  paths.FormulateSingles(context.stop);
  if (answer::IsHopeless(context, lower_bounds)) {
    found.result = answer::ExplainAbsence(context, paths, lower_bounds);
    found.whatever_the_order = true;
    return found;
  }
  // If a layer-by-layer plan exists it is found, with any budget, and usually even after a stop.
  using Persistence = paths::PathSearch::Persistence;
  const bool knows_singles = paths.DecideSingles(context.stop, Persistence::kFewQueries);
  if (knows_singles) {
    if (before.empty()) found.alone = answer::AssembleBaseline(context, paths);
  } else if (context.stop.Requested() && known == Known::kPlan) {
    found.result.reason = "the search was stopped before a plan was found";
    return found;
  }
  if (!constraints.IsEmpty()) paths.DecideShortest(context.stop);
  if (paths.IsCutShort()) paths.DecideShortestInHaste();
  Attempts attempts(network, lower_bounds, paths);
  if (auto fault = attempts.TakeKnown()) return base::Unexpected(*fault);
  if (!attempts.HasPlan()) {
    std::string why = FindArgument(network, options);
    if (!why.empty()) {
      found.result = answer::ExplainArgument(context, paths, lower_bounds, std::move(why));
      found.whatever_the_order = true;
      return found;
    }
  }
  paths.FindBounds();
  if (auto fault = attempts.Run(options.effort * kCompletion)) return base::Unexpected(*fault);
  if (!knows_singles && !attempts.HasPlan() && paths.IsCutShort()) {
    paths.DecideShortestInHaste();
    if (auto fault = attempts.TakeKnown()) return base::Unexpected(*fault);
  }
  const Attempted attempted = attempts.Take();
  if (auto fault = FindEngineFault(paths)) return base::Unexpected(*fault);
  // Those that were left, or were extended meanwhile.
  const bool has_baseline = paths.DecideSingles(context.stop, Persistence::kToTheEnd);
  if (has_baseline && before.empty() && !found.alone)
    found.alone = answer::AssembleBaseline(context, paths);
  if (!attempted.best) {
    base::Expected<answer::PartitionResult> declined =
        Decline(network, options, paths, attempted, lower_bounds, search_limits);
    if (!declined) return base::Unexpected(declined.error());
    found.result = *std::move(declined);
    found.whatever_the_order = found.result.status == problem::Status::kUnsupported;
    return found;
  }
  plan::Plan plan = *attempted.best;
  paths.FormulateRefused(attempted.selection, answer::kMostRejected);
  for (size_t s = 0; s < plan.subgraphs.size(); ++s) {
    const paths::Selected& subgraph = attempted.selection.subgraphs[s];
    plan.subgraphs[s].largest_proven =
        answer::IsLargest(context, subgraph.Choices(), subgraph.Chosen());
    plan.subgraphs[s].rejected_alternatives =
        answer::RejectedAlternativesOf(context, paths, attempted.selection, s);
  }
  if (has_baseline) plan.baseline = answer::AssembleBaseline(context, paths);
  plan.lower_bounds = lower_bounds.costs;
  answer::StateProof(network, paths, attempted.outcome, options, lower_bounds, plan);
  plan.notes = answer::NotesOn(context, paths, constraints, attempted.outcome, plan);
  plan.constraints = constraints.All();
  plan.version = options.version;
  plan.seed = options.seed;
  found.whatever_the_order = answer::MeetsBound(context, lower_bounds, plan);
  found.promised = attempted.selection.cost;
  // A plan that a stop cut off was checked when it was found, and makes no claim that needs a proof
  // (ClaimByBound).
  if (!context.stop.Requested()) {
    if (auto fault = answer::CheckWellFormed(plan, &context.stop))
      return base::Unexpected(*std::move(fault));
  }
  found.result.status =
      plan.status == "optimal" ? problem::Status::kOptimal : problem::Status::kFeasible;
  found.result.plan = std::move(plan);
  return found;
}

}  // namespace tessera::search::partition::driver
