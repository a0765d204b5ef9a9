#include "tessera/graph/import/onnx/node_import.h"

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/import/common/fold/fold.h"
#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/common/source_model.h"

namespace tessera::graph::import::onnx {
namespace {

// Random numbers are made anew in each run, although nothing is read for them.
bool MakesRandomNumbers(const common::Node& node) {
  return node.type.starts_with("Random") || node.type == "Bernoulli" || node.type == "Multinomial";
}

bool IsRecurrent(const common::Node& node) {
  return node.type == "LSTM" || node.type == "GRU" || node.type == "RNN";
}

bool HasGraphInside(const common::Node& node) {
  return node.type == "If" || node.type == "Loop" || node.type == "Scan";
}

bool DependsOnData(const common::Node& node) {
  static const std::vector<std::string> types = {
      "NonMaxSuppression", "NonZero",    "TopK",           "Unique",    "Compress",
      "GatherND",          "RoiAlign",   "GatherElements", "ScatterND", "ScatterElements",
      "Scatter",           "GridSample", "OneHot",         "MaxUnpool", "MaxRoiPool"};
  return std::find(types.begin(), types.end(), node.type) != types.end();
}

std::string ReasonOfUnknown(const common::Node& node) {
  if (!node.domain.empty()) return "an operator of domain '" + node.domain + "'";
  if (IsRecurrent(node)) return "a recurrent operator: each step needs the one before";
  if (HasGraphInside(node)) return "it runs graphs of its own";
  if (DependsOnData(node)) return "which elements it reads depends on data";
  if (MakesRandomNumbers(node)) return "it makes random numbers";
  return "an operator that import does not know";
}

// No element of such an operand affects the result.
bool IsReadForItsType(const common::Node& node, size_t operand) {
  return node.type == "CastLike" && operand == 1;
}

std::string Kind(const common::Node& node) {
  return node.domain.empty() ? node.type : node.domain + ":" + node.type;
}

}  // namespace

NodeImport::NodeImport(const ModelFile& file, const std::string& file_name,
                       const Descriptions& descriptions, common::Draft& draft)
    : file_(file), file_name_(file_name), descriptions_(descriptions), draft_(draft) {
  for (const common::Node& node : file.Contents().nodes) {
    read_.insert(node.inputs.begin(), node.inputs.end());
    read_.insert(node.captured.begin(), node.captured.end());
  }
  for (const common::Declaration& output : file.Contents().outputs) read_.insert(output.name);
}

bool NodeImport::ReadsFeatures(const common::Node& node) const {
  const auto is_feature = [this](const std::string& name) {
    return !name.empty() && !draft_.IsConstant(name);
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_feature) ||
         std::any_of(node.captured.begin(), node.captured.end(), is_feature);
}

std::map<std::string, Operand> NodeImport::OperandsOf(const common::Node& node) const {
  std::map<std::string, Operand> operands;
  const auto add = [&](const std::string& name) {
    if (name.empty()) return;
    operands.emplace(name,
                     Operand{{draft_.ShapeOf(name), draft_.TypeOf(name)}, draft_.ConstantOf(name)});
  };
  for (const std::string& name : node.inputs) add(name);
  for (const std::string& name : node.captured) add(name);
  return operands;
}

// From the library if it has the operator in this version, otherwise from the file's declaration,
// otherwise from an older version.
std::vector<common::ValueType> NodeImport::TypesOfOutputs(const common::Node& node) const {
  std::vector<common::ValueType> types(node.outputs.size());
  if (const auto inferred = file_.InferOutputs(node, OperandsOf(node))) types = *inferred;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto declared = draft_.declared.find(node.outputs[i]);
    if (declared == draft_.declared.end()) continue;
    const common::ValueType& stated = declared->second;
    if (stated.shape && (!types[i].shape || !node.known)) types[i].shape = stated.shape;
    if (stated.type && (!types[i].type || !node.known)) types[i].type = stated.type;
  }
  return types;
}

