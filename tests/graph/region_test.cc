#include "tessera/graph/region.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>
#include <set>

#include "graph_builder.h"

// Regions against an oracle that goes element by element through each operator's definition.
namespace tessera::graph {
namespace {

using base::OperatorKind;
using Index = std::vector<int64_t>;

// Calls `visit` with every index of the box.
void ForEach(const Box& box, const std::function<void(const Index&)>& visit) {
  Index index;
  for (const Extent& extent : box) index.push_back(extent.begin);
  for (;;) {
    visit(index);
    size_t axis = box.size();
    while (axis > 0 && ++index[axis - 1] == box[axis - 1].end) {
      index[axis - 1] = box[axis - 1].begin;
      --axis;
    }
    if (axis == 0) return;
  }
}

// The choices for each axis of an input; one output element reads their product.
using Choices = std::vector<std::set<int64_t>>;

std::set<int64_t> All(int64_t extent) {
  std::set<int64_t> all;
  for (int64_t i = 0; i < extent; ++i) all.insert(i);
  return all;
}

std::set<int64_t> Taps(const Window& window, size_t axis, int64_t output, int64_t extent) {
  std::set<int64_t> taps;
  for (int64_t t = 0; t < window.kernel[axis]; ++t) {
    const int64_t place = output * window.stride[axis] - window.pad_low[axis] + t * window.dilation[axis];
    if (0 <= place && place < extent) taps.insert(place);
  }
  return taps;
}

// Indices within reach of the place (2x + 1) / (2 out) * in - 1/2, measured in units of 1 / (2 out): the
// nearest, the lower of two, or all closer than one.
std::set<int64_t> Samples(ResizeMode mode, int64_t x, int64_t in, int64_t out) {
  const int64_t place = (2 * x + 1) * in - out;
  const auto distance = [&](int64_t i) { return std::abs(2 * out * i - place); };
  std::set<int64_t> samples;
  int64_t nearest = -1;
  for (int64_t i = -1; i <= in; ++i) {
    if (distance(i) < distance(nearest)) nearest = i;
    if (mode == ResizeMode::kBilinear && distance(i) < 2 * out)
      samples.insert(std::clamp<int64_t>(i, 0, in - 1));
  }
  if (mode == ResizeMode::kNearest) samples.insert(std::clamp<int64_t>(nearest, 0, in - 1));
  return samples;
}

Choices Aligned(const Shape& input, const Shape& output, const Index& y) {
  Choices choices;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    choices.push_back({input[axis] == 1 ? 0 : y[axis + output.size() - input.size()]});
  }
  return choices;
}

Choices Unflatten(const Shape& input, const Shape& output, const Index& y) {
  int64_t flat = 0;
  for (size_t axis = 0; axis < output.size(); ++axis) flat = flat * output[axis] + y[axis];
  Choices choices(input.size());
  for (size_t axis = input.size(); axis-- > 0;) {
    choices[axis] = {flat % input[axis]};
    flat /= input[axis];
  }
  return choices;
}

Choices ReadsOf(const Graph& graph, const Operator& op, size_t number, const Index& y) {
  const auto shape = [&](int tensor) { return graph.tensors[static_cast<size_t>(tensor)].shape; };
  const Shape input = shape(op.inputs[number]);
  const Shape output = shape(op.outputs[0]);
  switch (op.kind) {
    case OperatorKind::kConv:
    case OperatorKind::kDepthwise: {
      const int64_t groups = op.kind == OperatorKind::kConv ? op.groups : input[1];
      const int64_t group = y[1] / (output[1] / groups);
      std::set<int64_t> channels;
      for (int64_t c = 0; c < input[1]; ++c) {
        if (c / (input[1] / groups) == group) channels.insert(c);
      }
      return {{y[0]}, channels, Taps(op.window, 0, y[2], input[2]), Taps(op.window, 1, y[3], input[3])};
    }
    case OperatorKind::kPool:
      return {{y[0]}, {y[1]}, Taps(op.window, 0, y[2], input[2]), Taps(op.window, 1, y[3], input[3])};
    case OperatorKind::kGlobalPool:
      return {{y[0]}, {y[1]}, All(input[2]), All(input[3])};
    case OperatorKind::kElementwise:
      return Aligned(input, output, y);
    case OperatorKind::kConcat: {
      Choices choices;
      for (const int64_t index : y) choices.push_back({index});
      const auto axis = static_cast<size_t>(op.axis);
      int64_t index = y[axis];
      for (size_t i = 0; i < number; ++i) index -= shape(op.inputs[i])[axis];
      choices[axis].clear();
      if (0 <= index && index < input[axis]) choices[axis] = {index};
      return choices;
    }
    case OperatorKind::kMatmul: {
      Choices choices = Aligned(input, output, y);
      const size_t rank = input.size();
      if (number == 0) {
        choices[rank - 2] = {y[y.size() - 2]};
        choices[rank - 1] = All(input[rank - 1]);
      } else {
        const size_t columns = op.transpose_second ? rank - 2 : rank - 1;
        const size_t depth = op.transpose_second ? rank - 1 : rank - 2;
        choices[columns] = {y.back()};
        choices[depth] = All(input[depth]);
      }
      return choices;
    }
    case OperatorKind::kSoftmax:
    case OperatorKind::kLayerNorm: {
      Choices choices = Aligned(input, output, y);
      for (const int axis : op.axes)
        choices[static_cast<size_t>(axis)] = All(input[static_cast<size_t>(axis)]);
      return choices;
    }
    case OperatorKind::kReshape:
      return Unflatten(input, output, y);
    case OperatorKind::kResize: {
      Choices choices;
      for (size_t axis = 0; axis < y.size(); ++axis) {
        choices.push_back(Samples(op.resize.mode, y[axis], input[axis], output[axis]));
      }
      return choices;
    }
    case OperatorKind::kTranspose: {
      Choices choices(input.size());
      for (size_t axis = 0; axis < y.size(); ++axis)
        choices[static_cast<size_t>(op.permutation[axis])] = {y[axis]};
      return choices;
    }
    default:
      break;
  }
  return {};
}

// The hull of everything that the elements of `output` read.
Box OracleRegion(const Graph& graph, const Operator& op, size_t input, const Box& output) {
  Box hull(graph.tensors[static_cast<size_t>(op.inputs[input])].shape.size());
  ForEach(output, [&](const Index& y) {
    Box read;
    for (const std::set<int64_t>& choices : ReadsOf(graph, op, input, y)) {
      read.push_back(choices.empty() ? Extent{} : Extent{*choices.begin(), *choices.rbegin() + 1});
    }
    hull = Hull(hull, read);
  });
  if (IsEmpty(hull)) std::fill(hull.begin(), hull.end(), Extent{});
  return hull;
}

std::string Describe(const Graph& graph, const Operator& op) {
  std::string text(base::NameOf(op.kind));
  for (const int input : op.inputs) text += " " + ToText(graph.tensors[static_cast<size_t>(input)].shape);
  return text + " -> " + ToText(graph.tensors[static_cast<size_t>(op.outputs[0])].shape);
}

TEST(Region, IsTheHullOfWhatEachElementReads) {
  std::map<OperatorKind, int> seen;
  const bool held = rc::check("regions equal the oracle's", [&seen] {
    const uint64_t seed = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>());
    base::Random random(seed);
    for (int round = 0; round < 60; ++round) {
      const Graph graph = RandomGraph(random, 6);
      for (const Operator& op : graph.operators) {
        const Box output = RandomBox(random, graph.tensors[static_cast<size_t>(op.outputs[0])].shape);
        if (ElementsOf(output) > 2000) continue;
        ++seen[op.kind];
        for (size_t input = 0; input < op.inputs.size(); ++input) {
          const Box found = InputRegion(graph, op, input, output);
          if (found != OracleRegion(graph, op, input, output)) RC_FAIL(Describe(graph, op));
        }
      }
    }
  });
  EXPECT_TRUE(held);
  for (const OperatorKind kind :
       {OperatorKind::kConv, OperatorKind::kDepthwise, OperatorKind::kPool, OperatorKind::kGlobalPool,
        OperatorKind::kElementwise, OperatorKind::kConcat, OperatorKind::kMatmul, OperatorKind::kSoftmax,
        OperatorKind::kReshape, OperatorKind::kResize, OperatorKind::kTranspose}) {
    EXPECT_GE(seen[kind], 50) << base::NameOf(kind);
  }
}

