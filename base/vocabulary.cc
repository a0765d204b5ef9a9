// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/vocabulary.h"

#include <algorithm>
#include <array>

#include "tessera/base/arithmetic.h"

namespace tessera::base {
namespace {

constexpr std::array<std::string_view, 11> kDataTypes = {
    "int4",    "int8",     "uint8",   "int16",   "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "bool"};
constexpr std::array<int64_t, 11> kBits = {4, 8, 8, 16, 32, 64, 16, 16, 32, 64, 8};

constexpr std::array kOperatorKinds = [] {
  std::array<std::string_view, kOperatorTraits.size()> names;
  for (size_t kind = 0; kind < names.size(); ++kind) names[kind] = kOperatorTraits[kind].name;
  return names;
}();

constexpr std::array<std::string_view, 6> kTensorRoles = {
    "network_input", "network_output", "boundary", "feature", "constant", "state"};

constexpr std::array<std::string_view, 4> kAxes = {"rows", "columns", "channels", "batch"};

template <typename Kind, size_t n>
std::optional<Kind> Parse(std::string_view name, const std::array<std::string_view, n>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Kind>(found - names.begin());
}

}  // namespace

int64_t BitsOf(DataType type) { return kBits[static_cast<size_t>(type)]; }

int64_t BytesOf(DataType type, int64_t count) { return CeilDiv(count * BitsOf(type), 8); }

DataType AccumulatorOf(DataType type) {
  switch (type) {
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kFloat32:
      return DataType::kFloat32;
    case DataType::kFloat64:
      return DataType::kFloat64;
    default:
      return BitsOf(type) <= 8 ? DataType::kInt32 : DataType::kInt64;
  }
}

std::string_view NameOf(DataType type) { return kDataTypes[static_cast<size_t>(type)]; }
std::string_view NameOf(OperatorKind kind) { return kOperatorKinds[static_cast<size_t>(kind)]; }
std::string_view NameOf(TensorRole role) { return kTensorRoles[static_cast<size_t>(role)]; }
std::string_view NameOf(Axis axis) { return kAxes[static_cast<size_t>(axis)]; }

std::span<const std::string_view> DataTypeNames() { return kDataTypes; }
std::span<const std::string_view> OperatorKindNames() { return kOperatorKinds; }
std::span<const std::string_view> TensorRoleNames() { return kTensorRoles; }
std::span<const std::string_view> AxisNames() { return kAxes; }

std::optional<DataType> ParseDataType(std::string_view name) {
  return Parse<DataType>(name, kDataTypes);
}
std::optional<OperatorKind> ParseOperatorKind(std::string_view name) {
  return Parse<OperatorKind>(name, kOperatorKinds);
}
std::optional<TensorRole> ParseTensorRole(std::string_view name) {
  return Parse<TensorRole>(name, kTensorRoles);
}

}  // namespace tessera::base
