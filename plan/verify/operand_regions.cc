#include "tessera/plan/verify/operand_regions.h"

#include <algorithm>
#include <functional>
#include <numeric>

// This file uses no interval arithmetic, on purpose: graph/ propagates intervals by closed forms,
// and this file is the reference for them. A rule states for ONE output index along an axis which
// input indices are read. HullOf visits all output indices, drops input indices outside the
// operand, and keeps the minimum and the maximum of the rest:
//
//     rows, kernel 3, stride 2, padding 1        o = 0  reads -1 0 1        -> 0 1
//     output [0, 2)                              o = 1  reads 1 2 3         -> 1 2 3
//                                                                           hull [0, 4)
//
// The clipped part of a dilated window, or of a window wholly in padding, is exact, because the
// rules do not clip. Axes are independent in every kind except reshape, which is visited group of
// axes by group of axes, and depth-to-space with its inverse, whose channels are visited by the
// residues of rows and columns. data_movement_regions.cc has the kinds that move data or resample
// it.
namespace tessera::plan::verify {
namespace {

using graph::Operator;
using graph::Shape;

// As SameIndex, but an operand of extent 1 serves every output index.
Range Broadcast(Range outputs, int64_t extent) {
  return HullOf(outputs, extent,
                [&](int64_t output, const auto& add) { add(extent == 1 ? 0 : output); });
}

// The first of `taps` from which on the test holds; `taps` if it holds for none.
template <typename Test>
int64_t FirstOf(int64_t taps, const Test& test) {
  int64_t begin = 0;
  for (int64_t end = taps; begin < end;) {
    const int64_t middle = begin + (end - begin) / 2;
    if (test(middle)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

Range Taps(Range outputs, int64_t extent, const graph::Window& window, size_t axis) {
  return HullOf(outputs, extent, [&](int64_t output, const auto& add) {
    const auto index_of = [&](int64_t tap) {
      return output * window.stride[axis] - window.pad_low[axis] + tap * window.dilation[axis];
    };
    // Indices ascend with the taps, so the first and the last tap inside are enough.
    const int64_t first =
        FirstOf(window.kernel[axis], [&](int64_t tap) { return index_of(tap) >= 0; });
    const int64_t end =
        FirstOf(window.kernel[axis], [&](int64_t tap) { return index_of(tap) >= extent; });
    if (first >= end) return;
    add(index_of(first));
    add(index_of(end - 1));
  });
}

// Input index i adds to output i * stride - pad + tap * dilation.
Range TransposedTaps(Range outputs, int64_t extent, const graph::Window& window, size_t axis) {
  return HullOf(outputs, extent, [&](int64_t output, const auto& add) {
    for (int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
      const int64_t way = output + window.pad_low[axis] - tap * window.dilation[axis];
      if (way >= 0 && way % window.stride[axis] == 0) add(way / window.stride[axis]);
    }
  });
}

// Each output channel reads all channels of its group. A group has at least one channel on either
// side.
Range GroupChannels(Range outputs, int64_t out_extent, int64_t in_extent, int64_t groups) {
  const int64_t outputs_each = std::max<int64_t>(1, out_extent / std::max<int64_t>(1, groups));
  const int64_t inputs_each = std::max<int64_t>(1, in_extent / std::max<int64_t>(1, groups));
  return HullOf(outputs, in_extent, [&](int64_t output, const auto& add) {
    const int64_t group = output / outputs_each;
    add(group * inputs_each);
    add((group + 1) * inputs_each - 1);
  });
}

// Input and output are [batch, channels, rows, columns].
Box WindowNeed(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  if (in.size() != 4 || out.size() != 4) return WholeOf(in);
  const int64_t groups = op.kind == base::OperatorKind::kConv ? op.groups : in[1];
  return {SameIndex(output[0], in[0]), GroupChannels(output[1], out[1], in[1], groups),
          Taps(output[2], in[2], op.window, 0), Taps(output[3], in[3], op.window, 1)};
}

Box TransposedConvNeed(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  if (in.size() != 4 || out.size() != 4) return WholeOf(in);
  return {SameIndex(output[0], in[0]), GroupChannels(output[1], out[1], in[1], op.groups),
          TransposedTaps(output[2], in[2], op.window, 0),
          TransposedTaps(output[3], in[3], op.window, 1)};
}

// Axes that keep their extent map index to index. The others are averaged over.
Box GlobalPoolNeed(const Shape& in, const Shape& out, const Box& output) {
  Box need = WholeOf(in);
  for (size_t axis = 0; axis < std::min(in.size(), out.size()); ++axis) {
    if (in[axis] == out[axis]) need[axis] = SameIndex(output[axis], in[axis]);
  }
  return need;
}

// Shapes are aligned at their last axes.
Box ElementwiseNeed(const Shape& in, const Shape& out, const Box& output) {
  if (in.size() > out.size()) return WholeOf(in);
  Box need(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    need[axis] = Broadcast(output[axis + out.size() - in.size()], in[axis]);
  }
  return need;
}

Box ConcatNeed(const graph::Graph& graph, const Operator& op, size_t operand, const Box& output) {
  const auto axis = static_cast<size_t>(op.axis);
  int64_t before = 0;
  for (size_t i = 0; i < operand; ++i) {
    before += graph.tensors[static_cast<size_t>(op.inputs[i])].shape[axis];
  }
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  Box need(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t shift = i == axis ? before : 0;
    need[i] = HullOf(output[i], in[i], [&](int64_t index, const auto& add) { add(index - shift); });
  }
  return need;
}

// Output [..., rows, columns] reads rows of the first operand and columns of the second, each over
// all of K.
Box MatmulNeed(const Operator& op, size_t operand, const Shape& in, const Shape& out,
               const Box& output) {
  const size_t rank = in.size();
  if (rank < 2 || rank > out.size()) return WholeOf(in);
  Box need = WholeOf(in);
  for (size_t axis = 0; axis + 2 < rank; ++axis) {
    need[axis] = Broadcast(output[axis + out.size() - rank], in[axis]);
  }
  if (operand == 0) {
    const size_t rows = op.transpose_first ? rank - 1 : rank - 2;
    need[rows] = SameIndex(output[out.size() - 2], in[rows]);
  } else {
    const size_t columns = op.transpose_second ? rank - 2 : rank - 1;
    need[columns] = SameIndex(output.back(), in[columns]);
  }
  return need;
}

// All of the axes that are reduced over; the output may lack them.
Box ReductionNeed(const Operator& op, const Shape& in, const Box& output) {
  Box need = WholeOf(in);
  size_t next = 0;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool reduced = std::count(op.axes.begin(), op.axes.end(), static_cast<int>(axis)) > 0;
    if (!reduced) need[axis] = SameIndex(output[next], in[axis]);
    if (!reduced || output.size() == in.size()) ++next;
  }
  return need;
}

// A described operator, operand by operand.
Box DescribedNeed(const graph::OperandAccess& access, const Shape& in, const Shape& out,
                  const Box& output) {
  if (access.kind == graph::AccessKind::kElementwise) return ElementwiseNeed(in, out, output);
  if (access.kind == graph::AccessKind::kFull || in.size() != 4 || out.size() != 4)
    return WholeOf(in);
  return {SameIndex(output[0], in[0]),
          access.every_channel ? Range{0, in[1]} : SameIndex(output[1], in[1]),
          Taps(output[2], in[2], access.window, 0), Taps(output[3], in[3], access.window, 1)};
}

Box NeedByKind(const graph::Graph& graph, const Operator& op, size_t operand, const Box& output) {
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  const Shape& out = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
  switch (op.kind) {
    case base::OperatorKind::kConv:
    case base::OperatorKind::kDepthwise:
    case base::OperatorKind::kPool:
      return operand == 0 ? WindowNeed(op, in, out, output) : WholeOf(in);
    case base::OperatorKind::kTransposedConv:
      return TransposedConvNeed(op, in, out, output);
    case base::OperatorKind::kGlobalPool:
      return GlobalPoolNeed(in, out, output);
    case base::OperatorKind::kReduce:
    case base::OperatorKind::kSoftmax:
    case base::OperatorKind::kLayerNorm:
      return ReductionNeed(op, in, output);
    case base::OperatorKind::kElementwise:
      return ElementwiseNeed(in, out, output);
    case base::OperatorKind::kConcat:
      return ConcatNeed(graph, op, operand, output);
    case base::OperatorKind::kSlice:
      return SliceNeed(op, in, output);
    case base::OperatorKind::kPad:
      return PadNeed(op, in, output);
    case base::OperatorKind::kGather:
      return GatherNeed(op, in, output);
    case base::OperatorKind::kMatmul:
      return MatmulNeed(op, operand, in, out, output);
    case base::OperatorKind::kReshape:
      return ReshapeNeed(in, out, output);
    case base::OperatorKind::kResize:
      return ResizeNeed(op, in, out, output);
    case base::OperatorKind::kTranspose:
      return TransposeNeed(op, in, output);
    case base::OperatorKind::kDepthToSpace:
      return DepthToSpaceNeed(op, in, out, output);
    case base::OperatorKind::kSpaceToDepth:
      return SpaceToDepthNeed(op, in, output);
    case base::OperatorKind::kOpaque:
      if (operand < op.accesses.size()) return DescribedNeed(op.accesses[operand], in, out, output);
      break;
  }
  return WholeOf(in);
}

}  // namespace

Box WholeOf(const Shape& shape) {
  Box box;
  for (const int64_t extent : shape) box.push_back({0, extent});
  return box;
}

Box EmptyOf(const Shape& shape) { return Box(shape.size()); }

bool IsEmpty(const Box& box) {
  return std::any_of(box.begin(), box.end(),
                     [](const Range& range) { return range.begin >= range.end; });
}

int64_t VolumeOf(const Box& box) {
  const std::vector<int64_t> extents = ExtentsOf(box);
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> ExtentsOf(const Box& box) {
  std::vector<int64_t> extents(box.size(), 0);
  if (IsEmpty(box)) return extents;
  for (size_t axis = 0; axis < box.size(); ++axis) extents[axis] = box[axis].end - box[axis].begin;
  return extents;
}

void Enclose(Box& hull, const Box& part) {
  if (IsEmpty(part)) return;
  if (IsEmpty(hull)) {
    hull = part;
    return;
  }
  for (size_t axis = 0; axis < hull.size(); ++axis) {
    hull[axis].begin = std::min(hull[axis].begin, part[axis].begin);
    hull[axis].end = std::max(hull[axis].end, part[axis].end);
  }
}

Box NeedOf(const graph::Graph& graph, const Operator& op, size_t operand, const Box& output) {
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  if (IsEmpty(output)) return EmptyOf(in);
  Box need = NeedByKind(graph, op, operand, output);
  return IsEmpty(need) ? EmptyOf(in) : need;
}

}  // namespace tessera::plan::verify
