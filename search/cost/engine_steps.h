// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::search::cost {

// The parts in which the loops of an operator run.
struct Slicing {
  std::optional<int64_t> k_slice;  // the K extent of one slice, with split-k
  bool ignores_groups = false;     // output channels run as if they were of one group
};

// Returns the steps in which an engine makes `output` of the first result of `op`, a sum of
// products (docs/program.md 14.2). This is the product over its loops of ceil(length / unroll),
// where loops that share lanes count as one.
int64_t StepsOf(const graph::Graph& graph, const graph::Operator& op,
                graph::tiling::ExtentsView output, const hw_profiles::Throughput& throughput,
                const Slicing& slicing);

// Returns the steps for one output block of a convolution without groups or of a depthwise
// convolution (docs/program.md, "Output blocks"). Rows and columns share no lanes, except in blocks
// of one row.
int64_t StepsOfBlock(const graph::Graph& graph, const graph::Operator& op,
                     graph::tiling::ExtentsView block, const hw_profiles::Throughput& throughput,
                     const Slicing& slicing);

}  // namespace tessera::search::cost
