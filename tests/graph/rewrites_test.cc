// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/rewrites.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "dependency_oracle.h"
#include "graph_builder.h"
#include "random_graph.h"
#include "random_sum.h"
#include "tessera/base/random.h"

namespace tessera::graph {
namespace {

using base::OperatorKind;
using base::Random;

TEST(TwoPasses, AreReductionsAndAnElementwiseOperator) {
  GraphBuilder builder;
  const int x = builder.AddInput({2, 3, 5});
  Operator norm = OfKind(OperatorKind::kLayerNorm);
  norm.axes = {1, 2};
  norm.activation = "relu";
  const int y = builder.Add(std::move(norm), {}, {x}).value();
  Operator softmax = OfKind(OperatorKind::kSoftmax);
  softmax.axes = {2};
  builder.Add(std::move(softmax), {}, {y}).value();
  const Graph graph = InTwoPasses(std::move(builder).Build(), std::vector{0, 1});
  std::string text;
  for (const Operator& op : graph.operators) {
    text += graph.tensors[static_cast<size_t>(op.outputs.front())].id + " " + op.function +
            (op.activation.empty() ? "" : "+" + op.activation) + " " +
            ops::ToText(graph.tensors[static_cast<size_t>(op.outputs.front())].shape) + "\n";
  }
  EXPECT_EQ(text,
            "t1/mean mean [2, 1, 1]\n"
            "t1/mean_square mean_square [2, 1, 1]\n"
            "t1 normalize+relu [2, 3, 5]\n"
            "t2/log_sum_exp log_sum_exp [2, 3, 1]\n"
            "t2 exp_difference [2, 3, 5]\n");
}

TEST(TwoPasses, TakeNamesThatAreFree) {
  GraphBuilder builder;
  const int x = builder.AddInput({2, 3});
  Operator softmax = OfKind(OperatorKind::kSoftmax);
  softmax.axes = {1};
  const int y = builder.Add(std::move(softmax), {}, {x}).value();
  Graph graph = std::move(builder).Build();
  graph.tensors[static_cast<size_t>(x)].id =
      graph.tensors[static_cast<size_t>(y)].id + "/log_sum_exp";
  const Graph after = InTwoPasses(graph, std::vector{0});
  std::set<std::string> ids;
  for (const Tensor& tensor : after.tensors) ids.insert(tensor.id);
  EXPECT_EQ(ids, (std::set<std::string>{"t1", "t1/log_sum_exp", "t1/log_sum_exp.2"}));
}

TEST(TwoPasses, KeepWhatEveryOutputDependsOn) {
  Random random(2042);
  int rewritten = 0;
  for (int round = 0; round < 1500; ++round) {
    const Graph before = RandomGraph(random, static_cast<int>(random.Uniform(2, 6)));
    std::vector<int> ops;
    for (size_t op = 0; op < before.operators.size(); ++op) {
      if (CanTakeTwoPasses(before.operators[op]) && random.Chance(0.8))
        ops.push_back(static_cast<int>(op));
    }
    if (ops.empty()) continue;
    ++rewritten;
    ASSERT_EQ(ElementDependenciesOf(InTwoPasses(before, ops)), ElementDependenciesOf(before))
        << "round " << round;
  }
  EXPECT_GE(rewritten, 150);
}

// The operators of a network, by result, function, axes and shape.
std::string TextOf(const Graph& graph) {
  std::string text;
  for (const Operator& op : graph.operators) {
    const Tensor& made = graph.tensors[static_cast<size_t>(op.outputs.front())];
    text += made.id + " " + op.function;
    for (const int axis : op.axes) text += " " + std::to_string(axis);
    text += " " + ops::ToText(made.shape) + " " + std::string(NameOf(made.type)) + "\n";
  }
  return text;
}

// The longest axis is reduced first, the first one last.
TEST(AxisByAxis, HasOneReductionForEachAxis) {
  GraphBuilder builder;
  const int x = builder.AddInput({2, 3, 5, 7});
  Operator norm = OfKind(OperatorKind::kReduce);
  norm.function = "l1";
  norm.axes = {0, 2, 3};
  builder.Add(std::move(norm), {}, {x}).value();
  Operator pool = OfKind(OperatorKind::kGlobalPool);
  pool.function = "max";
  builder.Add(std::move(pool), {}, {x}).value();
  EXPECT_EQ(TextOf(AxisByAxis(std::move(builder).Build(), std::vector{0, 1})),
            "t1/axis_3 l1 3 [2, 3, 5, 1] int32\n"
            "t1/axis_2 sum 2 [2, 3, 1, 1] int32\n"
            "t1 sum 0 2 3 [1, 3, 1, 1] int8\n"
            "t2/axis_3 max 3 [2, 3, 5, 1] int8\n"
            "t2 max 2 3 [2, 3, 1, 1] int8\n");
}

TEST(AxisByAxis, IsForFunctionsOfTheirParts) {
  Operator op = OfKind(OperatorKind::kReduce);
  op.inputs = {0};
  op.axes = {0, 1};
  op.function = "mean_square";
  EXPECT_TRUE(CanGoAxisByAxis(op));
  op.function = "arg_max";
  EXPECT_FALSE(CanGoAxisByAxis(op));
  op.function = "max";
  op.axes = {1};
  EXPECT_FALSE(CanGoAxisByAxis(op));
}

TEST(AxisByAxis, KeepsWhatEveryOutputDependsOn) {
  Random random(1211);
  int rewritten = 0;
  for (int round = 0; round < 3000; ++round) {
    Graph before = RandomGraph(random, static_cast<int>(random.Uniform(2, 6)));
    std::vector<int> ops;
    for (size_t op = 0; op < before.operators.size(); ++op) {
      before.operators[op].function = "max";
      if (CanGoAxisByAxis(before.operators[op])) ops.push_back(static_cast<int>(op));
    }
    if (ops.empty()) continue;
    ++rewritten;
    ASSERT_EQ(ElementDependenciesOf(AxisByAxis(before, ops)), ElementDependenciesOf(before))
        << "round " << round;
  }
  EXPECT_GE(rewritten, 150);
}

// Every part has its own filters; the last one has the table, and the sum the activation.
TEST(InParts, SumsAreAddedUp) {
  GraphBuilder builder;
  const int x = builder.AddInput({1, 7, 4, 4});
  Operator conv = OfKind(OperatorKind::kConv);
  conv.window.kernel = {3, 3};
  conv.activation = "relu";
  ops::Wanted wanted;
  wanted.out_channels = 2;
  builder.Add(std::move(conv), wanted, {x}).value();
  Graph graph = std::move(builder).Build();
  Tensor& filters = graph.tensors.emplace_back();
  filters.id = "w";
  filters.shape = {2, 7, 3, 3};
  filters.constant = true;
  Tensor& bias = graph.tensors.emplace_back();
  bias.id = "bias";
  bias.shape = {2};
  bias.constant = true;
  graph.operators.front().weights = {2, 3};
  ASSERT_TRUE(CanGoInParts(graph, graph.operators.front()));
  const Graph after = InParts(graph, std::vector{Parts{0, 3}});
  EXPECT_EQ(TextOf(after),
            "t1/part_0/operand_0  [1, 3, 4, 4] int8\n"
            "t1/part_0  [1, 2, 2, 2] int32\n"
            "t1/part_3/operand_0  [1, 3, 4, 4] int8\n"
            "t1/part_3  [1, 2, 2, 2] int32\n"
            "t1/part_6/operand_0  [1, 1, 4, 4] int8\n"
            "t1/part_6  [1, 2, 2, 2] int32\n"
            "t1 add [1, 2, 2, 2] int8\n");
  EXPECT_EQ(after.operators.back().activation, "relu");
  EXPECT_EQ(after.operators[1].weights.size(), 1U);
  ASSERT_EQ(after.operators[5].weights.size(), 2U);
  const auto tensor = [&after](int number) { return after.tensors[static_cast<size_t>(number)]; };
  EXPECT_EQ(tensor(after.operators[5].weights[0]).id, "w/part_6");
  EXPECT_EQ(tensor(after.operators[5].weights[0]).shape, (Shape{2, 1, 3, 3}));
  EXPECT_EQ(tensor(after.operators[5].weights[1]).id, "bias");
  EXPECT_FALSE(FindTensor(after, "w"));
}

TEST(InParts, DependOnWhatTheSumDependsOn) {
  Random random(77);
  int rewritten = 0;
  for (int round = 0; round < 400; ++round) {
    const Graph before = RandomSum(random);
    const int last = static_cast<int>(before.operators.size()) - 1;
    if (!CanGoInParts(before, before.operators.back())) continue;
    ++rewritten;
    const Graph after = InParts(before, std::vector{Parts{last, random.Uniform(1, 4)}});
    ASSERT_EQ(ElementDependenciesOf(after), ElementDependenciesOf(before)) << "round " << round;
  }
  EXPECT_GE(rewritten, 200);
}

TEST(InParts, AreNotForGroupsAndReductions) {
  Random random(78);
  for (int round = 0; round < 200; ++round) {
    const Graph graph = RandomGraph(random, 4);
    for (const Operator& op : graph.operators) {
      const bool sums = op.kind == OperatorKind::kConv || op.kind == OperatorKind::kMatmul ||
                        op.kind == OperatorKind::kTransposedConv;
      EXPECT_TRUE(sums || !CanGoInParts(graph, op));
      EXPECT_TRUE(op.groups == 1 || !CanGoInParts(graph, op));
    }
  }
}

}  // namespace
}  // namespace tessera::graph
