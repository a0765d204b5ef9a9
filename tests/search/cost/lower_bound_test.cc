// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "random_graph.h"
#include "small_machine.h"
#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/infeasibility/least_metrics.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/tests/search/cost/simulate.h"

namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::WeightPolicy;

// A chain of convolutions with any kernels and strides, holes included, and an addition where
// shapes allow.
graph::Graph AnyNetwork() {
  NetworkBuilder net;
  int last = net.Input({1, *rc::gen::inRange<int64_t>(1, 4), *rc::gen::inRange<int64_t>(4, 24), 2});
  const int layers = *rc::gen::inRange(1, 5);
  for (int i = 0; i < layers; ++i) {
    const int64_t kernel = 1 + 2 * *rc::gen::inRange<int64_t>(0, 2);
    last =
        net.Conv(last, kernel, *rc::gen::inRange<int64_t>(1, 4), *rc::gen::inRange<int64_t>(1, 4));
    if (*rc::gen::arbitrary<bool>()) last = net.Add(last, last);
  }
  return net.Finish(last);
}

hw_profiles::Profile AnyMachine() {
  hw_profiles::Profile profile =
      SmallMachine(*rc::gen::element(DmaSteps::kSerialized, DmaSteps::kDoubleBuffered));
  profile.memories[0].direct_read = *rc::gen::arbitrary<bool>();
  profile.memories[0].direct_write = *rc::gen::arbitrary<bool>();
  profile.memories[0].port.shared = *rc::gen::arbitrary<bool>();
  profile.memories[0].leakage_mw = 1;
  profile.links[0].outstanding = *rc::gen::inRange(1, 3);
  profile.engines[0].outstanding = *rc::gen::inRange(1, 4);
  profile.engines[0].idle_cycles_between_tiles = *rc::gen::element(0, 0, 7);
  profile.table_bytes_per_channel = *rc::gen::inRange(0, 3);
  LayoutIn(profile, base::TensorRole::kBoundary).channel_block = *rc::gen::element(1, 4);
  return profile;
}

RC_GTEST_PROP(LowerBound, NoTileOrPolicyOrCutUndercutsIt, ()) {
  const graph::Graph graph = AnyNetwork();
  const hw_profiles::Profile profile = AnyMachine();
  const int operators = static_cast<int>(graph.operators.size());
  const graph::Interval all{0, operators - 1};
  const plan::Metrics bound_of_all = cost::LowerBound(graph, profile, all);
  plan::Metrics total;
  for (int first = 0; first < operators;) {
    const int last = *rc::gen::inRange(first, operators);
    const graph::Interval interval{first, last};
    const int result = graph.operators[static_cast<size_t>(last)].outputs.front();
    graph::tiling::TileShape tile = graph.tensors[static_cast<size_t>(result)].shape;
    tile[2] = *rc::gen::inRange<int64_t>(1, tile[2] + 1);
    const bool direct = profile.memories[0].direct_read && *rc::gen::arbitrary<bool>();
    const WeightPolicy weights =
        direct ? WeightPolicy::kDirect
               : *rc::gen::element(WeightPolicy::kResident, WeightPolicy::kStreamed);
    const plan::Metrics cost = cost::Simulate(
        graph, profile, graph::tiling::Tile(graph, interval, tile), {weights, false});
    const plan::Metrics bound = cost::LowerBound(graph, profile, interval);
    for (const std::string_view metric : {"latency", "energy", "off_chip_bytes"}) {
      RC_ASSERT(plan::ValueOf(bound, metric) <= plan::ValueOf(cost, metric) * (1 + 1e-12));
    }
    RC_ASSERT(bound.macs <= cost.macs);
    plan::Accumulate(total, cost);
    first = last + 1;
  }
  for (const std::string_view metric : {"latency", "energy", "off_chip_bytes"}) {
    RC_ASSERT(plan::ValueOf(bound_of_all, metric) <= plan::ValueOf(total, metric) * (1 + 1e-12));
  }
}

void DrawLanes(base::Random& random, hw_profiles::Engine& engine) {
  for (hw_profiles::Throughput& throughput : engine.throughputs) {
    throughput.unroll = {random.Uniform(1, 2), random.Uniform(1, 4), random.Uniform(1, 4),
                         random.Uniform(1, 4), random.Uniform(1, 4)};
    throughput.fold_channels = random.Chance(0.5);
  }
}

