#pragma once

#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// The rule of docs/program.md, "Several homes", a third time: for networks of a few operators, as
// plainly as it can be put.
namespace tessera::audit {

// The home of each tensor where it is no feature: indices into Profile::memories, by tensor.
std::vector<int> HomesByRule(const graph::Graph& network, const hw_profiles::Profile& profile);

// The network with its tensors in those homes.
graph::Graph AtHome(graph::Graph network, const hw_profiles::Profile& profile);

// The home that graph::Tensor::home says.
int StatedHome(const graph::Tensor& tensor, const hw_profiles::Profile& profile);

}  // namespace tessera::audit
