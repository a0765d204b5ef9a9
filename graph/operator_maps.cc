#include <algorithm>

#include "tessera/graph/axis_map.h"

// The axis maps of every operator kind, from its definition (FACTS: regions).
namespace tessera::graph {
namespace {

AxisMap WholeAxis(int64_t extent) { return {AxisMap::Whole{extent}, 0, 0}; }
AxisMap SameAxis(size_t source) { return {AxisMap::Same{}, source, 1}; }

struct Operands {
  const Operator& op;
  const Shape& input;
  const Shape& output;
};

std::vector<AxisMap> MapsOfBarrier(const Shape& input) {
  std::vector<AxisMap> maps;
  maps.reserve(input.size());
  for (const int64_t extent : input) maps.push_back(WholeAxis(extent));
  return maps;
}

std::vector<AxisMap> MapsOfSameShape(size_t rank) {
  std::vector<AxisMap> maps;
  maps.reserve(rank);
  for (size_t axis = 0; axis < rank; ++axis) maps.push_back(SameAxis(axis));
  return maps;
}

// Axes aligned at the right; an extent of 1 serves every index of the output.
std::vector<AxisMap> MapsOfBroadcast(const Shape& input, const Shape& output) {
  std::vector<AxisMap> maps;
  const size_t missing = output.size() - input.size();
  for (size_t axis = 0; axis < input.size(); ++axis) {
    maps.push_back(input[axis] == 1 ? WholeAxis(1) : SameAxis(axis + missing));
  }
  return maps;
}

AxisMap SlidingAxis(const Operands& operands, size_t spatial) {
  const Window& window = operands.op.window;
  const AxisMap::Slide slide{.extent = operands.input[spatial + 2],
                             .output_extent = operands.output[spatial + 2],
                             .kernel = window.kernel[spatial],
                             .stride = window.stride[spatial],
                             .dilation = window.dilation[spatial],
                             .pad = window.pad_low[spatial]};
  return {slide, spatial + 2, 1};
}

std::vector<AxisMap> MapsOfWindow(const Operands& operands) {
  const int64_t groups =
      operands.op.kind == base::OperatorKind::kConv ? operands.op.groups : operands.input[1];
  const AxisMap::Grouped grouped{operands.output[1] / groups, operands.input[1] / groups};
  AxisMap channels = SameAxis(1);
  if (groups == 1) {
    channels = WholeAxis(operands.input[1]);
  } else if (grouped.outputs != 1 || grouped.inputs != 1) {
    channels = {grouped, 1, 1};
  }
  return {SameAxis(0), channels, SlidingAxis(operands, 0), SlidingAxis(operands, 1)};
}

std::vector<AxisMap> MapsOfPool(const Operands& operands) {
  return {SameAxis(0), SameAxis(1), SlidingAxis(operands, 0), SlidingAxis(operands, 1)};
}

std::vector<AxisMap> MapsOfResize(const Operands& operands) {
  std::vector<AxisMap> maps = MapsOfSameShape(4);
  for (const size_t axis : {size_t{2}, size_t{3}}) {
    if (operands.input[axis] == operands.output[axis]) continue;
    maps[axis].rule = AxisMap::Scaled{operands.input[axis], operands.output[axis], operands.op.resize_mode};
  }
  return maps;
}

std::vector<AxisMap> MapsOfConcat(const Graph& graph, const Operands& operands, size_t input) {
  const auto axis = static_cast<size_t>(operands.op.axis);
  int64_t offset = 0;
  for (size_t i = 0; i < input; ++i) {
    offset += graph.tensors[static_cast<size_t>(operands.op.inputs[i])].shape[axis];
  }
  std::vector<AxisMap> maps = MapsOfSameShape(operands.input.size());
  maps[axis].rule = AxisMap::Part{offset, operands.input[axis]};
  return maps;
}

// Rows of the output are rows of the first operand, columns are columns of the second; the depth is needed
// whole.
std::vector<AxisMap> MapsOfMatmul(const Operands& operands, size_t input) {
  const size_t rank = operands.input.size();
  const size_t missing = operands.output.size() - rank;
  std::vector<AxisMap> maps = MapsOfBroadcast(operands.input, operands.output);
  const bool kept_is_row = input == 0 || operands.op.transpose_second;
  const size_t kept = kept_is_row ? rank - 2 : rank - 1;
  const size_t depth = kept_is_row ? rank - 1 : rank - 2;
  maps[kept] = SameAxis(missing + (input == 0 ? rank - 2 : rank - 1));
  maps[depth] = WholeAxis(operands.input[depth]);
  return maps;
}

std::vector<AxisMap> MapsOfTranspose(const Operands& operands) {
  std::vector<AxisMap> maps = MapsOfSameShape(operands.input.size());
  for (size_t axis = 0; axis < operands.op.permutation.size(); ++axis) {
    maps[static_cast<size_t>(operands.op.permutation[axis])] = SameAxis(axis);
  }
  return maps;
}

// Input axes [input_begin, input_end) hold the same elements, in the same order, as output axes
// [output_begin, output_end).
struct AxisGroup {
  size_t input_begin = 0, input_end = 0;
  size_t output_begin = 0, output_end = 0;
};

// The finest grouping of axes with equal products:  [2, 3, 8] -> [6, 4, 2]  groups as  {2, 3 | 6}, {8 | 4,
// 2}. Left-over axes of extent 1 join the last group.
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
  const auto at = [&shape](size_t axis) { return shape.begin() + static_cast<std::ptrdiff_t>(axis); };
  return static_cast<size_t>(std::count_if(at(begin), at(end), [](int64_t extent) { return extent != 1; }));
}

void MergeOutputs(const Shape& output, const AxisGroup& group, AxisMap& map) {
  AxisMap::Merged merged{std::vector<int64_t>(group.output_end - group.output_begin, 1)};
  for (size_t k = merged.strides.size() - 1; k > 0; --k) {
    merged.strides[k - 1] = merged.strides[k] * output[group.output_begin + k];
  }
  map = {std::move(merged), group.output_begin, group.output_end - group.output_begin};
}

// A group that both splits and merges, as {4, 6 | 3, 8}, is a barrier: it keeps its whole axes.
std::vector<AxisMap> MapsOfReshape(const Operands& operands) {
  const auto& [op, input, output] = operands;
  std::vector<AxisMap> maps = MapsOfBarrier(input);
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
        maps[axis] = same ? SameAxis(source) : AxisMap{AxisMap::Digit{stride, input[axis]}, source, 1};
      } else if (inputs == 1) {
        MergeOutputs(output, group, maps[axis]);
      }
      stride *= input[axis];
    }
  }
  return maps;
}

}  // namespace

