#pragma once

#include <map>
#include <span>
#include <string>

#include "tessera/graph/graph.h"
#include "tessera/graph/yaml_draft.h"

namespace tessera::graph {

// Gives each operator the constants that its entry names under `weights`, or the weight of its own, which is called "<id>.weights".
// `drafts` are parallel to the graph's operators, `index_of` knows all its tensors. Complains of names that are no weights, and of weights that do
// not fit; stops at the first.
void ConnectWeights(std::span<const OperatorDraft> drafts, const std::map<std::string, int>& index_of,
                    Graph& graph);

}  // namespace tessera::graph
