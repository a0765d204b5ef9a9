#include "tessera/graph/onnx/translators.h"

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
  return AsOutcome(node.Emit(std::move(part)));
}

}  // namespace

Outcome TranslateQuantize(Translation& node) {
  return Convert(node, "quantize", node.Has(2) ? node.TypeOf(2) : base::DataType::kUint8);
}

Outcome TranslateDequantize(Translation& node) {
  return Convert(node, "dequantize", node.Has(1) ? node.TypeOf(1) : base::DataType::kFloat32);
}

}  // namespace tessera::graph::onnx
