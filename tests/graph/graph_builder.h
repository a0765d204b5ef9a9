// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/ops/shape_inference.h"

// Small graphs for tests, built by hand; random_graph.h draws them.
namespace tessera::graph {

class GraphBuilder {
 public:
  int AddInput(Shape shape);

  // Adds the operator if its attributes fit its inputs; returns the index of its output tensor, or
  // nullopt.
  std::optional<int> Add(Operator op, const ops::Wanted& wanted, std::vector<int> inputs);

  // Adds an opaque operator, described by op.accesses if there are any, with outputs of these
  // shapes; returns their indices.
  std::vector<int> AddOpaque(Operator op, const std::vector<Shape>& outputs,
                             std::vector<int> inputs);

  // Adds an operator of one of the windowed kinds, with a square window.
  int AddConv(int input, int64_t channels, int64_t kernel, int64_t stride = 1, int64_t pad = 0);
  int AddSum(int a, int b);
  int AddConcat(std::vector<int> inputs, int axis);

  const Shape& ShapeOf(int tensor) const {
    return graph_.tensors[static_cast<size_t>(tensor)].shape;
  }
  int TensorCount() const { return static_cast<int>(graph_.tensors.size()); }
  int OperatorCount() const { return static_cast<int>(graph_.operators.size()); }

  // Tensors without a reader become network outputs.
  Graph Build() &&;

 private:
  Graph graph_;
};

Operator OfKind(base::OperatorKind kind);

// One operator on inputs of these shapes, which it must fit.
Graph OneOperator(Operator op, const ops::Wanted& wanted, const std::vector<Shape>& inputs);

}  // namespace tessera::graph
