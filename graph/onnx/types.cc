#include "tessera/graph/onnx/types.h"

#include <array>
#include <utility>

namespace tessera::graph::onnx {
namespace {

using base::DataType;

// Where two numbers mean one type, the first is the one to write.
constexpr std::array<std::pair<int32_t, DataType>, 15> kNumbers = {{{1, DataType::kFloat32},
                                                                    {2, DataType::kUint8},
                                                                    {3, DataType::kInt8},
                                                                    {5, DataType::kInt16},
                                                                    {4, DataType::kInt16},
                                                                    {6, DataType::kInt32},
                                                                    {7, DataType::kInt64},
                                                                    {9, DataType::kBool},
                                                                    {10, DataType::kFloat16},
                                                                    {11, DataType::kFloat64},
                                                                    {12, DataType::kInt32},
                                                                    {13, DataType::kInt64},
                                                                    {16, DataType::kBfloat16},
                                                                    {22, DataType::kInt4},
                                                                    {21, DataType::kInt4}}};

}  // namespace

std::optional<DataType> TypeFromOnnx(int64_t number) {
  for (const auto& [known, type] : kNumbers) {
    if (known == number) return type;
  }
  return std::nullopt;
}

int32_t TypeToOnnx(DataType type) {
  for (const auto& [number, known] : kNumbers) {
    if (known == type) return number;
  }
  return 0;
}

bool IsFloating(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kBfloat16 || type == DataType::kFloat32 ||
         type == DataType::kFloat64;
}

}  // namespace tessera::graph::onnx
