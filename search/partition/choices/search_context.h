// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/tiling/candidate_search.h"

// The influence of a previous plan, perhaps of a network that has changed since: among plans with
// equal score, the search selects the one that differs least from it.
//
//    old   | a b | c d | e |       Operators and their tensors correspond if they have the same id
//    new   | a b | c D | e f |     and are equal otherwise. A subgraph of the old plan still exists
//                                  if all its operators do, as neighbours: here a..b and e.
namespace tessera::search::partition::choices {

class EqualIntervals;

class PreviousPlan {
 public:
  // The object keeps no references to its arguments.
  PreviousPlan(const plan::Plan& old, const graph::Graph& graph,
               const hw_profiles::Profile& profile);

  // TileOf and PolicyOf return the tile and the policy of the interval as a subgraph of the old
  // plan; nullptr if it was not one, or its operators have changed.
  const graph::tiling::TileShape* TileOf(graph::Interval interval) const;
  const encoder::program::Policy* PolicyOf(graph::Interval interval) const;

  // LeastChange and ChangeOf return the number of operators that run differently from the old plan
  // if the interval becomes a subgraph: 0, or all its operators. LeastChange: the minimum over all
  // tiles and policies with exactly these kept boundary tensors. ChangeOf: for this tile and
  // policy.
  double LeastChange(graph::Interval interval, const std::vector<int>& kept) const;
  double ChangeOf(const encoder::program::SubgraphChoice& choice) const;

  // Returns the old addresses of the buffers of one subgraph; nullopt unless the subgraph has the
  // same tile and policy as in the old plan, and every buffer existed there.
  std::optional<std::vector<problem::Bytes>> OffsetsOf(
      const encoder::program::SubgraphChoice& choice,
      std::span<const encoder::program::BufferUse> buffers) const;

  // Gives buffers of the program, or tensors at home, that also exist in the old plan their old
  // addresses as hints.
  void AddHints(std::span<const encoder::program::SubgraphChoice> choices,
                encoder::program::Program& program) const;
  void AddHints(encoder::program::HomeProblem& home) const;

  // Returns a sentence about the parts that a plan of the same network has kept: "previous plan: 3
  // of 4 subgraphs, ... are kept".
  std::string Compare(const plan::Plan& plan) const;

 private:
  struct Before {
    graph::tiling::TileShape tile;
    // Kept: those of the boundary tensors that cross the ends of the interval.
    encoder::program::Policy policy;
    std::vector<int> prefetch;
    int subgraph = 0;  // its number in the old plan
  };

  const Before* Find(graph::Interval interval) const;
  std::vector<int> Crossing(graph::Interval interval, const std::vector<int>& kept) const;
  void TakeSubgraphs(const plan::Plan& old, const graph::Graph& graph,
                     const hw_profiles::Profile& profile);
  void TakeAddresses(const plan::Plan& old);
  std::optional<problem::Bytes> AddressOf(std::span<const graph::Interval> intervals,
                                          graph::BufferUse use) const;

  std::vector<graph::Usage> usages_;              // of the new network
  std::vector<int> tensors_;                      // by old index: the new one, or -1
  std::vector<int> operators_;                    // by old index: the new one, or -1
  std::map<std::pair<int, int>, Before> before_;  // by first and last operator
  std::map<graph::BufferUse, problem::Bytes> addresses_;
  std::map<std::pair<std::string, std::string>, problem::Bytes> at_home_;  // by memory and tensor
  size_t subgraphs_ = 0;  // the number of subgraphs of the old plan
  size_t placed_ = 0;     // the number of its addresses
};

// The data shared by the parts of one search over partitions. All of it must outlive them.
struct SearchContext {
  const graph::Graph& graph;
  const hw_profiles::Profile& profile;
  const cost::Simulator& simulator;
  const cost::Scale& scale;
  const base::Stop& stop;
  tiling::Engines engines;
  // The same engines, perhaps with a cache (engine_cache.h), for queries about single subgraphs.
  tiling::Engines tile_engines;
  base::Budget budget;  // for each query to an engine, except for single operators and whole plans
  const PreviousPlan* previous = nullptr;  // set if the result should be close to a previous plan
  // The profile without the axes that are cut later, or nullptr if there are none.
  const hw_profiles::Profile* first_axes = nullptr;
  const EqualIntervals* equal_intervals = nullptr;  // nullptr: no prices are shared
  // nullptr if the objective does not use the off-chip peak
  const encoder::program::BytesAtHomes* at_homes = nullptr;

  // Work that engines may do for results that every plan needs, however small the budget.
  static constexpr int64_t kLeastBudget = 20'000;
  base::Budget LeastBudget() const { return {std::max(budget.units, kLeastBudget)}; }

  const hw_profiles::Memory& TileMemory() const {
    return profile.memories[static_cast<size_t>(profile.tile_memory)];
  }

  // Bytes of the tile memory that a plan may use: all, or up to a limit on the peak.
  problem::Bytes Room() const {
    const problem::Bytes capacity = TileMemory().capacity_bytes;
    if (!scale.LimitsPeak() || scale.PeakLimit() >= static_cast<double>(capacity)) return capacity;
    return static_cast<problem::Bytes>(scale.PeakLimit());
  }

  // The cost of a choice. The peak of a choice fits, so it counts only if it has a weight.
  cost::Cost CostOf(const plan::Metrics& metrics) const {
    cost::Cost cost = scale.CostOf(metrics);
    cost.maxima[cost::kPeakMaximum] = PeakCostOf(metrics.peak_bytes);
    return cost;
  }

  // The contribution of the peak to the cost of a choice.
  double PeakCostOf(problem::Bytes peak) const {
    return scale.MinimizesPeak() ? static_cast<double>(peak) : 0;
  }

  // Places the Problem in Room() by the engines; with `minimize`, as low as possible.
  base::Expected<problem::Result> Place(const problem::Problem& problem, bool minimize,
                                        const base::Budget& query_budget,
                                        const base::Stop& query_stop) const;

  bool LooksAtPeak() const { return scale.MinimizesPeak() || scale.LimitsPeak(); }
};

}  // namespace tessera::search::partition::choices
