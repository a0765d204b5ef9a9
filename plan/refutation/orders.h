#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tessera/graph/graph.h"

namespace tessera::plan::refutation {

// All orders of the operators in which each comes behind those that make what it reads, the order
// of the file first; nullopt where there are more than `most`. What becomes of a state asks for no
// order here, so some may be orders that no plan can have.
std::optional<std::vector<std::vector<int>>> OrdersOf(const graph::Graph& network, size_t most);

}  // namespace tessera::plan::refutation
