// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::encoder::program {

// Whether operators run in the order of the graph, or in any legal order.
enum class RunsIn : uint8_t { kGivenOrder, kSomeOrder };

// Whether the next value `next` of a state may lie in the state's place if both are in the tile
// memory.
bool MayLieInPlace(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                   const hw_profiles::Profile& profile, int next, RunsIn runs);

// Returns colocations of states with their next values, for pairs of which both have a buffer in
// this list and that may share one place. See state_aliasing.cc.
std::vector<problem::Relation> AliasedStates(const graph::Graph& graph,
                                             const std::vector<graph::Usage>& usages,
                                             const hw_profiles::Profile& profile,
                                             const std::vector<BufferUse>& buffers);

// Returns the next values that are in the place of their states: tensors, ascending. The result
// depends on which readers of a state come before the operator that makes its next value. Orders of
// the operators with equal results do not differ in their treatment of states.
std::vector<int> NextInPlace(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                             const hw_profiles::Profile& profile);

// Returns the axis along which a concatenation's result grows in the place of its first operand.
// The operand is a state with its home in the tile memory whose next value is made in its place, or
// may be in some order. The data already in place is not moved. nullopt for every other operator.
std::optional<size_t> AxisOfGrowth(const graph::Graph& graph,
                                   const std::vector<graph::Usage>& usages,
                                   const hw_profiles::Profile& profile, const graph::Operator& op,
                                   RunsIn runs = RunsIn::kGivenOrder);

}  // namespace tessera::encoder::program
