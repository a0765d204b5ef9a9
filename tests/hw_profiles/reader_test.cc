// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "fixture.h"
#include "tessera/hw_profiles/profile_yaml.h"

namespace tessera::hw_profiles {
namespace {

using base::OperatorKind;
using base::TensorRole;
using problem::AccessKind;
using problem::AddressRange;
using problem::BankMode;

// The example at the end of the page on the format.
std::string Example() {
  const std::string page = ReadSource("docs/profile-format.md");
  const std::string fence = "```yaml\n";
  const size_t begin = page.find(fence) + fence.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

void ExpectMemoriesOfExample(const Profile& profile) {
  ASSERT_EQ(profile.memories.size(), 2U);
  const Memory& sram = profile.memories[0];
  EXPECT_EQ(sram.name, "sram");
  EXPECT_EQ(sram.capacity_bytes, 393216);
  EXPECT_EQ(sram.alignment_bytes, 16);
  EXPECT_TRUE(sram.writable);
  EXPECT_FALSE(sram.direct_read);
  EXPECT_FALSE(sram.direct_write);
  EXPECT_EQ(sram.port.read_bytes_per_cycle, 8);
  EXPECT_EQ(sram.port.write_bytes_per_cycle, 4);
  EXPECT_FALSE(sram.port.shared);
  EXPECT_EQ(sram.port.read_latency_cycles, 2);
  EXPECT_EQ(sram.port.write_latency_cycles, 3);
  EXPECT_EQ(sram.port.burst_bytes, 32);
  EXPECT_EQ(sram.read_pj_per_byte, 1.63);
  EXPECT_EQ(sram.write_pj_per_byte, 1.48);
  EXPECT_EQ(sram.leakage_mw, 0.5);
  EXPECT_EQ(sram.area_mm2, 0.25);
  EXPECT_EQ(profile.memories[1].area_mm2, std::nullopt);
  ASSERT_EQ(sram.reserved.size(), 1U);
  EXPECT_EQ(sram.reserved[0].range, (AddressRange{0, 1024}));
  EXPECT_EQ(sram.reserved[0].reason, "stack");
  EXPECT_EQ(sram.span, problem::Span::kContiguous);
  EXPECT_TRUE(profile.memories[1].direct_read);
  EXPECT_TRUE(profile.memories[1].direct_write);
  EXPECT_EQ(profile.memories[1].span, problem::Span::kAny);
  EXPECT_EQ(profile.tile_memory, 0);
}

void ExpectBanksOfExample(const Memory& sram) {
  ASSERT_EQ(sram.banks.size(), 2U);
  EXPECT_EQ(sram.banks[0].name, "low");
  EXPECT_EQ(sram.banks[0].range, (AddressRange{0, 131072}));
  EXPECT_EQ(sram.banks[0].ports.total, 3);
  EXPECT_EQ(sram.banks[0].ports.reads, std::nullopt);
  EXPECT_EQ(sram.banks[0].ports.writes, 1);
  EXPECT_EQ(sram.banks[1].range, (AddressRange{131072, 393216}));
  EXPECT_EQ(sram.banks[1].ports.total, 3);
  EXPECT_EQ(sram.banks[1].ports.reads, 2);

  const BankMode read{false, {{"", AccessKind::kRead}}};
  const BankMode write{false, {{"", AccessKind::kWrite}}};
  const BankMode both{false, {{"", AccessKind::kRead}, {"", AccessKind::kWrite}}};
  const BankMode named{false, {{"pe", AccessKind::kRead}, {"dma", AccessKind::kWrite}}};
  ASSERT_EQ(sram.modes.size(), 4U);
  EXPECT_EQ(sram.modes[0].name, "work");
  EXPECT_EQ(sram.modes[0].banks, (std::vector<BankMode>{both, named}));
  EXPECT_EQ(sram.modes[1].banks, (std::vector<BankMode>{read, write}));
  EXPECT_EQ(sram.modes[2].banks, (std::vector<BankMode>{BankMode{}, both}));
  EXPECT_EQ(sram.modes[3].banks, (std::vector<BankMode>{BankMode{true, {}}, read}));
  EXPECT_EQ(sram.transitions, (std::vector<std::pair<int, int>>{{0, 1}, {1, 0}}));
}

void ExpectEnginesOfExample(const Profile& profile) {
  ASSERT_EQ(profile.engines.size(), 1U);
  const Engine& engine = profile.engines[0];
  EXPECT_EQ(engine.name, "pe");
  EXPECT_EQ(engine.mac_pj, 0.04);
  EXPECT_EQ(engine.outstanding, 2);
  EXPECT_EQ(engine.area_mm2, 0.5);
  EXPECT_EQ(engine.idle_cycles_between_tiles, 12);
  ASSERT_EQ(engine.throughputs.size(), 4U);
  const Throughput& conv = engine.throughputs[0];
  EXPECT_EQ(conv.kind, OperatorKind::kConv);
  EXPECT_EQ(conv.type, std::nullopt);
  EXPECT_EQ(conv.unroll.batch, 2);
  EXPECT_EQ(conv.unroll.out_rows, 3);
  EXPECT_EQ(conv.unroll.out_columns, 4);
  EXPECT_EQ(conv.unroll.out_channels, 5);
  EXPECT_EQ(conv.unroll.in_channels, 6);
  EXPECT_EQ(conv.unroll.kernel_rows, 7);
  EXPECT_EQ(conv.unroll.kernel_columns, 8);
  EXPECT_EQ(conv.unroll.kernel_taps, 9);
  ASSERT_TRUE(conv.other_sums);
  EXPECT_EQ(conv.other_sums->in_channels, 10);
  EXPECT_EQ(conv.other_sums->kernel_taps, 11);
  EXPECT_EQ(conv.weight_steps, 12);
  EXPECT_EQ(conv.cycles_per_step, 1.5);
  EXPECT_EQ(conv.start_cycles, 9);
  EXPECT_EQ(engine.throughputs[1].type, base::DataType::kInt16);
  EXPECT_EQ(engine.throughputs[1].unroll.out_channels, 16);
  EXPECT_FALSE(conv.fold_channels);
  EXPECT_EQ(engine.throughputs[2].kind, OperatorKind::kDepthwise);
  EXPECT_TRUE(engine.throughputs[2].fold_channels);
  EXPECT_EQ(engine.throughputs[3].kind, OperatorKind::kPool);
  EXPECT_EQ(engine.throughputs[3].cycles_per_output, 0.25);
  EXPECT_EQ(engine.throughputs[3].start_cycles, 10);
  EXPECT_EQ(engine.throughputs[3].channel_group, 16);
  EXPECT_FALSE(engine.throughputs[3].other_sums);
  ASSERT_TRUE(engine.blocks);
  EXPECT_EQ(engine.blocks->rows, 8);
  EXPECT_EQ(engine.blocks->columns, 16);
  EXPECT_EQ(engine.blocks->channels, 32);
  EXPECT_EQ(engine.blocks->channel_step, 4);
  EXPECT_EQ(engine.blocks->input_channels, 5);
  EXPECT_EQ(engine.blocks->buffer_bytes, 8192);
  EXPECT_EQ(engine.blocks->input_granularity_bytes, 512);
  EXPECT_EQ(engine.blocks->sum_granularity_bytes, 1024);
  EXPECT_EQ(engine.blocks->sum_bytes, 5);

  ASSERT_EQ(profile.links.size(), 1U);
  const Link& link = profile.links[0];
  EXPECT_EQ(link.name, "dma");
  EXPECT_EQ(link.first, 1);
  EXPECT_EQ(link.second, 0);
  EXPECT_EQ(link.setup_cycles, 11);
  EXPECT_EQ(link.alignment_bytes, 64);
  EXPECT_EQ(link.dims, 4);
  EXPECT_EQ(link.outstanding, 5);
  EXPECT_EQ(link.area_mm2, 0.125);
  EXPECT_TRUE(link.pipelined);
}

void ExpectLayoutOfExample(const Profile& profile) {
  const RoleLayout& input = LayoutOf(profile, TensorRole::kNetworkInput);
  EXPECT_EQ(input.home, 1);
  EXPECT_EQ(input.alignment_bytes, 32);
  EXPECT_EQ(input.channel_block, 4);
  EXPECT_EQ(input.row_pitch_bytes, 128);
  EXPECT_EQ(input.request_bytes, 24);

  const Tiling& tiling = profile.tiling;
  ASSERT_EQ(tiling.axes.size(), 2U);
  EXPECT_EQ(tiling.axes[0].axis, base::Axis::kRows);
  EXPECT_EQ(tiling.axes[0].granularity, 1);
  EXPECT_EQ(tiling.axes[1].axis, base::Axis::kChannels);
  EXPECT_EQ(tiling.axes[1].granularity, 8);
  EXPECT_FALSE(tiling.axes[1].later);
  EXPECT_EQ(tiling.halo,
            (std::vector<HaloStorage>{HaloStorage::kRecompute, HaloStorage::kRollingBuffer}));
  EXPECT_EQ(tiling.weights,
            (std::vector<WeightPolicy>{WeightPolicy::kStreamed, WeightPolicy::kResident}));
  EXPECT_EQ(tiling.dma, DmaSteps::kDoubleBuffered);
  EXPECT_FALSE(tiling.implicit_padding);
  EXPECT_EQ(tiling.in_place,
            (std::vector<OperatorKind>{OperatorKind::kElementwise, OperatorKind::kDepthwise}));
  EXPECT_EQ(tiling.weight_granularity_channels, 16);
  EXPECT_EQ(tiling.k_granularity, 32);

  ASSERT_EQ(profile.scratch.size(), 1U);
  EXPECT_EQ(profile.scratch[0].kind, OperatorKind::kConv);
  EXPECT_EQ(profile.scratch[0].bytes, 4);
  EXPECT_EQ(profile.scratch[0].factors,
            (std::vector<ScratchFactor>{ScratchFactor::kKernelRows, ScratchFactor::kKernelColumns,
                                        ScratchFactor::kInChannels}));
  EXPECT_EQ(profile.table_bytes_per_channel, 10);
}

void ExpectExample(const Profile& profile) {
  EXPECT_EQ(profile.name, "example");
  EXPECT_EQ(profile.description, "most keys at work");
  EXPECT_EQ(profile.clock_hz, 500e6);
  ExpectMemoriesOfExample(profile);
  ExpectBanksOfExample(profile.memories.at(0));
  ExpectEnginesOfExample(profile);
  ExpectLayoutOfExample(profile);
}

TEST(ReadProfile, ReadsEveryKeyOfTheExample) { ExpectExample(Read(Example())); }

TEST(ReadProfile, ReadsBackEveryKeyThatIsWritten) {
  const std::string json = WriteProfileJson(Read(Example()));
  ExpectExample(Read(json));
  EXPECT_EQ(WriteProfileJson(Read(json)), json);
}

TEST(ReadProfile, DefaultsAreThoseOfThePage) {
  const Profile profile = Read(
      "schema: 1\nname: least\nclock_hz: 1\nmemories: {m: {capacity_bytes: 1}}\ntile_memory: m\n"
      "engines: {e: {operators: {conv: {}, pool: {}}}}\n");
  const Memory& memory = profile.memories[0];
  EXPECT_EQ(memory.alignment_bytes, 1);
  EXPECT_TRUE(memory.writable);
  EXPECT_TRUE(memory.port.shared);
  EXPECT_EQ(memory.port.read_bytes_per_cycle, 1);
  EXPECT_EQ(memory.port.burst_bytes, 1);
  EXPECT_FALSE(memory.transitions.has_value());
  EXPECT_EQ(profile.engines[0].throughputs[0].cycles_per_step, 1);
  EXPECT_EQ(profile.engines[0].throughputs[1].cycles_per_output, 1);
  EXPECT_TRUE(profile.tiling.axes.empty());
  EXPECT_EQ(profile.tiling.halo, std::vector<HaloStorage>{HaloStorage::kRecompute});
  EXPECT_EQ(profile.tiling.weights, std::vector<WeightPolicy>{WeightPolicy::kResident});
  EXPECT_EQ(profile.tiling.dma, DmaSteps::kSerialized);
  EXPECT_TRUE(profile.tiling.implicit_padding);
  EXPECT_EQ(profile.table_bytes_per_channel, 0);
}

TEST(ReadProfile, AxesMayBeCutLater) {
  const Profile either =
      Read(SmallWith("  axes: [rows]\n", "  axes: [rows, {axis: columns, later: true}]\n"));
  for (const Profile& profile : {either, Read(WriteProfileJson(either))}) {
    ASSERT_EQ(profile.tiling.axes.size(), 2U);
    EXPECT_FALSE(profile.tiling.axes[0].later);
    EXPECT_TRUE(profile.tiling.axes[1].later);
    const std::optional<Profile> first = WithoutLaterAxes(profile);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->tiling.axes.size(), 1U);
    EXPECT_FALSE(WithoutLaterAxes(*first));
  }
}

TEST(ReadProfile, AListOfDmaLetsEachSubgraphChoose) {
  const auto with = [](const std::string& dma) {
    std::string text = SmallWith("    modes:\n      even: [r, w]\n      odd: [w, r]\n", "");
    return Read(text.insert(text.find("  axes: [rows]\n"), "  dma: " + dma + "\n"));
  };
  EXPECT_FALSE(with("double_buffered").tiling.may_serialize);
  const Profile either = with("[double_buffered, serialized]");
  for (const Profile& profile : {either, Read(WriteProfileJson(either))}) {
    EXPECT_EQ(profile.tiling.dma, DmaSteps::kDoubleBuffered);
    EXPECT_TRUE(profile.tiling.may_serialize);
  }
}

// A bank that is read at a step cannot be filled at it.
TEST(ReadProfile, BanksWithModesLetSubgraphsBeSerialized) {
  const std::string axes = "  axes: [rows]\n";
  EXPECT_TRUE(Read(SmallWith(axes, axes + "  dma: double_buffered\n")).tiling.may_serialize);
  EXPECT_FALSE(Read(SmallWith(axes, axes + "  dma: serialized\n")).tiling.may_serialize);
}

TEST(ReadProfile, AListOfOneKindOfDmaIsRefused) {
  const base::Diagnostic fault =
      FaultOf(SmallWith("  axes: [rows]\n", "  axes: [rows]\n  dma: [serialized]\n"));
  EXPECT_EQ(fault.expected, "[double_buffered, serialized], or one name without a list");
}

TEST(ReadProfile, ANumberOfBanksDividesTheMemory) {
  const Memory memory = Read(kSmall).memories[0];
  ASSERT_EQ(memory.banks.size(), 2U);
  EXPECT_EQ(memory.banks[0].name, "bank0");
  EXPECT_EQ(memory.banks[0].range, (AddressRange{0, 32768}));
  EXPECT_EQ(memory.banks[1].name, "bank1");
  EXPECT_EQ(memory.banks[1].range, (AddressRange{32768, 65536}));
}

TEST(ReadProfile, NoTransitionsIsNotTheSameAsAnyTransition) {
  const Profile any = Read(kSmall);
  const Profile none = Read(SmallWith("odd: [w, r]\n", "odd: [w, r]\n    transitions: []\n"));
  EXPECT_FALSE(Read(WriteProfileJson(any)).memories[0].transitions.has_value());
  ASSERT_TRUE(Read(WriteProfileJson(none)).memories[0].transitions.has_value());
  EXPECT_TRUE(Read(WriteProfileJson(none)).memories[0].transitions->empty());
}

TEST(ReadProfile, AHostHasASpeedForAllKindsAndNoOperators) {
  const Profile profile = Read(SmallWith(
      "links:\n", "  cpu: {mac_pj: 4, host: {start_cycles: 9, cycles_per_mac: 0.5}}\nlinks:\n"));
  const Engine& host = profile.engines.at(1);
  EXPECT_EQ(host.name, "cpu");
  EXPECT_EQ(host.mac_pj, 4);
  EXPECT_TRUE(host.throughputs.empty());
  ASSERT_TRUE(host.host.has_value());
  EXPECT_EQ(host.host->start_cycles, 9);
  EXPECT_EQ(host.host->cycles_per_output, 1);
  EXPECT_EQ(host.host->cycles_per_mac, 0.5);
  const std::string json = WriteProfileJson(profile);
  EXPECT_EQ(WriteProfileJson(Read(json)), json);
}

// A profile that was written before these fields existed is written as before.
TEST(ReadProfile, NoAreaAndNoIdleTimeAreNotWritten) {
  const std::string json = WriteProfileJson(Read(kSmall));
  EXPECT_EQ(json.find("area_mm2"), std::string::npos);
  EXPECT_EQ(json.find("idle_cycles_between_tiles"), std::string::npos);
  EXPECT_EQ(json.find("host"), std::string::npos);
}

TEST(ReadProfile, IgnoresTheUsersOwnKeysEverywhere) {
  const std::string plain = WriteProfileJson(Read(kSmall));
  const std::string noted =
      SmallWith("    capacity_bytes: 1Mi\n", "    capacity_bytes: 1Mi\n    x-vendor: {part: 7}\n");
  EXPECT_EQ(WriteProfileJson(Read("x-note: mine\n" + noted)), plain);
}

}  // namespace
}  // namespace tessera::hw_profiles
