#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tessera/graph/onnx/translators.h"

// Resize in the modes of all its versions, and Upsample. Scales come as floats: where one is the ratio of the extents as nearly as
// floats can say, that ratio is meant; else it is the very fraction that the float is.
namespace tessera::graph::onnx {
namespace {

constexpr int64_t kMostTerm = int64_t{1} << 40;

template <typename Enum, size_t kCount>
std::optional<Enum> Among(const std::array<std::string_view, kCount>& names, std::string_view name) {
  const auto* found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

std::optional<Ratio> FractionOf(double scale) {
  int64_t denominator = 1;
  while (scale != std::floor(scale) && denominator < kMostTerm) {
    scale *= 2;
    denominator *= 2;
  }
  if (scale != std::floor(scale) || scale < 1 || scale > static_cast<double>(kMostTerm)) return std::nullopt;
  return Ratio{static_cast<int64_t>(scale), denominator};
}

// What a Resize of any version wants of each axis: an extent and, where that is not their ratio, a scale.
struct Goal {
  Shape shape;
  std::vector<Ratio> scales;  // empty: the ratios of the extents
};

tl::expected<Goal, Obstacle> GoalOfScales(const Shape& input, const std::vector<double>& scales) {
  Goal goal{input, std::vector<Ratio>(input.size())};
  bool all_are_ratios = true;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const double extent = std::floor(static_cast<double>(input[axis]) * scales[axis]);
    if (!(scales[axis] > 0) || extent < 1 || extent > static_cast<double>(int64_t{1} << 56))
      return Fault("a scale of " + std::to_string(scales[axis]), "scales that give 1 to 2^56 elements");
    goal.shape[axis] = static_cast<int64_t>(extent);
    const Ratio exact{goal.shape[axis], input[axis]};
    const bool is_ratio =
        static_cast<float>(extent / static_cast<double>(input[axis])) == static_cast<float>(scales[axis]);
    const std::optional<Ratio> fraction = is_ratio ? exact : FractionOf(scales[axis]);
    if (!fraction)
      return Barrier("its scale of " + std::to_string(scales[axis]) + " is no fraction of terms up to 2^40");
    goal.scales[axis] = *fraction;
    all_are_ratios = all_are_ratios && is_ratio;
  }
  if (all_are_ratios) goal.scales.clear();
  return goal;
}

// Later versions may name the axes that scales or sizes are for.
template <typename T>
tl::expected<std::vector<T>, Obstacle> SpreadOverAxes(const Translation& node, const std::vector<T>& stated,
                                                      std::vector<T> values) {
  std::vector<int64_t> axes = node.Source().Ints("axes");
  if (axes.empty()) {
    for (size_t axis = 0; axis < values.size(); ++axis) axes.push_back(static_cast<int64_t>(axis));
  }
  if (axes.size() != stated.size())
    return Fault(
        std::to_string(stated.size()) + " scales or sizes for " + std::to_string(axes.size()) + " axes",
        "one for each axis");
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::optional<int> axis = AxisFrom(axes[i], values.size());
    if (!axis) return Fault("axis " + std::to_string(axes[i]), "an axis of the input");
    values[static_cast<size_t>(*axis)] = stated[i];
  }
  return values;
}

tl::expected<Goal, Obstacle> ReadGoal(const Translation& node) {
  const Node& source = node.Source();
  const Shape& input = node.ShapeOf(0);
  const bool upsample = source.type == "Upsample";
  const bool first_version = source.version < 11;
  const size_t scales_at = first_version ? 1 : 2;
  constexpr size_t kSizesAt = 3;
  const auto is_given = [&](size_t i) {
    return node.Has(i) && !(node.IsConstant(i) && node.ShapeOf(i) == Shape{0});
  };
  if (!first_version && is_given(kSizesAt)) {
    if (source.Text("keep_aspect_ratio_policy", "stretch") != "stretch")
      return Barrier("it keeps the aspect ratio");
    const auto sizes = node.Integers(kSizesAt);
    if (!sizes) return Barrier("its sizes are computed while the network runs");
    const auto shape = SpreadOverAxes<int64_t>(node, *sizes, input);
    if (!shape) return tl::unexpected(shape.error());
    if (!IsCountable(*shape)) return Fault("sizes " + ToText(*shape), "extents from 1 on");
    return Goal{*shape, {}};
  }
  std::optional<std::vector<double>> scales;
  if (is_given(scales_at)) {
    scales = node.Reals(scales_at);
  } else if (upsample) {
    scales = source.Get<std::vector<double>>("scales", {});
  }
  if (!scales || scales->empty())
    return Barrier("its scales are computed while the network runs, or not in the file");
  const auto all = SpreadOverAxes<double>(node, *scales, std::vector<double>(input.size(), 1.0));
  if (!all) return tl::unexpected(all.error());
  return GoalOfScales(input, *all);
}

tl::expected<Resize, Obstacle> ReadModes(const Node& node) {
  static constexpr std::array<std::string_view, 3> kModes = {"nearest", "linear", "cubic"};
  static constexpr std::array<std::string_view, 5> kCoordinates = {
      "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"};
  static constexpr std::array<std::string_view, 4> kRoundings = {"round_prefer_floor", "round_prefer_ceil",
                                                                 "floor", "ceil"};
  const bool first_version = node.version < 11;
  const auto mode = Among<ResizeMode>(kModes, node.Text("mode", "nearest"));
  const std::string coordinates_name =
      first_version ? "asymmetric" : node.Text("coordinate_transformation_mode", "half_pixel");
  const auto coordinates = Among<ResizeCoordinates>(kCoordinates, coordinates_name);
  const auto rounding = Among<NearestRounding>(
      kRoundings, first_version ? "floor" : node.Text("nearest_mode", "round_prefer_floor"));
  if (!mode) return Fault("mode '" + node.Text("mode") + "'", "nearest, linear or cubic");
  if (!coordinates) return Barrier("its coordinates are '" + coordinates_name + "'");
  if (!rounding) return Fault("nearest_mode '" + node.Text("nearest_mode") + "'", "a way to round");
  if (node.Flag("antialias")) return Barrier("it smooths what it makes smaller");
  Resize resize;
  resize.mode = *mode;
  resize.coordinates = *coordinates;
  resize.rounding = *rounding;
  return resize;
}

}  // namespace

Outcome TranslateResize(Translation& node) {
  const tl::expected<Goal, Obstacle> goal = ReadGoal(node);
  if (!goal) return tl::unexpected(goal.error());
  const tl::expected<Resize, Obstacle> modes = ReadModes(node.Source());
  if (!modes) return tl::unexpected(modes.error());
  if (goal->shape == node.ShapeOf(0) && goal->scales.empty()) {
    node.Drop(node.Source().inputs[0], "keeps the size");
    return {};
  }
  Part part;
  part.op.kind = base::OperatorKind::kResize;
  part.op.resize = *modes;
  part.op.resize.scales = goal->scales;
  part.wanted.size = goal->shape;
  part.inputs = {node.Feature(0)};
  return AsOutcome(node.Emit(std::move(part)));
}

}  // namespace tessera::graph::onnx
