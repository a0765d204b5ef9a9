// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "../cost/small_machine.h"
#include "tessera/base/random.h"
#include "tessera/graph/graph.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/orders/low_memory_orders.h"

// Orders of operators: the legal ones, and those that are good by rules.
namespace tessera::search {
namespace {

using testing::ElementsAre;

// Convolutions of any earlier results to 1 to 4 channels, and additions of results with 4 channels.
// Results without a reader stay without one.
graph::Graph Forked(base::Random& random, int operators) {
  NetworkBuilder net;
  std::vector<int> tensors = {net.Input({1, 4, 4, 4})};
  std::vector<int> wide = tensors;
  const auto any = [&random](const std::vector<int>& of) {
    return of[static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(of.size()) - 1))];
  };
  for (int i = 0; i < operators; ++i) {
    const bool add = random.Chance(0.3);
    const int64_t channels = add ? 4 : random.Uniform(1, 4);
    const int result = add ? net.Add(any(wide), any(wide)) : net.Conv(any(tensors), 1, channels);
    tensors.push_back(result);
    if (channels == 4) wide.push_back(result);
  }
  return net.Finish(tensors.back());
}

std::vector<int64_t> BytesOf(const graph::Graph& graph) {
  std::vector<int64_t> bytes;
  for (const graph::Tensor& tensor : graph.tensors)
    bytes.push_back(tensor.constant ? 0 : graph::ElementsOf(tensor.shape));
  return bytes;
}

// A graph with the data that searches of its orders read.
struct Orderable {
  explicit Orderable(graph::Graph any)
      : graph(std::move(any)), precedence(graph), live(graph, precedence, BytesOf(graph)) {}
  Orderable(const Orderable&) = delete;
  Orderable& operator=(const Orderable&) = delete;

  graph::Graph graph;
  orders::Precedence precedence;
  orders::LiveBytes live;
};

bool IsLegal(const graph::Graph& graph, const orders::Order& order) {
  std::vector<bool> done(graph.operators.size());
  const std::vector<std::vector<int>> dependencies = graph::DependenciesOf(graph);
  for (const int op : order) {
    for (const int before : dependencies[static_cast<size_t>(op)]) {
      if (!done[static_cast<size_t>(before)]) return false;
    }
    if (done[static_cast<size_t>(op)]) return false;
    done[static_cast<size_t>(op)] = true;
  }
  return order.size() == graph.operators.size();
}

