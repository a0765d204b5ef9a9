// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// The rule of docs/program.md, "Several homes", in a third implementation. It is for networks of a
// few operators and as simple as possible.
namespace tessera::audit {

// The home of each tensor that is not a feature: indices into Profile::memories, by tensor.
std::vector<int> HomesByRule(const graph::Graph& network, const hw_profiles::Profile& profile);

// Whether some state is at home outside the tile memory.
bool HasStatesElsewhere(const graph::Graph& network, const hw_profiles::Profile& profile);

// The network with its tensors in those homes.
graph::Graph AtHome(graph::Graph network, const hw_profiles::Profile& profile);

// The home that graph::Tensor::home states.
int StatedHome(const graph::Tensor& tensor, const hw_profiles::Profile& profile);

}  // namespace tessera::audit
