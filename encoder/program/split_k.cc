#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/residence.h"

// A convolution with one group sums over its input channels. A matmul sums over the columns of its
// first operand, which are the rows of its second:
//
//            K extent                     columns of the tile
//         .---.---.---.                      .-----.
//    rows | 0 | 1 | 2 |   times    K extent  |  0  |     round r adds slice r of both operands to
//         '---'---'---'                      |  1  |     the partial sums, which live in their wide
//                                            |  2  |     type from the first round to the last
//                                            '-----'
//
// So neither operand is present as a whole, for any K extent. The partial sums are as large as
// the tile. A slice of the constant has only the columns of the tile, so adjacent tiles divide its
// bytes. Long slices have fewer transfers to wait for, short ones take less space: both are tried.
namespace tessera::encoder::program {
namespace {

using base::OperatorKind;
using problem::Bytes;

const graph::Tensor& FactsOf(const graph::Graph& graph, int tensor) {
  return graph.tensors[static_cast<size_t>(tensor)];
}

int64_t Product(int64_t a, int64_t b) { return base::CheckedMul(a, b).value_or(base::kMaxTotal); }

Bytes BytesTogether(base::DataType type, int64_t elements) {
  constexpr int64_t kMostElements = int64_t{1} << 56;
  return elements > kMostElements ? base::kMaxTotal : base::BytesOf(type, elements);
}

// The operator's first constant, if it has this rank and the operator uses it only once.
std::optional<int> FactorOf(const graph::Graph& graph, const graph::Operator& op, size_t rank) {
  if (op.weights.empty()) return std::nullopt;
  const int factor = op.weights.front();
  const graph::Tensor& constant = FactsOf(graph, factor);
  if (std::count(op.weights.begin(), op.weights.end(), factor) != 1) return std::nullopt;
  if (constant.shape.size() != rank || constant.stored_bytes > 0) return std::nullopt;
  return factor;
}

std::optional<KCut> CutConv(const graph::Graph& graph, const graph::Operator& op) {
  const std::optional<int> filters = FactorOf(graph, op, 4);
  if (op.groups != 1 || op.inputs.size() != 1 || !filters) return std::nullopt;
  KCut cut;
  cut.k_extent = FactsOf(graph, op.inputs.front()).shape[1];
  cut.features = {{op.inputs.front(), 1}};
  cut.constant = {*filters, 1};
  cut.constant_channels = 0;
  cut.result_channels = 1;
  return cut;
}

std::optional<KCut> CutMatmul(const graph::Graph& graph, const graph::Operator& op) {
  const graph::Shape& first = FactsOf(graph, op.inputs.front()).shape;
  if (first.size() < 2 || op.inputs.size() > 2) return std::nullopt;
  KCut cut;
  const size_t axis = first.size() - (op.transpose_first ? 2 : 1);
  cut.k_extent = first[axis];
  cut.features = {{op.inputs.front(), axis}};
  if (op.inputs.size() == 2) {
    const graph::Shape& second = FactsOf(graph, op.inputs.back()).shape;
    if (second.size() < 2 || op.inputs.front() == op.inputs.back()) return std::nullopt;
    cut.features.push_back({op.inputs.back(), second.size() - (op.transpose_second ? 1 : 2)});
    return cut;
  }
  const std::optional<int> columns = FactorOf(graph, op, 2);
  if (!columns) return std::nullopt;
  cut.constant = {*columns, 0};
  cut.constant_channels = 1;
  cut.result_channels = FactsOf(graph, op.outputs.front()).shape.size() - 1;
  return cut;
}

}  // namespace

bool KCut::Takes(int tensor) const {
  return (constant && constant->tensor == tensor) ||
         std::any_of(features.begin(), features.end(),
                     [tensor](const KOperand& feature) { return feature.tensor == tensor; });
}

std::optional<KCut> FindKCut(const graph::Graph& graph, const hw_profiles::Profile& profile,
                             graph::Interval interval, int64_t k_extent) {
  const int64_t granularity = k_extent == 0 ? profile.tiling.k_granularity : k_extent;
  if (granularity % profile.tiling.k_granularity != 0) return std::nullopt;
  if (interval.first != interval.last) return std::nullopt;
  const graph::Operator& op = graph.operators[static_cast<size_t>(interval.first)];
  std::optional<KCut> cut;
  if (op.inputs.empty()) return cut;
  if (op.kind == OperatorKind::kConv) cut = CutConv(graph, op);
  if (op.kind == OperatorKind::kMatmul) cut = CutMatmul(graph, op);
  if (!cut || cut->k_extent <= granularity) return std::nullopt;
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
