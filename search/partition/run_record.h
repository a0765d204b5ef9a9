#pragma once

#include "tessera/graph/graph.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/options_and_result.h"
#include "tessera/search/partition/ordered_network.h"

// What a plan says of how it came to be, and what it may claim after that.
//
// A search that ran to its end is deterministic: run again with the same options it says the same of its plan (reproduce.h). How far
// a search came that a deadline or an interrupt cut off cannot be found out again. So its plan claims nothing that rests on that: it is
// optimal only where it meets its lower bound, a tile is the largest only where it is the whole output, and the baseline is found
// without a deadline. The same holds where no search was run at all.
namespace tessera::search {

// Of a plan that a search with these options, which is over, found for the graph.
plan::Run RecordOf(const graph::Graph& graph, const plan::Plan& plan, const PartitionOptions& options);

// Of a plan whose partition was given.
plan::Run RecordOf(const EvaluateOptions& options);

// Every operator of the plan's network alone, where nothing is kept on chip, with the best choice
// that fits by itself; under the plan's demands, and with the budget and the older plan of its
// record. Nothing is remembered of an earlier search, which may have been cut off: the same plan
// has the same baseline.
plan::Baseline FindBaseline(const plan::Plan& plan, const Scale& scale, const Engines& engines, int threads);

// What a plan claims whose search was cut off: it is optimal where it meets its bound, else nothing is proven.
void ClaimByBound(plan::Plan& plan);

// What a plan claims whose partition was given.
void ClaimNothing(plan::Plan& plan);

// Whether a tile is the largest for it is the whole output.
bool IsWholeOutput(const graph::Graph& graph, const plan::Subgraph& subgraph);

}  // namespace tessera::search
