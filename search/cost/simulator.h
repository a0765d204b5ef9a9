// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/output_blocks.h"
#include "tessera/search/cost/stage_slots.h"
#include "tessera/search/cost/tile_cost.h"

// The costs of subgraphs that run as docs/program.md defines.
namespace tessera::search::cost {

// The costs of the tile classes of one subgraph.
struct ClassCosts {
  TileCosts subgraph;
  std::vector<TileCost> tiles;  // parallel to TiledSubgraph::classes
  StageSlots stages;            // empty if there is one stage
};

// Computes the cost of a subgraph tile by tile: an event timeline of the engine and the DMA links,
// with tiles of their exact clipped sizes. peak_bytes stays 0, because it depends on a placement.
// encoder::program::BuildProgram must accept the choice. Thread-safe. Graph and profile must
// outlive this object.
class Simulator {
 public:
  Simulator(const graph::Graph& graph, const hw_profiles::Profile& profile);

  plan::Metrics Run(const graph::tiling::TiledSubgraph& tiling,
                    const encoder::program::Policy& policy, Detail detail = Detail::kParts,
                    const Prefetches& prefetches = {}) const {
    return Run(tiling, CostsOf(tiling, policy), policy, detail, prefetches);
  }

  // CostsOf returns the cost of each class of tiles under the policy. Run completes it, for the
  // same policy or one that differs only in its weights, if none or both are direct, and in whether
  // it is serialized. The tiling must be the same and must outlive the costs. If a stop is
  // requested, the costs are incomplete and must not be used.
  ClassCosts CostsOf(const graph::tiling::TiledSubgraph& tiling,
                     const encoder::program::Policy& policy,
                     const base::Stop* stop = nullptr) const;
  plan::Metrics Run(const graph::tiling::TiledSubgraph& tiling, const ClassCosts& costs,
                    const encoder::program::Policy& policy, Detail detail,
                    const Prefetches& prefetches = {}, const base::Stop* stop = nullptr) const;

  // Returns the times of a subgraph with `prefetch`, as Run, without constants of later ones.
  PortTimes PortsOf(const graph::tiling::TiledSubgraph& tiling, const ClassCosts& costs,
                    const encoder::program::Policy& policy, const std::vector<int>& prefetch) const;

  // Converts the costs of tiles that keep rows in rolling buffers to those of the same tiles that
  // copy rows.
  static void AddCopies(const graph::tiling::TiledSubgraph& tiling, ClassCosts& costs);

  const std::vector<graph::Usage>& Usages() const { return usages_; }

 private:
  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  std::vector<graph::Usage> usages_;
  std::vector<int64_t> whole_macs_;  // of the whole output of each operator
  mutable BlockChoices blocks_;
};

}  // namespace tessera::search::cost
