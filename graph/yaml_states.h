#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/yaml_reader.h"
#include "tessera/graph/graph.h"

namespace tessera::graph {

// States, and under `next` the name that each has in the next run.
using NextValues = std::vector<std::pair<int, base::YamlNode>>;

// Links each state with its next value: the result of an operator, of the state's type, which is that of no other. Complains of
// the first that is not. `tensors` are those with a place in the graph, by name.
void LinkStates(const NextValues& next_values, const std::map<std::string, int>& tensors, Graph& graph);

}  // namespace tessera::graph