Graph OneOperator(Operator op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  GraphBuilder builder;
  std::vector<int> tensors;
  for (const Shape& shape : inputs) tensors.push_back(builder.AddInput(shape));
  builder.Add(std::move(op), wanted, tensors).value();
  return std::move(builder).Build();
}

Box RegionOfOnly(const Graph& graph, const Box& output, size_t input = 0) {
  return InputRegion(graph, graph.operators.front(), input, output);
}

TEST(Region, WindowsInThePaddingReadNothing) {
  Operator op = OfKind(OperatorKind::kPool);
  op.window = {.kernel = {2, 1}, .stride = {1, 1}, .dilation = {1, 1}, .pad_low = {3, 0}, .pad_high = {0, 0}};
  const Graph graph = OneOperator(op, {}, {{1, 1, 4, 4}});
  EXPECT_TRUE(IsEmpty(RegionOfOnly(graph, {{0, 1}, {0, 1}, {0, 2}, {0, 4}})));
  EXPECT_EQ(RegionOfOnly(graph, {{0, 1}, {0, 1}, {0, 3}, {0, 4}}), (Box{{0, 1}, {0, 1}, {0, 1}, {0, 4}}));
}

TEST(Region, DilatedWindowEndsAtATapInsideTheInput) {
  // Taps at -3, 0, 3 of 3 rows: only row 0 is read.
  Operator op = OfKind(OperatorKind::kPool);
  op.window = {.kernel = {3, 1}, .stride = {1, 1}, .dilation = {3, 1}, .pad_low = {3, 0}, .pad_high = {3, 0}};
  const Graph graph = OneOperator(op, {}, {{1, 1, 3, 1}});
  EXPECT_EQ(RegionOfOnly(graph, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}), (Box{{0, 1}, {0, 1}, {0, 1}, {0, 1}}));
}

