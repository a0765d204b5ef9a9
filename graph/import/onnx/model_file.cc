// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/onnx/model_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <limits>
#include <new>
#include <set>

#include "tessera/base/text.h"
#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/common/source_model.h"
#include "tessera/graph/import/onnx/protobuf.h"

// Converts protobuf messages to plain values. The content of the messages is checked once, here, so
// that later steps may rely on it. The library throws exceptions, and they are caught here.
namespace tessera::graph::import::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

bool ParseBytes(std::string_view bytes, ModelProto& model) {
  // Protobuf reports broken messages on stderr; the diagnostic replaces that.
  const ::google::protobuf::LogSilencer silence;
  ::google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  ::google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  return model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

// Values of outer graphs that `graph` reads, including those that its inner graphs read.
void CollectCaptured(const GraphProto& graph, std::set<std::string> inner,
                     std::set<std::string>& captured) {
  for (const auto& input : graph.input()) inner.insert(input.name());
  for (const auto& constant : graph.initializer()) inner.insert(constant.name());
  for (const NodeProto& node : graph.node())
    inner.insert(node.output().begin(), node.output().end());
  for (const NodeProto& node : graph.node()) {
    for (const std::string& input : node.input()) {
      if (!input.empty() && inner.count(input) == 0) captured.insert(input);
    }
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectCaptured(attribute.g(), inner, captured);
    }
  }
  for (const auto& output : graph.output()) {
    if (inner.count(output.name()) == 0) captured.insert(output.name());
  }
}

class ModelReader {
 public:
  ModelReader(const ModelProto& message, const std::unordered_map<std::string, int>& versions,
              const std::string& file)
      : message_(message), versions_(versions), file_(file) {}

  base::Expected<common::Model> Read() {
    const GraphProto& graph = message_.graph();
    model_.name = graph.name();
    model_.doc = graph.doc_string().empty() ? message_.doc_string() : graph.doc_string();
    for (const auto& entry : message_.metadata_props())
      model_.metadata.emplace(entry.key(), entry.value());
    base::Expected<void> done = ReadConstants(graph);
    if (done) done = ReadDeclarations(graph);
    if (done) done = ReadNodes(graph);
    if (done) done = common::OrderNodes(model_, file_);
    if (done) done = CheckElementTypes(graph, model_.nodes, file_);
    if (!done) return base::Unexpected(done.error());
    return std::move(model_);
  }

 private:
  base::Expected<void> CheckName(const std::string& name) const {
    if (base::IsUtf8(name)) return {};
    return common::FileFault(file_, "a name that is no UTF-8", "names in UTF-8");
  }

  base::Expected<void> ReadConstants(const GraphProto& graph) {
    for (const TensorProto& tensor : graph.initializer()) {
      if (auto added = AddConstant(tensor.name(), ReadConstant(tensor, tensor.name(), file_));
          !added)
        return added;
      if (!tensor.doc_string().empty())
        model_.constant_docs.emplace(tensor.name(), tensor.doc_string());
    }
    for (const auto& sparse : graph.sparse_initializer()) {
      const std::string& name = sparse.values().name();
      if (auto added = AddConstant(name, ReadSparseConstant(sparse, name, file_)); !added)
        return added;
    }
    return {};
  }

  base::Expected<void> AddConstant(const std::string& name,
                                   base::Expected<common::Constant> constant) {
    if (auto named = CheckName(name); !named) return named;
    if (!constant) return base::Unexpected(constant.error());
    if (model_.constants.emplace(name, *std::move(constant)).second) return {};
    return common::FileFault(file_, "constant '" + name + "' is there twice", "a name of its own");
  }

  base::Expected<common::Declaration> ReadDeclaration(const ::onnx::ValueInfoProto& info) const {
    if (const auto named = CheckName(info.name()); !named) return base::Unexpected(named.error());
    common::Declaration declaration;
    declaration.name = info.name();
    declaration.doc = info.doc_string();
    if (!info.type().has_tensor_type()) return declaration;
    const auto& type = info.type().tensor_type();
    declaration.type = common::TypeFromOnnx(type.elem_type());
    if (!type.has_shape()) return declaration;
    declaration.shape.emplace();
    for (const auto& dimension : type.shape().dim()) {
      common::Dimension& extent = declaration.shape->emplace_back();
      if (dimension.has_dim_value()) extent.extent = dimension.dim_value();
      if (dimension.has_dim_param()) extent.symbol = dimension.dim_param();
    }
    return declaration;
  }

