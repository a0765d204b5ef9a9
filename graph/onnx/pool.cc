#include <numeric>

#include "tessera/graph/onnx/translators.h"
#include "tessera/graph/onnx/window.h"

// Pools over windows, and over whole maps.
namespace tessera::graph::onnx {
namespace {

std::string PoolFunctionOf(const Node& node) {
  if (node.type.find("Max") != std::string::npos) return "max";
  return node.type.find("Lp") != std::string::npos ? "lp" : "average";
}

// QLinearAveragePool and QLinearGlobalAveragePool: the type of the result is that of its zero point.
std::optional<base::DataType> ResultType(const Translation& node) {
  constexpr size_t kZeroPoint = 4;
  if (!node.Source().type.starts_with("QLinear") || !node.Has(kZeroPoint)) return std::nullopt;
  return node.TypeOf(kZeroPoint);
}

// The number of windows that a pool with ceil_mode has. Whether windows that begin in the padding behind the input count has changed
// with the versions of ONNX and of what runs it; where the file declares an output that either reading gives, that one is meant.
std::vector<int64_t> DeclaredWindows(const Translation& node, const Part& part, const Shape& map) {
  const std::optional<Shape> declared = node.DeclaredShape(0);
  if (!part.wanted.ceil_mode || !declared || declared->size() != node.ShapeOf(0).size()) return {};
  const std::optional<Shape> output = AsFeatureMap(*declared);
  if (!output) return {};
  Operator probe = part.op;
  Wanted stated;
  stated.size = {(*output)[2], (*output)[3]};
  return InferShape(probe, stated, {map}) ? stated.size : std::vector<int64_t>{};
}

}  // namespace

Outcome TranslatePool(Translation& node) {
  if (!node.IsFeature(0)) return Barrier("its input is a constant");
  if (node.Source().HasOutput(1)) return Barrier("it also says where each maximum was found");
  const Shape& shape = node.ShapeOf(0);
  const std::optional<Shape> map = AsFeatureMap(shape);
  if (!map) return NoFeatureMap(shape);
  const tl::expected<Window, Obstacle> window =
      ReadWindow(node.Source(), shape, node.Source().Ints("kernel_shape"));
  if (!window) return tl::unexpected(window.error());
  Part part;
  part.op.kind = base::OperatorKind::kPool;
  part.op.function = PoolFunctionOf(node.Source());
  part.op.window = *window;
  part.wanted.ceil_mode = RoundsUp(node.Source());
  part.wanted.size = DeclaredWindows(node, part, *map);
  part.type = ResultType(node);
  const bool lifted = *map != shape;
  const MadeTensor input = node.Reshape(node.Feature(0), *map, "/map");
  if (!input) return tl::unexpected(input.error());
  part.inputs = {*input};
  const MadeTensor made = node.Emit(std::move(part), "", lifted ? "/map_out" : "");
  if (!made) return tl::unexpected(made.error());
  if (!lifted) return {};
  const Shape& output = node.ShapeOfTensor(*made);
  return AsOutcome(node.Reshape(*made, {output[0], output[1], output[3]}, ""));
}

Outcome TranslateGlobalPool(Translation& node) {
  if (!node.IsFeature(0)) return Barrier("its input is a constant");
  if (node.Source().Flag("channels_last")) return Barrier("its channels come last");
  const size_t rank = node.ShapeOf(0).size();
  if (rank < 3) {
    return Fault("an input of shape " + ToText(node.ShapeOf(0)),
                 "batch, channels and at least one more axis");
  }
  Part part;
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
  return AsOutcome(node.Emit(std::move(part)));
}

}  // namespace tessera::graph::onnx
