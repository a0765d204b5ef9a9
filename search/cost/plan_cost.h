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

// A subgraph as a plan states it, in the encoder's words.
namespace tessera::search::cost {

// Where these boundary tensors are kept on chip.
encoder::program::Policy PolicyOf(const plan::Subgraph& subgraph, const std::vector<int>& kept);
encoder::program::SubgraphChoice ChoiceOf(const plan::Subgraph& subgraph,
                                          const std::vector<int>& kept);

// What a simulation and bounds make of a plan.

// Below these no plan of the network stays.
plan::Metrics FindLowerBounds(const graph::Graph& graph, const hw_profiles::Profile& profile);

// What the subgraph of that number costs as all are cut where these boundary tensors are kept on
// chip, but for the peak, which is 0. The network and the profile are the simulator's.
plan::Metrics PriceOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const Simulator& simulator, std::span<const plan::Subgraph> subgraphs,
                      size_t number, const std::vector<int>& kept);

// Whether two scores, or two energies, differ by rounding alone: by 1e-12 of them at most, and by
// less than any change of a digit before the point.
bool IsSamePrice(double a, double b);

// Where metrics are not as they should be, part by part: "states cycles of 1 where a simulation
// gives 2".
std::vector<std::string> FindDifferences(const plan::Metrics& stated,
                                         const plan::Metrics& expected);

// Where the metrics of subgraphs, their totals or the lower bounds are not as a simulation and the
// bounds give them, or the score not as the objective makes it of them; peaks of the placement
// apart, which plan::Validate finds. The plan is one that it accepts. Cost: that of a simulation of
// every tile.
std::vector<plan::verify::Violation> FindMispriced(const plan::Plan& plan);

}  // namespace tessera::search::cost
