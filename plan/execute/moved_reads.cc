#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/execute/index_lists.h"

// The kinds that move data or resample it, index by index as in reads.cc.
namespace tessera::plan::execute {
namespace {

using graph::Operator;
using graph::Shape;
__extension__ using Wide = __int128;

// The elements of a box, each by its row-major number in the tensor.
Indices NumbersOf(const Box& box, const Shape& shape) {
  Indices numbers = {0};
  for (size_t axis = 0; axis < box.size(); ++axis) {
    Indices longer;
    longer.reserve(numbers.size() * static_cast<size_t>(box[axis].end - box[axis].begin));
    for (const int64_t number : numbers) {
      for (int64_t index = box[axis].begin; index < box[axis].end; ++index) {
        longer.push_back(number * shape[axis] + index);
      }
    }
    numbers = std::move(longer);
  }
  return numbers;
}

// Where a pad finds its element, as one walks from outside to the input; a constant finds none.
bool FindPadded(graph::PadMode mode, int64_t extent, int64_t& index) {
  while (index < 0 || index >= extent) {
    switch (mode) {
      case graph::PadMode::kConstant:
        return false;
      case graph::PadMode::kEdge:
        index = index < 0 ? 0 : extent - 1;
        break;
      case graph::PadMode::kWrap:
        index += index < 0 ? extent : -extent;
        break;
      case graph::PadMode::kReflect:
        index = extent == 1 ? 0 : (index < 0 ? 0 : 2 * (extent - 1)) - index;
        break;
    }
  }
  return true;
}

// A place on the input's axis, in units of 1 / unit.
struct Spot {
  Wide place = 0;
  Wide unit = 1;
};

// (x + 1/2) / scale - 1/2 in its variations, over twice the scale's numerator.
Spot SpotOf(const graph::Resize& resize, const graph::Ratio& scale, int64_t x, int64_t in,
            int64_t out) {
  const Wide unit = 2 * Wide{scale.numerator};
  const Wide middle = (2 * Wide{x} + 1) * scale.denominator;
  switch (resize.coordinates) {
    case graph::ResizeCoordinates::kHalfPixel:
      break;
    case graph::ResizeCoordinates::kPytorchHalfPixel:
      if (out > 1) break;
      return {};
    case graph::ResizeCoordinates::kAlignCorners:
      return {Wide{x} * (in - 1), std::max<int64_t>(out - 1, 1)};
    case graph::ResizeCoordinates::kAsymmetric:
      return {middle - scale.denominator, unit};
    case graph::ResizeCoordinates::kTfHalfPixelForNn:
      return {middle, unit};
  }
  return {middle - scale.numerator, unit};
}

// Whether the input that lies `way` behind a spot between two inputs counts for it.
bool Counts(const graph::Resize& resize, Wide way, Wide unit) {
  if (resize.mode == graph::ResizeMode::kBilinear) return -unit < way && way < unit;
  if (resize.mode == graph::ResizeMode::kCubic) return -2 * unit < way && way < 2 * unit;
  switch (resize.rounding) {
    case graph::NearestRounding::kRoundPreferFloor:
      return -unit <= 2 * way && 2 * way < unit;
    case graph::NearestRounding::kRoundPreferCeil:
      return -unit < 2 * way && 2 * way <= unit;
    case graph::NearestRounding::kFloor:
      return -unit < way && way < 0;
    case graph::NearestRounding::kCeil:
      break;
  }
  return 0 < way && way < unit;
}

// A spot on an input reads that one alone; beyond the ends the outermost stands in. An axis that
// keeps its extent at a scale of 1 is not looked at.
Indices Resampled(Range outputs, const graph::Resize& resize, const graph::Ratio& scale, int64_t in,
                  int64_t out) {
  if (in == out && scale.numerator == scale.denominator) return Same(outputs);
  return Gather(outputs, [&](int64_t output, Indices& indices) {
    const Spot spot = SpotOf(resize, scale, output, in, out);
    const bool whole = spot.place % spot.unit == 0;
    const auto near = static_cast<int64_t>(spot.place / spot.unit);
    for (int64_t input = near - 2; input <= near + 3; ++input) {
      const Wide way = input * spot.unit - spot.place;
      if (whole ? way == 0 : Counts(resize, way, spot.unit)) {
        indices.push_back(std::clamp<int64_t>(input, 0, in - 1));
      }
    }
  });
}

// The element of the deep tensor behind one of the wide one, and the other way round.
std::vector<int64_t> ToDepth(const Operator& op, int64_t channels,
                             const std::vector<int64_t>& wide) {
  const int64_t phase = wide[2] % op.block * op.block + wide[3] % op.block;
  const int64_t channel = op.depth_order == graph::DepthOrder::kDcr
                              ? phase * channels + wide[1]
                              : wide[1] * op.block * op.block + phase;
  return {wide[0], channel, wide[2] / op.block, wide[3] / op.block};
}

std::vector<int64_t> FromDepth(const Operator& op, int64_t channels,
                               const std::vector<int64_t>& deep) {
  const bool dcr = op.depth_order == graph::DepthOrder::kDcr;
  const int64_t phases = op.block * op.block;
  const int64_t phase = dcr ? deep[1] / channels : deep[1] % phases;
  return {deep[0], dcr ? deep[1] % channels : deep[1] / phases,
          deep[2] * op.block + phase / op.block, deep[3] * op.block + phase % op.block};
}

// Element by element of the output, through `move`, from coordinates to coordinates.
template <typename Move>
ElementSet Moved(const Shape& in, const Shape& out, const Box& output, const Move& move) {
  if (output == WholeBox(out)) return AllOf(WholeBox(in));
  Indices numbers;
  for (const int64_t number : NumbersOf(output, out)) {
    const std::vector<int64_t> from = move(CoordinatesOf(number, out));
    int64_t moved = 0;
    for (size_t axis = 0; axis < in.size(); ++axis) moved = moved * in[axis] + from[axis];
    numbers.push_back(moved);
  }
  std::sort(numbers.begin(), numbers.end());
  return {{}, std::move(numbers)};
}

}  // namespace

ElementSet SliceReads(const Operator& op, const Shape& in, const Box& output) {
  ElementSet elements;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    elements.axes.push_back(Gather(output[axis], [&](int64_t index, Indices& indices) {
      indices.push_back(op.starts[axis] + index * op.steps[axis]);
    }));
  }
  return elements;
}

