// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "tessera/graph/import/onnx/translations.h"

// Operators that need whole axes: reductions, softmax, normalisations.
namespace tessera::graph::import::onnx {
namespace {

using Axes = std::vector<int>;

Axes AxesFrom(int first, size_t rank) {
  Axes axes(rank - static_cast<size_t>(first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// Returns the axes in ascending order, each once.
tl::expected<Axes, common::Obstacle> ResolveAxes(const std::vector<int64_t>& stated,
                                                 const Shape& input) {
  Axes axes;
  for (const int64_t each : stated) {
    const std::optional<int> axis = common::AxisFrom(each, input.size());
    if (!axis)
      return common::Fault(
          "axis " + std::to_string(each) + " of an input of shape " + ops::ToText(input),
          "an axis of the input");
    axes.push_back(*axis);
  }
  std::sort(axes.begin(), axes.end());
  if (const auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
    return common::Fault("axis " + std::to_string(*twice) + " is listed twice", "each axis once");
  return axes;
}

// "ReduceMean" reduces by "mean", ArgMax by "arg_max".
std::string ReduceFunctionOf(const common::Node& node) {
  constexpr std::string_view kPrefix = "Reduce";
  if (!node.type.starts_with(kPrefix)) return common::SnakeCase(node.type);
  return common::SnakeCase(std::string_view(node.type).substr(kPrefix.size()));
}

tl::expected<Axes, common::Obstacle> AxesOfReduce(const common::Translation& node) {
  const common::Node& source = node.Source();
  const Shape& input = node.ShapeOf(0);
  if (source.type.starts_with("Arg")) return ResolveAxes({source.Int("axis", 0)}, input);
  std::optional<std::vector<int64_t>> stated = source.Ints("axes");
  if (node.Has(1)) stated = node.Integers(1);
  if (!stated) return common::Barrier("its axes are computed while the network runs");
  if (!stated->empty() || source.Flag("noop_with_empty_axes")) return ResolveAxes(*stated, input);
  return AxesFrom(0, input.size());
}

// A mean over rows and columns is a global pool, a kind in profiles.
bool IsGlobalPool(const common::Part& part, const Shape& input) {
  return input.size() == 4 && part.op.axes == Axes{2, 3} &&
         (part.op.function == "mean" || part.op.function == "max");
}

// Weights and biases of a normalisation.
void AddTables(common::Translation& node, size_t first, size_t end, common::Part& part) {
  for (size_t i = first; i < end; ++i) {
    if (node.IsConstant(i)) part.op.weights.push_back(node.Weight(i));
  }
}

bool HasComputedTables(const common::Translation& node, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    if (node.IsFeature(i)) return true;
  }
  return false;
}

common::Outcome Normalize(common::Translation& node, common::Part part, int input) {
  part.op.kind = base::OperatorKind::kLayerNorm;
  part.inputs = {input};
  return common::AsOutcome(node.Emit(std::move(part)));
}

bool MakesMore(const common::Node& node) {
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.HasOutput(i)) return true;
  }
  return false;
}

common::Outcome TranslateCumSum(common::Translation& node) {
  const auto stated = node.Integers(1);
  if (!stated) return common::Barrier("its axis is computed while the network runs");
  const tl::expected<Axes, common::Obstacle> axes = ResolveAxes(*stated, node.ShapeOf(0));
  if (!axes) return tl::unexpected(axes.error());
  if (axes->size() != 1) return common::Fault(std::to_string(axes->size()) + " axes", "one axis");
  common::Part part;
  part.op.kind = base::OperatorKind::kCumsum;
  part.op.axis = axes->front();
  part.op.own = base::CumsumAttributes{.exclusive = node.Source().Flag("exclusive"),
                                       .reverse = node.Source().Flag("reverse")};
  part.inputs = {node.Feature(0)};
  return common::AsOutcome(node.Emit(std::move(part)));
}

// A separate operator makes each result that the network uses.
common::Outcome TranslateTopK(common::Translation& node) {
  const common::Node& source = node.Source();
  std::optional<std::vector<int64_t>> k = std::vector<int64_t>{source.Int("k", 0)};
  if (source.version >= 10) k = node.Integers(1);
  if (!k || k->size() != 1) return common::Barrier("its k is computed while the network runs");
  const tl::expected<Axes, common::Obstacle> axes =
      ResolveAxes({source.Int("axis", -1)}, node.ShapeOf(0));
  if (!axes) return tl::unexpected(axes.error());
  for (const size_t i : {0, 1}) {
    if (!source.HasOutput(i)) continue;
    common::Part part;
    part.op.kind = base::OperatorKind::kTopK;
    part.op.axes = *axes;
    part.op.own = base::TopKAttributes{.k = k->front(),
                                       .largest = source.Int("largest", 1) != 0,
                                       .sorted = source.Int("sorted", 1) != 0,
                                       .result = i == 0 ? "values" : "indices"};
    if (i == 1) part.type = base::DataType::kInt64;
    part.inputs = {node.Feature(0)};
    const common::MadeTensor made =
        i == 0 ? node.Emit(std::move(part)) : node.EmitOutput(std::move(part), i);
    if (!made) return common::AsOutcome(made);
  }
  return {};
}

common::Outcome TranslateReduce(common::Translation& node) {
  const tl::expected<Axes, common::Obstacle> axes = AxesOfReduce(node);
  if (!axes) return tl::unexpected(axes.error());
  if (axes->empty()) {
    node.Drop(node.Source().inputs[0], "reduces nothing");
    return {};
  }
  common::Part part;
  part.op.kind = base::OperatorKind::kReduce;
  part.op.function = ReduceFunctionOf(node.Source());
  part.op.axes = *axes;
  part.wanted.keep_axes = node.Source().Int("keepdims", 1) != 0;
  if (node.Source().type.starts_with("Arg")) part.type = base::DataType::kInt64;
  if (IsGlobalPool(part, node.ShapeOf(0))) {
    part.op.kind = base::OperatorKind::kGlobalPool;
    part.op.function = part.op.function == "mean" ? "average" : "max";
    part.op.axes.clear();
  }
  part.inputs = {node.Feature(0)};
  return common::AsOutcome(node.Emit(std::move(part)));
}

// Up to operator set 12 the axis begins a block of axes that the function treats as one.
common::Outcome TranslateSoftmax(common::Translation& node) {
  const Shape& input = node.ShapeOf(0);
  const bool blocks = node.Source().version < 13;
  const int64_t stated = node.Source().Int("axis", blocks ? 1 : -1);
  const std::optional<int> axis = common::AxisFrom(stated, input.size());
  if (!axis)
    return common::Fault(
        "axis " + std::to_string(stated) + " of an input of shape " + ops::ToText(input),
        "an axis of the input");
  common::Part part;
  part.op.kind = base::OperatorKind::kSoftmax;
  part.op.axes = blocks ? AxesFrom(*axis, input.size()) : Axes{*axis};
  part.inputs = {node.Feature(0)};
  return common::AsOutcome(node.Emit(std::move(part)));
}

common::Outcome TranslateLayerNorm(common::Translation& node) {
  const common::Node& source = node.Source();
  if (MakesMore(source)) return common::Barrier("it also gives mean and deviation");
  if (HasComputedTables(node, 1, 3))
    return common::Barrier("its scale is computed while the network runs");
  const Shape& input = node.ShapeOf(0);
  common::Part part;
  if (source.type == "MeanVarianceNormalization") {
    const std::vector<int64_t> stated = source.Ints("axes");
    const auto axes = ResolveAxes(stated.empty() ? std::vector<int64_t>{0, 2, 3} : stated, input);
    if (!axes) return tl::unexpected(axes.error());
    part.op.axes = *axes;
  } else {
    const std::optional<int> axis = common::AxisFrom(source.Int("axis", -1), input.size());
    if (!axis)
      return common::Fault("axis " + std::to_string(source.Int("axis", -1)) +
                               " of an input of shape " + ops::ToText(input),
                           "an axis of the input");
    part.op.axes = source.type == "LpNormalization" ? Axes{*axis} : AxesFrom(*axis, input.size());
  }
  for (const size_t table : {1, 2}) {
    if (auto fits = ExpectBroadcast(node, table, input); !fits) return fits;
  }
  AddTables(node, 1, 3, part);
  return Normalize(node, std::move(part), node.Feature(0));
}

common::Outcome TranslateInstanceNorm(common::Translation& node) {
  if (HasComputedTables(node, 1, 3))
    return common::Barrier("its scale is computed while the network runs");
  const Shape& input = node.ShapeOf(0);
  if (input.size() < 3)
    return common::Fault("an input of shape " + ops::ToText(input), "at least three axes");
  for (const size_t table : {1, 2}) {
    if (auto fits = ExpectShape(node, table, {input[1]}); !fits) return fits;
  }
  common::Part part;
  part.op.axes = AxesFrom(2, input.size());
  AddTables(node, 1, 3, part);
  return Normalize(node, std::move(part), node.Feature(0));
}

common::Outcome TranslateGroupNorm(common::Translation& node) {
  if (HasComputedTables(node, 1, 3))
    return common::Barrier("its scale is computed while the network runs");
  const Shape input = node.ShapeOf(0);
  const int64_t groups = node.Source().Int("num_groups", node.Source().Int("groups", 0));
  if (input.size() < 3 || groups < 1 || input[1] % groups != 0)
    return common::Fault(
        std::to_string(groups) + " groups of an input of shape " + ops::ToText(input),
        "a divisor of its channels");
  Shape grouped = {input[0], groups, input[1] / groups};
  grouped.insert(grouped.end(), input.begin() + 2, input.end());
  const common::MadeTensor split = node.Reshape(node.Feature(0), grouped, "/groups");
  if (!split) return common::AsOutcome(split);
  common::Part part;
  part.op.kind = base::OperatorKind::kLayerNorm;
  part.op.axes = AxesFrom(2, grouped.size());
  AddTables(node, 1, 3, part);
  part.inputs = {*split};
  const common::MadeTensor made = node.Emit(std::move(part), "", "/grouped");
  return made ? common::AsOutcome(node.Reshape(*made, input, "")) : common::AsOutcome(made);
}

// Adds the first two operands, then normalises their sum. A fourth output is that sum.
common::Outcome TranslateSkipLayerNorm(common::Translation& node) {
  const common::Node& source = node.Source();
  if (source.HasOutput(1) || source.HasOutput(2))
    return common::Barrier("it also gives mean and deviation");
  if (!node.IsFeature(0) || !node.IsFeature(1)) return common::Barrier("it adds a constant");
  if (HasComputedTables(node, 2, node.Operands()))
    return common::Barrier("its scale is computed while the network runs");
  common::Part sum;
  sum.op.kind = base::OperatorKind::kElementwise;
  sum.op.function = "add";
  sum.inputs = {node.Feature(0), node.Feature(1)};
  const common::MadeTensor added = node.Emit(std::move(sum), "/add", "/sum");
  if (!added) return common::AsOutcome(added);
  if (source.HasOutput(3)) node.BindOutput(3, *added);
  common::Part part;
  part.op.axes = {static_cast<int>(node.ShapeOfTensor(*added).size()) - 1};
  AddTables(node, 2, node.Operands(), part);
  return Normalize(node, std::move(part), *added);
}

}  // namespace

TranslationTable TranslationsOfReductions() {
  return {
      {{TranslateReduce},
       {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin"}},
      {{TranslateCumSum, 2}, {"CumSum"}},
      {{TranslateTopK}, {"TopK"}},
      {{TranslateSoftmax}, {"Softmax", "LogSoftmax", "Hardmax"}},
      {{TranslateLayerNorm},
       {"LayerNormalization", "RMSNormalization", "LpNormalization", "MeanVarianceNormalization"}},
      {{TranslateInstanceNorm, 3}, {"InstanceNormalization"}},
      {{TranslateGroupNorm, 3}, {"GroupNormalization"}},
      {{TranslateSkipLayerNorm, 3, true},
       {"com.microsoft:SkipLayerNormalization", "com.microsoft:SkipSimplifiedLayerNormalization"}}};
}

}  // namespace tessera::graph::import::onnx
