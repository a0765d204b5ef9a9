// SPDX-License-Identifier: Apache-2.0

#include "tessera/tests/search/cost/simulate.h"

#include <gtest/gtest.h>

#include <utility>

#include "small_machine.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/tests/hw_profiles/engines.h"

namespace tessera::search {
namespace {

using encoder::program::Policy;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

// A tile of two rows: 13 cycles to load 12 bytes (3 + 7 + 12/4), 11 to compute (6 steps + 5), 14 to
// store (3 + 5 + 12/2); the weights take 11 cycles to load (3 + 7 + 4/4).
TEST(Simulate, SerializedRunInSequence) {
  const plan::Metrics metrics =
      RunRows(Pointwise(), SmallMachine(DmaSteps::kSerialized), 2, kResident);
  EXPECT_EQ(metrics.latency_cycles, 11 + 2 * (13 + 11 + 14));
}

TEST(Simulate, DoubleBufferedSlotsLastAsLongAsTheBusiest) {
  const plan::Metrics metrics =
      RunRows(Pointwise(), SmallMachine(DmaSteps::kDoubleBuffered), 2, kResident);
  const int64_t prologue = 11 + 13;
  const int64_t slots = 13 + 14;  // compute 0 with load 1, compute 1 with store 0
  EXPECT_EQ(metrics.latency_cycles, prologue + slots + 14);
}

TEST(Simulate, LoadAndStoreShareAPortUnlessItIsDouble) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  // Tiles of one row: load 3+7+2 = 12, compute 8, store 3+5+4 = 12 (two bursts).
  EXPECT_EQ(RunRows(Pointwise(), profile, 1, kResident).latency_cycles,
            (11 + 12) + (12 + 24 + 24 + 12) + 12);
  profile.memories[0].port.shared = false;
  profile.links[0].outstanding = 2;
  EXPECT_EQ(RunRows(Pointwise(), profile, 1, kResident).latency_cycles,
            (11 + 12) + (12 + 12 + 12 + 12) + 12);
  profile.links[0].outstanding = 1;
  EXPECT_EQ(RunRows(Pointwise(), profile, 1, kResident).latency_cycles,
            (11 + 12) + (12 + 24 + 24 + 12) + 12);
}

TEST(Simulate, OneTileHasNothingToOverlapWith) {
  const plan::Metrics metrics =
      RunRows(Pointwise(), SmallMachine(DmaSteps::kDoubleBuffered), 4, kResident);
  EXPECT_EQ(metrics.latency_cycles, (11 + 3 + 7 + 6) + (12 + 5) + (3 + 5 + 12));
}

TEST(Simulate, RaggedLastTileCostsWhatItIs) {
  const plan::Metrics metrics =
      RunRows(Pointwise(), SmallMachine(DmaSteps::kSerialized), 3, kResident);
  const int64_t three_rows = (3 + 7 + 5) + (9 + 5) + (3 + 5 + 10);  // 18 bytes are 5 bursts of 4
  const int64_t one_row = (3 + 7 + 2) + (3 + 5) + (3 + 5 + 4);
  EXPECT_EQ(metrics.latency_cycles, 11 + three_rows + one_row);
  EXPECT_EQ(metrics.off_chip_by_cause.at("inputs"), 24);
}

TEST(Simulate, StreamedWeightsComeBeforeEachUse) {
  const plan::Metrics metrics =
      RunRows(Pointwise(), SmallMachine(DmaSteps::kSerialized), 2, kStreamed);
  // One output channel a slice: two slices of 2 bytes, each 3 + 7 + 1 cycles.
  EXPECT_EQ(metrics.latency_cycles, 2 * (13 + 2 * 11 + 11 + 14));
  EXPECT_EQ(metrics.off_chip_by_cause.at("weights"), 2 * 4);
}

TEST(Simulate, DoubleBufferedSlicesArriveDuringTheirStep) {
  const plan::Metrics metrics =
      RunRows(Pointwise(), SmallMachine(DmaSteps::kDoubleBuffered), 2, kStreamed);
  const int64_t prologue = 13 + 11;
  const int64_t first = 11 + 11 + 13;  // port: second slice of tile 0, first of tile 1, load 1
  const int64_t second = 11 + 14;      // port: second slice of tile 1, store 0
  EXPECT_EQ(metrics.latency_cycles, prologue + first + second + 14);
}

TEST(Simulate, DirectConstantsAreReadWithEveryTile) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  profile.memories[0].direct_read = true;
  // The input is direct too: 7 + 3 cycles for 12 bytes and 7 + 1 for the weights, longer than 11
  // cycles of compute.
  const plan::Metrics metrics = RunRows(Pointwise(), profile, 2, kDirect);
  EXPECT_EQ(metrics.latency_cycles, 2 * (10 + 8 + 14));
  EXPECT_EQ(metrics.off_chip_by_cause.at("weights"), 2 * 4);
  EXPECT_EQ(metrics.off_chip_by_cause.at("inputs"), 24);
}

