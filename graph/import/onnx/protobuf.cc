// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/onnx/protobuf.h"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>

#include "tessera/base/text.h"
#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/common/source_model.h"
#include "tessera/graph/import/onnx/translations.h"
#include "tessera/graph/ops/shape_inference.h"

namespace tessera::graph::import::onnx {

namespace {

using ::onnx::AttributeProto;
using ::onnx::TensorProto;

template <typename Stored, typename Value>
std::vector<Value> FromRaw(const std::string& raw) {
  std::vector<Stored> stored(raw.size() / sizeof(Stored));
  std::memcpy(stored.data(), raw.data(), stored.size() * sizeof(Stored));
  return {stored.begin(), stored.end()};
}

template <typename Value, typename Field>
std::vector<Value> FromField(const Field& field) {
  return {field.begin(), field.end()};
}

std::optional<std::vector<int64_t>> IntegersOf(const TensorProto& tensor) {
  const std::string& raw = tensor.raw_data();
  switch (tensor.data_type()) {
    case TensorProto::INT64:
      return raw.empty() ? FromField<int64_t>(tensor.int64_data()) : FromRaw<int64_t, int64_t>(raw);
    case TensorProto::INT32:
      return raw.empty() ? FromField<int64_t>(tensor.int32_data()) : FromRaw<int32_t, int64_t>(raw);
    case TensorProto::INT16:
      return raw.empty() ? FromField<int64_t>(tensor.int32_data()) : FromRaw<int16_t, int64_t>(raw);
    case TensorProto::INT8:
      return raw.empty() ? FromField<int64_t>(tensor.int32_data()) : FromRaw<int8_t, int64_t>(raw);
    case TensorProto::BOOL:
    case TensorProto::UINT8:
      return raw.empty() ? FromField<int64_t>(tensor.int32_data()) : FromRaw<uint8_t, int64_t>(raw);
    case TensorProto::UINT16:
      return raw.empty() ? FromField<int64_t>(tensor.int32_data())
                         : FromRaw<uint16_t, int64_t>(raw);
    case TensorProto::UINT32:
      return raw.empty() ? FromField<int64_t>(tensor.uint64_data())
                         : FromRaw<uint32_t, int64_t>(raw);
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<double>> RealsOf(const TensorProto& tensor) {
  const std::string& raw = tensor.raw_data();
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      return raw.empty() ? FromField<double>(tensor.float_data()) : FromRaw<float, double>(raw);
    case TensorProto::DOUBLE:
      return raw.empty() ? FromField<double>(tensor.double_data()) : FromRaw<double, double>(raw);
    default:
      return std::nullopt;
  }
}

// Constants with few bytes keep their values. If the bytes do not match the extents, there are no
// values.
void ReadValues(const TensorProto& tensor, common::Constant& constant) {
  const int64_t count = ElementsOf(constant.shape);
  if (count > common::kMostValues || tensor.data_location() == TensorProto::EXTERNAL) return;
  const int64_t bits = base::BitsOf(constant.type);
  if (!tensor.raw_data().empty() &&
      static_cast<int64_t>(tensor.raw_data().size()) * 8 != count * bits)
    return;
  if (auto integers = IntegersOf(tensor);
      integers && static_cast<int64_t>(integers->size()) == count) {
    constant.integers = std::move(integers);
  }
  if (auto reals = RealsOf(tensor); reals && static_cast<int64_t>(reals->size()) == count) {
    constant.reals = std::move(reals);
  }
}

// Extents of constants may be 0, unlike those of features.
bool IsPossible(const Shape& shape) {
  Shape positive = shape;
  for (int64_t& extent : positive) {
    if (extent < 0) return false;
    extent = std::max<int64_t>(extent, 1);
  }
  return ops::IsCountable(positive);
}

// A constant with extents and type, without values.
base::Expected<common::Constant> Outlined(const TensorProto& tensor,
                                          const google::protobuf::RepeatedField<int64_t>& dims,
                                          const std::string& name, const std::string& file) {
  common::Constant constant;
  constant.shape = {dims.begin(), dims.end()};
  const std::optional<base::DataType> type = common::TypeFromOnnx(tensor.data_type());
  if (!type) {
    return common::FileFault(
        file, "constant '" + name + "' has data type " + std::to_string(tensor.data_type()),
        "integers, Booleans, or floating-point numbers of 16, 32 or 64 bits");
  }
  if (!IsPossible(constant.shape)) {
    return common::FileFault(
        file, "constant '" + name + "' has the extents " + ops::ToText(constant.shape),
        "extents from 0 on, and at most 2^56 elements");
  }
  constant.type = *type;
  return constant;
}

std::string TextOf(int64_t value) { return std::to_string(value); }

// The fewest digits that identify the number.
std::string TextOf(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), static_cast<float>(value)).ptr;
  return {text, end};
}

std::string TextOf(const std::string& value) { return value; }

template <typename T>
std::string TextOf(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "[" : ", ") + TextOf(value);
  return text.empty() ? "[]" : text + "]";
}

}  // namespace

base::Expected<common::Constant> ReadConstant(const TensorProto& tensor, const std::string& name,
                                              const std::string& file) {
  base::Expected<common::Constant> constant = Outlined(tensor, tensor.dims(), name, file);
  if (constant) ReadValues(tensor, *constant);
  return constant;
}

