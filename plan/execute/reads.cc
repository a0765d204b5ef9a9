#include "tessera/plan/execute/reads.h"

#include <algorithm>

#include "tessera/plan/execute/index_lists.h"

// The judge names elements, not intervals: a convolution of stride 2 with a kernel of 1 reads every
// other column, and a cell between two of them may hold anything. Most kinds treat their axes
// apart, so a set is a product of index lists:
//
//     rows, kernel 2, dilation 2, stride 3, padding 1   output 0  reads  -1 1
//     output [0, 2)                                     output 1  reads   2 4   -> { -1 1 2 4 }
//
// The lists are gathered output index by output index, straight from the definition of the kind,
// and sorted. A reshape mixes axes; it reads the element of the same row-major number, and its
// elements are listed, and so are those of blocks that move to depth or back. moved_reads.cc has
// the kinds that move data or resample it. Index -1 is a tap in the padding: whether it is read
// from a stored pad or made up by the engine is for the performer to know.
namespace tessera::plan::execute {
namespace {

using base::OperatorKind;
using graph::Graph;
using graph::Operator;
using graph::Shape;

// An operand of extent 1 serves every output.
Indices Stretched(Range outputs, int64_t extent) {
  return extent == 1 ? Indices{0} : Same(outputs);
}

ElementSet EverythingOf(const Shape& shape) { return AllOf(WholeBox(shape)); }

Indices Taps(const graph::Window& window, size_t spatial, Range outputs) {
  return Gather(outputs, [&](int64_t output, Indices& indices) {
    const int64_t corner = output * window.stride[spatial] - window.pad_low[spatial];
    for (int64_t tap = 0; tap < window.kernel[spatial]; ++tap) {
      indices.push_back(corner + tap * window.dilation[spatial]);
    }
  });
}

// Input index i adds to output i * stride - pad + tap * dilation; nothing beyond the input is
// stored.
Indices TransposedTaps(const graph::Window& window, size_t spatial, Range outputs, int64_t extent) {
  return Gather(outputs, [&](int64_t output, Indices& indices) {
    for (int64_t input = 0; input < extent; ++input) {
      const int64_t way = output + window.pad_low[spatial] - input * window.stride[spatial];
      const int64_t tap = way / window.dilation[spatial];
      if (way >= 0 && way % window.dilation[spatial] == 0 && tap < window.kernel[spatial])
        indices.push_back(input);
    }
  });
}

// Channels fall into as many groups on either side; an output channel reads all input channels of
// its group.
Indices ChannelsOfGroups(Range outputs, int64_t out_channels, int64_t in_channels, int64_t groups) {
  Indices indices;
  const int64_t wide = in_channels / groups;
  for (int64_t group = 0; group < groups; ++group) {
    const Range made = {group * out_channels / groups, (group + 1) * out_channels / groups};
    if (made.end <= outputs.begin || outputs.end <= made.begin) continue;
    for (int64_t channel = group * wide; channel < (group + 1) * wide; ++channel)
      indices.push_back(channel);
  }
  return indices;
}

ElementSet WindowReads(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  const int64_t groups = op.kind == OperatorKind::kConv ? op.groups : in[1];
  return {{Same(output[0]), ChannelsOfGroups(output[1], out[1], in[1], groups),
           Taps(op.window, 0, output[2]), Taps(op.window, 1, output[3])},
          {}};
}

ElementSet TransposedReads(const Operator& op, const Shape& in, const Shape& out,
                           const Box& output) {
  return {{Same(output[0]), ChannelsOfGroups(output[1], out[1], in[1], op.groups),
           TransposedTaps(op.window, 0, output[2], in[2]),
           TransposedTaps(op.window, 1, output[3], in[3])},
          {}};
}

ElementSet ElementwiseReads(const Shape& in, const Shape& out, const Box& output) {
  ElementSet elements;
  const size_t missing = out.size() - in.size();
  for (size_t axis = 0; axis < in.size(); ++axis) {
    elements.axes.push_back(Stretched(output[axis + missing], in[axis]));
  }
  return elements;
}

// Inputs stand one behind the other along the axis.
ElementSet ConcatReads(const Graph& network, const Operator& op, size_t input, const Box& output) {
  const auto joined = static_cast<size_t>(op.axis);
  int64_t start = 0;
  for (size_t i = 0; i < input; ++i) start += ShapeOf(network, op.inputs[i])[joined];
  const int64_t end = start + ShapeOf(network, op.inputs[input])[joined];
  ElementSet elements;
  for (size_t axis = 0; axis < output.size(); ++axis) {
    elements.axes.push_back(Gather(output[axis], [&](int64_t index, Indices& indices) {
      if (axis != joined) {
        indices.push_back(index);
      } else if (start <= index && index < end) {
        indices.push_back(index - start);
      }
    }));
  }
  return elements;
}

// out[.., i, j] = sum over d of first[.., i, d] * second[.., d, j]; the leading axes are stretched.
ElementSet MatmulReads(const Operator& op, size_t input, const Shape& in, const Shape& out,
                       const Box& output) {
  const size_t missing = out.size() - in.size();
  ElementSet elements;
  for (size_t axis = 0; axis + 2 < in.size(); ++axis) {
    elements.axes.push_back(Stretched(output[axis + missing], in[axis]));
  }
  const bool first = input == 0;
  const Indices kept = Same(output[output.size() - (first ? 2 : 1)]);
  const bool depth_last = first ? !op.transpose_first : op.transpose_second;
  const Indices depth = Every(in[in.size() - (depth_last ? 1 : 2)]);
  elements.axes.push_back(depth_last ? kept : depth);
  elements.axes.push_back(depth_last ? depth : kept);
  return elements;
}

// Everything along the axes that are reduced over, which the result may lack.
ElementSet ReductionReads(const Operator& op, const Shape& in, const Box& output) {
  ElementSet elements;
  size_t next = 0;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool reduced =
        std::find(op.axes.begin(), op.axes.end(), static_cast<int>(axis)) != op.axes.end();
    elements.axes.push_back(reduced ? Every(in[axis]) : Same(output[next]));
    next += reduced && output.size() < in.size() ? 0 : 1;
  }
  return elements;
}

// As the author says. What a described window would read beyond the operand it makes up itself.
ElementSet DescribedReads(const graph::OperandAccess& access, const Shape& in, const Shape& out,
                          const Box& output) {
  if (access.kind == graph::AccessKind::kFull) return EverythingOf(in);
  if (access.kind == graph::AccessKind::kElementwise) return ElementwiseReads(in, out, output);
  ElementSet elements = {{Same(output[0]), access.every_channel ? Every(in[1]) : Same(output[1]),
                          Taps(access.window, 0, output[2]), Taps(access.window, 1, output[3])},
                         {}};
  for (const size_t axis : {size_t{2}, size_t{3}}) {
    std::erase_if(elements.axes[axis],
                  [&](int64_t index) { return index < 0 || index >= in[axis]; });
  }
  return elements;
}

}  // namespace

