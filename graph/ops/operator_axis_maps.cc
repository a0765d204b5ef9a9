#include <algorithm>
#include <utility>

#include "tessera/graph/ops/axis_map.h"

// The axis maps of operators that move data, and of those that resample it.
namespace tessera::graph::ops {

namespace {

// Input axes [input_begin, input_end) hold the same elements, in the same order, as output axes
// [output_begin, output_end).
struct AxisGroup {
  size_t input_begin = 0, input_end = 0;
  size_t output_begin = 0, output_end = 0;
};

// The finest grouping of axes with equal products:  [2, 3, 8] -> [6, 4, 2]  groups as  {2, 3 | 6},
// {8 | 4, 2}. Remaining axes of extent 1 join the last group.
std::vector<AxisGroup> GroupAxes(const Shape& input, const Shape& output) {
  std::vector<AxisGroup> groups;
  size_t i = 0;
  size_t o = 0;
  while (i < input.size() && o < output.size()) {
    AxisGroup group{i, i + 1, o, o + 1};
    int64_t input_product = input[i];
    int64_t output_product = output[o];
    while (input_product != output_product) {
      if (input_product < output_product) {
        input_product *= input[group.input_end++];
      } else {
        output_product *= output[group.output_end++];
      }
    }
    groups.push_back(group);
    i = group.input_end;
    o = group.output_end;
  }
  if (!groups.empty()) groups.back().input_end = input.size();
  if (!groups.empty()) groups.back().output_end = output.size();
  return groups;
}

size_t CountReal(const Shape& shape, size_t begin, size_t end) {
  const auto at = [&shape](size_t axis) {
    return shape.begin() + static_cast<std::ptrdiff_t>(axis);
  };
  return static_cast<size_t>(
      std::count_if(at(begin), at(end), [](int64_t extent) { return extent != 1; }));
}

void MergeOutputs(const Shape& output, const AxisGroup& group, AxisMap& map) {
  AxisMap::Merged merged{std::vector<int64_t>(group.output_end - group.output_begin, 1)};
  for (size_t k = merged.strides.size() - 1; k > 0; --k) {
    merged.strides[k - 1] = merged.strides[k] * output[group.output_begin + k];
  }
  map = {std::move(merged), group.output_begin, group.output_end - group.output_begin};
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

AxisMap PaddedAxis(const Padding& padding, size_t axis, int64_t extent) {
  const int64_t low = padding.low[axis];
  if (low == 0 && padding.high[axis] == 0) return SameAxis(axis);
  if (padding.mode == PadMode::kConstant) return {AxisMap::Part{low, extent}, axis, 1};
  return {AxisMap::Padded{extent, low, padding.mode}, axis, 1};
}

}  // namespace

std::vector<AxisMap> WholeAxes(const Shape& input) {
  std::vector<AxisMap> maps;
  maps.reserve(input.size());
  for (const int64_t extent : input) maps.push_back(WholeAxis(extent));
  return maps;
}

std::vector<AxisMap> SameAxes(size_t rank) {
  std::vector<AxisMap> maps;
  maps.reserve(rank);
  for (size_t axis = 0; axis < rank; ++axis) maps.push_back(SameAxis(axis));
  return maps;
}

std::vector<AxisMap> MapsOfSlice(const Operator& op) {
  std::vector<AxisMap> maps;
  for (size_t axis = 0; axis < op.starts.size(); ++axis) {
    maps.push_back({AxisMap::Strided{op.starts[axis], op.steps[axis]}, axis, 1});
  }
  return maps;
}

std::vector<AxisMap> MapsOfPad(const Operator& op, const Shape& input) {
  std::vector<AxisMap> maps;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    maps.push_back(PaddedAxis(op.padding, axis, input[axis]));
  }
  return maps;
}

std::vector<AxisMap> MapsOfGather(const Operator& op, const Shape& input, const Shape& output) {
  const auto gathered = static_cast<size_t>(op.axis);
  std::vector<AxisMap> maps = SameAxes(input.size());
  if (output.size() == input.size()) {
    maps[gathered].rule = AxisMap::Listed{op.indices};
    return maps;
  }
  maps[gathered] = {AxisMap::Fixed{op.indices.front()}, 0, 0};
  for (size_t axis = gathered + 1; axis < maps.size(); ++axis) --maps[axis].source;
  return maps;
}

std::vector<AxisMap> MapsOfTranspose(const Operator& op) {
  std::vector<AxisMap> maps = SameAxes(op.permutation.size());
  for (size_t axis = 0; axis < maps.size(); ++axis) {
    maps[static_cast<size_t>(op.permutation[axis])] = SameAxis(axis);
  }
  return maps;
}

// A group that both splits and merges, such as {4, 6 | 3, 8}, is a barrier: its axes stay whole.
std::vector<AxisMap> MapsOfReshape(const Shape& input, const Shape& output) {
  std::vector<AxisMap> maps = WholeAxes(input);
  for (const AxisGroup& group : GroupAxes(input, output)) {
    const size_t inputs = CountReal(input, group.input_begin, group.input_end);
    const size_t outputs = CountReal(output, group.output_begin, group.output_end);
    size_t source = group.output_begin;
    while (source + 1 < group.output_end && output[source] == 1) ++source;
    int64_t stride = 1;
    for (size_t axis = group.input_end; axis-- > group.input_begin;) {
      if (input[axis] == 1) continue;
      if (outputs == 1) {
        const bool same = inputs == 1;
        maps[axis] =
            same ? SameAxis(source) : AxisMap{AxisMap::Digit{stride, input[axis]}, source, 1};
      } else if (inputs == 1) {
        MergeOutputs(output, group, maps[axis]);
      }
      stride *= input[axis];
    }
  }
  return maps;
}

std::vector<AxisMap> MapsOfResize(const Operator& op, const Shape& input, const Shape& output) {
  std::vector<AxisMap> maps;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    maps.push_back(ScaledAxis(op.resize, axis, input[axis], output[axis]));
  }
  return maps;
}

