#include "tessera/graph/import/yaml/operator_attributes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/import/yaml/tensors.h"
#include "tessera/graph/ops/shape_inference.h"

namespace tessera::graph::import::yaml {
namespace {

using base::OperatorKind;
using base::YamlNode;

constexpr int64_t kMostWindow = 65536;  // larger taps, steps and pads are mistakes in the file

constexpr std::array<std::string_view, 3> kPoolFunctions = {"max", "average", "lp"};

std::vector<std::string_view> KeysOf(OperatorKind kind, size_t operands) {
  std::vector<std::string_view> keys = {"id", "kind", "inputs"};
  const auto add = [&keys](std::initializer_list<std::string_view> more) {
    keys.insert(keys.end(), more);
  };
  if (kind == OperatorKind::kOpaque) {
    add({"outputs", "weights", "macs", "accesses", "scratch_bytes", "engine", "in_place"});
    return keys;
  }
  add({"output", "shape", "dtype", "activation", "weights"});
  switch (kind) {
    case OperatorKind::kConv:
      add({"out_channels", "kernel", "stride", "pads", "dilation", "groups", "weights_dtype"});
      break;
    case OperatorKind::kDepthwise:
      add({"multiplier", "kernel", "stride", "pads", "dilation", "weights_dtype"});
      break;
    case OperatorKind::kTransposedConv:
      add({"out_channels", "kernel", "stride", "pads", "dilation", "groups", "output_padding",
           "weights_dtype"});
      break;
    case OperatorKind::kPool:
      add({"function", "kernel", "stride", "pads", "dilation", "ceil_mode", "size"});
      break;
    case OperatorKind::kGlobalPool:
      add({"function", "keep_axes"});
      break;
    case OperatorKind::kReduce:
      add({"function", "axis", "keep_axes"});
      break;
    case OperatorKind::kElementwise:
      add({"function"});
      break;
    case OperatorKind::kConcat:
    case OperatorKind::kSoftmax:
    case OperatorKind::kLayerNorm:
      add({"axis"});
      break;
    case OperatorKind::kSlice:
      add({"starts", "steps"});
      break;
    case OperatorKind::kPad:
      add({"low", "high", "mode"});
      break;
    case OperatorKind::kGather:
      add({"axis", "indices"});
      break;
    case OperatorKind::kMatmul:
      add({"transpose_first"});
      if (operands == 1) add({"columns", "weights_dtype"});
      if (operands == 2) add({"transpose_second"});
      break;
    case OperatorKind::kResize:
      add({"mode", "coordinates", "rounding", "size", "scales"});
      break;
    case OperatorKind::kTranspose:
      add({"permutation"});
      break;
    case OperatorKind::kDepthToSpace:
    case OperatorKind::kSpaceToDepth:
      add({"block", "order"});
      break;
    case OperatorKind::kReshape:
    case OperatorKind::kOpaque:
      break;
  }
  return keys;
}

// One number for rows and columns, or one for each.
std::array<int64_t, 2> ReadPair(const YamlNode& node, int64_t least, int64_t most) {
  if (!node.IsList()) {
    const int64_t both = node.Integer(least, most);
    return {both, both};
  }
  const std::vector<int64_t> values = node.Integers(least, most);
  if (values.size() == 2) return {values[0], values[1]};
  node.Complain("a list of " + std::to_string(values.size()) + " numbers",
                "one number, or [rows, columns]");
  return {least, least};
}

void ReadPads(const YamlNode& node, Window& window, ops::Wanted& wanted) {
  if (!node) return;
  if (node.IsScalar()) {
    static constexpr std::array<std::string_view, 2> kNames = {"valid", "same"};
    wanted.same_pads = node.OneOf(kNames) == 1;
    return;
  }
  const std::vector<int64_t> pads = node.Integers(0, kMostWindow);
  if (pads.size() == 2) {
    window.pad_low = window.pad_high = {pads[0], pads[1]};
  } else if (pads.size() == 4) {
    window.pad_low = {pads[0], pads[1]};
    window.pad_high = {pads[2], pads[3]};
  } else {
    node.Complain("a list of " + std::to_string(pads.size()) + " pads",
                  "valid, same, [rows, columns] or [top, left, bottom, right]");
  }
}

void ReadWindow(const YamlNode& entry, Operator& op, ops::Wanted& wanted) {
  op.window.kernel = ReadPair(entry.At("kernel"), 1, kMostWindow);
  if (const YamlNode stride = entry.Maybe("stride"))
    op.window.stride = ReadPair(stride, 1, kMostWindow);
  if (const YamlNode dilation = entry.Maybe("dilation"))
    op.window.dilation = ReadPair(dilation, 1, kMostWindow);
  ReadPads(entry.Maybe("pads"), op.window, wanted);
}

void ReadPoolFunction(const YamlNode& entry, Operator& op) {
  const YamlNode function = entry.Maybe("function");
  op.function = kPoolFunctions[function ? function.OneOf(kPoolFunctions) : 1];
}

void ReadAxis(const YamlNode& entry, Operator& op) {
  op.axis = static_cast<int>(entry.At("axis").Integer(0, std::numeric_limits<int>::max()));
}

// One axis, or a list of axes.
void ReadAxes(const YamlNode& entry, Operator& op) {
  const YamlNode node = entry.At("axis");
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  const std::vector<int64_t> axes =
      node.IsList() ? node.Integers(0, kMost) : std::vector<int64_t>{node.Integer(0, kMost)};
  op.axes.assign(axes.begin(), axes.end());
}

void ReadTransposedConv(const YamlNode& entry, Operator& op, ops::Wanted& wanted) {
  wanted.out_channels = entry.At("out_channels").Integer(1, ops::kMostElements);
  if (const YamlNode groups = entry.Maybe("groups"))
    op.groups = groups.Integer(1, ops::kMostElements);
  if (const YamlNode padding = entry.Maybe("output_padding"))
    wanted.output_padding = ReadPair(padding, 0, kMostWindow);
  ReadWindow(entry, op, wanted);
}

void ReadPool(const YamlNode& entry, Operator& op, ops::Wanted& wanted) {
  ReadPoolFunction(entry, op);
  ReadWindow(entry, op, wanted);
  if (const YamlNode node = entry.Maybe("ceil_mode")) wanted.ceil_mode = node.Boolean();
  if (const YamlNode node = entry.Maybe("size")) wanted.size = node.Integers(1, ops::kMostElements);
}

void ReadSlice(const YamlNode& entry, Operator& op, ops::Wanted& wanted) {
  op.starts = entry.At("starts").Integers(0, ops::kMostElements);
  if (const YamlNode steps = entry.Maybe("steps"))
    op.steps = steps.Integers(-ops::kMostElements, ops::kMostElements);
  wanted.shape = ReadShape(entry.At("shape"));
}

void ReadPadding(const YamlNode& entry, Operator& op) {
  if (const YamlNode low = entry.Maybe("low")) op.padding.low = low.Integers(0, ops::kMostElements);
  if (const YamlNode high = entry.Maybe("high"))
    op.padding.high = high.Integers(0, ops::kMostElements);
  if (const YamlNode mode = entry.Maybe("mode"))
    op.padding.mode = static_cast<PadMode>(mode.OneOf(PadModeNames()));
}

// A list of indices, or a single index, which drops the axis.
void ReadGather(const YamlNode& entry, Operator& op, ops::Wanted& wanted) {
  ReadAxis(entry, op);
  const YamlNode node = entry.At("indices");
  wanted.keep_axes = node.IsList();
  op.indices = node.IsList() ? node.Integers(0, ops::kMostElements)
                             : std::vector<int64_t>{node.Integer(0, ops::kMostElements)};
}

void ReadMatmul(const YamlNode& entry, size_t operands, Operator& op, ops::Wanted& wanted) {
  if (const YamlNode transpose = entry.Maybe("transpose_first"))
    op.transpose_first = transpose.Boolean();
  if (operands == 1) {
    wanted.columns = entry.At("columns").Integer(1, ops::kMostElements);
  } else if (const YamlNode transpose = entry.Maybe("transpose_second")) {
    op.transpose_second = transpose.Boolean();
  }
}

// "3/2", or a whole number.
Ratio ReadRatio(const YamlNode& node) {
  constexpr int64_t kMostTerm = int64_t{1} << 40;
  const std::string text = node.Text();
  const auto read = [&text](size_t begin, size_t end) -> int64_t {
    int64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    return error == std::errc() && rest == text.data() + end && value <= kMostTerm ? value : 0;
  };
  const size_t bar = std::min(text.find('/'), text.size());
  const Ratio ratio{read(0, bar), bar == text.size() ? 1 : read(bar + 1, text.size())};
  if (ratio.numerator > 0 && ratio.denominator > 0) return ratio;
  node.Complain("scale '" + text + "'",
                "a positive whole number or fraction, as 3/2, of terms up to 2^40");
  return {};
}

void ReadResize(const YamlNode& entry, Operator& op, ops::Wanted& wanted) {
  Resize& resize = op.resize;
  if (const YamlNode size = entry.Maybe("size")) {
    if (size.IsList()) {
      wanted.size = size.Integers(1, ops::kMostElements);
    } else {
      wanted.size.assign(2, size.Integer(1, ops::kMostElements));
    }
  }
  if (const YamlNode scales = entry.Maybe("scales")) {
    for (const YamlNode& scale : scales.Items()) resize.scales.push_back(ReadRatio(scale));
  }
  if (!entry.Maybe("size") && !entry.Maybe("scales")) entry.At("size");
  if (const YamlNode mode = entry.Maybe("mode"))
    resize.mode = static_cast<ResizeMode>(mode.OneOf(ResizeModeNames()));
  if (const YamlNode node = entry.Maybe("coordinates"))
    resize.coordinates = static_cast<ResizeCoordinates>(node.OneOf(ResizeCoordinatesNames()));
  if (const YamlNode node = entry.Maybe("rounding"))
    resize.rounding = static_cast<NearestRounding>(node.OneOf(NearestRoundingNames()));
}

void ReadBlock(const YamlNode& entry, Operator& op) {
  op.block = entry.At("block").Integer(1, kMostWindow);
  if (const YamlNode order = entry.Maybe("order"))
    op.depth_order = static_cast<DepthOrder>(order.OneOf(DepthOrderNames()));
}

void ReadOpaque(const YamlNode& entry, size_t operands, Operator& op) {
  if (const YamlNode macs = entry.Maybe("macs")) op.macs = macs.Integer(0, base::kMaxTotal);
  if (const YamlNode accesses = entry.Maybe("accesses")) {
    for (const YamlNode& access : accesses.Items()) op.accesses.push_back(ReadAccess(access));
    if (op.accesses.size() != operands || operands == 0) {
      accesses.Complain(std::to_string(op.accesses.size()) + " accesses for " +
                            std::to_string(operands) + " inputs",
                        "one for each input, and at least one");
    }
  }
  if (const YamlNode scratch = entry.Maybe("scratch_bytes"))
    op.scratch_bytes = scratch.Integer(0, ops::kMostElements);
  if (const YamlNode engine = entry.Maybe("engine")) op.engine = engine.Text();
  if (const YamlNode in_place = entry.Maybe("in_place")) {
    const int64_t most = static_cast<int64_t>(operands) - 1;
    for (const int64_t input : in_place.Integers(0, most))
      op.in_place.push_back(static_cast<int>(input));
  }
}

}  // namespace

OperandAccess ReadAccess(const YamlNode& node) {
  OperandAccess access;
  if (node.IsScalar()) {
    static constexpr std::array<std::string_view, 2> kNames = {"full", "elementwise"};
    access.kind = static_cast<AccessKind>(node.OneOf(kNames));
    return access;
  }
  node.OnlyKeys({"kernel", "stride", "pads", "dilation", "every_channel"});
  access.kind = AccessKind::kWindow;
  Operator windowed;
  ops::Wanted wanted;
  ReadWindow(node, windowed, wanted);
  access.window = windowed.window;
  if (wanted.same_pads)
    node.At("pads").Complain("pads that nothing determines", "valid, or a list of pads");
  if (const YamlNode every = node.Maybe("every_channel")) access.every_channel = every.Boolean();
  return access;
}

Arity ArityOf(OperatorKind kind) {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  switch (kind) {
    case OperatorKind::kElementwise:
    case OperatorKind::kConcat:
      return {1, kAny};
    case OperatorKind::kMatmul:
      return {1, 2};
    case OperatorKind::kOpaque:
      return {0, kAny};
    default:
      return {1, 1};
  }
}

void ReadAttributes(const YamlNode& entry, size_t operands, Operator& op, ops::Wanted& wanted) {
  entry.OnlyKeys(KeysOf(op.kind, operands));
  if (const YamlNode activation = entry.Maybe("activation")) op.activation = activation.Text();
  switch (op.kind) {
    case OperatorKind::kConv:
      wanted.out_channels = entry.At("out_channels").Integer(1, ops::kMostElements);
      if (const YamlNode groups = entry.Maybe("groups"))
        op.groups = groups.Integer(1, ops::kMostElements);
      ReadWindow(entry, op, wanted);
      break;
    case OperatorKind::kDepthwise:
      if (const YamlNode node = entry.Maybe("multiplier"))
        wanted.multiplier = node.Integer(1, ops::kMostElements);
      ReadWindow(entry, op, wanted);
      break;
    case OperatorKind::kTransposedConv:
      ReadTransposedConv(entry, op, wanted);
      break;
    case OperatorKind::kPool:
      ReadPool(entry, op, wanted);
      break;
    case OperatorKind::kGlobalPool:
      ReadPoolFunction(entry, op);
      if (const YamlNode keep = entry.Maybe("keep_axes")) wanted.keep_axes = keep.Boolean();
      break;
    case OperatorKind::kReduce:
      ReadAxes(entry, op);
      op.function = entry.At("function").Text();
      if (const YamlNode keep = entry.Maybe("keep_axes")) wanted.keep_axes = keep.Boolean();
      break;
    case OperatorKind::kElementwise:
      op.function = entry.At("function").Text();
      break;
    case OperatorKind::kConcat:
      ReadAxis(entry, op);
      break;
    case OperatorKind::kSoftmax:
    case OperatorKind::kLayerNorm:
      ReadAxes(entry, op);
      break;
    case OperatorKind::kSlice:
      ReadSlice(entry, op, wanted);
      break;
    case OperatorKind::kPad:
      ReadPadding(entry, op);
      break;
    case OperatorKind::kGather:
      ReadGather(entry, op, wanted);
      break;
    case OperatorKind::kMatmul:
      ReadMatmul(entry, operands, op, wanted);
      break;
    case OperatorKind::kReshape:
      wanted.shape = ReadShape(entry.At("shape"));
      break;
    case OperatorKind::kResize:
      ReadResize(entry, op, wanted);
      break;
    case OperatorKind::kTranspose:
      for (const int64_t axis : entry.At("permutation").Integers(0, 63))
        op.permutation.push_back(static_cast<int>(axis));
      break;
    case OperatorKind::kDepthToSpace:
    case OperatorKind::kSpaceToDepth:
      ReadBlock(entry, op);
      break;
    case OperatorKind::kOpaque:
      ReadOpaque(entry, operands, op);
      break;
  }
}

void CheckAccesses(const YamlNode& entry, const Operator& op, const std::vector<Shape>& operands,
                   const std::vector<Tensor>& made) {
  if (op.accesses.empty()) {
    if (op.in_place.empty()) return;
    return entry.At("in_place")
        .Complain("a place to overwrite in a barrier", "accesses that allow it");
  }
  if (made.size() > 1) {
    entry.At("outputs").Complain(std::to_string(made.size()) + " outputs of a described operator",
                                 "one");
  }
  const std::vector<YamlNode> nodes = entry.At("accesses").Items();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::optional<ops::ShapeFault> fault =
        ops::CheckAccess(op.accesses[i], operands[i], made.front().shape);
    if (fault) nodes[i].Complain(fault->message, fault->expected, fault->hint);
  }
}

}  // namespace tessera::graph::import::yaml
