// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"

// Boxes of tensors that every plan makes and reads, under every order, cut, tile and policy.
namespace tessera::plan::verify::infeasibility {

using Boxes = std::vector<std::optional<Box>>;

// By tensor, a box that every plan makes or reads in full, because all of it reaches an output of
// the network; nullopt: none is known.
Boxes FindNeeded(const graph::Graph& network, const std::vector<Users>& users);

// The box of the operand that is read without gaps for that box of the result; nullopt if gaps are
// possible, if nothing is read, or if an axis is too long to visit.
std::optional<Box> ReadWithoutGaps(const graph::Graph& network, const graph::Operator& op,
                                   size_t operand, const Box& made);

// The hull of two boxes if it contains no other elements than theirs; otherwise the larger box.
Box Joined(const Box& a, const Box& b);

}  // namespace tessera::plan::verify::infeasibility
