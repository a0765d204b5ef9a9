#include "random_sum.h"

#include <string>
#include <utility>

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
  op.kind = OperatorKind::kConv;
  Shape in = {random.Uniform(1, 2), random.Uniform(2, 9), random.Uniform(2, 6),
              random.Uniform(2, 5)};
  Shape out = {in[0], random.Uniform(1, 6), 0, 0};
  Shape filters = {out[1], in[1], 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    op.window.kernel[axis] = random.Uniform(1, 2);
    op.window.stride[axis] = random.Uniform(1, 2);
    op.window.pad_low[axis] = random.Uniform(0, op.window.kernel[axis] - 1);
    op.window.pad_high[axis] = random.Uniform(0, op.window.kernel[axis] - 1);
    const int64_t room =
        in[axis + 2] + op.window.pad_low[axis] + op.window.pad_high[axis] - op.window.kernel[axis];
    out[axis + 2] = room / op.window.stride[axis] + 1;
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
  op.transpose_first = random.Chance(0.3);
  op.inputs = {AddOperand(random, graph, "a",
                          op.transpose_first ? with(depth, rows) : with(rows, depth), type)};
  if (random.Chance(0.5)) {
    op.transpose_second = random.Chance(0.5);
    op.inputs.push_back(
        AddOperand(random, graph, "b",
                   op.transpose_second ? with(columns, depth) : with(depth, columns), type));
  } else {
    op.weights = {AddConstant(graph, "w", {depth, columns}, type)};
    if (random.Chance(0.3))
      op.weights.push_back(AddConstant(graph, "bias", {columns}, DataType::kInt32));
  }
  op.outputs = {AddTensor(graph, "y", with(rows, columns), type)};
  graph.operators.push_back(std::move(op));
}

}  // namespace

Graph RandomSum(Random& random, DataType type) {
  Graph graph;
  graph.name = "sum";
  if (random.Chance(0.4)) {
    AddConv(random, graph, type);
  } else {
    AddMatmul(random, graph, type);
  }
  graph.tensors.back().network_output = true;
  return graph;
}

}  // namespace tessera::graph