ElementSet ReadsOfInput(const Graph& network, const Operator& op, size_t input, const Box& output) {
  const Shape& in = ShapeOf(network, op.inputs[input]);
  const Shape& out = ShapeOf(network, op.outputs.front());
  if (IsEmpty(output)) return AllOf(EmptyBox(in));
  switch (op.kind) {
    case OperatorKind::kConv:
    case OperatorKind::kDepthwise:
    case OperatorKind::kPool:
      return input == 0 ? WindowReads(op, in, out, output) : EverythingOf(in);
    case OperatorKind::kTransposedConv:
      return TransposedReads(op, in, out, output);
    case OperatorKind::kGlobalPool:
      return {{Same(output[0]), Same(output[1]), Every(in[2]), Every(in[3])}, {}};
    case OperatorKind::kElementwise:
      return ElementwiseReads(in, out, output);
    case OperatorKind::kConcat:
      return ConcatReads(network, op, input, output);
    case OperatorKind::kMatmul:
      return MatmulReads(op, input, in, out, output);
    case OperatorKind::kReduce:
    case OperatorKind::kSoftmax:
    case OperatorKind::kLayerNorm:
      return ReductionReads(op, in, output);
    case OperatorKind::kSlice:
      return SliceReads(op, in, output);
    case OperatorKind::kPad:
      return PadReads(op, in, output);
    case OperatorKind::kGather:
      return GatherReads(op, in, output);
    case OperatorKind::kReshape:
      return ReshapeReads(in, out, output);
    case OperatorKind::kResize:
      return ResizeReads(op, in, out, output);
    case OperatorKind::kTranspose:
      return TransposeReads(op, in, output);
    case OperatorKind::kDepthToSpace:
      return DepthToSpaceReads(op, in, out, output);
    case OperatorKind::kSpaceToDepth:
      return SpaceToDepthReads(op, in, out, output);
    case OperatorKind::kOpaque:
      if (!graph::IsBarrier(op)) return DescribedReads(op.accesses[input], in, out, output);
      break;
  }
  return EverythingOf(in);
}

