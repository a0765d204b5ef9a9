// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// The same elements in row-major order in another shape.
namespace tessera::graph::ops {
namespace {

Inferred InferReshape(Operator& /*op*/, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& input = inputs.front();
  if (IsCountable(*wanted.shape) && ElementsOf(*wanted.shape) == ElementsOf(input))
    return *wanted.shape;
  return Fault("shape",
               "shape " + ToText(*wanted.shape) + " does not hold the elements of " + ToText(input),
               std::to_string(ElementsOf(input)) + " elements");
}

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

void MergeOutputs(const Shape& output, const AxisGroup& group, int64_t behind, AxisMap& map) {
  AxisMap::Merged merged{std::vector<int64_t>(group.output_end - group.output_begin, 1), behind};
  for (size_t k = merged.strides.size() - 1; k > 0; --k) {
    merged.strides[k - 1] = merged.strides[k] * output[group.output_begin + k];
  }
  map = {std::move(merged), group.output_begin, group.output_end - group.output_begin};
}

// A group that both splits and merges, such as {4, 6 | 3, 8}, is followed along its first input
// axis, because its elements have the same numbers in both shapes. Its other input axes stay whole:
//
//     [3, 8]  row 1 is 8 .. 15        [4, 6]  rows 1 and 2 are 6 .. 17
std::vector<AxisMap> MapsOfReshape(const OperandView& view) {
  const Shape& input = view.Input();
  const Shape& output = view.output;
  std::vector<AxisMap> maps = WholeAxes(input);
  for (const AxisGroup& group : GroupAxes(input, output)) {
    const size_t inputs = CountReal(input, group.input_begin, group.input_end);
    const size_t outputs = CountReal(output, group.output_begin, group.output_end);
    size_t source = group.output_begin;
    while (source + 1 < group.output_end && output[source] == 1) ++source;
    size_t first = group.input_begin;
    while (first + 1 < group.input_end && input[first] == 1) ++first;
    int64_t stride = 1;
    for (size_t axis = group.input_end; axis-- > group.input_begin;) {
      if (input[axis] == 1) continue;
      if (outputs == 1) {
        const bool same = inputs == 1;
        maps[axis] =
            same ? SameAxis(source) : AxisMap{AxisMap::Digit{stride, input[axis]}, source, 1};
      } else if (axis == first) {
        MergeOutputs(output, group, stride, maps[axis]);
      }
      stride *= input[axis];
    }
  }
  return maps;
}

// The definition: the element of the same row-major number. A hull is found group of axes by group
// of axes. The shortest groups from the front that hold the same elements, in the same order:
// input axes [in_begin, in_end) and output axes [out_begin, out_end). Axes left over on either side
// have extent 1.
struct SameElements {
  size_t in_begin = 0;
  size_t in_end = 0;
  size_t out_begin = 0;
  size_t out_end = 0;
};

std::vector<SameElements> PairAxes(const Shape& in, const Shape& out) {
  std::vector<SameElements> groups;
  size_t i = 0;
  size_t j = 0;
  while (i < in.size() && j < out.size()) {
    SameElements group{i, i + 1, j, j + 1};
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
void ReadMerged(const SameElements& group, const Shape& in, Extent merged, HullNeed& need) {
  for (size_t axis = group.in_begin; axis < group.in_end; ++axis) {
    int64_t behind = 1;
    for (size_t i = axis + 1; i < group.in_end; ++i) behind *= in[i];
    need.Each(axis, merged, [&](int64_t index, auto& add) { add(index / behind % in[axis]); });
  }
}

// Reads the first input axis of a group that was split: from the position of the box's first
// element in the group to that of its last element.
void ReadSplit(const SameElements& group, const Shape& in, const Shape& out, const Box& output,
               HullNeed& need) {
  int64_t first = 0;
  int64_t last = 0;
  int64_t behind = 1;
  for (size_t axis = group.out_begin; axis < group.out_end; ++axis) {
    first = first * out[axis] + output[axis].begin;
    last = last * out[axis] + output[axis].end - 1;
    behind *= out[axis];
  }
  for (size_t axis = group.in_begin; axis < group.in_end; ++axis) {
    behind /= in[axis];
    if (in[axis] > 1) return need.Set(axis, {first / behind, last / behind + 1});
  }
}

// Groups that merge or split one axis are followed. A group that mixes axes needs all but the first
// of them whole.
void ReadGroupsOfAxes(const OperandView& view, const Box& output, HullNeed& need) {
  const Shape& in = view.Input();
  const Shape& out = view.output;
  ReadEverything(in, need);
  for (const SameElements& group : PairAxes(in, out)) {
    const bool is_merged = CountReal(in, group.in_begin, group.in_end) > 1 &&
                           CountReal(out, group.out_begin, group.out_end) <= 1;
    if (!is_merged) {
      ReadSplit(group, in, out, output, need);
    } else {
      Extent merged{0, 1};
      for (size_t axis = group.out_begin; axis < group.out_end; ++axis) {
        if (out[axis] > 1) merged = output[axis];
      }
      ReadMerged(group, in, merged, need);
    }
  }
}

constexpr Reading kReadingOfReshape =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      if constexpr (std::remove_reference_t<decltype(need)>::kIsHull) {
        ReadGroupsOfAxes(view, output, need);
      } else {
        // lists for axes are shorter than row-major numbers
        if (output == WholeBox(view.output)) return ReadEverything(view.Input(), need);
        need.SetNumbers(NumbersOf(output, view.output));
      }
    });

}  // namespace

extern const OperatorDefinition kReshape = {
    .fields = [](Operator&, Wanted& wanted, size_t) -> std::vector<Field> {
      return {{"shape", Field::OutputShape{&wanted.shape}, Presence::kRequired}};
    },
    .infer_shape = InferReshape,
    .axis_maps = MapsOfReshape,
    .reading = kReadingOfReshape,
};

}  // namespace tessera::graph::ops
