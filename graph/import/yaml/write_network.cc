#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "tessera/base/json_document.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/import/yaml/network_yaml.h"

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

std::string_view NameOf(std::span<const std::string_view> names, auto value) {
  return names[static_cast<size_t>(value)];
}

void PutTransposedConv(const Operator& op, const Shape& input, const Shape& output, Json& json) {
  json["out_channels"] = output[1];
  json["groups"] = op.groups;
  PutWindow(op.window, json);
  std::array<int64_t, 2> padding{};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t reach = (op.window.kernel[axis] - 1) * op.window.dilation[axis] + 1;
    const int64_t padded = (input[axis + 2] - 1) * op.window.stride[axis] + reach;
    padding[axis] = output[axis + 2] + op.window.pad_low[axis] + op.window.pad_high[axis] - padded;
  }
  json["output_padding"] = padding;
}

void PutResize(const Resize& resize, const Shape& output, Json& json) {
  json["mode"] = NameOf(ResizeModeNames(), resize.mode);
  json["coordinates"] = NameOf(ResizeCoordinatesNames(), resize.coordinates);
  json["rounding"] = NameOf(NearestRoundingNames(), resize.rounding);
  json["size"] = output;
  for (const Ratio& scale : resize.scales) {
    json["scales"].push_back(std::to_string(scale.numerator) + "/" +
                             std::to_string(scale.denominator));
  }
}

void PutOpaque(const Operator& op, Json& json) {
  if (op.macs) json["macs"] = *op.macs;
  for (const OperandAccess& access : op.accesses) {
    Json& entry = json["accesses"].emplace_back();
    if (access.kind == AccessKind::kWindow) {
      PutWindow(access.window, entry);
      entry["every_channel"] = access.every_channel;
    } else {
      entry = access.kind == AccessKind::kFull ? "full" : "elementwise";
    }
  }
  if (op.scratch_bytes > 0) json["scratch_bytes"] = op.scratch_bytes;
  if (!op.engine.empty()) json["engine"] = op.engine;
  if (!op.in_place.empty()) json["in_place"] = op.in_place;
}

void PutAttributes(const Graph& graph, const Operator& op, Json& json) {
  const Shape& output = TensorOf(graph, op.outputs.front()).shape;
  const Shape& input = TensorOf(graph, op.inputs.front()).shape;
  switch (op.kind) {
    case base::OperatorKind::kConv:
      json["out_channels"] = output[1];
      json["groups"] = op.groups;
      PutWindow(op.window, json);
      break;
    case base::OperatorKind::kDepthwise:
      json["multiplier"] = output[1] / input[1];
      PutWindow(op.window, json);
      break;
    case base::OperatorKind::kTransposedConv:
      PutTransposedConv(op, input, output, json);
      break;
    case base::OperatorKind::kPool:
      json["function"] = op.function;
      PutWindow(op.window, json);
      json["size"] = {output[2], output[3]};
      break;
    case base::OperatorKind::kGlobalPool:
      json["function"] = op.function;
      json["keep_axes"] = output.size() == 4;
      break;
    case base::OperatorKind::kReduce:
      json["function"] = op.function;
      json["axis"] = op.axes;
      json["keep_axes"] = output.size() == input.size();
      break;
    case base::OperatorKind::kElementwise:
      json["function"] = op.function;
      break;
    case base::OperatorKind::kConcat:
      json["axis"] = op.axis;
      break;
    case base::OperatorKind::kSoftmax:
    case base::OperatorKind::kLayerNorm:
      json["axis"] = op.axes;
      break;
    case base::OperatorKind::kSlice:
      json["starts"] = op.starts;
      json["steps"] = op.steps;
      break;
    case base::OperatorKind::kPad:
      json["low"] = op.padding.low;
      json["high"] = op.padding.high;
      json["mode"] = NameOf(PadModeNames(), op.padding.mode);
      break;
    case base::OperatorKind::kGather:
      json["axis"] = op.axis;
      json["indices"] = op.indices;
      if (output.size() < input.size()) json["indices"] = op.indices.front();
      break;
    case base::OperatorKind::kMatmul:
      json["transpose_first"] = op.transpose_first;
      if (op.inputs.size() == 1) json["columns"] = output.back();
      if (op.inputs.size() == 2) json["transpose_second"] = op.transpose_second;
      break;
    case base::OperatorKind::kResize:
      PutResize(op.resize, output, json);
      break;
    case base::OperatorKind::kTranspose:
      json["permutation"] = op.permutation;
      break;
    case base::OperatorKind::kDepthToSpace:
    case base::OperatorKind::kSpaceToDepth:
      json["block"] = op.block;
      json["order"] = NameOf(DepthOrderNames(), op.depth_order);
      break;
    case base::OperatorKind::kReshape:
    case base::OperatorKind::kOpaque:
      break;
  }
}

Json ToJson(const Graph& graph, const Operator& op) {
  Json json = {
      {"id", op.id}, {"kind", base::NameOf(op.kind)}, {"inputs", NamesOf(graph, op.inputs)}};
  if (!op.weights.empty()) json["weights"] = NamesOf(graph, op.weights);
  if (op.kind == base::OperatorKind::kOpaque) {
    json["outputs"] = Json::array();
    for (const int tensor : op.outputs) json["outputs"].push_back(ToJson(TensorOf(graph, tensor)));
    PutOpaque(op, json);
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
