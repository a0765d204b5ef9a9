#include "tessera/graph/onnx/translators.h"
#include "tessera/graph/onnx/types.h"

// Conversions between real numbers and their quantised form. Each becomes an elementwise operator here; the pass on data types
// then takes out the pairs, and those that a neighbour can do on the way (data_types.cc).
namespace tessera::graph::onnx {
namespace {

Outcome Convert(Translation& node, std::string function, base::DataType type) {
  Part part;
  part.op.kind = base::OperatorKind::kElementwise;
  part.op.function = std::move(function);
  part.type = type;
  part.inputs = {node.Feature(0)};
  const MadeTensor made = node.Emit(std::move(part));
  if (made)
    node.Target().roundings[node.Target().graph.operators.back().id] = {node.Reals(1), node.Integers(2)};
  return AsOutcome(made);
}

}  // namespace

Outcome TranslateQuantize(Translation& node) {
  constexpr int64_t kUnsignedByte = 2;
  const std::optional<base::DataType> stated = TypeFromOnnx(node.Source().Int("output_dtype", kUnsignedByte));
  if (!node.Has(2) && !stated) return Barrier("it gives a data type that has no name here");
  return Convert(node, "quantize", node.Has(2) ? node.TypeOf(2) : *stated);
}

Outcome TranslateDequantize(Translation& node) {
  return Convert(node, "dequantize", node.Has(1) ? node.TypeOf(1) : base::DataType::kFloat32);
}

}  // namespace tessera::graph::onnx
