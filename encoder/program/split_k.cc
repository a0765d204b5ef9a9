// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/ops/definition.h"

// A convolution with one group sums over its input channels. A matmul sums over the columns of its
// first operand, which are the rows of its second. A reduction combines all elements along its
// axes, and is cut into slices along the first of them.
//
//            K extent                     columns of the tile
//         .---.---.---.                      .-----.
//    rows | 0 | 1 | 2 |   times    K extent  |  0  |     round r adds slice r of both operands to
//         '---'---'---'                      |  1  |     the partial sums, which live in their wide
//                                            |  2  |     type from the first round to the last
//                                            '-----'
//
// So neither operand is present as a whole, for any K extent. The partial sums are as large as the
// tile. A slice of the constant has only the columns of the tile, so adjacent tiles divide its
// bytes. Long slices have fewer transfers to wait for, short ones need less space: both are tried.
namespace tessera::encoder::program {
namespace {

using problem::Bytes;

const graph::Tensor& FactsOf(const graph::Graph& graph, int tensor) {
  return graph.tensors[static_cast<size_t>(tensor)];
}

int64_t Product(int64_t a, int64_t b) { return base::CheckedMul(a, b).value_or(base::kMaxTotal); }

Bytes BytesTogether(base::DataType type, int64_t elements) {
  constexpr int64_t kMostElements = int64_t{1} << 56;
  return elements > kMostElements ? base::kMaxTotal : base::BytesOf(type, elements);
}

// The axes along which the operator adds up, if it adds up along one axis of each operand and uses
// each operand once.
std::optional<KCut> CutOf(const graph::Graph& graph, const graph::Operator& op) {
  KCut cut;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const graph::Shape& shape = FactsOf(graph, op.inputs[i]).shape;
    const std::optional<size_t> axis = graph::ops::SumAxisOf(op, i, shape.size());
    if (!axis) return std::nullopt;
    if (i == 0) cut.k_extent = shape[*axis];
    cut.features.push_back({op.inputs[i], *axis});
  }
  if (op.inputs.size() == 2) {
    if (op.inputs.front() == op.inputs.back()) return std::nullopt;
    return cut;
  }
  const bool has_filters = graph::ops::DefinitionOf(op.kind).filter_axes != nullptr;
  if (op.inputs.size() != 1 || has_filters == op.weights.empty()) return std::nullopt;
  if (!has_filters) return cut;
  const int factor = op.weights.front();
  const graph::Tensor& constant = FactsOf(graph, factor);
  const std::optional<graph::ops::FilterAxes> axes = graph::ops::FilterAxesOf(
      op, constant.shape.size(), FactsOf(graph, op.outputs.front()).shape.size());
  const bool is_used_once = std::count(op.weights.begin(), op.weights.end(), factor) == 1;
  if (!axes || !axes->sum || !is_used_once || constant.stored_bytes > 0) return std::nullopt;
  cut.constant = {factor, *axes->sum};
  cut.constant_channels = axes->channels;
  cut.result_channels = axes->output;
  return cut;
}

// Returns the step of K extents: those of slices are multiples of it. Reductions may have a smaller
// step, because one index of theirs may be a row of a whole map.
int64_t StepOf(const KCut& cut, const hw_profiles::Profile& profile) {
  constexpr int64_t kSlicesOfAReduction = 128;
  const bool multiplies = cut.constant || cut.features.size() > 1;
  if (multiplies) return profile.tiling.k_granularity;
  return std::min(profile.tiling.k_granularity, base::CeilDiv(cut.k_extent, kSlicesOfAReduction));
}

}  // namespace

bool KCut::Takes(int tensor) const {
  return (constant && constant->tensor == tensor) ||
         std::any_of(features.begin(), features.end(),
                     [tensor](const KOperand& feature) { return feature.tensor == tensor; });
}

std::optional<KCut> FindKCut(const graph::Graph& graph, const hw_profiles::Profile& profile,
                             graph::Interval interval, int64_t k_extent) {
  if (interval.first != interval.last) return std::nullopt;
  const graph::Operator& op = graph.operators[static_cast<size_t>(interval.first)];
  std::optional<KCut> cut = CutOf(graph, op);
  if (!cut) return std::nullopt;
  const int64_t step = StepOf(*cut, profile);
  const int64_t granularity = k_extent == 0 ? step : k_extent;
  if (granularity % step != 0 || cut->k_extent <= granularity) return std::nullopt;
  if (cut->constant) {
    const graph::Shape& constant = FactsOf(graph, cut->constant->tensor).shape;
    const graph::Shape& result = FactsOf(graph, op.outputs.front()).shape;
    if (constant[cut->constant->axis] != cut->k_extent ||
        constant[cut->constant_channels] != result[cut->result_channels])
      return std::nullopt;
  }
  cut->op = interval.first;
  cut->granularity = granularity;
  return cut;
}

graph::tiling::Extents SliceOf(const KOperand& feature, graph::tiling::ExtentsView needed,
                               int64_t k_extent) {
  graph::tiling::Extents slice(needed.begin(), needed.end());
  slice[feature.axis] = std::min(slice[feature.axis], k_extent);
  return slice;
}

Bytes ConstantSliceBytes(const graph::Graph& graph, const KCut& cut,
                         graph::tiling::ExtentsView result, int64_t k_extent) {
  const graph::Tensor& constant = FactsOf(graph, cut.constant->tensor);
  const int64_t each =
      graph::ElementsOf(constant.shape) / constant.shape[cut.constant_channels] / cut.k_extent;
  return BytesTogether(constant.type,
                       Product(Product(each, k_extent), result[cut.result_channels]));
}

Bytes ConstantTableBytes(const hw_profiles::Profile& profile, const KCut& cut,
                         graph::tiling::ExtentsView result) {
  return Product(profile.table_bytes_per_channel, result[cut.result_channels]);
}

Bytes AccumulatorBytes(const graph::Graph& graph, const graph::Operator& op,
                       graph::tiling::ExtentsView result) {
  int64_t sums = 1;
  for (const int64_t extent : result) sums = Product(sums, extent);
  return std::max<Bytes>(1, BytesTogether(base::AccumulatorOf(WorkingType(graph, op)), sums));
}

}  // namespace tessera::encoder::program
