// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <utility>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/ops/windows.h"

// All definitions, by the list of kinds, and functions that all kinds share.
namespace tessera::graph::ops {

#define TESSERA_DECLARATION(code, ...) extern const OperatorDefinition k##code;
TESSERA_OPERATOR_KINDS(TESSERA_DECLARATION)
#undef TESSERA_DECLARATION

const OperatorDefinition& DefinitionOf(base::OperatorKind kind) {
  static constexpr auto kAll = std::to_array<const OperatorDefinition*>({
#define TESSERA_ADDRESS(code, ...) &k##code,
      TESSERA_OPERATOR_KINDS(TESSERA_ADDRESS)
#undef TESSERA_ADDRESS
  });
  return *kAll[static_cast<size_t>(kind)];
}

std::optional<size_t> SumAxisOf(const Operator& op, size_t operand, size_t rank) {
  const OperatorDefinition& definition = DefinitionOf(op.kind);
  return definition.sum_axis == nullptr ? std::nullopt : definition.sum_axis(op, operand, rank);
}

bool SelectsElements(const Operator& op) {
  const auto selects = DefinitionOf(op.kind).selects;
  return selects == nullptr ? base::TraitsOf(op.kind).moves_data : selects(op);
}

std::optional<int64_t> GreatestIndexOf(const Operator& op, const Shape& input) {
  const auto greatest = DefinitionOf(op.kind).greatest_index;
  return greatest == nullptr ? std::nullopt : greatest(op, input);
}

bool HoldsIndex(base::DataType type, int64_t index) {
  switch (type) {
    case base::DataType::kInt4:
    case base::DataType::kInt8:
    case base::DataType::kInt16:
    case base::DataType::kInt32:
      return index < int64_t{1} << (base::BitsOf(type) - 1);
    case base::DataType::kInt64:
      return true;
    case base::DataType::kUint8:
      return index < int64_t{1} << base::BitsOf(type);
    default:
      return false;
  }
}

Holes HolesOf(const Operator& op, const Shape& input, const Shape& output) {
  const auto holes = DefinitionOf(op.kind).holes;
  if (holes != nullptr) return holes(op, input, output);
  if (!base::TraitsOf(op.kind).mixes_axes) return HolesOf(op.window, output);
  return ElementsOf(input) == ElementsOf(output) ? Holes::kIfLarger : Holes::kInParts;
}

std::optional<FilterAxes> FilterAxesOf(const Operator& op, size_t rank, size_t output_rank) {
  const OperatorDefinition& definition = DefinitionOf(op.kind);
  return definition.filter_axes == nullptr ? std::nullopt
                                           : definition.filter_axes(op, rank, output_rank);
}

std::vector<int64_t> NumbersOf(const Box& box, const Shape& shape) {
  std::vector<int64_t> numbers = {0};
  for (size_t axis = 0; axis < box.size(); ++axis) {
    std::vector<int64_t> longer;
    longer.reserve(numbers.size() * static_cast<size_t>(box[axis].end - box[axis].begin));
    for (const int64_t number : numbers) {
      for (int64_t index = box[axis].begin; index < box[axis].end; ++index) {
        longer.push_back(number * shape[axis] + index);
      }
    }
    numbers = std::move(longer);
  }
  return numbers;
}

namespace {

// The index at which the measurement of the tile on the engine is, or would be inserted.
size_t PlaceOf(const Operator& op, std::span<const int64_t> tile, std::string_view engine) {
  const auto at = std::partition_point(
      op.measured.begin(), op.measured.end(), [&](const MeasuredTile& measured) {
        const auto order = std::lexicographical_compare_three_way(
            measured.tile.begin(), measured.tile.end(), tile.begin(), tile.end());
        return std::is_lt(order) || (std::is_eq(order) && measured.engine < engine);
      });
  return static_cast<size_t>(at - op.measured.begin());
}

}  // namespace

const MeasuredTile* FindMeasured(const Operator& op, std::span<const int64_t> tile,
                                 std::string_view engine) {
  const size_t place = PlaceOf(op, tile, engine);
  if (place == op.measured.size()) return nullptr;
  const MeasuredTile& found = op.measured[place];
  return std::ranges::equal(found.tile, tile) && found.engine == engine ? &found : nullptr;
}

void AddMeasured(Operator& op, MeasuredTile tile) {
  const size_t place = PlaceOf(op, tile.tile, tile.engine);
  if (FindMeasured(op, tile.tile, tile.engine) != nullptr) {
    op.measured[place] = std::move(tile);
  } else {
    op.measured.insert(op.measured.begin() + static_cast<std::ptrdiff_t>(place), std::move(tile));
  }
}

bool IsBarrier(const Operator& op) {
  return op.kind == base::OperatorKind::kOpaque && op.accesses.empty();
}

bool HasUnknownWork(const Operator& op) {
  return op.kind == base::OperatorKind::kOpaque && !op.macs;
}

}  // namespace tessera::graph::ops
