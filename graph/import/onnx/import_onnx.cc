#include "tessera/graph/import/onnx/import_onnx.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/common/passes.h"
#include "tessera/graph/import/common/source_model.h"
#include "tessera/graph/import/onnx/model_file.h"
#include "tessera/graph/import/onnx/node_import.h"
#include "tessera/graph/import/yaml/operator_attributes.h"
#include "tessera/graph/import/yaml/tensors.h"

namespace tessera::graph::import::onnx {

namespace {

using base::YamlNode;

std::vector<int> ReadOperandNumbers(const YamlNode& node) {
  std::vector<int> numbers;
  for (const int64_t number : node.Integers(0, std::numeric_limits<int>::max()))
    numbers.push_back(static_cast<int>(number));
  return numbers;
}

Description ReadDescription(const YamlNode& node) {
  constexpr int64_t kMostBytes = int64_t{1} << 56;
  node.OnlyKeys(
      {"accesses", "shape", "shape_of", "macs_per_output", "scratch_bytes", "engine", "in_place"});
  Description description;
  const YamlNode accesses = node.At("accesses");
  for (const YamlNode& access : accesses.Items())
    description.accesses.push_back(yaml::ReadAccess(access));
  if (description.accesses.empty())
    accesses.Complain("no accesses", "one for each operand that is no constant");
  if (const YamlNode shape = node.Maybe("shape")) description.shape = yaml::ReadShape(shape);
  if (const YamlNode of = node.Maybe("shape_of"))
    description.shape_of = static_cast<int>(of.Integer(0, std::numeric_limits<int>::max()));
  if (description.shape && description.shape_of)
    node.Maybe("shape_of").Complain("shape_of together with shape", "one of them");
  if (const YamlNode macs = node.Maybe("macs_per_output"))
    description.macs_per_output = macs.Integer(0, base::kMaxTotal);
  if (const YamlNode scratch = node.Maybe("scratch_bytes"))
    description.scratch_bytes = scratch.Integer(0, kMostBytes);
  if (const YamlNode engine = node.Maybe("engine")) description.engine = engine.Text();
  if (const YamlNode in_place = node.Maybe("in_place"))
    description.in_place = ReadOperandNumbers(in_place);
  return description;
}

}  // namespace

base::Expected<Descriptions> ReadDescriptions(std::string text, const std::string& file_name) {
  const base::Expected<base::YamlFile> file = base::YamlFile::Parse(std::move(text), file_name);
  if (!file) return base::Unexpected(file.error());
  base::YamlReader reader(*file);
  Descriptions descriptions;
  if (const YamlNode ops = reader.Root().Maybe("ops")) {
    for (const auto& [type, node] : ops.Entries())
      descriptions.emplace(type, ReadDescription(node));
  }
  if (reader.Failed()) return base::Unexpected(reader.TakeFault());
  return descriptions;
}

// From file to graph: the file is parsed and ordered, symbols get their extents, each node is added
// to a draft, passes reduce the draft, and the result is put in the order of YAML networks.
namespace {

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

}  // namespace tessera::graph::import::onnx
