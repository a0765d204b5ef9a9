#pragma once

#include "tessera/search/partition/answer/options_and_result.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/lattice.h"
#include "tessera/search/partition/paths/path_search.h"

namespace tessera::search::partition::answer {

// What no plan can stay below, whatever its subgraphs and tiles.
struct LowerBounds {
  plan::Metrics costs;
  int tightest = 0;  // the operator behind costs.peak_bytes
};

// Whether these floors alone prove that there is no plan.
bool IsHopeless(const choices::SearchContext& context, const LowerBounds& lower_bounds);

// How much is found out about what is in the way.
enum class Telling : uint8_t { kVerdict, kObstacle };

// Why PathSearch::FindBest found nothing, for the user: which operator has no room, where, how many
// bytes are missing; or which limit cannot be kept; or what was left undecided. kInfeasible only
// where neither the cap on operators in a subgraph nor tile shapes left out had a part in the
// proof. With kObstacle operators that were not seen to fit alone are tried (alone.h).
PartitionResult ExplainAbsence(const choices::SearchContext& context,
                               const paths::PathSearch& paths, const LowerBounds& lower_bounds,
                               Telling telling = Telling::kObstacle);

// Which of the constraints are to blame where no plan keeps all of them.

// A search for single subgraphs that fit in a row, for any constraints. Refers to what it is made
// of.
struct ConstraintProbe {
  const choices::SearchContext& context;
  const LowerBounds& lower_bounds;
  paths::Keeping keeping = paths::Keeping::kWherePossible;
  paths::SearchLimits search_limits;
  int threads = 1;

  // What is said where there is no such row; kFeasible where there is one, whether or not it fits
  // as a whole.
  PartitionResult Run(const std::vector<plan::PlanConstraint>& constraints,
                      Telling telling = Telling::kVerdict) const;
};

// Adds to `result`, the outcome without a plan under all the constraints, those that are to blame.
// If there is no plan without constraints either, the result is the one without constraints. If the
// constraints are proven to rule out every plan, those that are named suffice for that: each is
// left out in turn, and stays out if the others still rule out every plan by proof. Cost: up to two
// searches for each constraint.
PartitionResult BlameConstraints(const ConstraintProbe& probe,
                                 std::vector<plan::PlanConstraint> constraints,
                                 PartitionResult result);

// States the constraints of a result without a plan in its reason.
void NameConstraints(PartitionResult& result);

// What the judge has to know of a question.
plan::Plan QuestionOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const PartitionOptions& options);

// Whether the independent judge (plan/refutation) finds that there is no plan. Proofs about
// placements come from engines that write them, each with a budget of its own.
plan::verify::infeasibility::Judgement JudgeWhetherNone(const graph::Graph& graph,
                                                        const hw_profiles::Profile& profile,
                                                        const PartitionOptions& options);

// Puts a result without a plan to that judge, if it says kInfeasible, or kUnknown though the search
// was not stopped. What the judge accepts becomes part of the result, which is kInfeasible then;
// else the result is kUnknown, and its reason says what the judge could not confirm.
void Confirm(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const PartitionOptions& options, PartitionResult& result);

}  // namespace tessera::search::partition::answer
