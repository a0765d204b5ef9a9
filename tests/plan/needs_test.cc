// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "fixture.h"
#include "tessera/base/random.h"
#include "tessera/plan/index_box.h"

namespace tessera::plan {
namespace {

using base::OperatorKind;
using graph::Graph;
using graph::Operator;
using graph::Shape;
using testing::ElementsAre;

using Index = std::vector<int64_t>;

// One operator, its operands and its result, and the elements of operand 0 that one output element
// reads, by definition.
struct Case {
  Graph network;
  size_t operand = 0;
  std::function<std::vector<Index>(const Index&)> reads;  // may name indices outside the operand
};

Case MakeCase(OperatorKind kind, const std::vector<Shape>& inputs, const Shape& output) {
  Case made;
  Operator op;
  op.id = "op";
  op.kind = kind;
  for (const Shape& shape : inputs) {
    op.inputs.push_back(static_cast<int>(made.network.tensors.size()));
    made.network.tensors.push_back(FeatureTensor("x" + std::to_string(op.inputs.back()), shape));
  }
  op.outputs = {static_cast<int>(made.network.tensors.size())};
  made.network.tensors.push_back(FeatureTensor("y", output));
  made.network.operators = {op};
  return made;
}

Operator& OpOf(Case& made) { return made.network.operators.front(); }

// Every index of a box, row-major.
std::vector<Index> IndicesOf(const plan::Box& box) {
  std::vector<Index> indices = {{}};
  for (const plan::Range& range : box) {
    std::vector<Index> longer;
    for (const Index& index : indices) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    indices = std::move(longer);
  }
  return indices;
}

plan::Box BruteForceNeed(const Case& made, const plan::Box& output) {
  const Operator& op = made.network.operators.front();
  const Shape& shape = made.network.tensors[static_cast<size_t>(op.inputs[made.operand])].shape;
  plan::Box hull = plan::EmptyOf(shape);
  for (const Index& out : IndicesOf(output)) {
    for (const Index& in : made.reads(out)) {
      plan::Box element;
      bool inside = true;
      for (size_t axis = 0; axis < in.size(); ++axis) {
        inside = inside && in[axis] >= 0 && in[axis] < shape[axis];
        element.push_back({in[axis], in[axis] + 1});
      }
      if (inside) plan::Enclose(hull, element);
    }
  }
  return hull;
}

plan::Box RandomBox(const Shape& shape, base::Random& random) {
  plan::Box box;
  for (const int64_t extent : shape) {
    const int64_t begin = random.Uniform(0, extent - 1);
    box.push_back({begin, random.Uniform(begin + 1, extent)});
  }
  return box;
}

std::string TextOf(const plan::Box& box) {
  std::string text;
  for (const plan::Range& range : box) {
    text += "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ") ";
  }
  return text;
}

void ExpectExact(const Case& made, uint64_t seed) {
  base::Random random(seed);
  const Operator& op = made.network.operators.front();
  const Shape& shape = made.network.tensors[static_cast<size_t>(op.outputs.front())].shape;
  for (int round = 0; round < 40; ++round) {
    const plan::Box output = RandomBox(shape, random);
    EXPECT_EQ(TextOf(plan::NeedOf(made.network, op, made.operand, output)),
              TextOf(BruteForceNeed(made, output)))
        << TextOf(output);
  }
}

// Adds every index of `shape` along `axes` to the one given index.
std::vector<Index> AllAlong(const Index& index, const Shape& shape,
                            const std::vector<size_t>& axes) {
  plan::Box box;
  for (const int64_t i : index) box.push_back({i, i + 1});
  for (const size_t axis : axes) box[axis] = {0, shape[axis]};
  return IndicesOf(box);
}

TEST(Needs, WindowsReadTheirTapsWithStrideDilationAndPadding) {
  base::Random random(1);
  for (uint64_t round = 0; round < 60; ++round) {
    const int64_t groups = random.Uniform(1, 2);
    const Shape in = {1, 2 * groups, random.Uniform(3, 9), random.Uniform(3, 9)};
    graph::Window window;
    for (size_t axis = 0; axis < 2; ++axis) {
      window.kernel[axis] = random.Uniform(1, 3);
      window.stride[axis] = random.Uniform(1, 3);
      window.dilation[axis] = random.Uniform(1, 3);
      window.pad_low[axis] = random.Uniform(0, 4);
      window.pad_high[axis] = random.Uniform(0, 4);
    }
    const auto extent = [&](size_t axis) {
      const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
      const int64_t room = in[axis + 2] + window.pad_low[axis] + window.pad_high[axis] - reach;
      return room < 0 ? 1 : room / window.stride[axis] + 1;
    };
    Case made = MakeCase(OperatorKind::kConv, {in}, {1, 3 * groups, extent(0), extent(1)});
    OpOf(made).window = window;
    OpOf(made).groups = groups;
    made.reads = [=](const Index& out) {
      std::vector<Index> reads;
      for (int64_t channel = out[1] / 3 * 2; channel < out[1] / 3 * 2 + 2; ++channel) {
        for (int64_t i = 0; i < window.kernel[0]; ++i) {
          for (int64_t j = 0; j < window.kernel[1]; ++j) {
            reads.push_back(
                {out[0], channel,
                 out[2] * window.stride[0] + i * window.dilation[0] - window.pad_low[0],
                 out[3] * window.stride[1] + j * window.dilation[1] - window.pad_low[1]});
          }
        }
      }
      return reads;
    };
    ExpectExact(made, round);
  }
}

TEST(Needs, DepthwiseMapsChannelToChannelAndMultipliers) {
  Case made = MakeCase(OperatorKind::kDepthwise, {{2, 3, 5, 5}}, {2, 6, 5, 5});
  OpOf(made).window.kernel = {3, 1};
  OpOf(made).window.pad_low = {1, 0};
  made.reads = [](const Index& out) {
    std::vector<Index> reads;
    for (int64_t i = -1; i <= 1; ++i) reads.push_back({out[0], out[1] / 2, out[2] + i, out[3]});
    return reads;
  };
  ExpectExact(made, 2);
}

TEST(Needs, PoolsReadTheirWindowOfOneChannel) {
  Case made = MakeCase(OperatorKind::kPool, {{1, 4, 6, 6}}, {1, 4, 3, 3});
  OpOf(made).window.kernel = {2, 2};
  OpOf(made).window.stride = {2, 2};
  made.reads = [](const Index& out) {
    std::vector<Index> reads;
    for (int64_t i = 0; i < 4; ++i)
      reads.push_back({out[0], out[1], 2 * out[2] + i / 2, 2 * out[3] + i % 2});
    return reads;
  };
  ExpectExact(made, 3);
}

TEST(Needs, GlobalPoolsReadWholeMaps) {
  Case made = MakeCase(OperatorKind::kGlobalPool, {{2, 4, 3, 5}}, {2, 4, 1, 1});
  made.reads = [](const Index& out) {
    return AllAlong({out[0], out[1], 0, 0}, {2, 4, 3, 5}, {2, 3});
  };
  ExpectExact(made, 4);
}

TEST(Needs, ElementwiseBroadcastsFromTheLastAxis) {
  Case made = MakeCase(OperatorKind::kElementwise, {{2, 4, 3, 5}, {4, 1, 5}}, {2, 4, 3, 5});
  made.reads = [](const Index& out) { return std::vector<Index>{out}; };
  ExpectExact(made, 5);
  made.operand = 1;
  made.reads = [](const Index& out) { return std::vector<Index>{{out[1], 0, out[3]}}; };
  ExpectExact(made, 6);
}

TEST(Needs, ConcatenationsReadTheBranchThatHoldsTheElement) {
  Case made =
      MakeCase(OperatorKind::kConcat, {{1, 2, 3, 3}, {1, 3, 3, 3}, {1, 1, 3, 3}}, {1, 6, 3, 3});
  OpOf(made).axis = 1;
  for (const int64_t operand : {0, 1, 2}) {
    made.operand = static_cast<size_t>(operand);
    const int64_t before = operand == 0 ? 0 : operand == 1 ? 2 : 5;
    made.reads = [before](const Index& out) {
      return std::vector<Index>{{out[0], out[1] - before, out[2], out[3]}};
    };
    ExpectExact(made, 7);
  }
}

TEST(Needs, MatmulReadsRowsOfOneAndColumnsOfTheOther) {
  for (const bool transposed : {false, true}) {
    const Shape second = transposed ? Shape{2, 5, 3} : Shape{2, 3, 5};
    Case made = MakeCase(OperatorKind::kMatmul, {{2, 4, 3}, second}, {2, 4, 5});
    OpOf(made).MakeOwn<graph::MatmulAttributes>().transpose_second = transposed;
    made.reads = [](const Index& out) { return AllAlong({out[0], out[1], 0}, {2, 4, 3}, {2}); };
    ExpectExact(made, 8);
    made.operand = 1;
    made.reads = [=](const Index& out) {
      return transposed ? AllAlong({out[0], out[2], 0}, second, {2})
                        : AllAlong({out[0], 0, out[2]}, second, {1});
    };
    ExpectExact(made, 9);
  }
}

TEST(Needs, MatmulReadsAxesInTheOrderInWhichItTakesThem) {
  // Stored as [rows, batch, K] and [K, columns, batch], made as [rows, batch, columns].
  Case made = MakeCase(OperatorKind::kMatmul, {{4, 2, 3}, {3, 5, 2}}, {4, 2, 5});
  OpOf(made).own = graph::MatmulAttributes{false, false, {{{1, 0, 2}, {2, 0, 1}}}, {1, 0, 2}};
  made.reads = [](const Index& out) { return AllAlong({out[0], out[1], 0}, {4, 2, 3}, {2}); };
  ExpectExact(made, 8);
  made.operand = 1;
  made.reads = [](const Index& out) { return AllAlong({0, out[2], out[1]}, {3, 5, 2}, {0}); };
  ExpectExact(made, 9);
}

TEST(Needs, ReductionsReadTheWholeOfTheirAxis) {
  for (const OperatorKind kind : {OperatorKind::kSoftmax, OperatorKind::kLayerNorm}) {
    Case made = MakeCase(kind, {{2, 4, 6}}, {2, 4, 6});
    OpOf(made).axes = {2};
    made.reads = [](const Index& out) { return AllAlong(out, {2, 4, 6}, {2}); };
    ExpectExact(made, 10);
  }
}

TEST(Needs, TransposesPermuteAxes) {
  Case made = MakeCase(OperatorKind::kTranspose, {{2, 3, 4}}, {4, 2, 3});
  OpOf(made).MakeOwn<graph::TransposeAttributes>().permutation = {2, 0, 1};
  made.reads = [](const Index& out) { return std::vector<Index>{{out[1], out[2], out[0]}}; };
  ExpectExact(made, 11);
}

// The input index that holds the same element, by counting elements.
Index Reshaped(const Index& out, const Shape& from, const Shape& to) {
  int64_t linear = 0;
  for (size_t axis = 0; axis < to.size(); ++axis) linear = linear * to[axis] + out[axis];
  Index in(from.size());
  for (size_t axis = from.size(); axis-- > 0;) {
    in[axis] = linear % from[axis];
    linear /= from[axis];
  }
  return in;
}

TEST(Needs, ReshapesThatMergeOrSplitAxesAreFollowed) {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{2, 3, 4, 5}, {2, 3, 20}}, {{2, 3, 20}, {2, 3, 4, 5}}, {{1, 6, 1, 1}, {1, 6}},
      {{6, 4}, {2, 3, 4}},        {{2, 3, 4}, {6, 4}},        {{5, 1}, {1, 5}},
      {{2, 3, 1, 4}, {2, 12}},    {{24}, {2, 3, 4}}};
  for (const auto& [from, to] : shapes) {
    Case made = MakeCase(OperatorKind::kReshape, {from}, to);
    made.reads = [from = from, to = to](const Index& out) {
      return std::vector<Index>{Reshaped(out, from, to)};
    };
    ExpectExact(made, 12);
  }
}

