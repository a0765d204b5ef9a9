#include "tessera/plan/execute/reads.h"

#include <algorithm>

// The judge names elements, not intervals: a convolution of stride 2 with a kernel of 1 reads every other column, and a cell
// between two of them may hold anything. Most kinds treat their axes apart, so a set is a product of index lists:
//
//     rows, kernel 2, dilation 2, stride 3, padding 1        output 0  reads  -1 1
//     output [0, 2)                                          output 1  reads   2 4        -> { -1 1 2 4 }
//
// The lists are gathered output index by output index, straight from the definition of the kind, and sorted. A reshape mixes axes;
// it reads the element of the same row-major number, and its elements are listed. Index -1 is a tap in the padding: whether it
// is read from a stored pad or made up by the engine is for the machine to know.
namespace tessera::plan::execute {
namespace {

using base::OperatorKind;
using graph::Graph;
using graph::Operator;
using graph::Shape;
using Indices = std::vector<int64_t>;

const Shape& ShapeOf(const Graph& network, int tensor) {
  return network.tensors[static_cast<size_t>(tensor)].shape;
}

template <typename Definition>
Indices Gather(Range outputs, const Definition& reads) {
  Indices indices;
  for (int64_t output = outputs.begin; output < outputs.end; ++output) reads(output, indices);
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

Indices Same(Range outputs) {
  return Gather(outputs, [](int64_t output, Indices& indices) { indices.push_back(output); });
}

Indices Every(int64_t extent) { return Same({0, extent}); }

// An operand of extent 1 serves every output.
Indices Stretched(Range outputs, int64_t extent) { return extent == 1 ? Indices{0} : Same(outputs); }

ElementSet EverythingOf(const Shape& shape) { return AllOf(WholeBox(shape)); }

Indices Taps(const graph::Window& window, size_t spatial, Range outputs) {
  return Gather(outputs, [&](int64_t output, Indices& indices) {
    const int64_t corner = output * window.stride[spatial] - window.pad_low[spatial];
    for (int64_t tap = 0; tap < window.kernel[spatial]; ++tap) {
      indices.push_back(corner + tap * window.dilation[spatial]);
    }
  });
}

// Channels fall into as many groups on either side; an output channel reads all input channels of its group.
Indices ChannelsOfGroups(Range outputs, int64_t out_channels, int64_t in_channels, int64_t groups) {
  Indices indices;
  const int64_t wide = in_channels / groups;
  for (int64_t group = 0; group < groups; ++group) {
    const Range made = {group * out_channels / groups, (group + 1) * out_channels / groups};
    if (made.end <= outputs.begin || outputs.end <= made.begin) continue;
    for (int64_t channel = group * wide; channel < (group + 1) * wide; ++channel) indices.push_back(channel);
  }
  return indices;
}

ElementSet WindowReads(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  const int64_t groups = op.kind == OperatorKind::kConv ? op.groups : in[1];
  return {{Same(output[0]), ChannelsOfGroups(output[1], out[1], in[1], groups), Taps(op.window, 0, output[2]),
           Taps(op.window, 1, output[3])},
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
  const Indices rows = Same(output[output.size() - 2]);
  const Indices columns = Same(output.back());
  if (input == 0) {
    elements.axes.push_back(rows);
    elements.axes.push_back(Every(in.back()));
  } else if (op.transpose_second) {
    elements.axes.push_back(columns);
    elements.axes.push_back(Every(in.back()));
  } else {
    elements.axes.push_back(Every(in[in.size() - 2]));
    elements.axes.push_back(columns);
  }
  return elements;
}

// Each line along the axis is one whole.
ElementSet LineReads(size_t line, const Shape& in, const Box& output) {
  ElementSet elements;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    elements.axes.push_back(axis == line ? Every(in[axis]) : Same(output[axis]));
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

// Both grids of centres are laid over [0, 1): input i has its centre at (2i + 1) / (2 in), output o at (2o + 1) / (2 out). Nearest
// takes the input whose centre is nearest, the lower of two; bilinear the two on either side, the outermost where there is none
// beyond, and one alone where the centres meet. An axis that keeps its extent is not looked at.
Indices Resampled(Range outputs, int64_t in, int64_t out, graph::ResizeMode mode) {
  if (in == out) return Same(outputs);
  return Gather(outputs, [&](int64_t output, Indices& indices) {
    const auto behind = [&](int64_t input) { return (2 * input + 1) * out - (2 * output + 1) * in; };
    int64_t input = (2 * output + 1) * in / (2 * out);  // its cell holds the output's centre
    if (behind(input) > 0) --input;
    if (mode == graph::ResizeMode::kBilinear) {
      indices.push_back(std::max<int64_t>(input, 0));
      if (behind(input) != 0) indices.push_back(std::min(input + 1, in - 1));
    } else {
      const bool next = input < 0 || (input + 1 < in && behind(input + 1) < -behind(input));
      indices.push_back(next ? input + 1 : input);
    }
  });
}

ElementSet ResizeReads(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  ElementSet elements;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    elements.axes.push_back(Resampled(output[axis], in[axis], out[axis], op.resize_mode));
  }
  return elements;
}

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

ElementSet ReshapeReads(const Shape& in, const Shape& out, const Box& output) {
  if (output == WholeBox(out)) return EverythingOf(in);
  return {{}, NumbersOf(output, out)};
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
    case OperatorKind::kGlobalPool:
      return {{Same(output[0]), Same(output[1]), Every(in[2]), Every(in[3])}, {}};
    case OperatorKind::kElementwise:
      return ElementwiseReads(in, out, output);
    case OperatorKind::kConcat:
      return ConcatReads(network, op, input, output);
    case OperatorKind::kMatmul:
      return MatmulReads(op, input, in, out, output);
    case OperatorKind::kSoftmax:
    case OperatorKind::kLayerNorm:
      return LineReads(static_cast<size_t>(op.axis), in, output);
    case OperatorKind::kReshape:
      return ReshapeReads(in, out, output);
    case OperatorKind::kResize:
      return ResizeReads(op, in, out, output);
    case OperatorKind::kTranspose:
      return TransposeReads(op, in, output);
    case OperatorKind::kOpaque:
      break;
  }
  return EverythingOf(in);
}

ElementSet ReadsOfConstant(const Graph& network, const Operator& op, size_t constant, const Box& output) {
  const Shape& shape = ShapeOf(network, op.weights[constant]);
  ElementSet elements = AllOf(IsEmpty(output) ? EmptyBox(shape) : WholeBox(shape));
  if (IsEmpty(output)) return elements;
  if (const auto axes = FilterAxesOf(network, op, constant)) {
    elements.axes[axes->constant] = Same(output[axes->output]);
  }
  return elements;
}

std::optional<FilterAxes> FilterAxesOf(const Graph& network, const Operator& op, size_t constant) {
  if (constant != 0) return std::nullopt;
  const Shape& filters = ShapeOf(network, op.weights.front());
  const Shape& out = ShapeOf(network, op.outputs.front());
  const bool window = op.kind == OperatorKind::kConv || op.kind == OperatorKind::kDepthwise;
  const bool columns = op.kind == OperatorKind::kMatmul && op.inputs.size() == 1;
  if (window && !filters.empty() && out.size() == 4 && filters.front() == out[1]) return FilterAxes{0, 1};
  if (columns && !filters.empty() && !out.empty() && filters.back() == out.back()) {
    return FilterAxes{filters.size() - 1, out.size() - 1};
  }
  return std::nullopt;
}

bool IsPointwise(const Graph& network, const Operator& op, size_t input) {
  return op.kind == OperatorKind::kElementwise &&
         ShapeOf(network, op.inputs[input]) == ShapeOf(network, op.outputs.front());
}

}  // namespace tessera::plan::execute