// By trying all permutations.
std::set<orders::Order> LegalOrders(const graph::Graph& graph) {
  orders::Order order(graph.operators.size());
  std::iota(order.begin(), order.end(), 0);
  std::set<orders::Order> legal;
  do {
    if (IsLegal(graph, order)) legal.insert(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return legal;
}

// By the definition: every tensor that is made or given and is still to be read, or is an output.
int64_t PeakByDefinition(const graph::Graph& graph, const orders::Order& order) {
  const graph::Graph ordered = graph::Reordered(graph, order);
  const std::vector<graph::Usage> usages = graph::UsagesOf(ordered);
  const std::vector<int64_t> bytes = BytesOf(ordered);
  const auto operators = static_cast<int>(order.size());
  int64_t peak = 0;
  for (int step = 0; step < operators; ++step) {
    int64_t live = 0;
    for (size_t t = 0; t < ordered.tensors.size(); ++t) {
      const graph::Usage& usage = usages[t];
      const int last = ordered.tensors[t].network_output ? operators
                       : usage.consumers.empty()         ? usage.producer
                                                         : usage.consumers.back();
      if (usage.producer <= step && step <= last) live += bytes[t];
    }
    peak = std::max(peak, live);
  }
  return peak;
}

// a, then b and c of it, then b + c.
graph::Graph Diamond() {
  NetworkBuilder net;
  const int a = net.Conv(net.Input({1, 2, 4, 4}), 1, 2);
  const int b = net.Conv(a, 1, 2);
  return net.Finish(net.Add(b, net.Conv(a, 1, 2)));
}

TEST(Reordered, IsTheSameNetworkInAnotherOrder) {
  const graph::Graph graph = Diamond();
  const orders::Order order = {0, 2, 1, 3};
  const graph::Graph reordered = graph::Reordered(graph, order);
  EXPECT_EQ(reordered.tensors, graph.tensors);
  EXPECT_EQ(reordered.operators[1], graph.operators[2]);
  EXPECT_THAT(graph::DependenciesOf(reordered)[3], ElementsAre(1, 2));
  EXPECT_EQ(graph::Reordered(reordered, order), graph);
}

TEST(EveryOrder, IsEveryLegalPermutationAndTheGivenOneFirst) {
  base::Random random(3);
  for (int draw = 0; draw < 60; ++draw) {
    const graph::Graph graph = Forked(random, static_cast<int>(random.Uniform(1, 6)));
    const std::set<orders::Order> legal = LegalOrders(graph);
    const orders::Precedence precedence(graph);
    const auto every = orders::FindEveryOrder(precedence, legal.size(), base::Stop());
    ASSERT_TRUE(every);
    EXPECT_EQ(every->size(), legal.size());
    EXPECT_EQ(std::set<orders::Order>(every->begin(), every->end()), legal);
    EXPECT_TRUE(std::is_sorted(every->front().begin(), every->front().end()));
    EXPECT_EQ(precedence.IsChain(), legal.size() == 1);
    EXPECT_FALSE(orders::FindEveryOrder(precedence, legal.size() - 1, base::Stop()));
  }
}

TEST(Precedence, KeepsBlocksTogether) {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 4, 4});
  const int a = net.Conv(x, 1, 2);
  const int b = net.Conv(x, 1, 2);
  const int c = net.Conv(a, 1, 2);
  const graph::Graph graph = net.Finish(net.Add(b, c));
  const std::vector<graph::Interval> blocks = {{1, 2}};
  const orders::Precedence precedence(graph, blocks);
  EXPECT_TRUE(precedence.IsChain());
  EXPECT_THAT(precedence.OperatorsOf(orders::FindEveryOrder(precedence, 1, base::Stop())->front()),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(precedence.NodesOf({0, 1, 2, 3}), ElementsAre(0, 1, 2));
  EXPECT_EQ(orders::FindEveryOrder(orders::Precedence(graph), 9, base::Stop())->size(), 3U);
}

TEST(LeastLiveOrder, HasTheLeastPeakOfAll) {
  base::Random random(4);
  int improved = 0;
  for (int draw = 0; draw < 80; ++draw) {
    const auto& [graph, precedence, live] = Orderable(Forked(random, 6));
    int64_t least = std::numeric_limits<int64_t>::max();
    int64_t given = 0;
    for (const orders::Order& order : LegalOrders(graph)) {
      const int64_t peak = PeakByDefinition(graph, order);
      EXPECT_EQ(live.PeakOf(order), peak);
      least = std::min(least, peak);
      if (std::is_sorted(order.begin(), order.end())) given = peak;
    }
    const orders::Order found =
        orders::FindLeastLiveOrder(precedence, live, orders::LiveGoal::kPeak, base::Stop()).value();
    ASSERT_TRUE(IsLegal(graph, found));
    EXPECT_EQ(live.PeakOf(found), least);
    improved += least < given ? 1 : 0;
  }
  EXPECT_GE(improved, 10);
}

// The sum of the bytes alive while a node runs, over all nodes.
int64_t SumOf(const orders::LiveBytes& live, const orders::Order& order) {
  std::vector<bool> done(order.size());
  int64_t held = live.AtStart();
  int64_t sum = 0;
  for (const int node : order) {
    held += live.MadeBy(node);
    sum += held;
    held -= live.FreedBy(node, [&done](int other) { return done[static_cast<size_t>(other)]; });
    done[static_cast<size_t>(node)] = true;
  }
  return sum;
}

TEST(LeastLiveOrder, HasTheLeastSumOfAllAndThenTheLeastPeak) {
  base::Random random(9);
  for (int draw = 0; draw < 80; ++draw) {
    const auto& [graph, precedence, live] = Orderable(Forked(random, 6));
    std::pair<int64_t, int64_t> least = {std::numeric_limits<int64_t>::max(), 0};
    for (const orders::Order& order : LegalOrders(graph))
      least = std::min(least, std::pair(SumOf(live, order), live.PeakOf(order)));
    const orders::Order found =
        orders::FindLeastLiveOrder(precedence, live, orders::LiveGoal::kSum, base::Stop()).value();
    EXPECT_EQ(std::pair(SumOf(live, found), live.PeakOf(found)), least);
  }
}

TEST(LeastLiveOrder, IsLegalHoweverNarrowTheSearch) {
  base::Random random(5);
  for (int draw = 0; draw < 20; ++draw) {
    const auto& [graph, precedence, live] = Orderable(Forked(random, 30));
    for (const orders::LiveGoal goal : {orders::LiveGoal::kPeak, orders::LiveGoal::kSum})
      EXPECT_TRUE(IsLegal(
          graph, orders::FindLeastLiveOrder(precedence, live, goal, base::Stop(), 2).value()));
  }
}

TEST(Walks, AreLegal) {
  base::Random random(6);
  for (int draw = 0; draw < 40; ++draw) {
    const auto& [graph, precedence, live] = Orderable(Forked(random, 12));
    for (const orders::OperandOrder turn :
         {orders::OperandOrder::kFirst, orders::OperandOrder::kLast,
          orders::OperandOrder::kHungriest})
      EXPECT_TRUE(IsLegal(graph, orders::WalkDepthFirst(precedence, live, turn)));
    for (const orders::Pace pace : {orders::Pace::kEarliest, orders::Pace::kLatest})
      EXPECT_TRUE(IsLegal(graph, orders::WalkBreadthFirst(precedence, pace)));
  }
}

// Branches a b c and d e side by side: 0 1 2 and 3 4, read by 5.
graph::Graph TwoBranches() {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 4, 4});
  const int c = net.Conv(net.Conv(net.Conv(x, 1, 2), 1, 2), 1, 2);
  const int e = net.Conv(net.Conv(x, 1, 2), 1, 2);
  return net.Finish(net.Add(c, e));
}

