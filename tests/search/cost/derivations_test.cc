// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "disagreements.h"
#include "random_batch.h"
#include "random_graph.h"
#include "random_program.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/cost/timeline.h"
#include "tessera/tests/draw_host.h"
#include "tessera/tests/draw_measured.h"
#include "tessera/tests/draw_prefetch.h"
#include "tessera/tests/draw_stages.h"
#include "tessera/tests/search/cost/simulate.h"

// docs/program.md has two implementations: encoder/program and search/cost in closed form,
// plan/verify step by step. The test cuts random networks on random machines in random ways; both
// must agree.
namespace tessera::search {
namespace {

using base::Random;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

// States whose next values lie in their place.
int64_t StateAliasing(const plan::Plan& plan) {
  const std::vector<problem::Relation>& relations = plan.problem.relations;
  return std::count_if(relations.begin(), relations.end(), [&](const problem::Relation& relation) {
    const int result = plan.buffers[static_cast<size_t>(relation.second)].tensor;
    return relation.kind == problem::RelationKind::kColocate &&
           plan.network.tensors[static_cast<size_t>(result)].next_of >= 0;
  });
}

// Whether tensors of one role have different homes.
bool HasBoth(const plan::Plan& plan) {
  std::array<bool, 2> has = {};
  for (const graph::Tensor& tensor : plan.network.tensors) {
    const hw_profiles::RoleLayout& layout =
        hw_profiles::LayoutOf(plan.profile, plan::verify::RoleAtHome(tensor));
    if (!layout.next_homes.empty()) has.at(static_cast<size_t>(tensor.home)) = true;
  }
  return has[0] && has[1];
}

// Results in place that are smaller or larger than their operands, so channel by channel.
int64_t ByChannelOtherwiseSized(const plan::Plan& plan) {
  const std::vector<problem::Relation>& relations = plan.problem.relations;
  return std::count_if(relations.begin(), relations.end(), [&](const problem::Relation& relation) {
    const std::vector<problem::Buffer>& buffers = plan.problem.buffers;
    return relation.kind == problem::RelationKind::kColocate &&
           buffers[static_cast<size_t>(relation.first)].size !=
               buffers[static_cast<size_t>(relation.second)].size;
  });
}

// Whether measurements change the cost of a subgraph.
bool UsesMeasured(const plan::Plan& plan) {
  plan::Plan modelled = plan;
  for (graph::Operator& op : modelled.network.operators) op.measured.clear();
  const std::vector<plan::verify::Users> users = plan::verify::FindUsers(plan.network);
  for (int i = 0; i < static_cast<int>(plan.subgraphs.size()); ++i) {
    if (plan::verify::CostOf(plan, users, i).latency_cycles !=
        plan::verify::CostOf(modelled, users, i).latency_cycles)
      return true;
  }
  return false;
}

// The graph without weights, cut at random, on a random machine; nullopt where that is no program.
std::optional<plan::Plan> AnyPlan(Random& random, graph::Graph graph, bool in_stages = false) {
  if (random.Chance(0.5)) graph::DrawStates(random, graph);
  DrawWeights(random, graph);
  Profile profile = RandomMachine(random);
  if (in_stages) {
    DrawPaces(random, profile);
    DrawTwoEngines(random, graph, profile);
  }
  if (random.Chance(0.4)) DrawMeasured(random, profile, graph);
  graph = encoder::program::WithHomes(std::move(graph), profile);
  std::vector<encoder::program::SubgraphChoice> choices;
  const auto operators = static_cast<int>(graph.operators.size());
  for (int first = 0; first < operators;) {
    const auto last = static_cast<int>(random.Uniform(first, operators - 1));
    choices.push_back(
        RandomChoice(random, graph, profile, WithoutHosted(graph, profile, {first, last})));
    if (in_stages) DrawStage(random, graph, profile, choices.back());
    first = choices.back().interval.last + 1;
  }
  const std::vector<int> kept = RandomKept(random, graph, profile, choices);
  for (encoder::program::SubgraphChoice& choice : choices) choice.policy.kept = kept;
  base::Expected<encoder::program::Program> program =
      encoder::program::BuildProgram(graph, profile, choices);
  if (!program) return std::nullopt;
  return AsPlan(graph, profile, choices, *std::move(program));
}

TEST(Derivations, AgreeOnTwoStages) {
  Random random(41);
  int64_t staged = 0;
  for (int round = 0; round < 3600; ++round) {
    const auto plan =
        AnyPlan(random, graph::RandomGraph(random, static_cast<int>(random.Uniform(2, 6))), true);
    if (!plan) continue;
    for (const plan::Subgraph& subgraph : plan->subgraphs) {
      staged += subgraph.second_stage > 0 ? 1 : 0;
    }
    ASSERT_EQ(Disagreements(*plan), "") << "round " << round;
  }
  EXPECT_GE(staged, 300);
}

TEST(Derivations, AgreeOnRandomPrograms) {
  Random random(2026);
  std::array<int, 4> cached = {};  // subgraphs with a cached tensor, by storage
  int programs = 0;
  int keeping = 0;
  int listing = 0;  // with tensors in the first and in the last of several homes
  int hosted = 0;   // subgraphs on the host
  int64_t aliased_states = 0;
  int measured = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto plan =
        AnyPlan(random, graph::RandomGraph(random, static_cast<int>(random.Uniform(1, 7))));
    if (!plan) continue;
    ++programs;
    listing += HasBoth(*plan) ? 1 : 0;
    keeping += plan->kept.empty() ? 0 : 1;
    aliased_states += StateAliasing(*plan);
    measured += UsesMeasured(*plan) ? 1 : 0;
    ASSERT_EQ(Disagreements(*plan), "") << "round " << round;
    for (size_t i = 0; i < plan->subgraphs.size(); ++i) {
      ASSERT_EQ(cost::PlannedTimeline(*plan, i, cost::kAllTiles).cycles,
                plan->subgraphs[i].metrics.latency_cycles)
          << "round " << round;
      hosted += IsHosted(plan->network, plan->profile, plan->subgraphs[i].interval.first) ? 1 : 0;
    }
    for (const plan::BufferUse& use : plan->buffers) {
      const bool keeps = use.kind == plan::BufferKind::kRollingBuffer ||
                         use.kind == plan::BufferKind::kLine || use.kind == plan::BufferKind::kHalo;
      if (keeps)
        ++cached.at(static_cast<size_t>(plan->subgraphs[static_cast<size_t>(use.subgraph)].halo));
    }
  }
  EXPECT_GE(programs, 1000);
  EXPECT_GE(keeping, 300);
  EXPECT_GE(listing, 200);
  EXPECT_GE(hosted, 100);
  EXPECT_GE(measured, 100);
  EXPECT_GE(aliased_states, 10);
  for (const size_t storage : {1, 2, 3}) EXPECT_GE(cached.at(storage), 50);
}

TEST(Derivations, AgreeOnDepthwiseResultsInPlace) {
  Random random(2028);
  int64_t by_channel = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto plan = AnyPlan(
        random, graph::RandomDepthwiseChain(random, static_cast<int>(random.Uniform(1, 6))));
    if (!plan) continue;
    ASSERT_EQ(Disagreements(*plan), "") << "round " << round;
    by_channel += ByChannelOtherwiseSized(*plan);
  }
  EXPECT_GE(by_channel, 50);
}

