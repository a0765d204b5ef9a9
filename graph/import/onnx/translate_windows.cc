// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/import/onnx/read_window.h"
#include "tessera/graph/import/onnx/translations.h"

// Operators whose windows slide over rows and columns: convolutions, their transposes, and pools.
namespace tessera::graph::import::onnx {
namespace {

// Convolutions. A convolution with one spatial axis, as for audio, gets one row, and its result
// drops the row. Biases are not tensors: the profile adds their bytes by channel.

// The positions of the operands for each sort of convolution.
struct Places {
  size_t weight = 1;
  std::optional<size_t> bias = 2;
  std::optional<size_t> result_type;  // the operand with the type of the result
  std::optional<base::DataType> type;
};

Places PlacesOf(const common::Node& node) {
  if (node.type == "QLinearConv")
    return {.weight = 3, .bias = 8, .result_type = 7, .type = std::nullopt};
  if (node.type == "ConvInteger") return {1, std::nullopt, std::nullopt, base::DataType::kInt32};
  return {};
}

// The common attributes of all convolutions.
struct Convolution {
  Shape input;   // rank 4
  Shape weight;  // in the file
  std::vector<int64_t> kernel;
  int64_t groups = 1;
  Window window;
};

tl::expected<Convolution, common::Obstacle> ReadConvolution(const common::Translation& node,
                                                            size_t weight) {
  if (!node.IsFeature(0)) return common::Barrier("its input is a constant");
  if (!node.IsConstant(weight))
    return common::Barrier("its weights are computed while the network runs");
  const std::optional<Shape> input = AsFeatureMap(node.ShapeOf(0));
  if (!input) return NoFeatureMap(node.ShapeOf(0));
  Convolution conv;
  conv.input = *input;
  conv.weight = node.ShapeOf(weight);
  if (conv.weight.size() != node.ShapeOf(0).size() || !ops::IsCountable(conv.weight)) {
    return common::Fault("weights of shape " + ops::ToText(conv.weight) +
                             " for an input of shape " + ops::ToText(node.ShapeOf(0)),
                         "as many axes, and extents from 1 on");
  }
  conv.kernel.assign(conv.weight.begin() + 2, conv.weight.end());
  const std::vector<int64_t> stated = node.Source().Ints("kernel_shape");
  if (!stated.empty() && stated != conv.kernel) {
    return common::Fault("'kernel_shape' is " + ops::ToText(stated) +
                             ", and the weights have shape " + ops::ToText(conv.weight),
                         "the extents of the weights");
  }
  conv.groups = node.Source().Int("group", 1);
  if (conv.groups < 1)
    return common::Fault("'group' is " + std::to_string(conv.groups), "at least 1");
  const tl::expected<Window, common::Obstacle> window =
      ReadWindow(node.Source(), node.ShapeOf(0), conv.kernel);
  if (!window) return tl::unexpected(window.error());
  conv.window = *window;
  return conv;
}

// Emits the convolution between the reshapes that rank 3 needs.
common::Outcome EmitOnMap(common::Translation& node, common::Part part, const Shape& input) {
  const bool lifted = input != node.ShapeOf(0);
  const common::MadeTensor map = node.Reshape(node.Feature(0), input, "/map");
  if (!map) return tl::unexpected(map.error());
  part.inputs = {*map};
  const common::MadeTensor made = node.Emit(std::move(part), "", lifted ? "/map_out" : "");
  if (!made) return tl::unexpected(made.error());
  if (!lifted) return {};
  const Shape& output = node.ShapeOfTensor(*made);
  return common::AsOutcome(node.Reshape(*made, {output[0], output[1], output[3]}, ""));
}

struct Total {
  int64_t pads = 0;    // both ends; below 0 the output is longer than the windows reach
  bool upper = false;  // the odd pad is at the far end
};

// For a transposed convolution that states its output shape, the pads follow from it.
void FollowOutput(Window& window, std::array<int64_t, 2>& output_padding, size_t axis,
                  Total total) {
  const int64_t pads = std::max<int64_t>(total.pads, 0);
  window.pad_low[axis] = total.upper ? pads / 2 : pads - pads / 2;
  window.pad_high[axis] = pads - window.pad_low[axis];
  output_padding[axis] += std::max<int64_t>(-total.pads, 0);
}

common::Outcome TranslateConv(common::Translation& node) {
  const Places places = PlacesOf(node.Source());
  if (node.Source().type == "FusedConv" && node.Has(3))
    return common::Barrier("it adds a further operand");
  const tl::expected<Convolution, common::Obstacle> conv = ReadConvolution(node, places.weight);
  if (!conv) return tl::unexpected(conv.error());
  const int64_t channels = conv->input[1];
  const int64_t out_channels = conv->weight[0];
  if (channels != conv->weight[1] * conv->groups) {
    return common::Fault("an input of " + std::to_string(channels) +
                             " channels and weights of shape " + ops::ToText(conv->weight) +
                             " in " + std::to_string(conv->groups) + " groups",
                         std::to_string(conv->weight[1] * conv->groups) + " input channels");
  }
  if (places.bias) {
    if (auto bias = ExpectShape(node, *places.bias, {out_channels}); !bias) return bias;
  }
  common::Part part;
  part.op.kind = base::OperatorKind::kConv;
  part.op.window = conv->window;
  part.op.groups = conv->groups;
  part.wanted.out_channels = out_channels;
  if (conv->groups > 1 && conv->groups == channels && out_channels % channels == 0) {
    part.op.kind = base::OperatorKind::kDepthwise;
    part.op.groups = 1;
    part.wanted.multiplier = out_channels / channels;
  }
  const auto [rows, columns] = conv->window.kernel;
  part.op.weights = {node.Weight(places.weight, {out_channels, conv->weight[1], rows, columns})};
  part.type = places.type;
  if (places.result_type && node.Has(*places.result_type))
    part.type = node.TypeOf(*places.result_type);
  part.op.activation = common::SnakeCase(node.Source().Text("activation"));  // FusedConv
  return EmitOnMap(node, std::move(part), conv->input);
}

common::Outcome TranslateTransposedConv(common::Translation& node) {
  const tl::expected<Convolution, common::Obstacle> conv = ReadConvolution(node, 1);
  if (!conv) return tl::unexpected(conv.error());
  const common::Node& source = node.Source();
  const size_t axes = conv->kernel.size();
  if (conv->input[1] != conv->weight[0]) {
    return common::Fault("an input of " + std::to_string(conv->input[1]) +
                             " channels and weights of shape " + ops::ToText(conv->weight),
                         std::to_string(conv->weight[0]) + " input channels");
  }
  if (auto bias = ExpectShape(node, 2, {conv->weight[1] * conv->groups}); !bias) return bias;
  const auto padding = ReadSpatial(source, "output_padding", axes, 0, 0);
  if (!padding) return tl::unexpected(padding.error());
  std::array<int64_t, 2> output_padding = *padding;
  Window window = conv->window;
  std::vector<int64_t> wanted = source.Ints("output_shape");
  if (wanted.size() == axes + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != axes) {
    return common::Fault("'output_shape' has " + std::to_string(wanted.size()) + " entries",
                         std::to_string(axes) + ": one for each spatial axis");
  }
  const std::string automatic = source.Text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  for (size_t i = 0; i < axes && (same || !wanted.empty()); ++i) {
    const size_t axis = i + 2 - axes;
    const int64_t extent = conv->input[axis + 2];
    const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    const int64_t goal = wanted.empty() ? extent * window.stride[axis] : wanted[i];
    if (goal < 1)
      return common::Fault("'output_shape' holds " + std::to_string(goal), "at least 1");
    const int64_t reached = (extent - 1) * window.stride[axis] + output_padding[axis] + reach;
    FollowOutput(window, output_padding, axis, {reached - goal, automatic == "SAME_UPPER"});
  }
  for (size_t axis = 0; axis < padding->size(); ++axis) {
    const int64_t most = std::max(window.stride[axis], window.dilation[axis]);
    if ((*padding)[axis] < most) continue;
    return common::Fault("'output_padding' holds " + std::to_string((*padding)[axis]),
                         "less than the stride or the dilation, which are " +
                             std::to_string(window.stride[axis]) + " and " +
                             std::to_string(window.dilation[axis]));
  }
  const int64_t out_channels = conv->weight[1] * conv->groups;
  common::Part part;
  part.op.kind = base::OperatorKind::kTransposedConv;
  part.op.window = window;
  part.op.groups = conv->groups;
  part.wanted.out_channels = out_channels;
  part.wanted.output_padding = output_padding;
  part.op.weights = {node.Weight(
      1, {out_channels, conv->input[1] / conv->groups, window.kernel[0], window.kernel[1]})};
  return EmitOnMap(node, std::move(part), conv->input);
}

// Pools over windows, and over whole maps.

std::string PoolFunctionOf(const common::Node& node) {
  if (node.type.find("Max") != std::string::npos) return "max";
  return node.type.find("Lp") != std::string::npos ? "lp" : "average";
}

common::Outcome ExpectNorm(const common::Node& node) {
  constexpr int64_t kDefault = 2;
  const int64_t norm = node.Int("p", kDefault);
  if (PoolFunctionOf(node) != "lp" || norm >= 1) return {};
  return common::Fault("'p' is " + std::to_string(norm), "at least 1");
}

// A window of a pool that lies in the padding alone has no result.
common::Outcome ExpectPoolWindow(const Window& window) {
  for (size_t axis = 0; axis < window.kernel.size(); ++axis) {
    const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    const int64_t pad = std::max(window.pad_low[axis], window.pad_high[axis]);
    if (pad < reach) continue;
    return common::Fault(
        "'pads' holds " + std::to_string(pad) + " for a window over " + std::to_string(reach),
        "less than the window");
  }
  return {};
}

// QLinearAveragePool and QLinearGlobalAveragePool: the type of the result is that of its zero
// point.
std::optional<base::DataType> ResultType(const common::Translation& node) {
  constexpr size_t kZeroPoint = 4;
  if (!node.Source().type.starts_with("QLinear") || !node.Has(kZeroPoint)) return std::nullopt;
  return node.TypeOf(kZeroPoint);
}

// The number of windows of a pool with ceil_mode. Versions of ONNX and runtimes differ on whether
// windows that begin in the padding after the input count. If the file declares an output that
// follows from one of the two readings, that reading is used.
std::vector<int64_t> DeclaredWindows(const common::Translation& node, const common::Part& part,
                                     const Shape& map) {
  const std::optional<Shape> declared = node.DeclaredShape(0);
  if (!part.wanted.ceil_mode || !declared || declared->size() != node.ShapeOf(0).size()) return {};
  const std::optional<Shape> output = AsFeatureMap(*declared);
  if (!output) return {};
  Operator probe = part.op;
  ops::Wanted stated;
  stated.size = {(*output)[2], (*output)[3]};
  return ops::InferShape(probe, stated, {map}) ? stated.size : std::vector<int64_t>{};
}

common::Outcome TranslatePool(common::Translation& node) {
  if (!node.IsFeature(0)) return common::Barrier("its input is a constant");
  if (node.Source().HasOutput(1))
    return common::Barrier("it also says where each maximum was found");
  const Shape& shape = node.ShapeOf(0);
  const std::optional<Shape> map = AsFeatureMap(shape);
  if (!map) return NoFeatureMap(shape);
  const tl::expected<Window, common::Obstacle> window =
      ReadWindow(node.Source(), shape, node.Source().Ints("kernel_shape"));
  if (!window) return tl::unexpected(window.error());
  if (auto fits = ExpectPoolWindow(*window); !fits) return fits;
  if (auto norm = ExpectNorm(node.Source()); !norm) return norm;
  common::Part part;
  part.op.kind = base::OperatorKind::kPool;
  part.op.function = PoolFunctionOf(node.Source());
  part.op.window = *window;
  part.wanted.ceil_mode = RoundsUp(node.Source());
  part.wanted.size = DeclaredWindows(node, part, *map);
  part.type = ResultType(node);
  const bool lifted = *map != shape;
  const common::MadeTensor input = node.Reshape(node.Feature(0), *map, "/map");
  if (!input) return tl::unexpected(input.error());
  part.inputs = {*input};
  const common::MadeTensor made = node.Emit(std::move(part), "", lifted ? "/map_out" : "");
  if (!made) return tl::unexpected(made.error());
  if (!lifted) return {};
  const Shape& output = node.ShapeOfTensor(*made);
  return common::AsOutcome(node.Reshape(*made, {output[0], output[1], output[3]}, ""));
}

common::Outcome TranslateGlobalPool(common::Translation& node) {
  if (!node.IsFeature(0)) return common::Barrier("its input is a constant");
  if (node.Source().Flag("channels_last")) return common::Barrier("its channels come last");
  const size_t rank = node.ShapeOf(0).size();
  if (rank < 3) {
    return common::Fault("an input of shape " + ops::ToText(node.ShapeOf(0)),
                         "batch, channels and at least one more axis");
  }
  if (auto norm = ExpectNorm(node.Source()); !norm) return norm;
  common::Part part;
  const std::string function = PoolFunctionOf(node.Source());
  if (rank == 4 && function != "lp") {
    part.op.kind = base::OperatorKind::kGlobalPool;
    part.op.function = function;
  } else {
    part.op.kind = base::OperatorKind::kReduce;
    part.op.function = function == "average" ? "mean" : function;
    part.op.axes.resize(rank - 2);
    std::iota(part.op.axes.begin(), part.op.axes.end(), 2);
  }
  part.type = ResultType(node);
  part.inputs = {node.Feature(0)};
  return common::AsOutcome(node.Emit(std::move(part)));
}

}  // namespace

bool RoundsUp(const common::Node& node) {
  return node.type.ends_with("Pool") && node.Defines("ceil_mode") && node.Flag("ceil_mode");
}

TranslationTable TranslationsOfWindows() {
  return {
      {{TranslateConv, 2}, {"Conv", "ConvInteger", "com.microsoft:FusedConv"}},
      {{TranslateConv, 8}, {"QLinearConv"}},
      {{TranslateTransposedConv, 2}, {"ConvTranspose"}},
      {{TranslatePool}, {"MaxPool", "AveragePool", "LpPool", "com.microsoft:QLinearAveragePool"}},
      {{TranslateGlobalPool},
       {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool",
        "com.microsoft:QLinearGlobalAveragePool"}}};
}

}  // namespace tessera::graph::import::onnx
