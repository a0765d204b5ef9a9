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
#include "tessera/search/cost/tile_cost.h"

// The costs of subgraphs that run as docs/program.md defines.
namespace tessera::search::cost {

// The cost of one subgraph, tile by tile: an event timeline of the engine and the DMA links, with
// tiles of their exact clipped sizes. peak_bytes is left 0: it depends on a placement.
// encoder::BuildProgram must accept the choice.
plan::Metrics Simulate(const graph::Graph& graph, const hw_profiles::Profile& profile,
                       const graph::tiling::TiledSubgraph& tiling,
                       const encoder::program::Policy& policy, const Ahead& ahead = {});

// The costs of the tile classes of one subgraph.
struct ClassCosts {
  TileCosts subgraph;
  std::vector<TileCost> tiles;  // parallel to TiledSubgraph::classes
};

// The same for many subgraphs of one network. Thread-safe. Graph and profile must outlive this
// object.
class Simulator {
 public:
  Simulator(const graph::Graph& graph, const hw_profiles::Profile& profile);

  plan::Metrics Run(const graph::tiling::TiledSubgraph& tiling,
                    const encoder::program::Policy& policy, Detail detail = Detail::kParts,
                    const Ahead& ahead = {}) const;

  // CostsOf gives the cost of each class of tiles under the policy. Run completes it, for any
  // policy that differs only in its weights, if none or both are direct. The tiling must be the
  // same and must outlive the costs. If a stop is requested, the costs are incomplete and must not
  // be used.
  ClassCosts CostsOf(const graph::tiling::TiledSubgraph& tiling,
                     const encoder::program::Policy& policy,
                     const base::Stop* stop = nullptr) const;
  plan::Metrics Run(const graph::tiling::TiledSubgraph& tiling, const ClassCosts& costs,
                    hw_profiles::WeightPolicy weights, Detail detail, const Ahead& ahead = {},
                    const base::Stop* stop = nullptr) const;

  // Converts the costs of tiles that keep rows in rolling buffers to those of the same tiles that
  // copy rows.
  static void AddCopies(const graph::tiling::TiledSubgraph& tiling, ClassCosts& costs);

  const std::vector<graph::Usage>& Usages() const { return usages_; }

 private:
  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  std::vector<graph::Usage> usages_;
  std::vector<int64_t> whole_macs_;  // of the whole output of each operator
};

// A lower bound of the cost of the interval for any tile, policy, or partition into several
// subgraphs, if its own boundary tensors are not kept on chip. Counts every MAC that some result
// depends on once at full unroll, and moves each boundary tensor and constant once. peak_bytes and
// peak_bytes_per_cycle are 0; bound_by is empty.
plan::Metrics LowerBound(const graph::Graph& graph, const hw_profiles::Profile& profile,
                         graph::Interval interval);

// The same for the interval as exactly one subgraph with these kept boundary tensors
// (encoder::Policy::kept). Without kept tensors it is at least LowerBound, and tighter.
plan::Metrics SubgraphBound(const graph::Graph& graph, const hw_profiles::Profile& profile,
                            graph::Interval interval, const std::vector<int>& kept = {});

}  // namespace tessera::search::cost
