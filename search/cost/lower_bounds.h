// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/search/cost/certain_traffic.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/coverage.h"
#include "tessera/search/cost/tile_cost.h"
#include "tessera/search/cost/traffic.h"

// Lower bounds of the costs of an interval of operators and of a network, for any tiling. They are
// implemented in lower_bounds.cc and peak_lower_bound.cc. The second, independent derivation is in
// plan/verify/infeasibility/.
namespace tessera::search::cost {

// Returns a lower bound of the cost of the interval for any tile, policy, or partition into several
// subgraphs, if the boundary tensors of the interval are not kept on chip. Counts every MAC that
// some result depends on once at full unroll, moves each boundary tensor and constant once, and
// moves operands and results over the port of the tile memory, or network inputs that engines read
// in their home over its port. peak_bytes and peak_bytes_per_cycle are 0; bound_by is empty.
plan::Metrics LowerBound(const graph::Graph& graph, const hw_profiles::Profile& profile,
                         graph::Interval interval);

// Lower bounds of the cost of an interval as exactly one subgraph, for many sets of kept boundary
// tensors (encoder::program::Policy::kept). Data that does not depend on these sets is computed
// once. Without kept tensors, a bound is at least LowerBound, apart from late constants, and
// usually tighter. Graph, profile and usages must outlive this object.
class SubgraphBounds {
 public:
  // The work that an operator certainly does, without its accesses to the tile memory.
  struct Operator {
    bool is_certain = false;  // otherwise no other member is valid
    int64_t cycles = 0;       // of arithmetic, or of reads in the homes of network inputs
    int64_t macs = 0;
    double mac_pj = 0;
    bool all = false;            // it reads and makes everything, constants included
    int64_t constant_bytes = 0;  // bytes read in the tile memory under any policy, if `all`
  };

  // The constants under one weight policy: their costs, and the cycles of those that arrive before
  // the pass, by home.
  struct Weights {
    hw_profiles::WeightPolicy policy = hw_profiles::WeightPolicy::kResident;
    TileCosts costs;
    std::vector<int64_t> arriving;
  };

  SubgraphBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 const std::vector<graph::Usage>& usages, graph::Interval interval);

  // Returns those of the kept tensors on which the bound depends.
  std::vector<int> Touched(std::span<const int> kept) const { return coverage_.Touched(kept); }

  // Returns the bound with these kept tensors.
  plan::Metrics Find(const std::vector<int>& kept, Detail detail = Detail::kParts) const;

 private:
  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const std::vector<graph::Usage>& usages_;
  Coverage coverage_;
  std::vector<char> on_host_;  // by operator
  std::vector<Operator> operators_;
  CertainTraffic::Parts spilled_;  // with no boundary tensor kept
  CertainTraffic::Parts kept_;     // with all of them kept
  std::vector<LoadedOnce> constants_;
  std::vector<Weights> weights_;  // allowed by the profile here, each once
};

// A lower bound of the bytes of tile memory that every plan needs.
struct PeakLowerBound {
  problem::Bytes bytes = 0;
  int op = 0;  // the operator that needs them
};

// Returns the greatest need of an operator: its operands in the smallest tiles, together with the
// constants whose home is the tile memory. Every plan has a step that runs this operator, so the
// bound holds for subgraphs of any length, tiles of any shape and every policy.
PeakLowerBound FindPeakLowerBound(const graph::Graph& graph, const hw_profiles::Profile& profile);

// Returns lower bounds of the metrics of every plan of the network. Without `peak`,
// FindPeakLowerBound computes it.
plan::Metrics FindLowerBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              const PeakLowerBound& peak);
plan::Metrics FindLowerBounds(const graph::Graph& graph, const hw_profiles::Profile& profile);

// A lower bound of the regions that a subgraph needs of the tensors of one operator. It assumes
// only that the subgraph contains all operators on the paths from that operator to another one
// whose result leaves the subgraph (least_regions.cc).
class LeastRegions {
 public:
  // Whether operators inside the subgraph may read the result that leaves it.
  enum class Result : uint8_t { kOnlyLeaves, kMayBeReadInside };

  // `operators` ascend; the first is the operator in question, the last makes the result that
  // leaves, and all others are between them. `usages` are those of the graph, and `whole` is its
  // propagation. All arguments must outlive this object.
  LeastRegions(const graph::Graph& graph, std::span<const graph::Usage> usages,
               const graph::tiling::Propagation& whole, const hw_profiles::Profile& profile,
               std::span<const int> operators, Result result);

  // Returns whether tiles of such a subgraph may keep rows for the next tiles.
  bool MayKeepRows() const;

  // A lower bound of the extent of buffers along each axis, in elements, for each tensor of the
  // operators; all 0 if nothing is certain.
  struct Extents {
    const graph::tiling::Propagation* propagation = nullptr;
    std::vector<graph::ops::Extent> regions;

    graph::tiling::Extents Of(int tensor) const;
  };
  Extents WhereRowsAreRecomputed() const;
  Extents WhereRowsAreKept() const;

 private:
  using Regions = std::vector<graph::ops::Extent>;

  // Finds the asks on which the region of the operator's result depends, and the slots of their
  // outputs.
  void FindPathsToResult();
  // Returns whether some of the operator's result is needed by these asks, after `request` has set
  // the region of a slot. Regions of other slots are arbitrary.
  template <typename Request>
  bool IsNeededFor(Regions& regions, const Request& request) const;

  std::span<graph::ops::Extent> RegionOf(Regions& regions, size_t slot) const;
  bool IsNeeded(Regions& regions) const;
  Regions TileOf(std::span<const base::Axis> cut) const;
  Regions FollowOneWay(const Regions& tile, bool carefully) const;
  bool TakeOneRow(size_t slot, bool carefully, graph::ops::Box& region) const;

  const hw_profiles::Profile& profile_;
  graph::tiling::Propagation propagation_;
  size_t result_;                // slot of the operator's result
  std::vector<base::Axis> cut_;  // axes along which the result that leaves may be cut
  std::vector<size_t> asks_to_result_;
  std::vector<size_t> slots_to_result_;  // ascending, with the result itself
};

}  // namespace tessera::search::cost
