// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "dependency_oracle.h"
#include "examples.h"
#include "graph_builder.h"
#include "model_builder.h"
#include "random_graph.h"
#include "tessera/base/random.h"
#include "tessera/graph/import/common/passes.h"

// Products take operands and make results in the order of axes that is stored.
namespace tessera::graph::onnx {
namespace {

using base::OperatorKind;
using base::Random;
using testing::HasSubstr;
using testing::Not;
using Ints = std::vector<int64_t>;

// [tokens, heads, channels] for queries, keys and values, multiplied head by head.
TEST(AbsorbedTransposes, HeadsOfAttentionAreBatches) {
  ModelBuilder model;
  for (const char* name : {"q", "k", "v"}) model.Input(name, {7, 3, 4});
  model.Add("Transpose", {"q"}, "heads_q", {{"perm", Ints{1, 0, 2}}});
  model.Add("Transpose", {"k"}, "heads_k", {{"perm", Ints{1, 2, 0}}});
  model.Add("Transpose", {"v"}, "heads_v", {{"perm", Ints{1, 0, 2}}});
  model.Add("MatMul", {"heads_q", "heads_k"}, "scores");
  model.Add("Softmax", {"scores"}, "weights", {{"axis", int64_t{-1}}});
  model.Add("MatMul", {"weights", "heads_v"}, "mixed");
  model.Add("Transpose", {"mixed"}, "y", {{"perm", Ints{1, 0, 2}}});
  model.Output("y", {7, 3, 4});
  const Graph graph = MustImportGraph(model);
  EXPECT_EQ(Describe(graph),
            "matmul (q, k) -> scores [3, 7, 7]\n"
            "softmax (scores) -> weights [3, 7, 7]\n"
            "matmul (weights, v) -> y [7, 3, 4]\n");
  const auto& scores = graph.operators[0].Own<MatmulAttributes>();
  EXPECT_EQ(scores.operand_axes[0], (std::vector{1, 0, 2}));
  EXPECT_EQ(scores.operand_axes[1], (std::vector{1, 2, 0}));
  const auto& mixed = graph.operators[2].Own<MatmulAttributes>();
  EXPECT_TRUE(mixed.operand_axes[0].empty());
  EXPECT_EQ(mixed.operand_axes[1], (std::vector{1, 0, 2}));
  EXPECT_EQ(mixed.result_axes, (std::vector{1, 0, 2}));
}

// Rotary positions: the operators between the transpose and the product work in the stored order.
TEST(AbsorbedTransposes, MovePastOperatorsOfAnyOrder) {
  ModelBuilder model;
  model.Input("x", {1, 5, 2, 4});
  model.Input("keys", {1, 2, 4, 5});
  model.Weight("cosines", {1, 1, 5, 4});
  model.Weight("sines", {1, 1, 5, 4});
  model.Add("Transpose", {"x"}, "heads", {{"perm", Ints{0, 2, 1, 3}}});
  model.Add("Mul", {"heads", "cosines"}, "a");
  model.Add("Slice",
            {"heads", model.Integers("low", {0}), model.Integers("half", {2}),
             model.Integers("last", {3})},
            "front");
  model.Add("Slice",
            {"heads", model.Integers("half2", {2}), model.Integers("high", {4}),
             model.Integers("last2", {3})},
            "back");
  model.Add("Neg", {"back"}, "negated");
  model.Add("Concat", {"negated", "front"}, "turned", {{"axis", int64_t{3}}});
  model.Add("Mul", {"turned", "sines"}, "b");
  model.Add("Add", {"a", "b"}, "placed");
  model.Add("MatMul", {"placed", "keys"}, "y");
  model.Output("y", {1, 2, 5, 5});
  const Graph graph = MustImportGraph(model);
  EXPECT_THAT(Describe(graph), Not(HasSubstr("transpose")));
  EXPECT_EQ(TensorNamed(graph, "placed").shape, (Shape{1, 5, 2, 4}));
  EXPECT_EQ(graph.operators.back().Own<MatmulAttributes>().operand_axes[0],
            (std::vector{0, 2, 1, 3}));
}

TEST(AbsorbedTransposes, StayIfAReaderNeedsTheCopy) {
  ModelBuilder model;
  model.Input("x", {5, 2, 4});
  model.Input("keys", {2, 4, 5});
  model.Add("Transpose", {"x"}, "heads", {{"perm", Ints{1, 0, 2}}});
  model.Add("MatMul", {"heads", "keys"}, "y");
  model.Add("CumSum", {"heads", model.Scalar("axis", 1)}, "sums");
  model.Output("y", {2, 5, 5});
  model.Output("sums", {2, 5, 4});
  const import::common::Import made = MustImport(model);
  EXPECT_THAT(Describe(made.graph), HasSubstr("transpose (x) -> heads [2, 5, 4]\n"));
  EXPECT_THAT(made.notes,
              testing::Contains("transposes that copy, 1: heads (sums needs that order)"));
}

TEST(AbsorbedTransposes, StayIfColumnsAreNotInnermost) {
  ModelBuilder model;
  model.Input("a", {5, 4});
  model.Input("b", {4, 3});
  model.Add("MatMul", {"a", "b"}, "product");
  model.Add("Transpose", {"product"}, "y", {{"perm", Ints{1, 0}}});
  model.Output("y", {3, 5});
  EXPECT_THAT(Describe(MustImportGraph(model)), HasSubstr("transpose (product) -> y [3, 5]\n"));
}

Shape DrawShape(Random& random) {
  Shape shape;
  for (int64_t axes = random.Uniform(2, 4); axes > 0; --axes) shape.push_back(random.Uniform(1, 3));
  return shape;
}

// Neighbouring axes merged, or one axis split into itself and an axis of extent 1.
Shape Regrouped(Random& random, Shape shape) {
  const size_t axis =
      static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(shape.size()) - 1));
  if (axis + 1 < shape.size() && shape.size() > 2 && random.Chance(0.6)) {
    shape[axis] *= shape[axis + 1];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  } else if (shape.size() < 5) {
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  }
  return shape;
}

