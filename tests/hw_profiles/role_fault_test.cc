// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "fixture.h"

// Faults of the roles of a profile: of their homes, and of the weight policies that depend on them.
namespace tessera::hw_profiles {
namespace {

TEST(RoleFault, AnUnknownRole) {
  ExpectComplaint("  boundary: {", "  boundry: {",
                  {23, 3, "unknown key 'boundry'",
                   "one of network_input, network_output, boundary, feature, constant, state", "",
                   "did you mean 'boundary'?"});
}

TEST(RoleFault, AHomeThatIsNotWritable) {
  ExpectComplaint("    capacity_bytes: 1Mi", "    capacity_bytes: 1Mi\n    writable: false",
                  {24, 20, "'dram' is not writable, and tensors of role boundary are written",
                   "a memory with writable: true", "'dram'", ""});
}

TEST(RoleFault, AHomeWithoutALink) {
  ExpectComplaint("links:\n  dma:\n    between: [dram, sram]\n", "",
                  {20, 20, "no link joins 'dram' to the tile memory 'sram'",
                   "a link between [dram, sram]", "'dram'", "add it to links"});
}

TEST(RoleFault, AHomeWithoutALinkOfWhatIsWrittenAlone) {
  ExpectComplaint(
      "links:\n  dma:\n    between: [dram, sram]\nroles:\n  boundary: {home: dram}\n  constant: "
      "{home: dram}\n",
      "roles:\n  network_output: {home: dram}\n",
      {20, 26, "no link joins 'dram' to the tile memory 'sram'", "a link between [dram, sram]",
       "'dram'", "add it to links"});
}

TEST(RoleFault, AHomeForFeatures) {
  ExpectComplaint("  boundary: {", "  feature: {",
                  {23, 19, "features live in tiles, which are in the tile memory", "'sram'",
                   "'dram'", "remove this home"});
}

TEST(RoleFault, AHomeForStateWithoutALink) {
  std::string text = SmallWith("  boundary: {home: dram}", "  state: {home: far}");
  text.replace(text.find("tile_memory"), 0, "  far: {capacity_bytes: 1Mi, direct_write: true}\n");
  EXPECT_EQ(FaultOf(text).message, "no link joins 'far' to the tile memory 'sram'");
}

TEST(RoleFault, AListOfNoHomes) {
  ExpectComplaint(
      "  boundary: {home: dram}", "  boundary: {home: []}",
      {23, 20, "the list of homes is empty", "the name of a memory, or a list of at least one",
       "[]", "remove the key to make the tile memory the home"});
}

TEST(RoleFault, AListWithAnUnknownMemory) {
  ExpectComplaint("  boundary: {home: dram}", "  boundary: {home: [dram, drum]}",
                  {23, 27, "no memory is called 'drum'", "one of sram, dram", "'drum'",
                   "did you mean 'dram'?"});
}

TEST(RoleFault, AListWithAMemoryTwice) {
  ExpectComplaint("  boundary: {home: dram}", "  boundary: {home: [dram, dram]}",
                  {23, 27, "repeated memory 'dram'", "each memory once", "'dram'",
                   "remove it: no tensor gets past the first place of a memory to its second"});
}

TEST(RoleFault, AListWithTheTileMemory) {
  ExpectComplaint(
      "  boundary: {home: dram}", "  boundary: {home: [dram, sram]}",
      {23, 27, "the tile memory is one of several homes", "other memories, or 'sram' alone",
       "'sram'", "remove it: how much room it has depends on the tiles"});
}

TEST(RoleFault, AListOfStateThatEndsWithTheTileMemory) {
  ExpectComplaint("  boundary: {home: dram}", "  state: {home: [dram, sram]}",
                  {23, 24, "the tile memory comes after another home of state",
                   "'sram' first in the list, or alone", "'sram'",
                   "move it to the front: states that it has room for are not moved"});
}

// Each home of a list must meet the requirements of a single one.
TEST(RoleFault, AListWithAHomeWithoutALink) {
  std::string text = SmallWith("  constant: {home: dram}", "  constant: {home: [dram, far]}");
  text.replace(text.find("tile_memory"), 0, "  far: {capacity_bytes: 1Mi}\n");
  const base::Diagnostic fault = FaultOf(text);
  EXPECT_EQ(fault.line, 25);
  EXPECT_EQ(fault.column, 27);
  EXPECT_EQ(fault.message, "no link joins 'far' to the tile memory 'sram'");
  EXPECT_EQ(fault.expected, "a link between [far, sram]");
  EXPECT_EQ(fault.found, "'far'");
}

TEST(RoleFault, DirectWeightsWithoutDirectRead) {
  ExpectComplaint(
      "[resident, streamed]", "[resident, direct]",
      {27, 23, "engines cannot read weights directly from 'dram', the home of constants",
       "direct_read: true at that memory", "'direct'",
       "add direct_read there, or remove direct here"});
}

TEST(RoleFault, DirectWeightsOfARoleInTilesAlone) {
  std::string text =
      SmallWith("  constant: {home: dram}", "  constant: {home: dram, tiles_only: true}");
  text.replace(text.find("capacity_bytes: 1Mi"), 0, "direct_read: true\n    ");
  text.replace(text.find("streamed]"), 8, "direct");
  const base::Diagnostic fault = FaultOf(text);
  EXPECT_EQ(fault.line, 28);
  EXPECT_EQ(fault.message,
            "engines cannot read weights directly from 'dram', the home of constants");
  EXPECT_EQ(fault.expected, "tiles_only: false for the role");
  EXPECT_EQ(fault.hint, "remove tiles_only of the role, or remove direct here");
}

TEST(RoleFault, AStoredRatioOfARoleThatIsNotCompressed) {
  ExpectComplaint(
      "  boundary: {home: dram}", "  boundary: {home: dram, stored_ratio: 0.5}",
      {23, 40, "only constants are stored compressed", "no 'stored_ratio'", "'0.5'", ""});
}

TEST(RoleFault, AStoredRatioOfZero) {
  ExpectComplaint("  constant: {home: dram}", "  constant: {home: dram, stored_ratio: 0}",
                  {24, 40, "out of range", "a number from 0.0009765625 to 16", "'0'", ""});
}

}  // namespace
}  // namespace tessera::hw_profiles
