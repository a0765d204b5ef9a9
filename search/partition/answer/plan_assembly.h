// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/process.h"
#include "tessera/graph/graph.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/answer/options_and_result.h"
#include "tessera/search/partition/paths/ordered_network.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

// Converts the result of a search to a Plan.
namespace tessera::search::partition::answer {

// Returns a plan with subgraphs, joint Problem, allocation, steps, totals and score, and with
// network, profile and objective. The caller sets seed, version, lower bounds, baseline, status and
// notes. nullopt if an interruption came and the choices have very many tiles (IsTooLate).
std::optional<plan::Plan> AssemblePlan(const choices::SearchContext& context,
                                       const paths::Selection& selection,
                                       const placement::JointPlacement& joint);

// As above, from subgraphs that lack only their peaks, and the boundary tensors kept on chip.
plan::Plan AssemblePlan(const choices::SearchContext& context,
                        std::vector<plan::Subgraph> subgraphs, std::vector<int> kept,
                        const placement::JointPlacement& joint);

// Whether every larger tile under the same policy, with any halo storage, is known to be
// impossible, among all existing shapes. IntervalChoices::TryAll adds to this knowledge.
bool IsLargest(const choices::SearchContext& context, const choices::IntervalChoices& interval,
               const choices::Choice& choice);

// Returns the layer-by-layer result, with the best choice of each operator that fits by itself.
// PathSearch::DecideSingles must have run. nullopt if an interruption came and the choices have
// very many tiles (IsTooLate).
std::optional<plan::Baseline> AssembleBaseline(const choices::SearchContext& context,
                                               const paths::PathSearch& paths);

// Returns the work of costing and checking a choice, in tiles times operators.
int64_t WorkOf(const choices::IntervalChoices& interval, const choices::Choice& choice);

// Whether an interruption came, and the work is more than the program may still do.
bool IsTooLate(const choices::SearchContext& context, int64_t work);

// Numbers tensors in the order in which operators make them, as in files, so that a plan that is
// written and read again is unchanged.
void RenumberTensors(plan::Plan& plan);

// The alternatives to the choices of a plan, and why they were rejected. They come from the
// knowledge of the search at its end, and from the bounds of some tiles that do not fit
// (PathSearch::FormulateRefused). No engine is called; so for intervals that the search never
// examined only a bound is known.

inline constexpr size_t kMostRejected = 3;  // of each kind

// Returns alternatives to subgraph `s` of the selection: first tiles that would be better but do
// not fit, then the next best tiles, then the subgraph merged with the next one; a few of each.
// After an interrupt, returns none.
std::vector<plan::RejectedAlternative> RejectedAlternativesOf(const choices::SearchContext& context,
                                                              const paths::PathSearch& paths,
                                                              const paths::Selection& selection,
                                                              size_t s);

// The record of how a plan was found, and the claims that it may make.
//
// A search that ran to its end is deterministic: with the same options it makes the same claims
// about its plan (reproduce.h). The progress of a search that a deadline or an interrupt cut off
// cannot be reproduced. So its plan makes no claim that depends on the progress: it is optimal only
// if it meets its lower bound, a tile is the largest only if it is the whole output, and the
// baseline is found without a deadline. The same holds if no search was run.

// Returns the record of a plan that a finished search with these options found for the graph.
plan::Run RecordOf(const graph::Graph& graph, const plan::Plan& plan,
                   const PartitionOptions& options);

// Returns the record of a plan with a given partition.
plan::Run RecordOf(const EvaluateOptions& options);

// Returns the baseline of a plan: every operator of its network alone, nothing kept on chip, with
// the best choice that fits by itself. Uses the plan's constraints, and the budget and the previous
// plan of its record, but no results of an earlier search, which may have been cut off. So the same
// plan always has the same baseline. nullopt if the stop came first. Throws std::bad_alloc, also if
// an allocation fails in an engine.
std::optional<plan::Baseline> FindBaseline(const plan::Plan& plan, const cost::Scale& scale,
                                           const tiling::Engines& engines, base::Threads threads,
                                           const base::Stop& stop);

// The findings of the search of one order of the operators about its best plan.
struct SearchOutcome {
  int failed = 0;         // selections whose joint Problem is proven impossible
  int undecided = 0;      // selections whose joint Problem met a limit
  bool settled = false;   // no further selection of the expanded intervals in reach can be better
  bool complete = false;  // no selection at all can
  // The least score promised by a selection with a peak above its promise that may be lower at
  // other addresses.
  double least_unproven = std::numeric_limits<double>::infinity();
};

// Whether the score of the plan equals its lower bound, so that no plan is better.
bool MeetsBound(const choices::SearchContext& context, const LowerBounds& lower_bounds,
                const plan::Plan& plan);

// Sets bound, scope, proof and status of the plan from the outcome of a search. They state nothing
// about other orders.
void StateProof(const paths::OrderedNetwork& network, const paths::PathSearch& paths,
                const SearchOutcome& outcome, const PartitionOptions& options,
                const LowerBounds& lower_bounds, plan::Plan& plan);

// Returns the notes of the plan about its search.
std::vector<std::string> NotesOn(const choices::SearchContext& context,
                                 const paths::PathSearch& paths,
                                 const constraints::PlanConstraints& constraints,
                                 const SearchOutcome& outcome, const plan::Plan& plan);

// Sets the claims of a plan whose search was cut off: it is optimal if it meets its bound; else
// nothing is proven.
void ClaimByBound(plan::Plan& plan);

// Rates a plan of a related search by the objective of `scale`. The plan is optimal if it meets its
// bound; else every part of the scope states `left_out`.
void Rescore(const cost::Scale& scale, const plan::Metrics& lower_bounds, std::string_view left_out,
             plan::Plan& plan);

// Sets the claims of a plan with a given partition.
void ClaimNothing(plan::Plan& plan);

// Whether a tile is the largest because it is the whole output.
bool IsWholeOutput(const graph::Graph& graph, const plan::Subgraph& subgraph);

// Returns true if the independent validator accepts a plan; false if an interruption cut it off. An
// error of the program states its findings, including violated constraints.
base::Expected<bool> PassesCheck(const plan::Plan& plan, const base::Stop* stop);

// Checks a plan that has passed before and whose claims have changed since. Returns an error of the
// program; nullopt if there is none or an interruption came.
std::optional<base::Diagnostic> CheckWellFormed(const plan::Plan& plan, const base::Stop* stop);

}  // namespace tessera::search::partition::answer