TEST(Simulate, HomesInTheTileMemoryMoveNothing) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  const plan::Metrics metrics = RunRows(Pointwise(), profile, 2, kResident);
  EXPECT_EQ(metrics.off_chip_bytes, 0);
  EXPECT_EQ(metrics.latency_cycles, 2 * 11);
  EXPECT_EQ(metrics.bound_by, "compute");
}

TEST(Simulate, EnergyAddsUpByPart) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  profile.memories[0].leakage_mw = 2;
  const plan::Metrics metrics = RunRows(Pointwise(), profile, 2, kResident);
  EXPECT_DOUBLE_EQ(metrics.energy_by_part.at("mac"), 24 * 2 * 0.5);
  EXPECT_DOUBLE_EQ(metrics.energy_by_part.at("dram"), (24 + 4) * 10 + 24 * 20);
  // Read: by the engine 24 bytes and twice the weights, by the DMA 24; written: by the DMA 24 + 4,
  // by the engine 24.
  EXPECT_DOUBLE_EQ(metrics.energy_by_part.at("sram"), (24 + 8 + 24) * 1 + (28 + 24) * 2);
  EXPECT_DOUBLE_EQ(metrics.energy_by_part.at("leakage"), 2e9 * 87 / 1e9);
  EXPECT_DOUBLE_EQ(metrics.energy_pj, 24 + 760 + 160 + 174);
}

// 24 bytes arrive, 48 leave, and 2 of weights stay: each is read once and written once in the tile
// memory.
TEST(Simulate, TransfersReadAndWriteTheTileMemoryOnce) {
  NetworkBuilder net;
  const graph::Graph graph = net.Finish(net.Conv(net.Input({1, 1, 8, 3}), 1, 2));
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  hw_profiles::Memory& sram = profile.memories[static_cast<size_t>(profile.tile_memory)];
  for (const bool reads : {true, false}) {
    sram.read_pj_per_byte = reads ? 1 : 0;
    sram.write_pj_per_byte = reads ? 0 : 1;
    const plan::Metrics metrics = RunRows(graph, profile, 8, kResident);
    EXPECT_DOUBLE_EQ(metrics.energy_by_part.at("sram"), 24 + 2 + 48) << reads;
  }
}

// Three loop levels, the run itself being the innermost.
TEST(Simulate, TransfersAreSplitAtTheLevelsOfADescriptor) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  const int home = hw_profiles::LayoutOf(profile, base::TensorRole::kBoundary).home;
  const cost::Runs runs{.bytes = 4, .count = 6, .loops = {2, 3}};
  const auto cycles_with = [&](int dims) {
    profile.links[0].dims = dims;
    return cost::TransferCycles(profile, home, cost::Direction::kRead, runs);
  };
  const int64_t one = cycles_with(3);
  EXPECT_EQ(cycles_with(4), one);
  EXPECT_EQ(cycles_with(2) - one, profile.links[0].setup_cycles * (2 - 1));
  EXPECT_EQ(cycles_with(1) - one, profile.links[0].setup_cycles * (2 * 3 - 1));
}

TEST(Simulate, HaloIsFetchedAndComputedAgain) {
  NetworkBuilder net;
  const int x = net.Input({1, 1, 6, 1});
  const graph::Graph graph = net.Finish(net.Conv(net.Conv(x, 3, 1), 3, 1));
  const plan::Metrics metrics = RunRows(graph, SmallMachine(DmaSteps::kSerialized), 3, kResident);
  // Each half needs 4 rows in between and 5 of the input.
  EXPECT_EQ(metrics.macs, 2 * (3 + 4) * 3);
  EXPECT_EQ(metrics.recomputed_macs, 2 * 3);
  EXPECT_EQ(metrics.off_chip_by_cause.at("inputs"), 2 * 5);
  EXPECT_EQ(metrics.off_chip_by_cause.at("outputs"), 6);
}

