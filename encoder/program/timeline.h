// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::program {

// One pass over a tile: steps [begin, end). Vectors are by operator of the subgraph.
struct Pass {
  problem::Step begin = 0;
  problem::Step end = 0;
  // The step at which the operator starts to write: `compute`, or the begin of its slice loop.
  std::vector<problem::Step> first;
  std::vector<problem::Step> compute;     // C_k
  std::map<int, problem::Step> restores;  // R_k, by operator
  std::map<int, problem::Step> saves;     // S_k, by operator
};

// The largest number of tiles whose double-buffered passes are laid out one after another. More
// tiles run in a loop of two passes.
inline constexpr int64_t kMostStraightTiles = 3;

// The steps of one subgraph within program time. See timeline.cc.
struct Timeline {
  problem::Step begin = 0;
  problem::Step end = 0;
  int64_t slots = 1;         // tiles; one more if there are two stages
  std::vector<Pass> passes;  // pass q runs tiles of phase q mod 2; a second stage the tile before
  std::optional<problem::Loop> tile_loop;  // over tiles, if there are several
  // over slices, inside one operator; none equals tile_loop
  std::vector<problem::Loop> slice_loops;
  // of [begin, end); subgraph_buffers.cc enters the transfers of the buffers
  std::vector<StepUse> steps;

  // dma: double-buffered
  std::optional<problem::Step> prologue;
  std::optional<problem::Step> epilogue;

  // dma: serialized
  std::map<int, problem::Step> loads;   // by loaded tensor or resident constant
  std::map<int, problem::Step> stores;  // by stored tensor
  // by operator of the subgraph and operand
  std::map<std::pair<int, int>, problem::Step> slice_loads;

  size_t Phases() const { return std::min<size_t>(2, passes.size()); }

  // The pass of the last slot.
  size_t LastPass() const { return static_cast<size_t>(slots - 1) % passes.size(); }

  // The passes directly before and after pass q; nullptr if there is none.
  const Pass* Before(size_t q) const;
  const Pass* After(size_t q) const;
};

// The steps of subgraph number `subgraph`, which begins at step `begin` and runs over `tiles` >= 1
// tiles.
Timeline LayOut(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const SubgraphUses& uses, int subgraph, int64_t tiles, problem::Step begin);

}  // namespace tessera::encoder::program
