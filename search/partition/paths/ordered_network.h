#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/lattice.h"
#include "tessera/search/partition/paths/path_search.h"

// Which orders of a network's operators are worth a look. All are orders of the nodes of a
// precedence.
namespace tessera::search::partition::paths {

// Orders that are good by well-known rules, whatever the hardware: fewest bytes alive at once and
// in sum, one branch after another in several ways, and all branches side by side. A stop leaves
// out those that come later.
std::vector<orders::Order> FindUsualOrders(const graph::Graph& graph,
                                           const orders::Precedence& precedence,
                                           const base::Stop& stop);

// The order nearest to that of an older plan, perhaps of another network: operators of the same id
// come as they did there, others behind the one they follow in the network.
orders::Order FindOrderLike(const plan::Plan& old, const graph::Graph& graph,
                            const orders::Precedence& precedence);

// As many of the orders, the first of them in any case, as have between them no more than
// `most_visited` operators in intervals that the first one has not (order_lattice.h), of at most
// `most_operators` each; repetitions left out. Orders are of operators.
std::vector<orders::Order> TakeFirst(std::vector<orders::Order> orders, int most_operators,
                                     bool alike, int64_t most_visited);

// What all orders of one network have in common. All that it refers to outlives it.
struct NetworkContext {
  const graph::Graph& graph;  // as its file orders it: constraints are about that
  const hw_profiles::Profile& profile;
  const cost::Scale& scale;
  const base::Stop& stop;
  tiling::Engines engines;  // as in SearchContext
  tiling::Engines tile_engines;
  base::Budget budget;
  const plan::Plan* previous = nullptr;
  std::vector<plan::PlanConstraint> constraints;
  Keeping keeping = Keeping::kWherePossible;
};

// A network with its operators in one order, and all of a search that follows from these.
class OrderedNetwork {
 public:
  // The network context outlive it. `order`: of operators, legal; what is required together stands
  // together, as in the file.
  OrderedNetwork(const NetworkContext& network_context, orders::Order order);
  OrderedNetwork(const OrderedNetwork&) = delete;
  OrderedNetwork& operator=(const OrderedNetwork&) = delete;

  const orders::Order& InOrder() const { return order_; }
  const graph::Graph& Graph() const { return graph_; }
  const choices::SearchContext& Context() const { return context_; }
  const constraints::PlanConstraints& PlanConstraints() const { return constraints_; }
  Ordered AsOrdered() const { return {&context_, &states_, &constraints_, &homes_, order_, kind_}; }

 private:
  orders::Order order_;
  graph::Graph graph_;
  cost::Simulator simulator_;
  std::optional<choices::PreviousPlan> previous_;
  choices::SearchContext context_;
  constraints::PlanConstraints constraints_;
  CutStates states_;
  encoder::program::HomeRoom homes_;
  OrderLattice::Kind kind_;
};

// Constraints about the network as its file orders it, in the words of another order.
std::vector<plan::PlanConstraint> InOrder(std::vector<plan::PlanConstraint> constraints,
                                          const orders::Order& order);

}  // namespace tessera::search::partition::paths
