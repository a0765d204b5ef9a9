#pragma once

#include <span>
#include <vector>

#include "tessera/plan/holdings.h"
#include "tessera/plan/plan.h"

// What demands leave of the ways to cut a network and to run its subgraphs. Operators of `plan` are
// in the order in which they run: operator i is number order[i] of the network that the demands are
// about; tensors have the same numbers in both.
namespace tessera::plan::refutation {

// Whether a plan that keeps the demands may have the interval as a subgraph, with these boundary
// tensors kept.
bool MayBeSubgraph(const Plan& plan, std::span<const int> order, const std::vector<Users>& users,
                   graph::Interval interval, const std::vector<int>& kept);

// Whether the subgraph's tile and policies are those that are demanded of its operators; true where
// nothing is.
bool RunsAsDemanded(const Plan& plan, std::span<const int> order, const Subgraph& subgraph);

// The demand on the subgraph of just these operators, or nullptr.
const Demand* DemandOn(const Plan& plan, std::span<const int> order, graph::Interval interval);

}  // namespace tessera::plan::refutation
