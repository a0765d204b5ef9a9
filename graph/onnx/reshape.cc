#include <algorithm>
#include <set>

#include "tessera/base/checked.h"
#include "tessera/graph/onnx/cut.h"
#include "tessera/graph/onnx/translators.h"

// Operators that give the same elements another shape or order.
namespace tessera::graph::onnx {
namespace {

Outcome EmitReshape(Translation& node, const Shape& shape) {
  if (shape == node.ShapeOf(0)) {
    node.Drop(node.Source().inputs[0], "keeps the shape");
    return {};
  }
  return AsOutcome(node.Reshape(node.Feature(0), shape, ""));
}

// Axes from the operand that newer operator sets have, or from the attribute; empty where the node states none.
tl::expected<std::vector<int64_t>, Obstacle> StatedAxes(const Translation& node) {
  if (!node.Has(1)) return node.Source().Ints("axes");
  const auto axes = node.Integers(1);
  if (!axes) return Barrier("its axes are computed while the network runs");
  return *axes;
}

// The shape that a Reshape means: 0 copies an extent, -1 takes what is left.
tl::expected<Shape, Obstacle> ResolveShape(const Shape& input, Shape wanted, bool zero_is_zero) {
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t axis = 0; axis < wanted.size(); ++axis) {
    if (wanted[axis] == 0 && !zero_is_zero && axis < input.size()) wanted[axis] = input[axis];
    if (wanted[axis] == -1 && !open) {
      open = axis;
      continue;
    }
    const auto product = wanted[axis] < 1 ? std::nullopt : base::CheckedMul(known, wanted[axis]);
    if (!product) return Fault("shape " + ToText(wanted), "extents from 1 on, and at most one of -1");
    known = *product;
  }
  if (open) wanted[*open] = ElementsOf(input) / known;
  return wanted;
}

// Where one extent is missing in the file, the number of elements says which it must be.
Outcome ReshapeByOutline(Translation& node) {
  const std::optional<std::vector<int64_t>> outline = node.Outline(1);
  if (!outline || std::count(outline->begin(), outline->end(), -1) != 1)
    return Barrier("its shape is computed while the network runs, or not in the file");
  const auto shape = ResolveShape(node.ShapeOf(0), *outline, node.Source().Flag("allowzero"));
  if (!shape) return tl::unexpected(shape.error());
  node.Target().report.Add(
      Report::Event::kAssumed, node.Source(),
      "its shape is " + ToText(*shape) + ": one extent is not in the file, and the others leave no choice");
  return EmitReshape(node, *shape);
}

}  // namespace

Outcome TranslateReshape(Translation& node) {
  const auto stated = node.Has(1) ? node.Integers(1) : std::optional(node.Source().Ints("shape"));
  if (!stated) {
    const std::optional<Shape> declared = node.DeclaredShape(0);
    if (declared) return EmitReshape(node, *declared);
    return ReshapeByOutline(node);
  }
  const auto shape = ResolveShape(node.ShapeOf(0), *stated, node.Source().Flag("allowzero"));
  if (!shape) return tl::unexpected(shape.error());
  return EmitReshape(node, *shape);
}

Outcome TranslateFlatten(Translation& node) {
  const Shape& input = node.ShapeOf(0);
  const int64_t stated = node.Source().Int("axis", 1);
  const auto rank = static_cast<int64_t>(input.size());
  if (stated < -rank || stated > rank)
    return Fault("'axis' is " + std::to_string(stated), "an axis of the input");
  const int64_t axis = stated < 0 ? stated + rank : stated;
  const Shape front(input.begin(), input.begin() + axis);
  const Shape back(input.begin() + axis, input.end());
  return EmitReshape(node, {ElementsOf(front), ElementsOf(back)});
}

Outcome TranslateSqueeze(Translation& node) {
  const auto axes = StatedAxes(node);
  if (!axes) return tl::unexpected(axes.error());
  const Shape& input = node.ShapeOf(0);
  std::set<int> gone;
  for (const int64_t stated : *axes) {
    const std::optional<int> axis = AxisFrom(stated, input.size());
    if (!axis || input[static_cast<size_t>(*axis)] != 1)
      return Fault("axis " + std::to_string(stated) + " of " + ToText(input), "an axis of extent 1");
    gone.insert(*axis);
  }
  Shape shape;
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const bool goes = axes->empty() ? input[axis] == 1 : gone.count(static_cast<int>(axis)) > 0;
    if (!goes) shape.push_back(input[axis]);
  }
  return EmitReshape(node, shape);
}

Outcome TranslateUnsqueeze(Translation& node) {
  const auto axes = StatedAxes(node);
  if (!axes) return tl::unexpected(axes.error());
  const Shape& input = node.ShapeOf(0);
  const size_t rank = input.size() + axes->size();
  std::set<int> added;
  for (const int64_t stated : *axes) {
    const std::optional<int> axis = AxisFrom(stated, rank);
    if (!axis || !added.insert(*axis).second)
      return Fault("axis " + std::to_string(stated) + " of " + std::to_string(rank), "each axis once");
  }
  Shape shape;
  size_t next = 0;
  for (size_t axis = 0; axis < rank; ++axis)
    shape.push_back(added.count(static_cast<int>(axis)) > 0 ? 1 : input[next++]);
  return EmitReshape(node, shape);
}

Outcome TranslateTranspose(Translation& node) {
  tl::expected<std::vector<int>, Obstacle> permutation =
      ReadPermutation(node.Source(), node.ShapeOf(0).size());
  if (!permutation) return tl::unexpected(permutation.error());
  if (std::is_sorted(permutation->begin(), permutation->end())) {
    node.Drop(node.Source().inputs[0], "keeps the order");
    return {};
  }
  Part part;
  part.op.kind = base::OperatorKind::kTranspose;
  part.op.permutation = *std::move(permutation);
  part.inputs = {node.Feature(0)};
  return AsOutcome(node.Emit(std::move(part)));
}

Outcome TranslateDepthToSpace(Translation& node) {
  const Node& source = node.Source();
  if (node.ShapeOf(0).size() != 4) return Fault("an input of shape " + ToText(node.ShapeOf(0)), "four axes");
  const int64_t block = source.Int("blocksize", 0);
  if (block < 1 || block > 65536) return Fault("'blocksize' is " + std::to_string(block), "1 to 65536");
  const std::string mode = source.Text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return Fault("mode '" + mode + "'", "DCR or CRD");
  Part part;
  part.op.kind =
      source.type == "DepthToSpace" ? base::OperatorKind::kDepthToSpace : base::OperatorKind::kSpaceToDepth;
  part.op.block = block;
  part.op.depth_order = mode == "CRD" ? DepthOrder::kCrd : DepthOrder::kDcr;
  part.inputs = {node.Feature(0)};
  return AsOutcome(node.Emit(std::move(part)));
}

}  // namespace tessera::graph::onnx
