// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/common/node_attributes.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::graph::import::common {

namespace {

using base::DataType;

// If two numbers mean one type, the first is used for writing.
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

namespace {

struct Bounds {
  int64_t start = 0;
  int64_t end = 0;
  int64_t step = 1;
};

// The extent is 0 if nothing remains.
void CutAxis(Cut& cut, size_t axis, int64_t extent, Bounds bounds) {
  const auto from_end = [extent](int64_t index) {
    return index < 0 ? std::max(index, -extent - 1) + extent : index;
  };
  const bool forward = bounds.step > 0;
  const int64_t start =
      std::clamp<int64_t>(from_end(bounds.start), 0, forward ? extent : extent - 1);
  const int64_t end = std::clamp<int64_t>(from_end(bounds.end), forward ? 0 : -1, extent);
  const int64_t way = forward ? end - start : start - end;
  const int64_t step = std::min(forward ? bounds.step : -std::max(bounds.step, -extent), extent);
  cut.starts[axis] = start;
  cut.steps[axis] = forward ? step : -step;
  cut.shape[axis] = way > 0 ? base::CeilDiv(way, step) : 0;
}

// The list of an operand, or of the attribute in operator sets before 10.
std::optional<std::vector<int64_t>> StatedIntegers(const Node& node, const IntegersOf& integers,
                                                   size_t operand, std::string_view attribute) {
  if (node.version < 10) return node.Ints(attribute);
  if (!node.HasInput(operand)) return std::vector<int64_t>{};
  return integers(operand);
}

}  // namespace

tl::expected<Cut, Obstacle> ReadCut(const Node& node, const Shape& input,
                                    const IntegersOf& integers) {
  const auto starts = StatedIntegers(node, integers, 1, "starts");
  const auto ends = StatedIntegers(node, integers, 2, "ends");
  auto axes = StatedIntegers(node, integers, 3, "axes");
  const auto steps = StatedIntegers(node, integers, 4, "steps");
  if (!starts || !ends || !axes || !steps)
    return Barrier("its bounds are computed while the network runs");
  if (axes->empty()) {
    axes->resize(starts->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  const bool step_for_each = steps->empty() || steps->size() == starts->size();
  if (ends->size() != starts->size() || axes->size() != starts->size() || !step_for_each)
    return Fault("starts, ends, axes and steps of different lengths", "lists of one length");
  Cut cut{std::vector<int64_t>(input.size(), 0), std::vector<int64_t>(input.size(), 1), input};
  std::vector<bool> is_listed(input.size(), false);
  for (size_t i = 0; i < axes->size(); ++i) {
    const std::optional<int> axis = AxisFrom((*axes)[i], input.size());
    if (!axis) {
      return Fault(
          "axis " + std::to_string((*axes)[i]) + " of an input of shape " + ops::ToText(input),
          "an axis of the input");
    }
    if (is_listed[static_cast<size_t>(*axis)])
      return Fault("axis " + std::to_string(*axis) + " is listed twice", "each axis once");
    is_listed[static_cast<size_t>(*axis)] = true;
    const int64_t extent = input[static_cast<size_t>(*axis)];
    const int64_t step = steps->empty() ? 1 : (*steps)[i];
    if (step == 0) return Fault("a step of 0", "any other");
    if (extent > 0)
      CutAxis(cut, static_cast<size_t>(*axis), extent, {(*starts)[i], (*ends)[i], step});
  }
  return cut;
}

tl::expected<std::vector<int>, Obstacle> ReadPermutation(const Node& node, size_t rank) {
  std::vector<int64_t> stated = node.Ints("perm");
  if (node.attributes.count("perm") == 0) {
    stated.resize(rank);
    std::iota(stated.rbegin(), stated.rend(), 0);
  }
  std::vector<int64_t> sorted = stated;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (sorted != axes) {
    return Fault("'perm' is " + ops::ToText(stated) + ", and the input has " +
                     std::to_string(rank) + (rank == 1 ? " axis" : " axes"),
                 rank == 0 ? "no axis" : "each of 0 to " + std::to_string(rank - 1) + " once",
                 "correct the attribute, or export the model again");
  }
  return std::vector<int>(stated.begin(), stated.end());
}

}  // namespace tessera::graph::import::common
