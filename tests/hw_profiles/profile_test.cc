// SPDX-License-Identifier: Apache-2.0

#include "tessera/hw_profiles/profile.h"

#include <gtest/gtest.h>

#include "engines.h"
#include "fixture.h"
#include "tessera/hw_profiles/profile_yaml.h"

namespace tessera::hw_profiles {
namespace {

using base::DataType;
using base::OperatorKind;

TEST(Profile, FindsTheFirstEngineOfAKind) {
  Profile profile;
  profile.engines.resize(2);
  profile.engines[0] = {"vector", {{OperatorKind::kPool, std::nullopt, {}, 1, 1, 0}}, 0, 1};
  profile.engines[1] = {"array",
                        {{OperatorKind::kConv, std::nullopt, {}, 1, 1, 0},
                         {OperatorKind::kPool, std::nullopt, {}, 1, 1, 0}},
                        0,
                        1};
  EXPECT_EQ(EngineFor(profile, OperatorKind::kPool, DataType::kInt8)->name, "vector");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kConv, DataType::kInt8)->name, "array");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kSoftmax, DataType::kInt8), nullptr);
}

TEST(Profile, PassesOverAnEngineThatDoesNotWorkOnTheDataType) {
  Profile profile;
  profile.engines.resize(2);
  profile.engines[0] = {"integers", {{OperatorKind::kConv, DataType::kInt8, {}, 1, 1, 0}}, 0, 1};
  profile.engines[1] = {"floats", {{OperatorKind::kConv, DataType::kFloat32, {}, 1, 1, 0}}, 0, 1};
  EXPECT_EQ(EngineFor(profile, OperatorKind::kConv, DataType::kInt8)->name, "integers");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kConv, DataType::kFloat32)->name, "floats");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kConv, DataType::kInt16), nullptr);
}

TEST(Profile, AnEntryForTheDataTypeGoesBeforeTheGeneralOne) {
  Engine engine;
  engine.throughputs = {{OperatorKind::kConv, std::nullopt, {}, 1, 1, 100},
                        {OperatorKind::kConv, DataType::kInt16, {}, 1, 1, 200},
                        {OperatorKind::kMatmul, DataType::kInt8, {}, 1, 1, 300}};
  EXPECT_EQ(ThroughputFor(engine, OperatorKind::kConv, DataType::kInt16)->start_cycles, 200);
  EXPECT_EQ(ThroughputFor(engine, OperatorKind::kConv, DataType::kInt8)->start_cycles, 100);
  EXPECT_EQ(ThroughputFor(engine, OperatorKind::kMatmul, DataType::kInt8)->start_cycles, 300);
  EXPECT_EQ(ThroughputFor(engine, OperatorKind::kMatmul, DataType::kInt16), nullptr);
}

TEST(Profile, WhatOnlyMovesDataRunsAsAReshapeWhereItIsNotListed) {
  Engine engine;
  engine.throughputs = {{OperatorKind::kReshape, std::nullopt, {}, 1, 1, 7},
                        {OperatorKind::kTranspose, std::nullopt, {}, 1, 1, 9}};
  EXPECT_EQ(ThroughputFor(engine, OperatorKind::kSlice, DataType::kInt8)->start_cycles, 7);
  EXPECT_EQ(ThroughputFor(engine, OperatorKind::kTranspose, DataType::kInt8)->start_cycles, 9);
  EXPECT_EQ(ThroughputFor(engine, OperatorKind::kReduce, DataType::kInt8), nullptr);
  engine.throughputs.erase(engine.throughputs.begin());
  EXPECT_EQ(ThroughputFor(engine, OperatorKind::kSlice, DataType::kInt8), nullptr);
}

TEST(Profile, AnEngineThatIsNamedIsTheOnlyOne) {
  Profile profile;
  profile.engines.resize(2);
  profile.engines[0] = {"vector", {{OperatorKind::kOpaque, std::nullopt, {}, 1, 1, 0}}, 0, 1};
  profile.engines[1] = {"host", {{OperatorKind::kOpaque, std::nullopt, {}, 1, 1, 0}}, 0, 1};
  EXPECT_EQ(EngineFor(profile, OperatorKind::kOpaque, DataType::kInt8, "host")->name, "host");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kOpaque, DataType::kInt8, "dsp"), nullptr);
  EXPECT_EQ(EngineFor(profile, OperatorKind::kConv, DataType::kInt8, "host"), nullptr);
}

TEST(Profile, TheHostRunsWhatNoOtherEngineLists) {
  Profile profile;
  profile.engines = {Host("cpu"),
                     {"array", {{OperatorKind::kConv, DataType::kInt8, {}, 1, 1, 0}}, 0, 1}};
  EXPECT_EQ(HostOf(profile)->name, "cpu");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kConv, DataType::kInt8)->name, "array");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kConv, DataType::kInt16)->name, "cpu");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kSoftmax, DataType::kInt8)->name, "cpu");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kOpaque, DataType::kInt8, "cpu")->name, "cpu");
  EXPECT_EQ(EngineFor(profile, OperatorKind::kOpaque, DataType::kInt8, "array"), nullptr);
  profile.engines.erase(profile.engines.begin());
  EXPECT_EQ(HostOf(profile), nullptr);
}

