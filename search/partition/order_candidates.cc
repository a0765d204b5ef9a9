#include "tessera/search/partition/order_candidates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tessera/base/vocabulary.h"
#include "tessera/search/orders/least_live_order.h"
#include "tessera/search/orders/live_bytes.h"
#include "tessera/search/orders/walks.h"
#include "tessera/search/partition/order_lattice.h"

namespace tessera::search {
namespace {

// Of a tensor, as far as orders care, so that sums over tensors and operators stay small.
constexpr int64_t kMostElements = int64_t{1} << 34;

}  // namespace

std::vector<Order> FindUsualOrders(const graph::Graph& graph, const Precedence& precedence,
                                   const base::Stop& stop) {
  std::vector<int64_t> bytes;
  for (const graph::Tensor& tensor : graph.tensors) {
    const int64_t elements = tensor.constant ? 0 : std::min(graph::ElementsOf(tensor.shape), kMostElements);
    bytes.push_back(elements * base::BitsOf(tensor.type) / 8);
  }
  const LiveBytes live(graph, precedence, bytes);
  std::vector<Order> orders;
  for (const LiveGoal goal : {LiveGoal::kPeak, LiveGoal::kSum}) {
    if (std::optional<Order> order = FindLeastLiveOrder(precedence, live, goal, stop))
      orders.push_back(*std::move(order));
  }
  for (const Turn turn : {Turn::kHungriest, Turn::kFirst, Turn::kLast}) {
    if (!stop.Requested()) orders.push_back(WalkDepthFirst(precedence, live, turn));
  }
  for (const Pace pace : {Pace::kEarliest, Pace::kLatest}) {
    if (!stop.Requested()) orders.push_back(WalkBreadthFirst(precedence, pace));
  }
  return orders;
}

Order FindOrderLike(const plan::Plan& old, const graph::Graph& graph, const Precedence& precedence) {
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

std::vector<Order> TakeFirst(std::vector<Order> orders, int most_operators, bool alike,
                             int64_t most_visited) {
  std::set<Order> known;
  std::erase_if(orders, [&known](const Order& order) { return !known.insert(order).second; });
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

}  // namespace tessera::search
