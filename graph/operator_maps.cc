#include "tessera/graph/operator_maps.h"

#include <utility>

// From an operator kind to its axis maps; here those of kinds that compute.
namespace tessera::graph {
namespace {

struct Operands {
  const Operator& op;
  const Shape& input;
  const Shape& output;
};

// Axes aligned at the right; an extent of 1 serves every index of the output.
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

std::vector<AxisMap> MapsOfWindow(const Operands& operands, AxisMap channels, const Window& window) {
  return {SameAxis(0), std::move(channels), SlidingAxis(operands, window, 0),
          SlidingAxis(operands, window, 1)};
}

std::vector<AxisMap> MapsOfTransposedConv(const Operands& operands) {
  return {SameAxis(0), GroupedAxis(operands, operands.op.groups), SpreadAxis(operands, 0),
          SpreadAxis(operands, 1)};
}

// Axes that are reduced are needed whole; the output may lack them.
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

// Rows of the output are rows of the first operand, columns are columns of the second; the depth is needed
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
      return MapsOfWindow(operands, access.every_channel ? WholeAxis(operands.input[1]) : SameAxis(1),
                          access.window);
  }
  return WholeAxes(operands.input);
}

}  // namespace

std::vector<AxisMap> AxisMapsOf(const Graph& graph, const Operator& op, size_t input) {
  const Shape& input_shape = graph.tensors[static_cast<size_t>(op.inputs[input])].shape;
  if (IsBarrier(op)) return WholeAxes(input_shape);
  const Operands operands{op, input_shape, graph.tensors[static_cast<size_t>(op.outputs.front())].shape};
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

}  // namespace tessera::graph
