// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/onnx/import_onnx.h"

#include <utility>

#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/common/passes.h"
#include "tessera/graph/import/common/source_model.h"
#include "tessera/graph/import/onnx/model_file.h"
#include "tessera/graph/import/onnx/node_import.h"

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

}  // namespace tessera::graph::import::onnx
