#pragma once

#include <vector>

#include "tessera/base/random.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// What a program is made of, drawn at random: weights for a network, a machine, and a choice for
// each subgraph. Not all of it fits together: a choice may be one that BuildProgram refuses.
namespace tessera::search {

// Weights for most operators that may have them; some are used by two.
void DrawWeights(base::Random& random, graph::Graph& graph);

// A link between "dram" and "sram", which has room for everything and where tiles live, and one
// engine for operators of every kind. Homes, layouts, what is read or written directly, transfers,
// pads, scratch and what may lie in place differ; any axis may be cut.
hw_profiles::Profile RandomMachine(base::Random& random);

// Costs differ by what they are made of: pace, latency, bursts, and starts that hide behind others
// or do not.
void DrawPaces(base::Random& random, hw_profiles::Profile& profile);

// Tile and policy of these operators, with nothing kept; tiles are cut along rows more often than
// along other axes.
encoder::program::SubgraphChoice RandomChoice(base::Random& random, const graph::Graph& graph,
                                              const hw_profiles::Profile& profile,
                                              graph::Interval interval);

// Some boundary tensors of this cut, which stay on chip.
std::vector<int> RandomKept(base::Random& random, const graph::Graph& graph,
                            const hw_profiles::Profile& profile,
                            const std::vector<encoder::program::SubgraphChoice>& choices);

}  // namespace tessera::search
