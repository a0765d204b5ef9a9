// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/simulator.h"

// Costs of a plan by simulation.
namespace tessera::search::cost {

// Convert a subgraph of a plan to the types of the encoder. `kept` contains the boundary tensors
// kept on chip.
encoder::program::Policy PolicyOf(const plan::Subgraph& subgraph, const std::vector<int>& kept);
encoder::program::SubgraphChoice ChoiceOf(const plan::Subgraph& subgraph,
                                          const std::vector<int>& kept);
std::vector<encoder::program::SubgraphChoice> ChoicesOf(std::span<const plan::Subgraph> subgraphs,
                                                        const std::vector<int>& kept);

// Returns the cost of subgraph `number`, given all subgraphs and the boundary tensors kept on chip.
// The peaks are not computed; they are 0. The network and the profile are those of the simulator.
plan::Metrics PriceOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const Simulator& simulator, std::span<const plan::Subgraph> subgraphs,
                      size_t number, const std::vector<int>& kept);

// Returns the off-chip peak of each subgraph.
std::vector<problem::Bytes> OffChipPeaksOf(const graph::Graph& graph,
                                           const hw_profiles::Profile& profile,
                                           std::span<const plan::Subgraph> subgraphs,
                                           const std::vector<int>& kept);

// Returns whether two scores or energies differ by rounding only: by at most 1e-12 of their value,
// and by at most 0.25.
bool IsSamePrice(double a, double b);

// Returns the differences between metrics, part by part, as texts such as "states cycles of 1 where
// a simulation gives 2".
std::vector<std::string> FindDifferences(const plan::Metrics& stated,
                                         const plan::Metrics& expected);

// Checks the metrics of subgraphs and their totals against a simulation, the lower bounds against
// those of lower_bounds.h, and the score against the objective. Returns all violations. Does not
// check the peaks of the placement, which plan::Validate checks. plan::Validate must accept the
// plan. Cost: a simulation of every tile.
std::vector<plan::verify::Violation> FindMispriced(const plan::Plan& plan);

}  // namespace tessera::search::cost
