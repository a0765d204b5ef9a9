// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "dependency_oracle.h"
#include "graph_builder.h"
#include "random_graph.h"
#include "tessera/base/random.h"
#include "tessera/graph/rewrites.h"

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

}  // namespace
}  // namespace tessera::graph