ElementSet ReadsOfConstant(const Graph& network, const Operator& op, size_t constant,
                           const Box& output) {
  const Shape& shape = ShapeOf(network, op.weights[constant]);
  ElementSet elements = AllOf(IsEmpty(output) ? EmptyBox(shape) : WholeBox(shape));
  if (IsEmpty(output)) return elements;
  if (const auto axes = FilterAxesOf(network, op, constant)) {
    elements.axes[axes->constant] = Same(output[axes->output]);
  }
  return elements;
}

ElementSet ReadsOfTable(const Graph& network, const Operator& op, size_t constant,
                        int64_t table_bytes, const Box& output) {
  const auto filters = FilterAxesOf(network, op, constant);
  if (!filters || IsEmpty(output)) return AllOf({{0, IsEmpty(output) ? 0 : table_bytes}});
  const int64_t each = table_bytes / ShapeOf(network, op.weights[constant])[filters->constant];
  const Range channels = output[filters->output];
  return AllOf({{channels.begin * each, channels.end * each}});
}

std::optional<FilterAxes> FilterAxesOf(const Graph& network, const Operator& op, size_t constant) {
  if (constant != 0) return std::nullopt;
  const Shape& filters = ShapeOf(network, op.weights.front());
  const Shape& out = ShapeOf(network, op.outputs.front());
  const bool window = op.kind == OperatorKind::kConv || op.kind == OperatorKind::kDepthwise ||
                      op.kind == OperatorKind::kTransposedConv;
  const bool columns = op.kind == OperatorKind::kMatmul && op.inputs.size() == 1;
  if (window && !filters.empty() && out.size() == 4 && filters.front() == out[1])
    return FilterAxes{0, 1};
  if (columns && !filters.empty() && !out.empty() && filters.back() == out.back()) {
    return FilterAxes{filters.size() - 1, out.size() - 1};
  }
  return std::nullopt;
}

std::optional<size_t> KAxisOfInput(const Graph& network, const Operator& op, size_t input) {
  const size_t rank = ShapeOf(network, op.inputs[input]).size();
  if (op.kind == OperatorKind::kConv && op.groups == 1 && input == 0) return 1;
  if (op.kind != OperatorKind::kMatmul || rank < 2) return std::nullopt;
  const bool depth_last = input == 0 ? !op.transpose_first : op.transpose_second;
  return rank - (depth_last ? 1 : 2);
}

std::optional<size_t> KAxisOfConstant(const Graph& network, const Operator& op, size_t constant) {
  const size_t rank = ShapeOf(network, op.weights[constant]).size();
  if (!FilterAxesOf(network, op, constant)) return std::nullopt;
  if (op.kind == OperatorKind::kConv && op.groups == 1 && rank == 4) return 1;
  if (op.kind == OperatorKind::kMatmul && rank == 2) return 0;
  return std::nullopt;
}

void KeepK(std::optional<size_t> axis, const Range& depth, ElementSet& reads) {
  if (!axis || *axis >= reads.axes.size()) return;
  std::erase_if(reads.axes[*axis],
                [&depth](int64_t index) { return index < depth.begin || depth.end <= index; });
}

bool MapsChannels(const Graph& network, const Operator& op) {
  return op.kind == OperatorKind::kDepthwise &&
         ShapeOf(network, op.inputs.front())[1] == ShapeOf(network, op.outputs.front())[1];
}

bool IsPointwise(const Graph& network, const Operator& op, size_t input) {
  const bool described =
      input < op.accesses.size() && op.accesses[input].kind == graph::AccessKind::kElementwise;
  if (op.kind == OperatorKind::kConcat) return input == 0;
  return (op.kind == OperatorKind::kElementwise || described) &&
         ShapeOf(network, op.inputs[input]) == ShapeOf(network, op.outputs.front());
}

}  // namespace tessera::plan::execute
