#include <numeric>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/operand_regions.h"

// The kinds that move data or resample it, index by index as in operand_regions.cc.
namespace tessera::plan::verify {
namespace {

__extension__ using Wide = __int128;

using graph::Operator;
using graph::Shape;

int64_t AxesAboveOne(const Shape& shape, size_t begin, size_t end) {
  return std::count_if(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                       shape.begin() + static_cast<std::ptrdiff_t>(end),
                       [](int64_t extent) { return extent > 1; });
}

// Axes [in_begin, in_end) hold the same elements, in the same order, as output axes [out_begin,
// out_end).
struct AxisGroup {
  size_t in_begin = 0;
  size_t in_end = 0;
  size_t out_begin = 0;
  size_t out_end = 0;
};

// The shortest groups, from the front. Axes left over on either side have extent 1.
std::vector<AxisGroup> GroupAxes(const Shape& in, const Shape& out) {
  std::vector<AxisGroup> groups;
  size_t i = 0;
  size_t j = 0;
  while (i < in.size() && j < out.size()) {
    AxisGroup group{i, i + 1, j, j + 1};
    int64_t in_volume = in[i++];
    int64_t out_volume = out[j++];
    while (in_volume != out_volume && (in_volume < out_volume ? i < in.size() : j < out.size())) {
      in_volume < out_volume ? in_volume *= in[i++] : out_volume *= out[j++];
    }
    group.in_end = i;
    group.out_end = j;
    groups.push_back(group);
  }
  return groups;
}

// One output axis was merged from several: converts every index of it to the coordinates of the
// input.
void NeedOfMerged(const AxisGroup& group, const Shape& in, Range merged, Box& need) {
  for (size_t axis = group.in_begin; axis < group.in_end; ++axis) need[axis] = {in[axis], 0};
  for (int64_t index = merged.begin; index < merged.end; ++index) {
    int64_t rest = index;
    for (size_t axis = group.in_end; axis-- > group.in_begin;) {
      need[axis].begin = std::min(need[axis].begin, rest % in[axis]);
      need[axis].end = std::max(need[axis].end, rest % in[axis] + 1);
      rest /= in[axis];
    }
  }
}

// One input axis was split into several: the box's first and last elements, counted along it.
void NeedOfSplit(const AxisGroup& group, const Shape& in, const Shape& out, const Box& output,
                 Box& need) {
  int64_t first = 0;
  int64_t last = 0;
  for (size_t axis = group.out_begin; axis < group.out_end; ++axis) {
    first = first * out[axis] + output[axis].begin;
    last = last * out[axis] + output[axis].end - 1;
  }
  for (size_t axis = group.in_begin; axis < group.in_end; ++axis) {
    need[axis] = in[axis] == 1 ? Range{0, 1} : Range{first, last + 1};
  }
}

// The index inside the operand for an index before or behind it. Constant padding has none.
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

// Neighbours with weight 0, those of an output that lies on an index, are not read. Outside the
// operand the edge element is repeated. An axis that keeps its extent at a scale of 1 maps index to
// index.
Range Resized(Range outputs, const graph::Resize& resize, const graph::Ratio& scale, int64_t in,
              int64_t out) {
  if (in == out && scale.numerator == scale.denominator) return SameIndex(outputs, in);
  return HullOf(outputs, in, [&](int64_t output, const auto& add) {
    const Place place = PlaceOf(resize, output, scale, in, out);
    const auto add_clamped = [&](int64_t index) { add(std::clamp<int64_t>(index, 0, in - 1)); };
    if (resize.mode == graph::ResizeMode::kNearest) {
      add_clamped(Nearest(place, resize.rounding));
    } else if (place.IsWhole()) {
      add_clamped(place.Below());
    } else {
      const int64_t each_side = resize.mode == graph::ResizeMode::kCubic ? 2 : 1;
      for (int64_t i = 1 - each_side; i <= each_side; ++i) add_clamped(place.Below() + i);
    }
  });
}

// The residues, of 0 .. block-1, that the indices have.
std::vector<int64_t> PhasesOf(Range indices, int64_t block) {
  std::vector<int64_t> phases;
  for (int64_t index = indices.begin; index < std::min(indices.end, indices.begin + block);
       ++index) {
    phases.push_back(index % block);
  }
  return phases;
}

// The channel of the deep tensor for a channel of the wide one, which has `channels`, and the
// residues in its block.
int64_t DeepChannel(const Operator& op, int64_t channels, int64_t channel, int64_t row,
                    int64_t column) {
  const int64_t phase = row * op.block + column;
  return op.depth_order == graph::DepthOrder::kDcr ? phase * channels + channel
                                                   : channel * op.block * op.block + phase;
}

}  // namespace

Range SameIndex(Range outputs, int64_t extent) {
  return HullOf(outputs, extent, [](int64_t output, const auto& add) { add(output); });
}

Box SliceNeed(const Operator& op, const Shape& in, const Box& output) {
  Box need(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    need[axis] = HullOf(output[axis], in[axis], [&](int64_t index, const auto& add) {
      add(op.starts[axis] + index * op.steps[axis]);
    });
  }
  return need;
}

Box PadNeed(const Operator& op, const Shape& in, const Box& output) {
  Box need(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    need[axis] = HullOf(output[axis], in[axis], [&](int64_t index, const auto& add) {
      add(FoundInside(index - op.padding.low[axis], in[axis], op.padding.mode));
    });
  }
  return need;
}

// An axis gathered by one index may be missing from the output.
Box GatherNeed(const Operator& op, const Shape& in, const Box& output) {
  Box need;
  const auto gathered = static_cast<size_t>(op.axis);
  size_t next = 0;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    if (axis != gathered) {
      need.push_back(SameIndex(output[next++], in[axis]));
    } else if (output.size() < in.size()) {
      need.push_back({op.indices.front(), op.indices.front() + 1});
    } else {
      need.push_back(HullOf(output[next++], in[axis], [&](int64_t index, const auto& add) {
        add(op.indices[static_cast<size_t>(index)]);
      }));
    }
  }
  return need;
}

