// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "random_graph.h"
#include "tessera/base/random.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/search/cost/cost_terms.h"

// The steps of an engine, counted product by product: each multiplication gets the number of the
// step that does it, and different numbers are counted. Both derivations compute the same number
// from extents.
namespace tessera::search {
namespace {

using base::OperatorKind;
using base::Random;
using graph::Shape;
using hw_profiles::Throughput;
using hw_profiles::Unroll;

// One operator on an engine that does a step in a cycle.
struct Case {
  graph::Graph graph;
  Throughput speed;

  const graph::Operator& Op() const { return graph.operators.front(); }
  const Shape& ShapeOf(int tensor) const {
    return graph.tensors[static_cast<size_t>(tensor)].shape;
  }
  const Shape& Result() const { return ShapeOf(Op().outputs.front()); }
};

int AddTensor(graph::Graph& graph, Shape shape) {
  graph::Tensor tensor;
  tensor.id = "t" + std::to_string(graph.tensors.size());
  tensor.shape = std::move(shape);
  graph.tensors.push_back(std::move(tensor));
  return static_cast<int>(graph.tensors.size()) - 1;
}

Case CaseOf(OperatorKind kind, const std::vector<Shape>& operands, const Shape& result) {
  Case each;
  graph::Operator op;
  op.id = "op";
  op.kind = kind;
  for (const Shape& shape : operands) op.inputs.push_back(AddTensor(each.graph, shape));
  op.outputs = {AddTensor(each.graph, result)};
  each.graph.operators.push_back(std::move(op));
  each.speed.kind = kind;
  return each;
}

hw_profiles::Profile ProfileOf(const Case& each) {
  hw_profiles::Profile profile;
  profile.engines.emplace_back();
  profile.engines.front().name = "pe";
  profile.engines.front().throughputs = {each.speed};
  return profile;
}

int64_t Searched(const Case& each, const Shape& made) {
  const hw_profiles::Profile profile = ProfileOf(each);
  const cost::Worker worker = cost::WorkerOf(each.graph, profile, each.Op());
  return cost::ComputeOf(each.graph, worker, each.Op(), made).body;
}

int64_t Verified(const Case& each, const Shape& made) {
  plan::Plan plan;
  plan.network = each.graph;
  plan.profile = ProfileOf(each);
  return plan::verify::ArithmeticOf(plan, plan.network.operators.front(), made, std::nullopt).body;
}

// Calls visit(index) for each index of a box that begins at 0.
template <typename Visit>
void ForEachIndex(const Shape& extents, Visit visit) {
  Shape index(extents.size(), 0);
  for (;;) {
    visit(index);
    size_t axis = extents.size();
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

Shape Ordered(const Shape& shape, const std::vector<int>& order) {
  Shape ordered;
  for (const int axis : order) ordered.push_back(shape[static_cast<size_t>(axis)]);
  return order.empty() ? shape : ordered;
}

// The rows of a product are dealt out to groups of lanes. A group has rows of one matrix, that is,
// of one place in the second operand.
int64_t CountedOfMatmul(const Case& each, const Shape& made) {
  const Unroll& unroll = each.speed.unroll;
  const graph::Operator& op = each.Op();
  const auto& own = op.Own<graph::MatmulAttributes>();
  std::map<Shape, int64_t> rows_of;  // by place in the second operand
  Shape product = made;
  for (size_t axis = 0; axis < own.result_axes.size(); ++axis)
    product[static_cast<size_t>(own.result_axes[axis])] = made[axis];
  const Shape outer(product.begin(), product.end() - 1);
  ForEachIndex(outer, [&](const Shape& index) {
    Shape matrix;
    for (size_t axis = 0; op.inputs.size() > 1 && axis + 1 < index.size(); ++axis) {
      const Shape second = Ordered(each.ShapeOf(op.inputs[1]), own.operand_axes[1]);
      const size_t missing = made.size() - second.size();
      if (axis >= missing) matrix.push_back(second[axis - missing] == 1 ? 0 : index[axis]);
    }
    ++rows_of[matrix];
  });
  int64_t groups = 0;
  for (const auto& [matrix, rows] : rows_of) {
    for (int64_t left = rows; left > 0; left -= unroll.out_rows * unroll.out_columns) ++groups;
  }
  const Shape& first = each.ShapeOf(op.inputs.front());
  const int64_t depth =
      Ordered(first, own.operand_axes[0])[first.size() - (own.transpose_first ? 2 : 1)];
  std::set<std::tuple<int64_t, int64_t, int64_t>> steps;
  ForEachIndex({groups, made.back(), depth}, [&](const Shape& index) {
    steps.emplace(index[0] / unroll.batch, index[1] / unroll.out_channels,
                  index[2] / unroll.in_channels);
  });
  return static_cast<int64_t>(steps.size());
}

// Whether an engine that may reads two columns of the image as one: if the windows cover as many
// columns beyond the image in both forms.
bool PairsColumns(const Case& each) {
  const graph::Operator& op = each.Op();
  const graph::Tensor& image = each.graph.tensors[static_cast<size_t>(op.inputs.front())];
  const int64_t kernel = op.window.kernel[1];
  if (!image.network_input || image.shape[1] > each.speed.fold_columns || image.shape[3] % 2 > 0 ||
      op.groups > 1 || op.window.stride[1] != 2 || op.window.dilation[1] != 1 || kernel == 1)
    return false;
  std::set<int64_t> columns;
  std::set<int64_t> pairs;
  for (int64_t at = 0; at < each.Result()[3]; ++at) {
    for (int64_t tap = 0; tap < kernel; ++tap) {
      columns.insert(2 * at + tap);
      pairs.insert(at + tap / 2);
    }
  }
  return std::max(std::ssize(columns), image.shape[3]) - image.shape[3] ==
         std::max(std::ssize(pairs), image.shape[3] / 2) - image.shape[3] / 2;
}

int64_t CountedOfConvolution(const Case& each, const Shape& made) {
  const Unroll& unroll = each.speed.unroll;
  const graph::Operator& op = each.Op();
  const bool depthwise = op.kind == OperatorKind::kDepthwise;
  const bool folds = op.kind == OperatorKind::kConv && op.groups == 1 &&
                     op.window.kernel == std::array<int64_t, 2>{1, 1} &&
                     op.window.stride == std::array<int64_t, 2>{1, 1};
  const int64_t group = each.Result()[1] / op.groups;
  const int64_t columns = PairsColumns(each) ? 2 : 1;
  const int64_t depth = depthwise ? 1 : each.ShapeOf(op.inputs.front())[1] / op.groups * columns;
  const std::array<int64_t, 2> taps = {op.window.kernel[0],
                                       base::CeilDiv(op.window.kernel[1], columns)};
  std::set<Shape> steps;
  int64_t outputs = 0;  // in the order of a lane for each
  ForEachIndex(made, [&](const Shape& at) {
    Shape place = {at[0] / unroll.batch, at[2] / unroll.out_rows, at[3] / unroll.out_columns};
    const int64_t pixel = (at[0] * made[2] + at[2]) * made[3] + at[3];
    const int64_t pixels = unroll.batch * unroll.out_rows * unroll.out_columns;
    if (folds) place = {pixel / pixels};
    if (depthwise) {
      place.push_back(at[1] / unroll.out_channels);
      if (each.speed.fold_channels) place = {outputs++ / (pixels * unroll.out_channels)};
    } else {
      place.insert(place.end(), {at[1] / group, at[1] % group / unroll.out_channels});
    }
    ForEachIndex({depth, taps[0], taps[1]}, [&](const Shape& product) {
      Shape step = place;
      step.insert(step.end(),
                  {depthwise ? 0 : product[0] / unroll.in_channels, product[1] / unroll.kernel_rows,
                   product[2] / unroll.kernel_columns});
      steps.insert(step);
    });
  });
  return static_cast<int64_t>(steps.size());
}

int64_t Counted(const Case& each, const Shape& made) {
  return each.Op().kind == OperatorKind::kMatmul ? CountedOfMatmul(each, made)
                                                 : CountedOfConvolution(each, made);
}

// Along each leading axis of the result the second operand has no axis, extent 1, or all of it.
Case DrawMatmul(Random& random) {
  const int64_t depth = random.Uniform(1, 5);
  const int64_t columns = random.Uniform(1, 5);
  Shape result;
  Shape first;
  Shape second;
  const auto leading = static_cast<int>(random.Uniform(0, 3));
  const auto missing = static_cast<int>(random.Uniform(0, leading));
  for (int axis = 0; axis < leading; ++axis) {
    result.push_back(random.Uniform(1, 4));
    const bool shares = axis < missing || random.Chance(0.5);
    first.push_back(shares || random.Chance(0.7) ? result.back() : 1);
    if (axis >= missing) second.push_back(shares ? 1 : result.back());
  }
  const bool is_constant = random.Chance(0.3);
  if (is_constant) first = result;
  const int64_t rows = random.Uniform(1, 5);
  const bool turned = random.Chance(0.3);
  first.insert(first.end(), {turned ? depth : rows, turned ? rows : depth});
  second.insert(second.end(), {depth, columns});
  result.insert(result.end(), {rows, columns});
  graph::MatmulAttributes own;
  own.transpose_first = turned;
  std::vector<Shape> operands = {first, second};
  if (is_constant) operands.pop_back();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (random.Chance(0.5)) continue;
    std::vector<int>& axes = own.operand_axes.at(i) = graph::RandomAxes(random, operands[i].size());
    const Shape taken = operands[i];
    for (size_t axis = 0; axis < axes.size(); ++axis)
      operands[i][static_cast<size_t>(axes[axis])] = taken[axis];
  }
  if (random.Chance(0.5)) {
    own.result_axes = graph::RandomAxes(random, result.size() - 1);
    own.result_axes.push_back(static_cast<int>(result.size()) - 1);
    result = Ordered(result, own.result_axes);
  }
  Case each = CaseOf(OperatorKind::kMatmul, operands, result);
  each.graph.operators.front().own = own;
  return each;
}

Case DrawConvolution(Random& random) {
  const bool depthwise = random.Chance(0.4);
  const int64_t groups = depthwise || random.Chance(0.7) ? 1 : 2;
  const Shape result = {random.Uniform(1, 3), groups * random.Uniform(1, 3), random.Uniform(1, 4),
                        random.Uniform(1, 4)};
  const int64_t channels = depthwise ? result[1] : groups * random.Uniform(1, 3);
  const std::array<int64_t, 2> stride = {random.Chance(0.8) ? 1 : 2, random.Chance(0.6) ? 1 : 2};
  Case each = CaseOf(depthwise ? OperatorKind::kDepthwise : OperatorKind::kConv,
                     {{result[0], channels, result[2] * stride[0], result[3] * stride[1]}}, result);
  graph::Operator& op = each.graph.operators.front();
  op.groups = groups;
  for (int64_t& kernel : op.window.kernel) kernel = random.Chance(0.7) ? 1 : random.Uniform(2, 5);
  op.window.stride = stride;
  if (stride[1] == 2 && !depthwise) {
    op.window.kernel[1] = random.Uniform(1, 7);
    each.speed.fold_columns = random.Uniform(0, 4);
    each.graph.tensors[static_cast<size_t>(op.inputs.front())].network_input = random.Chance(0.8);
  }
  each.speed.fold_channels = depthwise && random.Chance(0.5);
  return each;
}

// Two columns of an image are one of twice the channels: 3 x 3 taps of 3 channels in groups of 4
// taps by 8 channels are 3 x 2 taps of 6 channels.
TEST(Folding, StridedConvolutionsReadPairsOfColumns) {
  Case each = CaseOf(OperatorKind::kConv, {{1, 3, 8, 8}}, {1, 1, 8, 4});
  graph::Operator& op = each.graph.operators.front();
  op.groups = 1;
  op.window.kernel = {3, 3};
  op.window.stride = {1, 2};
  each.speed.unroll.in_channels = 8;
  each.speed.unroll.kernel_taps = 4;
  graph::Tensor& image = each.graph.tensors[static_cast<size_t>(op.inputs.front())];
  image.network_input = true;
  const Shape result = {1, 1, 8, 4};
  const auto steps = [&] {
    EXPECT_EQ(Searched(each, result), Verified(each, result));
    return Searched(each, result);
  };
  EXPECT_EQ(steps(), 32 * 3);
  each.speed.fold_columns = 2;
  EXPECT_EQ(steps(), 32 * 3);  // 3 channels are too many
  each.speed.fold_columns = 3;
  EXPECT_EQ(steps(), 32 * 2);
  image.network_input = false;
  EXPECT_EQ(steps(), 32 * 3);
  image.network_input = true;
  op.window.dilation = {1, 2};
  EXPECT_EQ(steps(), 32 * 3);
  // Windows of 4 columns reach 2 columns beyond the image, or 1 pair.
  op.window.dilation = {1, 1};
  op.window.kernel = {3, 4};
  EXPECT_EQ(steps(), 32 * 3);
}

Case Draw(Random& random) {
  Case each = random.Chance(0.6) ? DrawMatmul(random) : DrawConvolution(random);
  each.speed.unroll = {random.Uniform(1, 3), random.Uniform(1, 4), random.Uniform(1, 3),
                       random.Uniform(1, 3), random.Uniform(1, 3), random.Uniform(1, 2),
                       random.Uniform(1, 2)};
  return each;
}

TEST(Folding, BothDerivationsTakeTheStepsThatAreCounted) {
  Random random(2101);
  int pairs = 0;
  for (int round = 0; round < 3000; ++round) {
    const Case each = Draw(random);
    pairs += each.Op().kind == OperatorKind::kConv && PairsColumns(each) ? 1 : 0;
    Shape made = each.Result();
    for (int64_t& extent : made) extent = random.Chance(0.6) ? extent : random.Uniform(1, extent);
    // A part of a group counts as a whole one.
    if (each.Op().groups > 1) made[1] = each.Result()[1];
    const int64_t counted = Counted(each, made);
    ASSERT_EQ(Searched(each, made), counted) << "round " << round;
    ASSERT_EQ(Verified(each, made), counted) << "round " << round;
    Case waiting = each;
    waiting.speed.weight_steps = random.Uniform(2, 9);
    ASSERT_EQ(Searched(waiting, made), Verified(waiting, made)) << "round " << round;
  }
  EXPECT_GE(pairs, 30);
}

// Bounds depend on it. Tiles that divide groups are an exception, for which bounds allow.
TEST(Folding, TilesTogetherTakeAtLeastTheStepsOfTheWhole) {
  Random random(2102);
  for (int round = 0; round < 2000; ++round) {
    const Case each = Draw(random);
    if (each.Op().groups > 1) continue;
    const Shape& whole = each.Result();
    Shape tile = whole;
    for (int64_t& extent : tile) extent = random.Uniform(1, extent);
    Shape counts = whole;
    for (size_t axis = 0; axis < whole.size(); ++axis)
      counts[axis] = base::CeilDiv(whole[axis], tile[axis]);
    int64_t sum = 0;
    ForEachIndex(counts, [&](const Shape& index) {
      Shape made;
      for (size_t axis = 0; axis < whole.size(); ++axis)
        made.push_back(std::min(tile[axis], whole[axis] - index[axis] * tile[axis]));
      sum += Searched(each, made);
    });
    ASSERT_GE(sum, Searched(each, whole)) << "round " << round;
  }
}

// The array of edge_npu_1mib.
Case OnTheEdge(Case each) {
  each.speed.unroll.out_rows = 4;
  each.speed.unroll.out_columns = 4;
  each.speed.unroll.out_channels = 32;
  each.speed.unroll.in_channels = 2;
  return each;
}

int64_t StepsOnTheEdge(OperatorKind kind, const std::vector<Shape>& operands, const Shape& result) {
  const Case each = OnTheEdge(CaseOf(kind, operands, result));
  EXPECT_EQ(Searched(each, result), Verified(each, result));
  return Searched(each, result);
}

TEST(Folding, TheRowsOfAProductLieOnAnyAxis) {
  constexpr OperatorKind kMatmul = OperatorKind::kMatmul;
  constexpr int64_t kSteps = 13 * 72 * 384;
  EXPECT_EQ(StepsOnTheEdge(kMatmul, {{197, 1, 768}}, {197, 1, 2304}), kSteps);
  EXPECT_EQ(StepsOnTheEdge(kMatmul, {{1, 197, 768}}, {1, 197, 2304}), kSteps);
  EXPECT_EQ(StepsOnTheEdge(kMatmul, {{197, 1, 768}, {1, 768, 2304}}, {197, 1, 2304}), kSteps);
}

TEST(Folding, HeadsHaveMatricesOfTheirOwn) {
  constexpr OperatorKind kMatmul = OperatorKind::kMatmul;
  EXPECT_EQ(StepsOnTheEdge(kMatmul, {{12, 197, 64}, {12, 64, 197}}, {12, 197, 197}),
            12 * 13 * 7 * 32);
  // four heads of queries for each head of keys, one token: the four are rows
  EXPECT_EQ(StepsOnTheEdge(kMatmul, {{8, 4, 1, 64}, {8, 1, 64, 96}}, {8, 4, 1, 96}), 8 * 3 * 32);
}

TEST(Folding, PixelsOfAPointwiseConvolutionAreRows) {
  EXPECT_EQ(StepsOnTheEdge(OperatorKind::kConv, {{16, 64, 1, 1}}, {16, 32, 1, 1}), 32);
  EXPECT_EQ(StepsOnTheEdge(OperatorKind::kConv, {{1, 64, 7, 7}}, {1, 32, 7, 7}), 4 * 32);
}

// However many groups of lanes the pixels are dealt out to.
TEST(Folding, AFilterStaysForTheStepsThatLoadingItTakes) {
  const Shape result = {2, 32, 1, 1};
  Case each = OnTheEdge(CaseOf(OperatorKind::kConv, {{2, 64, 1, 1}}, result));
  each.speed.unroll.batch = 2;
  each.speed.weight_steps = 4;
  EXPECT_EQ(Searched(each, result), 4 * 32);
  EXPECT_EQ(Verified(each, result), 4 * 32);
}

TEST(Folding, ChannelsOfADepthwiseConvolutionFoldIfTheEngineSaysSo) {
  const Shape shape = {1, 960, 7, 7};
  Case each = OnTheEdge(CaseOf(OperatorKind::kDepthwise, {shape}, shape));
  each.graph.operators.front().window.kernel = {3, 3};
  EXPECT_EQ(Searched(each, shape), 2 * 2 * 30 * 9);
  each.speed.fold_channels = true;
  EXPECT_EQ(Searched(each, shape), 92 * 9);  // 7 * 7 * 960 / 512
  EXPECT_EQ(Verified(each, shape), 92 * 9);
}

}  // namespace
}  // namespace tessera::search
