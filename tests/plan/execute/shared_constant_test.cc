// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../fixture.h"
#include "plans.h"

// A table is stored with the first constant of an operator. So a shared constant has a table only
// if it is the first constant of one of its users.
namespace tessera::plan::execute {
namespace {

// x -> relu with w -> m -> conv with filters and w -> y.
graph::Graph Network() {
  graph::Graph network;
  network.tensors = {FeatureTensor("x", {1, 4, 4, 4}), FeatureTensor("m", {1, 4, 4, 4}),
                     FeatureTensor("y", {1, 4, 4, 4}), ConstantTensor("w", {4}),
                     ConstantTensor("filters", {4, 4, 3, 3})};
  network.tensors[0].network_input = true;
  network.tensors[2].network_output = true;
  graph::Operator relu;
  relu.id = "relu";
  relu.kind = base::OperatorKind::kElementwise;
  relu.inputs = {0};
  relu.weights = {3};
  relu.outputs = {1};
  graph::Operator conv = Conv3x3("conv", 1, 4, 2);
  conv.weights.push_back(3);
  network.operators = {relu, conv};
  return network;
}

hw_profiles::Profile Accelerator() {
  hw_profiles::Profile profile = SmallProfile();
  hw_profiles::Throughput relu;
  relu.kind = base::OperatorKind::kElementwise;
  profile.engines.front().throughputs.push_back(relu);
  profile.memories.front().capacity_bytes = 4096;
  return profile;
}

class SharedConstant : public testing::TestWithParam<hw_profiles::WeightPolicy> {};

TEST_P(SharedConstant, HasATableWhereItIsTheFirst) {
  const encoder::program::Policy policy = {.weights = GetParam()};
  const graph::tiling::TileShape whole = {1, 4, 4, 4};
  const Plan apart =
      Spread(Network(), Accelerator(), {{{0, 0}, whole, policy}, {{1, 1}, whole, policy}});
  EXPECT_THAT(MessagesOf(apart), testing::IsEmpty());
  const Plan together = Spread(Network(), Accelerator(), {{{0, 1}, whole, policy}});
  EXPECT_THAT(MessagesOf(together), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Policies, SharedConstant,
                         testing::Values(hw_profiles::WeightPolicy::kResident,
                                         hw_profiles::WeightPolicy::kStreamed));

}  // namespace
}  // namespace tessera::plan::execute
