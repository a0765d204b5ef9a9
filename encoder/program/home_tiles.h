// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/program.h"
#include "tessera/problem/tiled_tensor.h"

namespace tessera::encoder::program {

// Returns the tensors of a home with the tiles in which the subgraphs write and read them, parallel
// to home.tensors (docs/program.md, "Homes by tiles"). Steps are slots: the work of one slot may
// run in any order. The choices cover the network; `home` is one of their BuildHomes. nullopt after
// a stop, or if all tiles together have more than kMostHomeChunks chunks. Cost: one propagation for
// each tile, and the chunks.
inline constexpr size_t kMostHomeChunks = size_t{1} << 21;
std::optional<std::vector<problem::TiledTensor>> TilesAtHome(
    const graph::Graph& graph, const hw_profiles::Profile& profile,
    std::span<const SubgraphChoice> choices, const HomeProblem& home,
    const base::Stop& stop = base::Stop());

}  // namespace tessera::encoder::program