// The search tries serialized tiles of which no engine accesses a home only where double-buffered
// ones do not fit, because they take no less of anything that adds up.
TEST(Derivations, SerializedSubgraphsTakeNoLess) {
  Random random(2034);
  std::array<int, 5> tiles = {};  // subgraphs that take longer, by their tiles, up to 4
  for (int round = 0; round < 12000; ++round) {
    std::optional<plan::Plan> plan =
        AnyPlan(random, graph::RandomGraph(random, static_cast<int>(random.Uniform(1, 6))));
    if (!plan) continue;
    DrawPaces(random, plan->profile);
    plan->profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
    plan->profile.tiling.may_serialize = true;
    const std::vector<plan::verify::Users> users = plan::verify::FindUsers(plan->network);
    for (size_t i = 0; i < plan->subgraphs.size(); ++i) {
      plan::Subgraph& subgraph = plan->subgraphs[i];
      const std::vector<int> tensors = plan::verify::TensorsOf(plan->network, subgraph.interval);
      if (std::any_of(tensors.begin(), tensors.end(), [&](int tensor) {
            return plan::verify::ResidencyOf(*plan, users, subgraph, tensor).residency ==
                   plan::verify::Residency::kDirect;
          }))
        continue;
      subgraph.serialized = false;
      const plan::Metrics overlapped = plan::verify::CostOf(*plan, users, static_cast<int>(i));
      subgraph.serialized = true;
      const plan::Metrics serialized = plan::verify::CostOf(*plan, users, static_cast<int>(i));
      EXPECT_GE(serialized.latency_cycles, overlapped.latency_cycles) << "round " << round;
      EXPECT_GE(serialized.energy_pj, overlapped.energy_pj * (1 - 1e-12)) << "round " << round;
      EXPECT_EQ(serialized.off_chip_bytes, overlapped.off_chip_bytes) << "round " << round;
      EXPECT_EQ(serialized.macs, overlapped.macs) << "round " << round;
      if (serialized.latency_cycles > overlapped.latency_cycles)
        ++tiles.at(std::min<size_t>(4, static_cast<size_t>(subgraph.tiles)));
    }
  }
  for (size_t count = 1; count < tiles.size(); ++count) EXPECT_GE(tiles[count], 200) << count;
}

