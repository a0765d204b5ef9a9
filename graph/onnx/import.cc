#include "tessera/graph/onnx/import.h"

#include <algorithm>
#include <utility>

#include "tessera/base/suggest.h"
#include "tessera/graph/onnx/dimensions.h"
#include "tessera/graph/onnx/finish.h"
#include "tessera/graph/onnx/model_file.h"
#include "tessera/graph/onnx/node_import.h"
#include "tessera/graph/onnx/outputs.h"
#include "tessera/graph/onnx/passes.h"
#include "tessera/graph/onnx/states.h"
#include "tessera/graph/onnx/types.h"

// From file to graph: the file is parsed and put in order, symbols get their extents, each node is taken into a draft, passes make
// the draft smaller, and what remains is put in the order of networks in YAML.
namespace tessera::graph::onnx {
namespace {

constexpr size_t kMostNamesInNotes = 8;

void BindGiven(const Model& model, const Declared& declared, Draft& draft) {
  for (const Declaration& input : model.inputs) {
    const ValueType& type = declared.at(input.name);
    const int tensor = draft.AddFeature(input.name, *type.shape, *type.type);
    draft.TensorAt(tensor).network_input = true;
    if (!input.doc.empty()) draft.TensorAt(tensor).annotations.emplace("x-doc_string", input.doc);
    draft.BindFeature(input.name, tensor);
  }
  for (const auto& [name, constant] : model.constants) draft.BindConstant(name, constant);
}

void Annotate(const Model& model, Draft& draft) {
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

void SetFloats(base::DataType type, Draft& draft) {
  for (Tensor& tensor : draft.graph.tensors) {
    if (IsFloating(tensor.type)) tensor.type = type;
  }
}

}  // namespace

bool LooksLikeOnnx(std::string_view bytes) {
  // The first field is the version of the format, a small number.
  constexpr char kVersionField = 0x08;
  return bytes.size() > 2 && bytes[0] == kVersionField && bytes[1] > 0 && bytes[1] < 0x20;
}

base::Expected<Import> ImportOnnx(std::string_view bytes, const std::string& file_name,
                                  const ImportOptions& options) {
  const base::Expected<ModelFile> file = ModelFile::Parse(bytes, file_name);
  if (!file) return base::Unexpected(file.error());
  const Model& model = file->Contents();
  Draft draft;
  base::Expected<Declared> declared = ResolveDimensions(model, options.dims, file_name);
  if (!declared) return base::Unexpected(declared.error());
  draft.declared = *std::move(declared);
  BindGiven(model, draft.declared, draft);
  NodeImport nodes(*file, file_name, options.descriptions, draft);
  for (const Node& node : model.nodes) {
    draft.report.Begin(&node);
    if (const auto taken = nodes.Take(node); !taken) return base::Unexpected(taken.error());
  }
  MarkOutputs(model, draft);
  if (const auto marked = MarkStates(model, options.states, file_name, draft); !marked)
    return base::Unexpected(marked.error());
  DropUnread(draft);
  SetDataTypes(draft);
  JoinReshapes(draft);
  GatherNormalizations(draft);
  Fuse(draft);
  JoinReshapes(draft);
  if (options.floats_as) SetFloats(*options.floats_as, draft);
  Annotate(model, draft);
  Import import;
  import.notes = draft.report.Lines(kMostNamesInNotes);
  import.nodes = draft.report.Fates(model, draft.graph);
  base::Expected<Graph> graph = Finish(std::move(draft), file_name);
  if (!graph) return base::Unexpected(graph.error());
  import.graph = *std::move(graph);
  return import;
}

}  // namespace tessera::graph::onnx
