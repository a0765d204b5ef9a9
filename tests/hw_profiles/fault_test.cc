// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "fixture.h"
#include "tessera/hw_profiles/profile_yaml.h"

// Faults of profiles, each made by one change to the small profile: the position and the text of
// the complaint. Faults of roles are in role_fault_test.cc.
namespace tessera::hw_profiles {
namespace {

TEST(ProfileFault, NoneInTheSmallProfile) { EXPECT_EQ(Read(kSmall).name, "small"); }

TEST(ProfileFault, AnotherSchema) {
  ExpectComplaint("schema: 1", "schema: 2", {1, 9, "out of range", "1", "'2'", ""});
}

TEST(ProfileFault, AMissingKey) {
  ExpectComplaint(
      "clock_hz: 1e9\n", "",
      {1, 1, "missing key 'clock_hz'", "a number from 1 up",
       "the keys schema, name, memories, tile_memory, engines, links, roles, tiling", ""});
}

TEST(ProfileFault, AMisspeltKey) {
  ExpectComplaint(
      "    capacity_bytes: 1Mi", "    capacity_byte: 1Mi",
      {12, 5, "unknown key 'capacity_byte'",
       "one of capacity_bytes, alignment_bytes, writable, direct_read, direct_write, port, "
       "read_pj_per_byte, "
       "write_pj_per_byte, leakage_mw, area_mm2, reserved, banks, bank_ports, modes, transitions, "
       "span, bank_groups",
       "", "did you mean 'capacity_bytes'?"});
}

TEST(ProfileFault, ANumberThatIsNotFinite) {
  ExpectComplaint("clock_hz: 1e9", "clock_hz: .inf",
                  {3, 11, "not a finite number", "a number from 1 up", "'.inf'", ""});
}

TEST(ProfileFault, AnAreaBelowZero) {
  ExpectComplaint("    capacity_bytes: 1Mi", "    area_mm2: -0.5\n    capacity_bytes: 1Mi",
                  {12, 15, "out of range", "a number from 0 up", "'-0.5'", ""});
}

TEST(ProfileFault, AnAreaBeyondAnyChip) {
  ExpectComplaint(
      "    capacity_bytes: 1Mi", "    area_mm2: 1e300\n    capacity_bytes: 1Mi",
      {12, 15, "out of range", "a number from 0 to 1000000000000000000", "'1e300'", ""});
}

TEST(ProfileFault, AMisspeltArea) {
  ExpectComplaint("    between: [dram, sram]", "    between: [dram, sram]\n    area_mm: 1",
                  {22, 5, "unknown key 'area_mm'",
                   "one of between, setup_cycles, alignment_bytes, dims, outstanding, area_mm2, "
                   "pipelined",
                   "", "did you mean 'area_mm2'?"});
}

TEST(ProfileFault, AnIdleTimeThatIsNoInteger) {
  ExpectComplaint("  pe:\n", "  pe:\n    idle_cycles_between_tiles: 1.5\n",
                  {16, 32, "not an integer, or beyond 64 bits",
                   "an integer from 0 to 1099511627776", "'1.5'", ""});
}

TEST(ProfileFault, AMisspeltIdleTime) {
  ExpectComplaint("  pe:\n", "  pe:\n    idle_cycle_between_tiles: 1\n",
                  {16, 5, "unknown key 'idle_cycle_between_tiles'",
                   "one of operators, blocks, host, mac_pj, operand_pj, outstanding, area_mm2, "
                   "idle_cycles_between_tiles",
                   "", "did you mean 'idle_cycles_between_tiles'?"});
}

TEST(ProfileFault, AHostThatListsOperators) {
  ExpectComplaint("  pe:\n", "  pe:\n    host: {cycles_per_mac: 2}\n",
                  {17, 5, "engine 'pe' is the host, which runs what no other engine lists",
                   "no operators", "", ""});
}

TEST(ProfileFault, TwoHosts) {
  ExpectComplaint("links:\n", "  a: {host: {}}\n  b: {host: {}}\nlinks:\n",
                  {20, 7, "'a' and 'b' are hosts", "one host at most", "", ""});
}

TEST(ProfileFault, ASpeedThatAHostDoesNotHave) {
  ExpectComplaint("links:\n", "  a: {host: {cycles_per_step: 1}}\nlinks:\n",
                  {19, 14, "unknown key 'cycles_per_step'",
                   "one of start_cycles, cycles_per_output, cycles_per_mac", "",
                   "did you mean 'cycles_per_mac'?"});
}

TEST(ProfileFault, AnAlignmentOfZero) {
  ExpectComplaint("  boundary: {home: dram}", "  boundary: {alignment_bytes: 0}",
                  {23, 31, "out of range", "an integer from 1 to 1073741824", "'0'", ""});
}

TEST(ProfileFault, ANameThatIsNone) {
  ExpectComplaint(
      "  dma:\n", "  dma.0:\n",
      {20, 3, "'dma.0' is no name", "letters, digits, '_' and '-', a letter or '_' first", "", ""});
}

TEST(ProfileFault, AnUnknownTileMemory) {
  ExpectComplaint("tile_memory: sram", "tile_memory: srma",
                  {13, 14, "no memory is called 'srma'", "one of sram, dram", "'srma'",
                   "did you mean 'sram'?"});
}

TEST(ProfileFault, ATileMemoryThatIsNotWritable) {
  ExpectComplaint(
      "    capacity_bytes: 64Ki", "    capacity_bytes: 64Ki\n    writable: false",
      {14, 14, "the tile memory must be writable", "a memory with writable: true", "'sram'", ""});
}

TEST(ProfileFault, DirectWritesToAMemoryThatIsNotWritable) {
  ExpectComplaint(
      "    capacity_bytes: 1Mi",
      "    capacity_bytes: 1Mi\n    direct_write: true\n    writable: false",
      {13, 19, "a memory that is not writable takes no direct writes", "false", "'true'", ""});
}

TEST(ProfileFault, BanksThatDoNotDivideTheMemory) {
  ExpectComplaint(
      "banks: 2", "banks: 3",
      {7, 12, "the banks would not be of equal size", "a divisor of the capacity, 65536", "'3'",
       "write a map of banks with their ranges"});
}

TEST(ProfileFault, ABankBeyondTheCapacity) {
  ExpectComplaint(
      "    banks: 2", "    banks:\n      b: {begin_bytes: 0, end_bytes: 65Ki}",
      {8, 38, "the range leaves the memory", "at most its capacity, 65536", "'65Ki'", ""});
  ExpectComplaint(
      "    banks: 2", "    banks:\n      b: {begin_bytes: 0, end_bytes: 65537}",
      {8, 38, "the range leaves the memory", "at most its capacity, 65536", "'65537'", ""});
}

TEST(ProfileFault, BanksThatOverlap) {
  ExpectComplaint("    banks: 2",
                  "    banks:\n      a: {begin_bytes: 0, end_bytes: 4Ki}\n      b: {begin_bytes: "
                  "4095, end_bytes: 8Ki}",
                  {9, 7, "bank 'b' overlaps bank 'a'", "ranges that share no byte", "", ""});
}

TEST(ProfileFault, AReservedRangeThatIsEmpty) {
  ExpectComplaint("    banks: 2",
                  "    reserved: [{begin_bytes: 8, end_bytes: 8, reason: stack}]\n    banks: 2",
                  {7, 44, "the range is empty", "more than begin_bytes, 8", "'8'",
                   "end_bytes is one past the last byte"});
}

TEST(ProfileFault, AModeOfTheWrongWidth) {
  ExpectComplaint("odd: [w, r]", "odd: [w, r, r]",
                  {10, 7, "mode 'odd' states 3 banks", "2, one for each bank of 'sram'", "", ""});
}

TEST(ProfileFault, AModeThatAllowsNothing) {
  ExpectComplaint("odd: [w, r]", "odd: [hold, off]",
                  {10, 7, "mode 'odd' allows no access in any bank",
                   "at least one bank with r, w or rw", "", ""});
}

TEST(ProfileFault, AnUnknownStateOfABank) {
  ExpectComplaint(
      "odd: [w, r]", "odd: [w, x]",
      {10, 16, "unknown state of a bank",
       "one of r, w, rw, hold, off, or a list such as [pe.read, dma.write]", "'x'", ""});
}

TEST(ProfileFault, AModeThatNamesAnUnknownEngine) {
  ExpectComplaint("odd: [w, r]", "odd: [[dna.write], r]",
                  {10, 14, "no engine or link is called 'dna'", "one of pe, dma", "'dna.write'",
                   "did you mean 'dma'?"});
}

TEST(ProfileFault, ATransitionToAnUnknownMode) {
  ExpectComplaint(
      "      odd: [w, r]\n", "      odd: [w, r]\n    transitions: [[even, old]]\n",
      {11, 26, "unknown name 'old'", "one of even, odd", "'old'", "did you mean 'odd'?"});
}

TEST(ProfileFault, ASpanWithoutBanks) {
  ExpectComplaint("    capacity_bytes: 1Mi", "    capacity_bytes: 1Mi\n    span: single",
                  {13, 11, "a span needs banks", "banks in the same memory", "'single'",
                   "add banks, or remove span"});
}

TEST(ProfileFault, AnUnknownOperatorKind) {
  ExpectComplaint(
      "pool: {", "pol: {",
      {18, 7, "unknown key 'pol'",
       "one of conv, depthwise, transposed_conv, pool, global_pool, reduce, elementwise, concat, "
       "slice, pad, gather, matmul, softmax, layer_norm, reshape, resize, transpose, "
       "depth_to_space, space_to_depth, cumsum, space_to_batch, top_k, opaque",
       "", "did you mean 'pool'?"});
}

TEST(ProfileFault, AnUnknownDataType) {
  const base::Diagnostic fault = FaultOf(SmallWith("conv: {", "conv.int18: {"));
  EXPECT_EQ(fault.line, 17);
  EXPECT_EQ(fault.column, 7);
  EXPECT_EQ(fault.message, "unknown key 'conv.int18'");
  EXPECT_EQ(fault.hint, "did you mean 'conv.int8'?");
}

TEST(ProfileFault, ASpeedThatTheKindDoesNotHave) {
  ExpectComplaint("conv: {cycles_per_step: 2}", "concat: {cycles_per_step: 2}",
                  {17, 16, "unknown key 'cycles_per_step'",
                   "one of cycles_per_output, channel_group, start_cycles", "",
                   "did you mean 'cycles_per_output'?"});
}

TEST(ProfileFault, ChannelsThatTheKindDoesNotFold) {
  ExpectComplaint("conv: {cycles_per_step: 2}", "conv: {fold_channels: true}",
                  {17, 14, "unknown key 'fold_channels'",
                   "one of unroll, other_sums, cycles_per_step, weight_steps, cycles_per_output, "
                   "channel_group, start_cycles, fold_columns",
                   "", ""});
}

TEST(ProfileFault, BlocksWithALargerStepThanAllTheirChannels) {
  ExpectComplaint("    operators:",
                  "    blocks: {rows: 2, columns: 2, channels: 8, channel_step: 16, "
                  "input_channels: 8, buffer_bytes: 1Ki}\n    operators:",
                  {16, 5, "'channel_step' is 16, 'channels' 8",
                   "a step of at most all channels of a block", "", ""});
}

TEST(ProfileFault, BlocksWithALargerStepThanAllTheirInputChannels) {
  ExpectComplaint("    operators:",
                  "    blocks: {rows: 2, columns: 2, channels: 8, input_channels: 8, "
                  "input_channel_step: 16, buffer_bytes: 1Ki}\n    operators:",
                  {16, 5, "'input_channel_step' is 16, 'input_channels' 8",
                   "a step of at most all channels of an input block", "", ""});
}

// Each size is tried for each tile.
TEST(ProfileFault, BlocksOfMoreSizesThanCanBeTried) {
  ExpectComplaint(
      "    operators:",
      "    blocks: {rows: 256, columns: 256, channels: 256, input_channels: 8, buffer_bytes: 1Gi}\n"
      "    operators:",
      {16, 5, "blocks of 'conv' have 16842752 sizes",
       "at most 65536: rows / out_rows * columns / out_columns * (channels / channel_step + 1)", "",
       "raise channel_step, or state the lanes of the engine in unroll"});
}

TEST(ProfileFault, ABandwidthThatIsTooSmall) {
  const base::Diagnostic fault = FaultOf(
      SmallWith("capacity_bytes: 1Mi", "capacity_bytes: 1Mi\n    port: {bytes_per_cycle: 1e-10}"));
  EXPECT_EQ(fault.message, "out of range");
  EXPECT_EQ(fault.expected, "a number from 1e-09 up");
}

// 0 is what the page of the format states as the default.
TEST(ProfileFault, NoneInDefaultsThatAreStated) {
  const Profile profile =
      Read(SmallWith("conv: {cycles_per_step: 2}", "conv: {weight_steps: 0, channel_group: 0}"));
  EXPECT_EQ(profile.engines[0].throughputs[0].weight_steps, 0);
  EXPECT_EQ(Read(SmallWith("boundary: {home: dram}", "boundary: {home: dram, request_bytes: 0}"))
                .roles.size(),
            base::TensorRoleNames().size());
}

TEST(ProfileFault, ALinkWithOneEnd) {
  ExpectComplaint("between: [dram, sram]", "between: [dram]",
                  {21, 14, "a link has two ends", "a list of two memories", "[dram]", ""});
}

TEST(ProfileFault, ALinkFromAMemoryToItself) {
  ExpectComplaint(
      "between: [dram, sram]", "between: [sram, sram]",
      {21, 21, "a link joins two memories, not one to itself", "another memory", "'sram'", ""});
}

TEST(ProfileFault, AKnownErrorWithoutASource) {
  ExpectComplaint(
      "clock_hz: 1e9", "known_error: {median: 0.1, nine_of_ten: 0.2}\nclock_hz: 1e9",
      {3, 1, "missing key 'source' in 'known_error'", "text", "the keys median, nine_of_ten", ""});
}

TEST(ProfileFault, AKnownErrorBelowZero) {
  ExpectComplaint("clock_hz: 1e9",
                  "known_error: {source: a chip, median: -0.1, nine_of_ten: 0.2}\nclock_hz: 1e9",
                  {3, 39, "out of range", "a number from 0 up", "'-0.1'", ""});
}

TEST(ProfileFault, AKnownErrorOfMoreFiguresThatIsSmaller) {
  ExpectComplaint("clock_hz: 1e9",
                  "known_error: {source: a chip, median: 0.2, nine_of_ten: 0.1}\nclock_hz: 1e9",
                  {3, 57, "nine of ten figures cannot be closer than half of them",
                   "at least the median, 0.2", "'0.1'", ""});
}

TEST(ProfileFault, ARepeatedAxis) {
  ExpectComplaint("axes: [rows]", "axes: [rows, {axis: rows, granularity: 2}]",
                  {26, 23, "repeated axis 'rows'", "each axis once", "'rows'", ""});
}

TEST(ProfileFault, ARepeatedKey) {
  ExpectComplaint(
      "name: small\n", "name: small\nname: again\n",
      {3, 1, "repeated key 'name'", "each key once", "", "it stands on line 2 already"});
}

// A text that is nearly a profile is read, or refused with a position in it. A text that is read
// can be written and read again.
RC_GTEST_PROP(ProfileFault, NearlyAProfileIsReadOrRefused, ()) {
  std::string text = kSmall;
  const std::string pieces = " \n-:,[]{}&*!|>'\"%@`#?09ax_.~\t";
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<size_t>(0, text.size());
    const char piece = pieces[*rc::gen::inRange<size_t>(0, pieces.size())];
    if (*rc::gen::arbitrary<bool>()) {
      text[at] = piece;
    } else {
      text.erase(at, *rc::gen::inRange<size_t>(1, 8));
    }
  }
  const base::Expected<Profile> profile = ReadProfile(text, "a.yaml", nullptr);
  if (profile) {
    RC_ASSERT(ReadProfile(WriteProfileJson(*profile), "a.json", nullptr).has_value());
  } else {
    RC_ASSERT(profile.error().line >= 1);
    RC_ASSERT(!profile.error().message.empty());
  }
}

}  // namespace
}  // namespace tessera::hw_profiles
