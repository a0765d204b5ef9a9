// SPDX-License-Identifier: Apache-2.0

#include "random_graph.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace tessera::graph {
namespace {

using base::OperatorKind;
using base::Random;

// One operator while it is drawn, on inputs of these shapes.
struct Draft {
  Operator op;
  ops::Wanted wanted;
  std::vector<Shape> inputs;
};

template <typename Value>
Value DrawOne(Random& random, Value last) {
  return static_cast<Value>(random.Uniform(0, static_cast<int64_t>(last)));
}

std::vector<int> DrawAxes(Random& random, int rank) {
  std::vector<int> axes;
  for (int axis = 0; axis < rank; ++axis) {
    if (random.Chance(0.4)) axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back(static_cast<int>(random.Uniform(0, rank - 1)));
  return axes;
}

Window DrawWindow(Random& random) {
  Window window;
  for (size_t axis = 0; axis < 2; ++axis) {
    window.kernel[axis] = random.Uniform(1, 4);
    window.stride[axis] = random.Uniform(1, 3);
    window.dilation[axis] = random.Chance(0.7) ? 1 : random.Uniform(1, 4);
    window.pad_low[axis] = random.Chance(0.3) ? 0 : random.Uniform(0, 5);
    window.pad_high[axis] = random.Chance(0.3) ? 0 : random.Uniform(0, 5);
  }
  // Windows of one pixel, which engines take as products, would be rare.
  if (window.kernel[0] == 1 && window.stride[0] == 1) window.kernel[1] = window.stride[1] = 1;
  return window;
}

void DrawWindowed(Random& random, Draft& draft) {
  draft.op.window = DrawWindow(random);
  draft.op.groups = random.Chance(0.6) ? 1 : 2;
  draft.wanted.out_channels = random.Uniform(1, 3) * draft.op.groups;
  draft.wanted.multiplier = random.Uniform(1, 2);
  draft.wanted.same_pads = random.Chance(0.2);
  draft.wanted.ceil_mode = random.Chance(0.4);
  draft.wanted.output_padding = {random.Uniform(0, 2), random.Uniform(0, 2)};
}

// A reshape whose every axis is a product of neighbours, or a factor of one axis or of two.
Shape DrawRegrouping(Random& random, const Shape& shape) {
  Shape regrouped;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (random.Chance(0.2)) regrouped.push_back(1);
    if (random.Chance(0.15) && axis + 1 < shape.size()) {
      const int64_t both = shape[axis] * shape[axis + 1];
      int64_t rows = random.Uniform(1, both);
      while (both % rows != 0) --rows;
      regrouped.push_back(rows);
      regrouped.push_back(both / rows);
      ++axis;
    } else if (random.Chance(0.3) && axis + 1 < shape.size()) {
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

void DrawSlice(Random& random, Draft& draft) {
  draft.wanted.shape.emplace();
  auto& [starts, steps] = draft.op.MakeOwn<SliceAttributes>();
  for (const int64_t extent : draft.inputs[0]) {
    const int64_t count = random.Chance(0.5) ? extent : random.Uniform(1, extent);
    const int64_t step = count > 1 ? random.Uniform(1, (extent - 1) / (count - 1)) : 1;
    const int64_t first = random.Uniform(0, extent - 1 - (count - 1) * step);
    const bool down = random.Chance(0.3);
    starts.push_back(down ? first + (count - 1) * step : first);
    steps.push_back(down ? -step : step);
    draft.wanted.shape->push_back(count);
  }
}

void DrawPadding(Random& random, Draft& draft) {
  auto& [mode, low, high] = draft.op.MakeOwn<PadAttributes>();
  mode = DrawOne(random, PadMode::kWrap);
  for (size_t axis = 0; axis < draft.inputs[0].size(); ++axis) {
    low.push_back(random.Chance(0.6) ? 0 : random.Uniform(1, 7));
    high.push_back(random.Chance(0.6) ? 0 : random.Uniform(1, 7));
  }
}

void DrawGather(Random& random, Draft& draft) {
  draft.wanted.keep_axes = random.Chance(0.7);
  const int64_t extent = draft.inputs[0][static_cast<size_t>(draft.op.axis)];
  const int64_t count = draft.wanted.keep_axes ? random.Uniform(1, 4) : 1;
  std::vector<int64_t>& indices = draft.op.MakeOwn<GatherAttributes>().indices;
  for (int64_t i = 0; i < count; ++i) indices.push_back(random.Uniform(0, extent - 1));
}

void DrawResize(Random& random, Draft& draft) {
  ResizeAttributes& resize = draft.op.MakeOwn<ResizeAttributes>();
  resize.mode = DrawOne(random, ResizeMode::kCubic);
  resize.coordinates = DrawOne(random, ResizeCoordinates::kTfHalfPixelForNn);
  resize.rounding = DrawOne(random, NearestRounding::kCeil);
  const bool stated = random.Chance(0.4);
  const bool sized = !stated || random.Chance(0.3);
  for (size_t axis = 0; axis < std::min<size_t>(draft.inputs[0].size(), 2); ++axis) {
    if (stated) resize.scales.push_back({random.Uniform(1, 5), random.Uniform(1, 5)});
    if (sized) draft.wanted.size.push_back(random.Uniform(1, 9));
  }
}

void DrawProduct(Random& random, Draft& draft) {
  auto& own = draft.op.MakeOwn<MatmulAttributes>();
  own.transpose_first = random.Chance(0.5);
  own.transpose_second = random.Chance(0.5);
  // A generator of its own: tests name the seeds of rare graphs, which this one leaves as they are.
  uint64_t seed = own.transpose_first ? 1 : 2;
  for (const Shape& shape : draft.inputs)
    seed = seed * 1000 + static_cast<uint64_t>(ElementsOf(shape));
  Random orders(seed + 7);
  size_t rank = 0;
  for (size_t i = 0; i < draft.inputs.size(); ++i) {
    rank = std::max(rank, draft.inputs[i].size());
    if (orders.Chance(0.4)) own.operand_axes.at(i) = RandomAxes(orders, draft.inputs[i].size());
  }
  if (rank == 0 || orders.Chance(0.6)) return;
  own.result_axes = RandomAxes(orders, rank - 1);
  own.result_axes.push_back(static_cast<int>(rank) - 1);
}

void DrawAttributes(Random& random, Draft& draft) {
  const auto rank = static_cast<int>(draft.inputs[0].size());
  draft.op.axis = static_cast<int>(random.Uniform(0, rank - 1));
  draft.wanted.keep_axes = random.Chance(0.8);
  switch (draft.op.kind) {
    case OperatorKind::kConv:
    case OperatorKind::kDepthwise:
    case OperatorKind::kTransposedConv:
    case OperatorKind::kPool:
      return DrawWindowed(random, draft);
    case OperatorKind::kReduce:
    case OperatorKind::kSoftmax:
    case OperatorKind::kLayerNorm:
      draft.op.axes = DrawAxes(random, rank);
      return;
    case OperatorKind::kSlice:
      return DrawSlice(random, draft);
    case OperatorKind::kPad:
      return DrawPadding(random, draft);
    case OperatorKind::kGather:
      return DrawGather(random, draft);
    case OperatorKind::kMatmul:
      draft.wanted.columns = random.Uniform(1, 4);
      return DrawProduct(random, draft);
    case OperatorKind::kReshape:
      draft.wanted.shape = DrawRegrouping(random, draft.inputs[0]);
      return;
    case OperatorKind::kResize:
      return DrawResize(random, draft);
    case OperatorKind::kTranspose: {
      draft.op.own = TransposeAttributes{RandomAxes(random, static_cast<size_t>(rank))};
      return;
    }
    case OperatorKind::kDepthToSpace:
    case OperatorKind::kSpaceToDepth:
      draft.op.own = DepthSpaceAttributes{.block = random.Uniform(1, 3),
                                          .order = DrawOne(random, DepthOrder::kCrd)};
      return;
    case OperatorKind::kCumsum:
      draft.op.own =
          base::CumsumAttributes{.exclusive = random.Chance(0.5), .reverse = random.Chance(0.5)};
      return;
    case OperatorKind::kSpaceToBatch:
      draft.op.own =
          base::SpaceToBatchAttributes{.block = {random.Uniform(1, 3), random.Uniform(1, 3)}};
      return;
    case OperatorKind::kTopK: {
      draft.op.axes = {draft.op.axis};
      const int64_t extent = draft.inputs[0][static_cast<size_t>(draft.op.axis)];
      draft.op.own = base::TopKAttributes{.k = random.Uniform(1, extent),
                                          .largest = random.Chance(0.5),
                                          .sorted = random.Chance(0.5),
                                          .result = random.Chance(0.5) ? "values" : "indices"};
      return;
    }
    default:
      return;
  }
}

// A described operator on one or two tensors whose output has the shape of the first, or that of
// its windows.
std::optional<int> AddDescribed(Random& random, GraphBuilder& builder, Draft draft,
                                std::vector<int> inputs) {
  const Shape output = draft.inputs[0];
  for (const Shape& input : draft.inputs) {
    OperandAccess access;
    access.kind = DrawOne(random, ReadPattern::kWindow);
    access.window = DrawWindow(random);
    access.every_channel = random.Chance(0.5);
    if (ops::CheckAccess(access, input, output)) return std::nullopt;
    draft.op.accesses.push_back(access);
  }
  draft.op.macs = random.Uniform(0, 1000);
  return builder.AddOpaque(std::move(draft.op), {output}, std::move(inputs)).front();
}

bool TakesTwo(Random& random, OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kConcat:
    case OperatorKind::kElementwise:
      return true;
    case OperatorKind::kMatmul:
    case OperatorKind::kOpaque:
      return random.Chance(0.7);
    default:
      return false;
  }
}

}  // namespace

std::optional<int> AddRandomOperator(Random& random, GraphBuilder& builder) {
  Draft draft;
  draft.op.kind = DrawOne(random, OperatorKind::kOpaque);
  const auto draw_tensor = [&] {
    return static_cast<int>(random.Uniform(0, builder.TensorCount() - 1));
  };
  std::vector<int> inputs = {random.Chance(0.6) ? builder.TensorCount() - 1 : draw_tensor()};
  if (TakesTwo(random, draft.op.kind)) inputs.push_back(draw_tensor());
  for (const int input : inputs) draft.inputs.push_back(builder.ShapeOf(input));
  DrawAttributes(random, draft);
  if (draft.op.kind == OperatorKind::kOpaque) return AddDescribed(random, builder, draft, inputs);
  Operator trial = draft.op;
  const auto shape = ops::InferShape(trial, draft.wanted, draft.inputs);
  if (!shape || shape->empty() || ElementsOf(*shape) > kMostRandomElements) return std::nullopt;
  return builder.Add(std::move(draft.op), draft.wanted, std::move(inputs));
}

std::vector<int> RandomAxes(Random& random, size_t rank) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  random.Shuffle(std::span<int>(axes));
  return axes;
}

Graph RandomGraph(Random& random, int operators) {
  GraphBuilder builder;
  Shape shape = {1, random.Uniform(1, 2) * 2, random.Uniform(3, 7), random.Uniform(3, 7)};
  if (random.Chance(0.2)) {
    shape.clear();
    for (int64_t rank = random.Uniform(1, 5); rank > 0; --rank)
      shape.push_back(random.Uniform(1, 4));
  }
  builder.AddInput(shape);
  if (random.Chance(0.5)) builder.AddInput(shape);
  while (builder.OperatorCount() < operators) AddRandomOperator(random, builder);
  return std::move(builder).Build();
}

Graph RandomDepthwiseChain(Random& random, int operators) {
  GraphBuilder builder;
  builder.AddInput({random.Chance(0.8) ? 1 : 2, random.Uniform(1, 4), random.Uniform(3, 9),
                    random.Uniform(3, 9)});
  while (builder.OperatorCount() < operators) {
    const bool last = random.Chance(0.85);
    const int input = last ? builder.TensorCount() - 1
                           : static_cast<int>(random.Uniform(0, builder.TensorCount() - 1));
    if (random.Chance(0.15)) {
      builder.AddConv(input, random.Uniform(1, 4), 1);
      continue;
    }
    Draft draft;
    draft.op.kind = random.Chance(0.2) ? OperatorKind::kElementwise : OperatorKind::kDepthwise;
    if (draft.op.kind == OperatorKind::kDepthwise) DrawWindowed(random, draft);
    if (random.Chance(0.8)) draft.wanted.multiplier = 1;
    builder.Add(std::move(draft.op), draft.wanted, {input});
  }
  return std::move(builder).Build();
}

Graph RandomRecurrence(Random& random, int operators) {
  GraphBuilder builder;
  const Shape shape = {1, random.Uniform(1, 3), random.Uniform(3, 8), random.Uniform(3, 8)};
  const int state = builder.AddInput(shape);
  int taken = builder.AddInput(shape);
  if (random.Chance(0.4)) taken = builder.AddConv(taken, shape[1], 3, 1, 1);
  const int next = random.Chance(0.7)
                       ? builder.AddSum(state, taken)
                       : builder.AddConcat({state, taken}, static_cast<int>(random.Uniform(1, 3)));
  while (builder.OperatorCount() < operators) AddRandomOperator(random, builder);
  Graph graph = std::move(builder).Build();
  graph.tensors[static_cast<size_t>(state)].network_input = false;
  graph.tensors[static_cast<size_t>(state)].state = true;
  graph.tensors[static_cast<size_t>(next)].next_of = state;
  graph.tensors[static_cast<size_t>(next)].network_output = true;
  return graph;
}

void DrawStates(Random& random, Graph& graph) {
  const std::vector<Usage> usages = UsagesOf(graph);
  for (size_t state = 0; state < graph.tensors.size(); ++state) {
    Tensor& now = graph.tensors[state];
    if (!now.network_input || !random.Chance(0.5)) continue;
    now.network_input = false;
    now.state = true;
    for (size_t i = graph.tensors.size(); i-- > 0;) {
      Tensor& next = graph.tensors[i];
      if (usages[i].producer < 0 || next.next_of >= 0 || next.type != now.type ||
          next.shape.size() != now.shape.size() || random.Chance(0.3))
        continue;
      next.next_of = static_cast<int>(state);
      next.network_output = true;
      break;
    }
  }
}

ops::Box RandomBox(Random& random, const Shape& shape) {
  ops::Box box;
  for (const int64_t extent : shape) {
    const int64_t begin = random.Uniform(0, extent - 1);
    box.push_back({begin, random.Uniform(begin + 1, extent)});
  }
  return box;
}

}  // namespace tessera::graph
