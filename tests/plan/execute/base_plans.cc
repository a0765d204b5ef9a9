// SPDX-License-Identifier: Apache-2.0

#include "base_plans.h"

#include <algorithm>
#include <stdexcept>

#include "../fixture.h"
#include "plans.h"
#include "tessera/tests/hw_profiles/engines.h"

namespace tessera::plan::execute {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::WeightPolicy;

hw_profiles::Profile ProfileWith(DmaSteps dma) {
  hw_profiles::Profile profile = SmallProfile();
  profile.memories[0].capacity_bytes = 4096;
  profile.tiling.dma = dma;
  return profile;
}

Plan TwoConvsIn(const hw_profiles::Profile& profile, int64_t rows, WeightPolicy weights) {
  return Spread(TwoConvs(10), profile, {{{0, 1}, {1, 4, rows, 4}, {weights, false}}});
}

graph::Operator Elementwise(const std::string& id, std::vector<int> inputs, int output) {
  graph::Operator op;
  op.id = id;
  op.kind = base::OperatorKind::kElementwise;
  op.inputs = std::move(inputs);
  op.outputs = {output};
  op.function = "add";
  return op;
}

Plan ByChannelWith(WeightPolicy weights) {
  hw_profiles::Profile profile = ProfileWith(DmaSteps::kSerialized);
  profile.tiling.in_place = {base::OperatorKind::kDepthwise};
  profile.engines[0].throughputs.push_back(
      {base::OperatorKind::kDepthwise, std::nullopt, {}, 1, 0, 0});
  graph::Graph network;
  network.tensors = {FeatureTensor("x", {1, 4, 8, 8}), ConstantTensor("w", {4, 1, 3, 3}),
                     FeatureTensor("y", {1, 4, 4, 4})};
  network.tensors[0].network_input = true;
  network.tensors[2].network_output = true;
  network.operators = {Conv3x3("dw", 0, 1, 2)};
  network.operators[0].kind = base::OperatorKind::kDepthwise;
  network.operators[0].window.stride = {2, 2};
  Plan plan = Spread(network, profile, {{{0, 0}, {1, 4, 4, 4}, {weights, true}}});
  OffsetOf(plan, "s0/y@0") = OffsetOf(plan, "s0/x@0");
  return plan;
}

}  // namespace

Plan StreamedSerialized() {
  return TwoConvsIn(ProfileWith(DmaSteps::kSerialized), 4, WeightPolicy::kStreamed);
}

Plan StreamedDoubleBuffered() {
  return TwoConvsIn(ProfileWith(DmaSteps::kDoubleBuffered), 2, WeightPolicy::kStreamed);
}

Plan ThreeTiles() {
  return TwoConvsIn(ProfileWith(DmaSteps::kDoubleBuffered), 4, WeightPolicy::kResident);
}

Plan TwoSubgraphs() {
  const encoder::program::Policy policy = {WeightPolicy::kResident, false};
  return Spread(TwoConvs(10), ProfileWith(DmaSteps::kSerialized),
                {{{0, 0}, {1, 4, 5, 4}, policy}, {{1, 1}, {1, 4, 5, 4}, policy}});
}

Plan StoredPads() {
  hw_profiles::Profile profile = ProfileWith(DmaSteps::kSerialized);
  profile.tiling.implicit_padding = false;
  return TwoConvsIn(profile, 5, WeightPolicy::kResident);
}

Plan WholeWithPads() {
  hw_profiles::Profile profile = ProfileWith(DmaSteps::kSerialized);
  profile.tiling.implicit_padding = false;
  profile.tiling.axes.push_back({base::Axis::kColumns, 1});
  for (hw_profiles::RoleLayout& layout : profile.roles) layout.home = profile.tile_memory;
  profile.engines[0].throughputs.push_back({base::OperatorKind::kPool, std::nullopt, {}, 1, 0, 0});
  graph::Graph network;
  network.tensors = {FeatureTensor("x", {1, 2, 6, 6}), FeatureTensor("m", {1, 2, 6, 6}),
                     FeatureTensor("y", {1, 2, 2, 2})};
  network.tensors[0].network_input = true;
  network.tensors[1].network_output = network.tensors[2].network_output = true;
  network.operators = {Elementwise("relu", {0}, 1), Elementwise("pool", {1}, 2)};
  network.operators[1].kind = base::OperatorKind::kPool;
  network.operators[1].window.kernel = {2, 2};
  network.operators[1].window.stride = {3, 3};
  network.operators[1].window.dilation = {7, 7};
  network.operators[1].window.pad_high = {5, 5};
  return Spread(network, profile, {{{0, 1}, {1, 2, 1, 1}, {WeightPolicy::kResident, false}}});
}

Plan WithScratch() {
  hw_profiles::Profile profile = ProfileWith(DmaSteps::kSerialized);
  profile.scratch = {{base::OperatorKind::kConv, 8, {hw_profiles::ScratchFactor::kInChannels}}};
  return TwoConvsIn(profile, 5, WeightPolicy::kResident);
}

