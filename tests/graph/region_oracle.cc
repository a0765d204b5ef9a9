// SPDX-License-Identifier: Apache-2.0

#include "region_oracle.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "tessera/graph/tiling/tiling.h"

namespace tessera::graph {
namespace {

using base::OperatorKind;

// Exact fractions, for ONNX's definitions of a resize.
struct Fraction {
  int64_t above = 0;
  int64_t below = 1;  // > 0
};

Fraction Of(int64_t above, int64_t below = 1) {
  const int64_t common = std::gcd(above, below);
  return {above / common, below / common};
}
Fraction operator+(Fraction a, Fraction b) {
  return Of(a.above * b.below + b.above * a.below, a.below * b.below);
}
Fraction operator-(Fraction a, Fraction b) { return a + Of(-b.above, b.below); }
Fraction operator*(Fraction a, Fraction b) { return Of(a.above * b.above, a.below * b.below); }
Fraction operator/(Fraction a, Fraction b) { return a * Of(b.below, b.above); }
bool operator<(Fraction a, Fraction b) { return a.above * b.below < b.above * a.below; }
bool operator<=(Fraction a, Fraction b) { return !(b < a); }

const Fraction kHalf = Of(1, 2);

Fraction PlaceOf(ResizeCoordinates coordinates, int64_t x, Fraction scale, int64_t original,
                 int64_t resized) {
  switch (coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return (Of(x) + kHalf) / scale - kHalf;
    case ResizeCoordinates::kPytorchHalfPixel:
      return resized > 1 ? (Of(x) + kHalf) / scale - kHalf : Of(0);
    case ResizeCoordinates::kAlignCorners:
      return resized > 1 ? Of(x * (original - 1), resized - 1) : Of(0);
    case ResizeCoordinates::kAsymmetric:
      return Of(x) / scale;
    case ResizeCoordinates::kTfHalfPixelForNn:
      return (Of(x) + kHalf) / scale;
  }
  return Of(0);
}

// Whether the sample at index i of the input's axis, extended beyond both ends, counts for a place.
bool Counts(const ResizeAttributes& resize, int64_t i, Fraction place) {
  const Fraction at = Of(i);
  if (place.below == 1) return i == place.above;
  if (resize.mode == ResizeMode::kBilinear) return place - Of(1) < at && at < place + Of(1);
  if (resize.mode == ResizeMode::kCubic) return place - Of(2) < at && at < place + Of(2);
  switch (resize.rounding) {
    case NearestRounding::kRoundPreferFloor:
      return place - kHalf <= at && at < place + kHalf;
    case NearestRounding::kRoundPreferCeil:
      return place - kHalf < at && at <= place + kHalf;
    case NearestRounding::kFloor:
      return place - Of(1) < at && at < place;
    case NearestRounding::kCeil:
      return place < at && at < place + Of(1);
  }
  return false;
}

bool ResizeReads(const ResizeAttributes& resize, size_t axis, int64_t x, int64_t y, int64_t in,
                 int64_t out) {
  const Fraction scale = resize.scales.empty()
                             ? Of(out, in)
                             : Of(resize.scales[axis].numerator, resize.scales[axis].denominator);
  if (in == out && scale.above == scale.below) return x == y;
  const Fraction place = PlaceOf(resize.coordinates, y, scale, in, out);
  const int64_t near = place.above / place.below;
  for (int64_t i = std::min<int64_t>(near, 0) - 3; i <= std::max(near, in) + 3; ++i) {
    if (Counts(resize, i, place) && std::clamp<int64_t>(i, 0, in - 1) == x) return true;
  }
  return false;
}

bool IsTap(int64_t way, int64_t kernel, int64_t dilation) {
  return way % dilation == 0 && 0 <= way / dilation && way / dilation < kernel;
}

bool WindowReads(const Window& window, const Index& x, const Index& y) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t way = x[axis + 2] + window.pad_low[axis] - y[axis + 2] * window.stride[axis];
    if (!IsTap(way, window.kernel[axis], window.dilation[axis])) return false;
  }
  return x[0] == y[0];
}

