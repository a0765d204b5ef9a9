#include <onnx/shape_inference/implementation.h>

#include <algorithm>

#include "tessera/graph/onnx/message.h"
#include "tessera/graph/onnx/types.h"
#include "tessera/graph/onnx/window.h"
#include "tessera/graph/shape_inference.h"

// The library infers a whole graph at once, from what the file declares. Here it is asked node by node, with every constant that
// import has folded so far as its input data: so shapes that follow from arithmetic on shapes are known to it too.
namespace tessera::graph::onnx {
namespace {

using ::onnx::TensorProto;
using ::onnx::TypeProto;

TypeProto ToProto(const ValueType& type) {
  TypeProto proto;
  TypeProto::Tensor* tensor = proto.mutable_tensor_type();
  if (type.type) tensor->set_elem_type(TypeToOnnx(*type.type));
  if (!type.shape) return proto;
  tensor->mutable_shape();
  for (const int64_t extent : *type.shape) tensor->mutable_shape()->add_dim()->set_dim_value(extent);
  return proto;
}

TensorProto ToProto(const Constant& constant) {
  TensorProto proto;
  for (const int64_t extent : constant.shape) proto.add_dims(extent);
  if (constant.integers) {
    proto.set_data_type(constant.type == base::DataType::kInt32 ? TensorProto::INT32 : TensorProto::INT64);
    for (const int64_t value : *constant.integers) {
      if (constant.type == base::DataType::kInt32) {
        proto.add_int32_data(static_cast<int32_t>(value));
      } else {
        proto.add_int64_data(value);
      }
    }
  } else {
    proto.set_data_type(TensorProto::FLOAT);
    for (const double value : *constant.reals) proto.add_float_data(static_cast<float>(value));
  }
  return proto;
}

bool HasValues(const Constant& constant) { return constant.integers || constant.reals; }

ValueType FromProto(const TypeProto& proto) {
  ValueType type;
  if (!proto.has_tensor_type()) return type;
  type.type = TypeFromOnnx(proto.tensor_type().elem_type());
  if (!proto.tensor_type().has_shape()) return type;
  Shape shape;
  for (const auto& dimension : proto.tensor_type().shape().dim()) {
    if (!dimension.has_dim_value() || dimension.dim_value() < 0) return type;
    shape.push_back(dimension.dim_value());
  }
  type.shape = std::move(shape);
  return type;
}

bool AreAtLeast(const std::vector<int64_t>& list, int64_t least) {
  return std::all_of(list.begin(), list.end(), [least](int64_t value) { return value >= least; });
}

// The library reads past the end of shapes and lists of convolutions and pools that do not fit each other.
bool HasSoundWindow(const Node& node, const std::map<std::string, Operand>& operands) {
  if (node.type.find("Conv") == std::string::npos && node.type.find("Pool") == std::string::npos) return true;
  const auto rank_of = [&](size_t i) -> size_t {
    const auto found = node.HasInput(i) ? operands.find(node.inputs[i]) : operands.end();
    return found == operands.end() || !found->second.type.shape ? 0 : found->second.type.shape->size();
  };
  const size_t rank = rank_of(0);
  if (rank < 3) return false;
  const bool has_weight = node.type.find("Conv") != std::string::npos;
  if (has_weight && rank_of(node.type == "QLinearConv" ? 3 : 1) != rank) return false;
  const auto fits = [&](std::string_view attribute, size_t length, int64_t least) {
    const std::vector<int64_t> list = node.Ints(attribute);
    return list.empty() || (list.size() == length && AreAtLeast(list, least));
  };
  return fits("kernel_shape", rank - 2, 1) && fits("strides", rank - 2, 1) &&
         fits("dilations", rank - 2, 1) && fits("pads", 2 * (rank - 2), 0) &&
         fits("output_padding", rank - 2, 0);
}

// With ceil_mode the library also counts windows that begin in the padding behind the input, which no runtime computes.
void LeaveOutWindowsBehind(const Node& node, const std::map<std::string, Operand>& operands,
                           std::vector<ValueType>& outputs) {
  if (!RoundsUp(node) || !node.HasInput(0)) return;
  const std::optional<Shape>& input = operands.at(node.inputs[0]).type.shape;
  const size_t axes = input && input->size() > 2 ? input->size() - 2 : 0;
  const std::vector<int64_t> strides = node.Ints("strides");
  const std::vector<int64_t> pads = node.Ints("pads");
  const std::string automatic = node.Text("auto_pad", "NOTSET");
  const bool explicit_pads = automatic == "NOTSET" && pads.size() == 2 * axes;
  for (ValueType& output : outputs) {
    for (size_t axis = 0; axis < axes && output.shape && output.shape->size() == input->size(); ++axis) {
      const int64_t stride = axis < strides.size() ? strides[axis] : 1;
      const int64_t end = (*input)[axis + 2] + (explicit_pads ? pads[axis] : 0);
      int64_t& windows = (*output.shape)[axis + 2];
      if (windows > 1 && (windows - 1) * stride >= end) --windows;
    }
  }
}

}  // namespace

tl::expected<std::vector<ValueType>, std::string> ModelFile::InferOutputs(
    const Node& node, const std::map<std::string, Operand>& operands) const {
  std::vector<ValueType> outputs(node.outputs.size());
  const ::onnx::OpSchema* schema =
      ::onnx::OpSchemaRegistry::Schema(node.type, static_cast<int>(node.version), node.domain);
  if (schema == nullptr || !schema->has_type_and_shape_inference_function()) return outputs;
  if (!HasSoundWindow(node, operands)) return outputs;
  std::unordered_map<std::string, TypeProto> types;
  std::unordered_map<std::string, TypeProto*> type_of;
  std::unordered_map<std::string, TensorProto> constants;
  std::unordered_map<std::string, const TensorProto*> data_of;
  for (const auto& [name, operand] : operands) {
    type_of[name] = &(types[name] = ToProto(operand.type));
    if (operand.constant != nullptr && HasValues(*operand.constant))
      data_of[name] = &(constants[name] = ToProto(*operand.constant));
  }
  namespace shape_inference = ::onnx::shape_inference;
  shape_inference::SymbolTableImpl symbols;
  shape_inference::GraphInferenceContext outer(type_of, message_->versions, &symbols);
  try {
    ::onnx::NodeProto& message = *message_->model.mutable_graph()->mutable_node(node.index);
    shape_inference::InferenceContextImpl context(message, type_of, data_of, {}, nullptr, &outer);
    schema->GetTypeAndShapeInferenceFunction()(context);
    std::transform(context.allOutputTypes_.begin(), context.allOutputTypes_.end(), outputs.begin(),
                   FromProto);
    LeaveOutWindowsBehind(node, operands, outputs);
  } catch (const std::exception& error) {
    return tl::unexpected(std::string(error.what()));
  }
  return outputs;
}

}  // namespace tessera::graph::onnx