Box TransposeNeed(const Operator& op, const Shape& in, const Box& output) {
  if (op.permutation.size() != in.size() || output.size() != in.size()) return WholeOf(in);
  Box need(in.size());
  for (size_t axis = 0; axis < output.size(); ++axis) {
    const auto from = static_cast<size_t>(op.permutation[axis]);
    need[from] = SameIndex(output[axis], in[from]);
  }
  return need;
}

// Groups that merge or split one axis are followed. A group that mixes axes needs all of them.
Box ReshapeNeed(const Shape& in, const Shape& out, const Box& output) {
  Box need = WholeOf(in);
  for (const AxisGroup& group : GroupAxes(in, out)) {
    if (AxesAboveOne(in, group.in_begin, group.in_end) <= 1) {
      NeedOfSplit(group, in, out, output, need);
    } else if (AxesAboveOne(out, group.out_begin, group.out_end) <= 1) {
      Range merged{0, 1};
      for (size_t axis = group.out_begin; axis < group.out_end; ++axis) {
        if (out[axis] > 1) merged = output[axis];
      }
      NeedOfMerged(group, in, merged, need);
    }
  }
  return need;
}

Box ResizeNeed(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  if (in.size() != out.size()) return WholeOf(in);
  Box need(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool stated = axis < op.resize.scales.size();
    const graph::Ratio scale = stated ? op.resize.scales[axis] : graph::Ratio{out[axis], in[axis]};
    need[axis] = Resized(output[axis], op.resize, scale, in[axis], out[axis]);
  }
  return need;
}

Box DepthToSpaceNeed(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  if (in.size() != 4 || out.size() != 4) return WholeOf(in);
  const auto block = [&op](int64_t index, const auto& add) { add(index / op.block); };
  const auto channel = [&](int64_t index, const auto& add) {
    for (const int64_t row : PhasesOf(output[2], op.block)) {
      for (const int64_t column : PhasesOf(output[3], op.block)) {
        add(DeepChannel(op, out[1], index, row, column));
      }
    }
  };
  return {SameIndex(output[0], in[0]), HullOf(output[1], in[1], channel),
          HullOf(output[2], in[2], block), HullOf(output[3], in[3], block)};
}

// Visits the block from which a deep channel may come until it finds the channel.
Box SpaceToDepthNeed(const Operator& op, const Shape& in, const Box& output) {
  if (in.size() != 4 || output.size() != 4) return WholeOf(in);
  Box need = {SameIndex(output[0], in[0]), {in[1], 0}, {in[2], 0}, {in[3], 0}};
  const auto grow = [](Range& range, int64_t least, int64_t most) {
    range = {std::min(range.begin, least), std::max(range.end, most + 1)};
  };
  for (int64_t row = 0; row < op.block; ++row) {
    for (int64_t column = 0; column < op.block; ++column) {
      for (int64_t channel = 0; channel < in[1]; ++channel) {
        const int64_t deep = DeepChannel(op, in[1], channel, row, column);
        if (deep < output[1].begin || deep >= output[1].end) continue;
        grow(need[1], channel, channel);
        grow(need[2], output[2].begin * op.block + row, (output[2].end - 1) * op.block + row);
        grow(need[3], output[3].begin * op.block + column, (output[3].end - 1) * op.block + column);
      }
    }
  }
  return need;
}

}  // namespace tessera::plan::verify
