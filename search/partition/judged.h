#pragma once

#include "tessera/search/partition/options_and_result.h"

namespace tessera::search {

// What the judge has to know of a question.
plan::Plan QuestionOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const PartitionOptions& options);

// Whether the independent judge (plan/refutation) finds that there is no plan. Proofs about
// placements come from engines that write them, each with a budget of its own.
plan::refutation::Judgement JudgeWhetherNone(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                             const PartitionOptions& options);

// Puts a result without a plan to that judge, if it says kInfeasible, or kUnknown though the search
// was not stopped. What the judge accepts becomes part of the result, which is kInfeasible then;
// else the result is kUnknown, and its reason says what the judge could not confirm.
void Confirm(const graph::Graph& graph, const hw_profiles::Profile& profile, const PartitionOptions& options,
             PartitionResult& result);

}  // namespace tessera::search
