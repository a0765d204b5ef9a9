#include "tessera/graph/onnx/node_import.h"

#include <algorithm>

#include "tessera/base/checked.h"
#include "tessera/graph/onnx/fold/fold.h"
#include "tessera/graph/onnx/structure.h"
#include "tessera/graph/onnx/translators.h"

namespace tessera::graph::onnx {
namespace {

// Random numbers are made anew in each run, though nothing is read for them.
bool MakesRandomNumbers(const Node& node) {
  return node.type.starts_with("Random") || node.type == "Bernoulli" || node.type == "Multinomial";
}

bool IsRecurrent(const Node& node) { return node.type == "LSTM" || node.type == "GRU" || node.type == "RNN"; }

bool HasGraphInside(const Node& node) {
  return node.type == "If" || node.type == "Loop" || node.type == "Scan";
}

bool DependsOnData(const Node& node) {
  static const std::vector<std::string> types = {
      "NonMaxSuppression", "NonZero",    "TopK",           "Unique",    "Compress",
      "GatherND",          "RoiAlign",   "GatherElements", "ScatterND", "ScatterElements",
      "Scatter",           "GridSample", "OneHot",         "MaxUnpool", "MaxRoiPool"};
  return std::find(types.begin(), types.end(), node.type) != types.end();
}

std::string ReasonOfUnknown(const Node& node) {
  if (!node.domain.empty()) return "an operator of domain '" + node.domain + "'";
  if (IsRecurrent(node)) return "a recurrent operator: each step needs the one before";
  if (HasGraphInside(node)) return "it runs graphs of its own";
  if (DependsOnData(node)) return "which elements it reads depends on data";
  if (MakesRandomNumbers(node)) return "it makes random numbers";
  return "an operator that import does not know";
}

std::string Kind(const Node& node) { return node.domain.empty() ? node.type : node.domain + ":" + node.type; }

}  // namespace

bool NodeImport::ReadsFeatures(const Node& node) const {
  const auto is_feature = [this](const std::string& name) {
    return !name.empty() && !draft_.IsConstant(name);
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_feature) ||
         std::any_of(node.captured.begin(), node.captured.end(), is_feature);
}

std::map<std::string, Operand> NodeImport::OperandsOf(const Node& node) const {
  std::map<std::string, Operand> operands;
  const auto add = [&](const std::string& name) {
    if (name.empty()) return;
    operands.emplace(name, Operand{{draft_.ShapeOf(name), draft_.TypeOf(name)}, draft_.ConstantOf(name)});
  };
  for (const std::string& name : node.inputs) add(name);
  for (const std::string& name : node.captured) add(name);
  return operands;
}

// From the library where it knows, else from what the file declares.
std::vector<ValueType> NodeImport::TypesOfOutputs(const Node& node) const {
  std::vector<ValueType> types(node.outputs.size());
  if (const auto inferred = file_.InferOutputs(node, OperandsOf(node))) types = *inferred;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto declared = draft_.declared.find(node.outputs[i]);
    if (declared == draft_.declared.end()) continue;
    if (!types[i].shape) types[i].shape = declared->second.shape;
    if (!types[i].type) types[i].type = declared->second.type;
  }
  return types;
}

// Whether the node's outputs are constants: with values where those can be worked out, else of known shape alone.
bool NodeImport::TakeAsConstants(const Node& node) {
  std::vector<Known> operands;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      operands.emplace_back();
    } else {
      operands.push_back({draft_.ConstantOf(name), &draft_.ShapeOf(name)});
    }
  }
  std::optional<std::vector<Constant>> constants = Fold(node, operands);
  if (!constants && !ReadsFeatures(node) && !MakesRandomNumbers(node)) {
    constants.emplace();
    for (const ValueType& type : TypesOfOutputs(node)) {
      if (!type.shape || !type.type) return false;
      Constant& constant = constants->emplace_back();
      constant.shape = *type.shape;
      constant.type = *type.type;
    }
  }
  if (!constants) return false;
  const bool renames = node.type == "Identity" || node.type == "DequantizeLinear";
  for (size_t i = 0; i < constants->size(); ++i) {
    if (!node.HasOutput(i)) continue;
    if (renames && !ReadsFeatures(node)) {
      draft_.BindAlias(node.outputs[i], node.inputs[0]);
    } else {
      draft_.BindConstant(node.outputs[i], std::move((*constants)[i]));
    }
  }
  if (node.type != "Constant") draft_.report.Add(Report::Event::kFolded, node, "");
  return true;
}

const Description* NodeImport::FindDescription(const Node& node) const {
  const auto found = descriptions_.find(Kind(node));
  return found == descriptions_.end() ? nullptr : &found->second;
}

base::Expected<void> NodeImport::Take(const Node& node) {
  if (TakeAsConstants(node)) return {};
  if (const Description* description = FindDescription(node)) return Describe(node, *description);
  const Translator translator = FindTranslator(node);
  if (translator == nullptr) return Fence(node, ReasonOfUnknown(node));
  if (!ReadsFeatures(node)) return Fence(node, "the values of its operands are not in the file");
  Translation translation(draft_, node);
  const Outcome outcome = translator(translation);
  if (outcome) return CheckShapes(node);
  const Obstacle& obstacle = outcome.error();
  if (!obstacle.fault) return Fence(node, obstacle.reason);
  return base::Unexpected(FaultAt(file_name_, node, obstacle.reason, obstacle.expected, obstacle.hint));
}

