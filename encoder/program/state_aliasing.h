#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::encoder::program {

// Colocations of states with their next values, where both have a buffer among these and may lie in
// one place. See aliased_states.cc.
std::vector<problem::Relation> AliasedStates(const graph::Graph& graph,
                                             const std::vector<graph::Usage>& usages,
                                             const hw_profiles::Profile& profile,
                                             const std::vector<ProgramBuffer>& buffers);

// The next values that may lie in the place of their states: tensors, ascending. They follow from
// which readers of a state come before the operator that makes its next value, and all else in
// which orders of the operators differ for states follows from them.
std::vector<int> NextInPlace(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                             const hw_profiles::Profile& profile);

// Whether operators run in the order of the graph, or in any.
enum class RunsIn : uint8_t { kGivenOrder, kSomeOrder };

// The axis along which a concatenation's result grows where its first operand lies: a state at home
// in the tile memory whose next value is made in its place, or may be in some order. What lies
// there already is not moved. nullopt for every other operator.
std::optional<size_t> AxisOfGrowth(const graph::Graph& graph,
                                   const std::vector<graph::Usage>& usages,
                                   const hw_profiles::Profile& profile, const graph::Operator& op,
                                   RunsIn runs = RunsIn::kGivenOrder);

}  // namespace tessera::encoder::program