bool TransposedReads(const Window& window, const Index& x, const Index& y) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t way = y[axis + 2] + window.pad_low[axis] - x[axis + 2] * window.stride[axis];
    if (!IsTap(way, window.kernel[axis], window.dilation[axis])) return false;
  }
  return x[0] == y[0];
}

bool SameGroup(int64_t groups, int64_t x, int64_t y, int64_t ins, int64_t outs) {
  return x * groups / ins == y * groups / outs;
}

bool Aligned(const Shape& in, const Index& x, const Index& y, size_t axes_behind_not_asked = 0) {
  for (size_t axis = 0; axis + axes_behind_not_asked < in.size(); ++axis) {
    if (in[axis] != 1 && x[axis] != y[y.size() - in.size() + axis]) return false;
  }
  return true;
}

bool PadReads(PadMode mode, int64_t x, int64_t y, int64_t low, int64_t extent) {
  const int64_t place = y - low;
  switch (mode) {
    case PadMode::kConstant:
      return x == place;
    case PadMode::kEdge:
      return x == place || (place < 0 && x == 0) || (place >= extent && x == extent - 1);
    case PadMode::kWrap:
      return (place - x) % extent == 0;
    case PadMode::kReflect:
      if (extent == 1) return true;
      return (place - x) % (2 * (extent - 1)) == 0 || (place + x) % (2 * (extent - 1)) == 0;
  }
  return false;
}

int64_t Flat(const Shape& shape, const Index& index) {
  int64_t flat = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) flat = flat * shape[axis] + index[axis];
  return flat;
}

// Whether element `deep` of the tensor with many channels is element `wide` of the one with few,
// for blocks of `block`. The deep channel is (row phase, column phase, channel) or (channel, row
// phase, column phase).
bool SameOfBlock(const Operator& op, const Index& deep, const Index& wide, int64_t wide_channels) {
  const int64_t block = op.Own<DepthSpaceAttributes>().block;
  const bool dcr = op.Own<DepthSpaceAttributes>().order == DepthOrder::kDcr;
  const int64_t channel = dcr ? deep[1] % wide_channels : deep[1] / block / block;
  const int64_t row = dcr ? deep[1] / wide_channels / block : deep[1] / block % block;
  const int64_t column = dcr ? deep[1] / wide_channels % block : deep[1] % block;
  return deep[0] == wide[0] && channel == wide[1] && deep[2] * block + row == wide[2] &&
         deep[3] * block + column == wide[3];
}

// Numbers by axis in another order.
Index Taken(const Index& stored, const std::vector<int>& axes) {
  Index taken;
  for (const int axis : axes) taken.push_back(stored[static_cast<size_t>(axis)]);
  return axes.empty() ? stored : taken;
}

bool MatmulReads(const Operator& op, size_t input, const Shape& in, const Index& x,
                 const Index& y) {
  const auto& own = op.Own<MatmulAttributes>();
  const Shape shape = Taken(in, own.operand_axes.at(input));
  const Index taken = Taken(x, own.operand_axes.at(input));
  Index made = y;
  for (size_t axis = 0; axis < own.result_axes.size(); ++axis)
    made[static_cast<size_t>(own.result_axes[axis])] = y[axis];
  if (!Aligned(shape, taken, made, 2)) return false;
  const bool depth_last = input == 0 ? !own.transpose_first : own.transpose_second;
  const int64_t kept = taken[taken.size() - (depth_last ? 2 : 1)];
  return kept == made[made.size() - (input == 0 ? 2 : 1)];
}

// Whether the sum at y contains x, of the same line.
bool IsSummed(const Operator& op, const Index& x, const Index& y) {
  const auto& [exclusive, reverse] = op.Own<base::CumsumAttributes>();
  const auto axis = static_cast<size_t>(op.axis);
  if (x[axis] == y[axis]) return !exclusive;
  return (x[axis] > y[axis]) == reverse;
}

