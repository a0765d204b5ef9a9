#include "tessera/plan/needs.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tessera/base/checked.h"

// No interval arithmetic here, on purpose: graph/ propagates intervals by closed forms, and this file is what they
// are held against. A rule says for ONE output index along an axis which input indices are read; HullOf walks all
// output indices, drops what lies outside the operand, and keeps the least and the greatest that is left:
//
//     rows, kernel 3, stride 2, padding 1        o = 0  reads -1 0 1        -> 0 1
//     output [0, 2)                              o = 1  reads 1 2 3         -> 1 2 3      hull [0, 4)
//
// What clipping leaves of a dilated window, or of one that lies wholly in padding, comes out exactly, since no rule
// knows of it. Axes are independent in every kind but reshape, which is walked group of axes by group of axes.
namespace tessera::plan {
namespace {

using graph::Operator;
using graph::Shape;

template <typename Rule>
Range HullOf(Range outputs, int64_t extent, const Rule& rule) {
  Range hull{extent, 0};
  const auto add = [&](int64_t index) {
    if (index < 0 || index >= extent) return;
    hull.begin = std::min(hull.begin, index);
    hull.end = std::max(hull.end, index + 1);
  };
  for (int64_t output = outputs.begin; output < outputs.end; ++output) rule(output, add);
  return hull.begin < hull.end ? hull : Range{};
}

Range SameIndex(Range outputs, int64_t extent) {
  return HullOf(outputs, extent, [](int64_t output, const auto& add) { add(output); });
}

// As SameIndex, but an operand of extent 1 serves every output index.
Range Broadcast(Range outputs, int64_t extent) {
  return HullOf(outputs, extent, [&](int64_t output, const auto& add) { add(extent == 1 ? 0 : output); });
}

Range Taps(Range outputs, int64_t extent, const graph::Window& window, size_t axis) {
  return HullOf(outputs, extent, [&](int64_t output, const auto& add) {
    for (int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
      add(output * window.stride[axis] - window.pad_low[axis] + tap * window.dilation[axis]);
    }
  });
}

// Each output channel reads all channels of its group; a group has at least one channel on either side.
Range GroupChannels(Range outputs, int64_t out_extent, int64_t in_extent, int64_t groups) {
  const int64_t outputs_each = std::max<int64_t>(1, out_extent / std::max<int64_t>(1, groups));
  const int64_t inputs_each = std::max<int64_t>(1, in_extent / std::max<int64_t>(1, groups));
  return HullOf(outputs, in_extent, [&](int64_t output, const auto& add) {
    const int64_t group = output / outputs_each;
    add(group * inputs_each);
    add((group + 1) * inputs_each - 1);
  });
}

// Half-pixel centres: output o lies at x = (o + 1/2) * in / out - 1/2 = numerator / (2 out). An axis that keeps its
// extent maps index to index. Nearest rounds to the nearest input, halves down; bilinear reads floor(x) and the next.
// Outside the operand the border element is repeated.
Range Resized(Range outputs, int64_t out_extent, int64_t in_extent, graph::ResizeMode mode) {
  if (out_extent == in_extent) return SameIndex(outputs, in_extent);
  return HullOf(outputs, in_extent, [&](int64_t output, const auto& add) {
    const int64_t numerator = (2 * output + 1) * in_extent - out_extent;
    const auto add_clamped = [&](int64_t index) { add(std::clamp<int64_t>(index, 0, in_extent - 1)); };
    if (mode == graph::ResizeMode::kNearest) {
      add_clamped(base::CeilDiv(numerator - out_extent, 2 * out_extent));
    } else {
      add_clamped(base::FloorDiv(numerator, 2 * out_extent));
      add_clamped(base::FloorDiv(numerator, 2 * out_extent) + 1);
    }
  });
}

// [batch, channels, rows, columns] in and out.
Box WindowNeed(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  if (in.size() != 4 || out.size() != 4) return WholeOf(in);
  const int64_t groups = op.kind == base::OperatorKind::kConv ? op.groups : in[1];
  return {SameIndex(output[0], in[0]), GroupChannels(output[1], out[1], in[1], groups),
          Taps(output[2], in[2], op.window, 0), Taps(output[3], in[3], op.window, 1)};
}

// Axes that keep their extent map index to index; the others are averaged over.
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

// Output [..., rows, columns] reads rows of the first operand and columns of the second, each over all its depth.
Box MatmulNeed(const Operator& op, size_t operand, const Shape& in, const Shape& out, const Box& output) {
  const size_t rank = in.size();
  if (rank == 0 || rank > out.size() || (operand == 0 && rank != out.size())) return WholeOf(in);
  Box need = WholeOf(in);
  for (size_t axis = 0; axis + (operand == 0 ? 1 : 2) < rank; ++axis) {
    need[axis] = Broadcast(output[axis + out.size() - rank], in[axis]);
  }
  if (operand > 0 && rank >= 2) {
    const size_t columns = op.transpose_second ? rank - 2 : rank - 1;
    need[columns] = SameIndex(output.back(), in[columns]);
  }
  return need;
}

// Softmax and layer norm reduce over the whole of one axis.
Box ReductionNeed(const Operator& op, const Shape& in, const Box& output) {
  Box need(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    need[axis] =
        axis == static_cast<size_t>(op.axis) ? Range{0, in[axis]} : SameIndex(output[axis], in[axis]);
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

Box ResizeNeed(const Operator& op, const Shape& in, const Shape& out, const Box& output) {
  if (in.size() != out.size()) return WholeOf(in);
  Box need(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    need[axis] = Resized(output[axis], out[axis], in[axis], op.resize_mode);
  }
  return need;
}

int64_t AxesAboveOne(const Shape& shape, size_t begin, size_t end) {
  return std::count_if(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                       shape.begin() + static_cast<std::ptrdiff_t>(end),
                       [](int64_t extent) { return extent > 1; });
}

// Axes [in_begin, in_end) hold the same elements, in the same order, as output axes [out_begin, out_end).
struct AxisGroup {
  size_t in_begin = 0;
  size_t in_end = 0;
  size_t out_begin = 0;
  size_t out_end = 0;
};

// The shortest groups, from the front; what is left over on either side has extents of 1 only.
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

// One output axis was merged from many: spells every index of it in the coordinates of the input.
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

// One input axis was split into many: the box's first and last elements, counted along it.
void NeedOfSplit(const AxisGroup& group, const Shape& in, const Shape& out, const Box& output, Box& need) {
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

// Groups that merge or split one axis are followed; one that mixes axes needs all of them.
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

Box NeedByKind(const graph::Graph& graph, const Operator& op, size_t operand, const Box& output) {
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  const Shape& out = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
  switch (op.kind) {
    case base::OperatorKind::kConv:
    case base::OperatorKind::kDepthwise:
    case base::OperatorKind::kPool:
      return operand == 0 ? WindowNeed(op, in, out, output) : WholeOf(in);
    case base::OperatorKind::kGlobalPool:
      return GlobalPoolNeed(in, out, output);
    case base::OperatorKind::kElementwise:
      return ElementwiseNeed(in, out, output);
    case base::OperatorKind::kConcat:
      return ConcatNeed(graph, op, operand, output);
    case base::OperatorKind::kMatmul:
      return MatmulNeed(op, operand, in, out, output);
    case base::OperatorKind::kSoftmax:
    case base::OperatorKind::kLayerNorm:
      return ReductionNeed(op, in, output);
    case base::OperatorKind::kReshape:
      return ReshapeNeed(in, out, output);
    case base::OperatorKind::kResize:
      return ResizeNeed(op, in, out, output);
    case base::OperatorKind::kTranspose:
      return TransposeNeed(op, in, output);
    case base::OperatorKind::kOpaque:
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
  return std::any_of(box.begin(), box.end(), [](const Range& range) { return range.begin >= range.end; });
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

}  // namespace tessera::plan