TEST(Needs, ReshapesThatMixAxesNeedAllButTheFirstWhole) {
  const Case made = MakeCase(OperatorKind::kReshape, {{2, 4, 6}}, {2, 6, 4});
  const auto need = [&made](const plan::Box& output) {
    return TextOf(plan::NeedOf(made.network, made.network.operators[0], 0, output));
  };
  EXPECT_EQ(need({{1, 2}, {0, 1}, {0, 1}}), "[1, 2) [0, 1) [0, 6) ");
  EXPECT_EQ(need({{1, 2}, {1, 4}, {0, 4}}), "[1, 2) [0, 3) [0, 6) ");
}

TEST(Needs, ResizesReadHalfPixelNeighbours) {
  for (const auto& [in, out] :
       std::vector<std::pair<int64_t, int64_t>>{{4, 8}, {4, 12}, {9, 3}, {5, 7}, {6, 6}}) {
    for (const graph::ResizeMode mode :
         {graph::ResizeMode::kNearest, graph::ResizeMode::kBilinear}) {
      Case made = MakeCase(OperatorKind::kResize, {{1, 1, in, in}}, {1, 1, out, out});
      OpOf(made).MakeOwn<graph::ResizeAttributes>().mode = mode;
      const auto along = [in = in, out = out, mode](int64_t o) -> std::vector<int64_t> {
        if (in == out) return {o};
        const double x =
            (static_cast<double>(o) + 0.5) * static_cast<double>(in) / static_cast<double>(out) -
            0.5;
        const auto clamp = [in](double i) {
          return std::clamp<int64_t>(static_cast<int64_t>(i), 0, in - 1);
        };
        if (mode == graph::ResizeMode::kNearest) return {clamp(std::ceil(x - 0.5))};
        return {clamp(std::floor(x + 1e-9)), clamp(std::ceil(x - 1e-9))};
      };
      made.reads = [along](const Index& index) {
        std::vector<Index> reads;
        for (const int64_t row : along(index[2])) {
          for (const int64_t column : along(index[3])) reads.push_back({0, 0, row, column});
        }
        return reads;
      };
      ExpectExact(made, 13);
    }
  }
}

TEST(Needs, OpaqueOperatorsReadEverything) {
  const Case made = MakeCase(OperatorKind::kOpaque, {{3, 5}}, {7});
  EXPECT_THAT(plan::NeedOf(made.network, made.network.operators[0], 0, {{2, 3}}),
              ElementsAre(plan::Range{0, 3}, plan::Range{0, 5}));
}

TEST(Needs, NothingIsReadForNothing) {
  const Case made = MakeCase(OperatorKind::kElementwise, {{3, 5}}, {3, 5});
  EXPECT_TRUE(
      plan::IsEmpty(plan::NeedOf(made.network, made.network.operators[0], 0, {{2, 2}, {0, 5}})));
}

}  // namespace
}  // namespace tessera::plan