TEST(Walks, TakeBranchesOneByOneOrSideBySide) {
  const auto& [graph, precedence, live] = Orderable(TwoBranches());
  EXPECT_THAT(orders::WalkDepthFirst(precedence, live, orders::OperandOrder::kLast),
              ElementsAre(3, 4, 0, 1, 2, 5));
  EXPECT_THAT(orders::WalkBreadthFirst(precedence, orders::Pace::kEarliest),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(orders::WalkBreadthFirst(precedence, orders::Pace::kLatest),
              ElementsAre(0, 1, 3, 2, 4, 5));
}

TEST(Swaps, PassEveryCutOfTwoBranches) {
  const graph::Graph graph = TwoBranches();
  const orders::Precedence precedence(graph);
  const orders::Order given = {0, 1, 2, 3, 4, 5};
  std::set<std::pair<int, int>> cuts;  // operators done of each branch
  std::vector<orders::Order> orders = orders::FindSwapped(precedence, given, 5, 100);
  EXPECT_EQ(std::count(orders.begin(), orders.end(), given), 0);
  orders.push_back(given);
  for (const orders::Order& order : orders) {
    EXPECT_TRUE(IsLegal(graph, order));
    int first = 0;
    int second = 0;
    for (const int op : order) {
      (op < 3 ? first : second) += op < 5 ? 1 : 0;
      cuts.emplace(first, second);
    }
  }
  for (int first = 0; first <= 3; ++first) {
    for (int second = 0; second <= 2; ++second) {
      EXPECT_EQ(cuts.contains({first, second}), first + second > 0) << first << ' ' << second;
    }
  }
}

TEST(Swaps, AreLegalAndAsManyAsAsked) {
  base::Random random(7);
  for (int draw = 0; draw < 40; ++draw) {
    const graph::Graph graph = Forked(random, 14);
    const orders::Precedence precedence(graph);
    orders::Order given(graph.operators.size());
    std::iota(given.begin(), given.end(), 0);
    const std::vector<orders::Order> orders = orders::FindSwapped(precedence, given, 8, 5);
    EXPECT_LE(orders.size(), 5U);
    EXPECT_EQ(orders.empty(), precedence.IsChain());
    for (const orders::Order& order : orders) EXPECT_TRUE(IsLegal(graph, order));
  }
}

}  // namespace
}  // namespace tessera::search
