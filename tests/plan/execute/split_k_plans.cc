// SPDX-License-Identifier: Apache-2.0

#include "split_k_plans.h"

#include <array>

#include "../fixture.h"
#include "plans.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/tests/graph/random_sum.h"

namespace tessera::plan::execute {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::WeightPolicy;

Plan Product(DmaSteps dma, int64_t rows, int64_t granularity) {
  graph::Graph network;
  network.name = "product";
  network.tensors = {FeatureTensor("x", {6, 10}), ConstantTensor("w", {10, 4}),
                     FeatureTensor("y", {6, 4})};
  network.tensors[0].network_input = true;
  network.tensors[2].network_output = true;
  graph::Operator op;
  op.id = "multiply";
  op.kind = base::OperatorKind::kMatmul;
  op.inputs = {0};
  op.weights = {1};
  op.outputs = {2};
  network.operators = {op};
  hw_profiles::Profile profile = SmallProfile();
  profile.tiling.dma = dma;
  profile.tiling.weights.push_back(WeightPolicy::kSplitK);
  profile.tiling.k_granularity = granularity;
  return Spread(network, profile, {{{0, 0}, {rows, 4}, {WeightPolicy::kSplitK, false}}});
}

}  // namespace

Plan SplitKSerialized() { return Product(DmaSteps::kSerialized, 2, 4); }

Plan SplitKDoubleBuffered() { return Product(DmaSteps::kDoubleBuffered, 1, 2); }

std::optional<Plan> DrawSplitKPlan(base::Random& random) {
  static constexpr std::array kTypes = {base::DataType::kInt8, base::DataType::kInt16,
                                        base::DataType::kInt4};
  const graph::Graph network =
      graph::RandomSum(random, kTypes.at(static_cast<size_t>(random.Uniform(0, 2))));
  hw_profiles::Profile profile = DrawProfile(random);
  profile.tiling.weights.push_back(WeightPolicy::kSplitK);
  profile.tiling.k_granularity = random.Uniform(1, 5);
  profile.tiling.axes.push_back({base::Axis::kBatch, 1});
  std::vector<encoder::program::SubgraphChoice> choices;
  const auto operators = static_cast<int>(network.operators.size());
  for (int op = 0; op < operators; ++op) {
    const int result = network.operators[static_cast<size_t>(op)].outputs.front();
    encoder::program::SubgraphChoice& choice = choices.emplace_back();
    choice.interval = {op, op};
    choice.tile = network.tensors[static_cast<size_t>(result)].shape;
    for (size_t axis = 0; axis < choice.tile.size(); ++axis) {
      const int64_t extent = choice.tile[axis];
      if (extent > 1 && random.Chance(0.5) && graph::tiling::CanCut(network, choice.interval, axis))
        choice.tile[axis] = random.Uniform(1, extent - 1);
    }
  }
  choices.back().policy.weights = WeightPolicy::kSplitK;
  choices.back().policy.k_extent = profile.tiling.k_granularity * random.Uniform(0, 2);
  return PlaceLow(network, profile, choices);
}

}  // namespace tessera::plan::execute
