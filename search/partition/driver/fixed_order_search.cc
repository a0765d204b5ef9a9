// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/driver/attempts.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/paths/path_search.h"

namespace tessera::search::partition::driver {
namespace {

// Returns an error of an engine or the encoder, after which no result can be trusted.
std::optional<base::Diagnostic> FindEngineFault(const paths::PathSearch& paths) {
  for (const paths::LatticeInterval& interval : paths.Lattice().Intervals()) {
    if (interval.choices.Fault() != nullptr) return *interval.choices.Fault();
  }
  return std::nullopt;
}

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

// Returns the result if no plan was found.
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

// Returns the independent checker's argument that no plan exists, if it finds one without a search;
// else empty. Its arguments hold for all orders, so it is called for the order of the file only. It
// is not called under constraints, which have other reasons (BlameConstraints), or after a stop.
std::string FindArgument(const paths::OrderedNetwork& network,
                         const answer::PartitionOptions& options) {
  const choices::SearchContext& context = network.Context();
  if (!network.IsInOrderOfFile() || !network.PlanConstraints().IsEmpty() ||
      context.stop.Requested())
    return "";
  plan::Plan question = answer::QuestionOf(context.graph, context.profile, options);
  question.objective = context.scale.Objective();
  return plan::verify::infeasibility::FindQuickArgument(question);
}

// When the search for the best tiles of single operators ends, so that time is left before the
// deadline to find some layer-by-layer plan in haste, place it and check it. None if there is no
// deadline, or if a plan is known already.
std::optional<base::Stop::Clock::time_point> TimeForHaste(const choices::SearchContext& context,
                                                          Known known) {
  constexpr std::chrono::milliseconds kForOne{1};
  constexpr double kLeastShare = 0.1;  // of the time
  const auto deadline = context.stop.Deadline();
  if (!deadline || known == Known::kPlan) return std::nullopt;
  const auto operators = static_cast<int64_t>(context.graph.operators.size());
  return std::max(*context.stop.Before(kLeastShare), *deadline - operators * kForOne);
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
  const base::Stop haste(TimeForHaste(context, known), &context.stop);
  paths.FormulateSingles(haste);
  if (answer::IsHopeless(context, lower_bounds)) {
    found.result = answer::ExplainAbsence(context, paths, lower_bounds);
    found.whatever_the_order = true;
    return found;
  }
  // If a layer-by-layer plan exists, it is found with any budget, and usually even after a stop.
  using Persistence = paths::PathSearch::Persistence;
  const bool knows_singles = paths.DecideSingles(haste, Persistence::kFewQueries);
  if (knows_singles) {
    if (before.empty()) found.alone = answer::AssembleBaseline(context, paths);
  } else if (context.stop.Requested() && known == Known::kPlan) {
    found.result.reason = "the search was stopped before a plan was found";
    return found;
  }
  if (!constraints.IsEmpty()) paths.DecideShortest(context.stop);
  if (paths.IsCutShort() || (!knows_singles && haste.Requested())) paths.DecideShortestInHaste();
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
  // Decides single operators that were left undecided, or have new choices.
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
  found.selection = attempted.selection;
  found.cost = attempted.cost;
  // After a stop, the plan was checked when it was found, and makes no claim that needs a proof
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
