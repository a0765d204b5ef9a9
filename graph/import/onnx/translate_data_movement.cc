// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/onnx/translations.h"

// Operators that join, cut, repeat or select elements.
namespace tessera::graph::import::onnx {
namespace {

std::string AxisText(int64_t axis, const Shape& shape) {
  return "axis " + std::to_string(axis) + " of an input of shape " + ops::ToText(shape);
}

common::Part SlicePart(int input, std::vector<int64_t> starts, std::vector<int64_t> steps,
                       Shape shape) {
  common::Part part;
  part.op.kind = base::OperatorKind::kSlice;
  part.op.own = SliceAttributes{std::move(starts), std::move(steps)};
  part.wanted.shape = std::move(shape);
  part.inputs = {input};
  return part;
}

// Constants at the ends of a concatenation: the joined features are padded, and the constants fill
// the pads.
common::MadeTensor PadWithConstants(common::Translation& node, int joined, int axis,
                                    const std::vector<size_t>& before,
                                    const std::vector<size_t>& behind) {
  const auto index = static_cast<size_t>(axis);
  common::Part part;
  part.op.kind = base::OperatorKind::kPad;
  PadAttributes& pad = part.op.MakeOwn<PadAttributes>();
  pad.low.assign(node.ShapeOfTensor(joined).size(), 0);
  pad.high = pad.low;
  for (const size_t i : before) {
    pad.low[index] += node.ShapeOf(i)[index];
    part.op.weights.push_back(node.Weight(i));
  }
  for (const size_t i : behind) {
    pad.high[index] += node.ShapeOf(i)[index];
    part.op.weights.push_back(node.Weight(i));
  }
  part.inputs = {joined};
  return node.Emit(std::move(part));
}

// Sizes of the parts of a Split: stated, or equal with a smaller last one.
tl::expected<std::vector<int64_t>, common::Obstacle> SizesOfParts(const common::Translation& node,
                                                                  int64_t extent) {
  const common::Node& source = node.Source();
  if (node.Has(1)) {
    const auto sizes = node.Integers(1);
    if (!sizes)
      return common::Barrier("the sizes of its parts are computed while the network runs");
    return *sizes;
  }
  if (const std::vector<int64_t> sizes = source.Ints("split"); !sizes.empty()) return sizes;
  const int64_t parts = source.Int("num_outputs", static_cast<int64_t>(source.outputs.size()));
  if (parts < 1 || parts > extent)
    return common::Fault(std::to_string(parts) + " parts of an extent of " + std::to_string(extent),
                         "parts of at least 1");
  const int64_t each = base::CeilDiv(extent, parts);
  std::vector<int64_t> sizes(static_cast<size_t>(parts), each);
  sizes.back() = extent - each * (parts - 1);
  return sizes;
}

// Pads by axis: all low ones, then all high ones, of the named axes or of all.
struct Pads {
  std::vector<int64_t> low;
  std::vector<int64_t> high;
};

tl::expected<Pads, common::Obstacle> ReadPads(const common::Translation& node) {
  const common::Node& source = node.Source();
  const size_t rank = node.ShapeOf(0).size();
  std::optional<std::vector<int64_t>> stated;
  if (node.Has(1)) {
    stated = node.Integers(1);
  } else {
    stated = source.Ints(source.attributes.count("paddings") > 0 ? "paddings" : "pads");
  }
  std::optional<std::vector<int64_t>> axes =
      node.Has(3) ? node.Integers(3) : std::vector<int64_t>{};
  if (!stated || !axes) return common::Barrier("its pads are computed while the network runs");
  if (axes->empty()) {
    axes->resize(rank);
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (stated->size() != 2 * axes->size())
    return common::Fault(std::to_string(stated->size()) + " pads",
                         std::to_string(2 * axes->size()) + " pads");
  Pads pads{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  for (size_t i = 0; i < axes->size(); ++i) {
    const std::optional<int> axis = common::AxisFrom((*axes)[i], rank);
    if (!axis) return common::Fault(AxisText((*axes)[i], node.ShapeOf(0)), "an axis of the input");
    const int64_t low = (*stated)[i];
    const int64_t high = (*stated)[i + axes->size()];
    constexpr int64_t kMost = int64_t{1} << 56;
    if (std::max(std::abs(low), std::abs(high)) > kMost)
      return common::Fault("a pad beyond 2^56", "smaller ones");
    pads.low[static_cast<size_t>(*axis)] = low;
    pads.high[static_cast<size_t>(*axis)] = high;
  }
  return pads;
}

// Negative pads cut the tensor. Positive ones pad the rest.
common::MadeTensor CutNegative(common::Translation& node, Pads& pads, bool whole) {
  const Shape& input = node.ShapeOf(0);
  std::vector<int64_t> starts(input.size(), 0);
  Shape shape = input;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    starts[axis] = std::max<int64_t>(-pads.low[axis], 0);
    shape[axis] -= starts[axis] + std::max<int64_t>(-pads.high[axis], 0);
    pads.low[axis] = std::max<int64_t>(pads.low[axis], 0);
    pads.high[axis] = std::max<int64_t>(pads.high[axis], 0);
  }
  if (shape == input) return node.Feature(0);
  if (!ops::IsCountable(shape))
    return common::Fault("its pads leave nothing of " + ops::ToText(input), "at least one element");
  common::Part part = SlicePart(node.Feature(0), starts, {}, shape);
  return whole ? node.Emit(std::move(part)) : node.Emit(std::move(part), "/cut", "/cut");
}

// Rows of a constant table, selected by a feature. They are fetched directly from the table.
common::Outcome LookUpRows(common::Translation& node) {
  const Shape& table = node.ShapeOf(0);
  const Shape& indices = node.ShapeOf(1);
  Shape places = indices;
  places.insert(places.end(), table.size() - 1, 1);
  Shape output = indices;
  output.insert(output.end(), table.begin() + 1, table.end());
  if (!ops::IsCountable(output))
    return common::Fault("a result of shape " + ops::ToText(output), "extents from 1 on");
  const common::MadeTensor spread = node.Reshape(node.Feature(1), places, "/places");
  if (!spread) return common::AsOutcome(spread);
  const base::DataType type = node.TypeOf(0);
  if (const common::MadeTensor made = node.EmitGather(*spread, output, type); !made)
    return common::AsOutcome(made);
  node.Target().report.Add(
      common::Report::Event::kAssumed, node.Source(),
      "rows of table '" + node.Source().inputs[0] +
          "' are fetched by index from where it lies; the table takes no memory of this plan");
  return {};
}

common::Outcome GatherPicked(common::Translation& node, int axis, std::vector<int64_t> indices) {
  const Shape& input = node.ShapeOf(0);
  const Shape& places = node.ShapeOf(1);
  const int64_t extent = input[static_cast<size_t>(axis)];
  for (int64_t& index : indices) index += index < 0 && index >= -extent ? extent : 0;
  common::Part part;
  part.op.kind = base::OperatorKind::kGather;
  part.op.axis = axis;
  part.op.own = GatherAttributes{std::move(indices)};
  part.wanted.keep_axes = !places.empty();
  part.inputs = {node.Feature(0)};
  const bool direct = places.size() < 2;
  const common::MadeTensor made = node.Emit(std::move(part), "", direct ? "" : "/flat");
  if (!made || direct) return common::AsOutcome(made);
  Shape shape(input.begin(), input.begin() + axis);
  shape.insert(shape.end(), places.begin(), places.end());
  shape.insert(shape.end(), input.begin() + axis + 1, input.end());
  return common::AsOutcome(node.Reshape(*made, shape, ""));
}

// All inputs of a concatenation must agree except along its axis.
common::Outcome ExpectJoinable(const common::Translation& node, size_t input, int axis) {
  const auto without = [axis](Shape shape) {
    if (static_cast<size_t>(axis) < shape.size()) shape[static_cast<size_t>(axis)] = 0;
    return shape;
  };
  const Shape& shape = node.ShapeOf(input);
  const Shape& first = node.ShapeOf(0);
  if (without(shape) == without(first)) return {};
  return common::Fault("input " + std::to_string(input + 1) + " has shape " + ops::ToText(shape) +
                           ", and input 1 has " + ops::ToText(first),
                       "shapes that agree but along axis " + std::to_string(axis));
}

common::Outcome TranslateConcat(common::Translation& node) {
  std::vector<size_t> before;
  std::vector<size_t> behind;
  common::Part part;
  part.op.kind = base::OperatorKind::kConcat;
  std::optional<int> axis;
  for (size_t i = 0; i < node.Operands(); ++i) {
    axis = common::AxisFrom(node.Source().Int("axis", 1), node.ShapeOf(i).size());
    if (!axis)
      return common::Fault(AxisText(node.Source().Int("axis", 1), node.ShapeOf(i)),
                           "an axis of every input");
    if (auto fits = ExpectJoinable(node, i, *axis); !fits) return fits;
    if (node.ShapeOf(i)[static_cast<size_t>(*axis)] == 0) continue;
    if (node.IsFeature(i)) {
      if (!behind.empty()) return common::Barrier("a constant stands between its features");
      part.inputs.push_back(node.Feature(i));
    } else {
      (part.inputs.empty() ? before : behind).push_back(i);
    }
  }
  if (part.inputs.empty()) return common::Fault("nothing to join", "at least one element");
  part.op.axis = *axis;
  const bool padded = !before.empty() || !behind.empty();
  if (part.inputs.size() == 1 && !padded) {
    node.BindOutput(0, part.inputs.front());
    node.Target().report.Add(common::Report::Event::kDropped, node.Source(), "joins one");
    return {};
  }
  common::MadeTensor joined = part.inputs.front();
  if (part.inputs.size() > 1)
    joined = node.Emit(std::move(part), padded ? "/features" : "", padded ? "/features" : "");
  if (joined && padded) joined = PadWithConstants(node, *joined, *axis, before, behind);
  return common::AsOutcome(joined);
}

// The scale and the zero point of the result come first, those of each operand follow the operand.
common::Outcome TranslateQLinearConcat(common::Translation& node) {
  constexpr size_t kZeroPoint = 1;
  common::Part part;
  part.op.kind = base::OperatorKind::kConcat;
  for (size_t i = 2; i < node.Operands(); i += 3) {
    if (!node.IsFeature(i)) return common::Barrier("it joins a constant");
    const std::optional<int> axis =
        common::AxisFrom(node.Source().Int("axis", 1), node.ShapeOf(i).size());
    if (!axis)
      return common::Fault(AxisText(node.Source().Int("axis", 1), node.ShapeOf(i)),
                           "an axis of every input");
    part.op.axis = *axis;
    part.inputs.push_back(node.Feature(i));
  }
  if (node.Has(kZeroPoint)) part.type = node.TypeOf(kZeroPoint);
  return common::AsOutcome(node.Emit(std::move(part)));
}

common::Outcome TranslateSplit(common::Translation& node) {
  const Shape& input = node.ShapeOf(0);
  const std::optional<int> stated = common::AxisFrom(node.Source().Int("axis", 0), input.size());
  if (!stated)
    return common::Fault(AxisText(node.Source().Int("axis", 0), input), "an axis of the input");
  const auto axis = static_cast<size_t>(*stated);
  const auto sizes = SizesOfParts(node, input[axis]);
  if (!sizes) return tl::unexpected(sizes.error());
  const bool positive =
      std::all_of(sizes->begin(), sizes->end(), [](int64_t size) { return size >= 1; });
  if (sizes->size() != node.Source().outputs.size() || !positive ||
      std::accumulate(sizes->begin(), sizes->end(), int64_t{0}) != input[axis])
    return common::Fault(
        "parts of " + ops::ToText(*sizes) + " of " + AxisText(*stated, input),
        std::to_string(node.Source().outputs.size()) + " parts that add up to the axis");
  if (sizes->size() == 1) {
    node.Drop(node.Source().inputs[0], "keeps everything");
    return {};
  }
  std::vector<int64_t> starts(input.size(), 0);
  for (size_t i = 0; i < sizes->size(); ++i) {
    Shape shape = input;
    shape[axis] = (*sizes)[i];
    if (node.Source().HasOutput(i)) {
      const common::MadeTensor made =
          node.EmitOutput(SlicePart(node.Feature(0), starts, {}, shape), i);
      if (!made) return common::AsOutcome(made);
    }
    starts[axis] += (*sizes)[i];
  }
  return {};
}

common::Outcome TranslateSlice(common::Translation& node) {
  const tl::expected<common::Cut, common::Obstacle> cut = common::ReadCut(
      node.Source(), node.ShapeOf(0), [&node](size_t i) { return node.Integers(i); });
  if (!cut) return tl::unexpected(cut.error());
  if (!ops::IsCountable(cut->shape))
    return common::Fault("nothing remains of an input of shape " + ops::ToText(node.ShapeOf(0)),
                         "at least one element");
  const bool forward =
      std::all_of(cut->steps.begin(), cut->steps.end(), [](int64_t step) { return step > 0; });
  if (cut->shape == node.ShapeOf(0) && forward) {
    node.Drop(node.Source().inputs[0], "keeps everything");
    return {};
  }
  return common::AsOutcome(
      node.Emit(SlicePart(node.Feature(0), cut->starts, cut->steps, cut->shape)));
}

common::Outcome TranslatePad(common::Translation& node) {
  tl::expected<Pads, common::Obstacle> pads = ReadPads(node);
  if (!pads) return tl::unexpected(pads.error());
  const std::string mode = node.Source().Text("mode", "constant");
  static constexpr std::array<std::string_view, 4> kModes = {"constant", "reflect", "edge", "wrap"};
  const auto* found = std::find(kModes.begin(), kModes.end(), mode);
  if (found == kModes.end())
    return common::Fault("mode '" + mode + "'", "constant, reflect, edge or wrap");
  const auto pads_nothing = [](const std::vector<int64_t>& list) {
    return std::all_of(list.begin(), list.end(), [](int64_t pad) { return pad <= 0; });
  };
  const bool only_cuts = pads_nothing(pads->low) && pads_nothing(pads->high);
  const common::MadeTensor rest = CutNegative(node, *pads, only_cuts);
  if (!rest) return common::AsOutcome(rest);
  if (only_cuts) {
    if (*rest == node.Feature(0)) node.Drop(node.Source().inputs[0], "pads nothing");
    return {};
  }
  common::Part part;
  part.op.kind = base::OperatorKind::kPad;
  part.op.own = PadAttributes{static_cast<PadMode>(found - kModes.begin()), pads->low, pads->high};
  part.inputs = {*rest};
  return common::AsOutcome(node.Emit(std::move(part)));
}

common::Outcome TranslateExpand(common::Translation& node) {
  const auto stated = node.Integers(1);
  if (!stated) return common::Barrier("its shape is computed while the network runs");
  const std::optional<Shape> shape =
      ops::IsCountable(*stated) ? ops::Broadcast(node.ShapeOf(0), *stated) : std::nullopt;
  if (!shape)
    return common::Fault(
        "shape " + ops::ToText(*stated) + " for an input of " + ops::ToText(node.ShapeOf(0)),
        "extents that are equal or 1");
  if (*shape == node.ShapeOf(0)) {
    node.Drop(node.Source().inputs[0], "keeps the shape");
    return {};
  }
  return common::AsOutcome(node.Broadcast(node.Feature(0), *shape, ""));
}

common::Outcome TranslateTile(common::Translation& node) {
  const auto repeats = node.Integers(1);
  if (!repeats) return common::Barrier("its repeats are computed while the network runs");
  const Shape input = node.ShapeOf(0);
  if (repeats->size() != input.size())
    return common::Fault(ops::ToText(*repeats) + " repeats", "one for each axis");
  int tensor = node.Feature(0);
  size_t last = input.size();
  for (size_t axis = 0; axis < input.size(); ++axis) {
    if ((*repeats)[axis] < 1 || (*repeats)[axis] > common::kMostValues)
      return common::Fault(ops::ToText(*repeats) + " repeats", "1 to 65536 each");
    if ((*repeats)[axis] > 1) last = axis;
  }
  if (last == input.size()) {
    node.Drop(node.Source().inputs[0], "repeats nothing");
    return {};
  }
  for (size_t axis = 0; axis <= last; ++axis) {
    if ((*repeats)[axis] == 1) continue;
    common::Part part;
    part.op.kind = base::OperatorKind::kGather;
    part.op.axis = static_cast<int>(axis);
    std::vector<int64_t>& indices = part.op.MakeOwn<GatherAttributes>().indices;
    for (int64_t i = 0; i < input[axis] * (*repeats)[axis]; ++i) indices.push_back(i % input[axis]);
    part.inputs = {tensor};
    const std::string step = axis == last ? "" : "/axis" + std::to_string(axis);
    const common::MadeTensor made = node.Emit(std::move(part), step, step);
    if (!made) return common::AsOutcome(made);
    tensor = *made;
  }
  return {};
}

common::Outcome TranslateGather(common::Translation& node) {
  const Shape& input = node.ShapeOf(0);
  const std::optional<int> axis = common::AxisFrom(node.Source().Int("axis", 0), input.size());
  if (!axis)
    return common::Fault(AxisText(node.Source().Int("axis", 0), input), "an axis of the input");
  if (!node.IsFeature(0)) {
    if (*axis == 0) return LookUpRows(node);
    return common::Barrier(
        "it picks columns of a constant by indices that are computed while the network runs");
  }
  std::optional<std::vector<int64_t>> indices = node.Integers(1);
  if (!indices) return common::Barrier("its indices are computed while the network runs");
  return GatherPicked(node, *axis, *std::move(indices));
}

}  // namespace

TranslationTable TranslationsOfDataMovement() {
  return {{{TranslateConcat, 1, true}, {"Concat"}},
          {{TranslateQLinearConcat, 4, true}, {"com.microsoft:QLinearConcat"}},
          {{TranslateSplit}, {"Split"}},
          {{TranslateSlice}, {"Slice"}},
          {{TranslatePad}, {"Pad"}},
          {{TranslateExpand, 2}, {"Expand"}},
          {{TranslateTile, 2}, {"Tile"}},
          {{TranslateGather, 2, true}, {"Gather"}}};
}

}  // namespace tessera::graph::import::onnx
