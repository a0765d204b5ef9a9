// SPDX-License-Identifier: Apache-2.0

#include "model_builder.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "accounts.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/ops/shape_inference.h"

namespace tessera::graph::onnx {

struct ModelBuilder::Message {
  ::onnx::ModelProto model;
  ::onnx::GraphProto& Graph() { return *model.mutable_graph(); }
};

namespace {

void Fill(::onnx::ValueInfoProto& info, const std::string& name, const std::vector<Extent>& shape,
          int type) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const Extent& extent : shape) {
    auto& dimension = *tensor.mutable_shape()->add_dim();
    if (const auto* number = std::get_if<int64_t>(&extent)) {
      dimension.set_dim_value(*number);
    } else {
      dimension.set_dim_param(std::get<std::string>(extent));
    }
  }
}

void Fill(::onnx::AttributeProto& attribute, const std::string& name, const AttributeValue& value) {
  using ::onnx::AttributeProto;
  attribute.set_name(name);
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    attribute.set_type(AttributeProto::INT);
    attribute.set_i(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    attribute.set_type(AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(*real));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    attribute.set_type(AttributeProto::STRING);
    attribute.set_s(*text);
  } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&value)) {
    attribute.set_type(AttributeProto::INTS);
    attribute.mutable_ints()->Add(integers->begin(), integers->end());
  } else {
    attribute.set_type(AttributeProto::FLOATS);
    for (const double each : std::get<std::vector<double>>(value))
      attribute.add_floats(static_cast<float>(each));
  }
}

}  // namespace

ModelBuilder::ModelBuilder(int64_t version) : message_(std::make_unique<Message>()) {
  message_->model.set_ir_version(8);
  message_->model.add_opset_import()->set_version(version);
  message_->Graph().set_name("model");
}

ModelBuilder::~ModelBuilder() = default;

std::string ModelBuilder::Input(const std::string& name, const std::vector<Extent>& shape,
                                int type) {
  Fill(*message_->Graph().add_input(), name, shape, type);
  return name;
}

void ModelBuilder::Output(const std::string& name, const std::vector<Extent>& shape, int type) {
  auto& output = *message_->Graph().add_output();
  Fill(output, name, shape, type);
  if (shape.empty()) output.mutable_type()->mutable_tensor_type()->clear_shape();
}

void ModelBuilder::Declare(const std::string& name, const std::vector<Extent>& shape, int type) {
  Fill(*message_->Graph().add_value_info(), name, shape, type);
}

std::string ModelBuilder::Weight(const std::string& name, const std::vector<int64_t>& shape,
                                 int type) {
  auto& tensor = *message_->Graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const int64_t extent : shape) tensor.add_dims(extent);
  return name;
}

std::string ModelBuilder::Sparse(const std::string& name, const std::vector<int64_t>& values,
                                 const std::vector<int64_t>& shape) {
  auto& sparse = *message_->Graph().add_sparse_initializer();
  auto& tensor = *sparse.mutable_values();
  tensor.set_name(name);
  tensor.set_data_type(kInt64);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (const int64_t value : values) tensor.add_int64_data(value);
  for (const int64_t extent : shape) sparse.add_dims(extent);
  return name;
}

std::string ModelBuilder::Integers(const std::string& name, const std::vector<int64_t>& values) {
  Weight(name, {static_cast<int64_t>(values.size())}, kInt64);
  auto& tensor = *message_->Graph().mutable_initializer()->rbegin();
  tensor.set_raw_data(values.data(), values.size() * sizeof(int64_t));
  return name;
}

std::string ModelBuilder::Scalar(const std::string& name, int64_t value) {
  Weight(name, {}, kInt64);
  message_->Graph().mutable_initializer()->rbegin()->add_int64_data(value);
  return name;
}

std::string ModelBuilder::Reals(const std::string& name, const std::vector<double>& values) {
  Weight(name, {static_cast<int64_t>(values.size())});
  for (const double value : values)
    message_->Graph().mutable_initializer()->rbegin()->add_float_data(static_cast<float>(value));
  return name;
}

std::string ModelBuilder::Real(const std::string& name, double value) {
  Weight(name, {});
  message_->Graph().mutable_initializer()->rbegin()->add_float_data(static_cast<float>(value));
  return name;
}

std::string ModelBuilder::Values(const std::string& name, const std::vector<int64_t>& shape,
                                 int type, const std::vector<double>& values) {
  Weight(name, shape, type);
  auto& tensor = *message_->Graph().mutable_initializer()->rbegin();
  for (const double value : values) {
    if (type == kFloat) {
      tensor.add_float_data(static_cast<float>(value));
    } else if (type == kInt64) {
      tensor.add_int64_data(static_cast<int64_t>(value));
    } else {
      tensor.add_int32_data(static_cast<int32_t>(value));
    }
  }
  return name;
}

std::string ModelBuilder::Add(const std::string& type, const std::vector<std::string>& inputs,
                              const std::string& output, const Attributes& attributes) {
  AddMany(type, inputs, {output}, attributes);
  return output;
}

