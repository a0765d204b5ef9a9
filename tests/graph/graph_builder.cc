#include "graph_builder.h"

#include <algorithm>
#include <array>

namespace tessera::graph {
namespace {

using base::OperatorKind;

// A reshape whose every axis is a product of neighbours, or a factor of one axis.
Shape RandomRegrouping(base::Random& random, const Shape& shape) {
  Shape regrouped;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (random.Chance(0.2)) regrouped.push_back(1);
    if (random.Chance(0.3) && axis + 1 < shape.size()) {
      regrouped.push_back(shape[axis] * shape[axis + 1]);
      ++axis;
    } else if (shape[axis] % 2 == 0 && random.Chance(0.5)) {
      regrouped.push_back(2);
      regrouped.push_back(shape[axis] / 2);
    } else {
      regrouped.push_back(shape[axis]);
    }
  }
  return regrouped;
}

void DrawWindow(base::Random& random, Operator& op, Wanted& wanted) {
  for (size_t axis = 0; axis < 2; ++axis) {
    op.window.kernel[axis] = random.Uniform(1, 4);
    op.window.stride[axis] = random.Uniform(1, 3);
    op.window.dilation[axis] = random.Chance(0.7) ? 1 : random.Uniform(1, 4);
    op.window.pad_low[axis] = random.Chance(0.3) ? 0 : random.Uniform(0, 5);
    op.window.pad_high[axis] = random.Chance(0.3) ? 0 : random.Uniform(0, 5);
  }
  wanted.same_pads = random.Chance(0.2);
}

}  // namespace

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

std::optional<int> GraphBuilder::Add(Operator op, const Wanted& wanted, std::vector<int> inputs) {
  std::vector<Shape> shapes;
  for (const int input : inputs) shapes.push_back(ShapeOf(input));
  const auto shape = InferShape(op, wanted, shapes);
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

int GraphBuilder::AddConv(int input, int64_t channels, int64_t kernel, int64_t stride, int64_t pad) {
  Operator op = OfKind(OperatorKind::kConv);
  op.window = {.kernel = {kernel, kernel},
               .stride = {stride, stride},
               .dilation = {1, 1},
               .pad_low = {pad, pad},
               .pad_high = {pad, pad}};
  Wanted wanted;
  wanted.out_channels = channels;
  return Add(std::move(op), wanted, {input}).value();
}

int GraphBuilder::AddSum(int a, int b) { return Add(OfKind(OperatorKind::kElementwise), {}, {a, b}).value(); }

int GraphBuilder::AddConcat(std::vector<int> inputs, int axis) {
  Operator op = OfKind(OperatorKind::kConcat);
  op.axis = axis;
  return Add(std::move(op), {}, std::move(inputs)).value();
}

Graph GraphBuilder::Build() && {
  const std::vector<Usage> usages = UsagesOf(graph_);
  for (size_t i = 0; i < graph_.tensors.size(); ++i) {
    if (usages[i].consumers.empty()) graph_.tensors[i].network_output = true;
  }
  return std::move(graph_);
}

std::optional<int> AddRandomOperator(base::Random& random, GraphBuilder& builder) {
  static constexpr std::array<OperatorKind, 14> kKinds = {
      OperatorKind::kConv,        OperatorKind::kConv,        OperatorKind::kDepthwise,
      OperatorKind::kPool,        OperatorKind::kConcat,      OperatorKind::kMatmul,
      OperatorKind::kElementwise, OperatorKind::kElementwise, OperatorKind::kReshape,
      OperatorKind::kResize,      OperatorKind::kTranspose,   OperatorKind::kSoftmax,
      OperatorKind::kConcat,      OperatorKind::kGlobalPool};
  Operator op = OfKind(kKinds[static_cast<size_t>(random.Uniform(0, 13))]);
  Wanted wanted;
  const auto draw_tensor = [&] { return static_cast<int>(random.Uniform(0, builder.TensorCount() - 1)); };
  // Mostly the newest tensor, so that graphs are deep.
  std::vector<int> inputs = {random.Chance(0.6) ? builder.TensorCount() - 1 : draw_tensor()};
  const Shape& shape = builder.ShapeOf(inputs.front());
  const auto rank = static_cast<int>(shape.size());
  const bool binary = op.kind == OperatorKind::kConcat || op.kind == OperatorKind::kElementwise ||
                      (op.kind == OperatorKind::kMatmul && random.Chance(0.7));
  if (binary) inputs.push_back(draw_tensor());
  op.groups = random.Chance(0.6) ? 1 : 2;
  wanted.out_channels = random.Uniform(1, 3) * op.groups;
  wanted.multiplier = random.Uniform(1, 2);
  wanted.columns = random.Uniform(1, 4);
  wanted.keep_axes = random.Chance(0.8);
  wanted.size = {random.Uniform(1, 9), random.Uniform(1, 9)};
  wanted.shape = RandomRegrouping(random, shape);
  op.transpose_second = random.Chance(0.5);
  op.resize.mode = random.Chance(0.5) ? ResizeMode::kNearest : ResizeMode::kBilinear;
  op.axis = static_cast<int>(random.Uniform(0, rank - 1));
  op.axes = {op.axis};
  if (op.kind == OperatorKind::kTranspose) {
    for (int axis = 0; axis < rank; ++axis) op.permutation.push_back(axis);
    random.Shuffle(std::span<int>(op.permutation));
  }
  DrawWindow(random, op, wanted);
  return builder.Add(std::move(op), wanted, std::move(inputs));
}

Graph RandomGraph(base::Random& random, int operators) {
  GraphBuilder builder;
  const Shape shape = {1, random.Uniform(1, 2) * 2, random.Uniform(3, 7), random.Uniform(3, 7)};
  builder.AddInput(shape);
  if (random.Chance(0.5)) builder.AddInput(shape);
  while (builder.OperatorCount() < operators) AddRandomOperator(random, builder);
  return std::move(builder).Build();
}

Box RandomBox(base::Random& random, const Shape& shape) {
  Box box;
  for (const int64_t extent : shape) {
    const int64_t begin = random.Uniform(0, extent - 1);
    box.push_back({begin, random.Uniform(begin + 1, extent)});
  }
  return box;
}

}  // namespace tessera::graph
