#include <array>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// The list of all definitions, and what is the same for every kind.
namespace tessera::graph::ops {

extern const OperatorDefinition kConv, kDepthwise, kTransposedConv, kPool, kGlobalPool, kReduce,
    kElementwise, kConcat, kSlice, kPad, kGather, kMatmul, kSoftmax, kLayerNorm, kReshape, kResize,
    kTranspose, kDepthToSpace, kSpaceToDepth, kOpaque;

const OperatorDefinition& DefinitionOf(base::OperatorKind kind) {
  // in the order of OperatorKind
  static constexpr std::array<const OperatorDefinition*, base::kOperatorTraits.size()> kAll = {
      &kConv,   &kDepthwise,   &kTransposedConv, &kPool,         &kGlobalPool,
      &kReduce, &kElementwise, &kConcat,         &kSlice,        &kPad,
      &kGather, &kMatmul,      &kSoftmax,        &kLayerNorm,    &kReshape,
      &kResize, &kTranspose,   &kDepthToSpace,   &kSpaceToDepth, &kOpaque};
  return *kAll[static_cast<size_t>(kind)];
}

std::optional<size_t> SumAxisOf(const Operator& op, size_t operand, size_t rank) {
  const OperatorDefinition& definition = DefinitionOf(op.kind);
  return definition.sum_axis == nullptr ? std::nullopt : definition.sum_axis(op, operand, rank);
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

bool IsBarrier(const Operator& op) {
  return op.kind == base::OperatorKind::kOpaque && op.accesses.empty();
}

bool HasUnknownWork(const Operator& op) {
  return op.kind == base::OperatorKind::kOpaque && !op.macs;
}

}  // namespace tessera::graph::ops
