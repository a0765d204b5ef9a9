// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/partition/choices/equal_intervals.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/interval_lattice.h"
#include "tessera/search/partition/paths/lattice.h"

// Candidate orders of a network's operators, and the network in one order.
namespace tessera::search::partition::paths {

// Returns orders of the nodes that are good by well-known rules, for any hardware: fewest live
// bytes, as maximum and as sum; one branch after another, in several ways; and all branches in
// parallel. After a stop, later ones are omitted.
std::vector<orders::Order> FindUsualOrders(const graph::Graph& graph,
                                           const orders::Precedence& precedence,
                                           const base::Stop& stop);

// Returns the order of the nodes closest to that of a previous plan, perhaps of another network:
// operators with the same id have the same order; others come after the operator that they follow
// in the network.
orders::Order FindOrderLike(const plan::Plan& old, const graph::Graph& graph,
                            const orders::Precedence& precedence);

// Returns the longest prefix of the orders, at least the first one, in which the intervals that the
// first order lacks (lattice.h) have in total at most `most_visited` operators. Intervals with more
// than `most_operators` do not count. Repeated orders are omitted. Orders are of operators.
std::vector<orders::Order> TakeFirst(std::vector<orders::Order> orders, int most_operators,
                                     bool alike, int64_t most_visited);

// The data shared by all orders of one network. All references must outlive it.
struct NetworkContext {
  const graph::Graph& graph;  // in the order of its file, to which constraints refer
  const hw_profiles::Profile& profile;
  const cost::Scale& scale;
  const base::Stop& stop;
  tiling::Engines engines;  // as in SearchContext
  tiling::Engines tile_engines;
  base::Budget budget;
  const plan::Plan* previous = nullptr;
  std::vector<plan::PlanConstraint> constraints;
  Keeping keeping = Keeping::kWherePossible;
  choices::PriceStore* prices = nullptr;  // of this scale; nullptr: no prices are shared

  // Returns the same context with another scale and stop. It shares no prices.
  NetworkContext With(const cost::Scale& other_scale, const base::Stop& other_stop) const;
};

// A network with its operators in one order, and all data of a search that follows from it.
class OrderedNetwork {
 public:
  // The network context must outlive this object. `order` is a legal order of the operators in
  // which those that constraints hold together are contiguous, in the order of the file.
  OrderedNetwork(const NetworkContext& network_context, orders::Order order);
  OrderedNetwork(const OrderedNetwork&) = delete;
  OrderedNetwork& operator=(const OrderedNetwork&) = delete;

  const orders::Order& InOrder() const { return order_; }
  bool IsInOrderOfFile() const { return std::is_sorted(order_.begin(), order_.end()); }
  const graph::Graph& Graph() const { return graph_; }
  const choices::SearchContext& Context() const { return context_; }
  const constraints::PlanConstraints& PlanConstraints() const { return constraints_; }
  Ordered AsOrdered() const { return {&context_, &states_, &constraints_, &homes_, order_, kind_}; }

 private:
  orders::Order order_;
  graph::Graph graph_;
  cost::Simulator simulator_;
  std::optional<choices::PreviousPlan> previous_;
  std::optional<hw_profiles::Profile> first_axes_;
  std::optional<choices::EqualIntervals> equal_intervals_;
  std::optional<encoder::program::BytesAtHomes> at_homes_;
  choices::SearchContext context_;
  constraints::PlanConstraints constraints_;
  CutStates states_;
  encoder::program::HomeCapacity homes_;
  OrderLattice::Kind kind_;
};

// Converts constraints on the network in the order of its file to another order.
std::vector<plan::PlanConstraint> InOrder(std::vector<plan::PlanConstraint> constraints,
                                          const orders::Order& order);

}  // namespace tessera::search::partition::paths
