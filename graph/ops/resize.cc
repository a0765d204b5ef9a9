#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Resampling along every axis.
namespace tessera::graph::ops {
namespace {

constexpr std::array<std::string_view, 3> kResizeModes = {"nearest", "bilinear", "cubic"};
constexpr std::array<std::string_view, 5> kCoordinates = {
    "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"};
constexpr std::array<std::string_view, 4> kRoundings = {"round_prefer_floor", "round_prefer_ceil",
                                                        "floor", "ceil"};

std::vector<Field> FieldsOfResize(Operator& op, Wanted& wanted, size_t /*operands*/) {
  Field size = {"size", &wanted.size, Presence::kRequired, 1};
  size.single = Single::kRowsAndColumns;
  size.unless = "scales";
  return {{"mode", &op.resize.mode},
          {"coordinates", &op.resize.coordinates},
          {"rounding", &op.resize.rounding},
          size,
          {"scales", &op.resize.scales, Presence::kSparse}};
}

// floor(extent * scale); scales are at most 2^40 over 2^40.
std::optional<int64_t> ScaledExtent(int64_t extent, const Ratio& scale) {
  __extension__ using Wide = __int128;
  const Wide scaled = Wide{extent} * scale.numerator / scale.denominator;
  if (scaled > kMostElements) return std::nullopt;
  return static_cast<int64_t>(scaled);
}

Inferred InferResize(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  std::vector<Ratio>& scales = op.resize.scales;
  if (wanted.size.size() > input.size()) {
    return Fault(
        "size",
        std::to_string(wanted.size.size()) + " extents for an input of shape " + ToText(input),
        "at most one for each axis");
  }
  if (scales.size() > input.size()) return NotOneForEachAxis("scales", scales.size(), input.size());
  if (scales.empty() && wanted.size.empty())
    return Fault("", "neither size nor scales", "one of them");
  if (!scales.empty()) scales.insert(scales.begin(), input.size() - scales.size(), Ratio{});
  Shape output = input;
  for (size_t axis = 0; axis < scales.size() && wanted.size.empty(); ++axis) {
    const std::optional<int64_t> extent = ScaledExtent(input[axis], scales[axis]);
    if (!extent || *extent < 1) {
      return Fault("scales",
                   std::string(extent ? "nothing is left" : "too much becomes") + " of the " +
                       std::to_string(input[axis]) + " along axis " + std::to_string(axis),
                   "scales that give 1 to 2^56 elements");
    }
    output[axis] = *extent;
  }
  std::copy(wanted.size.rbegin(), wanted.size.rend(), output.rbegin());
  return output;
}

// The position of output x as (x * step + shift) / scale (see ResizeCoordinates), with 2 n / d in
// place of a scale n / d.
AxisMap ScaledAxis(const Resize& resize, size_t axis, int64_t input, int64_t output) {
  const Ratio scale = resize.scales.empty() ? Ratio{output, input} : resize.scales[axis];
  if (input == output && scale.numerator == scale.denominator) return SameAxis(axis);
  AxisMap::Scaled scaled{.extent = input,
                         .step = 2 * scale.denominator,
                         .shift = 0,
                         .scale = 2 * scale.numerator,
                         .mode = resize.mode,
                         .rounding = resize.rounding};
  switch (resize.coordinates) {
    case ResizeCoordinates::kHalfPixel:
      scaled.shift = scale.denominator - scale.numerator;
      break;
    case ResizeCoordinates::kPytorchHalfPixel:
      scaled.shift = output > 1 ? scale.denominator - scale.numerator : 0;
      break;
    case ResizeCoordinates::kAlignCorners:
      scaled.step = input - 1;
      scaled.scale = std::max<int64_t>(output - 1, 1);
      break;
    case ResizeCoordinates::kAsymmetric:
      break;
    case ResizeCoordinates::kTfHalfPixelForNn:
      scaled.shift = scale.denominator;
      break;
  }
  return {scaled, axis, 1};
}

std::vector<AxisMap> MapsOfResize(const OperandView& view) {
  const Shape& input = view.Input();
  std::vector<AxisMap> maps;
  for (size_t axis = 0; axis < input.size(); ++axis)
    maps.push_back(ScaledAxis(view.op.resize, axis, input[axis], view.output[axis]));
  return maps;
}

}  // namespace

std::span<const std::string_view> NamesOf(ResizeMode /*mode*/) { return kResizeModes; }
std::span<const std::string_view> NamesOf(ResizeCoordinates /*coordinates*/) {
  return kCoordinates;
}
std::span<const std::string_view> NamesOf(NearestRounding /*rounding*/) { return kRoundings; }

extern const OperatorDefinition kResize = {
    .fields = FieldsOfResize,
    .restate = [](const Operator&, const Shape&, const Shape& output,
                  Wanted& wanted) { wanted.size = output; },
    .infer_shape = InferResize,
    .axis_maps = MapsOfResize,
};

}  // namespace tessera::graph::ops
