// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/least_need.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/regions.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search::partition {
namespace {

// Whether an engine may read an operand in its home, so that nothing of it is in the tile memory.
bool ReadsAtHome(const hw_profiles::Profile& profile) {
  static constexpr std::array kRoles = {base::TensorRole::kNetworkInput,
                                        base::TensorRole::kBoundary, base::TensorRole::kState};
  return std::any_of(kRoles.begin(), kRoles.end(), [&profile](base::TensorRole role) {
    return hw_profiles::MayReadAtHome(profile, role);
  });
}

int64_t Product(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product = base::SaturatingMul(product, extent);
  return product;
}

// Returns tiles at the begin, in the middle and at the end of all axes. Pads clip what a tile needs
// at the ends; wide gaps between taps clip it in the middle.
std::array<graph::ops::Box, 3> TilesAt(const graph::Shape& result,
                                       const std::vector<int64_t>& extents) {
  std::array<graph::ops::Box, 3> tiles;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const int64_t last = result[axis] - extents[axis];
    for (size_t place = 0; place < tiles.size(); ++place) {
      const int64_t begin = last * static_cast<int64_t>(place) / 2;
      tiles[place].push_back({begin, begin + extents[axis]});
    }
  }
  return tiles;
}

// Returns the elements of the constant that are present at once, of `k_extent` indices of K: all of
// them; or a slice of its channels if the profile streams constants, at least a quarter of the
// usual one (docs/program.md 12.1.8); or the channels of a tile if it takes slices along K.
int64_t SmallestSliceOfFilters(const graph::Graph& network, const hw_profiles::Profile& profile,
                               const graph::Operator& op, const std::vector<int64_t>& extents,
                               int64_t k_extent) {
  constexpr int64_t kMostSmaller = 4;
  const graph::Shape& filters = graph::ShapeOf(network, op.weights.front());
  const graph::ops::FilterAxes axes = *graph::ops::FilterAxesOf(op, filters.size(), extents.size());
  const int64_t channels = filters[axes.channels];
  const std::vector<hw_profiles::WeightPolicy>& policies = profile.tiling.weights;
  int64_t present = channels;
  const bool is_compressed =
      hw_profiles::LayoutOf(profile, base::TensorRole::kConstant).stored_ratio.has_value();
  if (HasSlices(profile) && !is_compressed) {
    present = extents[axes.output];
  } else if (std::count(policies.begin(), policies.end(), hw_profiles::WeightPolicy::kStreamed) >
             0) {
    present =
        base::CeilDiv(std::min(channels, profile.tiling.weight_granularity_channels), kMostSmaller);
  }
  const int64_t each = graph::ElementsOf(filters) / channels / filters[*axes.sum];
  return base::SaturatingMul(base::SaturatingMul(each, k_extent), present);
}

problem::Bytes WholeBytes(const graph::Tensor& facts) {
  return facts.stored_bytes > 0 ? facts.stored_bytes
                                : base::BytesOf(facts.type, graph::ElementsOf(facts.shape));
}

}  // namespace

graph::Graph Alone(const graph::Graph& network, const graph::Operator& op) {
  graph::Graph alone;
  graph::Operator only = op;
  for (auto* tensors : {&only.inputs, &only.weights, &only.outputs}) {
    for (int& tensor : *tensors) {
      const graph::Tensor& facts = network.tensors[static_cast<size_t>(tensor)];
      tensor = static_cast<int>(alone.tensors.size());
      graph::Tensor& copy = alone.tensors.emplace_back();
      copy.id = facts.id;
      copy.shape = facts.shape;
      copy.type = facts.type;
      copy.constant = facts.constant;
      copy.network_input = tensors == &only.inputs;
      copy.network_output = tensors == &only.outputs;
    }
  }
  alone.operators.push_back(std::move(only));
  return alone;
}

void Need::Add(problem::Bytes buffer) {
  base::Accumulate(bytes, buffer);
  longest = std::max(longest, buffer);
}

const hw_profiles::Memory& TileMemory(const hw_profiles::Profile& profile) {
  return profile.memories[static_cast<size_t>(profile.tile_memory)];
}

bool Fits(const Need& need, const hw_profiles::Profile& profile) {
  const hw_profiles::Memory& memory = TileMemory(profile);
  return need.bytes <= memory.capacity_bytes &&
         need.longest <= encoder::program::LongestBuffer(memory);
}

bool HasSlices(const hw_profiles::Profile& profile) {
  const std::vector<hw_profiles::WeightPolicy>& policies = profile.tiling.weights;
  return std::count(policies.begin(), policies.end(), hw_profiles::WeightPolicy::kSplitK) > 0;
}

std::vector<int64_t> SmallestExtents(const graph::Graph& network,
                                     const hw_profiles::Profile& profile,
                                     const graph::Operator& op) {
  std::vector<int64_t> smallest;
  for (const auto& extents : tiling::GridOf(Alone(network, op), profile, {0, 0}).extents)
    smallest.push_back(*std::min_element(extents.begin(), extents.end()));
  return smallest;
}

int64_t SmallestTile(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const graph::Operator& op) {
  return Product(SmallestExtents(network, profile, op));
}

Need NeedOf(const graph::Graph& network, const hw_profiles::Profile& profile,
            const graph::Operator& op) {
  const int64_t elements = SmallestTile(network, profile, op);
  Need need;
  for (const int tensor : {op.inputs.front(), op.outputs.front()})
    need.Add(base::BytesOf(network.tensors[static_cast<size_t>(tensor)].type, elements));
  return need;
}

