// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "fixture.h"
#include "tessera/hw_profiles/profile_yaml.h"

namespace tessera::hw_profiles {
namespace {

Profile Shipped(const std::string& name) {
  const std::string path = "hw_profiles/" + name + ".yaml";
  return Read(ReadSource(path), path, LoadSource);
}

// JSON without the first character of every line and without spaces outside strings: the form that
// a plan embeds on one line.
std::string OnOneLine(const std::string& json) {
  std::string line;
  bool quoted = false;
  for (const char c : json) {
    if (c == '"') quoted = !quoted;
    if (quoted || (c != ' ' && c != '\n')) line += c;
  }
  return line;
}

class ShippedProfile : public testing::TestWithParam<std::string> {};

TEST_P(ShippedProfile, IsCalledWhatItsFileIsCalled) {
  EXPECT_EQ(Shipped(GetParam()).name, GetParam());
}

TEST_P(ShippedProfile, ReadsBackFromItsJson) {
  const std::string json = WriteProfileJson(Shipped(GetParam()));
  EXPECT_EQ(WriteProfileJson(Read(json)), json);
  EXPECT_EQ(WriteProfileJson(Read(OnOneLine(json))), json);
}

TEST_P(ShippedProfile, RunsTheOperatorsOfAnImageNetwork) {
  using base::OperatorKind;
  const Profile profile = Shipped(GetParam());
  for (const OperatorKind kind :
       {OperatorKind::kConv, OperatorKind::kDepthwise, OperatorKind::kPool,
        OperatorKind::kGlobalPool, OperatorKind::kElementwise, OperatorKind::kConcat,
        OperatorKind::kMatmul, OperatorKind::kReshape, OperatorKind::kSoftmax,
        OperatorKind::kTransposedConv, OperatorKind::kReduce, OperatorKind::kSlice,
        OperatorKind::kPad, OperatorKind::kGather, OperatorKind::kTranspose,
        OperatorKind::kDepthToSpace, OperatorKind::kSpaceToDepth, OperatorKind::kSpaceToBatch}) {
    EXPECT_NE(EngineFor(profile, kind, base::DataType::kInt8), nullptr) << base::NameOf(kind);
  }
}

// So no network is unsupported.
TEST_P(ShippedProfile, HasAHostForTheRest) {
  const Profile profile = Shipped(GetParam());
  ASSERT_NE(HostOf(profile), nullptr);
  EXPECT_EQ(HostOf(profile)->name, "host");
  for (size_t kind = 0; kind < base::OperatorKindNames().size(); ++kind) {
    for (size_t type = 0; type < base::DataTypeNames().size(); ++type) {
      EXPECT_NE(EngineFor(profile, static_cast<base::OperatorKind>(kind),
                          static_cast<base::DataType>(type)),
                nullptr);
    }
  }
}

// Arm's compiler runs or decomposes these.
TEST(ShippedProfiles, OfTheEthosUNormaliseOnTheNpu) {
  for (const char* name :
       {"ethos_u55_128", "ethos_u55_256", "ethos_u65_256", "ethos_u65_512", "ethos_u85_256"}) {
    const Profile profile = Shipped(name);
    for (const auto kind : {base::OperatorKind::kSoftmax, base::OperatorKind::kLayerNorm})
      EXPECT_EQ(EngineFor(profile, kind, base::DataType::kInt8)->name, "npu") << name;
  }
}

// The Ethos-U leaves these to the processor.
TEST(ShippedProfiles, OfEnginesWithAVectorUnitSumAndSort) {
  for (const char* name :
       {"edge_npu_1mib", "edge_npu_64kib", "mcu_320k", "three_bank_two_mode", "tpu_like"}) {
    const Profile profile = Shipped(name);
    for (const auto kind : {base::OperatorKind::kCumsum, base::OperatorKind::kTopK})
      EXPECT_FALSE(EngineFor(profile, kind, base::DataType::kInt8)->host) << name;
  }
}

TEST_P(ShippedProfile, StatesEnergyForEveryMemory) {
  for (const Memory& memory : Shipped(GetParam()).memories) {
    EXPECT_GT(memory.read_pj_per_byte, 0) << memory.name;
    EXPECT_EQ(memory.write_pj_per_byte > 0, memory.writable) << memory.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedProfile,
                         testing::Values("edge_npu_1mib", "edge_npu_64kib", "ethos_u55_128",
                                         "ethos_u55_256", "ethos_u65_256", "ethos_u65_512",
                                         "ethos_u85_256", "mcu_320k", "three_bank_two_mode",
                                         "tpu_like"),
                         [](const auto& info) { return info.param; });

TEST(ShippedProfiles, EthosU65HasTwiceTheMacsInTwoCores) {
  const Profile small = Shipped("ethos_u65_256");
  const Profile large = Shipped("ethos_u65_512");
  const Throughput* half =
      ThroughputFor(small.engines[0], base::OperatorKind::kConv, base::DataType::kUint8);
  const Throughput* full =
      ThroughputFor(large.engines[0], base::OperatorKind::kConv, base::DataType::kUint8);
  const auto macs = [](const Throughput& speed) {
    const Unroll& unroll = speed.unroll;
    return static_cast<double>(unroll.out_rows * unroll.out_columns * unroll.out_channels *
                               unroll.in_channels) /
           speed.cycles_per_step;
  };
  EXPECT_EQ(macs(*half), 256);
  EXPECT_EQ(macs(*full), 512);
  EXPECT_EQ(large.memories[0].capacity_bytes, small.memories[0].capacity_bytes);
}

// Others cannot: their kernels round sums, or no bank is read and written in one step.
TEST(ShippedProfiles, SplitAlongKWhereSumsCanStay) {
  const std::map<std::string, int64_t> granularities = {
      {"edge_npu_1mib", 64}, {"edge_npu_64kib", 32}, {"ethos_u55_128", 16}, {"ethos_u55_256", 16},
      {"ethos_u65_256", 16}, {"ethos_u65_512", 16},  {"ethos_u85_256", 16}, {"tpu_like", 128}};
  for (const auto& [name, granularity] : granularities) {
    const Profile profile = Shipped(name);
    EXPECT_EQ(profile.tiling.weights.back(), WeightPolicy::kSplitK) << name;
    EXPECT_EQ(profile.tiling.k_granularity, granularity) << name;
  }
  for (const char* name : {"mcu_320k", "three_bank_two_mode"})
    EXPECT_NE(Shipped(name).tiling.weights.back(), WeightPolicy::kSplitK) << name;
}

TEST(ShippedProfiles, TheSmallEdgeNpuHasTheEngineOfTheLargeOne) {
  const Profile large = Shipped("edge_npu_1mib");
  const Profile small = Shipped("edge_npu_64kib");
  EXPECT_EQ(small.memories[0].capacity_bytes * 16, large.memories[0].capacity_bytes);
  EXPECT_EQ(small.engines[0].throughputs.size(), large.engines[0].throughputs.size());
}

TEST(ShippedProfiles, NormalizeLayersOnTheEthosU) {
  for (const char* name :
       {"ethos_u55_128", "ethos_u55_256", "ethos_u65_256", "ethos_u65_512", "ethos_u85_256"}) {
    EXPECT_NE(EngineFor(Shipped(name), base::OperatorKind::kLayerNorm, base::DataType::kInt8),
              nullptr)
        << name;
  }
}

TEST(ShippedProfiles, EthosU55KeepsFeatureMapsInSramAndReadsWeightsFromFlash) {
  const Profile profile = Shipped("ethos_u55_256");
  EXPECT_EQ(LayoutOf(profile, base::TensorRole::kBoundary).home, profile.tile_memory);
  const RoleLayout& weights = LayoutOf(profile, base::TensorRole::kConstant);
  const Memory& flash = profile.memories[static_cast<size_t>(weights.home)];
  EXPECT_FALSE(flash.writable);
  EXPECT_TRUE(flash.direct_read);
  EXPECT_EQ(profile.tiling.weights.front(), WeightPolicy::kDirect);
  EXPECT_EQ(LayoutOf(profile, base::TensorRole::kFeature).channel_block, 16);
  EXPECT_EQ(LayoutOf(profile, base::TensorRole::kNetworkInput).channel_block, 1);
}

// States have half of the tile memory, and the rest of them another memory that can be written.
TEST_P(ShippedProfile, HasAnotherHomeForStatesThatAreTooLarge) {
  const Profile profile = Shipped(GetParam());
  const RoleLayout& state = LayoutOf(profile, base::TensorRole::kState);
  EXPECT_EQ(state.home, profile.tile_memory);
  const auto writable = std::count_if(profile.memories.begin(), profile.memories.end(),
                                      [](const Memory& memory) { return memory.writable; });
  EXPECT_EQ(state.next_homes.size(), writable > 1 ? 1U : 0U);
}

TEST(ShippedProfiles, ThreeBanksSwitchTogether) {
  const Memory sram = Shipped("three_bank_two_mode").memories[0];
  ASSERT_EQ(sram.banks.size(), 3U);
  ASSERT_EQ(sram.modes.size(), 2U);
  const auto table = [&](size_t mode) {
    std::string row;
    for (const problem::BankMode& bank : sram.modes[mode].banks) {
      row += bank.allowed.at(0).kind == problem::AccessKind::kRead ? 'r' : 'w';
    }
    return row;
  };
  EXPECT_EQ(table(0), "rrw");
  EXPECT_EQ(table(1), "wwr");
  EXPECT_EQ(sram.span, problem::Span::kSingle);
}

}  // namespace
}  // namespace tessera::hw_profiles
