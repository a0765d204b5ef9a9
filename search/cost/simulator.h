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

// What subgraphs cost when they run as docs/program.md says.
namespace tessera::search::cost {

// What one subgraph costs, tile by tile: an event timeline of the engine and the DMA links, tiles
// counted with their exact clipped sizes. peak_bytes is left 0: it belongs to a placement. The
// choice must be one that encoder::BuildProgram accepts.
plan::Metrics Simulate(const graph::Graph& graph, const hw_profiles::Profile& profile,
                       const graph::tiling::TiledSubgraph& tiling,
                       const encoder::program::Policy& policy, const Ahead& ahead = {});

// Of one subgraph.
struct ClassCosts {
  TileCosts subgraph;
  std::vector<TileCost> tiles;  // parallel to TiledSubgraph::classes
};

// The same for many subgraphs of one network. Safe to share between threads. Graph and profile
// outlive it.
class Simulator {
 public:
  Simulator(const graph::Graph& graph, const hw_profiles::Profile& profile);

  plan::Metrics Run(const graph::tiling::TiledSubgraph& tiling,
                    const encoder::program::Policy& policy, Detail detail = Detail::kParts,
                    const Ahead& ahead = {}) const;

  // What each class of tiles costs under the policy; and the rest of a run, for any policy that
  // differs in its weights alone, none or both being direct. The tiling is the same, and what it
  // refers to outlives the costs. Where a stop is requested they are incomplete, and of no use.
  ClassCosts CostsOf(const graph::tiling::TiledSubgraph& tiling,
                     const encoder::program::Policy& policy,
                     const base::Stop* stop = nullptr) const;
  plan::Metrics Run(const graph::tiling::TiledSubgraph& tiling, const ClassCosts& costs,
                    hw_profiles::WeightPolicy weights, Detail detail, const Ahead& ahead = {},
                    const base::Stop* stop = nullptr) const;

  // From the costs of tiles that keep rows in rolling buffers to those of the same tiles that copy
  // them.
  static void AddCopies(const graph::tiling::TiledSubgraph& tiling, ClassCosts& costs);

  const std::vector<graph::Usage>& Usages() const { return usages_; }

 private:
  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  std::vector<graph::Usage> usages_;
  std::vector<int64_t> whole_macs_;  // of each operator's whole output
};

// Costs that no tile or policy can undercut for the interval, nor any partition of it into several
// subgraphs, where its own boundary tensors are not kept on chip: every MAC that some result
// depends on once at full unroll, each boundary tensor and constant moved once. peak_bytes and
// peak_bytes_per_cycle are 0, bound_by is empty.
plan::Metrics LowerBound(const graph::Graph& graph, const hw_profiles::Profile& profile,
                         graph::Interval interval);

// The same for the interval as one subgraph alone, where these boundary tensors are kept
// (encoder::Policy::kept). Where none are, no less than LowerBound, and closer.
plan::Metrics SubgraphBound(const graph::Graph& graph, const hw_profiles::Profile& profile,
                            graph::Interval interval, const std::vector<int>& kept = {});

}  // namespace tessera::search::cost
