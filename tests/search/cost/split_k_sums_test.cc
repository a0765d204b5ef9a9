// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "disagreements.h"
#include "random_graph.h"
#include "random_program.h"
#include "random_sum.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/cost/timeline.h"
#include "tessera/tests/draw_measured.h"
#include "tessera/tests/search/cost/simulate.h"

// Operators whose weights are held along K. The test compares both derivations, the simulator and
// its bounds.
namespace tessera::search {
namespace {

using base::Random;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

// One operator that adds up products, with split-k or any other policy. Other subgraphs before it
// make its operands.
struct SplitKSum {
  graph::Graph graph;
  Profile profile;
  std::vector<encoder::program::SubgraphChoice> choices;  // the last is the sum's
};

SplitKSum AnySplitKSum(Random& random) {
  SplitKSum sum{graph::RandomSum(random), RandomMachine(random), {}};
  DrawPaces(random, sum.profile);
  sum.graph = encoder::program::WithHomes(std::move(sum.graph), sum.profile);
  sum.profile.tiling.weights.push_back(WeightPolicy::kSplitK);
  sum.profile.tiling.k_granularity = random.Uniform(1, 5);
  for (hw_profiles::Throughput& throughput : sum.profile.engines[0].throughputs)
    throughput.unroll.in_channels = random.Uniform(1, 3);
  const auto operators = static_cast<int>(sum.graph.operators.size());
  for (int op = 0; op < operators; ++op)
    sum.choices.push_back(RandomChoice(random, sum.graph, sum.profile, {op, op}));
  encoder::program::SubgraphChoice& last = sum.choices.back();
  last.policy.halo = HaloStorage::kRecompute;
  last.policy.weights = WeightPolicy::kSplitK;
  last.policy.k_extent = sum.profile.tiling.k_granularity * random.Uniform(0, 3);
  const graph::Shape& output = encoder::program::OutputShape(sum.graph, last.interval);
  for (size_t axis = 0; axis < output.size(); ++axis) {
    const bool leading = axis + 2 < output.size() && output.size() != 4;
    const bool cuts = random.Chance(0.3) && output[axis] > 1 && !leading;
    if (cuts && graph::tiling::CanCut(sum.graph, last.interval, axis))
      last.tile[axis] = random.Uniform(1, output[axis] - 1);
  }
  // They price no tile in slices of K.
  if (random.Chance(0.3)) DrawMeasured(random, sum.profile, sum.graph);
  const std::vector<int> kept = RandomKept(random, sum.graph, sum.profile, sum.choices);
  for (encoder::program::SubgraphChoice& choice : sum.choices) choice.policy.kept = kept;
  return sum;
}

TEST(Derivations, AgreeOnSplitKSums) {
  Random random(2028);
  std::array<int, 2> programs = {};  // by how transfers run
  int tables = 0;
  int several = 0;  // tiles
  for (int round = 0; round < 4000; ++round) {
    const SplitKSum sum = AnySplitKSum(random);
    base::Expected<encoder::program::Program> program =
        encoder::program::BuildProgram(sum.graph, sum.profile, sum.choices);
    if (!program) continue;
    const plan::Plan plan = AsPlan(sum.graph, sum.profile, sum.choices, *std::move(program));
    ASSERT_EQ(Disagreements(plan), "") << "round " << round;
    ++programs.at(static_cast<size_t>(sum.profile.tiling.dma));
    tables += sum.profile.table_bytes_per_channel > 0 ? 1 : 0;
    several += plan.subgraphs.back().tiles > 1 ? 1 : 0;
    EXPECT_TRUE(std::any_of(
        plan.buffers.begin(), plan.buffers.end(),
        [](const plan::BufferUse& use) { return use.kind == plan::BufferKind::kAccumulator; }));
  }
  EXPECT_GE(programs[0], 300);
  EXPECT_GE(programs[1], 300);
  EXPECT_GE(tables, 100);
  EXPECT_GE(several, 300);
}

// The encoder and plan/verify refuse the same operators for split-k.
TEST(Derivations, AgreeOnWhatMayBeSplitAlongK) {
  Random random(2029);
  std::array<int, 2> seen = {};
  for (int round = 0; round < 2500; ++round) {
    graph::Graph graph =
        random.Chance(0.5) ? graph::RandomSum(random) : graph::RandomGraph(random, 2);
    DrawWeights(random, graph);
    Profile profile = RandomMachine(random);
    graph = encoder::program::WithHomes(std::move(graph), profile);
    profile.tiling.weights.push_back(WeightPolicy::kSplitK);
    profile.tiling.k_granularity = random.Uniform(1, 5);
    const auto operators = static_cast<int>(graph.operators.size());
    std::vector<encoder::program::SubgraphChoice> choices;
    for (int op = 0; op < operators; ++op)
      choices.push_back(
          {{op, op}, encoder::program::OutputShape(graph, {op, op}), {WeightPolicy::kResident}});
    const bool together = operators > 1 && random.Chance(0.2);
    if (together)
      choices = {
          {{0, operators - 1}, encoder::program::OutputShape(graph, {0, operators - 1}), {}}};
    const base::Expected<encoder::program::Program> resident =
        encoder::program::BuildProgram(graph, profile, choices);
    if (!resident) continue;
    choices.back().policy.weights = WeightPolicy::kSplitK;
    choices.back().policy.k_extent = random.Chance(0.5) ? 0 : random.Uniform(1, 6);
    const base::Expected<encoder::program::Program> program =
        encoder::program::BuildProgram(graph, profile, choices);
    plan::Plan plan = AsPlan(graph, profile, choices, program ? *program : *resident);
    plan::verify::Findings findings(10);
    plan::verify::CheckPartition(plan, findings);
    ASSERT_EQ(findings.Empty(), program.has_value()) << "round " << round;
    ++seen.at(program ? 1 : 0);
  }
  EXPECT_GE(seen[0], 200);
  EXPECT_GE(seen[1], 200);
}

TEST(SplitKSums, CostWhatTheTimelineSaysAndNoLessThanTheBounds) {
  Random random(2030);
  int programs = 0;
  for (int round = 0; round < 2000; ++round) {
    const SplitKSum sum = AnySplitKSum(random);
    const encoder::program::SubgraphChoice& choice = sum.choices.back();
    if (!encoder::program::BuildProgram(sum.graph, sum.profile, sum.choices)) continue;
    ++programs;
    const graph::tiling::TiledSubgraph tiling =
        graph::tiling::Tile(sum.graph, choice.interval, choice.tile);
    const plan::Metrics cost = cost::Simulate(sum.graph, sum.profile, tiling, choice.policy);
    const cost::SubgraphTimeline timeline =
        cost::TimelineOf(sum.graph, sum.profile, tiling, choice.policy, random.Uniform(2, 20));
    ASSERT_EQ(timeline.cycles, cost.latency_cycles) << "round " << round;
    const plan::Metrics bound =
        cost::SubgraphBound(sum.graph, sum.profile, choice.interval, choice.policy.kept);
    for (const std::string_view metric : {"latency", "energy", "off_chip_bytes"}) {
      EXPECT_LE(plan::ValueOf(bound, metric), plan::ValueOf(cost, metric) * (1 + 1e-12))
          << metric << ", round " << round;
    }
  }
  EXPECT_GE(programs, 500);
}

}  // namespace
}  // namespace tessera::search