ElementSet PadReads(const Operator& op, const Shape& in, const Box& output) {
  ElementSet elements;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    elements.axes.push_back(Gather(output[axis], [&](int64_t index, Indices& indices) {
      int64_t found = index - op.padding.low[axis];
      if (FindPadded(op.padding.mode, in[axis], found)) indices.push_back(found);
    }));
  }
  return elements;
}

// One index alone may have no axis in the result.
ElementSet GatherReads(const Operator& op, const Shape& in, const Box& output) {
  ElementSet elements;
  size_t next = 0;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool gathered = static_cast<int>(axis) == op.axis;
    if (gathered && output.size() < in.size()) {
      elements.axes.push_back({op.indices.front()});
      continue;
    }
    elements.axes.push_back(Gather(output[next++], [&](int64_t index, Indices& indices) {
      indices.push_back(gathered ? op.indices[static_cast<size_t>(index)] : index);
    }));
  }
  return elements;
}

ElementSet TransposeReads(const Operator& op, const Shape& in, const Box& output) {
  ElementSet elements;
  elements.axes.resize(in.size());
  for (size_t axis = 0; axis < output.size(); ++axis) {
    elements.axes[static_cast<size_t>(op.permutation[axis])] = Same(output[axis]);
  }
  return elements;
}

ElementSet ReshapeReads(const Shape& in, const Shape& out, const Box& output) {
  if (output == WholeBox(out)) return AllOf(WholeBox(in));
  return {{}, NumbersOf(output, out)};
}

ElementSet ResizeReads(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  ElementSet elements;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool stated = !op.resize.scales.empty();
    const graph::Ratio scale = stated ? op.resize.scales[axis] : graph::Ratio{out[axis], in[axis]};
    elements.axes.push_back(Resampled(output[axis], op.resize, scale, in[axis], out[axis]));
  }
  return elements;
}

ElementSet DepthToSpaceReads(const Operator& op, const Shape& in, const Shape& out,
                             const Box& output) {
  return Moved(in, out, output,
               [&](const std::vector<int64_t>& wide) { return ToDepth(op, out[1], wide); });
}

ElementSet SpaceToDepthReads(const Operator& op, const Shape& in, const Shape& out,
                             const Box& output) {
  return Moved(in, out, output,
               [&](const std::vector<int64_t>& deep) { return FromDepth(op, in[1], deep); });
}

}  // namespace tessera::plan::execute
