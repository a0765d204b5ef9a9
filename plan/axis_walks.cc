#include "tessera/plan/axis_walks.h"

#include "tessera/base/arithmetic.h"

namespace tessera::plan {
namespace {

__extension__ using Wide = __int128;

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

// Of output index x, by the definitions of graph::ResizeCoordinates with a scale of up / down: (x +
// 1/2) * down / up - 1/2, and its variants.
Place PlaceOf(const graph::Resize& resize, int64_t x, const graph::Ratio& scale, int64_t in,
              int64_t out) {
  const Wide up = scale.numerator;
  const Wide down = scale.denominator;
  using graph::ResizeCoordinates;
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

int64_t Nearest(const Place& place, graph::NearestRounding rounding) {
  const int64_t below = place.Below();
  if (place.IsWhole()) return below;
  const Wide from_below = place.numerator - below * place.denominator;
  const Wide to_above = place.denominator - from_below;
  switch (rounding) {
    case graph::NearestRounding::kFloor:
      return below;
    case graph::NearestRounding::kCeil:
      return below + 1;
    case graph::NearestRounding::kRoundPreferFloor:
      return to_above < from_below ? below + 1 : below;
    case graph::NearestRounding::kRoundPreferCeil:
      break;
  }
  return from_below < to_above ? below : below + 1;
}

}  // namespace

int64_t FoundInside(int64_t index, int64_t extent, graph::PadMode mode) {
  switch (mode) {
    case graph::PadMode::kConstant:
      break;
    case graph::PadMode::kEdge:
      return index < 0 ? 0 : std::min(index, extent - 1);
    case graph::PadMode::kWrap:
      return index - base::FloorDiv(index, extent) * extent;
    case graph::PadMode::kReflect:
      while (extent > 1 && (index < 0 || index >= extent)) {
        index = index < 0 ? -index : 2 * (extent - 1) - index;
      }
      return extent > 1 ? index : 0;
  }
  return index;
}

Range NeighboursOf(const graph::Resize& resize, int64_t x, const graph::Ratio& scale, int64_t in,
                   int64_t out) {
  const Place place = PlaceOf(resize, x, scale, in, out);
  const int64_t below = place.Below();
  if (resize.mode == graph::ResizeMode::kNearest) {
    const int64_t nearest = Nearest(place, resize.rounding);
    return {nearest, nearest + 1};
  }
  if (place.IsWhole()) return {below, below + 1};
  const int64_t each_side = resize.mode == graph::ResizeMode::kCubic ? 2 : 1;
  return {below + 1 - each_side, below + each_side + 1};
}

}  // namespace tessera::plan
