// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/lower_bounds.h"

// Lower bounds of the time that the engines need for an interval, operator by operator.
namespace tessera::search::cost {

// The certain engine cycles of one operator, and its traffic over the tile memory's port.
struct CertainWork {
  int64_t cycles = 0;          // without its accesses to the tile memory
  Touched touched;             // without constants
  int64_t constant_bytes = 0;  // bytes that it reads in the tile memory under any policy
  bool all = false;            // whether it reads and makes everything, constants included
};

// Returns a lower bound of the cycles in which the operator, which must read all that a single tile
// needs, reads network inputs in their homes; 0 if it does not read there under every policy.
int64_t LeastCyclesAtHomes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                           const Coverage& coverage, const graph::Operator& op);

// Returns the least cycles of each operator, for any policy: the longer of its other work and its
// use of the port.
std::vector<int64_t> EnginePasses(const hw_profiles::Profile& profile,
                                  std::span<const CertainWork> operators);

// Returns the constants of the interval as one subgraph under `policy`.
SubgraphBounds::Weights FindWeights(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    const std::vector<graph::Usage>& usages,
                                    const Coverage& coverage, hw_profiles::WeightPolicy policy);

// Returns the least cycles of the pass of all operators in a double-buffered subgraph with these
// constants.
int64_t EnginePass(const hw_profiles::Profile& profile, std::span<const CertainWork> operators,
                   const SubgraphBounds::Weights& weights);

// Returns lists of passes, parallel to the operators, of which each takes place in turn: all
// passes, or if engines may work at the same time, those that only one engine may run, for each
// engine, and an equal share of all.
std::vector<std::vector<int64_t>> PassesInTurn(const graph::Graph& graph,
                                               const hw_profiles::Profile& profile,
                                               graph::Interval interval,
                                               std::span<const int64_t> passes);

// Returns a lower bound of the latency of an interval: the sum of the passes, or more if the tile
// memory cannot hold the constants before they are used (latency_bounds.cc). `passes` contains a
// lower bound of the engine cycles of each operator of the interval. Cost: if constants do not fit,
// operators with constants times operators and their operands.
int64_t LatencyWithLateConstants(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                 std::span<const graph::Usage> usages, const Coverage& coverage,
                                 std::span<const int64_t> passes);

}  // namespace tessera::search::cost