std::vector<AxisMap> MapsOfDepthToSpace(const Operator& op, const Shape& input,
                                        const Shape& output) {
  const int64_t block = op.block;
  AxisMap::Folded folded{block, {1, block * output[1], output[1]}};
  if (op.depth_order == DepthOrder::kCrd) folded.weights = {block * block, block, 1};
  return {SameAxis(0),
          {folded, 1, 3},
          {AxisMap::Digit{block, input[2]}, 2, 1},
          {AxisMap::Digit{block, input[3]}, 3, 1}};
}

std::vector<AxisMap> MapsOfSpaceToDepth(const Operator& op, const Shape& input) {
  const int64_t block = op.block;
  const bool by_phase = op.depth_order == DepthOrder::kDcr;
  const AxisMap::Digit channel{by_phase ? 1 : block * block, input[1]};
  const AxisMap::Digit row{by_phase ? block * input[1] : block, block};
  const AxisMap::Digit column{by_phase ? input[1] : 1, block};
  return {SameAxis(0),
          {channel, 1, 1},
          {AxisMap::Unfolded{row}, 1, 2},
          {AxisMap::Unfolded{column}, 1, 2, 2}};
}

// From an operator kind to its axis maps, for kinds that compute.
namespace {

struct Operands {
  const Operator& op;
  const Shape& input;
  const Shape& output;
};

// Axes aligned at the right. An extent of 1 serves every index of the output.
std::vector<AxisMap> MapsOfBroadcast(const Shape& input, const Shape& output) {
  std::vector<AxisMap> maps;
  const size_t missing = output.size() - input.size();
  for (size_t axis = 0; axis < input.size(); ++axis) {
    maps.push_back(input[axis] == 1 ? WholeAxis(1) : SameAxis(axis + missing));
  }
  return maps;
}

AxisMap SlidingAxis(const Operands& operands, const Window& window, size_t spatial) {
  const AxisMap::Slide slide{.extent = operands.input[spatial + 2],
                             .output_extent = operands.output[spatial + 2],
                             .kernel = window.kernel[spatial],
                             .stride = window.stride[spatial],
                             .dilation = window.dilation[spatial],
                             .pad = window.pad_low[spatial]};
  return {slide, spatial + 2, 1};
}

AxisMap SpreadAxis(const Operands& operands, size_t spatial) {
  const Window& window = operands.op.window;
  const AxisMap::Spread spread{.extent = operands.input[spatial + 2],
                               .output_extent = operands.output[spatial + 2],
                               .kernel = window.kernel[spatial],
                               .stride = window.stride[spatial],
                               .dilation = window.dilation[spatial],
                               .pad = window.pad_low[spatial]};
  return {spread, spatial + 2, 1};
}

AxisMap GroupedAxis(const Operands& operands, int64_t groups) {
  if (groups == 1) return WholeAxis(operands.input[1]);
  const AxisMap::Grouped grouped{operands.output[1] / groups, operands.input[1] / groups};
  if (grouped.outputs == 1 && grouped.inputs == 1) return SameAxis(1);
  return {grouped, 1, 1};
}

std::vector<AxisMap> MapsOfWindow(const Operands& operands, AxisMap channels,
                                  const Window& window) {
  return {SameAxis(0), std::move(channels), SlidingAxis(operands, window, 0),
          SlidingAxis(operands, window, 1)};
}

std::vector<AxisMap> MapsOfTransposedConv(const Operands& operands) {
  return {SameAxis(0), GroupedAxis(operands, operands.op.groups), SpreadAxis(operands, 0),
          SpreadAxis(operands, 1)};
}

// Reduced axes are needed whole; the output may lack them.
std::vector<AxisMap> MapsOfReduction(const Operands& operands) {
  const bool dropped = operands.output.size() < operands.input.size();
  std::vector<AxisMap> maps = SameAxes(operands.input.size());
  for (size_t i = 0; i < operands.op.axes.size(); ++i) {
    const auto axis = static_cast<size_t>(operands.op.axes[i]);
    for (size_t behind = axis; dropped && behind < maps.size(); ++behind) --maps[behind].source;
    maps[axis] = WholeAxis(operands.input[axis]);
  }
  return maps;
}

std::vector<AxisMap> MapsOfConcat(const Graph& graph, const Operands& operands, size_t input) {
  const auto axis = static_cast<size_t>(operands.op.axis);
  int64_t offset = 0;
  for (size_t i = 0; i < input; ++i) {
    offset += graph.tensors[static_cast<size_t>(operands.op.inputs[i])].shape[axis];
  }
  std::vector<AxisMap> maps = SameAxes(operands.input.size());
  maps[axis].rule = AxisMap::Part{offset, operands.input[axis]};
  return maps;
}

// Rows of the output are rows of the first operand, columns are columns of the second. K is needed
// whole.
std::vector<AxisMap> MapsOfMatmul(const Operands& operands, size_t input) {
  const size_t rank = operands.input.size();
  const size_t output_rank = operands.output.size();
  std::vector<AxisMap> maps = MapsOfBroadcast(operands.input, operands.output);
  const bool first = input == 0;
  const bool depth_is_last = first ? !operands.op.transpose_first : operands.op.transpose_second;
  const size_t depth = rank - (depth_is_last ? 1 : 2);
  const size_t kept = rank - (depth_is_last ? 2 : 1);
  maps[kept] = SameAxis(output_rank - (first ? 2 : 1));
  maps[depth] = WholeAxis(operands.input[depth]);
  return maps;
}

std::vector<AxisMap> MapsOfAccess(const Operands& operands, const OperandAccess& access) {
  switch (access.kind) {
    case AccessKind::kFull:
      break;
    case AccessKind::kElementwise:
      return MapsOfBroadcast(operands.input, operands.output);
    case AccessKind::kWindow:
      return MapsOfWindow(operands,
                          access.every_channel ? WholeAxis(operands.input[1]) : SameAxis(1),
                          access.window);
  }
  return WholeAxes(operands.input);
}

}  // namespace

