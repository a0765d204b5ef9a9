#include "tessera/plan/depth.h"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/checked.h"

// What an operator multiplies, read off its definition:
//
//     convolution    out[n, o, y, x]  = sum over d and taps of   in[n, d, ..] * filter[o, d, ..]
//     matmul         out[.., i, j]    = sum over d of            first[.., i, d] * second[.., d, j]
//
// The axis on which d stands in each factor is the one that slices run along; o or j is the constant's channel.
namespace tessera::plan {
namespace {

using base::OperatorKind;

class Reading {
 public:
  Reading(const Plan& plan, const Subgraph& subgraph)
      : plan_(plan), op_(plan.network.operators[static_cast<size_t>(subgraph.interval.first)]) {
    slices_.op = subgraph.interval.first;
    slices_.granule = DepthOfSlices(plan, subgraph);
  }

  std::optional<DepthSlices> Find() {
    const bool read = op_.kind == OperatorKind::kConv     ? ReadConv()
                      : op_.kind == OperatorKind::kMatmul ? ReadMatmul()
                                                          : false;
    if (!read || slices_.depth <= slices_.granule) return std::nullopt;
    return slices_;
  }

 private:
  const graph::Tensor& At(int tensor) const { return plan_.network.tensors[static_cast<size_t>(tensor)]; }

  // False where the factor is another's too, or of another depth.
  bool Multiply(int tensor, size_t axis) {
    const graph::Shape& shape = At(tensor).shape;
    if (axis >= shape.size()) return false;
    if (slices_.along.empty()) slices_.depth = shape[axis];
    return shape[axis] == slices_.depth && slices_.along.emplace(tensor, axis).second;
  }

  // A constant stands for one factor alone, as its shape and type say.
  bool MultiplyConstant(size_t rank, size_t axis, size_t channels, size_t result_channels) {
    if (op_.weights.empty()) return false;
    slices_.constant = op_.weights.front();
    slices_.channels = channels;
    slices_.result_channels = result_channels;
    const graph::Tensor& constant = At(slices_.constant);
    const graph::Shape& result = At(op_.outputs.front()).shape;
    const auto times = std::count(op_.weights.begin(), op_.weights.end(), slices_.constant);
    return times == 1 && constant.stored_bytes == 0 && constant.shape.size() == rank &&
           result_channels < result.size() && constant.shape[channels] == result[result_channels] &&
           Multiply(slices_.constant, axis);
  }

  bool ReadConv() {
    return op_.groups == 1 && op_.inputs.size() == 1 && Multiply(op_.inputs.front(), 1) &&
           MultiplyConstant(4, 1, 0, 1);
  }

  bool ReadMatmul() {
    if (op_.inputs.empty() || op_.inputs.size() > 2) return false;
    const size_t rank = At(op_.inputs.front()).shape.size();
    if (rank < 2 || !Multiply(op_.inputs.front(), op_.transpose_first ? rank - 2 : rank - 1)) return false;
    if (op_.inputs.size() == 1) return MultiplyConstant(2, 0, 1, At(op_.outputs.front()).shape.size() - 1);
    const size_t other = At(op_.inputs.back()).shape.size();
    return other >= 2 && Multiply(op_.inputs.back(), op_.transpose_second ? other - 1 : other - 2);
  }

  const Plan& plan_;
  const graph::Operator& op_;
  DepthSlices slices_;
};

}  // namespace

int64_t DepthSlices::Count() const { return base::CeilDiv(depth, granule); }

int64_t DepthSlices::DepthOf(int64_t slice) const {
  return std::min(depth, (slice + 1) * granule) - slice * granule;
}

int64_t DepthOfSlices(const Plan& plan, const Subgraph& subgraph) {
  if (subgraph.weights != hw_profiles::WeightPolicy::kByDepth) return 0;
  return subgraph.depth > 0 ? subgraph.depth : plan.profile.tiling.depth_granule;
}

std::optional<DepthSlices> FindDepthSlices(const Plan& plan, const Subgraph& subgraph) {
  const bool one = subgraph.interval.first == subgraph.interval.last;
  if (subgraph.weights != hw_profiles::WeightPolicy::kByDepth || !one) return std::nullopt;
  return Reading(plan, subgraph).Find();
}

std::string DepthFault(const Plan& plan, const Subgraph& subgraph) {
  if (subgraph.weights != hw_profiles::WeightPolicy::kByDepth)
    return subgraph.depth == 0 ? "" : "states the depth of slices, but is not held by_depth";
  const int64_t slice = DepthOfSlices(plan, subgraph);
  const int64_t granule = plan.profile.tiling.depth_granule;
  if (slice % granule != 0) return fmt::format("has slices of depth {}, no multiple of {}", slice, granule);
  const auto& policies = plan.profile.tiling.weights;
  if (std::find(policies.begin(), policies.end(), subgraph.weights) == policies.end())
    return "holds operands by_depth, which the profile does not";
  if (subgraph.halo != hw_profiles::HaloStorage::kRecompute) return "is held by_depth and keeps rows";
  if (!FindDepthSlices(plan, subgraph))
    return fmt::format("is held by_depth, but is no convolution of one group or matmul deeper than {}",
                       slice);
  return "";
}

}  // namespace tessera::plan
