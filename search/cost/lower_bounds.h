// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/tile_cost.h"
#include "tessera/search/cost/traffic.h"

// Lower bounds of the costs of an interval of operators and of a network, for any tiling.
namespace tessera::search::cost {

// A lower bound of the cost of the interval for any tile, policy, or partition into several
// subgraphs, if its own boundary tensors are not kept on chip. Counts every MAC that some result
// depends on once at full unroll, moves each boundary tensor and constant once, and moves operands
// and results over the port of the tile memory. peak_bytes and peak_bytes_per_cycle are 0; bound_by
// is empty.
plan::Metrics LowerBound(const graph::Graph& graph, const hw_profiles::Profile& profile,
                         graph::Interval interval);

// The interval as one tile with the whole output: the hull that this tile needs of every tensor,
// and the box within that hull which the tiles of any other tiling cover as well. Graph and usages
// must outlive this object.
class Coverage {
 public:
  Coverage(const graph::Graph& graph, std::span<const graph::Usage> usages,
           graph::Interval interval);

  // The interval as one tile.
  const graph::tiling::TiledSubgraph& Whole() const { return whole_; }

  // Elements along each axis that the single tile needs of a tensor of the interval.
  graph::tiling::ExtentsView NeededOf(int tensor) const;

  bool Inside(int op) const { return whole_.interval.first <= op && op <= whole_.interval.last; }

  // The box that the tiles of an operator together make at least, of its first output, or read at
  // least, of a tensor from outside the interval. nullopt: nothing is certain.
  const std::optional<graph::ops::Box>& MadeBy(int op) const {
    return made_[static_cast<size_t>(op - whole_.interval.first)];
  }
  std::optional<graph::ops::Box> ReadOf(int tensor) const;

  // Whether the tiles together make at least what the single tile makes.
  bool MakesTheHull(int op) const;

  // Whether this operator's tiles make all of its results and together read at least the hulls of
  // its operands, each operand as far as a tile needs it.
  bool ReadsAndMakesAll(int op) const;

 private:
  const graph::Operator& OpAt(int op) const { return graph_->operators[static_cast<size_t>(op)]; }
  bool IsWhole(int tensor, const graph::ops::Box& box) const;
  const graph::ops::Box& HullOf(int tensor) const { return hulls_[SlotOf(tensor)]; }
  std::optional<graph::ops::Box> FindMade(int op) const;
  std::optional<graph::ops::Box> ReadBy(int op, const graph::ops::OperandShapes& shapes,
                                        size_t operand) const;
  size_t SlotOf(int tensor) const;
  bool Leaves(int tensor) const;

  const graph::Graph* graph_;
  std::span<const graph::Usage> usages_;
  graph::tiling::TiledSubgraph whole_;
  std::vector<graph::ops::Box> hulls_;                // of the tensors of the single tile
  std::vector<std::optional<graph::ops::Box>> made_;  // by operator of the interval
};

// The same for the interval as exactly one subgraph, for many sets of kept boundary tensors
// (encoder::Policy::kept). Data that does not depend on these sets is computed once. Without kept
// tensors a bound is at least LowerBound, apart from late constants, and tighter. Graph, profile
// and usages must outlive this object.
class SubgraphBounds {
 public:
  // The work that an operator surely does, without its accesses to the tile memory.
  struct Operator {
    bool is_certain = false;  // otherwise nothing is
    int64_t arithmetic = 0;   // cycles
    int64_t macs = 0;
    double mac_pj = 0;
    bool all = false;            // it reads and makes all, constants included
    int64_t constant_bytes = 0;  // that it reads in the tile memory under any policy, if `all`
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

  plan::Metrics Find(const std::vector<int>& kept, Detail detail = Detail::kParts) const;

 private:
  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const std::vector<graph::Usage>& usages_;
  Coverage coverage_;
  std::vector<char> on_host_;  // by operator
  std::vector<Operator> operators_;
  std::vector<LoadedOnce> constants_;
  std::vector<Weights> weights_;  // allowed by the profile here, each once
};

// A lower bound in bytes of the tile memory that every plan needs.
struct PeakLowerBound {
  problem::Bytes bytes = 0;
  int op = 0;  // the operator that needs them
};

// Every plan has a step that runs the operator whose operands are largest in the smallest tiles,
// together with the constants that are at home in the tile memory. The bound holds for subgraphs of
// any length, tiles of any shape and every policy.
PeakLowerBound FindPeakLowerBound(const graph::Graph& graph, const hw_profiles::Profile& profile);

// Lower bounds of the metrics of every plan of the network. `peak`: the peak's, where it is known.
plan::Metrics FindLowerBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              const PeakLowerBound& peak);
plan::Metrics FindLowerBounds(const graph::Graph& graph, const hw_profiles::Profile& profile);

// A lower bound of what a subgraph needs of the tensors of one operator. It assumes only that the
// subgraph has all operators on the paths from that operator to another one whose result leaves it
// (least_regions.cc).
class LeastRegions {
 public:
  // Whether operators inside the subgraph may read the result that leaves it.
  enum class Result : uint8_t { kOnlyLeaves, kMayBeReadInside };

  // `operators`: ascending; the first is the operator in question, the last makes the result that
  // leaves, all others are between them. `usages` are those of the graph; `whole` is its
  // propagation. All must outlive this object.
  LeastRegions(const graph::Graph& graph, std::span<const graph::Usage> usages,
               const graph::tiling::Propagation& whole, const hw_profiles::Profile& profile,
               std::span<const int> operators, Result result);

  // Whether tiles of such a subgraph may keep rows for the next ones.
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

  // The asks on which the region of the operator's result depends, and their outputs, as slots.
  void FindPathsToResult();
  // Whether anything of the operator's result is needed, by such asks alone; `request` sets the
  // region of a slot before. Other regions are arbitrary.
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