TEST(Profile, ALinkJoinsInBothDirections) {
  const Profile profile = Read(kSmall);
  ASSERT_NE(LinkBetween(profile, 0, 1), nullptr);
  EXPECT_EQ(LinkBetween(profile, 0, 1), LinkBetween(profile, 1, 0));
  EXPECT_EQ(LinkBetween(profile, 0, 0), nullptr);
}

TEST(Profile, TotalsAreSumsOverMemoriesEnginesAndLinks) {
  Profile profile = Read(kSmall);
  EXPECT_TRUE(TotalsOf(profile).empty());
  profile.memories[0].area_mm2 = 1;
  profile.memories[1].area_mm2 = 2;
  profile.engines[0].area_mm2 = 4;
  profile.links[0].area_mm2 = 8;
  EXPECT_EQ(TotalsOf(profile), (std::map<std::string, double>{{"area_mm2", 15}}));
}

// Each home of a role with several has an index; it is written and read back at that index.
TEST(Profile, HomesHavePlaces) {
  const std::string text =
      SmallWith("  dram:\n",
                "  tcm: {capacity_bytes: 1Ki, direct_read: true, direct_write: true}\n  dram:\n");
  const std::string from = "  constant: {home: dram}";
  std::string listed = text;
  listed.replace(listed.find(from), from.size(),
                 "  constant: {home: [dram]}\n  network_input: {home: [tcm, dram]}");
  const Profile profile = Read(listed);
  const RoleLayout& input = LayoutOf(profile, base::TensorRole::kNetworkInput);
  EXPECT_EQ(HomeAt(input, 0), 1);
  EXPECT_EQ(HomeAt(input, 1), 2);
  EXPECT_EQ(HomeAt(input, 2), 2);
  EXPECT_TRUE(IsHomeOf(input, 1));
  EXPECT_TRUE(IsHomeOf(input, 2));
  EXPECT_FALSE(IsHomeOf(input, 0));
  EXPECT_TRUE(LayoutOf(profile, base::TensorRole::kConstant).next_homes.empty());
  EXPECT_TRUE(HasSeveralHomes(profile));
  EXPECT_FALSE(HasSeveralHomes(Read(text)));
  const std::string written = WriteProfileJson(profile);
  EXPECT_EQ(WriteProfileJson(Read(written)), written);
  EXPECT_EQ(LayoutOf(Read(written), base::TensorRole::kNetworkInput).next_homes,
            std::vector<int>({2}));
}

TEST(Profile, StatesMayHaveTheTileMemoryBeforeOtherHomes) {
  const Profile profile =
      Read(SmallWith("  boundary: {home: dram}", "  state: {home: [sram, dram]}"));
  const RoleLayout& state = LayoutOf(profile, base::TensorRole::kState);
  EXPECT_EQ(HomeAt(state, 0), profile.tile_memory);
  EXPECT_EQ(HomeAt(state, 1), 1);
  const std::string written = WriteProfileJson(profile);
  EXPECT_EQ(WriteProfileJson(Read(written)), written);
}

TEST(Profile, RolesWithoutAnEntryAreAtHomeInTheTileMemory) {
  const Profile profile = Read(kSmall);
  EXPECT_EQ(LayoutOf(profile, base::TensorRole::kBoundary).home, 1);
  EXPECT_EQ(LayoutOf(profile, base::TensorRole::kNetworkInput).home, profile.tile_memory);
}

TEST(Profile, AMemoryRestrictsPlacementsAsAProblemDoes) {
  Memory memory = Read(kSmall).memories.front();
  memory.alignment_bytes = 16;
  memory.reserved = {{{0, 64}, "stack"}};
  memory.banks.front().ports.writes = 1;
  memory.transitions = {{{0, 1}}};
  const problem::Memory restricted = AsProblemMemory(memory);
  EXPECT_EQ(restricted.name, "sram");
  EXPECT_EQ(restricted.capacity, 64 * 1024);
  EXPECT_EQ(restricted.alignment, 16);
  ASSERT_EQ(restricted.reserved.size(), 1U);
  EXPECT_EQ(restricted.reserved.front().range.end, 64);
  ASSERT_EQ(restricted.banks.size(), 2U);
  EXPECT_EQ(restricted.banks.front().ports.writes, 1);
  ASSERT_EQ(restricted.modes.size(), 2U);
  EXPECT_EQ(restricted.modes.back().banks, memory.modes.back().banks);
  EXPECT_EQ(restricted.transitions, memory.transitions);
}

}  // namespace
}  // namespace tessera::hw_profiles
