#include <array>

#include "tessera/base/checked.h"
#include "tessera/graph/onnx/translators.h"
#include "tessera/graph/onnx/window.h"

// Convolutions. One with a row less, as sound has it, gets one row and gives it back. Biases are no tensors: the profile adds their
// bytes by the channel.
namespace tessera::graph::onnx {
namespace {

// Where each sort of convolution has its operands.
struct Places {
  size_t weight = 1;
  std::optional<size_t> result_type;  // the operand whose type the result has
  std::optional<base::DataType> type;
};

Places PlacesOf(const Node& node) {
  if (node.type == "QLinearConv") return {.weight = 3, .result_type = 7, .type = std::nullopt};
  if (node.type == "ConvInteger")
    return {.weight = 1, .result_type = std::nullopt, .type = base::DataType::kInt32};
  return {};
}

// What all convolutions state alike.
struct Convolution {
  Shape input;   // rank 4
  Shape weight;  // in the file
  std::vector<int64_t> kernel;
  int64_t groups = 1;
  Window window;
};

tl::expected<Convolution, Obstacle> ReadConvolution(const Translation& node, size_t weight) {
  if (!node.IsFeature(0)) return Barrier("its input is a constant");
  if (!node.IsConstant(weight)) return Barrier("its weights are computed while the network runs");
  const std::optional<Shape> input = AsFeatureMap(node.ShapeOf(0));
  if (!input) return NoFeatureMap(node.ShapeOf(0));
  Convolution conv;
  conv.input = *input;
  conv.weight = node.ShapeOf(weight);
  if (conv.weight.size() != node.ShapeOf(0).size() || !IsCountable(conv.weight)) {
    return Fault(
        "weights of shape " + ToText(conv.weight) + " for an input of shape " + ToText(node.ShapeOf(0)),
        "as many axes, and extents from 1 on");
  }
  conv.kernel.assign(conv.weight.begin() + 2, conv.weight.end());
  const std::vector<int64_t> stated = node.Source().Ints("kernel_shape");
  if (!stated.empty() && stated != conv.kernel) {
    return Fault(
        "'kernel_shape' is " + ToText(stated) + ", and the weights have shape " + ToText(conv.weight),
        "the extents of the weights");
  }
  conv.groups = node.Source().Int("group", 1);
  if (conv.groups < 1) return Fault("'group' is " + std::to_string(conv.groups), "at least 1");
  const tl::expected<Window, Obstacle> window = ReadWindow(node.Source(), node.ShapeOf(0), conv.kernel);
  if (!window) return tl::unexpected(window.error());
  conv.window = *window;
  return conv;
}

// Emits the convolution between the reshapes that rank 3 needs.
Outcome EmitOnMap(Translation& node, Part part, const Shape& input) {
  const bool lifted = input != node.ShapeOf(0);
  const MadeTensor map = node.Reshape(node.Feature(0), input, "/map");
  if (!map) return tl::unexpected(map.error());
  part.inputs = {*map};
  const MadeTensor made = node.Emit(std::move(part), "", lifted ? "/map_out" : "");
  if (!made) return tl::unexpected(made.error());
  if (!lifted) return {};
  const Shape& output = node.ShapeOfTensor(*made);
  return AsOutcome(node.Reshape(*made, {output[0], output[1], output[3]}, ""));
}

struct Total {
  int64_t pads = 0;    // both ends; below 0 the output is longer than the windows reach
  bool upper = false;  // the odd pad at the far end
};

// A transposed convolution that states what its output shall be leaves its pads to follow.
void FollowOutput(Window& window, std::array<int64_t, 2>& output_padding, size_t axis, Total total) {
  const int64_t pads = std::max<int64_t>(total.pads, 0);
  window.pad_low[axis] = total.upper ? pads / 2 : pads - pads / 2;
  window.pad_high[axis] = pads - window.pad_low[axis];
  output_padding[axis] += std::max<int64_t>(-total.pads, 0);
}

}  // namespace

Outcome TranslateConv(Translation& node) {
  const Places places = PlacesOf(node.Source());
  if (node.Source().type == "FusedConv" && node.Has(3)) return Barrier("it adds a further operand");
  const tl::expected<Convolution, Obstacle> conv = ReadConvolution(node, places.weight);
  if (!conv) return tl::unexpected(conv.error());
  const int64_t channels = conv->input[1];
  const int64_t out_channels = conv->weight[0];
  if (channels != conv->weight[1] * conv->groups) {
    return Fault("an input of " + std::to_string(channels) + " channels and weights of shape " +
                     ToText(conv->weight) + " in " + std::to_string(conv->groups) + " groups",
                 std::to_string(conv->weight[1] * conv->groups) + " input channels");
  }
  Part part;
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
  if (places.result_type && node.Has(*places.result_type)) part.type = node.TypeOf(*places.result_type);
  part.op.activation = SnakeCase(node.Source().Text("activation"));  // FusedConv
  return EmitOnMap(node, std::move(part), conv->input);
}

Outcome TranslateTransposedConv(Translation& node) {
  const tl::expected<Convolution, Obstacle> conv = ReadConvolution(node, 1);
  if (!conv) return tl::unexpected(conv.error());
  const Node& source = node.Source();
  const size_t axes = conv->kernel.size();
  if (conv->input[1] != conv->weight[0]) {
    return Fault("an input of " + std::to_string(conv->input[1]) + " channels and weights of shape " +
                     ToText(conv->weight),
                 std::to_string(conv->weight[0]) + " input channels");
  }
  const auto padding = ReadSpatial(source, "output_padding", axes, 0, 0);
  if (!padding) return tl::unexpected(padding.error());
  std::array<int64_t, 2> output_padding = *padding;
  Window window = conv->window;
  std::vector<int64_t> wanted = source.Ints("output_shape");
  if (wanted.size() == axes + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != axes) {
    return Fault("'output_shape' has " + std::to_string(wanted.size()) + " entries",
                 std::to_string(axes) + ": one for each spatial axis");
  }
  const std::string automatic = source.Text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  for (size_t i = 0; i < axes && (same || !wanted.empty()); ++i) {
    const size_t axis = i + 2 - axes;
    const int64_t extent = conv->input[axis + 2];
    const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    const int64_t goal = wanted.empty() ? extent * window.stride[axis] : wanted[i];
    if (goal < 1) return Fault("'output_shape' holds " + std::to_string(goal), "at least 1");
    const int64_t reached = (extent - 1) * window.stride[axis] + output_padding[axis] + reach;
    FollowOutput(window, output_padding, axis, {reached - goal, automatic == "SAME_UPPER"});
  }
  const int64_t out_channels = conv->weight[1] * conv->groups;
  Part part;
  part.op.kind = base::OperatorKind::kTransposedConv;
  part.op.window = window;
  part.op.groups = conv->groups;
  part.wanted.out_channels = out_channels;
  part.wanted.output_padding = output_padding;
  part.op.weights = {
      node.Weight(1, {out_channels, conv->input[1] / conv->groups, window.kernel[0], window.kernel[1]})};
  return EmitOnMap(node, std::move(part), conv->input);
}

}  // namespace tessera::graph::onnx
