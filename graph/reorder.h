#pragma once

#include <span>
#include <vector>

#include "tessera/graph/graph.h"

// A network may run its operators in any order in which each comes behind those it depends on.
namespace tessera::graph {

// For each operator those that make what it reads, ascending, each once.
std::vector<std::vector<int>> DependenciesOf(const Graph& graph);

// The same network in another order: operator order[i] comes i-th. Tensors keep their indices. The order names each operator once,
// behind those it depends on. Cost: a copy.
Graph Reordered(const Graph& graph, std::span<const int> order);

// The tensors in the order in which files have them: first those that nobody makes, as they stand, then results, operator by operator.
std::vector<int> TensorsByMaker(const Graph& graph);

// The same network with its tensors in that order: tensor tensors[i] gets the number i.
Graph Renumbered(const Graph& graph, std::span<const int> tensors);

}  // namespace tessera::graph
