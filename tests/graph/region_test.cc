// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>

#include "graph_builder.h"
#include "random_graph.h"
#include "region_oracle.h"
#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/reads.h"
#include "tessera/graph/regions.h"

// The regions that one operator needs: of every kind against the oracle, and of each at the borders
// in numbers.
namespace tessera::graph {
namespace {

using base::OperatorKind;
std::string TextOf(const ops::Box& box) {
  std::string text;
  for (const ops::Extent& extent : box) {
    text += "[" + std::to_string(extent.begin) + ", " + std::to_string(extent.end) + ")";
  }
  return text;
}

std::string Describe(const Graph& graph, const Operator& op, size_t input, const ops::Box& output) {
  std::string text(base::NameOf(op.kind));
  for (const int tensor : op.inputs)
    text += " " + ops::ToText(graph.tensors[static_cast<size_t>(tensor)].shape);
  text += " -> " + ops::ToText(graph.tensors[static_cast<size_t>(op.outputs[0])].shape);
  return text + ", input " + std::to_string(input) + " for " + TextOf(output);
}

// The flags of elements that are read; taps in the padding are in no tensor.
std::vector<char> FlagsOf(const ElementReads& reads, const Shape& shape) {
  std::vector<char> has(static_cast<size_t>(ElementsOf(shape)), 0);
  std::vector<int64_t> numbers = reads.numbers.value_or(std::vector<int64_t>{0});
  for (size_t axis = 0; axis < shape.size() && !reads.numbers; ++axis) {
    std::vector<int64_t> longer;
    for (const int64_t number : numbers) {
      for (const int64_t index : reads.axes[axis]) {
        if (index >= 0 && index < shape[axis]) longer.push_back(number * shape[axis] + index);
      }
    }
    numbers = std::move(longer);
  }
  for (const int64_t number : numbers) has[static_cast<size_t>(number)] = 1;
  return has;
}

TEST(Region, OfOneOperatorIsTheSmallestBoxAroundWhatItsElementsRead) {
  int mixed = 0;  // boxes of reshapes that are larger than needed
  std::map<OperatorKind, int> seen;
  base::Random random(20);
  for (int round = 0; round < 1000; ++round) {
    const Graph graph = RandomGraph(random, 5);
    for (const Operator& op : graph.operators) {
      ++seen[op.kind];
      const Shape& shape = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
      const ops::Box output = RandomBox(random, shape);
      ElementSet asked(shape);
      asked.AddBox(output);
      for (size_t input = 0; input < op.inputs.size(); ++input) {
        const ElementSet needed = NeedOf(graph, op, input, asked);
        const ops::Box smallest = SmallestRegion(graph, op, needed);
        mixed += smallest != needed.Hull() ? 1 : 0;
        ASSERT_EQ(TextOf(InputRegion(graph, op, input, output)), TextOf(smallest))
            << Describe(graph, op, input, output);
        ASSERT_EQ(TextOf(HullOfReads(graph, op, input, output)), TextOf(smallest))
            << Describe(graph, op, input, output);
        ASSERT_EQ(FlagsOf(ReadsOf(graph, op, input, output), *needed.shape), needed.has)
            << Describe(graph, op, input, output);
      }
    }
  }
  for (const std::string_view name : base::OperatorKindNames()) {
    EXPECT_GE(seen[*base::ParseOperatorKind(name)], 40) << name;
  }
  EXPECT_GE(mixed, 5);
}

ops::Box RegionOfOnly(const Graph& graph, const ops::Box& output, size_t input = 0) {
  return InputRegion(graph, graph.operators.front(), input, output);
}

TEST(Region, WindowsInThePaddingReadNothing) {
  Operator op = OfKind(OperatorKind::kPool);
  op.window = {.kernel = {2, 1},
               .stride = {1, 1},
               .dilation = {1, 1},
               .pad_low = {3, 0},
               .pad_high = {0, 0}};
  const Graph graph = OneOperator(op, {}, {{1, 1, 4, 4}});
  EXPECT_TRUE(ops::IsEmpty(RegionOfOnly(graph, {{0, 1}, {0, 1}, {0, 2}, {0, 4}})));
  EXPECT_EQ(RegionOfOnly(graph, {{0, 1}, {0, 1}, {0, 3}, {0, 4}}),
            (ops::Box{{0, 1}, {0, 1}, {0, 1}, {0, 4}}));
}

TEST(Region, DilatedWindowEndsAtATapInsideTheInput) {
  // Taps at -3, 0, 3 of 3 rows: only row 0 is read.
  Operator op = OfKind(OperatorKind::kPool);
  op.window = {.kernel = {3, 1},
               .stride = {1, 1},
               .dilation = {3, 1},
               .pad_low = {3, 0},
               .pad_high = {3, 0}};
  const Graph graph = OneOperator(op, {}, {{1, 1, 3, 1}});
  EXPECT_EQ(RegionOfOnly(graph, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}),
            (ops::Box{{0, 1}, {0, 1}, {0, 1}, {0, 1}}));
}

// Pads wider than windows, strides wider than kernels, dilations wider than strides.
TEST(Region, OfAnyWindowIsTheSmallestAroundItsTaps) {
  base::Random random(41);
  int drawn = 0;
  while (drawn < 1500) {
    Operator op = OfKind(OperatorKind::kPool);
    op.window = {.kernel = {random.Uniform(1, 7), 1},
                 .stride = {random.Uniform(1, 6), 1},
                 .dilation = {random.Uniform(1, 5), 1},
                 .pad_low = {random.Uniform(0, 20), 0},
                 .pad_high = {random.Uniform(0, 20), 0}};
    const int64_t extent = random.Uniform(1, 12);
    const int64_t reach = (op.window.kernel[0] - 1) * op.window.dilation[0] + 1;
    if (extent + op.window.pad_low[0] + op.window.pad_high[0] < reach) continue;
    ++drawn;
    const Graph graph = OneOperator(op, {}, {{1, 1, extent, 1}});
    const Operator& pool = graph.operators.front();
    const Shape& shape = graph.tensors[static_cast<size_t>(pool.outputs[0])].shape;
    for (int64_t first = 0; first < shape[2]; ++first) {
      for (int64_t end = first + 1; end <= shape[2]; ++end) {
        const ops::Box output = {{0, 1}, {0, 1}, {first, end}, {0, 1}};
        ElementSet asked(shape);
        asked.AddBox(output);
        ASSERT_EQ(TextOf(InputRegion(graph, pool, 0, output)),
                  TextOf(NeedOf(graph, pool, 0, asked).Hull()))
            << Describe(graph, pool, 0, output);
      }
    }
  }
}

TEST(Region, NearestResizeRoundsHalvesDown) {
  // Output 1 of 2 is at 3.5 of 6 rows. Rounding halves down gives 3: (1.5 * 3) - 0.5 = 4, (0.5 * 3)
  // - 0.5 = 1.
  ops::Wanted wanted;
  wanted.size = {2, 1};
  const Graph to_two = OneOperator(OfKind(OperatorKind::kResize), wanted, {{1, 1, 6, 1}});
  EXPECT_EQ(RegionOfOnly(to_two, {{0, 1}, {0, 1}, {1, 2}, {0, 1}})[2], (ops::Extent{4, 5}));
  wanted.size = {1, 1};
  const Graph to_one = OneOperator(OfKind(OperatorKind::kResize), wanted, {{1, 1, 6, 1}});
  EXPECT_EQ(RegionOfOnly(to_one, {{0, 1}, {0, 1}, {0, 1}, {0, 1}})[2], (ops::Extent{2, 3}));
}

TEST(Region, ReshapeThatMixesAxesFollowsTheFirst) {
  const auto region = [](const Shape& from, const Shape& to, const ops::Box& output) {
    ops::Wanted wanted;
    wanted.shape = to;
    return RegionOfOnly(OneOperator(OfKind(OperatorKind::kReshape), wanted, {from}), output);
  };
  EXPECT_EQ(region({5, 4, 6}, {5, 3, 8}, {{1, 2}, {0, 1}, {0, 1}}),
            (ops::Box{{1, 2}, {0, 1}, {0, 6}}));
  EXPECT_EQ(region({5, 4, 6}, {5, 3, 8}, {{1, 2}, {1, 2}, {0, 8}}),
            (ops::Box{{1, 2}, {1, 3}, {0, 6}}));
  EXPECT_EQ(region({1, 1024, 80}, {1, 512, 160}, {{0, 1}, {7, 9}, {0, 160}}),
            (ops::Box{{0, 1}, {14, 18}, {0, 80}}));
}

TEST(Region, NothingAskedNothingNeeded) {
  const Graph graph = OneOperator(OfKind(OperatorKind::kGlobalPool), {}, {{1, 2, 3, 3}});
  EXPECT_TRUE(ops::IsEmpty(RegionOfOnly(graph, {{0, 1}, {1, 1}, {0, 1}, {0, 1}})));
}

TEST(Region, OfListedIndicesIsTheSmallestAroundThem) {
  std::mt19937 random(7);
  const auto below = [&random](int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  };
  for (const int64_t count : {1, 255, 256, 257, 512, 2000}) {
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < count; ++i) indices.push_back(below(100'000));
    const ops::AxisMap map{ops::AxisMap::Listed(indices), 0, 1};
    for (int draw = 0; draw < 200; ++draw) {
      const int64_t begin = below(count);
      const int64_t end = begin + 1 + below(count - begin);
      const auto [least, greatest] =
          std::minmax_element(indices.begin() + begin, indices.begin() + end);
      const ops::Extent asked[] = {{begin, end}};
      EXPECT_EQ(map.Apply(asked), (ops::Extent{*least, *greatest + 1}))
          << count << ": " << begin << " to " << end;
    }
  }
}

TEST(Region, HugeResizeDoesNotOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 50;
  ops::Wanted wanted;
  wanted.size = {kHuge, 1};
  const Graph graph = OneOperator(OfKind(OperatorKind::kResize), wanted, {{1, 1, kHuge / 2, 1}});
  EXPECT_EQ(RegionOfOnly(graph, {{0, 1}, {0, 1}, {kHuge - 2, kHuge}, {0, 1}})[2],
            (ops::Extent{kHuge / 2 - 1, kHuge / 2}));
}

TEST(Macs, CountWholeWindows) {
  Operator op = OfKind(OperatorKind::kConv);
  op.groups = 2;
  op.window = {.kernel = {3, 3},
               .stride = {1, 1},
               .dilation = {1, 1},
               .pad_low = {1, 1},
               .pad_high = {1, 1}};
  ops::Wanted wanted;
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

// 20 000 operands of 1 to 3 channels: the parts are adjacent, and exactly the operands of a tile
// are read. Loops over operands share the shapes, so that they take time linear in them.
TEST(Regions, OfAWideConcatenationAreAdjacentParts) {
  constexpr size_t kOperands = 20'000;
  Graph graph;
  Operator concat;
  concat.kind = base::OperatorKind::kConcat;
  concat.axis = 1;
  int64_t channels = 0;
  for (size_t i = 0; i < kOperands; ++i) {
    Tensor operand;
    operand.shape = {1, static_cast<int64_t>(i % 3) + 1, 2, 2};
    channels += operand.shape[1];
    concat.inputs.push_back(static_cast<int>(graph.tensors.size()));
    graph.tensors.push_back(operand);
  }
  concat.outputs = {static_cast<int>(graph.tensors.size())};
  Tensor result;
  result.shape = {1, channels, 2, 2};
  graph.tensors.push_back(result);
  const ops::OperandShapes inputs = OperandShapesOf(graph, concat);
  const ops::Box tile = {{0, 1}, {channels / 2, channels / 2 + 7}, {0, 2}, {1, 2}};
  int64_t begin = 0;
  for (size_t i = 0; i < kOperands; ++i) {
    ASSERT_EQ(inputs.ExtentBefore(i, 1), begin);
    const ops::Box read = InputRegion(graph, concat, inputs, i, tile);
    ASSERT_EQ(TextOf(HullOfReads(graph, concat, inputs, i, tile)), TextOf(read)) << i;
    const int64_t first = std::max(tile[1].begin, begin);
    const int64_t last = std::min(tile[1].end, begin + inputs[i][1]);
    ASSERT_EQ(ElementsOf(read), std::max<int64_t>(last - first, 0) * 2) << i;
    begin += inputs[i][1];
  }
  EXPECT_EQ(begin, channels);
}

}  // namespace
}  // namespace tessera::graph