TEST(LowerBound, HoldsForEveryKindOfOperator) {
  hw_profiles::Profile profile = SmallMachine(DmaSteps::kSerialized);
  for (const std::string_view name : base::OperatorKindNames()) {
    const hw_profiles::Throughput throughput{
        *base::ParseOperatorKind(name), std::nullopt, {}, 1, 1, 2};
    profile.engines[0].throughputs.push_back(throughput);
  }
  base::Random random(80);
  int several_tiles = 0;
  for (int round = 0; round < 500; ++round) {
    DrawLanes(random, profile.engines[0]);
    const graph::Graph graph = graph::RandomGraph(random, static_cast<int>(random.Uniform(2, 6)));
    const int last = static_cast<int>(graph.operators.size()) - 1;
    const graph::Interval interval{static_cast<int>(random.Uniform(0, last)), last};
    const int result = graph.operators[static_cast<size_t>(last)].outputs.front();
    graph::tiling::TileShape tile = graph.tensors[static_cast<size_t>(result)].shape;
    for (size_t axis = 0; axis < tile.size(); ++axis) {
      if (graph::tiling::CanCut(graph, interval, axis)) tile[axis] = random.Uniform(1, tile[axis]);
    }
    const graph::tiling::TiledSubgraph tiled = graph::tiling::Tile(graph, interval, tile);
    several_tiles += tiled.tiles > 1 ? 1 : 0;
    const plan::Metrics cost =
        cost::Simulate(graph, profile, tiled, {WeightPolicy::kResident, false});
    const plan::Metrics bound = cost::LowerBound(graph, profile, interval);
    EXPECT_LE(bound.macs, cost.macs) << round;
    for (const std::string_view metric : {"latency", "energy", "off_chip_bytes"}) {
      EXPECT_LE(plan::ValueOf(bound, metric), plan::ValueOf(cost, metric) * (1 + 1e-12))
          << metric << round;
    }
  }
  EXPECT_GE(several_tiles, 100);
}

