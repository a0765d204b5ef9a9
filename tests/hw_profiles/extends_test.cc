// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>

#include "fixture.h"

namespace tessera::hw_profiles {
namespace {

// Returns files from a map; any other file is not found.
Loader LoaderOf(std::map<std::string, std::string> files) {
  return [files = std::move(files)](std::string_view name) -> base::Expected<std::string> {
    const auto found = files.find(std::string(name));
    if (found != files.end()) return found->second;
    base::Diagnostic fault;
    fault.message = "no such file";
    return base::Unexpected(std::move(fault));
  };
}

TEST(Extends, TheExtendingFileWinsKeyByKey) {
  const Profile profile =
      Read("extends: small.yaml\nname: larger\nmemories:\n  sram: {capacity_bytes: 128Ki}\n",
           "a.yaml", LoaderOf({{"small.yaml", kSmall}}));
  EXPECT_EQ(profile.name, "larger");
  EXPECT_EQ(profile.memories[0].capacity_bytes, 131072);
  EXPECT_EQ(profile.memories[0].banks[1].range.end, 131072);
  EXPECT_EQ(profile.memories[0].modes.size(), 2U);
  EXPECT_EQ(profile.memories[1].name, "dram");
}

TEST(Extends, NullDropsBlocksAndOtherSums) {
  const std::string base = SmallWith(
      "    operators:\n      conv: {cycles_per_step: 2}",
      "    blocks: {rows: 2, columns: 2, channels: 8, input_channels: 8, buffer_bytes: 1Ki}\n"
      "    operators:\n      conv: {cycles_per_step: 2, other_sums: {kernel_taps: 4}}");
  const Profile with =
      Read("extends: small.yaml\nname: a\n", "a.yaml", LoaderOf({{"small.yaml", base}}));
  EXPECT_TRUE(with.engines[0].blocks && with.engines[0].throughputs[0].other_sums);
  const Profile without = Read(
      "extends: small.yaml\nname: a\nengines:\n  pe:\n    blocks: null\n    operators:\n"
      "      conv: {other_sums: null}\n",
      "a.yaml", LoaderOf({{"small.yaml", base}}));
  EXPECT_FALSE(without.engines[0].blocks || without.engines[0].throughputs[0].other_sums);
}

TEST(Extends, NullDropsAFieldThatMayBeAbsent) {
  const auto with = [](const std::string& ratio) {
    std::string text = kSmall;
    const std::string constant = "constant: {home: dram";
    return text.replace(text.find(constant), constant.size(), constant + ratio);
  };
  const Loader loader = LoaderOf({{"small.yaml", with(", stored_ratio: 0.5")}});
  const auto ratio_of = [](const Profile& profile) {
    return LayoutOf(profile, base::TensorRole::kConstant).stored_ratio;
  };
  EXPECT_EQ(ratio_of(Read("extends: small.yaml\nname: a\n", "a.yaml", loader)), 0.5);
  EXPECT_FALSE(
      ratio_of(Read("extends: small.yaml\nname: a\nroles:\n  constant: {stored_ratio: null}\n",
                    "a.yaml", loader)));
}

// An error was measured on one machine.
TEST(Extends, AKnownErrorIsThatOfTheFileAlone) {
  const std::string error = "known_error: {source: a chip, median: 0.125, nine_of_ten: 0.5}\n";
  const Loader loader = LoaderOf({{"small.yaml", error + kSmall}});
  const Profile taken = Read("extends: small.yaml\nname: a\n", "a.yaml", loader);
  EXPECT_FALSE(taken.known_error);
  const Profile stated = Read("extends: small.yaml\nname: a\n" + error, "a.yaml", loader);
  ASSERT_TRUE(stated.known_error);
  EXPECT_EQ(stated.known_error->source, "a chip");
  EXPECT_EQ(stated.known_error->median, 0.125);
  EXPECT_EQ(stated.known_error->nine_of_ten, 0.5);
}

TEST(Extends, NewNamesComeAfterTheOldAndListsAreReplaced) {
  const Profile profile = Read(
      "extends: small.yaml\nmemories:\n  flash: {capacity_bytes: 1Mi, writable: false}\ntiling: "
      "{axes: "
      "[columns]}\n",
      "a.yaml", LoaderOf({{"small.yaml", kSmall}}));
  ASSERT_EQ(profile.memories.size(), 3U);
  EXPECT_EQ(profile.memories[2].name, "flash");
  ASSERT_EQ(profile.tiling.axes.size(), 1U);
  EXPECT_EQ(profile.tiling.axes[0].axis, base::Axis::kColumns);
  EXPECT_EQ(profile.tiling.weights.size(), 2U);
}

TEST(Extends, AListOfHomesReplacesOneHomeAndTheReverse) {
  const std::string one =
      "extends: small.yaml\nmemories: {tcm: {capacity_bytes: 1Ki}}\nlinks: {far: {between: [tcm, "
      "sram]}}\n"
      "roles: {boundary: {home: [tcm, dram]}}\n";
  const Profile listed = Read(one, "a.yaml", LoaderOf({{"small.yaml", kSmall}}));
  EXPECT_EQ(LayoutOf(listed, base::TensorRole::kBoundary).home, 2);
  EXPECT_EQ(LayoutOf(listed, base::TensorRole::kBoundary).next_homes, std::vector<int>({1}));
  const Profile single = Read("extends: one.yaml\nroles: {boundary: {home: dram}}\n", "a.yaml",
                              LoaderOf({{"small.yaml", kSmall}, {"one.yaml", one}}));
  EXPECT_FALSE(HasSeveralHomes(single));
}

TEST(Extends, NamesAreRelativeToTheFileThatStatesThem) {
  const Profile profile = Read("extends: ../base/top.yaml\nname: a\n", "boards/a.yaml",
                               LoaderOf({{"base/top.yaml", "extends: small.yaml\nclock_hz: 7\n"},
                                         {"base/small.yaml", kSmall}}));
  EXPECT_EQ(profile.name, "a");
  EXPECT_EQ(profile.clock_hz, 7);
}

TEST(Extends, AComplaintNamesTheFileOfItsKey) {
  std::string faulty = SmallWith("{home: dram}\n  constant", "{home: dran}\n  constant");
  const base::Diagnostic fault =
      FaultOf("extends: small.yaml\nname: a\n", LoaderOf({{"small.yaml", faulty}}));
  EXPECT_EQ(fault.file, "small.yaml");
  EXPECT_EQ(fault.line, 23);
  EXPECT_EQ(fault.column, 20);
  EXPECT_EQ(fault.message, "no memory is called 'dran'");
}

TEST(Extends, WhatNoLongerFitsTogetherIsComplainedOfWhereItStands) {
  const base::Diagnostic fault = FaultOf("extends: small.yaml\nmemories:\n  sram:\n    banks: 4\n",
                                         LoaderOf({{"small.yaml", kSmall}}));
  EXPECT_EQ(fault.file, "small.yaml");
  EXPECT_EQ(fault.line, 9);
  EXPECT_EQ(fault.message, "mode 'even' states 2 banks");
}

TEST(Extends, CirclesAreRefused) {
  const base::Diagnostic fault =
      FaultOf("extends: b.yaml\n", LoaderOf({{"b.yaml", "name: b\nextends: ./a.yaml\n"}}));
  EXPECT_EQ(fault.file, "b.yaml");
  EXPECT_EQ(fault.line, 2);
  EXPECT_EQ(fault.column, 10);
  EXPECT_EQ(fault.message, "the profiles extend each other in a circle");
}

TEST(Extends, ChainsEndAfterEightFiles) {
  std::map<std::string, std::string> files;
  for (int i = 1; i <= 7; ++i)
    files[std::to_string(i) + ".yaml"] = "extends: " + std::to_string(i + 1) + ".yaml\n";
  files["7.yaml"] = kSmall;
  EXPECT_TRUE(ReadProfile("extends: 1.yaml\n", "0.yaml", LoaderOf(files)).has_value());
  files["7.yaml"] = "extends: 8.yaml\n";
  const base::Diagnostic fault = FaultOf("extends: 1.yaml\n", LoaderOf(files));
  EXPECT_EQ(fault.file, "7.yaml");
  EXPECT_EQ(fault.message, "too many profiles extend each other");
}

TEST(Extends, WhatCannotBeReadIsSaid) {
  const base::Diagnostic fault = FaultOf("extends: lost.yaml\n", LoaderOf({}));
  EXPECT_EQ(fault.file, "a.yaml");
  EXPECT_EQ(fault.line, 1);
  EXPECT_EQ(fault.column, 10);
  EXPECT_EQ(fault.message, "cannot read 'lost.yaml'");
  EXPECT_EQ(fault.hint, "no such file");
}

TEST(Extends, NeedsALoader) {
  EXPECT_EQ(FaultOf("extends: b.yaml\n").message,
            "this profile extends another, and no other file can be read here");
}

}  // namespace
}  // namespace tessera::hw_profiles
