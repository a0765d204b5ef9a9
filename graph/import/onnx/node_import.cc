// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/onnx/node_import.h"

#include <algorithm>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/import/common/fold/fold.h"
#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/common/passes.h"
#include "tessera/graph/import/common/source_model.h"
#include "tessera/graph/import/onnx/model_file.h"

namespace tessera::graph::import::onnx {

// Import has these steps: the file is parsed and its nodes are ordered, symbols get their extents,
// each node is added to a draft, passes reduce the draft, and the result is put in the order of
// YAML networks.

namespace {

using common::Import;
using common::ImportOptions;

constexpr size_t kMostNamesInNotes = 8;

void BindGiven(const common::Model& model, const common::Declared& declared, common::Draft& draft) {
  for (const common::Declaration& input : model.inputs) {
    const common::ValueType& type = declared.at(input.name);
    const int tensor = draft.AddFeature(input.name, *type.shape, *type.type);
    draft.TensorAt(tensor).network_input = true;
    if (!input.doc.empty()) draft.TensorAt(tensor).annotations.emplace("x-doc_string", input.doc);
    draft.BindFeature(input.name, tensor);
  }
  for (const auto& [name, constant] : model.constants) draft.BindConstant(name, constant);
}

void Annotate(const common::Model& model, common::Draft& draft) {
  Graph& graph = draft.graph;
  graph.name = model.name.empty() ? "network" : model.name;
  if (!model.doc.empty()) graph.annotations.emplace("x-doc_string", model.doc);
  for (const auto& [key, value] : model.metadata) graph.annotations.emplace("x-" + key, value);
  for (Tensor& tensor : graph.tensors) {
    const auto doc = model.constant_docs.find(tensor.id);
    if (tensor.constant && doc != model.constant_docs.end())
      tensor.annotations.emplace("x-doc_string", doc->second);
  }
}

void SetFloats(base::DataType type, common::Draft& draft) {
  for (Tensor& tensor : draft.graph.tensors) {
    if (common::IsFloating(tensor.type)) tensor.type = type;
  }
}

// No text begins like this.
bool LooksLikeOnnx(std::string_view bytes) {
  // The first field is the version of the format, a small number.
  constexpr char kVersionField = 0x08;
  return bytes.size() > 2 && bytes[0] == kVersionField && bytes[1] > 0 && bytes[1] < 0x20;
}

}  // namespace

base::Expected<Import> ImportOnnx(std::string_view bytes, const std::string& file_name,
                                  const ImportOptions& options) {
  const base::Expected<ModelFile> file = ModelFile::Parse(bytes, file_name);
  if (!file) return base::Unexpected(file.error());
  const common::Model& model = file->Contents();
  common::Draft draft;
  base::Expected<common::Declared> declared =
      common::ResolveDimensions(model, options.dims, file_name);
  if (!declared) return base::Unexpected(declared.error());
  draft.declared = *std::move(declared);
  BindGiven(model, draft.declared, draft);
  NodeImport nodes(*file, file_name, options.descriptions, draft);
  for (const common::Node& node : model.nodes) {
    draft.report.Begin(&node);
    if (const auto taken = nodes.Take(node); !taken) return base::Unexpected(taken.error());
  }
  common::MarkOutputs(model, draft);
  if (const auto marked = common::MarkStates(model, options.states, file_name, draft); !marked)
    return base::Unexpected(marked.error());
  common::DropUnread(draft);
  common::SetDataTypes(draft);
  common::JoinReshapes(draft);
  common::GatherNormalizations(draft);
  common::Fuse(draft);
  common::JoinReshapes(draft);
  common::AbsorbTransposes(draft);
  common::JoinReshapes(draft);
  if (options.floats_as) SetFloats(*options.floats_as, draft);
  Annotate(model, draft);
  Import import;
  import.notes = draft.report.Lines(kMostNamesInNotes);
  import.nodes = draft.report.Fates(model, draft.graph);
  base::Expected<Graph> graph = common::Finish(std::move(draft), file_name);
  if (!graph) return base::Unexpected(graph.error());
  import.graph = *std::move(graph);
  return import;
}

extern const common::NetworkFormat kFormat = {
    .name = "ONNX",
    .suffix = ".onnx",
    .example = "model.onnx --dim batch=1 --floats-as int8",
    .takes_options = true,
    .recognizes = LooksLikeOnnx,
    .read = ImportOnnx,
};

namespace {

// Whether no element of the operand affects the result.
bool IsReadForItsType(const common::Node& node, size_t operand) {
  return node.type == "CastLike" && operand == 1;
}

}  // namespace

// Whether the node makes random numbers. They differ in each run, although the node may read
// nothing.
bool MakesRandomNumbers(const common::Node& node) {
  return node.type.starts_with("Random") || node.type == "Bernoulli" || node.type == "Multinomial";
}

NodeImport::NodeImport(const ModelFile& file, const std::string& file_name,
                       const common::Descriptions& descriptions, common::Draft& draft)
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

// The types come from the library if it has the operator in this version, otherwise from the file's
// declaration, otherwise from an older version.
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

const common::Description* NodeImport::FindDescription(const common::Node& node) const {
  const auto found = descriptions_.find(KindOf(node));
  return found == descriptions_.end() ? nullptr : &found->second;
}

base::Expected<void> NodeImport::Take(const common::Node& node) {
  if (auto sound = CheckAttributes(node); !sound) return sound;
  if (TakeAsConstants(node)) return {};
  if (const common::Description* description = FindDescription(node))
    return Describe(node, *description);
  const TranslationRule* rule = FindTranslation(node);
  if (rule == nullptr) return Fence(node, ReasonOfUnknown(node));
  if (!ReadsFeatures(node)) return Fence(node, "the values of its operands are not in the file");
  return Translate(node, *rule);
}

// Checks the attributes of operators that fold, because a constant operand must not hide an error.
base::Expected<void> NodeImport::CheckAttributes(const common::Node& node) const {
  if (const auto fault = FindMisshapenOperand(draft_, node)) {
    return base::Unexpected(
        common::FaultAt(file_name_, node, fault->reason, fault->expected, fault->hint));
  }
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
// If the file and import agree, the library's result is ignored.
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
    auto agreed = is_declared ? check(i, declared->second.shape, "the file")
                              : check(i, inferred[i].shape, "the ONNX library");
    if (!agreed) return agreed;
  }
  return {};
}

}  // namespace tessera::graph::import::onnx
