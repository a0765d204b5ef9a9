// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/paths/ordered_network.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tessera/base/vocabulary.h"
#include "tessera/encoder/program/state_aliasing.h"
#include "tessera/graph/graph.h"
#include "tessera/search/orders/low_memory_orders.h"
#include "tessera/search/partition/paths/lattice.h"

namespace tessera::search::partition::paths {

namespace {

// The most elements that a tensor counts in the search for orders, so that sums do not overflow.
constexpr int64_t kMostElements = int64_t{1} << 34;

}  // namespace

std::vector<orders::Order> FindUsualOrders(const graph::Graph& graph,
                                           const orders::Precedence& precedence,
                                           const base::Stop& stop) {
  std::vector<int64_t> bytes;
  for (const graph::Tensor& tensor : graph.tensors) {
    const int64_t elements =
        tensor.constant ? 0 : std::min(graph::ElementsOf(tensor.shape), kMostElements);
    bytes.push_back(elements * base::BitsOf(tensor.type) / 8);
  }
  const orders::LiveBytes live(graph, precedence, bytes);
  std::vector<orders::Order> orders;
  for (const orders::LiveGoal goal : {orders::LiveGoal::kPeak, orders::LiveGoal::kSum}) {
    if (std::optional<orders::Order> order =
            orders::FindLeastLiveOrder(precedence, live, goal, stop))
      orders.push_back(*std::move(order));
  }
  for (const orders::OperandOrder turn :
       {orders::OperandOrder::kHungriest, orders::OperandOrder::kFirst,
        orders::OperandOrder::kLast}) {
    if (!stop.Requested()) orders.push_back(orders::WalkDepthFirst(precedence, live, turn));
  }
  for (const orders::Pace pace : {orders::Pace::kEarliest, orders::Pace::kLatest}) {
    if (!stop.Requested()) orders.push_back(orders::WalkBreadthFirst(precedence, pace));
  }
  return orders;
}

orders::Order FindOrderLike(const plan::Plan& old, const graph::Graph& graph,
                            const orders::Precedence& precedence) {
  std::map<std::string_view, int64_t> places;
  for (size_t i = 0; i < old.network.operators.size(); ++i)
    places.emplace(old.network.operators[i].id, static_cast<int64_t>(i));
  std::vector<int64_t> keys;
  for (int node = 0; node < static_cast<int>(precedence.Count()); ++node) {
    const int first = precedence.OperatorsOf(node).first;
    const auto found = places.find(graph.operators[static_cast<size_t>(first)].id);
    keys.push_back(found != places.end() ? found->second : keys.empty() ? -1 : keys.back());
  }
  return precedence.NearestTo(keys);
}

std::vector<orders::Order> TakeFirst(std::vector<orders::Order> orders, int most_operators,
                                     bool alike, int64_t most_visited) {
  std::set<orders::Order> known;
  std::erase_if(orders,
                [&known](const orders::Order& order) { return !known.insert(order).second; });
  const OrderLattice lattice(orders);
  DistinctIntervals distinct(lattice, alike);
  distinct.Take(0, most_operators);
  int64_t visited = 0;
  size_t taken = 1;
  for (; taken < orders.size(); ++taken) {
    for (const graph::Interval interval : distinct.Take(taken, most_operators))
      visited += interval.last - interval.first + 1;
    if (visited > most_visited) break;
  }
  orders.resize(taken);
  return orders;
}

namespace {

std::optional<choices::PreviousPlan> PreviousPlanOf(const plan::Plan* old,
                                                    const graph::Graph& graph,
                                                    const hw_profiles::Profile& profile) {
  if (old == nullptr) return std::nullopt;
  return choices::PreviousPlan(*old, graph, profile);
}

std::optional<choices::EqualIntervals> EqualIntervalsOf(const graph::Graph& graph,
                                                        const cost::Simulator& simulator,
                                                        const NetworkContext& network_context) {
  if (network_context.prices == nullptr) return std::nullopt;
  return std::optional<choices::EqualIntervals>(std::in_place, graph, simulator.Usages(),
                                                network_context.profile, *network_context.prices);
}

}  // namespace

std::vector<plan::PlanConstraint> InOrder(std::vector<plan::PlanConstraint> constraints,
                                          const orders::Order& order) {
  std::vector<int> place_of(order.size());
  for (size_t place = 0; place < order.size(); ++place)
    place_of[static_cast<size_t>(order[place])] = static_cast<int>(place);
  for (plan::PlanConstraint& constraint : constraints) {
    const bool about_operators = constraint.kind == plan::PlanConstraintKind::kTogether ||
                                 constraint.kind == plan::PlanConstraintKind::kApart ||
                                 constraint.kind == plan::PlanConstraintKind::kSubgraph;
    if (!about_operators) continue;
    const int length = constraint.interval.last - constraint.interval.first;
    constraint.interval.first = place_of[static_cast<size_t>(constraint.interval.first)];
    constraint.interval.last = constraint.interval.first + length;
  }
  return constraints;
}

NetworkContext NetworkContext::With(const cost::Scale& other_scale,
                                    const base::Stop& other_stop) const {
  return {graph,        profile, other_scale, other_stop,  engines,
          tile_engines, budget,  previous,    constraints, keeping};
}

OrderedNetwork::OrderedNetwork(const NetworkContext& network_context, orders::Order order)
    : order_(std::move(order)),
      graph_(graph::Reordered(network_context.graph, order_)),
      simulator_(graph_, network_context.profile),
      previous_(PreviousPlanOf(network_context.previous, graph_, network_context.profile)),
      first_axes_(hw_profiles::WithoutLaterAxes(network_context.profile)),
      equal_intervals_(EqualIntervalsOf(graph_, simulator_, network_context)),
      at_homes_(
          network_context.scale.LooksAtOffChipPeak()
              ? std::make_optional<encoder::program::BytesAtHomes>(graph_, network_context.profile)
              : std::nullopt),
      context_{.graph = graph_,
               .profile = network_context.profile,
               .simulator = simulator_,
               .scale = network_context.scale,
               .stop = network_context.stop,
               .engines = network_context.engines,
               .tile_engines = network_context.tile_engines,
               .budget = network_context.budget,
               .previous = previous_ ? &*previous_ : nullptr,
               .first_axes = first_axes_ ? &*first_axes_ : nullptr,
               .equal_intervals = equal_intervals_ ? &*equal_intervals_ : nullptr,
               .at_homes = at_homes_ ? &*at_homes_ : nullptr},
      constraints_(graph_, paths::InOrder(network_context.constraints, order_)),
      states_(graph_, network_context.profile, context_.Room(), network_context.keeping,
              constraints_),
      homes_(graph_, network_context.profile),
      kind_(encoder::program::NextInPlace(graph_, simulator_.Usages(), network_context.profile)) {}

}  // namespace tessera::search::partition::paths
