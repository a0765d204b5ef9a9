// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/onnx/translations.h"

// Operators that give the same elements another shape or order.
namespace tessera::graph::import::onnx {
namespace {

common::Outcome EmitReshape(common::Translation& node, const Shape& shape) {
  if (shape == node.ShapeOf(0)) {
    node.Drop(node.Source().inputs[0], "keeps the shape");
    return {};
  }
  return common::AsOutcome(node.Reshape(node.Feature(0), shape, ""));
}

// Axes from the operand of newer operator sets, or from the attribute; empty if the node states
// none.
tl::expected<std::vector<int64_t>, common::Obstacle> StatedAxes(const common::Translation& node) {
  if (!node.Has(1)) return node.Source().Ints("axes");
  const auto axes = node.Integers(1);
  if (!axes) return common::Barrier("its axes are computed while the network runs");
  return *axes;
}

// The shape of a Reshape: 0 copies an extent, -1 takes the remaining elements.
tl::expected<Shape, common::Obstacle> ResolveShape(const Shape& input, Shape wanted,
                                                   bool zero_is_zero) {
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t axis = 0; axis < wanted.size(); ++axis) {
    if (wanted[axis] == 0 && !zero_is_zero && axis < input.size()) wanted[axis] = input[axis];
    if (wanted[axis] == -1 && !open) {
      open = axis;
      continue;
    }
    const auto product = wanted[axis] < 1 ? std::nullopt : base::CheckedMul(known, wanted[axis]);
    if (!product)
      return common::Fault("shape " + ops::ToText(wanted),
                           "extents from 1 on, and at most one of -1");
    known = *product;
  }
  if (open) wanted[*open] = ElementsOf(input) / known;
  return wanted;
}

// If one extent is unknown, it follows from the number of elements.
common::Outcome ReshapeByOutline(common::Translation& node) {
  const std::optional<std::vector<int64_t>> outline = node.Outline(1);
  if (!outline || std::count(outline->begin(), outline->end(), -1) != 1)
    return common::Barrier("its shape is computed while the network runs, or not in the file");
  const auto shape = ResolveShape(node.ShapeOf(0), *outline, node.Source().Flag("allowzero"));
  if (!shape) return tl::unexpected(shape.error());
  node.Target().report.Add(common::Report::Event::kAssumed, node.Source(),
                           "its shape is " + ops::ToText(*shape) +
                               ": one extent is not in the file, and the others leave no choice");
  return EmitReshape(node, *shape);
}

common::Outcome TranslateReshape(common::Translation& node) {
  const auto stated = node.Has(1) ? node.Integers(1) : std::optional(node.Source().Ints("shape"));
  if (!stated) {
    const std::optional<Shape> declared = node.DeclaredShape(0);
    if (declared) return EmitReshape(node, *declared);
    return ReshapeByOutline(node);
  }
  const auto shape = ResolveShape(node.ShapeOf(0), *stated, node.Source().Flag("allowzero"));
  if (!shape) return tl::unexpected(shape.error());
  return EmitReshape(node, *shape);
}

common::Outcome TranslateFlatten(common::Translation& node) {
  const Shape& input = node.ShapeOf(0);
  const int64_t stated = node.Source().Int("axis", 1);
  const auto rank = static_cast<int64_t>(input.size());
  if (stated < -rank || stated > rank)
    return common::Fault("'axis' is " + std::to_string(stated), "an axis of the input");
  const int64_t axis = stated < 0 ? stated + rank : stated;
  const Shape front(input.begin(), input.begin() + axis);
  const Shape back(input.begin() + axis, input.end());
  return EmitReshape(node, {ElementsOf(front), ElementsOf(back)});
}

common::Outcome TranslateSqueeze(common::Translation& node) {
  const auto axes = StatedAxes(node);
  if (!axes) return tl::unexpected(axes.error());
  const Shape& input = node.ShapeOf(0);
  std::set<int> gone;
  for (const int64_t stated : *axes) {
    const std::optional<int> axis = common::AxisFrom(stated, input.size());
    if (!axis || input[static_cast<size_t>(*axis)] != 1)
      return common::Fault("axis " + std::to_string(stated) + " of " + ops::ToText(input),
                           "an axis of extent 1");
    gone.insert(*axis);
  }
  Shape shape;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const bool goes = axes->empty() ? input[axis] == 1 : gone.count(static_cast<int>(axis)) > 0;
    if (!goes) shape.push_back(input[axis]);
  }
  return EmitReshape(node, shape);
}

common::Outcome TranslateUnsqueeze(common::Translation& node) {
  const auto axes = StatedAxes(node);
  if (!axes) return tl::unexpected(axes.error());
  const Shape& input = node.ShapeOf(0);
  const size_t rank = input.size() + axes->size();
  std::set<int> added;
  for (const int64_t stated : *axes) {
    const std::optional<int> axis = common::AxisFrom(stated, rank);
    if (!axis || !added.insert(*axis).second)
      return common::Fault("axis " + std::to_string(stated) + " of " + std::to_string(rank),
                           "each axis once");
  }
  Shape shape;
  size_t next = 0;
  for (size_t axis = 0; axis < rank; ++axis)
    shape.push_back(added.count(static_cast<int>(axis)) > 0 ? 1 : input[next++]);
  return EmitReshape(node, shape);
}

