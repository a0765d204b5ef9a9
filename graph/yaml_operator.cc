#include "tessera/graph/yaml_operator.h"

#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/graph/shape_inference.h"
#include "tessera/graph/yaml_tensor.h"

namespace tessera::graph {
namespace {

using base::OperatorKind;
using base::YamlNode;

constexpr int64_t kMostWindow = 65536;  // taps, steps and pads beyond this are a slip of the pen

constexpr std::array<std::string_view, 2> kPoolFunctions = {"max", "average"};
constexpr std::array<std::string_view, 2> kResizeModes = {"nearest", "bilinear"};

std::vector<std::string_view> KeysOf(OperatorKind kind, size_t operands) {
  std::vector<std::string_view> keys = {"id", "kind", "inputs"};
  const auto add = [&keys](std::initializer_list<std::string_view> more) { keys.insert(keys.end(), more); };
  if (kind == OperatorKind::kOpaque) {
    add({"outputs", "macs", "weights"});
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
    case OperatorKind::kPool:
      add({"function", "kernel", "stride", "pads", "dilation"});
      break;
    case OperatorKind::kGlobalPool:
      add({"function", "keep_axes"});
      break;
    case OperatorKind::kElementwise:
      add({"function"});
      break;
    case OperatorKind::kConcat:
    case OperatorKind::kSoftmax:
    case OperatorKind::kLayerNorm:
      add({"axis"});
      break;
    case OperatorKind::kMatmul:
      if (operands == 1) add({"columns", "weights_dtype"});
      if (operands == 2) add({"transpose_second"});
      break;
    case OperatorKind::kResize:
      add({"mode", "size"});
      break;
    case OperatorKind::kTranspose:
      add({"permutation"});
      break;
    case OperatorKind::kReshape:
    case OperatorKind::kOpaque:
      break;
  }
  return keys;
}

// One number for rows and columns alike, or one for each.
std::array<int64_t, 2> ReadPair(const YamlNode& node, int64_t least, int64_t most) {
  if (!node.IsList()) {
    const int64_t both = node.Integer(least, most);
    return {both, both};
  }
  const std::vector<int64_t> values = node.Integers(least, most);
  if (values.size() == 2) return {values[0], values[1]};
  node.Complain("a list of " + std::to_string(values.size()) + " numbers", "one number, or [rows, columns]");
  return {least, least};
}

void ReadPads(const YamlNode& node, Window& window, Wanted& wanted) {
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

void ReadWindow(const YamlNode& entry, Operator& op, Wanted& wanted) {
  op.window.kernel = ReadPair(entry.At("kernel"), 1, kMostWindow);
  if (const YamlNode stride = entry.Maybe("stride")) op.window.stride = ReadPair(stride, 1, kMostWindow);
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

void ReadMatmul(const YamlNode& entry, size_t operands, Operator& op, Wanted& wanted) {
  if (operands == 1) {
    wanted.columns = entry.At("columns").Integer(1, kMostElements);
  } else if (const YamlNode transpose = entry.Maybe("transpose_second")) {
    op.transpose_second = transpose.Boolean();
  }
}

void ReadResize(const YamlNode& entry, Operator& op, Wanted& wanted) {
  wanted.size = ReadPair(entry.At("size"), 1, kMostElements);
  if (const YamlNode mode = entry.Maybe("mode"))
    op.resize_mode = static_cast<ResizeMode>(mode.OneOf(kResizeModes));
}

}  // namespace

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

void ReadAttributes(const YamlNode& entry, size_t operands, Operator& op, Wanted& wanted) {
  entry.OnlyKeys(KeysOf(op.kind, operands));
  if (const YamlNode activation = entry.Maybe("activation")) op.activation = activation.Text();
  switch (op.kind) {
    case OperatorKind::kConv:
      wanted.out_channels = entry.At("out_channels").Integer(1, kMostElements);
      if (const YamlNode groups = entry.Maybe("groups")) op.groups = groups.Integer(1, kMostElements);
      ReadWindow(entry, op, wanted);
      break;
    case OperatorKind::kDepthwise:
      if (const YamlNode node = entry.Maybe("multiplier")) wanted.multiplier = node.Integer(1, kMostElements);
      ReadWindow(entry, op, wanted);
      break;
    case OperatorKind::kPool:
      ReadPoolFunction(entry, op);
      ReadWindow(entry, op, wanted);
      break;
    case OperatorKind::kGlobalPool:
      ReadPoolFunction(entry, op);
      if (const YamlNode keep = entry.Maybe("keep_axes")) wanted.keep_axes = keep.Boolean();
      break;
    case OperatorKind::kElementwise:
      op.function = entry.At("function").Text();
      break;
    case OperatorKind::kConcat:
    case OperatorKind::kSoftmax:
    case OperatorKind::kLayerNorm:
      ReadAxis(entry, op);
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
    case OperatorKind::kOpaque:
      if (const YamlNode macs = entry.Maybe("macs")) op.macs = macs.Integer(0, base::kMaxTotal);
      break;
  }
}

}  // namespace tessera::graph
