// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "simulate.h"
#include "small_machine.h"

// Traffic at the port of the tile memory, which engines and transfers share.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;

TEST(PortTraffic, SlowTileMemoryHoldsTheEngineUp) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  profile.memories[1].port = {
      .read_bytes_per_cycle = 1, .write_bytes_per_cycle = 2, .shared = true};
  const plan::Metrics metrics = RunRows(Pointwise(), profile, 4, kResident);
  EXPECT_EQ(metrics.latency_cycles, 24 + 4 + 12);
  EXPECT_EQ(metrics.bound_by, "sram");
}

// The engine takes no cycles for it, but the port reads 24 bytes and writes them again.
TEST(PortTraffic, AReshapeIsACopyInTheTileMemory) {
  graph::Graph graph = Pointwise();
  graph.operators[0].kind = base::OperatorKind::kReshape;
  graph.operators[0].weights.clear();
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  hw_profiles::Throughput reshape;
  reshape.kind = base::OperatorKind::kReshape;
  profile.engines[0].throughputs.push_back(reshape);
  profile.memories[1].port = {
      .read_bytes_per_cycle = 2, .write_bytes_per_cycle = 3, .shared = true};
  EXPECT_EQ(RunRows(graph, profile, 4, kResident).latency_cycles, 24 / 2 + 24 / 3);
  profile.memories[1].port.shared = false;
  EXPECT_EQ(RunRows(graph, profile, 4, kResident).latency_cycles, 24 / 2);
}

// In slot 0 the port reads 12 + 4 bytes and writes 12 for the engine, and writes 12 of the next
// tile; in slot 1 it reads 12 of the tile before.
TEST(PortTraffic, EnginesAndDmaShareThePortOfTheTileMemory) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.memories[1].port = {
      .read_bytes_per_cycle = 1, .write_bytes_per_cycle = 1, .shared = true};
  const int64_t prologue = (3 + 7 + 4) + (3 + 7 + 12);
  const int64_t epilogue = 3 + 5 + 12;
  EXPECT_EQ(RunRows(Pointwise(), profile, 2, kResident).latency_cycles,
            prologue + 2 * (16 + 12 + 12) + epilogue);
  profile.memories[1].port.shared = false;
  EXPECT_EQ(RunRows(Pointwise(), profile, 2, kResident).latency_cycles,
            prologue + (12 + 12) + (16 + 12) + epilogue);
}

// Four tiles of a row: the engine touches 16 bytes of each at the port, and DMA 12 but for the
// first load and the last store. DRAM takes 6 cycles for each load and store.
TEST(PortTraffic, BoundsTheLatencyTogetherWithDma) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.memories[0].port = {
      .read_bytes_per_cycle = 100, .write_bytes_per_cycle = 100, .shared = true};
  profile.links[0].setup_cycles = 0;
  profile.memories[1].port = {
      .read_bytes_per_cycle = 1, .write_bytes_per_cycle = 1, .shared = true};
  const plan::Metrics metrics = RunRows(Pointwise(), profile, 1, kResident);
  EXPECT_EQ(metrics.latency_cycles, (4 + 6) + (4 * 16 + 2 * 3 * 6) + 6);
  EXPECT_EQ(metrics.bound_by, "sram");
}

// Requests of 4 bytes in bursts of 8: 24 bytes of input are 48 at the port, which counts no such
// bytes in its energy.
TEST(PortTraffic, NarrowRequestsWasteBurstsOfTheTileMemory) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  profile.memories[1].port = {
      .read_bytes_per_cycle = 1, .write_bytes_per_cycle = 2, .shared = true, .burst_bytes = 8};
  const plan::Metrics whole = RunRows(Pointwise(), profile, 4, kResident);
  profile.roles[static_cast<size_t>(base::TensorRole::kNetworkInput)].request_bytes = 4;
  const plan::Metrics narrow = RunRows(Pointwise(), profile, 4, kResident);
  EXPECT_EQ(narrow.latency_cycles, whole.latency_cycles + 24);
  EXPECT_EQ(narrow.energy_by_part.at("sram"), whole.energy_by_part.at("sram"));
}

}  // namespace
}  // namespace tessera::search