// The second half makes 2 rows in between, and loads 1 row: 2 rows of each are already there.
TEST(Simulate, KeptRowsAreNeitherFetchedNorComputedAgain) {
  NetworkBuilder net;
  const int x = net.Input({1, 1, 6, 1});
  const graph::Graph graph = net.Finish(net.Conv(net.Conv(x, 3, 1), 3, 1));
  const Profile profile = SmallMachine(DmaSteps::kSerialized);
  Policy policy = kResident;
  policy.halo = hw_profiles::HaloStorage::kRollingBuffer;
  const plan::Metrics rolling_buffer = RunRows(graph, profile, 3, policy);
  EXPECT_EQ(rolling_buffer.macs, (6 + 6) * 3);
  EXPECT_EQ(rolling_buffer.recomputed_macs, 0);
  EXPECT_EQ(rolling_buffer.off_chip_by_cause.at("inputs"), 6);
  EXPECT_EQ(rolling_buffer.off_chip_by_cause.at("outputs"), 6);

  // Each of the two tensors takes a cycle to save and one to restore, for 2 bytes read and written.
  policy.halo = hw_profiles::HaloStorage::kLineBuffer;
  const plan::Metrics copy = RunRows(graph, profile, 3, policy);
  EXPECT_EQ(copy.latency_cycles, rolling_buffer.latency_cycles + 4);
  EXPECT_DOUBLE_EQ(copy.energy_by_part.at("sram"),
                   rolling_buffer.energy_by_part.at("sram") + 4 * 2 * (1 + 2));
  policy.halo = hw_profiles::HaloStorage::kAdjacent;
  EXPECT_EQ(RunRows(graph, profile, 3, policy).latency_cycles, rolling_buffer.latency_cycles + 2);
}

TEST(Simulate, ChannelBlocksCountAndRowPitchDoesNot) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  LayoutIn(profile, base::TensorRole::kNetworkInput).channel_block = 16;
  LayoutIn(profile, base::TensorRole::kNetworkOutput).row_pitch_bytes = 64;
  const plan::Metrics metrics = RunRows(Pointwise(), profile, 4, kResident);
  EXPECT_EQ(metrics.off_chip_by_cause.at("inputs"), 4 * 3 * 16);
  EXPECT_EQ(metrics.off_chip_by_cause.at("outputs"), 24);
}

TEST(Simulate, SharedConstantIsResidentOnceAndStreamedForEachUser) {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 4, 1});
  const int w = net.Weights({2, 2, 1, 1});
  const graph::Graph graph = net.Finish(net.ConvWith(net.ConvWith(x, w, 1), w, 1));
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  profile.table_bytes_per_channel = 5;
  EXPECT_EQ(RunRows(graph, profile, 2, kResident).off_chip_by_cause.at("weights"), 4 + 10);
  EXPECT_EQ(RunRows(graph, profile, 2, kStreamed).off_chip_by_cause.at("weights"), 2 * 2 * 14);
}

// The filter comes with each of two tiles, the table once: 3 + 7 + 1 cycles for 2 bytes.
TEST(Simulate, ConstantsWithoutSlicesAreLoadedOnceWhereOthersStream) {
  graph::Graph graph = Pointwise();
  graph::Tensor table;
  table.id = "table";
  table.shape = {2};
  table.constant = true;
  graph.operators[0].weights.push_back(static_cast<int>(graph.tensors.size()));
  graph.tensors.push_back(table);
  const plan::Metrics metrics = RunRows(graph, SmallMachine(DmaSteps::kSerialized), 2, kStreamed);
  EXPECT_EQ(metrics.latency_cycles, 11 + 2 * (13 + 2 * 11 + 11 + 14));
  EXPECT_EQ(metrics.off_chip_by_cause.at("weights"), 2 + 2 * 4);
}

TEST(Simulate, AConstantThatIsTwoOperandsComesOnce) {
  graph::Graph graph = Pointwise();
  graph.operators[0].weights.push_back(graph.operators[0].weights.front());
  const plan::Metrics metrics = RunRows(graph, SmallMachine(DmaSteps::kSerialized), 2, kStreamed);
  EXPECT_EQ(metrics.off_chip_by_cause.at("weights"), 4);
}

// x -> t0 -> t1, and t0 is a network output as well: its next reader loads it from its home.
TEST(Simulate, AResultThatIsReadInItsHomeCrossesTwice) {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 4, 3});
  const int t0 = net.Conv(x, 1, 2);
  const int t1 = net.Conv(t0, 1, 2);
  graph::Graph graph = net.Finish(t1);
  graph.tensors[static_cast<size_t>(t0)].network_output = true;
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  profile.memories[0].direct_read = profile.memories[0].direct_write = true;
  const plan::Metrics metrics = RunRows(graph, profile, 4, kResident);
  EXPECT_EQ(metrics.off_chip_by_cause.at("inputs"), 24 + 24);
  EXPECT_EQ(metrics.off_chip_by_cause.at("outputs"), 24 + 24);
}