// The place of element x in the images of the phases of its block.
Index PhaseOf(const Operator& op, const Shape& in, const Index& x) {
  const auto& [rows, columns] = op.Own<base::SpaceToBatchAttributes>().block;
  const int64_t phase = x[2] % rows * columns + x[3] % columns;
  return {phase * in[0] + x[0], x[1], x[2] / rows, x[3] / columns};
}

// Whether axes of x that are not in `but` equal those of y, which may lack those in `but`.
bool SameBut(const std::vector<int>& but, const Index& x, const Index& y) {
  size_t next = 0;
  for (size_t axis = 0; axis < x.size(); ++axis) {
    const bool left_out = std::find(but.begin(), but.end(), static_cast<int>(axis)) != but.end();
    if (left_out && y.size() < x.size()) continue;
    if (!left_out && x[axis] != y[next]) return false;
    ++next;
  }
  return true;
}

}  // namespace

std::vector<Index> IndicesOf(const ops::Box& box) {
  std::vector<Index> indices = {{}};
  for (const ops::Extent& extent : box) {
    std::vector<Index> longer;
    for (const Index& index : indices) {
      for (int64_t i = extent.begin; i < extent.end; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    indices = std::move(longer);
  }
  return indices;
}

bool Reads(const Graph& graph, const Operator& op, size_t input, const Index& x, const Index& y) {
  const Shape& in = graph.tensors[static_cast<size_t>(op.inputs[input])].shape;
  const Shape& out = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
  const auto every_axis = [&](auto reads) {
    for (size_t axis = 0; axis < x.size(); ++axis) {
      if (!reads(axis)) return false;
    }
    return true;
  };
  switch (op.kind) {
    case OperatorKind::kConv:
      return SameGroup(op.groups, x[1], y[1], in[1], out[1]) && WindowReads(op.window, x, y);
    case OperatorKind::kDepthwise:
      return SameGroup(in[1], x[1], y[1], in[1], out[1]) && WindowReads(op.window, x, y);
    case OperatorKind::kTransposedConv:
      return SameGroup(op.groups, x[1], y[1], in[1], out[1]) && TransposedReads(op.window, x, y);
    case OperatorKind::kPool:
      return x[1] == y[1] && WindowReads(op.window, x, y);
    case OperatorKind::kGlobalPool:
      return x[0] == y[0] && x[1] == y[1];
    case OperatorKind::kReduce:
    case OperatorKind::kSoftmax:
    case OperatorKind::kLayerNorm:
      return SameBut(op.axes, x, y);
    case OperatorKind::kElementwise:
      return Aligned(in, x, y);
    case OperatorKind::kConcat: {
      Index placed = x;
      for (size_t i = 0; i < input; ++i) {
        placed[static_cast<size_t>(op.axis)] +=
            graph.tensors[static_cast<size_t>(op.inputs[i])].shape[static_cast<size_t>(op.axis)];
      }
      return placed == y;
    }
    case OperatorKind::kSlice:
      return every_axis([&](size_t i) {
        return x[i] ==
               op.Own<SliceAttributes>().starts[i] + y[i] * op.Own<SliceAttributes>().steps[i];
      });
    case OperatorKind::kPad:
      return every_axis([&](size_t i) {
        return PadReads(op.Own<PadAttributes>().mode, x[i], y[i], op.Own<PadAttributes>().low[i],
                        in[i]);
      });
    case OperatorKind::kGather: {
      const auto axis = static_cast<size_t>(op.axis);
      const size_t which = out.size() < in.size() ? 0 : static_cast<size_t>(y[axis]);
      return SameBut({op.axis}, x, y) && x[axis] == op.Own<GatherAttributes>().indices[which];
    }
    case OperatorKind::kMatmul:
      return MatmulReads(op, input, in, x, y);
    case OperatorKind::kReshape:
      return Flat(in, x) == Flat(out, y);
    case OperatorKind::kResize:
      return every_axis([&](size_t i) {
        return ResizeReads(op.Own<ResizeAttributes>(), i, x[i], y[i], in[i], out[i]);
      });
    case OperatorKind::kTranspose:
      return every_axis([&](size_t i) {
        return x[static_cast<size_t>(op.Own<TransposeAttributes>().permutation[i])] == y[i];
      });
    case OperatorKind::kDepthToSpace:
      return SameOfBlock(op, x, y, out[1]);
    case OperatorKind::kSpaceToDepth:
      return SameOfBlock(op, y, x, in[1]);
    case OperatorKind::kCumsum:
      return SameBut({op.axis}, x, y) && IsSummed(op, x, y);
    case OperatorKind::kSpaceToBatch:
      return y == PhaseOf(op, in, x);
    case OperatorKind::kTopK:
      return SameBut(op.axes, x, y);
    case OperatorKind::kOpaque:
      break;
  }
  if (IsBarrier(op) || op.accesses[input].kind == ReadPattern::kFull) return true;
  const OperandAccess& access = op.accesses[input];
  if (access.kind == ReadPattern::kElementwise) return Aligned(in, x, y);
  return (access.every_channel || x[1] == y[1]) && WindowReads(access.window, x, y);
}

ElementSet::ElementSet(const Shape& of) : shape(&of), has(static_cast<size_t>(ElementsOf(of)), 0) {}

void ElementSet::AddBox(const ops::Box& box) {
  for (const Index& index : IndicesOf(box)) has[static_cast<size_t>(Flat(*shape, index))] = 1;
}

bool ElementSet::Empty() const { return std::find(has.begin(), has.end(), 1) == has.end(); }

ops::Box ElementSet::Hull() const {
  ops::Box hull(shape->size());
  bool any = false;
  const std::vector<Index> all = IndicesOf(ops::WholeBox(*shape));
  for (size_t i = 0; i < all.size(); ++i) {
    if (!has[i]) continue;
    for (size_t axis = 0; axis < hull.size(); ++axis) {
      const int64_t at = all[i][axis];
      hull[axis] =
          any ? ops::Extent{std::min(hull[axis].begin, at), std::max(hull[axis].end, at + 1)}
              : ops::Extent{at, at + 1};
    }
    any = true;
  }
  return hull;
}

bool ElementSet::FillHull() const {
  const auto held = std::count(has.begin(), has.end(), 1);
  return held == 0 || held == ElementsOf(Hull());
}

ElementSet NeedOf(const Graph& graph, const Operator& op, size_t input, const ElementSet& output) {
  ElementSet need(graph.tensors[static_cast<size_t>(op.inputs[input])].shape);
  const std::vector<Index> outputs = IndicesOf(ops::WholeBox(*output.shape));
  const std::vector<Index> inputs = IndicesOf(ops::WholeBox(*need.shape));
  for (size_t y = 0; y < outputs.size(); ++y) {
    if (!output.has[y]) continue;
    for (size_t x = 0; x < inputs.size(); ++x) {
      if (!need.has[x] && Reads(graph, op, input, inputs[x], outputs[y])) need.has[x] = 1;
    }
  }
  return need;
}

namespace {

bool LeavesInterval(const Graph& graph, Interval interval, int tensor,
                    const std::vector<Usage>& usages) {
  const Usage& usage = usages[static_cast<size_t>(tensor)];
  if (usage.producer < interval.first || usage.producer > interval.last) return false;
  return graph.tensors[static_cast<size_t>(tensor)].network_output || usage.consumers.empty() ||
         usage.consumers.back() > interval.last ||
         graph.operators[static_cast<size_t>(interval.last)].outputs[0] == tensor;
}

// The axis of the last output that corresponds to this axis of another output.
std::optional<size_t> StandIn(const Shape& last, const Shape& shape, size_t axis) {
  if (last.size() == shape.size()) return axis;
  for (const base::Axis name :
       {base::Axis::kRows, base::Axis::kColumns, base::Axis::kChannels, base::Axis::kBatch}) {
    if (tiling::AxisOf(shape, name) == axis) return tiling::AxisOf(last, name);
  }
  return std::nullopt;
}

void AddShare(const Shape& last, const ops::Box& tile, ElementSet& set) {
  const std::vector<Index> all = IndicesOf(ops::WholeBox(*set.shape));
  for (size_t i = 0; i < all.size(); ++i) {
    bool inside = true;
    for (size_t axis = 0; axis < set.shape->size(); ++axis) {
      const std::optional<size_t> source = StandIn(last, *set.shape, axis);
      if (!source) continue;
      const int64_t extent = (*set.shape)[axis];
      const int64_t at = all[i][axis];
      inside = inside && (at + 1) * last[*source] > tile[*source].begin * extent &&
               at * last[*source] < tile[*source].end * extent;
    }
    if (inside) set.has[i] = 1;
  }
}

}  // namespace

namespace {

int64_t Product(const Shape& shape, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t axis = begin; axis < end; ++axis) product *= shape[axis];
  return product;
}

// Whether the axis stays whole in a reshape: the input axes and the output axes with the same
// elements are several each, and it is not the first of them.
bool StaysWhole(const Shape& from, const Shape& to, size_t axis) {
  const auto starts_both = [&](int64_t before) {
    for (size_t end = 0; end <= to.size(); ++end) {
      if (Product(to, 0, end) == before) return true;
    }
    return false;
  };
  size_t begin = axis;
  while (!starts_both(Product(from, 0, begin))) --begin;
  size_t end = axis + 1;
  while (!starts_both(Product(from, 0, end))) ++end;
  const int64_t before = Product(from, 0, begin);
  const int64_t up_to = Product(from, 0, end);
  int real = 0;
  for (size_t other = 0; other < to.size(); ++other) {
    const int64_t reached = Product(to, 0, other + 1);
    real += before < reached && reached <= up_to && to[other] > 1 ? 1 : 0;
  }
  return Product(from, begin, axis) > 1 && real > 1;
}

}  // namespace

bool HasWholeAxes(const Graph& graph, const Operator& op) {
  if (op.kind != OperatorKind::kReshape) return false;
  const Shape& from = graph.tensors[static_cast<size_t>(op.inputs[0])].shape;
  const Shape& to = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (StaysWhole(from, to, axis)) return true;
  }
  return false;
}