common::Outcome TranslateTranspose(common::Translation& node) {
  tl::expected<std::vector<int>, common::Obstacle> permutation =
      common::ReadPermutation(node.Source(), node.ShapeOf(0).size());
  if (!permutation) return tl::unexpected(permutation.error());
  if (std::is_sorted(permutation->begin(), permutation->end())) {
    node.Drop(node.Source().inputs[0], "keeps the order");
    return {};
  }
  common::Part part;
  part.op.kind = base::OperatorKind::kTranspose;
  part.op.own = TransposeAttributes{*std::move(permutation)};
  part.inputs = {node.Feature(0)};
  return common::AsOutcome(node.Emit(std::move(part)));
}

common::Outcome TranslateDepthToSpace(common::Translation& node) {
  const common::Node& source = node.Source();
  if (node.ShapeOf(0).size() != 4)
    return common::Fault("an input of shape " + ops::ToText(node.ShapeOf(0)), "four axes");
  const int64_t block = source.Int("blocksize", 0);
  if (block < 1 || block > 65536)
    return common::Fault("'blocksize' is " + std::to_string(block), "1 to 65536");
  const std::string mode = source.Text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return common::Fault("mode '" + mode + "'", "DCR or CRD");
  common::Part part;
  part.op.kind = source.type == "DepthToSpace" ? base::OperatorKind::kDepthToSpace
                                               : base::OperatorKind::kSpaceToDepth;
  part.op.own = DepthSpaceAttributes{block, mode == "CRD" ? DepthOrder::kCrd : DepthOrder::kDcr};
  part.inputs = {node.Feature(0)};
  return common::AsOutcome(node.Emit(std::move(part)));
}

// Resize in the modes of all its versions, and Upsample. Scales are floats. If a scale is the float
// nearest to the ratio of the extents, that ratio is used; otherwise the exact fraction of the
// float.

constexpr int64_t kMostTerm = int64_t{1} << 40;

template <typename Enum, size_t kCount>
std::optional<Enum> Among(const std::array<std::string_view, kCount>& names,
                          std::string_view name) {
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
  if (scale != std::floor(scale) || scale < 1 || scale > static_cast<double>(kMostTerm))
    return std::nullopt;
  return Ratio{static_cast<int64_t>(scale), denominator};
}

// The result of a Resize of any version along each axis: an extent and, if that is not their ratio,
// a scale.
struct Goal {
  Shape shape;
  std::vector<Ratio> scales;  // empty: the ratios of the extents
};

tl::expected<Goal, common::Obstacle> GoalOfScales(const Shape& input,
                                                  const std::vector<double>& scales) {
  Goal goal{input, std::vector<Ratio>(input.size())};
  bool all_are_ratios = true;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const double extent = std::floor(static_cast<double>(input[axis]) * scales[axis]);
    if (!(scales[axis] > 0) || extent < 1 || extent > static_cast<double>(int64_t{1} << 56))
      return common::Fault("a scale of " + std::to_string(scales[axis]),
                           "scales that give 1 to 2^56 elements");
    goal.shape[axis] = static_cast<int64_t>(extent);
    const Ratio exact{goal.shape[axis], input[axis]};
    const bool is_ratio = static_cast<float>(extent / static_cast<double>(input[axis])) ==
                          static_cast<float>(scales[axis]);
    const std::optional<Ratio> fraction = is_ratio ? exact : FractionOf(scales[axis]);
    if (!fraction)
      return common::Barrier("its scale of " + std::to_string(scales[axis]) +
                             " is no fraction of terms up to 2^40");
    goal.scales[axis] = *fraction;
    all_are_ratios = all_are_ratios && is_ratio;
  }
  if (all_are_ratios) goal.scales.clear();
  return goal;
}

// Later versions may name the axes to which scales or sizes apply.
template <typename T>
tl::expected<std::vector<T>, common::Obstacle> SpreadOverAxes(const common::Translation& node,
                                                              const std::vector<T>& stated,
                                                              std::vector<T> values) {
  std::vector<int64_t> axes = node.Source().Ints("axes");
  if (axes.empty()) {
    for (size_t axis = 0; axis < values.size(); ++axis) axes.push_back(static_cast<int64_t>(axis));
  }
  if (axes.size() != stated.size())
    return common::Fault(std::to_string(stated.size()) + " scales or sizes for " +
                             std::to_string(axes.size()) + " axes",
                         "one for each axis");
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::optional<int> axis = common::AxisFrom(axes[i], values.size());
    if (!axis) return common::Fault("axis " + std::to_string(axes[i]), "an axis of the input");
    values[static_cast<size_t>(*axis)] = stated[i];
  }
  return values;
}

