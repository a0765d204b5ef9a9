// SPDX-License-Identifier: Apache-2.0

#include "random_sum.h"

#include <string>
#include <utility>

#include "random_graph.h"

namespace tessera::graph {
namespace {

using base::DataType;
using base::OperatorKind;
using base::Random;

int AddTensor(Graph& graph, const std::string& id, Shape shape, DataType type) {
  Tensor tensor;
  tensor.id = id;
  tensor.shape = std::move(shape);
  tensor.type = type;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<int>(graph.tensors.size()) - 1;
}

int AddConstant(Graph& graph, const std::string& id, Shape shape, DataType type) {
  const int constant = AddTensor(graph, id, std::move(shape), type);
  graph.tensors.back().constant = true;
  return constant;
}

// An input of the network, or the result of an elementwise operator on one.
int AddOperand(Random& random, Graph& graph, const std::string& id, const Shape& shape,
               DataType type) {
  const int input = AddTensor(graph, id, shape, type);
  graph.tensors.back().network_input = true;
  if (random.Chance(0.7)) return input;
  Operator op;
  op.id = "make_" + id;
  op.kind = OperatorKind::kElementwise;
  op.function = "relu";
  op.inputs = {input};
  op.outputs = {AddTensor(graph, "made_" + id, shape, type)};
  graph.operators.push_back(op);
  return op.outputs.front();
}

void AddConv(Random& random, Graph& graph, DataType type) {
  Operator op;
  op.id = "conv";
  const bool transposed = random.Chance(0.3);
  op.kind = transposed ? OperatorKind::kTransposedConv : OperatorKind::kConv;
  Shape in = {random.Uniform(1, 2), random.Uniform(2, 9), random.Uniform(2, 6),
              random.Uniform(2, 5)};
  Shape out = {in[0], random.Uniform(1, 6), 0, 0};
  Shape filters = {out[1], in[1], 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    op.window.kernel[axis] = random.Uniform(1, 2);
    op.window.stride[axis] = random.Uniform(1, 2);
    op.window.pad_low[axis] = random.Uniform(0, op.window.kernel[axis] - 1);
    op.window.pad_high[axis] = random.Uniform(0, op.window.kernel[axis] - 1);
    const int64_t pads = op.window.pad_low[axis] + op.window.pad_high[axis];
    out[axis + 2] =
        transposed ? (in[axis + 2] - 1) * op.window.stride[axis] + op.window.kernel[axis] - pads
                   : (in[axis + 2] + pads - op.window.kernel[axis]) / op.window.stride[axis] + 1;
    filters[axis + 2] = op.window.kernel[axis];
  }
  op.inputs = {AddOperand(random, graph, "x", in, type)};
  op.weights = {AddConstant(graph, "w", filters, type)};
  if (random.Chance(0.3))
    op.weights.push_back(AddConstant(graph, "bias", {out[1]}, DataType::kInt32));
  op.outputs = {AddTensor(graph, "y", out, type)};
  graph.operators.push_back(std::move(op));
}

void AddMatmul(Random& random, Graph& graph, DataType type) {
  Operator op;
  op.id = "matmul";
  op.kind = OperatorKind::kMatmul;
  const int64_t depth = random.Uniform(2, 9);
  Shape leading;
  for (int64_t axes = random.Uniform(0, 2); axes > 0; --axes)
    leading.push_back(random.Uniform(1, 3));
  const int64_t rows = random.Uniform(1, 5);
  const int64_t columns = random.Uniform(1, 6);
  const auto with = [&leading](int64_t first, int64_t second) {
    Shape shape = leading;
    shape.push_back(first);
    shape.push_back(second);
    return shape;
  };
  auto& own = op.MakeOwn<MatmulAttributes>();
  own.transpose_first = random.Chance(0.3);
  // The shape in which the product takes an operand is drawn, then the order in which it is stored.
  const auto stored = [&](size_t operand, const Shape& taken) {
    if (random.Chance(0.4)) own.operand_axes[operand] = RandomAxes(random, taken.size());
    Shape shape = taken;
    for (size_t axis = 0; axis < own.operand_axes[operand].size(); ++axis)
      shape[static_cast<size_t>(own.operand_axes[operand][axis])] = taken[axis];
    return shape;
  };
  op.inputs = {AddOperand(random, graph, "a",
                          stored(0, own.transpose_first ? with(depth, rows) : with(rows, depth)),
                          type)};
  if (random.Chance(0.5)) {
    own.transpose_second = random.Chance(0.5);
    op.inputs.push_back(AddOperand(
        random, graph, "b",
        stored(1, own.transpose_second ? with(columns, depth) : with(depth, columns)), type));
  } else {
    op.weights = {AddConstant(graph, "w", {depth, columns}, type)};
    if (random.Chance(0.3))
      op.weights.push_back(AddConstant(graph, "bias", {columns}, DataType::kInt32));
  }
  Shape result = with(rows, columns);
  if (random.Chance(0.3)) {
    own.result_axes = RandomAxes(random, result.size() - 1);
    own.result_axes.push_back(static_cast<int>(result.size()) - 1);
    const Shape product = result;
    for (size_t axis = 0; axis < result.size(); ++axis)
      result[axis] = product[static_cast<size_t>(own.result_axes[axis])];
  }
  op.outputs = {AddTensor(graph, "y", result, type)};
  graph.operators.push_back(std::move(op));
}

// A global pool, or a reduction over one to all axes.
void AddReduction(Random& random, Graph& graph, DataType type) {
  Operator op;
  Shape in = {random.Uniform(1, 2), random.Uniform(1, 4), random.Uniform(2, 9),
              random.Uniform(1, 5)};
  Shape out = {in[0], in[1], 1, 1};
  const bool keeps = random.Chance(0.5);
  if (random.Chance(0.5)) {
    op.kind = OperatorKind::kGlobalPool;
    op.function = random.Chance(0.5) ? "average" : "max";
    if (!keeps) out.resize(2);
  } else {
    op.kind = OperatorKind::kReduce;
    op.function = random.Chance(0.5) ? "mean" : "max";
    in.resize(static_cast<size_t>(random.Uniform(1, 4)));
    out.clear();
    for (size_t axis = 0; axis < in.size(); ++axis) {
      const bool last = axis + 1 == in.size();
      if ((last && op.axes.empty()) || random.Chance(0.5)) {
        op.axes.push_back(static_cast<int>(axis));
        if (keeps) out.push_back(1);
      } else {
        out.push_back(in[axis]);
      }
    }
  }
  op.id = "reduction";
  op.inputs = {AddOperand(random, graph, "x", in, type)};
  op.outputs = {AddTensor(graph, "y", out, type)};
  graph.operators.push_back(std::move(op));
}

}  // namespace

Graph RandomSum(Random& random, DataType type) {
  Graph graph;
  graph.name = "sum";
  if (random.Chance(0.35)) {
    AddConv(random, graph, type);
  } else if (random.Chance(0.35)) {
    AddReduction(random, graph, type);
  } else {
    AddMatmul(random, graph, type);
  }
  graph.tensors.back().network_output = true;
  return graph;
}

}  // namespace tessera::graph
