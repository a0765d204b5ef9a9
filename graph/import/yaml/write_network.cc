// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tessera/base/json_document.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/ops/definition.h"

namespace tessera::graph::import::yaml {
namespace {

using Json = nlohmann::ordered_json;

const Tensor& TensorOf(const Graph& graph, int tensor) {
  return graph.tensors[static_cast<size_t>(tensor)];
}

void PutAnnotations(const std::map<std::string, std::string>& annotations, Json& json) {
  for (const auto& [key, text] : annotations) json[key] = text;
}

Json ToJson(const Tensor& tensor) {
  Json json = {{"id", tensor.id}, {"shape", tensor.shape}, {"dtype", base::NameOf(tensor.type)}};
  if (tensor.state) json["state"] = true;
  if (tensor.stored_bytes > 0) json["stored_bytes"] = tensor.stored_bytes;
  if (tensor.stored_by_ratio) json["stored_by_ratio"] = true;
  PutAnnotations(tensor.annotations, json);
  return json;
}

Json NamesOf(const Graph& graph, const std::vector<int>& tensors) {
  Json names = Json::array();
  for (const int tensor : tensors) names.push_back(TensorOf(graph, tensor).id);
  return names;
}

Json AccessesOf(const std::vector<OperandAccess>& accesses);

// The value at the place of a field. Null: nothing is written.
struct ValueWriter {
  const ops::Field& field;

  Json operator()(const std::optional<int64_t>* value) const {
    return *value ? Json(**value) : Json();
  }
  Json operator()(const std::vector<int64_t>* value) const {
    const bool is_single = field.is_list != nullptr && !*field.is_list;
    return is_single ? Json(value->front()) : Json(*value);
  }
  Json operator()(const std::vector<Ratio>* value) const {
    Json ratios = Json::array();
    for (const Ratio& ratio : *value)
      ratios.push_back(std::to_string(ratio.numerator) + "/" + std::to_string(ratio.denominator));
    return ratios;
  }
  Json operator()(const std::vector<OperandAccess>* value) const { return AccessesOf(*value); }
  Json operator()(const ops::Field::Pads& pads) const {
    const Window& window = *pads.window;
    return {window.pad_low[0], window.pad_low[1], window.pad_high[0], window.pad_high[1]};
  }
  Json operator()(const ops::Field::OutputShape&) const { return {}; }
  Json operator()(const ops::Field::WeightsType&) const { return {}; }
  template <typename Value>
  Json operator()(const Value* value) const {
    if constexpr (std::is_enum_v<Value>) {
      return ops::NamesOf(*value)[static_cast<size_t>(*value)];
    } else {
      return *value;
    }
  }
};

bool IsDefault(const Json& value) {
  return value.empty() || value == false || value == 0 || value == "";
}

void PutFields(const std::vector<ops::Field>& fields, Json& json) {
  for (const ops::Field& field : fields) {
    Json value = std::visit(ValueWriter{field}, field.place);
    const bool is_sparse = field.presence == ops::Presence::kSparse;
    if (!value.is_null() && !(is_sparse && IsDefault(value)))
      json[std::string(field.key)] = std::move(value);
  }
}

Json AccessesOf(const std::vector<OperandAccess>& accesses) {
  Json list = Json::array();
  for (OperandAccess access : accesses) {
    Json& entry = list.emplace_back();
    if (access.kind == ReadPattern::kWindow) {
      bool same_pads = false;
      PutFields(ops::FieldsOf(access, same_pads), entry);
    } else {
      entry = access.kind == ReadPattern::kFull ? "full" : "elementwise";
    }
  }
  return list;
}

void PutAttributes(const Graph& graph, Operator op, Json& json) {
  const ops::OperatorDefinition& definition = ops::DefinitionOf(op.kind);
  ops::Wanted wanted;
  if (definition.restate != nullptr) {
    definition.restate(op, TensorOf(graph, op.inputs.front()).shape,
                       TensorOf(graph, op.outputs.front()).shape, wanted);
  }
  PutFields(definition.fields(op, wanted, op.inputs.size()), json);
}

Json ToJson(const Graph& graph, const Operator& op) {
  Json json = {
      {"id", op.id}, {"kind", base::NameOf(op.kind)}, {"inputs", NamesOf(graph, op.inputs)}};
  if (!op.weights.empty()) json["weights"] = NamesOf(graph, op.weights);
  if (op.kind == base::OperatorKind::kOpaque) {
    json["outputs"] = Json::array();
    for (const int tensor : op.outputs) json["outputs"].push_back(ToJson(TensorOf(graph, tensor)));
    PutAttributes(graph, op, json);
  } else {
    const Tensor& output = TensorOf(graph, op.outputs.front());
    if (output.id != op.id) json["output"] = output.id;
    json["shape"] = output.shape;
    json["dtype"] = base::NameOf(output.type);
    PutAttributes(graph, op, json);
    if (!op.activation.empty()) json["activation"] = op.activation;
  }
  if (!op.engine.empty()) json["engine"] = op.engine;
  if (op.engine_chosen) json["engine_chosen"] = true;
  for (const MeasuredTile& measured : op.measured) {
    Json& entry = json["measured"].emplace_back(
        Json{{"tile", measured.tile}, {"engine", measured.engine}, {"cycles", measured.cycles}});
    if (measured.pj) entry["pj"] = *measured.pj;
  }
  PutAnnotations(op.annotations, json);
  return json;
}

}  // namespace

std::string WriteNetworkJson(const Graph& graph) {
  Json json = {{"schema", 1}, {"name", graph.name}};
  Json inputs = Json::array();
  Json constants = Json::array();
  Json outputs = Json::array();
  std::map<int, std::string> next_values;  // by state
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.network_input || tensor.state) inputs.push_back(ToJson(tensor));
    if (tensor.next_of >= 0) next_values[tensor.next_of] = tensor.id;
    if (tensor.constant) constants.push_back(ToJson(tensor));
    if (tensor.network_output) outputs.push_back(tensor.id);
  }
  for (Json& input : inputs) {
    const auto next = next_values.find(*FindTensor(graph, input.at("id").get<std::string>()));
    if (next != next_values.end()) input["next"] = next->second;
  }
  json["inputs"] = std::move(inputs);
  json["constants"] = std::move(constants);
  json["operators"] = Json::array();
  for (const Operator& op : graph.operators) json["operators"].push_back(ToJson(graph, op));
  json["outputs"] = std::move(outputs);
  PutAnnotations(graph.annotations, json);
  return base::WriteJson(json);
}

}  // namespace tessera::graph::import::yaml
