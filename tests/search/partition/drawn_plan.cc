// SPDX-License-Identifier: Apache-2.0

#include "drawn_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "../cost/random_program.h"
#include "graph_builder.h"
#include "random_batch.h"
#include "random_graph.h"
#include "random_sum.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/tests/draw_host.h"
#include "tessera/tests/draw_measured.h"
#include "tessera/tests/draw_prefetch.h"

namespace tessera::search {

using base::Random;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

graph::Graph RandomPyramid(Random& random) {
  graph::GraphBuilder builder;
  int last = builder.AddInput({1, random.Uniform(1, 3), 4 * random.Uniform(2, 3), 4});
  if (random.Chance(0.5)) last = builder.AddConv(last, random.Uniform(1, 3), 3, 1, 1);
  last = builder.AddConv(last, random.Uniform(1, 3), 4, random.Uniform(2, 4));
  std::vector<int> made = {last};
  const auto operators = static_cast<int>(random.Uniform(3, 9));
  for (int i = 0; i < operators; ++i) {
    if (random.Chance(0.2)) graph::AddRandomOperator(random, builder);
    const int from = random.Chance(0.7) ? made.back() : builder.TensorCount() - 1;
    if (builder.ShapeOf(from).size() != 4) continue;
    graph::Operator conv = graph::OfKind(base::OperatorKind::kConv);
    conv.window.stride = {random.Chance(0.8) ? 1 : 2, 1};
    conv.groups = random.Chance(0.7) ? 1 : 2;
    graph::ops::Wanted wanted;
    wanted.out_channels = random.Uniform(1, 4);
    if (const auto result = builder.Add(conv, wanted, {from})) made.push_back(*result);
  }
  return std::move(builder).Build();
}

graph::Graph AnyNetwork(Random& random) {
  const auto operators = static_cast<int>(random.Uniform(1, 7));
  switch (random.Uniform(0, 9)) {
    case 0:
      return graph::RandomBatch(random);
    case 1:
      return graph::RandomSum(random);
    case 2:
      return graph::RandomRecurrence(random, operators);
    case 3:
      return graph::RandomDepthwiseChain(random, operators);
    default:
      return graph::RandomGraph(random, operators);
  }
}

graph::Graph RandomRearrangement(Random& random) {
  graph::GraphBuilder builder;
  int last = builder.AddInput({1, 4 * random.Uniform(1, 2), 2 * random.Uniform(1, 3), 4});
  if (random.Chance(0.5)) last = builder.AddConv(last, 4, 1);
  for (auto moves = static_cast<int>(random.Uniform(1, 2)); moves > 0; --moves) {
    const bool deep = builder.ShapeOf(last)[1] % 4 == 0;
    graph::Operator op =
        graph::OfKind(deep ? base::OperatorKind::kDepthToSpace : base::OperatorKind::kSpaceToDepth);
    op.own = base::DepthSpaceAttributes{.block = 2};
    graph::ops::Wanted wanted;
    if (random.Chance(0.5)) {
      const graph::Shape& shape = builder.ShapeOf(last);
      op = graph::OfKind(base::OperatorKind::kReshape);
      wanted.shape = {shape[0], shape[1] * shape[2], shape[3], 1};
      if (random.Chance(0.5)) wanted.shape = {shape[0], shape[3], shape[2], shape[1]};
    }
    last = builder.Add(op, wanted, {last}).value_or(last);
  }
  graph::Operator slice = graph::OfKind(base::OperatorKind::kSlice);
  auto& [starts, steps] = slice.MakeOwn<base::SliceAttributes>();
  graph::ops::Wanted part;
  part.shape.emplace();
  for (const int64_t extent : builder.ShapeOf(last)) {
    starts.push_back(random.Uniform(0, extent / 2));
    steps.push_back(1);
    part.shape->push_back(random.Uniform(1, extent - starts.back()));
  }
  builder.Add(slice, part, {last});
  return std::move(builder).Build();
}

namespace {

// Some constants take as long to arrive as operators take to run.
void EnlargeWeights(Random& random, graph::Graph& graph) {
  for (const graph::Operator& op : graph.operators) {
    if (op.kind != base::OperatorKind::kConv || op.weights.empty() || random.Chance(0.3)) continue;
    graph.tensors[static_cast<size_t>(op.weights.front())].shape.back() = random.Uniform(20, 300);
  }
}

// Inputs and outputs of the network have their home in the tile memory or elsewhere; the hardware
// has a random part of its features.
Profile AnyMachine(Random& random) {
  Profile profile = RandomMachine(random);
  DrawPaces(random, profile);
  std::erase_if(profile.tiling.halo, [&](HaloStorage) { return random.Chance(0.3); });
  std::erase_if(profile.tiling.axes,
                [&](const hw_profiles::AxisGranularity&) { return random.Chance(0.2); });
  if (random.Chance(0.5)) {
    profile.tiling.weights.push_back(WeightPolicy::kSplitK);
    profile.tiling.k_granularity = random.Uniform(1, 3);
  }
  return profile;
}

bool Offers(const Profile& profile, const graph::Shape& output,
            const encoder::program::SubgraphChoice& choice) {
  const hw_profiles::Tiling& tiling = profile.tiling;
  for (size_t axis = 0; axis < output.size(); ++axis) {
    if (choice.tile[axis] == output[axis]) continue;
    const bool named = std::any_of(tiling.axes.begin(), tiling.axes.end(),
                                   [&](const hw_profiles::AxisGranularity& cut) {
                                     return graph::tiling::AxisOf(output, cut.axis) == axis;
                                   });
    if (!named) return false;
  }
  return choice.policy.halo == HaloStorage::kRecompute ||
         std::find(tiling.halo.begin(), tiling.halo.end(), choice.policy.halo) != tiling.halo.end();
}

// Small tiles more often than large ones: they reach the bounds.
encoder::program::SubgraphChoice AnyChoice(Random& random, const graph::Graph& graph,
                                           const Profile& profile, graph::Interval interval) {
  const graph::Shape& output = encoder::program::OutputShape(graph, interval);
  encoder::program::SubgraphChoice choice;
  do {
    choice = RandomChoice(random, graph, profile, interval);
    for (size_t axis = 0; axis < output.size(); ++axis) {
      if (choice.tile[axis] < output[axis] && random.Chance(0.5)) choice.tile[axis] = 1;
    }
  } while (!Offers(profile, output, choice));
  const bool split_k = std::find(profile.tiling.weights.begin(), profile.tiling.weights.end(),
                                 WeightPolicy::kSplitK) != profile.tiling.weights.end();
  const bool alone = interval.first == interval.last && !IsHosted(graph, profile, interval.first);
  if (split_k && alone && random.Chance(0.5)) {
    choice.policy.weights = WeightPolicy::kSplitK;
    choice.policy.halo = HaloStorage::kRecompute;
  }
  return choice;
}

}  // namespace

std::optional<Drawn> DrawPlan(Random& random, bool is_pyramid, graph::Graph network) {
  Drawn drawn{std::move(network), AnyMachine(random), {}, {}};
  if (random.Chance(0.3)) graph::DrawStates(random, drawn.graph);
  DrawWeights(random, drawn.graph);
  if (is_pyramid) {
    EnlargeWeights(random, drawn.graph);
    drawn.profile.memories.front().port.read_bytes_per_cycle = 1;
  }
  if (random.Chance(0.2)) DrawMeasured(random, drawn.profile, drawn.graph);
  drawn.graph = encoder::program::WithHomes(std::move(drawn.graph), drawn.profile);
  const auto operators = static_cast<int>(drawn.graph.operators.size());
  for (int first = 0; first < operators;) {
    const int longest = is_pyramid ? std::min(first + 2, operators - 1) : operators - 1;
    const auto last =
        static_cast<int>(random.Chance(0.3) ? longest : random.Uniform(first, longest));
    const graph::Interval interval = WithoutHosted(drawn.graph, drawn.profile, {first, last});
    drawn.choices.push_back(AnyChoice(random, drawn.graph, drawn.profile, interval));
    first = interval.last + 1;
  }
  const std::vector<int> kept = random.Chance(0.5)
                                    ? std::vector<int>()
                                    : RandomKept(random, drawn.graph, drawn.profile, drawn.choices);
  for (encoder::program::SubgraphChoice& choice : drawn.choices) choice.policy.kept = kept;
  if (drawn.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered) {
    for (size_t i = 1; i < drawn.choices.size(); ++i) {
      if (random.Chance(is_pyramid ? 0.6 : 0.2))
        drawn.choices[i].prefetch = DrawPrefetch(random, i);
      if (drawn.choices[i].prefetch.empty() ||
          encoder::program::BuildProgram(drawn.graph, drawn.profile, drawn.choices))
        continue;
      drawn.choices[i].prefetch = {};
    }
  }
  base::Expected<encoder::program::Program> program =
      encoder::program::BuildProgram(drawn.graph, drawn.profile, drawn.choices);
  if (!program) return std::nullopt;
  drawn.plan = AsPlan(drawn.graph, drawn.profile, drawn.choices, *std::move(program));
  return drawn;
}

std::string Describe(const Drawn& drawn) {
  std::string text = "\n" + graph::import::yaml::WriteNetworkJson(drawn.graph) +
                     hw_profiles::WriteProfileJson(drawn.profile);
  for (const encoder::program::SubgraphChoice& choice : drawn.choices) {
    text += fmt::format("operators {} to {}, tile {}, weights {}, halo {}, in place {}, kept {}\n",
                        choice.interval.first, choice.interval.last, fmt::join(choice.tile, "x"),
                        hw_profiles::NameOf(choice.policy.weights),
                        hw_profiles::NameOf(choice.policy.halo), choice.policy.in_place,
                        fmt::join(choice.policy.kept, " "));
  }
  return text;
}

}  // namespace tessera::search