base::Expected<common::Constant> ReadSparseConstant(const ::onnx::SparseTensorProto& tensor,
                                                    const std::string& name,
                                                    const std::string& file) {
  return Outlined(tensor.values(), tensor.dims(), name, file);
}

base::Expected<common::Attribute> ReadAttribute(const AttributeProto& attribute,
                                                const std::string& file) {
  switch (attribute.type()) {
    case AttributeProto::INT:
      return common::Attribute(attribute.i());
    case AttributeProto::FLOAT:
      return common::Attribute(static_cast<double>(attribute.f()));
    case AttributeProto::STRING:
      return common::Attribute(attribute.s());
    case AttributeProto::INTS:
      return common::Attribute(FromField<int64_t>(attribute.ints()));
    case AttributeProto::FLOATS:
      return common::Attribute(FromField<double>(attribute.floats()));
    case AttributeProto::STRINGS:
      return common::Attribute(FromField<std::string>(attribute.strings()));
    case AttributeProto::TENSOR: {
      if (attribute.t().data_type() == TensorProto::STRING) return common::Attribute();
      base::Expected<common::Constant> constant =
          ReadConstant(attribute.t(), attribute.name(), file);
      if (!constant) return base::Unexpected(constant.error());
      return common::Attribute(*std::move(constant));
    }
    default:
      return common::Attribute();
  }
}

std::optional<std::string> TextOf(const common::Attribute& attribute) {
  std::optional<std::string> text = std::visit(
      [](const auto& value) -> std::optional<std::string> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, common::Constant>) {
          return std::nullopt;
        } else {
          return TextOf(value);
        }
      },
      attribute);
  return text && base::IsUtf8(*text) ? text : std::nullopt;
}

// The library infers a whole graph from the declarations of the file. Here it is called node by
// node, and the constants that import has folded so far are its input data. So it also knows shapes
// that follow from arithmetic on shapes.
namespace {

using ::onnx::TensorProto;
using ::onnx::TypeProto;

TypeProto ToProto(const common::ValueType& type) {
  TypeProto proto;
  TypeProto::Tensor* tensor = proto.mutable_tensor_type();
  if (type.type) tensor->set_elem_type(common::TypeToOnnx(*type.type));
  if (!type.shape) return proto;
  tensor->mutable_shape();
  for (const int64_t extent : *type.shape)
    tensor->mutable_shape()->add_dim()->set_dim_value(extent);
  return proto;
}

TensorProto ToProto(const common::Constant& constant) {
  TensorProto proto;
  for (const int64_t extent : constant.shape) proto.add_dims(extent);
  if (constant.integers) {
    proto.set_data_type(constant.type == base::DataType::kInt32 ? TensorProto::INT32
                                                                : TensorProto::INT64);
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

bool HasValues(const common::Constant& constant) { return constant.integers || constant.reals; }

common::ValueType FromProto(const TypeProto& proto) {
  common::ValueType type;
  if (!proto.has_tensor_type()) return type;
  type.type = common::TypeFromOnnx(proto.tensor_type().elem_type());
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

// The library reads past the end of shapes and lists of convolutions and pools that do not match
// each other.
bool HasSoundWindow(const common::Node& node, const std::map<std::string, Operand>& operands) {
  if (node.type.find("Conv") == std::string::npos && node.type.find("Pool") == std::string::npos)
    return true;
  const auto rank_of = [&](size_t i) -> size_t {
    const auto found = node.HasInput(i) ? operands.find(node.inputs[i]) : operands.end();
    return found == operands.end() || !found->second.type.shape ? 0
                                                                : found->second.type.shape->size();
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

// With ceil_mode the library also counts windows that begin in the padding after the input. No
// runtime computes these.
void LeaveOutWindowsBehind(const common::Node& node, const std::map<std::string, Operand>& operands,
                           std::vector<common::ValueType>& outputs) {
  if (!RoundsUp(node) || !node.HasInput(0)) return;
  const std::optional<Shape>& input = operands.at(node.inputs[0]).type.shape;
  const size_t axes = input && input->size() > 2 ? input->size() - 2 : 0;
  const std::vector<int64_t> strides = node.Ints("strides");
  const std::vector<int64_t> pads = node.Ints("pads");
  const std::string automatic = node.Text("auto_pad", "NOTSET");
  const bool explicit_pads = automatic == "NOTSET" && pads.size() == 2 * axes;
  for (common::ValueType& output : outputs) {
    for (size_t axis = 0; axis < axes && output.shape && output.shape->size() == input->size();
         ++axis) {
      const int64_t stride = axis < strides.size() ? strides[axis] : 1;
      const int64_t end = (*input)[axis + 2] + (explicit_pads ? pads[axis] : 0);
      int64_t& windows = (*output.shape)[axis + 2];
      if (windows > 1 && (windows - 1) * stride >= end) --windows;
    }
  }
}

}  // namespace

tl::expected<std::vector<common::ValueType>, std::string> ModelFile::InferOutputs(
    const common::Node& node, const std::map<std::string, Operand>& operands) const {
  std::vector<common::ValueType> outputs(node.outputs.size());
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
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the file
  } catch (const std::exception& error) {
    return tl::unexpected(std::string(error.what()));
  }
  return outputs;
}

}  // namespace tessera::graph::import::onnx
