// SPDX-License-Identifier: Apache-2.0

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
  ResizeAttributes& own = op.MakeOwn<ResizeAttributes>();
  return {{"mode", &own.mode},
          {"coordinates", &own.coordinates},
          {"rounding", &own.rounding},
          size,
          {"scales", &own.scales, Presence::kSparse}};
}

__extension__ using Wide = __int128;

// floor(extent * scale); scales are at most 2^40 over 2^40.
std::optional<int64_t> ScaledExtent(int64_t extent, const Ratio& scale) {
  const Wide scaled = Wide{extent} * scale.numerator / scale.denominator;
  if (scaled > kMostElements) return std::nullopt;
  return static_cast<int64_t>(scaled);
}

Inferred InferResize(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  std::vector<Ratio>& scales = op.MakeOwn<ResizeAttributes>().scales;
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
AxisMap ScaledAxis(const ResizeAttributes& resize, size_t axis, int64_t input, int64_t output) {
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
    maps.push_back(
        ScaledAxis(view.op.Own<ResizeAttributes>(), axis, input[axis], view.output[axis]));
  return maps;
}

// A position between the indices of the operand: numerator / denominator.
struct Place {
  Wide numerator = 0;
  Wide denominator = 1;
  int64_t Below() const {
    const Wide rest = (numerator % denominator + denominator) % denominator;
    return static_cast<int64_t>((numerator - rest) / denominator);
  }
  bool IsWhole() const { return numerator % denominator == 0; }
};

// The place of output index x, by the definitions of ResizeCoordinates with a scale of up / down:
// (x + 1/2) * down / up - 1/2, and its variants.
Place PlaceOf(const ResizeAttributes& resize, int64_t x, const Ratio& scale, int64_t in,
              int64_t out) {
  const Wide up = scale.numerator;
  const Wide down = scale.denominator;
  switch (resize.coordinates) {
    case ResizeCoordinates::kAlignCorners:
      return out == 1 ? Place{} : Place{Wide{x} * (in - 1), out - 1};
    case ResizeCoordinates::kAsymmetric:
      return {x * down, up};
    case ResizeCoordinates::kTfHalfPixelForNn:
      return {(2 * Wide{x} + 1) * down, 2 * up};
    case ResizeCoordinates::kPytorchHalfPixel:
      if (out == 1) return {};
      break;
    case ResizeCoordinates::kHalfPixel:
      break;
  }
  return {(2 * Wide{x} + 1) * down - up, 2 * up};
}

int64_t Nearest(const Place& place, NearestRounding rounding) {
  const int64_t below = place.Below();
  if (place.IsWhole()) return below;
  const Wide from_below = place.numerator - below * place.denominator;
  const Wide to_above = place.denominator - from_below;
  switch (rounding) {
    case NearestRounding::kFloor:
      return below;
    case NearestRounding::kCeil:
      return below + 1;
    case NearestRounding::kRoundPreferFloor:
      return to_above < from_below ? below + 1 : below;
    case NearestRounding::kRoundPreferCeil:
      break;
  }
  return from_below < to_above ? below : below + 1;
}

// Neighbours with weight 0, those of an output that lies on an index, are not read. Outside the
// operand the edge element is repeated. An axis that keeps its extent at a scale of 1 maps index to
// index.
template <typename Need>
void ReadResampled(size_t axis, Extent outputs, const OperandView& view, Need& need) {
  const ResizeAttributes& resize = view.op.Own<ResizeAttributes>();
  const int64_t in = view.Input()[axis];
  const int64_t out = view.output[axis];
  const Ratio scale = axis < resize.scales.size() ? resize.scales[axis] : Ratio{out, in};
  if (in == out && scale.numerator == scale.denominator) return need.Same(axis, outputs);
  need.Each(axis, outputs, [&](int64_t output, auto& add) {
    const Place place = PlaceOf(resize, output, scale, in, out);
    const auto add_clamped = [&](int64_t index) { add(std::clamp<int64_t>(index, 0, in - 1)); };
    if (resize.mode == ResizeMode::kNearest) {
      add_clamped(Nearest(place, resize.rounding));
    } else if (place.IsWhole()) {
      add_clamped(place.Below());
    } else {
      const int64_t each_side = resize.mode == ResizeMode::kCubic ? 2 : 1;
      for (int64_t i = 1 - each_side; i <= each_side; ++i) add_clamped(place.Below() + i);
    }
  });
}

constexpr Reading kReadingOfResize =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      for (size_t axis = 0; axis < output.size(); ++axis)
        ReadResampled(axis, output[axis], view, need);
    });

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
    .reading = kReadingOfResize,
    .selects =
        [](const Operator& op) { return op.Own<ResizeAttributes>().mode == ResizeMode::kNearest; },
    .holes =
        [](const Operator& op, const Shape& input, const Shape& output) {
          const bool grows = std::equal(input.begin(), input.end(), output.begin(), output.end(),
                                        std::less_equal<>());
          const bool by_extents = op.Own<ResizeAttributes>().scales.empty();
          return by_extents && grows ? Holes::kNone : Holes::kMaybe;
        },
};

}  // namespace tessera::graph::ops
