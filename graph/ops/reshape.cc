#include <algorithm>
#include <string>
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

void MergeOutputs(const Shape& output, const AxisGroup& group, AxisMap& map) {
  AxisMap::Merged merged{std::vector<int64_t>(group.output_end - group.output_begin, 1)};
  for (size_t k = merged.strides.size() - 1; k > 0; --k) {
    merged.strides[k - 1] = merged.strides[k] * output[group.output_begin + k];
  }
  map = {std::move(merged), group.output_begin, group.output_end - group.output_begin};
}

// A group that both splits and merges, such as {4, 6 | 3, 8}, is a barrier: its axes stay whole.
std::vector<AxisMap> MapsOfReshape(const OperandView& view) {
  const Shape& input = view.Input();
  const Shape& output = view.output;
  std::vector<AxisMap> maps = WholeAxes(input);
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
        maps[axis] =
            same ? SameAxis(source) : AxisMap{AxisMap::Digit{stride, input[axis]}, source, 1};
      } else if (inputs == 1) {
        MergeOutputs(output, group, maps[axis]);
      }
      stride *= input[axis];
    }
  }
  return maps;
}

}  // namespace

extern const OperatorDefinition kReshape = {
    .fields = [](Operator&, Wanted& wanted, size_t) -> std::vector<Field> {
      return {{"shape", Field::OutputShape{&wanted.shape}, Presence::kRequired}};
    },
    .infer_shape = InferReshape,
    .axis_maps = MapsOfReshape,
};

}  // namespace tessera::graph::ops