// A double may be rounded up: 50 * 1.1 is more than 55, and five tiles of 10 * 1.1 cycles take 55.
// One convolution takes `rate` for each step, one activation an equal rate for each byte that it
// reads. Nothing else takes time.
TEST(LowerBound, HoldsForRatesThatAreNoBinaryFractions) {
  int reached = 0;  // by the latency of some tiles
  for (const double rate : {0.1, 0.3, 0.7, 1.1, 2.3, 8.7, 1 / 8.7, 1 / 580.5}) {
    hw_profiles::Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
    for (hw_profiles::RoleLayout& layout : profile.roles) layout.home = profile.tile_memory;
    profile.memories[1].port = {
        .read_bytes_per_cycle = 1 / rate, .write_bytes_per_cycle = 1e9, .shared = false};
    hw_profiles::Throughput conv;
    conv.cycles_per_step = rate;
    profile.engines[0].throughputs[0] = conv;
    profile.engines[0].throughputs[1].cycles_per_output = 0;
    for (int64_t rows = 2; rows <= 12; ++rows) {
      for (const int64_t columns : {5, 7, 10, 174}) {
        NetworkBuilder net;
        const int input = net.Input({1, 1, rows, columns});
        const graph::Graph graph =
            net.Finish(columns == 174 ? net.Add(input, input) : net.Conv(input, 1, 1));
        for (int64_t tile = 1; tile <= rows; ++tile) {
          const int64_t cycles =
              cost::Simulate(graph, profile,
                             graph::tiling::Tile(graph, {0, 0}, {1, 1, tile, columns}), {})
                  .latency_cycles;
          const int64_t bound = cost::LowerBound(graph, profile, {0, 0}).latency_cycles;
          EXPECT_LE(bound, cycles) << rate << " for " << rows << " x " << columns << ", " << tile;
          EXPECT_LE(cost::SubgraphBound(graph, profile, {0, 0}).latency_cycles, cycles);
          reached += bound == cycles ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GE(reached, 100);
}

// Binary fractions lose nothing.
TEST(LowerBound, OfWholeCyclesIsExactForBinaryFractions) {
  for (const double rate : {0.25, 0.5, 1.0, 3.0, 6.125}) {
    for (int64_t count = 0; count < 1'000'000; count = 3 * count / 2 + 1) {
      const double cycles = rate * static_cast<double>(count);
      EXPECT_EQ(base::LeastWholeCycles(cycles), base::WholeCycles(cycles)) << cycles;
    }
  }
  EXPECT_EQ(base::LeastWholeCycles(50 * 1.1), 55);
  EXPECT_EQ(base::LeastWholeCycles(1e300), base::kMaxTotal);
}

// Two convolutions of large maps, the second with this kernel, and then two whose constants take
// longer than the engine. The first map is a result too.
graph::Graph LargeMapsThenLargeConstants(int64_t kernel) {
  NetworkBuilder net;
  const int map = net.Conv(net.Input({1, 2, 481, 2}), 1, 2);
  graph::Graph graph = net.Finish(net.Conv(net.Conv(net.Conv(map, kernel, 16, 64), 1, 64), 1, 64));
  graph.tensors[static_cast<size_t>(map)].network_output = true;
  return graph;
}

constexpr int64_t kLateConstants = 64 * 16 + 64 * 64;  // bytes

hw_profiles::Profile WithTileMemoryOf(int64_t capacity, double bytes_per_cycle) {
  hw_profiles::Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, capacity);
  profile.memories[0].port.read_bytes_per_cycle = bytes_per_cycle;
  profile.memories[0].port.write_bytes_per_cycle = 1e6;
  for (hw_profiles::Throughput& throughput : profile.engines[0].throughputs)
    throughput.unroll = {1, 1, 1, 64, 64};
  return profile;
}

TEST(LowerBound, CountsConstantsThatCannotArriveBeforeTheirTurn) {
  const graph::Graph graph = LargeMapsThenLargeConstants(65);
  const int64_t before = cost::LowerBound(graph, WithTileMemoryOf(0, 1e6), {0, 1}).latency_cycles;
  for (const int64_t capacity : {0, 100, 1000, 2001}) {
    EXPECT_EQ(cost::LowerBound(graph, WithTileMemoryOf(capacity, 4), {0, 3}).latency_cycles,
              before + (kLateConstants - capacity) / 4);
  }
  EXPECT_LT(cost::LowerBound(graph, WithTileMemoryOf(1 << 20, 4), {0, 3}).latency_cycles,
            before + kLateConstants / 8);
}

TEST(LowerBound, OfTheJudgeLeavesTheTileMemoryToConstants) {
  const graph::Graph graph = LargeMapsThenLargeConstants(65);
  const auto latency = [&](int64_t capacity) {
    plan::Plan question;
    question.network = graph;
    question.profile = WithTileMemoryOf(capacity, 4);
    return plan::verify::infeasibility::LeastMetrics(question, plan::verify::FindUsers(graph))
        .latency_cycles;
  };
  EXPECT_EQ(latency(0) - latency(1000), 1000 / 4);
  EXPECT_LT(latency(1 << 20), latency(0) - kLateConstants / 8);
}

// 32 bytes at 4 cycles each, in requests of 4 bytes that take bursts of 16. The other input of the
// addition is read at the same port in the same step.
TEST(LowerBound, CountsWholeBurstsOfInputsThatAreReadAtHome) {
  NetworkBuilder one;
  NetworkBuilder two;
  const graph::Graph conv = one.Finish(one.Conv(one.Input({1, 2, 8, 2}), 1, 1));
  const int first = two.Input({1, 2, 8, 2});
  const graph::Graph sum = two.Finish(two.Add(first, two.Input({1, 2, 8, 2})));
  hw_profiles::Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.memories[0].direct_read = true;
  profile.memories[0].port.read_bytes_per_cycle = 0.25;
  profile.memories[0].port.burst_bytes = 16;
  hw_profiles::RoleLayout& layout = LayoutIn(profile, base::TensorRole::kNetworkInput);
  const auto of_search = [&](const graph::Graph& graph) {
    return cost::LowerBound(graph, profile, {0, 0}).latency_cycles;
  };
  const auto of_judge = [&](const graph::Graph& graph) {
    plan::Plan question;
    question.network = graph;
    question.profile = profile;
    return plan::verify::infeasibility::LeastMetrics(question, plan::verify::FindUsers(graph))
        .latency_cycles;
  };
  layout.request_bytes = 4;
  EXPECT_EQ(of_search(conv), 32 * 4 * (16 / 4));
  EXPECT_EQ(of_judge(conv), 32 * 4 * (16 / 4));
  EXPECT_EQ(of_search(sum), 2 * 32 * 4 * (16 / 4));
  EXPECT_EQ(of_judge(sum), 2 * 32 * 4 * (16 / 4));
  layout.request_bytes = 64;
  EXPECT_EQ(of_judge(conv), 32 * 4);
  layout.request_bytes = 4;
  layout.tiles_only = true;
  EXPECT_LT(of_search(conv), 32 * 4 * (16 / 4));
  EXPECT_LT(of_judge(conv), 32 * 4);
}

// Most of the first map is not needed for the late operators, and may be made behind them.
TEST(LowerBound, CountsWhatIsSurelyMadeBeforeLateConstants) {
  const graph::Graph graph = LargeMapsThenLargeConstants(1);
  const int64_t first = cost::LowerBound(graph, WithTileMemoryOf(0, 1e6), {0, 0}).latency_cycles;
  EXPECT_LT(cost::LowerBound(graph, WithTileMemoryOf(0, 4), {0, 3}).latency_cycles,
            first + kLateConstants / 4);
}

TEST(LowerBound, IsMetByOneWholeTileWhereNothingIsLost) {
  NetworkBuilder net;
  const graph::Graph graph = net.Finish(net.Conv(net.Conv(net.Input({1, 2, 8, 2}), 3, 2), 3, 2));
  const hw_profiles::Profile profile = SmallMachine(DmaSteps::kSerialized);
  const plan::Metrics bound = cost::LowerBound(graph, profile, {0, 1});
  const plan::Metrics whole =
      cost::Simulate(graph, profile, graph::tiling::Tile(graph, {0, 1}, {1, 2, 8, 2}), {});
  EXPECT_EQ(bound.off_chip_bytes, whole.off_chip_bytes);
  EXPECT_EQ(bound.macs, whole.macs);
}

// One tile, transfers that overlap the engines. The bound leaves out the transfer of the input in
// and of the result out.
TEST(SubgraphBound, IsOneWholeTileLessTheTransfersInAndOut) {
  NetworkBuilder net;
  const graph::Graph graph = net.Finish(net.Conv(net.Conv(net.Input({1, 2, 8, 2}), 3, 2), 3, 2));
  hw_profiles::Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.memories[1].port.read_bytes_per_cycle = 1;  // slower than the arithmetic
  profile.tiling.weights = {WeightPolicy::kResident};
  const plan::Metrics whole =
      cost::Simulate(graph, profile, graph::tiling::Tile(graph, {0, 1}, {1, 2, 8, 2}), {});
  const int64_t in = 3 + 7 + 8;    // set up, wait, 32 bytes at 4 a cycle
  const int64_t out = 3 + 5 + 32;  // 32 bytes at the pace of the slower end
  EXPECT_EQ(cost::SubgraphBound(graph, profile, {0, 1}).latency_cycles,
            whole.latency_cycles - in - out);
  EXPECT_LT(cost::LowerBound(graph, profile, {0, 1}).latency_cycles,
            whole.latency_cycles - in - out);
  EXPECT_EQ(cost::SubgraphBound(graph, profile, {0, 1}).energy_pj, whole.energy_pj);
}

TEST(LowerBound, DoesNotCountWhatAStrideMaySkip) {
  NetworkBuilder net;
  const graph::Graph graph =
      net.Finish(net.Conv(net.Conv(net.Input({1, 1, 8, 1}), 1, 1), 1, 1, /*stride=*/2));
  const plan::Metrics bound = cost::LowerBound(graph, SmallMachine(DmaSteps::kSerialized), {0, 1});
  EXPECT_EQ(bound.macs,
            4);  // of the second convolution; tiles of one row make the first do 4, one tile 7
}

}  // namespace
}  // namespace tessera::search