// Whether the node's outputs are constants: with values if they can be computed, otherwise with
// only a shape.
bool NodeImport::TakeAsConstants(const common::Node& node) {
  std::vector<common::fold::Known> operands;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      operands.emplace_back();
    } else {
      operands.push_back({draft_.ConstantOf(name), &draft_.ShapeOf(name)});
    }
  }
  std::optional<std::vector<common::Constant>> constants = common::fold::Fold(node, operands);
  if (!constants && !ReadsFeatures(node) && !MakesRandomNumbers(node)) {
    constants.emplace();
    const std::vector<common::ValueType> types = TypesOfOutputs(node);
    for (size_t i = 0; i < types.size(); ++i) {
      common::Constant& constant = constants->emplace_back();
      if (!node.HasOutput(i)) continue;
      if (!types[i].shape || !types[i].type) return false;
      constant.shape = *types[i].shape;
      constant.type = *types[i].type;
    }
  }
  if (!constants) return false;
  for (size_t i = constants->size(); i < node.outputs.size(); ++i) {
    if (node.HasOutput(i) && read_.count(node.outputs[i]) > 0) return false;
  }
  const bool renames = node.type == "Identity" || node.type == "DequantizeLinear";
  for (size_t i = 0; i < constants->size(); ++i) {
    if (!node.HasOutput(i)) continue;
    if (renames && !ReadsFeatures(node)) {
      draft_.BindAlias(node.outputs[i], node.inputs[0]);
    } else {
      draft_.BindConstant(node.outputs[i], std::move((*constants)[i]));
    }
  }
  draft_.report.Add(
      node.type == "Constant" ? common::Report::Event::kGiven : common::Report::Event::kFolded,
      node, "");
  return true;
}

const Description* NodeImport::FindDescription(const common::Node& node) const {
  const auto found = descriptions_.find(Kind(node));
  return found == descriptions_.end() ? nullptr : &found->second;
}

base::Expected<void> NodeImport::Take(const common::Node& node) {
  if (const auto sound = CheckAttributes(node); !sound) return sound;
  if (TakeAsConstants(node)) return {};
  if (const Description* description = FindDescription(node)) return Describe(node, *description);
  const TranslationRule* rule = FindTranslation(node);
  if (rule == nullptr) return Fence(node, ReasonOfUnknown(node));
  if (!ReadsFeatures(node)) return Fence(node, "the values of its operands are not in the file");
  return Translate(node, *rule);
}

// For operators that fold: a constant operand must not hide an error.
base::Expected<void> NodeImport::CheckAttributes(const common::Node& node) const {
  if (node.type != "Transpose" || !node.domain.empty() || !node.HasInput(0)) return {};
  const auto permutation = common::ReadPermutation(node, draft_.ShapeOf(node.inputs[0]).size());
  if (permutation) return {};
  const common::Obstacle& fault = permutation.error();
  return base::Unexpected(
      common::FaultAt(file_name_, node, fault.reason, fault.expected, fault.hint));
}

base::Expected<void> NodeImport::Translate(const common::Node& node, const TranslationRule& rule) {
  const common::Draft::Mark before = draft_.Here();
  std::vector<common::ValueType> known;
  std::optional<common::Obstacle> obstacle = FindMismatch(node, rule);
  if (!obstacle) {
    common::Translation translation(draft_, node);
    const common::Outcome outcome = rule.translate(translation);
    if (!outcome) {
      obstacle = outcome.error();
    } else if (std::optional<std::string> loss = FindLoss(node, before)) {
      obstacle = common::Barrier(*std::move(loss)).value();
      known = TranslatedOutputs(node);
    }
  }
  if (!obstacle) return CheckShapes(node);
  if (obstacle->fault)
    return base::Unexpected(
        common::FaultAt(file_name_, node, obstacle->reason, obstacle->expected, obstacle->hint));
  draft_.Rewind(before, node);
  return Fence(node, obstacle->reason, known);
}

std::vector<common::ValueType> NodeImport::TranslatedOutputs(const common::Node& node) const {
  std::vector<common::ValueType> types;
  for (const std::string& output : node.outputs) {
    const bool bound = !output.empty() && draft_.IsBound(output);
    types.push_back(bound ? common::ValueType{draft_.ShapeOf(output), draft_.TypeOf(output)}
                          : common::ValueType{});
  }
  return types;
}

// The preconditions of the translator's function.
std::optional<common::Obstacle> NodeImport::FindMismatch(const common::Node& node,
                                                         const TranslationRule& rule) const {
  // Quantised operators of Microsoft's domain may leave out zero points, the last operands of their
  // kind.
  const bool gaps = !node.domain.empty() && node.type.starts_with("QLinear");
  for (size_t i = 0; i < rule.least_operands; ++i) {
    if (node.HasInput(i) || (gaps && i > 0 && i != 3 && i < node.inputs.size())) continue;
    return common::Fault("operand " + std::to_string(i) + " is missing",
                         "at least " + std::to_string(rule.least_operands) + " operands")
        .value();
  }
  if (!node.HasOutput(0)) return common::Barrier("its first output is left out").value();
  if (!rule.constant_first && draft_.IsConstant(node.inputs[0]))
    return common::Barrier(
               "its first operand is a constant, and another one is computed while the network "
               "runs")
        .value();
  return std::nullopt;
}

