#pragma once

#include <string>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/joint.h"
#include "tessera/search/partition/path_search.h"

// What was found, in the words of a Plan.
namespace tessera::search {

// Subgraphs, joint Problem, allocation, steps, totals and score. Network, profile and objective are embedded; seed, version,
// lower bounds, baseline, status and notes are left to the caller.
plan::Plan AssemblePlan(const Planning& planning, const Selection& selection, const JointPlacement& joint);

// The same for subgraphs of which all but the peak is known, and the borders that are kept on chip.
plan::Plan AssemblePlan(const Planning& planning, std::vector<plan::Subgraph> subgraphs,
                        std::vector<int> kept, const JointPlacement& joint);

// Whether every larger tile under the same policy, whatever becomes of its halo, is known to be impossible, of all shapes that
// there are. IntervalChoices::TryAll makes more of them known.
bool IsLargest(const Planning& planning, const IntervalChoices& interval, const Choice& choice);

// Every operator alone, with the best choice that fits by itself. Needs PathSearch::DecideSingles.
plan::Baseline AssembleBaseline(const Planning& planning, const PathSearch& paths);

// Where a stop came before all operators were tried alone: nothing is claimed, every operator is
// left out.
plan::Baseline UnknownBaseline(const graph::Graph& network);
bool IsUnknown(const plan::Baseline& baseline, const graph::Graph& network);

// Numbers tensors as the operators make them, as files do: what is read again must be what was
// written.
void RenumberTensors(plan::Plan& plan);

}  // namespace tessera::search
