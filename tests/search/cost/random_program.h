// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/base/random.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// The inputs of a program, drawn at random: weights for a network, a machine, and a choice for each
// subgraph. They may not fit together: BuildProgram may refuse a choice.
namespace tessera::search {

// Weights for most operators that may have them; two operators share some of them.
void DrawWeights(base::Random& random, graph::Graph& graph);

// A link between "dram" and "sram", the tile memory, which is large enough for everything, and one
// engine for operators of every kind; in a few of them a host runs some kinds. Homes, layouts,
// direct access, transfers, pads, scratch and in-place kinds differ; any axis may be cut.
hw_profiles::Profile RandomMachine(base::Random& random);

// Costs differ in their causes: pace, latency, bursts, and starts that other operators hide or do
// not hide.
void DrawPaces(base::Random& random, hw_profiles::Profile& profile);

// Tile and policy of these operators, with no kept tensor; tiles are cut along rows more often than
// along other axes.
encoder::program::SubgraphChoice RandomChoice(base::Random& random, const graph::Graph& graph,
                                              const hw_profiles::Profile& profile,
                                              graph::Interval interval);

// Some boundary tensors of this cut, which stay on chip.
std::vector<int> RandomKept(base::Random& random, const graph::Graph& graph,
                            const hw_profiles::Profile& profile,
                            const std::vector<encoder::program::SubgraphChoice>& choices);

}  // namespace tessera::search