int64_t LatencyOf(const plan::Plan& plan, size_t subgraph, const cost::Prefetches& prefetches) {
  const plan::Subgraph& part = plan.subgraphs[subgraph];
  const graph::tiling::TiledSubgraph tiling =
      encoder::program::CutTiles(plan.network, part.interval, part.tile, part.halo);
  return cost::Simulate(plan.network, plan.profile, tiling, cost::PolicyOf(part, plan.kept),
                        prefetches)
      .latency_cycles;
}

// Whether plan/verify refuses the parts of a prefetch in reverse; nullopt if they arrive together.
std::optional<bool> RefusesReversedParts(plan::Plan plan) {
  for (plan::Subgraph& subgraph : plan.subgraphs) {
    std::vector<int>& parts = subgraph.prefetch;
    if (parts.empty() || parts.front() == parts.back()) continue;
    std::reverse(parts.begin(), parts.end());
    plan::verify::Findings findings(10);
    plan::verify::CheckPartition(plan, findings);
    return !findings.Empty();
  }
  return std::nullopt;
}

// The encoder knows from the timeline of the previous subgraph when constants arrive; plan/verify
// finds it in the steps. Both refuse the same prefetches.
TEST(Derivations, AgreeOnPrefetchedConstants) {
  Random random(2032);
  // Parts, by the tiles of the subgraph that runs meanwhile, up to 5.
  std::array<int, 6> prefetched = {};
  int refused = 0;
  int reversed = 0;
  int in_slices = 0;
  int early = 0;    // queues that are requested before they begin
  int at_port = 0;  // subgraphs that end when the port of the tile memory has moved everything
  for (int round = 0; round < 20000; ++round) {
    const auto plain =
        AnyPlan(random, graph::RandomGraph(random, static_cast<int>(random.Uniform(2, 7))));
    if (!plain) continue;
    Profile profile = plain->profile;
    DrawPaces(random, profile);
    if (random.Chance(0.5)) {
      hw_profiles::Port& port = profile.memories[static_cast<size_t>(profile.tile_memory)].port;
      port.read_bytes_per_cycle = port.write_bytes_per_cycle = random.Real() + 0.05;
    }
    if (random.Chance(0.5)) profile.tiling.weight_granularity_channels = random.Uniform(1, 2);
    if (random.Chance(0.9)) profile.tiling.dma = hw_profiles::DmaSteps::kDoubleBuffered;
    profile.tiling.may_serialize = profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered;
    std::vector<encoder::program::SubgraphChoice> choices;
    for (const plan::Subgraph& subgraph : plain->subgraphs) {
      choices.push_back({subgraph.interval,
                         subgraph.tile,
                         {.weights = subgraph.weights,
                          .in_place = subgraph.in_place,
                          .halo = subgraph.halo,
                          .kept = plain->kept,
                          .serialized = subgraph.serialized},
                         {}});
      if (subgraph.weights == WeightPolicy::kStreamed && random.Chance(0.5)) {
        choices.back().tile = encoder::program::OutputShape(plain->network, subgraph.interval);
        choices.back().policy.halo = hw_profiles::HaloStorage::kRecompute;
      }
      if (random.Chance(choices.size() == 1 || subgraph.weights == WeightPolicy::kDirect ? 0.02
                                                                                         : 0.4))
        choices.back().prefetch = DrawPrefetch(random, choices.size() - 1);
      if (random.Chance(0.02))
        choices.back().prefetch.push_back(static_cast<int>(random.Uniform(0, 4)));
    }
    const auto program = encoder::program::BuildProgram(plain->network, profile, choices);
    const plan::Plan plan =
        AsPlan(plain->network, profile, choices, program ? *program : encoder::program::Program{});
    if (!program) {
      plan::verify::Findings findings(10);
      plan::verify::CheckPartition(plan, findings);
      ASSERT_FALSE(findings.Empty()) << "round " << round;
      ++refused;
      continue;
    }
    ASSERT_EQ(Disagreements(plan), "") << "round " << round;
    const std::optional<bool> refuses_reversed = RefusesReversedParts(plan);
    ASSERT_TRUE(refuses_reversed.value_or(true)) << "round " << round;
    reversed += refuses_reversed ? 1 : 0;
    plan::Metrics totals;
    for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
      const plan::Subgraph& subgraph = plan.subgraphs[i];
      plan::Accumulate(totals, subgraph.metrics);
      const cost::SubgraphTimeline timeline = cost::PlannedTimeline(plan, i, cost::kAllTiles);
      EXPECT_EQ(timeline.cycles, subgraph.metrics.latency_cycles) << "round " << round;
      in_slices += plan::verify::TakesSlicesAhead(subgraph) ? 1 : 0;
      cost::Prefetches prefetches =
          cost::PrefetchesOf(plan.network, plan.profile, plan.subgraphs, i);
      for (cost::Prefetches::Part& part : prefetches.carried) {
        early += part.requested_before > 0 ? 1 : 0;
        part.bytes = 0;
      }
      at_port += LatencyOf(plan, i, prefetches) < subgraph.metrics.latency_cycles ? 1 : 0;
      for (const int ahead : subgraph.prefetch)
        ++prefetched.at(std::min<size_t>(5, plan.subgraphs[i - static_cast<size_t>(ahead)].tiles));
    }
    const int last = static_cast<int>(plan.network.operators.size()) - 1;
    const plan::Metrics bound = cost::LowerBound(plan.network, profile, {0, last});
    if (plan.kept.empty()) {
      EXPECT_GE(totals.latency_cycles, bound.latency_cycles) << "round " << round;
    }
  }
  for (size_t tiles = 1; tiles < prefetched.size(); ++tiles)
    EXPECT_GE(prefetched[tiles], 10) << tiles;
  EXPECT_GE(refused, 500);
  EXPECT_GE(reversed, 20);
  EXPECT_GE(in_slices, 80);
  EXPECT_GE(early, 10);
  EXPECT_GE(at_port, 40);
}

