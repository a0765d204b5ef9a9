#include "tessera/graph/onnx/message_values.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tessera/base/utf8.h"
#include "tessera/graph/onnx/structure.h"
#include "tessera/graph/onnx/types.h"
#include "tessera/graph/shape_inference.h"

namespace tessera::graph::onnx {
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
      return raw.empty() ? FromField<int64_t>(tensor.int32_data()) : FromRaw<uint16_t, int64_t>(raw);
    case TensorProto::UINT32:
      return raw.empty() ? FromField<int64_t>(tensor.uint64_data()) : FromRaw<uint32_t, int64_t>(raw);
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

// Constants of few bytes keep their values; where the bytes do not match the extents there are none.
void ReadValues(const TensorProto& tensor, Constant& constant) {
  const int64_t count = ElementsOf(constant.shape);
  if (count > kMostValues || tensor.data_location() == TensorProto::EXTERNAL) return;
  const int64_t bits = base::BitsOf(constant.type);
  if (!tensor.raw_data().empty() && static_cast<int64_t>(tensor.raw_data().size()) * 8 != count * bits)
    return;
  if (auto integers = IntegersOf(tensor); integers && static_cast<int64_t>(integers->size()) == count) {
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
  return IsCountable(positive);
}

// Without values.
base::Expected<Constant> Outlined(const TensorProto& tensor,
                                  const google::protobuf::RepeatedField<int64_t>& dims,
                                  const std::string& name, const std::string& file) {
  Constant constant;
  constant.shape = {dims.begin(), dims.end()};
  const std::optional<base::DataType> type = TypeFromOnnx(tensor.data_type());
  if (!type) {
    return FileFault(file, "constant '" + name + "' has data type " + std::to_string(tensor.data_type()),
                     "integers, Booleans, or floating-point numbers of 16, 32 or 64 bits");
  }
  if (!IsPossible(constant.shape)) {
    return FileFault(file, "constant '" + name + "' has the extents " + ToText(constant.shape),
                     "extents from 0 on, and at most 2^56 elements");
  }
  constant.type = *type;
  return constant;
}

std::string TextOf(int64_t value) { return std::to_string(value); }

// As few digits as tell the number from others.
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

base::Expected<Constant> ReadConstant(const TensorProto& tensor, const std::string& name,
                                      const std::string& file) {
  base::Expected<Constant> constant = Outlined(tensor, tensor.dims(), name, file);
  if (constant) ReadValues(tensor, *constant);
  return constant;
}

base::Expected<Constant> ReadSparseConstant(const ::onnx::SparseTensorProto& tensor, const std::string& name,
                                            const std::string& file) {
  return Outlined(tensor.values(), tensor.dims(), name, file);
}

base::Expected<Attribute> ReadAttribute(const AttributeProto& attribute, const std::string& file) {
  switch (attribute.type()) {
    case AttributeProto::INT:
      return Attribute(attribute.i());
    case AttributeProto::FLOAT:
      return Attribute(static_cast<double>(attribute.f()));
    case AttributeProto::STRING:
      return Attribute(attribute.s());
    case AttributeProto::INTS:
      return Attribute(FromField<int64_t>(attribute.ints()));
    case AttributeProto::FLOATS:
      return Attribute(FromField<double>(attribute.floats()));
    case AttributeProto::STRINGS:
      return Attribute(FromField<std::string>(attribute.strings()));
    case AttributeProto::TENSOR: {
      if (attribute.t().data_type() == TensorProto::STRING) return Attribute();
      base::Expected<Constant> constant = ReadConstant(attribute.t(), attribute.name(), file);
      if (!constant) return base::Unexpected(constant.error());
      return Attribute(*std::move(constant));
    }
    default:
      return Attribute();
  }
}

std::optional<std::string> TextOf(const Attribute& attribute) {
  std::optional<std::string> text = std::visit(
      [](const auto& value) -> std::optional<std::string> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, Constant>) {
          return std::nullopt;
        } else {
          return TextOf(value);
        }
      },
      attribute);
  return text && base::IsUtf8(*text) ? text : std::nullopt;
}

}  // namespace tessera::graph::onnx
