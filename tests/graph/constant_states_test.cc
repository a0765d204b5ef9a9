// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <utility>

#include "graph_builder.h"
#include "tessera/graph/rewrites.h"

namespace tessera::graph {
namespace {

using base::OperatorKind;

int AddConstant(Graph& graph, const std::string& id, const Shape& shape) {
  Tensor constant;
  constant.id = id;
  constant.shape = shape;
  constant.constant = true;
  graph.tensors.push_back(constant);
  return static_cast<int>(graph.tensors.size()) - 1;
}

//     x --elementwise--> t1 --layer_norm--> t2, with two tables for the first, one of them for both
Graph TwoOperators() {
  GraphBuilder builder;
  const int x = builder.AddInput({4, 4});
  const int scaled = builder.Add(OfKind(OperatorKind::kElementwise), {}, {x}).value();
  Operator norm = OfKind(OperatorKind::kLayerNorm);
  norm.axes = {0, 1};
  builder.Add(std::move(norm), {}, {scaled}).value();
  Graph graph = std::move(builder).Build();
  const int table = AddConstant(graph, "table", {4, 4});
  const int shared = AddConstant(graph, "shared", {4, 4});
  graph.operators[0].weights = {shared, table};
  graph.operators[1].weights = {shared};
  return graph;
}

TEST(ConstantStates, AreOperandsOfTheirReaders) {
  const Graph graph = TwoOperators();
  const int table = FindTensor(graph, "table").value();
  const int shared = FindTensor(graph, "shared").value();
  const Graph after = WithStates(graph, std::vector{table});
  EXPECT_TRUE(after.tensors[static_cast<size_t>(table)].state);
  EXPECT_FALSE(after.tensors[static_cast<size_t>(table)].constant);
  EXPECT_EQ(after.operators[0].inputs, (std::vector{graph.operators[0].inputs[0], table}));
  EXPECT_EQ(after.operators[0].weights, std::vector{shared});
  EXPECT_EQ(after.operators[1], graph.operators[1]);
}

TEST(ConstantStates, AreUsedByElementwiseOperatorsAlone) {
  Graph graph = TwoOperators();
  const auto can_be = [&](const std::string& id) {
    const int tensor = FindTensor(graph, id).value();
    return CanBeState(graph, UsagesOf(graph)[static_cast<size_t>(tensor)], tensor);
  };
  EXPECT_TRUE(can_be("table"));
  EXPECT_FALSE(can_be("shared"));
  EXPECT_FALSE(can_be("t1"));
  Tensor& table = graph.tensors[static_cast<size_t>(FindTensor(graph, "table").value())];
  const Shape aligned = std::exchange(table.shape, {2});  // by channel: not aligned at the end
  EXPECT_FALSE(can_be("table"));
  table.shape = aligned;
  table.stored_bytes = 5;
  EXPECT_FALSE(can_be("table"));
}

}  // namespace
}  // namespace tessera::graph
