// SPDX-License-Identifier: Apache-2.0

#include "graph_builder.h"

namespace tessera::graph {

using base::OperatorKind;

Operator OfKind(OperatorKind kind) {
  Operator op;
  op.kind = kind;
  return op;
}

int GraphBuilder::AddInput(Shape shape) {
  Tensor tensor;
  tensor.id = "t" + std::to_string(graph_.tensors.size());
  tensor.shape = std::move(shape);
  tensor.network_input = true;
  graph_.tensors.push_back(std::move(tensor));
  return TensorCount() - 1;
}

std::optional<int> GraphBuilder::Add(Operator op, const ops::Wanted& wanted,
                                     std::vector<int> inputs) {
  std::vector<Shape> shapes;
  for (const int input : inputs) shapes.push_back(ShapeOf(input));
  const auto shape = ops::InferShape(op, wanted, shapes);
  if (!shape) return std::nullopt;
  Tensor output;
  output.id = "t" + std::to_string(graph_.tensors.size());
  output.shape = *shape;
  op.id = output.id;
  op.inputs = std::move(inputs);
  op.outputs = {TensorCount()};
  graph_.tensors.push_back(std::move(output));
  graph_.operators.push_back(std::move(op));
  return TensorCount() - 1;
}

int GraphBuilder::AddConv(int input, int64_t channels, int64_t kernel, int64_t stride,
                          int64_t pad) {
  Operator op = OfKind(OperatorKind::kConv);
  op.window = {.kernel = {kernel, kernel},
               .stride = {stride, stride},
               .dilation = {1, 1},
               .pad_low = {pad, pad},
               .pad_high = {pad, pad}};
  ops::Wanted wanted;
  wanted.out_channels = channels;
  return Add(std::move(op), wanted, {input}).value();
}

int GraphBuilder::AddSum(int a, int b) {
  return Add(OfKind(OperatorKind::kElementwise), {}, {a, b}).value();
}

int GraphBuilder::AddConcat(std::vector<int> inputs, int axis) {
  Operator op = OfKind(OperatorKind::kConcat);
  op.axis = axis;
  return Add(std::move(op), {}, std::move(inputs)).value();
}

std::vector<int> GraphBuilder::AddOpaque(Operator op, const std::vector<Shape>& outputs,
                                         std::vector<int> inputs) {
  op.kind = OperatorKind::kOpaque;
  op.inputs = std::move(inputs);
  for (const Shape& shape : outputs) {
    Tensor output;
    output.id = "t" + std::to_string(graph_.tensors.size());
    output.shape = shape;
    op.outputs.push_back(TensorCount());
    graph_.tensors.push_back(std::move(output));
  }
  op.id = graph_.tensors[static_cast<size_t>(op.outputs.front())].id;
  const std::vector<int> made = op.outputs;
  graph_.operators.push_back(std::move(op));
  return made;
}

Graph GraphBuilder::Build() && {
  const std::vector<Usage> usages = UsagesOf(graph_);
  for (size_t i = 0; i < graph_.tensors.size(); ++i) {
    if (usages[i].consumers.empty()) graph_.tensors[i].network_output = true;
  }
  return std::move(graph_);
}

Graph OneOperator(Operator op, const ops::Wanted& wanted, const std::vector<Shape>& inputs) {
  GraphBuilder builder;
  std::vector<int> tensors;
  for (const Shape& shape : inputs) tensors.push_back(builder.AddInput(shape));
  builder.Add(std::move(op), wanted, tensors).value();
  return std::move(builder).Build();
}

}  // namespace tessera::graph
