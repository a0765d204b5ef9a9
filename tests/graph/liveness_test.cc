// SPDX-License-Identifier: Apache-2.0

#include "liveness.h"

#include <gtest/gtest.h>

#include "graph_builder.h"
#include "random_graph.h"

// The graph of the picture in liveness.h:  input -> 0:a -> 1:b, 2: a read again, 3: b and c make
// the output.
namespace tessera::graph {
namespace {

struct Picture {
  int input, a, b, c, output;
  Graph graph;
};

Picture Draw() {
  GraphBuilder builder;
  Picture p{};
  p.input = builder.AddInput({1, 2, 4, 4});
  p.a = builder.AddConv(p.input, 2, 1);
  p.b = builder.AddConv(p.a, 2, 1);
  p.c = builder.AddConv(p.a, 2, 1);
  p.output = builder.AddSum(p.b, p.c);
  p.graph = std::move(builder).Build();
  return p;
}

TEST(Liveness, LivesWithinAnInterval) {
  const Picture p = Draw();
  EXPECT_EQ(LivesIn(p.graph, {1, 2}),
            (std::vector<TensorLife>{
                {.tensor = p.a, .made = -1, .last_read = 1, .leaves = false},
                {.tensor = p.b, .made = 0, .last_read = -1, .leaves = true},
                {.tensor = p.c, .made = 1, .last_read = -1, .leaves = true},
            }));
}

TEST(Liveness, WhatPassesOverIsNeitherReadNorMade) {
  const Picture p = Draw();
  EXPECT_EQ(PassingOver(p.graph, {2, 2}), std::vector<int>{p.b});
  EXPECT_TRUE(PassingOver(p.graph, {1, 1}).empty());  // a is read there
  EXPECT_TRUE(PassingOver(p.graph, {3, 3}).empty());
}

TEST(Liveness, NetworkOutputsPassOverToTheEnd) {
  GraphBuilder builder;
  const int input = builder.AddInput({1, 1, 2, 2});
  const int first = builder.AddConv(input, 1, 1);
  builder.AddConv(input, 1, 1);
  const Graph graph = std::move(builder).Build();
  EXPECT_EQ(PassingOver(graph, {1, 1}), std::vector<int>{first});
}

TEST(Liveness, NetworkInputsPassOverFromTheStart) {
  GraphBuilder builder;
  const int early = builder.AddInput({1, 1, 2, 2});
  const int late = builder.AddInput({1, 1, 2, 2});
  builder.AddSum(builder.AddConv(early, 1, 1), late);
  const Graph graph = std::move(builder).Build();
  EXPECT_EQ(PassingOver(graph, {0, 0}), std::vector<int>{late});
  EXPECT_EQ(CrossingAt(graph, -1), (std::vector<int>{early, late}));
}

TEST(Liveness, CrossingTensorsOfEachCut) {
  const Picture p = Draw();
  EXPECT_EQ(CrossingAt(p.graph, -1), std::vector<int>{p.input});
  EXPECT_EQ(CrossingAt(p.graph, 0), std::vector<int>{p.a});
  EXPECT_EQ(CrossingAt(p.graph, 1), (std::vector<int>{p.a, p.b}));
  EXPECT_EQ(CrossingAt(p.graph, 2), (std::vector<int>{p.b, p.c}));
  EXPECT_EQ(CrossingAt(p.graph, 3), std::vector<int>{p.output});
}

TEST(Roles, FollowFromTheInterval) {
  const Picture p = Draw();
  const std::vector<Usage> usages = UsagesOf(p.graph);
  const auto role = [&](int tensor, Interval interval) {
    return RoleIn(p.graph, usages[static_cast<size_t>(tensor)], tensor, interval);
  };
  EXPECT_EQ(role(p.input, {0, 3}), base::TensorRole::kNetworkInput);
  EXPECT_EQ(role(p.output, {0, 3}), base::TensorRole::kNetworkOutput);
  EXPECT_EQ(role(p.a, {0, 3}), base::TensorRole::kFeature);
  EXPECT_EQ(role(p.a, {0, 1}), base::TensorRole::kBoundary);
  EXPECT_EQ(role(p.a, {1, 3}), base::TensorRole::kBoundary);
}

}  // namespace
}  // namespace tessera::graph
