// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "tessera/base/process.h"
#include "tessera/search/partition/answer/options_and_result.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/lattice.h"
#include "tessera/search/partition/paths/path_search.h"

namespace tessera::search::partition::answer {

// Appended to a reason that holds only for the plans that Keeping::kNothing allows.
inline constexpr std::string_view kAllSpilled =
    "; this is so where every boundary tensor between subgraphs is brought home";

// Whether these bounds alone prove that there is no plan.
bool IsHopeless(const choices::SearchContext& context, const LowerBounds& lower_bounds);

// The level of detail: the verdict only, or also the obstacle.
enum class Telling : uint8_t { kVerdict, kObstacle };

// Explains why PathSearch::FindBest found nothing: which operator does not fit in which memory and
// how many bytes are missing; or which limit cannot be satisfied; or what was left undecided. The
// status is kInfeasible only if the proof depends on neither the cap on operators in a subgraph nor
// skipped tile shapes. With kObstacle, tries operators that are not known to fit alone
// (obstacles.h).
PartitionResult ExplainAbsence(const choices::SearchContext& context,
                               const paths::PathSearch& paths, const LowerBounds& lower_bounds,
                               Telling telling = Telling::kObstacle);

// As ExplainAbsence, if an argument of the independent checker is already known: the status is
// kInfeasible with this argument as the reason, or kUnsupported.
PartitionResult ExplainArgument(const choices::SearchContext& context,
                                const paths::PathSearch& paths, const LowerBounds& lower_bounds,
                                std::string argument);

// Finds the constraints that are responsible if no plan satisfies all of them.

// A search, under any constraints, for a sequence of subgraphs that fit one by one.
struct ConstraintProbe {
  const choices::SearchContext& context;
  const LowerBounds& lower_bounds;
  paths::Keeping keeping = paths::Keeping::kWherePossible;
  paths::SearchLimits search_limits;
  base::Threads threads = {};

  // Returns kFeasible if there is such a sequence, whether or not it fits as a whole; otherwise a
  // result that explains why not.
  PartitionResult Run(const std::vector<plan::PlanConstraint>& constraints,
                      Telling telling = Telling::kVerdict) const;
};

// Adds to `result`, the outcome without a plan under all constraints, those that are responsible.
// If there is no plan without constraints either, returns the result without constraints. If it is
// proven that the constraints exclude every plan, the named ones suffice for that: each is left out
// in turn, and stays out if the others still provably exclude every plan. Cost: at most two
// searches for each constraint.
PartitionResult BlameConstraints(const ConstraintProbe& probe,
                                 std::vector<plan::PlanConstraint> constraints,
                                 PartitionResult result);

// Adds the constraints of a result without a plan to its reason.
void NameConstraints(PartitionResult& result);

// Returns the input of the independent judge.
plan::Plan QuestionOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const PartitionOptions& options);

// Runs the independent judge (plan/verify), which decides whether there is no plan. Proofs about
// placements come from engines that write them; each proof has a separate budget.
plan::verify::infeasibility::RefutationResult JudgeWhetherNone(const graph::Graph& graph,
                                                               const hw_profiles::Profile& profile,
                                                               const PartitionOptions& options);

// Submits a result without a plan to that judge if it is kInfeasible, or if it is kUnknown although
// the search was not stopped. If the judge accepts, its proof becomes part of the result, which is
// then kInfeasible. Otherwise the result is kUnknown; if it was kInfeasible, the reason also states
// what the judge could not confirm.
void Confirm(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const PartitionOptions& options, PartitionResult& result);

}  // namespace tessera::search::partition::answer
