#include "tessera/plan/operand_reads.h"

#include <algorithm>
#include <utility>

#include "tessera/plan/axis_walks.h"

// This file uses no interval arithmetic, on purpose: graph/ propagates intervals by closed forms,
// and this file is the reference for them. A rule states for ONE output index along an axis which
// input indices are read. A walk visits all output indices:
//
//     rows, kernel 3, stride 2, padding 1        o = 0  reads -1 0 1
//     output [0, 2)                              o = 1  reads 1 2 3
//                                                hull [0, 4), list -1 0 1 2 3
//
// HullWalk drops input indices outside the operand, and keeps the minimum and the maximum of the
// rest: what a tile needs. ListWalk keeps every index: what the judge of an execution looks for. A
// convolution of stride 2 with a kernel of 1 reads every other column, and a cell between two of
// them may hold anything. The clipped part of a dilated window, or of a window wholly in padding,
// is exact, because the rules do not clip. Whether a tap in the padding is read from a stored pad
// or made up by the engine is for the performer to know.
//
// Axes are independent in every kind except those of mixed_reads.cc.
namespace tessera::plan {
namespace {

using graph::Operator;
using graph::Shape;

// What is read along each axis.
template <typename Walk>
using Product = std::vector<typename Walk::Axis>;

template <typename Walk>
Product<Walk> Whole(const Shape& shape) {
  Product<Walk> all;
  for (const int64_t extent : shape) all.push_back(Walk::Every(extent));
  return all;
}

// As SameIndex, but an operand of extent 1 serves every output index.
template <typename Walk>
typename Walk::Axis Broadcast(Range outputs, int64_t extent) {
  return extent == 1 ? Walk::Every(1) : SameIndex<Walk>(outputs, extent);
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

// `padded`: taps beyond the operand are listed too.
template <typename Walk>
typename Walk::Axis Taps(Range outputs, int64_t extent, const graph::Window& window, size_t axis,
                         bool padded) {
  const auto rule = [&](int64_t output, const auto& add) {
    const auto index_of = [&](int64_t tap) {
      return output * window.stride[axis] - window.pad_low[axis] + tap * window.dilation[axis];
    };
    if constexpr (Walk::kHull) {
      // Indices ascend with the taps, so the first and the last tap inside are enough.
      const int64_t first =
          FirstOf(window.kernel[axis], [&](int64_t tap) { return index_of(tap) >= 0; });
      const int64_t end =
          FirstOf(window.kernel[axis], [&](int64_t tap) { return index_of(tap) >= extent; });
      if (first >= end) return;
      add(index_of(first));
      add(index_of(end - 1));
    } else {
      for (int64_t tap = 0; tap < window.kernel[axis]; ++tap) add(index_of(tap));
    }
  };
  if constexpr (!Walk::kHull) {
    if (padded) return Walk::AlongAndBeyond(outputs, rule);
  }
  return Walk::Along(outputs, extent, rule);
}

// Input index i adds to output i * stride - pad + tap * dilation.
template <typename Walk>
typename Walk::Axis TransposedTaps(Range outputs, int64_t extent, const graph::Window& window,
                                   size_t axis) {
  return Walk::Along(outputs, extent, [&](int64_t output, const auto& add) {
    for (int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
      const int64_t way = output + window.pad_low[axis] - tap * window.dilation[axis];
      if (way >= 0 && way % window.stride[axis] == 0) add(way / window.stride[axis]);
    }
  });
}

// Each output channel reads all channels of its group. A group has at least one channel on either
// side.
template <typename Walk>
typename Walk::Axis GroupChannels(Range outputs, int64_t out_extent, int64_t in_extent,
                                  int64_t groups) {
  const int64_t outputs_each = std::max<int64_t>(1, out_extent / std::max<int64_t>(1, groups));
  const int64_t inputs_each = std::max<int64_t>(1, in_extent / std::max<int64_t>(1, groups));
  int64_t last = -1;
  return Walk::Along(outputs, in_extent, [&](int64_t output, const auto& add) {
    const int64_t group = output / outputs_each;
    if (std::exchange(last, group) == group) return;
    for (int64_t i = 0; i < inputs_each; ++i) add(group * inputs_each + i);
  });
}

// Input and output are [batch, channels, rows, columns].
template <typename Walk>
Product<Walk> OfWindow(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  if (in.size() != 4 || out.size() != 4) return Whole<Walk>(in);
  const int64_t groups = op.kind == base::OperatorKind::kConv ? op.groups : in[1];
  return {SameIndex<Walk>(output[0], in[0]), GroupChannels<Walk>(output[1], out[1], in[1], groups),
          Taps<Walk>(output[2], in[2], op.window, 0, /*padded=*/true),
          Taps<Walk>(output[3], in[3], op.window, 1, /*padded=*/true)};
}

template <typename Walk>
Product<Walk> OfTransposedConv(const Operator& op, const Shape& in, const Shape& out,
                               const Box& output) {
  if (in.size() != 4 || out.size() != 4) return Whole<Walk>(in);
  return {SameIndex<Walk>(output[0], in[0]),
          GroupChannels<Walk>(output[1], out[1], in[1], op.groups),
          TransposedTaps<Walk>(output[2], in[2], op.window, 0),
          TransposedTaps<Walk>(output[3], in[3], op.window, 1)};
}

// Axes that keep their extent map index to index. The others are averaged over.
template <typename Walk>
Product<Walk> OfGlobalPool(const Shape& in, const Shape& out, const Box& output) {
  Product<Walk> reads = Whole<Walk>(in);
  for (size_t axis = 0; axis < std::min(in.size(), out.size()); ++axis) {
    if (in[axis] == out[axis]) reads[axis] = SameIndex<Walk>(output[axis], in[axis]);
  }
  return reads;
}

// Shapes are aligned at their last axes.
template <typename Walk>
Product<Walk> OfElementwise(const Shape& in, const Shape& out, const Box& output) {
  if (in.size() > out.size()) return Whole<Walk>(in);
  Product<Walk> reads(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis)
    reads[axis] = Broadcast<Walk>(output[axis + out.size() - in.size()], in[axis]);
  return reads;
}

template <typename Walk>
Product<Walk> OfConcat(const graph::Graph& graph, const Operator& op, size_t operand,
                       const Box& output) {
  const auto axis = static_cast<size_t>(op.axis);
  int64_t before = 0;
  for (size_t i = 0; i < operand; ++i)
    before += graph.tensors[static_cast<size_t>(op.inputs[i])].shape[axis];
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  Product<Walk> reads(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t shift = i == axis ? before : 0;
    reads[i] =
        Walk::Along(output[i], in[i], [&](int64_t index, const auto& add) { add(index - shift); });
  }
  return reads;
}

// Output [..., rows, columns] reads rows of the first operand and columns of the second, each over
// all of K.
template <typename Walk>
Product<Walk> OfMatmul(const Operator& op, size_t operand, const Shape& in, const Shape& out,
                       const Box& output) {
  Product<Walk> reads = Whole<Walk>(in);
  const size_t rank = in.size();
  if (rank < 2 || rank > out.size()) return reads;
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    reads[axis] = Broadcast<Walk>(output[axis + out.size() - rank], in[axis]);
  if (operand == 0) {
    const size_t rows = op.transpose_first ? rank - 1 : rank - 2;
    reads[rows] = SameIndex<Walk>(output[out.size() - 2], in[rows]);
  } else {
    const size_t columns = op.transpose_second ? rank - 2 : rank - 1;
    reads[columns] = SameIndex<Walk>(output.back(), in[columns]);
  }
  return reads;
}

// All of the axes that are reduced over; the output may lack them.
template <typename Walk>
Product<Walk> OfReduction(const Operator& op, const Shape& in, const Box& output) {
  Product<Walk> reads = Whole<Walk>(in);
  size_t next = 0;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool reduced = std::count(op.axes.begin(), op.axes.end(), static_cast<int>(axis)) > 0;
    if (!reduced) reads[axis] = SameIndex<Walk>(output[next], in[axis]);
    if (!reduced || output.size() == in.size()) ++next;
  }
  return reads;
}

template <typename Walk>
Product<Walk> OfSlice(const Operator& op, const Shape& in, const Box& output) {
  Product<Walk> reads(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    reads[axis] = Walk::Along(output[axis], in[axis], [&](int64_t index, const auto& add) {
      add(op.starts[axis] + index * op.steps[axis]);
    });
  }
  return reads;
}

// An axis gathered by one index may be missing from the output.
template <typename Walk>
Product<Walk> OfGather(const Operator& op, const Shape& in, const Box& output) {
  Product<Walk> reads;
  const auto gathered = static_cast<size_t>(op.axis);
  size_t next = 0;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool missing = axis == gathered && output.size() < in.size();
    const Range outputs = missing ? Range{0, 1} : output[next++];
    reads.push_back(Walk::Along(outputs, in[axis], [&](int64_t index, const auto& add) {
      add(axis == gathered ? op.indices[static_cast<size_t>(index)] : index);
    }));
  }
  return reads;
}

template <typename Walk>
Product<Walk> OfTranspose(const Operator& op, const Shape& in, const Box& output) {
  if (op.permutation.size() != in.size() || output.size() != in.size()) return Whole<Walk>(in);
  Product<Walk> reads(in.size());
  for (size_t axis = 0; axis < output.size(); ++axis) {
    const auto from = static_cast<size_t>(op.permutation[axis]);
    reads[from] = SameIndex<Walk>(output[axis], in[from]);
  }
  return reads;
}

template <typename Walk>
Product<Walk> OfPad(const Operator& op, const Shape& in, const Box& output) {
  Product<Walk> reads(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    reads[axis] = Walk::Along(output[axis], in[axis], [&](int64_t index, const auto& add) {
      add(FoundInside(index - op.padding.low[axis], in[axis], op.padding.mode));
    });
  }
  return reads;
}

// Outside the operand the edge element is repeated. An axis that keeps its extent at a scale of 1
// maps index to index.
template <typename Walk>
typename Walk::Axis Resized(Range outputs, const graph::Resize& resize, const graph::Ratio& scale,
                            int64_t in, int64_t out) {
  if (in == out && scale.numerator == scale.denominator) return SameIndex<Walk>(outputs, in);
  return Walk::Along(outputs, in, [&](int64_t output, const auto& add) {
    const Range neighbours = NeighboursOf(resize, output, scale, in, out);
    for (int64_t index = neighbours.begin; index < neighbours.end; ++index)
      add(std::clamp<int64_t>(index, 0, in - 1));
  });
}

template <typename Walk>
Product<Walk> OfResize(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  if (in.size() != out.size()) return Whole<Walk>(in);
  Product<Walk> reads(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool stated = axis < op.resize.scales.size();
    const graph::Ratio scale = stated ? op.resize.scales[axis] : graph::Ratio{out[axis], in[axis]};
    reads[axis] = Resized<Walk>(output[axis], op.resize, scale, in[axis], out[axis]);
  }
  return reads;
}

// A described operator, operand by operand. It makes up itself what its window would read beyond
// the operand.
template <typename Walk>
Product<Walk> OfDescribed(const graph::OperandAccess& access, const Shape& in, const Shape& out,
                          const Box& output) {
  if (access.kind == graph::AccessKind::kElementwise) return OfElementwise<Walk>(in, out, output);
  if (access.kind == graph::AccessKind::kFull || in.size() != 4 || out.size() != 4)
    return Whole<Walk>(in);
  return {SameIndex<Walk>(output[0], in[0]),
          access.every_channel ? Walk::Every(in[1]) : SameIndex<Walk>(output[1], in[1]),
          Taps<Walk>(output[2], in[2], access.window, 0, /*padded=*/false),
          Taps<Walk>(output[3], in[3], access.window, 1, /*padded=*/false)};
}

// Kinds whose axes are independent.
template <typename Walk>
Product<Walk> ReadsByAxis(const graph::Graph& graph, const Operator& op, size_t operand,
                          const Box& output) {
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  const Shape& out = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
  switch (op.kind) {
    case base::OperatorKind::kConv:
    case base::OperatorKind::kDepthwise:
    case base::OperatorKind::kPool:
      return operand == 0 ? OfWindow<Walk>(op, in, out, output) : Whole<Walk>(in);
    case base::OperatorKind::kTransposedConv:
      return OfTransposedConv<Walk>(op, in, out, output);
    case base::OperatorKind::kGlobalPool:
      return OfGlobalPool<Walk>(in, out, output);
    case base::OperatorKind::kReduce:
    case base::OperatorKind::kSoftmax:
    case base::OperatorKind::kLayerNorm:
      return OfReduction<Walk>(op, in, output);
    case base::OperatorKind::kElementwise:
      return OfElementwise<Walk>(in, out, output);
    case base::OperatorKind::kConcat:
      return OfConcat<Walk>(graph, op, operand, output);
    case base::OperatorKind::kSlice:
      return OfSlice<Walk>(op, in, output);
    case base::OperatorKind::kPad:
      return OfPad<Walk>(op, in, output);
    case base::OperatorKind::kGather:
      return OfGather<Walk>(op, in, output);
    case base::OperatorKind::kMatmul:
      return OfMatmul<Walk>(op, operand, in, out, output);
    case base::OperatorKind::kResize:
      return OfResize<Walk>(op, in, out, output);
    case base::OperatorKind::kTranspose:
      return OfTranspose<Walk>(op, in, output);
    case base::OperatorKind::kReshape:
    case base::OperatorKind::kDepthToSpace:
    case base::OperatorKind::kSpaceToDepth:
      break;
    case base::OperatorKind::kOpaque:
      if (operand < op.accesses.size())
        return OfDescribed<Walk>(op.accesses[operand], in, out, output);
      break;
  }
  return Whole<Walk>(in);
}

Box HullByKind(const graph::Graph& graph, const Operator& op, size_t operand, const Box& output) {
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  const Shape& out = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
  switch (op.kind) {
    case base::OperatorKind::kReshape:
      return ReshapeNeed(in, out, output);
    case base::OperatorKind::kDepthToSpace:
      return DepthToSpaceNeed(op, in, out, output);
    case base::OperatorKind::kSpaceToDepth:
      return SpaceToDepthNeed(op, in, output);
    default:
      return ReadsByAxis<HullWalk>(graph, op, operand, output);
  }
}

}  // namespace

Box NeedOf(const graph::Graph& graph, const Operator& op, size_t operand, const Box& output) {
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  if (IsEmpty(output)) return EmptyOf(in);
  Box need = HullByKind(graph, op, operand, output);
  return IsEmpty(need) ? EmptyOf(in) : need;
}

ElementSet ReadsOfInput(const graph::Graph& graph, const Operator& op, size_t operand,
                        const Box& output) {
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  const Shape& out = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
  if (IsEmpty(output)) return AllOf(EmptyOf(in));
  switch (op.kind) {
    case base::OperatorKind::kReshape:
      return ReshapeReads(in, out, output);
    case base::OperatorKind::kDepthToSpace:
      return DepthToSpaceReads(op, in, out, output);
    case base::OperatorKind::kSpaceToDepth:
      return SpaceToDepthReads(op, in, out, output);
    default:
      return {ReadsByAxis<ListWalk>(graph, op, operand, output), {}};
  }
}

}  // namespace tessera::plan