// A few operators, among them many transposes and products.
class Drawing {
 public:
  explicit Drawing(Random& random) : random_(random) {
    for (int inputs = 0; inputs < 3; ++inputs) builder_.AddInput(DrawShape(random));
  }

  Graph Draw() {
    while (builder_.OperatorCount() < 7) AddOne();
    return std::move(builder_).Build();
  }

 private:
  int Any() {
    const int last = builder_.TensorCount() - 1;
    return random_.Chance(0.5) ? last : static_cast<int>(random_.Uniform(0, last));
  }

  void AddOne() {
    const int x = Any();
    const Shape shape = builder_.ShapeOf(x);
    Operator op;
    ops::Wanted wanted;
    std::vector<int> inputs = {x};
    const double kind = random_.Real();
    if (kind < 0.4) {
      op = OfKind(OperatorKind::kTranspose);
      op.own = TransposeAttributes{RandomAxes(random_, shape.size())};
    } else if (kind < 0.5) {
      op = OfKind(OperatorKind::kReshape);
      wanted.shape = Regrouped(random_, shape);
    } else if (kind < 0.6) {
      op = OfKind(OperatorKind::kSlice);
      auto& slice = op.MakeOwn<SliceAttributes>();
      Shape part = shape;
      for (int64_t& extent : part) {
        const int64_t all = extent;
        extent = random_.Uniform(1, all);
        slice.starts.push_back(random_.Uniform(0, all - extent));
      }
      wanted.shape = part;
    } else if (kind < 0.65) {
      op = OfKind(OperatorKind::kSoftmax);
      op.axes = {static_cast<int>(random_.Uniform(0, static_cast<int64_t>(shape.size()) - 1))};
    } else if (kind < 0.75) {
      op = OfKind(OperatorKind::kConcat);
      op.axis = static_cast<int>(random_.Uniform(0, static_cast<int64_t>(shape.size()) - 1));
      inputs.push_back(Any());
    } else if (kind < 0.85) {
      op = OfKind(OperatorKind::kElementwise);
      op.function = "add";
      if (random_.Chance(0.5)) inputs.push_back(Any());
    } else {
      op = OfKind(OperatorKind::kMatmul);
      auto& own = op.MakeOwn<MatmulAttributes>();
      own.transpose_first = random_.Chance(0.3);
      own.transpose_second = random_.Chance(0.3);
      inputs.push_back(Any());
    }
    std::vector<Shape> shapes;
    for (const int input : inputs) shapes.push_back(builder_.ShapeOf(input));
    Operator trial = op;
    const auto result = ops::InferShape(trial, wanted, shapes);
    if (result && ElementsOf(*result) <= 60) builder_.Add(std::move(op), wanted, inputs);
  }

  Random& random_;
  GraphBuilder builder_;
};

TEST(AbsorbedTransposes, KeepWhatEveryOutputDependsOn) {
  Random random(2041);
  std::map<OperatorKind, int> ended;  // regions, by the kind of a reader
  int made = 0;
  int kept = 0;
  for (int round = 0; round < 3000; ++round) {
    const Graph before = Drawing(random).Draw();
    import::common::Draft draft;
    draft.graph = before;
    import::common::AbsorbTransposes(draft);
    for (const Operator& op : before.operators) {
      if (op.kind != OperatorKind::kTranspose) continue;
      const std::string& result = before.tensors[static_cast<size_t>(op.outputs.front())].id;
      const bool stays = std::any_of(draft.graph.operators.begin(), draft.graph.operators.end(),
                                     [&](const Operator& other) { return other.id == op.id; });
      kept += stays ? 1 : 0;
      if (stays) continue;
      const auto maker = std::find_if(
          before.operators.begin(), before.operators.end(),
          [&](const Operator& other) { return other.outputs.front() == op.inputs.front(); });
      made += maker != before.operators.end() && maker->kind == OperatorKind::kMatmul ? 1 : 0;
      for (const Operator& reader : before.operators) {
        for (const int input : reader.inputs)
          ended[reader.kind] += before.tensors[static_cast<size_t>(input)].id == result ? 1 : 0;
      }
    }
    ASSERT_EQ(ElementDependenciesOf(draft.graph), ElementDependenciesOf(before))
        << "round " << round;
  }
  EXPECT_GE(made, 100);
  EXPECT_GE(kept, 1000);
  for (const OperatorKind kind :
       {OperatorKind::kMatmul, OperatorKind::kTranspose, OperatorKind::kReshape,
        OperatorKind::kSlice, OperatorKind::kSoftmax, OperatorKind::kConcat,
        OperatorKind::kElementwise})
    EXPECT_GE(ended[kind], 20) << base::TraitsOf(kind).name;
}

}  // namespace
}  // namespace tessera::graph::onnx