// Pointwise has 24 results and 48 products. The DRAM takes 7 + 6 cycles for the operand, 7 + 1 for
// the weights and 5 + 12 for the result.
TEST(Simulate, TheHostTakesItsTimeForOutputsAndProductsOrThatOfTheHomes) {
  for (const DmaSteps dma : {DmaSteps::kSerialized, DmaSteps::kDoubleBuffered}) {
    Profile profile = SmallMachine(dma);
    profile.engines[0].throughputs.erase(profile.engines[0].throughputs.begin());
    profile.engines.push_back(
        hw_profiles::Host("host", {.start_cycles = 5, .cycles_per_output = 0.5}));
    profile.engines[1].mac_pj = 3;
    const plan::Metrics slow = RunRows(Pointwise(), profile, 4, kDirect);
    EXPECT_EQ(slow.latency_cycles, 5 + 12 + 48);
    EXPECT_EQ(slow.energy_pj, 48 * 3 + 28 * 10 + 24 * 20);
    EXPECT_EQ(slow.off_chip_bytes, 28 + 24);
    const plan::Metrics bound = cost::LowerBound(Pointwise(), profile, {0, 0});
    EXPECT_EQ(bound.latency_cycles, slow.latency_cycles);
    EXPECT_EQ(bound.energy_pj, slow.energy_pj);
    profile.engines[1].host->cycles_per_mac = 0.25;
    EXPECT_EQ(RunRows(Pointwise(), profile, 4, kDirect).latency_cycles, 13 + 8 + 17);
  }
}

TEST(Simulate, RunsAnOperatorOnTheEngineForItsDataType) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  profile.engines.push_back(profile.engines[0]);
  profile.engines[0].throughputs[0].type = base::DataType::kInt8;
  profile.engines[1].throughputs[0].start_cycles = 50;
  profile.engines[1].mac_pj = 4;
  graph::Graph graph = Pointwise();
  EXPECT_EQ(RunRows(graph, profile, 4, kResident).latency_cycles, 12 + 5);
  for (graph::Tensor& tensor : graph.tensors) tensor.type = base::DataType::kFloat32;
  const plan::Metrics metrics = RunRows(graph, profile, 4, kResident);
  EXPECT_EQ(metrics.latency_cycles, 12 + 50);
  EXPECT_DOUBLE_EQ(metrics.energy_by_part.at("mac"), 24 * 2 * 4);
}

// Three convolutions of 12 cycles each.
TEST(Simulate, StartsHideBehindOperatorsUnderWay) {
  NetworkBuilder net;
  int last = net.Input({1, 2, 4, 3});
  for (int i = 0; i < 3; ++i) last = net.Conv(last, 1, 2);
  graph::Graph graph = net.Finish(last);
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  const auto latency = [&](int64_t start, int outstanding) {
    profile.engines[0].throughputs[0].start_cycles = start;
    profile.engines[0].outstanding = outstanding;
    return RunRows(graph, profile, 4, kResident).latency_cycles;
  };
  EXPECT_EQ(latency(5, 1), 3 * (5 + 12));
  EXPECT_EQ(latency(5, 2), 5 + 3 * 12);
  EXPECT_EQ(latency(40, 2), (40 + 12) + 12 + (28 + 12));  // behind 52 cycles, then behind 12
  EXPECT_EQ(latency(40, 3), (40 + 12) + 12 + 12);
}

TEST(Simulate, EnginesIdleBetweenTiles) {
  const auto latency = [](DmaSteps dma, int64_t idle, int64_t rows) {
    Profile profile = SmallMachine(dma);
    profile.engines[0].idle_cycles_between_tiles = idle;
    return RunRows(Pointwise(), profile, rows, kResident).latency_cycles;
  };
  EXPECT_EQ(latency(DmaSteps::kSerialized, 5, 2), 11 + 2 * (13 + 11 + 14) + 5);
  EXPECT_EQ(latency(DmaSteps::kSerialized, 5, 1),
            latency(DmaSteps::kSerialized, 0, 1) + 3 * 5);  // 4 tiles
  EXPECT_EQ(latency(DmaSteps::kSerialized, 5, 4), latency(DmaSteps::kSerialized, 0, 4));
  // While the engine idles, the next tile loads: 11 + 2 of 13 cycles, then 11 + 5.
  EXPECT_EQ(latency(DmaSteps::kDoubleBuffered, 2, 2), (11 + 13) + 13 + 14 + 14);
  EXPECT_EQ(latency(DmaSteps::kDoubleBuffered, 5, 2), (11 + 13) + 16 + 14 + 14);
  EXPECT_EQ(latency(DmaSteps::kDoubleBuffered, 5, 4), latency(DmaSteps::kDoubleBuffered, 0, 4));
}

