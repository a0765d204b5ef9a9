#pragma once

#include <optional>
#include <vector>

#include "tessera/encoder/adapt/homes.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/orders/precedence.h"
#include "tessera/search/partition/cut_states.h"
#include "tessera/search/partition/demands.h"
#include "tessera/search/partition/path_search.h"
#include "tessera/search/partition/planning.h"
#include "tessera/search/partition/predecessor.h"
#include "tessera/search/simulate/simulate.h"

namespace tessera::search {

// What all orders of one network have in common. All that it refers to outlives it.
struct Grounds {
  const graph::Graph& graph;  // as its file orders it: demands are about that
  const hw_profiles::Profile& profile;
  const Scale& scale;
  const base::Stop& stop;
  Engines engines;  // as in Planning
  Engines tile_engines;
  base::Budget budget;
  const plan::Plan* predecessor = nullptr;
  std::vector<Demand> demands;
  Keeping keeping = Keeping::kWherePossible;
};

// A network with its operators in one order, and all of a search that follows from these.
class OrderedNetwork {
 public:
  // The grounds outlive it. `order`: of operators, legal; what is demanded together stands together, as in the file.
  OrderedNetwork(const Grounds& grounds, Order order);
  OrderedNetwork(const OrderedNetwork&) = delete;
  OrderedNetwork& operator=(const OrderedNetwork&) = delete;

  const Order& InOrder() const { return order_; }
  const graph::Graph& Graph() const { return graph_; }
  const search::Planning& Planning() const { return planning_; }
  const search::Demands& Demands() const { return demands_; }
  Ordered AsOrdered() const { return {&planning_, &states_, &demands_, &homes_, order_, kind_}; }

 private:
  Order order_;
  graph::Graph graph_;
  Simulator simulator_;
  std::optional<Predecessor> predecessor_;
  search::Planning planning_;
  search::Demands demands_;
  CutStates states_;
  encoder::HomeRoom homes_;
  OrderLattice::Kind kind_;
};

// Demands about the network as its file orders it, in the words of another order.
std::vector<Demand> InOrder(std::vector<Demand> demands, const Order& order);

}  // namespace tessera::search