std::vector<AxisMap> AxisMapsOf(const Graph& graph, const Operator& op, size_t input) {
  const Shape& input_shape = graph.tensors[static_cast<size_t>(op.inputs[input])].shape;
  if (op.kind == base::OperatorKind::kOpaque) return MapsOfBarrier(input_shape);
  const Operands operands{op, input_shape, graph.tensors[static_cast<size_t>(op.outputs.front())].shape};
  switch (op.kind) {
    case base::OperatorKind::kConv:
    case base::OperatorKind::kDepthwise:
      return MapsOfWindow(operands);
    case base::OperatorKind::kPool:
      return MapsOfPool(operands);
    case base::OperatorKind::kGlobalPool:
      return {SameAxis(0), SameAxis(1), WholeAxis(input_shape[2]), WholeAxis(input_shape[3])};
    case base::OperatorKind::kElementwise:
      return MapsOfBroadcast(input_shape, operands.output);
    case base::OperatorKind::kConcat:
      return MapsOfConcat(graph, operands, input);
    case base::OperatorKind::kMatmul:
      return MapsOfMatmul(operands, input);
    case base::OperatorKind::kSoftmax:
    case base::OperatorKind::kLayerNorm: {
      std::vector<AxisMap> maps = MapsOfSameShape(input_shape.size());
      const auto axis = static_cast<size_t>(op.axis);
      maps[axis] = WholeAxis(input_shape[axis]);
      return maps;
    }
    case base::OperatorKind::kReshape:
      return MapsOfReshape(operands);
    case base::OperatorKind::kResize:
      return MapsOfResize(operands);
    case base::OperatorKind::kTranspose:
      return MapsOfTranspose(operands);
    case base::OperatorKind::kOpaque:
      break;
  }
  return MapsOfBarrier(input_shape);
}

}  // namespace tessera::graph
