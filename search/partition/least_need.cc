// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/least_need.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search::partition {
namespace {

// Returns a network that consists of the operator.
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

problem::Bytes WholeBytes(const graph::Tensor& facts) {
  return facts.stored_bytes > 0 ? facts.stored_bytes
                                : base::BytesOf(facts.type, graph::ElementsOf(facts.shape));
}

}  // namespace

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

int64_t SmallestTile(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const graph::Operator& op) {
  int64_t elements = 1;
  for (const auto& extents : tiling::GridOf(Alone(network, op), profile, {0, 0}).extents)
    elements = base::SaturatingMul(elements, *std::min_element(extents.begin(), extents.end()));
  return elements;
}

Need NeedOf(const graph::Graph& network, const hw_profiles::Profile& profile,
            const graph::Operator& op) {
  const int64_t elements = SmallestTile(network, profile, op);
  Need need;
  for (const int tensor : {op.inputs.front(), op.outputs.front()})
    need.Add(base::BytesOf(network.tensors[static_cast<size_t>(tensor)].type, elements));
  return need;
}

Need SurelyNeeded(const graph::Graph& network, const hw_profiles::Profile& profile,
                  const graph::Operator& op, std::span<const int> axes) {
  Need need;
  for (const base::TensorRole role :
       {base::TensorRole::kNetworkInput, base::TensorRole::kBoundary, base::TensorRole::kState}) {
    if (hw_profiles::MayReadAtHome(profile, role)) return need;
  }
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