ops::Box SmallestRegion(const Graph& graph, const Operator& op, const ElementSet& needed) {
  ops::Box box = needed.Hull();
  if (op.kind != OperatorKind::kReshape) return box;
  const Shape& to = graph.tensors[static_cast<size_t>(op.outputs[0])].shape;
  for (size_t axis = 0; axis < box.size(); ++axis) {
    if (StaysWhole(*needed.shape, to, axis)) box[axis] = {0, (*needed.shape)[axis]};
  }
  return box;
}

std::map<int, ElementSet> NeedsOfTile(const Graph& graph, Interval interval, const ops::Box& tile) {
  std::map<int, ElementSet> needs;
  const std::vector<Usage> usages = UsagesOf(graph);
  const Shape& last = graph
                          .tensors[static_cast<size_t>(
                              graph.operators[static_cast<size_t>(interval.last)].outputs[0])]
                          .shape;
  for (int i = interval.first; i <= interval.last; ++i) {
    const Operator& op = graph.operators[static_cast<size_t>(i)];
    for (const std::vector<int>* list : {&op.inputs, &op.outputs}) {
      for (const int tensor : *list) {
        ElementSet& set =
            needs.try_emplace(tensor, ElementSet(graph.tensors[static_cast<size_t>(tensor)].shape))
                .first->second;
        if (LeavesInterval(graph, interval, tensor, usages)) AddShare(last, tile, set);
      }
    }
  }
  for (int i = interval.last; i >= interval.first; --i) {
    const Operator& op = graph.operators[static_cast<size_t>(i)];
    for (size_t input = 0; input < op.inputs.size(); ++input) {
      const ElementSet need = NeedOf(graph, op, input, needs.at(op.outputs[0]));
      ElementSet& held = needs.at(op.inputs[input]);
      for (size_t e = 0; e < need.has.size(); ++e) held.has[e] |= need.has[e];
    }
  }
  return needs;
}

}  // namespace tessera::graph
