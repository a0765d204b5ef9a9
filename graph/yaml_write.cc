#include <nlohmann/json.hpp>

#include "tessera/base/json_writer.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/yaml.h"

namespace tessera::graph {
namespace {

using Json = nlohmann::ordered_json;

const Tensor& TensorOf(const Graph& graph, int tensor) { return graph.tensors[static_cast<size_t>(tensor)]; }

void PutAnnotations(const std::map<std::string, std::string>& annotations, Json& json) {
  for (const auto& [key, text] : annotations) json[key] = text;
}

Json ToJson(const Tensor& tensor) {
  Json json = {{"id", tensor.id}, {"shape", tensor.shape}, {"dtype", base::NameOf(tensor.type)}};
  if (tensor.state) json["state"] = true;
  PutAnnotations(tensor.annotations, json);
  return json;
}

Json NamesOf(const Graph& graph, const std::vector<int>& tensors) {
  Json names = Json::array();
  for (const int tensor : tensors) names.push_back(TensorOf(graph, tensor).id);
  return names;
}

void PutWindow(const Window& window, Json& json) {
  json["kernel"] = window.kernel;
  json["stride"] = window.stride;
  json["pads"] = {window.pad_low[0], window.pad_low[1], window.pad_high[0], window.pad_high[1]};
  json["dilation"] = window.dilation;
}

void PutAttributes(const Graph& graph, const Operator& op, Json& json) {
  const Shape& output = TensorOf(graph, op.outputs.front()).shape;
  switch (op.kind) {
    case base::OperatorKind::kConv:
      json["out_channels"] = output[1];
      json["groups"] = op.groups;
      PutWindow(op.window, json);
      break;
    case base::OperatorKind::kDepthwise:
      json["multiplier"] = output[1] / TensorOf(graph, op.inputs.front()).shape[1];
      PutWindow(op.window, json);
      break;
    case base::OperatorKind::kPool:
      json["function"] = op.function;
      PutWindow(op.window, json);
      break;
    case base::OperatorKind::kGlobalPool:
      json["function"] = op.function;
      json["keep_axes"] = output.size() == 4;
      break;
    case base::OperatorKind::kElementwise:
      json["function"] = op.function;
      break;
    case base::OperatorKind::kConcat:
    case base::OperatorKind::kSoftmax:
    case base::OperatorKind::kLayerNorm:
      json["axis"] = op.axis;
      break;
    case base::OperatorKind::kMatmul:
      if (op.inputs.size() == 1) json["columns"] = output.back();
      if (op.inputs.size() == 2) json["transpose_second"] = op.transpose_second;
      break;
    case base::OperatorKind::kResize:
      json["mode"] = op.resize_mode == ResizeMode::kNearest ? "nearest" : "bilinear";
      json["size"] = {output[2], output[3]};
      break;
    case base::OperatorKind::kTranspose:
      json["permutation"] = op.permutation;
      break;
    case base::OperatorKind::kReshape:
    case base::OperatorKind::kOpaque:
      break;
  }
}

Json ToJson(const Graph& graph, const Operator& op) {
  Json json = {{"id", op.id}, {"kind", base::NameOf(op.kind)}, {"inputs", NamesOf(graph, op.inputs)}};
  if (!op.weights.empty()) json["weights"] = NamesOf(graph, op.weights);
  if (op.kind == base::OperatorKind::kOpaque) {
    json["outputs"] = Json::array();
    for (const int tensor : op.outputs) json["outputs"].push_back(ToJson(TensorOf(graph, tensor)));
    json["macs"] = op.macs;
  } else {
    const Tensor& output = TensorOf(graph, op.outputs.front());
    if (output.id != op.id) json["output"] = output.id;
    json["shape"] = output.shape;
    json["dtype"] = base::NameOf(output.type);
    PutAttributes(graph, op, json);
    if (!op.activation.empty()) json["activation"] = op.activation;
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
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.network_input || tensor.state) inputs.push_back(ToJson(tensor));
    if (tensor.constant) constants.push_back(ToJson(tensor));
    if (tensor.network_output) outputs.push_back(tensor.id);
  }
  json["inputs"] = std::move(inputs);
  json["constants"] = std::move(constants);
  json["operators"] = Json::array();
  for (const Operator& op : graph.operators) json["operators"].push_back(ToJson(graph, op));
  json["outputs"] = std::move(outputs);
  PutAnnotations(graph.annotations, json);
  return base::WriteJson(json);
}

}  // namespace tessera::graph
