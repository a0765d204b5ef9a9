// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/graph/import/onnx/node_import.h"
#include "tessera/graph/ops/shape_inference.h"

// Checks operands whose shapes follow from those of other operands, and on which neither a
// translation nor the shape of the result depends: scales, states, indices, bounds. An operand of
// another shape violates the definition of the operator, so the node is refused in every form.
namespace tessera::graph::import::onnx {
namespace {

constexpr int64_t kAny = -1;  // an extent that may be anything

// The operands of one node.
struct Operands {
  const common::Draft& draft;
  const common::Node& node;

  // Null if the operand is left out.
  const Shape* At(size_t i) const {
    return node.HasInput(i) ? &draft.ShapeOf(node.inputs[i]) : nullptr;
  }
  int64_t Extent(size_t operand, size_t axis) const {
    const Shape* shape = At(operand);
    return shape != nullptr && axis < shape->size() ? (*shape)[axis] : kAny;
  }
  size_t Rank(size_t operand) const { return At(operand) == nullptr ? 0 : At(operand)->size(); }
};

struct ShapeRule {
  std::string_view type;
  size_t operand;
  // The shape that is required; nullopt: any. Called if the operand is given.
  std::optional<Shape> (*required)(const Operands&);
  bool or_one_value = false;  // a scalar, or an axis of 1, will do as well
};

std::optional<Shape> OneValue(const Operands& /*operands*/) { return Shape{}; }

template <size_t operand, size_t axis>
std::optional<Shape> ListAlong(const Operands& operands) {
  return Shape{operands.Extent(operand, axis)};
}

std::optional<Shape> List(const Operands& /*operands*/) { return Shape{kAny}; }

template <size_t operand>
std::optional<Shape> Like(const Operands& operands) {
  return operands.At(operand) == nullptr ? std::nullopt : std::optional(*operands.At(operand));
}

template <size_t operand>
std::optional<Shape> OfRankOf(const Operands& operands) {
  return Shape(operands.Rank(operand), kAny);
}

// A state of a recurrent operator: one for each direction, sequence and hidden value.
std::optional<Shape> RecurrentState(const Operands& operands) {
  const common::Node& node = operands.node;
  if (node.Int("layout", 0) != 0) return std::nullopt;
  const int64_t directions = node.Text("direction", "forward") == "bidirectional" ? 2 : 1;
  return Shape{directions, operands.Extent(0, 1), node.Int("hidden_size", operands.Extent(2, 2))};
}

std::optional<Shape> Peepholes(const Operands& operands) {
  const int64_t hidden = operands.node.Int("hidden_size", operands.Extent(2, 2));
  return Shape{operands.Extent(2, 0), hidden == kAny ? kAny : 3 * hidden};
}

std::optional<Shape> SequenceLengths(const Operands& operands) {
  return Shape{operands.Extent(0, operands.node.Int("layout", 0) == 0 ? 1 : 0)};
}

// The indices select slices of the data, and each is replaced by an update.
std::optional<Shape> SelectedSlices(const Operands& operands) {
  const Shape* data = operands.At(0);
  const Shape* indices = operands.At(1);
  if (data == nullptr || indices == nullptr || indices->empty()) return std::nullopt;
  const int64_t depth = indices->back();
  if (depth < 0 || depth > static_cast<int64_t>(data->size())) return std::nullopt;
  Shape updates(indices->begin(), indices->end() - 1);
  updates.insert(updates.end(), data->begin() + depth, data->end());
  return updates;
}

std::optional<Shape> SampledPlaces(const Operands& operands) {
  Shape places(operands.Rank(0), kAny);
  if (places.size() < 3) return std::nullopt;
  places.front() = operands.Extent(0, 0);
  places.back() = static_cast<int64_t>(places.size()) - 2;
  return places;
}

template <int64_t values>
std::optional<Shape> Boxes(const Operands& /*operands*/) {
  return Shape{kAny, values};
}

// One pad before and one after each axis: of all axes, or of the named ones.
std::optional<Shape> PadsOfAxes(const Operands& operands) {
  const int64_t axes =
      operands.At(3) != nullptr ? operands.Extent(3, 0) : static_cast<int64_t>(operands.Rank(0));
  return Shape{axes == kAny ? kAny : 2 * axes};
}

std::optional<Shape> TwoValues(const Operands& /*operands*/) { return Shape{2}; }

constexpr ShapeRule kRules[] = {
    {"QLinearConv", 1, OneValue, true},
    {"QLinearConv", 2, OneValue, true},
    {"QLinearConv", 4, ListAlong<3, 0>, true},
    {"QLinearConv", 5, ListAlong<3, 0>, true},
    {"QLinearConv", 6, OneValue, true},
    {"QLinearConv", 7, OneValue, true},
    {"ConvInteger", 2, OneValue, true},
    {"ConvInteger", 3, ListAlong<1, 0>, true},
    {"BatchNormalization", 1, ListAlong<0, 1>},
    {"BatchNormalization", 2, ListAlong<0, 1>},
    {"BatchNormalization", 3, ListAlong<0, 1>},
    {"BatchNormalization", 4, ListAlong<0, 1>},
    {"InstanceNormalization", 1, ListAlong<0, 1>},
    {"InstanceNormalization", 2, ListAlong<0, 1>},
    {"LSTM", 4, SequenceLengths},
    {"LSTM", 5, RecurrentState},
    {"LSTM", 6, RecurrentState},
    {"LSTM", 7, Peepholes},
    {"GRU", 4, SequenceLengths},
    {"GRU", 5, RecurrentState},
    {"RNN", 4, SequenceLengths},
    {"RNN", 5, RecurrentState},
    {"GatherElements", 1, OfRankOf<0>},
    {"ScatterElements", 1, OfRankOf<0>},
    {"ScatterElements", 2, Like<1>},
    {"Scatter", 1, OfRankOf<0>},
    {"Scatter", 2, Like<1>},
    {"ScatterND", 2, SelectedSlices},
    {"OneHot", 1, OneValue, true},
    {"OneHot", 2, TwoValues},
    {"GridSample", 1, SampledPlaces},
    {"RoiAlign", 1, Boxes<4>},
    {"RoiAlign", 2, ListAlong<1, 0>},
    {"MaxRoiPool", 1, Boxes<5>},
    {"MaxUnpool", 1, Like<0>},
    {"Slice", 1, List},
    {"Slice", 2, ListAlong<1, 0>},
    {"Slice", 3, ListAlong<1, 0>},
    {"Slice", 4, ListAlong<1, 0>},
    {"Pad", 1, PadsOfAxes},
};

bool Matches(const Shape& shape, const Shape& required) {
  return std::equal(shape.begin(), shape.end(), required.begin(), required.end(),
                    [](int64_t is, int64_t should) { return should == kAny || is == should; });
}

// "[1, any, 4]".
std::string TextOf(const Shape& required) {
  std::string text;
  for (const int64_t extent : required)
    text += (text.empty() ? "" : ", ") + (extent == kAny ? "any" : std::to_string(extent));
  return "[" + text + "]";
}

}  // namespace

std::optional<common::Obstacle> FindMisshapenOperand(const common::Draft& draft,
                                                     const common::Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  const Operands operands{draft, node};
  for (const ShapeRule& rule : kRules) {
    const Shape* shape = rule.type == node.type ? operands.At(rule.operand) : nullptr;
    if (shape == nullptr || (rule.or_one_value && ElementsOf(*shape) == 1 && shape->size() < 2))
      continue;
    const std::optional<Shape> required = rule.required(operands);
    if (!required || Matches(*shape, *required)) continue;
    return common::Fault("operand " + std::to_string(rule.operand + 1) + ", '" +
                             node.inputs[rule.operand] + "', has shape " + ops::ToText(*shape),
                         required->empty()
                             ? "one value"
                             : TextOf(*required) + (rule.or_one_value ? " or one value" : ""))
        .value();
  }
  return std::nullopt;
}

}  // namespace tessera::graph::import::onnx
