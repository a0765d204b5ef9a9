// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tessera/base/operator_kind.h"

// The closed vocabularies that networks and hardware profiles share, with the names of their words
// in YAML and JSON.
namespace tessera::base {

enum class DataType : uint8_t {
  kInt4,
  kInt8,
  kUint8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kBool
};

// Bits of one element. kInt4 packs two elements into a byte.
int64_t BitsOf(DataType type);

// Bytes of `count` consecutive elements, rounded up. count >= 0 and at most 2^56.
int64_t BytesOf(DataType type, int64_t count);

// The type in which products of such elements are accumulated: 32 bits for integers of up to 8 bits
// and for floating point of up to 32 bits, 64 bits for all others.
DataType AccumulatorOf(DataType type);

// The role of a tensor in the program. The profile gives each role a home memory, an alignment and
// a layout.
enum class TensorRole : uint8_t {
  kNetworkInput,
  kNetworkOutput,
  kBoundary,  // a feature map that crosses from one subgraph to a later one
  kFeature,   // a feature map that stays inside its subgraph
  kConstant,  // weights and tables
  kState,     // lives for all program time
};

// The meaning of an axis of a tensor, if its rank gives it a name.
enum class Axis : uint8_t { kRows, kColumns, kChannels, kBatch };

std::string_view NameOf(DataType type);      // "int8"
std::string_view NameOf(OperatorKind kind);  // "global_pool"
std::string_view NameOf(TensorRole role);    // "network_input"
std::string_view NameOf(Axis axis);          // "rows"

std::span<const std::string_view> DataTypeNames();
std::span<const std::string_view> OperatorKindNames();
std::span<const std::string_view> TensorRoleNames();
std::span<const std::string_view> AxisNames();

std::optional<DataType> ParseDataType(std::string_view name);
std::optional<OperatorKind> ParseOperatorKind(std::string_view name);
std::optional<TensorRole> ParseTensorRole(std::string_view name);

}  // namespace tessera::base
