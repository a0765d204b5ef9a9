#include <algorithm>
#include <vector>

#include "tessera/plan/axis_walks.h"
#include "tessera/plan/operand_reads.h"

// The kinds that mix axes. A reshape reads the element of the same row-major number; blocks of rows
// and columns become channels, or channels blocks. Their hulls are found group of axes by group of
// axes, and by the residues of rows and columns; their elements are listed.
namespace tessera::plan {
namespace {

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

// The elements of a box, each by its row-major number in the tensor.
std::vector<int64_t> NumbersOf(const Box& box, const Shape& shape) {
  std::vector<int64_t> numbers = {0};
  for (size_t axis = 0; axis < box.size(); ++axis) {
    std::vector<int64_t> longer;
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

// The element of the deep tensor behind one of the wide one, and the other way round.
std::vector<int64_t> ToDepth(const Operator& op, int64_t channels,
                             const std::vector<int64_t>& wide) {
  const int64_t phase = wide[2] % op.block * op.block + wide[3] % op.block;
  const int64_t channel = op.depth_order == graph::DepthOrder::kDcr
                              ? phase * channels + wide[1]
                              : wide[1] * op.block * op.block + phase;
  return {wide[0], channel, wide[2] / op.block, wide[3] / op.block};
}

std::vector<int64_t> FromDepth(const Operator& op, int64_t channels,
                               const std::vector<int64_t>& deep) {
  const bool dcr = op.depth_order == graph::DepthOrder::kDcr;
  const int64_t phases = op.block * op.block;
  const int64_t phase = dcr ? deep[1] / channels : deep[1] % phases;
  return {deep[0], dcr ? deep[1] % channels : deep[1] / phases,
          deep[2] * op.block + phase / op.block, deep[3] * op.block + phase % op.block};
}

// Element by element of the output, through `move`, from coordinates to coordinates.
template <typename Move>
ElementSet Moved(const Shape& in, const Shape& out, const Box& output, const Move& move) {
  if (output == WholeOf(out)) return AllOf(WholeOf(in));
  std::vector<int64_t> numbers;
  for (const int64_t number : NumbersOf(output, out)) {
    const std::vector<int64_t> from = move(CoordinatesOf(number, out));
    int64_t moved = 0;
    for (size_t axis = 0; axis < in.size(); ++axis) moved = moved * in[axis] + from[axis];
    numbers.push_back(moved);
  }
  std::sort(numbers.begin(), numbers.end());
  return {{}, std::move(numbers)};
}

}  // namespace

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
  return {SameIndex<HullWalk>(output[0], in[0]), HullWalk::Along(output[1], in[1], channel),
          HullWalk::Along(output[2], in[2], block), HullWalk::Along(output[3], in[3], block)};
}

// Visits the block from which a deep channel may come until it finds the channel.
Box SpaceToDepthNeed(const Operator& op, const Shape& in, const Box& output) {
  if (in.size() != 4 || output.size() != 4) return WholeOf(in);
  Box need = {SameIndex<HullWalk>(output[0], in[0]), {in[1], 0}, {in[2], 0}, {in[3], 0}};
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

ElementSet ReshapeReads(const Shape& in, const Shape& out, const Box& output) {
  if (output == WholeOf(out)) return AllOf(WholeOf(in));
  return {{}, NumbersOf(output, out)};
}

ElementSet DepthToSpaceReads(const Operator& op, const Shape& in, const Shape& out,
                             const Box& output) {
  return Moved(in, out, output,
               [&](const std::vector<int64_t>& wide) { return ToDepth(op, out[1], wide); });
}

ElementSet SpaceToDepthReads(const Operator& op, const Shape& in, const Shape& out,
                             const Box& output) {
  return Moved(in, out, output,
               [&](const std::vector<int64_t>& deep) { return FromDepth(op, in[1], deep); });
}

}  // namespace tessera::plan