TEST(Region, NearestResizeRoundsHalvesDown) {
  // Output 1 of 2 looks at 3.5 of 6 rows, which rounds to 3 downwards only: (1.5 * 3) - 0.5 = 4, (0.5 * 3) -
  // 0.5 = 1.
  Wanted wanted;
  wanted.size = {2, 1};
  const Graph to_two = OneOperator(OfKind(OperatorKind::kResize), wanted, {{1, 1, 6, 1}});
  EXPECT_EQ(RegionOfOnly(to_two, {{0, 1}, {0, 1}, {1, 2}, {0, 1}})[2], (Extent{4, 5}));
  wanted.size = {1, 1};
  const Graph to_one = OneOperator(OfKind(OperatorKind::kResize), wanted, {{1, 1, 6, 1}});
  EXPECT_EQ(RegionOfOnly(to_one, {{0, 1}, {0, 1}, {0, 1}, {0, 1}})[2], (Extent{2, 3}));
}

TEST(Region, ReshapeThatRegroupsIsABarrierForThoseAxesOnly) {
  Wanted wanted;
  wanted.shape = Shape{5, 3, 8};
  const Graph graph = OneOperator(OfKind(OperatorKind::kReshape), wanted, {{5, 4, 6}});
  EXPECT_EQ(RegionOfOnly(graph, {{1, 2}, {0, 1}, {0, 1}}), (Box{{1, 2}, {0, 4}, {0, 6}}));
}

TEST(Region, NothingAskedNothingNeeded) {
  const Graph graph = OneOperator(OfKind(OperatorKind::kGlobalPool), {}, {{1, 2, 3, 3}});
  EXPECT_TRUE(IsEmpty(RegionOfOnly(graph, {{0, 1}, {1, 1}, {0, 1}, {0, 1}})));
}

TEST(Region, HugeResizeDoesNotOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 50;
  Wanted wanted;
  wanted.size = {kHuge, 1};
  const Graph graph = OneOperator(OfKind(OperatorKind::kResize), wanted, {{1, 1, kHuge / 2, 1}});
  EXPECT_EQ(RegionOfOnly(graph, {{0, 1}, {0, 1}, {kHuge - 2, kHuge}, {0, 1}})[2],
            (Extent{kHuge / 2 - 1, kHuge / 2}));
}

TEST(Macs, CountWholeWindows) {
  Operator op = OfKind(OperatorKind::kConv);
  op.groups = 2;
  op.window = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad_low = {1, 1}, .pad_high = {1, 1}};
  Wanted wanted;
  wanted.out_channels = 6;
  const Graph graph = OneOperator(op, wanted, {{1, 4, 5, 5}});
  EXPECT_EQ(MacsOf(graph, graph.operators[0]), 6 * 25 * 9 * 2);
  EXPECT_EQ(MacsOf(graph, graph.operators[0], {{0, 1}, {0, 3}, {0, 1}, {0, 5}}), 15 * 9 * 2);
}

TEST(Macs, PatentConvolutionSize) {
  GraphBuilder builder;
  const int conv = builder.AddConv(builder.AddInput({1, 3, 100, 100}), 64, 3);
  EXPECT_EQ(builder.ShapeOf(conv), (Shape{1, 64, 98, 98}));
}

}  // namespace
}  // namespace tessera::graph