// A value that the network computes and that no operator added since `before` reads, or nullopt. An
// operand at several positions counts once for each.
std::optional<std::string> NodeImport::FindLoss(const common::Node& node,
                                                const common::Draft::Mark& before) const {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string& output = node.outputs[i];
    if (node.HasOutput(i) && read_.count(output) > 0 && !draft_.IsBound(output))
      return "its output '" + output + "' has no counterpart in a known kind";
  }
  std::map<int, int> taken;
  for (size_t i = before.operators; i < draft_.graph.operators.size(); ++i) {
    for (const int input : draft_.graph.operators[i].inputs) ++taken[input];
  }
  for (const std::string& output : node.outputs) {
    if (draft_.IsBound(output) && !draft_.IsConstant(output)) ++taken[draft_.TensorOf(output)];
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool computed = node.HasInput(i) && !draft_.IsConstant(node.inputs[i]);
    if (!computed || IsReadForItsType(node, i) || taken[draft_.TensorOf(node.inputs[i])]-- > 0)
      continue;
    return "operand " + std::to_string(i) + ", '" + node.inputs[i] +
           "', is computed while the network runs, and no known kind takes it";
  }
  return std::nullopt;
}

// The inferred types are compared with those that the file declares, otherwise with the library's.
// If the file and import agree, the library is outvoted.
base::Expected<void> NodeImport::CheckShapes(const common::Node& node) const {
  const auto check = [&](size_t i, const std::optional<Shape>& other,
                         const char* who) -> base::Expected<void> {
    if (!other) return {};
    const Shape& found = draft_.ShapeOf(node.outputs[i]);
    if (found == *other) return {};
    return base::Unexpected(
        common::FaultAt(file_name_, node,
                        "its output '" + node.outputs[i] + "' has shape " + ops::ToText(found) +
                            ", and " + who + " says " + ops::ToText(*other),
                        "shapes that agree", "infer the file's shapes anew, or export it again"));
  };
  std::vector<common::ValueType> inferred(node.outputs.size());
  if (node.known) {
    if (const auto types = file_.InferOutputs(node, OperandsOf(node))) inferred = *types;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.HasOutput(i) || !draft_.IsBound(node.outputs[i])) continue;
    const auto declared = draft_.declared.find(node.outputs[i]);
    const bool is_declared = declared != draft_.declared.end() && declared->second.shape;
    const auto agreed = is_declared ? check(i, declared->second.shape, "the file")
                                    : check(i, inferred[i].shape, "the ONNX library");
    if (!agreed) return agreed;
  }
  return {};
}

// An operator with unknown internals over all of the node's operands.
Operator NodeImport::Opaque(const common::Node& node) {
  Operator op;
  op.id = common::Report::NameOf(node);
  op.kind = base::OperatorKind::kOpaque;
  op.annotations = node.annotations;
  op.annotations.emplace("x-op_type", Kind(node));
  const auto add = [&](const std::string& name) {
    if (name.empty()) return;
    if (!draft_.IsConstant(name)) {
      op.inputs.push_back(draft_.TensorOf(name));
    } else if (ops::IsCountable(draft_.ShapeOf(name)) && ElementsOf(draft_.ShapeOf(name)) > 1) {
      op.weights.push_back(draft_.WeightOf(name));
    }
  };
  for (const std::string& name : node.inputs) add(name);
  for (const std::string& name : node.captured) add(name);
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
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.HasOutput(i)) continue;
    if (!types[i].shape || !ops::IsCountable(*types[i].shape)) {
      return base::Unexpected(common::FaultAt(
          file_name_, node,
          "the shape of its output '" + node.outputs[i] + "' is not known (" + reason + ")",
          "a shape in the file's value_info",
          "or describe operator " + Kind(node) + " under 'ops'"));
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
    if (!node.HasOutput(i)) continue;
    outputs.push_back(
        draft_.AddFeature(node.outputs[i], *types[i].shape, types[i].type.value_or(otherwise)));
    draft_.BindFeature(node.outputs[i], outputs.back());
  }
  draft_.AddOperator(std::move(op), std::move(outputs));
  draft_.report.Add(common::Report::Event::kFenced, node, Kind(node) + ": " + reason);
  return CheckShapes(node);
}

base::Expected<void> NodeImport::Describe(const common::Node& node,
                                          const Description& description) {
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
                    Kind(node) + " is as described under 'ops'");
  return {};
}

}  // namespace tessera::graph::import::onnx