void ModelBuilder::AddMany(const std::string& type, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const Attributes& attributes) {
  auto& node = *message_->Graph().add_node();
  const size_t colon = type.find(':');
  if (colon != std::string::npos) node.set_domain(type.substr(0, colon));
  node.set_op_type(colon == std::string::npos ? type : type.substr(colon + 1));
  node.set_name(outputs.front());
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  for (const auto& [name, value] : attributes) Fill(*node.add_attribute(), name, value);
}

std::string ModelBuilder::AddIf(const std::string& condition, const std::string& captured,
                                const std::string& output) {
  Add("If", {condition}, output);
  auto& node = *message_->Graph().mutable_node()->rbegin();
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(branch);
    attribute.set_type(::onnx::AttributeProto::GRAPH);
    auto& graph = *attribute.mutable_g();
    graph.set_name(branch);
    auto& inner = *graph.add_node();
    inner.set_op_type("Identity");
    inner.add_input(captured);
    inner.add_output(std::string(branch) + "_out");
    graph.add_output()->set_name(std::string(branch) + "_out");
  }
  return output;
}

void ModelBuilder::Metadata(const std::string& key, const std::string& value) {
  auto& entry = *message_->model.add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
}

void ModelBuilder::Document(const std::string& operator_name, const std::string& text) {
  for (auto& node : *message_->Graph().mutable_node()) {
    if (node.name() == operator_name) node.set_doc_string(text);
  }
}

std::string ModelBuilder::Bytes() const { return message_->model.SerializeAsString(); }

Import MustImport(const ModelBuilder& model, const ImportOptions& options) {
  base::Expected<Import> import = import::onnx::ImportOnnx(model.Bytes(), "model.onnx", options);
  if (!import) {
    ADD_FAILURE() << base::Format(import.error());
    return {};
  }
  for (const std::string& complaint : FindUnaccounted(model.Bytes(), *import))
    ADD_FAILURE() << complaint << "\n"
                  << import::common::TextOf(import->nodes) << "\n"
                  << Describe(import->graph);
  // Every imported graph can be embedded in a plan and read back.
  const std::string json = import::yaml::WriteNetworkJson(import->graph);
  const base::Expected<Graph> again = import::yaml::ReadNetwork(json, "again.json");
  EXPECT_TRUE(again.has_value()) << (again ? "" : base::Format(again.error()));
  if (again) {
    EXPECT_EQ(import::yaml::WriteNetworkJson(*again), json);
    EXPECT_TRUE(*again == import->graph) << json;
  }
  return *std::move(import);
}

Graph MustImportGraph(const ModelBuilder& model, const ImportOptions& options) {
  return MustImport(model, options).graph;
}

base::Diagnostic FaultOf(const std::string& bytes, const ImportOptions& options) {
  const base::Expected<Import> import = import::onnx::ImportOnnx(bytes, "model.onnx", options);
  if (!import) return import.error();
  ADD_FAILURE() << "accepted:\n" << Describe(import->graph);
  return {};
}

std::string Describe(const Graph& graph) {
  std::string text;
  const auto name = [&graph](int tensor) { return graph.tensors[static_cast<size_t>(tensor)].id; };
  for (const Operator& op : graph.operators) {
    text += base::NameOf(op.kind);
    if (!op.function.empty()) text += " " + op.function;
    if (!op.activation.empty()) text += " then " + op.activation;
    text += " (";
    std::string separator;
    for (const std::vector<int>* list : {&op.inputs, &op.weights}) {
      for (const int tensor : *list) text += std::exchange(separator, ", ") + name(tensor);
    }
    text += ") ->";
    for (const int tensor : op.outputs)
      text +=
          " " + name(tensor) + " " + ops::ToText(graph.tensors[static_cast<size_t>(tensor)].shape);
    text += '\n';
  }
  return text;
}

Graph ImportOne(const std::string& type, const std::vector<Extent>& x,
                const std::vector<std::string>& others, const Attributes& attributes,
                const std::function<void(ModelBuilder&)>& constants, int64_t version) {
  ModelBuilder model(version);
  model.Input("x", x);
  if (constants) constants(model);
  std::vector<std::string> inputs = {"x"};
  inputs.insert(inputs.end(), others.begin(), others.end());
  model.Add(type, inputs, "y", attributes);
  model.Output("y");
  return MustImportGraph(model);
}

const Operator& OperatorNamed(const Graph& graph, const std::string& id) {
  static const Operator kNone;
  const std::optional<int> found = FindOperator(graph, id);
  EXPECT_TRUE(found.has_value()) << id << " of\n" << Describe(graph);
  return found ? graph.operators[static_cast<size_t>(*found)] : kNone;
}

const Tensor& TensorNamed(const Graph& graph, const std::string& id) {
  static const Tensor kNone;
  const std::optional<int> found = FindTensor(graph, id);
  EXPECT_TRUE(found.has_value()) << id << " of\n" << Describe(graph);
  return found ? graph.tensors[static_cast<size_t>(*found)] : kNone;
}

}  // namespace tessera::graph::onnx