Plan WithState() {
  hw_profiles::Profile profile = ProfileWith(DmaSteps::kSerialized);
  profile.memories[1].direct_read = true;
  profile.memories[1].direct_write = true;
  graph::Graph network;
  network.tensors = {FeatureTensor("x", {4, 8}), FeatureTensor("state", {4, 8}),
                     FeatureTensor("s", {4, 8}), FeatureTensor("y", {4, 8})};
  network.tensors[0].network_input = true;
  network.tensors[1].state = true;
  network.tensors[3].network_output = true;
  network.operators = {Elementwise("add", {0, 1}, 2), Elementwise("relu", {2}, 3)};
  return Spread(network, profile, {{{0, 1}, {4, 8}, {WeightPolicy::kResident, false}}});
}

Plan OnHost() {
  hw_profiles::Profile profile = ProfileWith(DmaSteps::kSerialized);
  std::erase_if(profile.engines[0].throughputs,
                [](const auto& entry) { return entry.kind == base::OperatorKind::kElementwise; });
  profile.engines.push_back(hw_profiles::Host("host"));
  graph::Graph network;
  network.tensors = {FeatureTensor("x", {1, 4, 4, 4}), ConstantTensor("w", {4, 4, 3, 3}),
                     FeatureTensor("a", {1, 4, 4, 4}), FeatureTensor("y", {1, 4, 4, 4})};
  network.tensors[0].network_input = true;
  network.tensors[3].network_output = true;
  network.operators = {Conv3x3("conv", 0, 1, 2), Elementwise("relu", {2}, 3)};
  return Spread(network, profile,
                {{{0, 0}, {1, 4, 2, 4}, {WeightPolicy::kResident, false}},
                 {{1, 1}, {1, 4, 4, 4}, {WeightPolicy::kDirect, false}}});
}

Plan InPlace() {
  hw_profiles::Profile profile = ProfileWith(DmaSteps::kSerialized);
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  graph::Graph network;
  network.tensors = {FeatureTensor("x", {1, 4, 4, 4}), FeatureTensor("a", {1, 4, 4, 4}),
                     FeatureTensor("b", {1, 4, 4, 4})};
  network.tensors[0].network_input = true;
  network.tensors[2].network_output = true;
  network.operators = {Elementwise("relu", {0}, 1), Elementwise("add", {1, 0}, 2)};
  Plan plan = Spread(network, profile, {{{0, 1}, {1, 4, 4, 4}, {WeightPolicy::kResident, true}}});
  OffsetOf(plan, "s0/b@0") = OffsetOf(plan, "s0/a@0");
  return plan;
}

Plan StateAliasing() {
  hw_profiles::Profile profile = ProfileWith(DmaSteps::kSerialized);
  profile.engines[0].throughputs.push_back(
      {base::OperatorKind::kConcat, std::nullopt, {}, 1, 1, 0});
  graph::Graph network;
  network.tensors = {FeatureTensor("cache", {1, 2, 7, 4}), FeatureTensor("x", {1, 2, 1, 4}),
                     FeatureTensor("all", {1, 2, 8, 4}), FeatureTensor("y", {1, 2, 8, 4})};
  network.tensors[0].state = true;
  network.tensors[1].network_input = true;
  network.tensors[2].next_of = 0;
  network.tensors[2].network_output = network.tensors[3].network_output = true;
  network.operators = {Concat(2, {0, 1}, 2), Elementwise("relu", {2}, 3)};
  Plan plan = Spread(network, profile, {{{0, 1}, {1, 2, 2, 4}, {WeightPolicy::kResident, false}}});
  OffsetOf(plan, "all") = OffsetOf(plan, "cache");
  return plan;
}

Plan ByChannel() { return ByChannelWith(WeightPolicy::kResident); }
Plan ByChannelInRounds() { return ByChannelWith(WeightPolicy::kStreamed); }

size_t BufferAt(const Plan& plan, const std::string& id) {
  for (size_t i = 0; i < plan.problem.buffers.size(); ++i) {
    if (plan.problem.buffers[i].id == id) return i;
  }
  throw std::out_of_range("no buffer " + id);
}

int64_t& OffsetOf(Plan& plan, const std::string& id) {
  return plan.allocation.offsets[BufferAt(plan, id)];
}
problem::Buffer& FactsOf(Plan& plan, const std::string& id) {
  return plan.problem.buffers[BufferAt(plan, id)];
}
BufferUse& UseOf(Plan& plan, const std::string& id) { return plan.buffers[BufferAt(plan, id)]; }

void RemoveBuffer(Plan& plan, const std::string& id) {
  const auto at = static_cast<std::ptrdiff_t>(BufferAt(plan, id));
  plan.problem.buffers.erase(plan.problem.buffers.begin() + at);
  plan.buffers.erase(plan.buffers.begin() + at);
  plan.allocation.offsets.erase(plan.allocation.offsets.begin() + at);
}

}  // namespace tessera::plan::execute
