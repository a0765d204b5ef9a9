// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/costs.h"

#include <gtest/gtest.h>

#include <utility>

#include "fixture.h"

// Costs worked out by hand from docs/program.md.
namespace tessera::plan {
namespace {

using base::OperatorKind;
using base::TensorRole;
using hw_profiles::DmaSteps;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

// Memory 0 is "sram", the tile memory: a shared port of 8 bytes a cycle. Memory 1 is "dram": it
// reads 4 and writes 2 bytes a cycle over one shared port, with latencies 7 and 5 and bursts of 4
// bytes. The link takes 3 cycles to set up. The engine does 2 input channels by 2 output channels a
// cycle after a start of 5.
Profile Machine(DmaSteps dma) {
  Profile profile = SmallProfile();
  profile.table_bytes_per_channel = 0;
  profile.tiling.dma = dma;
  profile.tiling.weight_granularity_channels = 1;
  profile.memories[0].port.read_bytes_per_cycle = profile.memories[0].port.write_bytes_per_cycle =
      8;
  profile.memories[1].port = {.read_bytes_per_cycle = 4,
                              .write_bytes_per_cycle = 2,
                              .shared = true,
                              .read_latency_cycles = 7,
                              .write_latency_cycles = 5,
                              .burst_bytes = 4};
  profile.links[0].setup_cycles = 3;
  for (hw_profiles::Throughput& throughput : profile.engines[0].throughputs) {
    throughput.unroll.in_channels = throughput.unroll.out_channels = 2;
    throughput.start_cycles = 5;
  }
  return profile;
}

// x [1, 2, 4, 3] -> 1x1 convolution -> y, in tiles of two rows, 12 bytes each of x and y, and 4
// bytes of weights. A tile loads in 3 + 7 + 12/4 = 13 cycles, is computed in 5 + 6 and stored in 3
// + 5 + 12/2 = 14; the weights load in 3 + 7 + 4/4 = 11.
Plan Pointwise(DmaSteps dma) {
  Plan plan = OneConvPlan();
  plan.profile = Machine(dma);
  plan.network.tensors[0].shape = plan.network.tensors[2].shape = {1, 2, 4, 3};
  plan.network.tensors[1].shape = {2, 2, 1, 1};
  plan.network.operators[0].window = {};
  plan.subgraphs[0].tile = {1, 2, 2, 3};
  plan.subgraphs[0].tiles = 2;
  return plan;
}

Metrics CostOf(const Plan& plan, int subgraph = 0) {
  return verify::CostOf(plan, verify::FindUsers(plan.network), subgraph);
}

TEST(Costs, OfSerializedTransfersAddUp) {
  const Metrics cost = CostOf(Pointwise(DmaSteps::kSerialized));
  EXPECT_EQ(cost.latency_cycles, 11 + 2 * (13 + 11 + 14));
  EXPECT_EQ(cost.off_chip_bytes, 24 + 24 + 4);
  EXPECT_EQ(cost.macs, 24 * 2);
  EXPECT_EQ(cost.recomputed_macs, 0);
  EXPECT_DOUBLE_EQ(cost.peak_bytes_per_cycle,
                   24.0 / 38);  // of the second tile; the first has 28 in 49 cycles
  EXPECT_EQ(cost.bound_by, "");
  EXPECT_EQ(cost.peak_bytes, 0);
}

TEST(Costs, OfDoubleBufferedTransfersAreThoseOfTheBusiest) {
  Plan plan = Pointwise(DmaSteps::kDoubleBuffered);
  // P, compute 0 with load 1, compute 1 with store 0, E.
  EXPECT_EQ(CostOf(plan).latency_cycles, (13 + 11) + 13 + 14 + 14);
  // Tiles of one row load in 12 cycles, compute in 8, store in 12. Transfers take turns; over two
  // ports and two channels they do not.
  plan.subgraphs[0].tile[2] = 1;
  plan.subgraphs[0].tiles = 4;
  EXPECT_EQ(CostOf(plan).latency_cycles, (12 + 11) + 12 + 24 + 24 + 12 + 12);
  plan.profile.memories[1].port.shared = false;
  EXPECT_EQ(CostOf(plan).latency_cycles, (12 + 11) + 12 + 24 + 24 + 12 + 12);
  plan.profile.links[0].outstanding = 2;
  EXPECT_EQ(CostOf(plan).latency_cycles, (12 + 11) + 12 + 12 + 12 + 12 + 12);
}

// Two slices of one output channel, 2 bytes and 3 + 7 + 1 cycles each.
TEST(Costs, OfStreamedWeightsComeWithEveryTile) {
  Plan plan = Pointwise(DmaSteps::kSerialized);
  plan.subgraphs[0].weights = WeightPolicy::kStreamed;
  EXPECT_EQ(CostOf(plan).latency_cycles, 2 * (13 + 2 * 11 + 11 + 14));
  EXPECT_EQ(CostOf(plan).off_chip_by_cause.at("weights"), 2 * 4);

  plan.profile.tiling.dma = DmaSteps::kDoubleBuffered;
  // After P, the port brings the second slice of tile 0, the first of tile 1 and load 1; then the
  // second of tile 1 and store 0.
  EXPECT_EQ(CostOf(plan).latency_cycles, (13 + 11) + (11 + 11 + 13) + (11 + 14) + 14);
}

TEST(Costs, OfDirectOperandsAreWithinTheStep) {
  Plan plan = Pointwise(DmaSteps::kSerialized);
  plan.profile.memories[1].direct_read = true;
  plan.subgraphs[0].weights = WeightPolicy::kDirect;
  // The step waits for 7 + 12/4 cycles of x and 7 + 4/4 of the weights.
  EXPECT_EQ(CostOf(plan).latency_cycles, 2 * (10 + 8 + 14));
  EXPECT_EQ(CostOf(plan).off_chip_by_cause.at("weights"), 2 * 4);
}

// x [1, 1, 6, 1] -> a -> y, both 3x1 with padding, in tiles of 3 rows.
Plan Chain(HaloStorage halo) {
  Plan plan = TwoConvsPlan();
  plan.profile = Machine(DmaSteps::kSerialized);
  plan.profile.tiling.halo = {halo};
  for (const size_t tensor : {0, 3, 4}) plan.network.tensors[tensor].shape = {1, 1, 6, 1};
  for (const size_t tensor : {1, 2}) plan.network.tensors[tensor].shape = {1, 1, 3, 1};
  for (graph::Operator& op : plan.network.operators) {
    op.window.kernel = {3, 1};
    op.window.pad_low = op.window.pad_high = {1, 0};
  }
  plan.subgraphs[0].tile = {1, 1, 3, 1};
  plan.subgraphs[0].tiles = 2;
  plan.subgraphs[0].halo = halo;
  return plan;
}

// Weights: 3 + 7 + 1 cycles each. Recomputed, either tile loads 5 rows (two bursts), makes 4 rows
// of a and 3 of y, and stores 3 rows (one burst). With a rolling buffer the second tile loads one
// row and makes 2 of a.
TEST(Costs, OfKeptRowsAreLessThanOfRecomputedOnes) {
  const Metrics recomputed = CostOf(Chain(HaloStorage::kRecompute));
  const int64_t store = 3 + 5 + 4 / 2;
  EXPECT_EQ(recomputed.latency_cycles, 22 + 2 * ((3 + 7 + 2) + (5 + 4 * 3) + (5 + 3 * 3) + store));
  EXPECT_EQ(recomputed.recomputed_macs, 2 * 3);
  const Metrics rolling_buffer = CostOf(Chain(HaloStorage::kRollingBuffer));
  EXPECT_EQ(rolling_buffer.latency_cycles, recomputed.latency_cycles - 1 - 2 * 3);
  EXPECT_EQ(rolling_buffer.recomputed_macs, 0);
  EXPECT_EQ(rolling_buffer.off_chip_by_cause.at("inputs"), 6);

  // Two rows of x and two of a are saved after the first tile and restored before the second: 2
  // bytes read and written in a cycle.
  const Metrics copy = CostOf(Chain(HaloStorage::kLineBuffer));
  EXPECT_EQ(copy.latency_cycles, rolling_buffer.latency_cycles + 4);
  EXPECT_DOUBLE_EQ(copy.energy_by_part.at("sram"),
                   rolling_buffer.energy_by_part.at("sram") + 4 * 2 * (1 + 2));
  const Metrics adjacent = CostOf(Chain(HaloStorage::kAdjacent));
  EXPECT_EQ(adjacent.latency_cycles, rolling_buffer.latency_cycles + 2);
  EXPECT_DOUBLE_EQ(adjacent.energy_by_part.at("sram"),
                   rolling_buffer.energy_by_part.at("sram") + 2 * 2 * (1 + 2));
}

// 3 of 4 columns of 2 channels: a run of 6 bytes, 2 bursts, for each row; a descriptor of one level
// walks one run.
TEST(Costs, OfScatteredRunsAreBurstsAndDescriptors) {
  Plan plan = Pointwise(DmaSteps::kSerialized);
  plan.network.tensors[0].shape = plan.network.tensors[2].shape = {1, 2, 2, 4};
  plan.profile.tiling.axes = {{base::Axis::kColumns, 1}};
  plan.subgraphs[0].tile = {1, 2, 2, 3};
  const int64_t wide = (3 + 7 + 16 / 4) + (5 + 6) + (3 + 5 + 16 / 2);
  const int64_t narrow = (3 + 7 + 8 / 4) + (5 + 2) + (3 + 5 + 8 / 2);  // runs of 2 bytes
  EXPECT_EQ(CostOf(plan).latency_cycles, 11 + wide + narrow);
  plan.profile.links[0].dims = 1;
  EXPECT_EQ(CostOf(plan).latency_cycles, 11 + wide + narrow + 4 * 3);
}

// y [4, 2] = x [4, 3] times w [3, 2], in slices of K extent 2 and 1.
TEST(Costs, OfSplitKSumsAreThoseOfTheirSlices) {
  Plan plan = Pointwise(DmaSteps::kSerialized);
  plan.network.tensors[0].shape = {4, 3};
  plan.network.tensors[1].shape = {3, 2};
  plan.network.tensors[2].shape = {4, 2};
  plan.network.operators[0].kind = OperatorKind::kMatmul;
  plan.profile.tiling.weights.push_back(WeightPolicy::kSplitK);
  plan.profile.tiling.k_granularity = 2;
  Subgraph& subgraph = plan.subgraphs[0];
  subgraph.weights = WeightPolicy::kSplitK;
  subgraph.tile = {4, 2};
  subgraph.tiles = 1;
  // x: 4 runs of 2 bytes, then 4 of 1 byte; w: 4 bytes, then 2. The sums are 4 steps for 2 along K
  // and 4 for the last.
  const int64_t slices = 2 * (3 + 7 + 4 * 4 / 4) + 2 * (3 + 7 + 1);
  EXPECT_EQ(CostOf(plan).latency_cycles, slices + (5 + 8) + (3 + 5 + 8 / 2));
  EXPECT_EQ(CostOf(plan).off_chip_by_cause.at("weights"), 6);
  // Read in SRAM: x, w, the partial sums of 8 by 4 bytes, and y; written: x, w, the partial sums
  // and y.
  EXPECT_DOUBLE_EQ(CostOf(plan).energy_by_part.at("sram"),
                   (12 + 6 + 32 + 8) * 1 + (12 + 6 + 32 + 8) * 2);

  plan.profile.tiling.dma = DmaSteps::kDoubleBuffered;
  // First slices in P, later ones during the step.
  EXPECT_EQ(CostOf(plan).latency_cycles, slices / 2 + slices / 2 + (3 + 5 + 8 / 2));
}

TEST(Costs, OfIdleEnginesFallBetweenTiles) {
  Plan plan = Pointwise(DmaSteps::kSerialized);
  plan.profile.engines[0].idle_cycles_between_tiles = 5;
  EXPECT_EQ(CostOf(plan).latency_cycles, 11 + 2 * (13 + 11 + 14) + 5);
  plan.profile.tiling.dma = DmaSteps::kDoubleBuffered;
  EXPECT_EQ(CostOf(plan).latency_cycles, (13 + 11) + (11 + 5) + 14 + 14);
  plan.profile.engines[0].idle_cycles_between_tiles = 2;  // while the next tile loads
  EXPECT_EQ(CostOf(plan).latency_cycles, (13 + 11) + 13 + 14 + 14);
}

// Two convolutions, each a subgraph of two tiles; the weights of the second arrive while the first
// stores.
TEST(Costs, OfPrefetchedConstantsFallOnTheSubgraphBefore) {
  Plan plan = Pointwise(DmaSteps::kDoubleBuffered);
  plan.profile.memories[1].port.shared = false;
  plan.profile.links[0].outstanding = 2;
  graph::Tensor middle = FeatureTensor("m", {1, 2, 4, 3});
  plan.network.tensors.push_back(std::move(middle));
  plan.network.tensors.push_back(ConstantTensor("v", {2, 2, 1, 1}));
  plan.network.operators.push_back(plan.network.operators[0]);
  plan.network.operators[0].outputs = {3};
  plan.network.operators[1].id = "second";
  plan.network.operators[1].inputs = {3};
  plan.network.operators[1].weights = {4};
  plan.subgraphs.push_back(plan.subgraphs[0]);
  plan.subgraphs[1].interval = {1, 1};
  const Metrics loading = CostOf(plan, 1);
  EXPECT_EQ(loading.latency_cycles, (13 + 11) + 13 + 14 + 14);
  plan.subgraphs[1].prefetch = {1};
  EXPECT_EQ(CostOf(plan, 0).latency_cycles, (13 + 11) + 13 + 14 + 14);
  EXPECT_EQ(CostOf(plan, 1).latency_cycles, 13 + 13 + 14 + 14);
  EXPECT_EQ(CostOf(plan, 1).off_chip_by_cause, loading.off_chip_by_cause);
  EXPECT_EQ(CostOf(plan, 1).energy_pj, loading.energy_pj);
  plan.network.tensors[4].stored_bytes = 160;  // 3 + 7 + 40 cycles, from the begin of the last tile
  EXPECT_EQ(CostOf(plan, 0).latency_cycles, (13 + 11) + 13 + 50);
}

TEST(Costs, LeakAsLongAsTheProgramRuns) {
  Plan plan = Pointwise(DmaSteps::kSerialized);
  plan.profile.memories[0].leakage_mw = 1;
  plan.profile.memories[1].leakage_mw = 2;
  EXPECT_DOUBLE_EQ(CostOf(plan).energy_by_part.at("leakage"), 3e9 * 87 / 1e9);
}

}  // namespace
}  // namespace tessera::plan
