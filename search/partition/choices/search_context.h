#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/tiling/candidate_search.h"

// What an older plan, perhaps of a network that has changed since, tells a search: among plans that
// score alike the one that differs least from it is wanted.
//
//     old   | a b | c d | e |          operators and their tensors are the same by id and in all else; a subgraph of
//     new   | a b | c D | e f |        the old plan is still there if all its operators are, as neighbours: here a..b, e
namespace tessera::search::partition::choices {

class PreviousPlan {
 public:
  // Refers to nothing afterwards.
  PreviousPlan(const plan::Plan& old, const graph::Graph& graph);

  // The tile that the interval was a subgraph with; nullptr where it was none, or its operators
  // have changed.
  const graph::tiling::TileShape* TileOf(graph::Interval interval) const;
  const encoder::program::Policy* PolicyOf(graph::Interval interval) const;  // likewise

  // How many operators a plan has elsewhere than before if the interval becomes a subgraph while
  // just these boundary tensors are kept on chip: none or all of its own; as little as is possible,
  // and with this tile and policy.
  double LeastChange(graph::Interval interval, const std::vector<int>& kept) const;
  double ChangeOf(const encoder::program::SubgraphChoice& choice) const;

  // Gives the buffers of the program that the old plan has too their old addresses as hints, and
  // likewise tensors at home.
  void AddHints(std::span<const encoder::program::SubgraphChoice> choices,
                encoder::program::Program& program) const;
  void AddHints(encoder::program::HomeProblem& home) const;

  // What a plan of the same network has kept of it: "of the plan before 3 of 4 subgraphs, ...
  // stayed"
  std::string Compare(const plan::Plan& plan) const;

 private:
  struct Before {
    graph::tiling::TileShape tile;
    encoder::program::Policy
        policy;  // kept: of the boundary tensors that cross the interval's ends
    bool prefetch = false;
    int subgraph = 0;  // its number in the old plan
  };

  // What a buffer holds, in indices of the new network; subgraphs are those of the old plan.
  using Key = std::tuple<int, int, int, int, int, int>;

  const Before* Find(graph::Interval interval) const;
  std::vector<int> Crossing(graph::Interval interval, const std::vector<int>& kept) const;
  void TakeSubgraphs(const plan::Plan& old, const graph::Graph& graph);
  void TakeAddresses(const plan::Plan& old);
  std::optional<problem::Bytes> AddressOf(std::span<const graph::Interval> intervals, int kind,
                                          int subgraph, int tensor, int op, int phase,
                                          int slot) const;

  std::vector<graph::Usage> usages_;              // of the new network
  std::vector<int> tensors_;                      // by old index: the new one, or -1
  std::vector<int> operators_;                    // likewise
  std::map<std::pair<int, int>, Before> before_;  // by first and last operator
  std::map<Key, problem::Bytes> addresses_;
  std::map<std::pair<std::string, std::string>, problem::Bytes> at_home_;  // by memory and tensor
  size_t subgraphs_ = 0;                                                   // of the old plan
  size_t placed_ = 0;                                                      // its addresses
};

// Everything that the parts of one search over partitions share. All of it outlives them.
struct SearchContext {
  const graph::Graph& graph;
  const hw_profiles::Profile& profile;
  const cost::Simulator& simulator;
  const cost::Scale& scale;
  const base::Stop& stop;
  tiling::Engines engines;
  tiling::Engines
      tile_engines;  // the same, asked whether single subgraphs fit: they may remember (cached_engines.h)
  base::Budget
      budget;  // for each question put to an engine, of single operators and of whole plans apart
  const PreviousPlan* previous = nullptr;  // where an older plan is to be changed little

  // Work that engines may do on what every plan needs, however small the budget.
  static constexpr int64_t kLeastBudget = 20'000;
  base::Budget LeastBudget() const { return {std::max(budget.units, kLeastBudget)}; }

  const hw_profiles::Memory& TileMemory() const {
    return profile.memories[static_cast<size_t>(profile.tile_memory)];
  }

  // Bytes of the tile memory that a plan may use: all, or as far as a limit on the peak goes.
  problem::Bytes Room() const {
    const problem::Bytes capacity = TileMemory().capacity_bytes;
    if (!scale.LimitsPeak() || scale.PeakLimit() >= static_cast<double>(capacity)) return capacity;
    return static_cast<problem::Bytes>(scale.PeakLimit());
  }

  // Of a choice. Without a weight its peak, which is within the room, does not count.
  cost::Cost CostOf(const plan::Metrics& metrics) const {
    cost::Cost cost = scale.CostOf(metrics);
    cost.peak = PeakCostOf(metrics.peak_bytes);
    return cost;
  }

  // What a choice of this peak counts for it.
  double PeakCostOf(problem::Bytes peak) const {
    return scale.MinimizesPeak() ? static_cast<double>(peak) : 0;
  }

  bool LooksAtPeak() const { return scale.MinimizesPeak() || scale.LimitsPeak(); }
};

}  // namespace tessera::search::partition::choices
