#pragma once

#include <optional>
#include <span>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// Whether the memories outside the tile memory hold what is at home there (docs/program.md, "Homes have a capacity").
namespace tessera::encoder {

// The first overflow of such a memory while one of the subgraphs runs: which memory, which operators, how many bytes and for
// how many there is room; or nullopt. The choices are consecutive; where they cover a part of the network, only tensors that
// they touch or that pass over them count. Cost: linear in tensors and subgraphs, plus the subgraphs that each tensor stays.
std::optional<base::Diagnostic> FindHomeOverflow(const graph::Graph& graph,
                                                 const hw_profiles::Profile& profile,
                                                 std::span<const SubgraphChoice> choices);

// An overflow by constants and state alone, which no partition can avoid; or nullopt.
std::optional<base::Diagnostic> FindConstantOverflow(const graph::Graph& graph,
                                                     const hw_profiles::Profile& profile);

}  // namespace tessera::encoder