tl::expected<Goal, common::Obstacle> ReadGoal(const common::Translation& node) {
  const common::Node& source = node.Source();
  const Shape& input = node.ShapeOf(0);
  const bool upsample = source.type == "Upsample";
  const bool first_version = source.version < 11;
  const size_t scales_at = first_version ? 1 : 2;
  constexpr size_t kSizesAt = 3;
  const auto is_given = [&](size_t i) {
    return node.Has(i) && !(node.IsConstant(i) && node.ShapeOf(i) == Shape{0});
  };
  if (!first_version && is_given(kSizesAt)) {
    if (is_given(scales_at)) return common::Fault("both sizes and scales", "one of the two");
    if (source.Text("keep_aspect_ratio_policy", "stretch") != "stretch")
      return common::Barrier("it keeps the aspect ratio");
    const auto sizes = node.Integers(kSizesAt);
    if (!sizes) return common::Barrier("its sizes are computed while the network runs");
    const auto shape = SpreadOverAxes<int64_t>(node, *sizes, input);
    if (!shape) return tl::unexpected(shape.error());
    if (!ops::IsCountable(*shape))
      return common::Fault("sizes " + ops::ToText(*shape), "extents from 1 on");
    return Goal{*shape, {}};
  }
  std::optional<std::vector<double>> scales;
  if (is_given(scales_at)) {
    scales = node.Reals(scales_at);
  } else if (upsample) {
    scales = source.Get<std::vector<double>>("scales", {});
  }
  if (!scales || scales->empty())
    return common::Barrier("its scales are computed while the network runs, or not in the file");
  const auto all = SpreadOverAxes<double>(node, *scales, std::vector<double>(input.size(), 1.0));
  if (!all) return tl::unexpected(all.error());
  return GoalOfScales(input, *all);
}

tl::expected<ResizeAttributes, common::Obstacle> ReadModes(const common::Node& node) {
  static constexpr std::array<std::string_view, 3> kModes = {"nearest", "linear", "cubic"};
  static constexpr std::array<std::string_view, 5> kCoordinates = {
      "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"};
  static constexpr std::array<std::string_view, 2> kUntranslated = {"half_pixel_symmetric",
                                                                    "tf_crop_and_resize"};
  static constexpr std::array<std::string_view, 4> kRoundings = {
      "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  const bool first_version = node.version < 11;
  const auto mode = Among<ResizeMode>(kModes, node.Text("mode", "nearest"));
  const std::string coordinates_name =
      first_version ? "asymmetric" : node.Text("coordinate_transformation_mode", "half_pixel");
  const auto coordinates = Among<ResizeCoordinates>(kCoordinates, coordinates_name);
  const auto rounding = Among<NearestRounding>(
      kRoundings, first_version ? "floor" : node.Text("nearest_mode", "round_prefer_floor"));
  const bool is_known = coordinates || std::find(kUntranslated.begin(), kUntranslated.end(),
                                                 coordinates_name) != kUntranslated.end();
  if (!mode) return common::Fault("mode '" + node.Text("mode") + "'", "nearest, linear or cubic");
  if (!is_known)
    return common::Fault("coordinate_transformation_mode '" + coordinates_name + "'",
                         base::Join(kCoordinates) + ", " + base::Join(kUntranslated));
  if (!coordinates) return common::Barrier("its coordinates are '" + coordinates_name + "'");
  if (!rounding)
    return common::Fault("nearest_mode '" + node.Text("nearest_mode") + "'", "a way to round");
  if (node.Flag("antialias")) return common::Barrier("it smooths what it makes smaller");
  ResizeAttributes resize;
  resize.mode = *mode;
  resize.coordinates = *coordinates;
  resize.rounding = *rounding;
  return resize;
}

common::Outcome TranslateResize(common::Translation& node) {
  const tl::expected<ResizeAttributes, common::Obstacle> modes = ReadModes(node.Source());
  if (!modes) return tl::unexpected(modes.error());
  const tl::expected<Goal, common::Obstacle> goal = ReadGoal(node);
  if (!goal) return tl::unexpected(goal.error());
  if (goal->shape == node.ShapeOf(0) && goal->scales.empty()) {
    node.Drop(node.Source().inputs[0], "keeps the size");
    return {};
  }
  common::Part part;
  part.op.kind = base::OperatorKind::kResize;
  part.op.own = *modes;
  part.op.MakeOwn<ResizeAttributes>().scales = goal->scales;
  part.wanted.size = goal->shape;
  part.inputs = {node.Feature(0)};
  return common::AsOutcome(node.Emit(std::move(part)));
}

}  // namespace

TranslationTable TranslationsOfShapes() {
  return {{{TranslateReshape}, {"Reshape"}},
          {{TranslateFlatten}, {"Flatten"}},
          {{TranslateSqueeze}, {"Squeeze"}},
          {{TranslateUnsqueeze}, {"Unsqueeze"}},
          {{TranslateTranspose}, {"Transpose"}},
          {{TranslateDepthToSpace}, {"DepthToSpace", "SpaceToDepth"}},
          {{TranslateResize}, {"Resize", "Upsample"}}};
}

}  // namespace tessera::graph::import::onnx
