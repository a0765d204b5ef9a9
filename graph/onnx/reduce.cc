#include <algorithm>
#include <numeric>

#include "tessera/graph/onnx/translators.h"

// Operators that need whole axes: reductions, softmax, normalisations.
namespace tessera::graph::onnx {
namespace {

using Axes = std::vector<int>;

Axes AxesFrom(int first, size_t rank) {
  Axes axes(rank - static_cast<size_t>(first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// Ascending, each once.
tl::expected<Axes, Obstacle> ResolveAxes(const std::vector<int64_t>& stated, const Shape& input) {
  Axes axes;
  for (const int64_t each : stated) {
    const std::optional<int> axis = AxisFrom(each, input.size());
    if (!axis)
      return Fault("axis " + std::to_string(each) + " of an input of shape " + ToText(input),
                   "an axis of the input");
    axes.push_back(*axis);
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

// "ReduceMean" reduces by "mean", ArgMax by "arg_max".
std::string ReduceFunctionOf(const Node& node) {
  constexpr std::string_view kPrefix = "Reduce";
  if (!node.type.starts_with(kPrefix)) return SnakeCase(node.type);
  return SnakeCase(std::string_view(node.type).substr(kPrefix.size()));
}

tl::expected<Axes, Obstacle> AxesOfReduce(const Translation& node) {
  const Node& source = node.Source();
  const Shape& input = node.ShapeOf(0);
  if (source.type.starts_with("Arg")) return ResolveAxes({source.Int("axis", 0)}, input);
  std::optional<std::vector<int64_t>> stated = source.Ints("axes");
  if (node.Has(1)) stated = node.Integers(1);
  if (!stated) return Barrier("its axes are computed while the network runs");
  if (!stated->empty() || source.Flag("noop_with_empty_axes")) return ResolveAxes(*stated, input);
  return AxesFrom(0, input.size());
}

// A mean over rows and columns is a global pool, which profiles know.
bool IsGlobalPool(const Part& part, const Shape& input) {
  return input.size() == 4 && part.op.axes == Axes{2, 3} &&
         (part.op.function == "mean" || part.op.function == "max");
}

// Weights and biases of a normalisation.
void AddTables(Translation& node, size_t first, size_t end, Part& part) {
  for (size_t i = first; i < end; ++i) {
    if (node.IsConstant(i)) part.op.weights.push_back(node.Weight(i));
  }
}

bool HasComputedTables(const Translation& node, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    if (node.IsFeature(i)) return true;
  }
  return false;
}

Outcome Normalize(Translation& node, Part part, int input) {
  part.op.kind = base::OperatorKind::kLayerNorm;
  part.inputs = {input};
  return AsOutcome(node.Emit(std::move(part)));
}

bool MakesMore(const Node& node) {
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.HasOutput(i)) return true;
  }
  return false;
}

}  // namespace

Outcome TranslateReduce(Translation& node) {
  const tl::expected<Axes, Obstacle> axes = AxesOfReduce(node);
  if (!axes) return tl::unexpected(axes.error());
  if (axes->empty()) {
    node.Drop(node.Source().inputs[0], "reduces nothing");
    return {};
  }
  Part part;
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
  return AsOutcome(node.Emit(std::move(part)));
}

// Up to operator set 12 the axis begins a block of axes that are one to the function.
Outcome TranslateSoftmax(Translation& node) {
  const Shape& input = node.ShapeOf(0);
  const bool blocks = node.Source().version < 13;
  const int64_t stated = node.Source().Int("axis", blocks ? 1 : -1);
  const std::optional<int> axis = AxisFrom(stated, input.size());
  if (!axis)
    return Fault("axis " + std::to_string(stated) + " of an input of shape " + ToText(input),
                 "an axis of the input");
  Part part;
  part.op.kind = base::OperatorKind::kSoftmax;
  part.op.axes = blocks ? AxesFrom(*axis, input.size()) : Axes{*axis};
  part.inputs = {node.Feature(0)};
  return AsOutcome(node.Emit(std::move(part)));
}

Outcome TranslateLayerNorm(Translation& node) {
  const Node& source = node.Source();
  if (MakesMore(source)) return Barrier("it also gives mean and deviation");
  if (HasComputedTables(node, 1, 3)) return Barrier("its scale is computed while the network runs");
  const Shape& input = node.ShapeOf(0);
  Part part;
  if (source.type == "MeanVarianceNormalization") {
    const std::vector<int64_t> stated = source.Ints("axes");
    const auto axes = ResolveAxes(stated.empty() ? std::vector<int64_t>{0, 2, 3} : stated, input);
    if (!axes) return tl::unexpected(axes.error());
    part.op.axes = *axes;
  } else {
    const std::optional<int> axis = AxisFrom(source.Int("axis", -1), input.size());
    if (!axis)
      return Fault(
          "axis " + std::to_string(source.Int("axis", -1)) + " of an input of shape " + ToText(input),
          "an axis of the input");
    part.op.axes = source.type == "LpNormalization" ? Axes{*axis} : AxesFrom(*axis, input.size());
  }
  AddTables(node, 1, 3, part);
  return Normalize(node, std::move(part), node.Feature(0));
}

Outcome TranslateInstanceNorm(Translation& node) {
  if (HasComputedTables(node, 1, 3)) return Barrier("its scale is computed while the network runs");
  const Shape& input = node.ShapeOf(0);
  if (input.size() < 3) return Fault("an input of shape " + ToText(input), "at least three axes");
  Part part;
  part.op.axes = AxesFrom(2, input.size());
  AddTables(node, 1, 3, part);
  return Normalize(node, std::move(part), node.Feature(0));
}

Outcome TranslateGroupNorm(Translation& node) {
  if (HasComputedTables(node, 1, 3)) return Barrier("its scale is computed while the network runs");
  const Shape input = node.ShapeOf(0);
  const int64_t groups = node.Source().Int("num_groups", node.Source().Int("groups", 0));
  if (input.size() < 3 || groups < 1 || input[1] % groups != 0)
    return Fault(std::to_string(groups) + " groups of an input of shape " + ToText(input),
                 "a divisor of its channels");
  Shape grouped = {input[0], groups, input[1] / groups};
  grouped.insert(grouped.end(), input.begin() + 2, input.end());
  const MadeTensor split = node.Reshape(node.Feature(0), grouped, "/groups");
  if (!split) return AsOutcome(split);
  Part part;
  part.op.kind = base::OperatorKind::kLayerNorm;
  part.op.axes = AxesFrom(2, grouped.size());
  AddTables(node, 1, 3, part);
  part.inputs = {*split};
  const MadeTensor made = node.Emit(std::move(part), "", "/grouped");
  return made ? AsOutcome(node.Reshape(*made, input, "")) : AsOutcome(made);
}

// Adds the two first operands, then normalises their sum; a fourth output is that sum.
Outcome TranslateSkipLayerNorm(Translation& node) {
  const Node& source = node.Source();
  if (source.HasOutput(1) || source.HasOutput(2)) return Barrier("it also gives mean and deviation");
  if (!node.IsFeature(0) || !node.IsFeature(1)) return Barrier("it adds a constant");
  if (HasComputedTables(node, 2, node.Operands()))
    return Barrier("its scale is computed while the network runs");
  Part sum;
  sum.op.kind = base::OperatorKind::kElementwise;
  sum.op.function = "add";
  sum.inputs = {node.Feature(0), node.Feature(1)};
  const MadeTensor added = node.Emit(std::move(sum), "/add", "/sum");
  if (!added) return AsOutcome(added);
  if (source.HasOutput(3)) node.BindOutput(3, *added);
  Part part;
  part.op.axes = {static_cast<int>(node.ShapeOfTensor(*added).size()) - 1};
  AddTables(node, 2, node.Operands(), part);
  return Normalize(node, std::move(part), *added);
}

}  // namespace tessera::graph::onnx