// x -> convolution on one engine -> addition on another one, in two tiles.
TEST(Simulate, EnginesOfATileIdleAtTheSameTime) {
  NetworkBuilder net;
  const int made = net.Conv(net.Input({1, 2, 4, 3}), 1, 2);
  const graph::Graph graph = net.Finish(net.Add(made, made));
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  profile.engines.push_back(profile.engines[0]);
  profile.engines[0].throughputs.pop_back();
  const auto latency = [&](int64_t first, int64_t second) {
    profile.engines[0].idle_cycles_between_tiles = first;
    profile.engines[1].idle_cycles_between_tiles = second;
    return RunRows(graph, profile, 2, kResident).latency_cycles;
  };
  const int64_t busy = latency(0, 0);
  EXPECT_EQ(latency(7, 0), busy + 7);
  EXPECT_EQ(latency(0, 9), busy + 9);
  EXPECT_EQ(latency(7, 9), busy + 9);
}

// Of 107 cycles engines work in 4 * 8.
TEST(Simulate, BoundByTheLinkThatWorksLongest) {
  const plan::Metrics metrics =
      RunRows(Pointwise(), SmallMachine(DmaSteps::kDoubleBuffered), 1, kResident);
  EXPECT_EQ(metrics.bound_by, "dma");
  EXPECT_EQ(metrics.exposed_cycles, 107 - 4 * 8);
}

// Prologue and epilogue are 38 of 65 cycles; of serialized tiles transfers are 65 of 87.
TEST(Simulate, BoundByTransfersThatNothingHides) {
  for (const auto& [dma, exposed] : {std::pair(DmaSteps::kDoubleBuffered, 65 - 2 * 11),
                                     std::pair(DmaSteps::kSerialized, 87 - 2 * 11)}) {
    const plan::Metrics metrics = RunRows(Pointwise(), SmallMachine(dma), 2, kResident);
    EXPECT_EQ(metrics.bound_by, "exposed transfers");
    EXPECT_EQ(metrics.exposed_cycles, exposed);
  }
}

TEST(Simulate, RegistersAddTheirEnergyForThreeOperands) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  const plan::Metrics before = RunRows(Pointwise(), profile, 4, kResident);
  profile.engines[0].operand_pj = 2;
  const plan::Metrics after = RunRows(Pointwise(), profile, 4, kResident);
  EXPECT_DOUBLE_EQ(after.energy_by_part.at("mac"),
                   before.energy_by_part.at("mac") + 3 * 2 * static_cast<double>(before.macs));
}

// A role that is not direct is moved, whatever its home permits.
TEST(Simulate, RolesMayRefuseDirectAccess) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  const plan::Metrics moved = RunRows(Pointwise(), profile, 2, kResident);
  profile.memories[0].direct_read = profile.memories[0].direct_write = true;
  EXPECT_LT(RunRows(Pointwise(), profile, 2, kResident).exposed_cycles, moved.exposed_cycles);
  for (hw_profiles::RoleLayout& role : profile.roles) role.tiles_only = true;
  EXPECT_EQ(RunRows(Pointwise(), profile, 2, kResident).latency_cycles, moved.latency_cycles);
}

TEST(Simulate, PeakBandwidthIsThatOfTheBusiestSlot) {
  const plan::Metrics metrics =
      RunRows(Pointwise(), SmallMachine(DmaSteps::kDoubleBuffered), 2, kResident);
  // Slot 0 with the prologue: 4 + 12 + 12 bytes in 24 + 13 cycles; slot 1 with the epilogue: 12 +
  // 12 in 14 + 14.
  EXPECT_DOUBLE_EQ(metrics.peak_bytes_per_cycle, 24.0 / 28);
}

TEST(Simulate, InPlaceCostsTheSame) {
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  const plan::Metrics apart = RunRows(Pointwise(), profile, 2, {WeightPolicy::kStreamed, false});
  const plan::Metrics together = RunRows(Pointwise(), profile, 2, {WeightPolicy::kStreamed, true});
  EXPECT_EQ(apart.latency_cycles, together.latency_cycles);
  EXPECT_EQ(apart.energy_pj, together.energy_pj);
}

}  // namespace
}  // namespace tessera::search
