#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/encoder/adapt/program.h"
#include "tessera/encoder/adapt/residence.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// One pass over a tile: steps [begin, end). Vectors are by operator of the subgraph.
struct Pass {
  problem::Step begin = 0;
  problem::Step end = 0;
  std::vector<problem::Step>
      first;  // where the operator starts to write: `compute`, or the begin of its slice loop
  std::vector<problem::Step> compute;  // C_k
};

// The steps of one subgraph within program time. See timeline.cc.
struct Timeline {
  problem::Step begin = 0;
  problem::Step end = 0;
  int64_t tiles = 1;
  std::vector<Pass> passes;                // one for each parity
  std::optional<problem::Loop> tile_loop;  // over tiles, when there are several
  std::vector<problem::Loop> slice_loops;  // over slices, inside one operator; none equals tile_loop
  std::vector<ProgramStep> steps;  // of [begin, end); their transfers belong to the buffers (lifespans.h)

  // dma: overlapped
  std::optional<problem::Step> prologue;
  std::optional<problem::Step> epilogue;

  // dma: own_steps
  std::map<int, problem::Step> loads;                        // by loaded tensor or resident constant
  std::map<int, problem::Step> stores;                       // by stored tensor
  std::map<std::pair<int, int>, problem::Step> slice_loads;  // by operator of the subgraph and constant

  int LastParity() const { return static_cast<int>((tiles - 1) % 2); }
};

// The steps of subgraph number `subgraph` from step `begin` on, when it runs over `tiles` >= 1 tiles.
Timeline LayOut(const graph::Graph& graph, const hw_profiles::Profile& profile, const SubgraphUses& uses,
                int subgraph, int64_t tiles, problem::Step begin);

}  // namespace tessera::encoder