  // An input that is a constant as well has that value by default.
  base::Expected<void> CheckDefault(const common::Declaration& input,
                                    const common::Constant& constant) const {
    if (!input.shape) return {};
    bool same = input.shape->size() == constant.shape.size();
    for (size_t axis = 0; same && axis < constant.shape.size(); ++axis)
      same = (*input.shape)[axis].extent.value_or(constant.shape[axis]) == constant.shape[axis];
    if (same) return {};
    return common::FileFault(
        file_, "constant '" + input.name + "' is also listed as an input, of another shape",
        ops::ToText(constant.shape) + ", the shape of the constant");
  }

  base::Expected<void> ReadDeclarations(const GraphProto& graph) {
    for (const auto& info : graph.input()) {
      base::Expected<common::Declaration> input = ReadDeclaration(info);
      if (!input) return base::Unexpected(input.error());
      if (const auto constant = model_.constants.find(info.name());
          constant != model_.constants.end()) {
        if (auto same = CheckDefault(*input, constant->second); !same) return same;
        continue;
      }
      model_.inputs.push_back(*std::move(input));
    }
    for (const auto& info : graph.output()) {
      base::Expected<common::Declaration> output = ReadDeclaration(info);
      if (!output) return base::Unexpected(output.error());
      model_.outputs.push_back(*std::move(output));
    }
    for (const auto& info : graph.value_info()) {
      base::Expected<common::Declaration> inner = ReadDeclaration(info);
      if (!inner) return base::Unexpected(inner.error());
      model_.inner.emplace(info.name(), *std::move(inner));
    }
    if (!model_.outputs.empty()) return {};
    return common::FileFault(file_, "the model has no outputs", "at least one graph output");
  }

  // An empty domain and "ai.onnx" are the same.
  static std::string DomainOf(const NodeProto& node) {
    return node.domain() == "ai.onnx" ? "" : node.domain();
  }

  base::Expected<void> ReadNodes(const GraphProto& graph) {
    for (const NodeProto& message : graph.node()) {
      common::Node& node = model_.nodes.emplace_back();
      node.index = static_cast<int>(model_.nodes.size()) - 1;
      node.name = message.name();
      node.type = message.op_type();
      node.domain = DomainOf(message);
      if (!message.doc_string().empty())
        node.annotations.emplace("x-doc_string", message.doc_string());
      node.inputs = {message.input().begin(), message.input().end()};
      node.outputs = {message.output().begin(), message.output().end()};
      if (auto read = ReadAttributes(message, node); !read) return read;
      if (auto checked = Check(message, node); !checked) return checked;
    }
    if (!model_.nodes.empty()) return {};
    return common::FileFault(file_, "the model has no operators", "at least one");
  }

  base::Expected<void> ReadAttributes(const NodeProto& message, common::Node& node) const {
    std::set<std::string> captured;
    for (const AttributeProto& attribute : message.attribute()) {
      base::Expected<common::Attribute> value = ReadAttribute(attribute, file_);
      if (!value)
        return base::Unexpected(
            common::FaultAt(file_, node, value.error().message, value.error().expected));
      node.attributes.emplace(attribute.name(), *std::move(value));
      if (attribute.has_g()) CollectCaptured(attribute.g(), {}, captured);
    }
    node.captured.assign(captured.begin(), captured.end());
    return {};
  }