Need NeedOfFactors(const graph::Graph& network, const hw_profiles::Profile& profile,
                   const graph::Operator& op, const std::vector<int64_t>& extents,
                   int64_t k_extent) {
  Need need;
  if (ReadsAtHome(profile)) return need;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const graph::Tensor& operand = network.tensors[static_cast<size_t>(op.inputs[i])];
    const size_t k = *graph::ops::SumAxisOf(op, i, operand.shape.size());
    int64_t most = 0;
    for (const graph::ops::Box& tile :
         TilesAt(graph::ShapeOf(network, op.outputs.front()), extents)) {
      graph::ops::Box region = graph::InputRegion(network, op, i, tile);
      region[k].end = std::min(region[k].end, region[k].begin + k_extent);
      most = std::max(most, graph::ops::ElementsOf(region));
    }
    need.Add(base::BytesOf(operand.type, most));
  }
  return need;
}

Need NeedOfSum(const graph::Graph& network, const hw_profiles::Profile& profile,
               const graph::Operator& op, const std::vector<int64_t>& extents, int64_t k_extent) {
  Need need = NeedOfFactors(network, profile, op, extents, k_extent);
  if (!op.weights.empty() && !hw_profiles::MayReadAtHome(profile, base::TensorRole::kConstant))
    need.Add(encoder::program::StoredBytes(
        profile, base::BytesOf(network.tensors[static_cast<size_t>(op.weights.front())].type,
                               SmallestSliceOfFilters(network, profile, op, extents, k_extent))));
  const bool has_two_slots =
      profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered && !profile.tiling.may_serialize;
  if (has_two_slots) base::Accumulate(need.bytes, need.bytes);
  need.Add(base::BytesOf(base::AccumulatorOf(encoder::program::WorkingType(network, op)),
                         Product(extents)));
  return need;
}

Need NeedOfAddition(const graph::Graph& network, const hw_profiles::Profile& profile,
                    const graph::Operator& op, const std::vector<int64_t>& extents, int64_t parts) {
  if (ReadsAtHome(profile)) return {};
  const int64_t elements = Product(extents);
  const problem::Bytes sums =
      base::BytesOf(base::AccumulatorOf(encoder::program::WorkingType(network, op)), elements);
  Need need = {base::SaturatingMul(sums, parts), sums};
  need.Add(base::BytesOf(network.tensors[static_cast<size_t>(op.outputs.front())].type, elements));
  return need;
}

Need SurelyNeeded(const graph::Graph& network, const hw_profiles::Profile& profile,
                  const graph::Operator& op, std::span<const int> axes) {
  Need need;
  if (ReadsAtHome(profile)) return need;
  const graph::Tensor& operand = network.tensors[static_cast<size_t>(op.inputs.front())];
  int64_t elements = 1;
  for (const int axis : axes)
    elements = base::SaturatingMul(elements, operand.shape[static_cast<size_t>(axis)]);
  need.Add(base::BytesOf(operand.type, elements));
  return need;
}

problem::Bytes TablesOf(const graph::Graph& network, const hw_profiles::Profile& profile,
                        size_t number) {
  problem::Bytes bytes = 0;
  if (hw_profiles::MayReadAtHome(profile, base::TensorRole::kConstant)) return bytes;
  for (const int weight : network.operators[number].weights)
    base::Accumulate(bytes, encoder::program::ConstantBytes(network, profile, weight,
                                                            {static_cast<int>(number)}));
  return bytes;
}

Need NeedOfBarrier(const graph::Graph& network, const graph::Operator& op) {
  std::set<int> tensors;
  for (const auto* some : {&op.inputs, &op.weights, &op.outputs})
    tensors.insert(some->begin(), some->end());
  Need need;
  for (const int tensor : tensors)
    need.Add(WholeBytes(network.tensors[static_cast<size_t>(tensor)]));
  return need;
}

Need NeedOfDescribed(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const graph::Operator& op) {
  const int64_t smallest = SmallestTile(network, profile, op);
  Need need;
  need.Add(op.scratch_bytes);
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    const graph::Tensor& facts = network.tensors[static_cast<size_t>(op.inputs[k])];
    const graph::OperandAccess& access = op.accesses[k];
    int64_t elements = graph::ElementsOf(facts.shape);
    if (access.kind == graph::ReadPattern::kElementwise) elements = std::min(elements, smallest);
    if (access.kind == graph::ReadPattern::kWindow) {
      elements = access.every_channel ? facts.shape[1] : 1;
      for (const size_t axis : {size_t{0}, size_t{1}})
        elements *= std::min(access.window.kernel[axis], facts.shape[2 + axis]);
    }
    need.Add(base::BytesOf(facts.type, elements));
  }
  if (op.in_place.empty())
    need.Add(
        base::BytesOf(network.tensors[static_cast<size_t>(op.outputs.front())].type, smallest));
  return need;
}

Need SurelyNeededOfDescribed(const graph::Graph& network, const graph::Operator& op) {
  Need need;
  need.Add(op.scratch_bytes);
  std::set<int> whole;
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    if (op.accesses[k].kind == graph::ReadPattern::kFull) whole.insert(op.inputs[k]);
  }
  for (const int tensor : whole) need.Add(WholeBytes(network.tensors[static_cast<size_t>(tensor)]));
  return need;
}

}  // namespace tessera::search::partition