// What import inferred is held against the library and against what the file declares.
base::Expected<void> NodeImport::CheckShapes(const Node& node) const {
  const auto check = [&](size_t i, const std::optional<Shape>& other,
                         const char* who) -> base::Expected<void> {
    if (!other || !node.HasOutput(i) || !draft_.IsBound(node.outputs[i])) return {};
    const Shape& found = draft_.ShapeOf(node.outputs[i]);
    if (found == *other) return {};
    return base::Unexpected(FaultAt(file_name_, node,
                                    "its output '" + node.outputs[i] + "' has shape " + ToText(found) +
                                        ", and " + who + " says " + ToText(*other),
                                    "shapes that agree", "infer the file's shapes anew, or export it again"));
  };
  std::vector<ValueType> inferred(node.outputs.size());
  if (node.known) {
    if (const auto types = file_.InferOutputs(node, OperandsOf(node))) inferred = *types;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (auto agreed = check(i, inferred[i].shape, "the ONNX library"); !agreed) return agreed;
    const auto declared = draft_.declared.find(node.outputs[i]);
    if (declared == draft_.declared.end()) continue;
    if (auto agreed = check(i, declared->second.shape, "the file"); !agreed) return agreed;
  }
  return {};
}

// An operator of unknown insides over all of the node's operands.
Operator NodeImport::Opaque(const Node& node) {
  Operator op;
  op.id = Report::NameOf(node);
  op.kind = base::OperatorKind::kOpaque;
  op.annotations = node.annotations;
  op.annotations.emplace("x-op_type", Kind(node));
  const auto add = [&](const std::string& name) {
    if (name.empty()) return;
    if (!draft_.IsConstant(name)) {
      op.inputs.push_back(draft_.TensorOf(name));
    } else if (IsCountable(draft_.ShapeOf(name)) && ElementsOf(draft_.ShapeOf(name)) > 1) {
      op.weights.push_back(draft_.WeightOf(name));
    }
  };
  for (const std::string& name : node.inputs) add(name);
  for (const std::string& name : node.captured) add(name);
  return op;
}

base::Expected<void> NodeImport::Fence(const Node& node, const std::string& reason) {
  const std::vector<ValueType> types = TypesOfOutputs(node);
  Operator op = Opaque(node);
  op.annotations.emplace("x-barrier", reason);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.HasOutput(i)) continue;
    if (!types[i].shape || !IsCountable(*types[i].shape)) {
      return base::Unexpected(FaultAt(
          file_name_, node, "the shape of its output '" + node.outputs[i] + "' is not known (" + reason + ")",
          "a shape in the file's value_info", "or describe operator " + Kind(node) + " under 'ops'"));
    }
  }
  const base::DataType otherwise =
      op.inputs.empty() ? base::DataType::kFloat32 : draft_.TensorAt(op.inputs.front()).type;
  std::vector<int> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.HasOutput(i)) continue;
    outputs.push_back(draft_.AddFeature(node.outputs[i], *types[i].shape, types[i].type.value_or(otherwise)));
    draft_.BindFeature(node.outputs[i], outputs.back());
  }
  draft_.AddOperator(std::move(op), std::move(outputs));
  draft_.report.Add(Report::Event::kFenced, node, Kind(node) + ": " + reason);
  return {};
}

base::Expected<void> NodeImport::Describe(const Node& node, const Description& description) {
  const auto fault = [&](std::string message, std::string expected) {
    return base::Unexpected(FaultAt(file_name_, node, "its description does not fit: " + std::move(message),
                                    std::move(expected)));
  };
  if (node.outputs.size() != 1) return fault(std::to_string(node.outputs.size()) + " outputs", "one output");
  Operator op = Opaque(node);
  if (op.inputs.empty()) return fault("no operand but constants", "at least one");
  const std::vector<ValueType> types = TypesOfOutputs(node);
  std::optional<Shape> shape = description.shape ? description.shape : types[0].shape;
  if (description.shape_of) {
    const auto operand = static_cast<size_t>(*description.shape_of);
    if (operand >= op.inputs.size())
      return fault("no operand " + std::to_string(operand), "0 to " + std::to_string(op.inputs.size() - 1));
    shape = draft_.TensorAt(op.inputs[operand]).shape;
  }
  if (!shape || !IsCountable(*shape)) return fault("nothing says its shape", "'shape' or 'shape_of'");
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const OperandAccess& access = description.accesses[std::min(i, description.accesses.size() - 1)];
    const auto misfit = CheckAccess(access, draft_.TensorAt(op.inputs[i]).shape, *shape);
    if (misfit) return fault(misfit->message, misfit->expected);
    op.accesses.push_back(access);
  }
  const std::optional<int64_t> macs = base::CheckedMul(description.macs_per_output, ElementsOf(*shape));
  if (!macs) return fault("more than 2^62 multiply-accumulates", "fewer");
  op.macs = *macs;
  op.scratch_bytes = description.scratch_bytes;
  op.engine = description.engine;
  op.in_place = description.in_place;
  const base::DataType type = types[0].type.value_or(draft_.TensorAt(op.inputs.front()).type);
  const int made = draft_.AddFeature(node.outputs[0], *shape, type);
  draft_.BindFeature(node.outputs[0], made);
  draft_.AddOperator(std::move(op), {made});
  draft_.report.Add(Report::Event::kAssumed, node, Kind(node) + " is as described under 'ops'");
  return {};
}

}  // namespace tessera::graph::onnx
