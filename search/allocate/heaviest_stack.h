// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"

namespace tessera::search::allocate {

// Buffers by position, and for each the positions of those that it conflicts with, ascending.
struct StackGraph {
  std::span<const problem::Bytes> sizes;
  std::span<const std::vector<size_t>> near;
  // A member of a stack, except the topmost, takes its size rounded up to a multiple of this.
  problem::Bytes granularity = 1;
};

// Returns the bytes that a stack of these buffers needs at least: the padded sizes less the
// greatest padding, as the topmost buffer is unknown.
problem::Bytes LoadOfStack(const StackGraph& graph, std::span<const size_t> stack);

// Returns the stack (pairwise in conflict) with the greatest load. Positions ascend. The result is
// empty if no load exceeds `known`. After 10 million visits (some 50 ms) or a stop, the result is
// the best stack so far, which need not be the heaviest. The stop may be nullptr. Without a stop
// the result depends on the arguments alone.
std::vector<size_t> FindHeaviestStack(const StackGraph& graph, problem::Bytes known,
                                      const base::Stop* stop);

}  // namespace tessera::search::allocate
