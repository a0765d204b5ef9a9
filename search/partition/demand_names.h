#pragma once

#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"

// The names by which people demand something of a network: indices, or which name is nearest, in a Diagnostic without position.
namespace tessera::search {

base::Expected<int> LookUpOperator(const graph::Graph& graph, std::string_view id);
base::Expected<int> LookUpTensor(const graph::Graph& graph, std::string_view id);

}  // namespace tessera::search
