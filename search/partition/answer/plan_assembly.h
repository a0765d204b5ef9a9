#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/answer/options_and_result.h"
#include "tessera/search/partition/paths/ordered_network.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

// What was found, in the words of a Plan.
namespace tessera::search::partition::answer {

// Subgraphs, joint Problem, allocation, steps, totals and score. Network, profile and objective are
// embedded; seed, version, lower bounds, baseline, status and notes are left to the caller.
plan::Plan AssemblePlan(const choices::SearchContext& context, const paths::Selection& selection,
                        const placement::JointPlacement& joint);

// The same for subgraphs of which all but the peak is known, and the boundary tensors that are kept
// on chip.
plan::Plan AssemblePlan(const choices::SearchContext& context,
                        std::vector<plan::Subgraph> subgraphs, std::vector<int> kept,
                        const placement::JointPlacement& joint);

// Whether every larger tile under the same policy, whatever becomes of its halo, is known to be
// impossible, of all shapes that there are. IntervalChoices::TryAll makes more of them known.
bool IsLargest(const choices::SearchContext& context, const choices::IntervalChoices& interval,
               const choices::Choice& choice);

// Layer by layer, with the best choice that fits by itself. Needs PathSearch::DecideSingles.
plan::Baseline AssembleBaseline(const choices::SearchContext& context,
                                const paths::PathSearch& paths);

// Where a stop came before all operators were tried alone: nothing is claimed, every operator is
// left out.
plan::Baseline UnknownBaseline(const graph::Graph& network);
bool IsUnknown(const plan::Baseline& baseline, const graph::Graph& network);

// Numbers tensors as the operators make them, as files do: what is read again must be what was
// written.
void RenumberTensors(plan::Plan& plan);

// What stood beside the choices of a plan, and why it was rejected. It is told from what the search
// knows when it ends, and from the bounds of some tiles without room
// (PathSearch::FormulateRefused); no engine is asked, so of intervals that nothing ever drew
// attention to only a bound is known.

inline constexpr size_t kMostRejected = 3;  // of each kind

// Of subgraph `s` of the selection: first tiles that would have been better and have no room, then
// the next best, then the subgraph joined with the one behind it; a few of each.
std::vector<plan::RejectedAlternative> RejectedAlternativesOf(const choices::SearchContext& context,
                                                              const paths::PathSearch& paths,
                                                              const paths::Selection& selection,
                                                              size_t s);

// What a plan says of how it came to be, and what it may claim after that.
//
// A search that ran to its end is deterministic: run again with the same options it says the same
// of its plan (reproduce.h). How far a search came that a deadline or an interrupt cut off cannot
// be found out again. So its plan claims nothing that rests on that: it is optimal only where it
// meets its lower bound, a tile is the largest only where it is the whole output, and the baseline
// is found without a deadline. The same holds where no search was run at all.

// Of a plan that a search with these options, which is over, found for the graph.
plan::Run RecordOf(const graph::Graph& graph, const plan::Plan& plan,
                   const PartitionOptions& options);

// Of a plan whose partition was given.
plan::Run RecordOf(const EvaluateOptions& options);

// Every operator of the plan's network alone, where nothing is kept on chip, with the best choice
// that fits by itself; under the plan's constraints, and with the budget and the older plan of its
// record. Nothing is remembered of an earlier search, which may have been cut off: the same plan
// has the same baseline.
plan::Baseline FindBaseline(const plan::Plan& plan, const cost::Scale& scale,
                            const tiling::Engines& engines, int threads);

// What a plan claims whose search was cut off: it is optimal where it meets its bound, else nothing
// is proven.
void ClaimByBound(plan::Plan& plan);

// What a plan claims whose partition was given.
void ClaimNothing(plan::Plan& plan);

// Whether a tile is the largest for it is the whole output.
bool IsWholeOutput(const graph::Graph& graph, const plan::Subgraph& subgraph);

}  // namespace tessera::search::partition::answer
