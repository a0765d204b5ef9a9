// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/graph/graph.h"

// What a network computes, whatever its operators are: two networks with the same dependencies
// differ in functions and values of constants only. Like the oracle of regions, it compares every
// pair of elements, so it is for small tensors.
namespace tessera::graph {

// The id of a tensor and an element of it, row-major.
using Element = std::pair<std::string, int64_t>;

// For each element of each tensor that leaves the network (outputs and next states), by the
// tensors' ids: the elements of inputs and states that it depends on.
using ElementDependencies = std::map<std::string, std::vector<std::set<Element>>>;
ElementDependencies ElementDependenciesOf(const Graph& graph);

}  // namespace tessera::graph