  base::Expected<void> Check(const NodeProto& message, common::Node& node) const {
    std::vector<std::string> names = {node.name, node.type, node.domain};
    names.insert(names.end(), node.inputs.begin(), node.inputs.end());
    names.insert(names.end(), node.outputs.begin(), node.outputs.end());
    for (const std::string& name : names) {
      if (auto named = CheckName(name); !named) return named;
    }
    const auto version = versions_.find(node.domain);
    node.version = version == versions_.end() ? 0 : version->second;
    if (node.outputs.empty()) {
      return base::Unexpected(
          common::FaultAt(file_, node, "it has no outputs", "at least one output"));
    }
    const auto newest =
        ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().find(node.domain);
    const ::onnx::OpSchema* schema =
        ::onnx::OpSchemaRegistry::Schema(node.type, static_cast<int>(node.version), node.domain);
    Annotate(schema, node);
    if (schema == nullptr) return {};
    node.known = node.version <= newest->second.second;
    if (!node.known) return {};
    if (auto checked = CheckUndefined(node, newest->second.second); !checked) return checked;
    NodeProto defined = message;
    auto& attributes = *defined.mutable_attribute();
    attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                    [&](const auto& each) {
                                      return node.annotations.count("x-" + each.name()) > 0;
                                    }),
                     attributes.end());
    try {
      schema->Verify(defined);
    } catch (const std::bad_alloc&) {
      throw;  // no fault of the file
    } catch (const std::exception& error) {
      return base::Unexpected(common::FaultAt(
          file_, node, error.what(),
          "an operator as ONNX version " + std::to_string(node.version) + " defines it"));
    }
    return {};
  }

  // Refuses attributes that only other versions of the operator define. They affect the result, so
  // they cannot belong to the user.
  base::Expected<void> CheckUndefined(const common::Node& node, int newest) const {
    for (const auto& [name, value] : node.attributes) {
      if (node.Defines(name)) continue;
      const auto* schema = ::onnx::OpSchemaRegistry::Schema(node.type, newest, node.domain);
      while (schema != nullptr && schema->attributes().count(name) == 0) {
        schema =
            ::onnx::OpSchemaRegistry::Schema(node.type, schema->SinceVersion() - 1, node.domain);
      }
      if (schema == nullptr) continue;
      return base::Unexpected(common::FaultAt(
          file_, node,
          "it has the attribute '" + name + "' of version " +
              std::to_string(schema->SinceVersion()) + " of the operator",
          "an operator as ONNX version " + std::to_string(node.version) + " defines it",
          "correct the version in opset_import, or export the model again"));
    }
    return {};
  }

  // Other attributes that the operator's definition does not have belong to the user.
  static void Annotate(const ::onnx::OpSchema* schema, common::Node& node) {
    for (const auto& [name, value] : node.attributes) {
      if (schema != nullptr && schema->attributes().count(name) > 0) continue;
      if (std::optional<std::string> text = TextOf(value))
        node.annotations.emplace("x-" + name, *std::move(text));
    }
  }

  const ModelProto& message_;
  const std::unordered_map<std::string, int>& versions_;
  const std::string& file_;
  common::Model model_;
};

std::unordered_map<std::string, int> VersionsOf(const ModelProto& model) {
  std::unordered_map<std::string, int> versions;
  for (const auto& set : model.opset_import()) {
    const std::string domain = set.domain() == "ai.onnx" ? "" : set.domain();
    versions[domain] = static_cast<int>(std::clamp<int64_t>(set.version(), 0, 1000));
  }
  versions.emplace("", 1);
  return versions;
}

}  // namespace

ModelFile::ModelFile() : message_(std::make_unique<Message>()) {}
ModelFile::ModelFile(ModelFile&&) noexcept = default;
ModelFile& ModelFile::operator=(ModelFile&&) noexcept = default;
ModelFile::~ModelFile() = default;

base::Expected<ModelFile> ModelFile::Parse(std::string_view bytes, const std::string& file_name) {
  constexpr const char* kWanted = "an ONNX model, as exporters write it";
  if (bytes.empty()) return common::FileFault(file_name, "the file is empty", kWanted);
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return common::FileFault(file_name, "the file is larger than 2 GiB", kWanted,
                             "keep weights in external data");
  ModelFile file;
  try {
    if (!ParseBytes(bytes, file.message_->model)) {
      return common::FileFault(file_name, "the file is no ONNX model, or it is truncated", kWanted,
                               "export it again, and compare its size with the original");
    }
    if (!file.message_->model.has_graph())
      return common::FileFault(file_name, "the model has no graph", kWanted);
    if (file.message_->model.opset_import().empty() && file.message_->model.ir_version() >= 3)
      return common::FileFault(file_name, "the model names no operator set, or it is truncated",
                               "an entry in opset_import");
    file.message_->versions = VersionsOf(file.message_->model);
    base::Expected<common::Model> model =
        ModelReader(file.message_->model, file.message_->versions, file_name).Read();
    if (!model) return base::Unexpected(model.error());
    file.model_ = *std::move(model);
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the file
  } catch (const std::exception& error) {
    return common::FileFault(
        file_name, std::string("the ONNX library refuses the file: ") + error.what(), kWanted);
  }
  return file;
}

}  // namespace tessera::graph::import::onnx
