// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"

namespace tessera::audit {

// A network of `operators` operators, of every kind that base::OperatorKind names, on tensors of
// rank 1 to 6: chains, forks, joins, several inputs and outputs, aliased states, constants that
// several operators share, tables, stored sizes, barriers with several results and described
// operators. Extents are small; tensors hold at most graph::kMostRandomElements elements. The
// result is what graph::ReadNetwork reads from the text that graph::WriteNetworkJson writes.
graph::Graph DrawNetwork(base::Random& random, int operators);

}  // namespace tessera::audit
