// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/import/onnx/node_import.h"

// Nodes that become opaque operators: barriers, and operators that the user describes.
namespace tessera::graph::import::onnx {
namespace {

bool IsRecurrent(const common::Node& node) {
  return node.type == "LSTM" || node.type == "GRU" || node.type == "RNN";
}

bool HasGraphInside(const common::Node& node) {
  return node.type == "If" || node.type == "Loop" || node.type == "Scan";
}

bool DependsOnData(const common::Node& node) {
  static const std::vector<std::string> types = {
      "NonMaxSuppression", "NonZero",        "Unique",    "Compress",        "GatherND",
      "RoiAlign",          "GatherElements", "ScatterND", "ScatterElements", "Scatter",
      "GridSample",        "OneHot",         "MaxUnpool", "MaxRoiPool"};
  return std::find(types.begin(), types.end(), node.type) != types.end();
}

}  // namespace

std::string ReasonOfUnknown(const common::Node& node) {
  if (!node.domain.empty()) return "an operator of domain '" + node.domain + "'";
  if (IsRecurrent(node)) return "a recurrent operator: each step needs the one before";
  if (HasGraphInside(node)) return "it runs graphs of its own";
  if (DependsOnData(node)) return "which elements it reads depends on data";
  if (MakesRandomNumbers(node)) return "it makes random numbers";
  return "an operator that import does not know";
}

std::string KindOf(const common::Node& node) {
  return node.domain.empty() ? node.type : node.domain + ":" + node.type;
}

// An operator with unknown internals over all of the node's operands.
Operator NodeImport::Opaque(const common::Node& node) {
  Operator op;
  op.id = common::Report::NameOf(node);
  op.kind = base::OperatorKind::kOpaque;
  op.annotations = node.annotations;
  op.annotations.emplace("x-op_type", KindOf(node));
  const auto add = [&](const std::string& name) {
    if (name.empty()) return;
    if (!draft_.IsConstant(name)) {
      op.inputs.push_back(draft_.TensorOf(name));
    } else if (ops::IsCountable(draft_.ShapeOf(name)) && ElementsOf(draft_.ShapeOf(name)) > 1) {
      op.weights.push_back(draft_.WeightOf(name));
    }
  };
  for (const std::string& name : node.inputs) add(name);
  for (const std::string& name : node.captured) {
    if (std::find(node.inputs.begin(), node.inputs.end(), name) == node.inputs.end()) add(name);
  }
  return op;
}

base::Expected<void> NodeImport::Fence(const common::Node& node, const std::string& reason,
                                       const std::vector<common::ValueType>& known) {
  std::vector<common::ValueType> types = TypesOfOutputs(node);
  for (size_t i = 0; i < std::min(types.size(), known.size()); ++i) {
    if (!types[i].shape) types[i].shape = known[i].shape;
    if (!types[i].type) types[i].type = known[i].type;
  }
  Operator op = Opaque(node);
  op.annotations.emplace("x-barrier", reason);
  const auto is_known = [&types](size_t i) {
    return types[i].shape && ops::IsCountable(*types[i].shape);
  };
  // Others that no node reads are left out.
  bool any_known = false;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    any_known = any_known || (node.HasOutput(i) && is_known(i));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.HasOutput(i) || is_known(i)) continue;
    if (read_.count(node.outputs[i]) > 0 || !any_known) {
      return base::Unexpected(common::FaultAt(
          file_name_, node,
          "the shape of its output '" + node.outputs[i] + "' is not known (" + reason + ")",
          "a shape in the file's value_info",
          "or describe operator " + KindOf(node) + " under 'ops'"));
    }
  }
  const auto macs = CountMacs(draft_, node, types);
  if (!macs)
    return base::Unexpected(
        common::FaultAt(file_name_, node, macs.error().reason, macs.error().expected));
  op.macs = *macs;
  const base::DataType otherwise =
      op.inputs.empty() ? base::DataType::kFloat32 : draft_.TensorAt(op.inputs.front()).type;
  std::vector<int> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.HasOutput(i) || !is_known(i)) continue;
    outputs.push_back(
        draft_.AddFeature(node.outputs[i], *types[i].shape, types[i].type.value_or(otherwise)));
    draft_.BindFeature(node.outputs[i], outputs.back());
  }
  draft_.AddOperator(std::move(op), std::move(outputs));
  draft_.report.Add(common::Report::Event::kFenced, node, KindOf(node) + ": " + reason);
  return CheckShapes(node);
}

base::Expected<void> NodeImport::Describe(const common::Node& node,
                                          const common::Description& description) {
  const auto fault = [&](std::string message, std::string expected) {
    return base::Unexpected(common::FaultAt(file_name_, node,
                                            "its description does not fit: " + std::move(message),
                                            std::move(expected)));
  };
  if (node.outputs.size() != 1)
    return fault(std::to_string(node.outputs.size()) + " outputs", "one output");
  Operator op = Opaque(node);
  if (op.inputs.empty()) return fault("no operand but constants", "at least one");
  const std::vector<common::ValueType> types = TypesOfOutputs(node);
  std::optional<Shape> shape = description.shape ? description.shape : types[0].shape;
  if (description.shape_of) {
    const auto operand = static_cast<size_t>(*description.shape_of);
    if (operand >= op.inputs.size())
      return fault("no operand " + std::to_string(operand),
                   "0 to " + std::to_string(op.inputs.size() - 1));
    shape = draft_.TensorAt(op.inputs[operand]).shape;
  }
  if (!shape || !ops::IsCountable(*shape))
    return fault("nothing says its shape", "'shape' or 'shape_of'");
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const OperandAccess& access =
        description.accesses[std::min(i, description.accesses.size() - 1)];
    const auto mismatch = ops::CheckAccess(access, draft_.TensorAt(op.inputs[i]).shape, *shape);
    if (mismatch) return fault(mismatch->message, mismatch->expected);
    op.accesses.push_back(access);
  }
  if (description.macs_per_output) {
    op.macs = base::CheckedMul(*description.macs_per_output, ElementsOf(*shape));
    if (!op.macs) return fault("more than 2^62 multiply-accumulates", "fewer");
  }
  op.scratch_bytes = description.scratch_bytes;
  op.engine = description.engine;
  op.in_place = description.in_place;
  const base::DataType type = types[0].type.value_or(draft_.TensorAt(op.inputs.front()).type);
  const int made = draft_.AddFeature(node.outputs[0], *shape, type);
  draft_.BindFeature(node.outputs[0], made);
  draft_.AddOperator(std::move(op), {made});
  draft_.report.Add(common::Report::Event::kAssumed, node,
                    KindOf(node) + " is as described under 'ops'");
  return {};
}

}  // namespace tessera::graph::import::onnx
