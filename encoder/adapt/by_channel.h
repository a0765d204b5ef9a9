#pragma once

#include <vector>

#include "tessera/encoder/adapt/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

// Depthwise results in the place of their operands (docs/program.md, "Channel by channel").
namespace tessera::encoder {

// Whether the profile lets the operator work so, and each channel of its result is made of the same channel of its operand.
bool WorksByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const graph::Operator& op);

// Lists in uses.by_channel the operators whose tiles, cut like that, allow it. `uses` are marked for these tiles (MarkCached).
void MarkByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                   const graph::TiledSubgraph& tiling, SubgraphUses& uses);

// Bytes of one channel of the operator's result, in the largest tile.
problem::Bytes ChannelBytes(const graph::Graph& graph, const graph::TiledSubgraph& tiling,
                            const graph::Operator& op);

}  // namespace tessera::encoder