std::vector<AxisMap> AxisMapsOf(const Graph& graph, const Operator& op, size_t input) {
  const Shape& input_shape = graph.tensors[static_cast<size_t>(op.inputs[input])].shape;
  if (IsBarrier(op)) return WholeAxes(input_shape);
  const Operands operands{op, input_shape,
                          graph.tensors[static_cast<size_t>(op.outputs.front())].shape};
  const Shape& output_shape = operands.output;
  switch (op.kind) {
    case base::OperatorKind::kConv:
      return MapsOfWindow(operands, GroupedAxis(operands, op.groups), op.window);
    case base::OperatorKind::kDepthwise:
      return MapsOfWindow(operands, GroupedAxis(operands, input_shape[1]), op.window);
    case base::OperatorKind::kTransposedConv:
      return MapsOfTransposedConv(operands);
    case base::OperatorKind::kPool:
      return MapsOfWindow(operands, SameAxis(1), op.window);
    case base::OperatorKind::kGlobalPool:
      return {SameAxis(0), SameAxis(1), WholeAxis(input_shape[2]), WholeAxis(input_shape[3])};
    case base::OperatorKind::kReduce:
    case base::OperatorKind::kSoftmax:
    case base::OperatorKind::kLayerNorm:
      return MapsOfReduction(operands);
    case base::OperatorKind::kElementwise:
      return MapsOfBroadcast(input_shape, output_shape);
    case base::OperatorKind::kConcat:
      return MapsOfConcat(graph, operands, input);
    case base::OperatorKind::kSlice:
      return MapsOfSlice(op);
    case base::OperatorKind::kPad:
      return MapsOfPad(op, input_shape);
    case base::OperatorKind::kGather:
      return MapsOfGather(op, input_shape, output_shape);
    case base::OperatorKind::kMatmul:
      return MapsOfMatmul(operands, input);
    case base::OperatorKind::kReshape:
      return MapsOfReshape(input_shape, output_shape);
    case base::OperatorKind::kResize:
      return MapsOfResize(op, input_shape, output_shape);
    case base::OperatorKind::kTranspose:
      return MapsOfTranspose(op);
    case base::OperatorKind::kDepthToSpace:
      return MapsOfDepthToSpace(op, input_shape, output_shape);
    case base::OperatorKind::kSpaceToDepth:
      return MapsOfSpaceToDepth(op, input_shape);
    case base::OperatorKind::kOpaque:
      return MapsOfAccess(operands, op.accesses[input]);
  }
  return WholeAxes(input_shape);
}

}  // namespace tessera::graph::ops