// Tiles that go down the rows once for each part of the batch: images, or heads with their keys and
// values.
TEST(Derivations, AgreeOnSweepsThroughABatch) {
  Random random(2031);
  std::array<int, 4> cached = {};  // programs with a cached tensor, by storage
  for (int round = 0; round < 2000; ++round) {
    graph::Graph graph = graph::RandomBatch(random);
    DrawWeights(random, graph);
    const Profile profile = RandomMachine(random);
    graph = encoder::program::WithHomes(std::move(graph), profile);
    const graph::Interval interval = {0, static_cast<int>(graph.operators.size()) - 1};
    encoder::program::SubgraphChoice choice{
        interval, encoder::program::OutputShape(graph, interval), {}};
    for (const base::Axis axis : {base::Axis::kBatch, base::Axis::kRows}) {
      int64_t& extent = choice.tile[*graph::tiling::AxisOf(choice.tile, axis)];
      extent = random.Uniform(1, extent - 1);
    }
    ASSERT_TRUE(encoder::program::MayKeepRows(
        profile, encoder::program::OutputShape(graph, interval), choice.tile));
    choice.policy.halo = static_cast<HaloStorage>(random.Uniform(1, 3));
    choice.policy.weights = static_cast<WeightPolicy>(random.Uniform(0, 1));
    base::Expected<encoder::program::Program> program =
        encoder::program::BuildProgram(graph, profile, {&choice, 1});
    if (!program) continue;
    const plan::Plan plan = AsPlan(graph, profile, {choice}, *std::move(program));
    ASSERT_EQ(Disagreements(plan), "") << "round " << round;
    const bool keeps =
        std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const plan::BufferUse& use) {
          return use.kind == plan::BufferKind::kRollingBuffer ||
                 use.kind == plan::BufferKind::kLine || use.kind == plan::BufferKind::kHalo;
        });
    cached.at(static_cast<size_t>(choice.policy.halo)) += keeps ? 1 : 0;
  }
  EXPECT_GE(cached[1], 200);
  EXPECT_GE(cached[2], 200);
  EXPECT_GE(cached[3], 50);
}

}  // namespace
}  // namespace tessera::search
