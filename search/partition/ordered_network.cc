#include "tessera/search/partition/ordered_network.h"

#include <algorithm>
#include <utility>

#include "tessera/encoder/adapt/handed_on.h"
#include "tessera/graph/reorder.h"

namespace tessera::search {
namespace {

std::optional<Predecessor> PredecessorOf(const plan::Plan* old, const graph::Graph& graph) {
  return old == nullptr ? std::nullopt : std::optional<Predecessor>(std::in_place, *old, graph);
}

}  // namespace

std::vector<Demand> InOrder(std::vector<Demand> demands, const Order& order) {
  std::vector<int> place_of(order.size());
  for (size_t place = 0; place < order.size(); ++place)
    place_of[static_cast<size_t>(order[place])] = static_cast<int>(place);
  for (Demand& demand : demands) {
    const bool about_operators = demand.kind == DemandKind::kTogether || demand.kind == DemandKind::kApart ||
                                 demand.kind == DemandKind::kSubgraph;
    if (!about_operators) continue;
    const int length = demand.interval.last - demand.interval.first;
    demand.interval.first = place_of[static_cast<size_t>(demand.interval.first)];
    demand.interval.last = demand.interval.first + length;
  }
  return demands;
}

OrderedNetwork::OrderedNetwork(const Grounds& grounds, Order order)
    : order_(std::move(order)),
      graph_(graph::Reordered(grounds.graph, order_)),
      simulator_(graph_, grounds.profile),
      predecessor_(PredecessorOf(grounds.predecessor, graph_)),
      planning_{.graph = graph_,
                .profile = grounds.profile,
                .simulator = simulator_,
                .scale = grounds.scale,
                .stop = grounds.stop,
                .engines = grounds.engines,
                .tile_engines = grounds.tile_engines,
                .budget = grounds.budget,
                .predecessor = predecessor_ ? &*predecessor_ : nullptr},
      demands_(graph_, search::InOrder(grounds.demands, order_)),
      states_(graph_, grounds.profile, planning_.Room(), grounds.keeping, demands_),
      homes_(graph_, grounds.profile),
      kind_(encoder::NextInPlace(graph_, simulator_.Usages(), grounds.profile)) {}

}  // namespace tessera::search
