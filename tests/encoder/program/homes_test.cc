// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/homes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"

namespace tessera::encoder {
namespace {

using base::TensorRole;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using testing::HasSubstr;

// TwoConvs: x 64 bytes, a 128, y 96, constants 36.
const std::vector<program::SubgraphChoice>& Together() {
  static const std::vector<program::SubgraphChoice> choices = {{{0, 1}, {1, 3, 8, 4}, kResident}};
  return choices;
}
const std::vector<program::SubgraphChoice>& Apart() {
  static const std::vector<program::SubgraphChoice> choices = {{{0, 0}, {1, 4, 8, 4}, kResident},
                                                               {{1, 1}, {1, 3, 8, 4}, kResident}};
  return choices;
}

Profile WithDram(int64_t capacity) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.memories[0].capacity_bytes = capacity;
  return profile;
}

std::string OverflowOf(const Profile& profile,
                       const std::vector<program::SubgraphChoice>& choices) {
  const std::optional<base::Diagnostic> overflow =
      program::FindHomeOverflow(TwoConvs().graph, profile, choices);
  return overflow ? overflow->message : "fits";
}

TEST(Homes, HoldInputOutputAndConstantsOfASubgraphTogether) {
  EXPECT_EQ(OverflowOf(WithDram(64 + 96 + 36), Together()), "fits");
  EXPECT_EQ(
      OverflowOf(WithDram(64 + 96 + 36 - 1), Together()),
      "memory 'dram' of profile 'small' has room for 195 bytes, and is home to 196 while operators "
      "'conv1' to 'conv2' run");
}

// x and a in the first, a and y in the second: the bytes of x are free when y arrives.
TEST(Homes, HoldABoundaryFromItsMakerToItsLastReader) {
  EXPECT_EQ(OverflowOf(WithDram(128 + 96 + 36), Apart()), "fits");
  EXPECT_THAT(OverflowOf(WithDram(128 + 96 + 36 - 1), Apart()),
              HasSubstr("while operators 'conv2' to 'conv2' run"));
  EXPECT_THAT(OverflowOf(WithDram(64 + 128 + 36 - 1), Apart()),
              HasSubstr("while operators 'conv1' to 'conv1' run"));
}

TEST(Homes, LoseWhatIsReservedOnce) {
  Profile profile = WithDram(196 + 30);
  profile.memories[0].reserved = {{{0, 20}, "boot"}, {{10, 30}, "stack"}};
  EXPECT_EQ(OverflowOf(profile, Together()), "fits");
  profile.memories[0].reserved.push_back({{100, 101}, "flag"});
  EXPECT_THAT(OverflowOf(profile, Together()), HasSubstr("room for 195 bytes"));
}

TEST(Homes, CountTensorsAsTheyLieThere) {
  Profile profile = WithDram(1000);
  Layout(profile, TensorRole::kNetworkInput).channel_block = 16;  // 8 rows of 4 columns by 16: 512
  Layout(profile, TensorRole::kNetworkOutput).row_pitch_bytes = 64;  // 8 rows of 64: 512
  profile.table_bytes_per_channel = 2;                               // (4 + 3) * 2 with 36
  EXPECT_THAT(OverflowOf(profile, Together()), HasSubstr("is home to 1074 "));
}

TEST(Homes, InTheTileMemoryDoNotCount) {
  Profile profile = OneSram(/*capacity=*/1);
  profile.memories[0].capacity_bytes = 36;
  EXPECT_EQ(OverflowOf(profile, Together()), "fits");
  profile.memories[0].capacity_bytes = 35;
  EXPECT_THAT(OverflowOf(profile, Together()),
              HasSubstr("has room for 35 bytes, and is home to 36 "));
}

TEST(Homes, HoldForAPartOfTheNetworkWhatItTouchesAndWhatPassesOver) {
  const std::vector<program::SubgraphChoice> second = {Apart()[1]};
  EXPECT_EQ(OverflowOf(WithDram(128 + 96 + 36), second), "fits");
  EXPECT_THAT(OverflowOf(WithDram(128 + 96 + 36 - 1), second), HasSubstr("is home to 260 "));
}

TEST(Homes, ThatConstantsAloneOverflowAreKnownWithoutAPartition) {
  const graph::Graph graph = TwoConvs().graph;
  EXPECT_FALSE(program::FindConstantOverflow(graph, WithDram(36)).has_value());
  const std::optional<base::Diagnostic> overflow =
      program::FindConstantOverflow(graph, WithDram(35));
  ASSERT_TRUE(overflow.has_value());
  EXPECT_EQ(overflow->message,
            "memory 'dram' of profile 'small' has room for 35 bytes, and is home to 36, constants "
            "and state alone");
  EXPECT_EQ(overflow->expected, "at most 35 bytes");
}

TEST(Homes, BecomeAProblemWhoseStepsAreTheSubgraphs) {
  Profile profile = WithDram(4096);
  profile.memories[0].alignment_bytes = 4;
  for (hw_profiles::RoleLayout& layout : profile.roles) layout.alignment_bytes = 6;
  for (hw_profiles::Link& link : profile.links) link.alignment_bytes = 8;
  const Network network = TwoConvs();
  const std::vector<program::HomeProblem> homes =
      program::BuildHomes(network.graph, profile, Apart());
  ASSERT_EQ(homes.size(), 1U);
  EXPECT_EQ(homes[0].memory, 0);
  EXPECT_EQ(homes[0].problem.memories.at(0).name, "dram");
  EXPECT_EQ(homes[0].problem.memories.at(0).alignment, 4);
  std::map<std::string, std::pair<problem::Bytes, std::vector<problem::Lifespan>>> found;
  for (const problem::Buffer& buffer : homes[0].problem.buffers) {
    EXPECT_EQ(buffer.alignment, 24) << buffer.id;
    if (buffer.role != "constant") found[buffer.id] = {buffer.size, buffer.lifespans};
  }
  const decltype(found) expected = {
      {"x", {64, {{0, 1}}}}, {"a", {128, {{0, 2}}}}, {"y", {96, {{1, 2}}}}};
  EXPECT_EQ(found, expected);
}

TEST(Homes, DoNotHoldWhatIsKeptOnChip) {
  const graph::Graph graph = TwoConvs().graph;
  std::vector<program::SubgraphChoice> choices = Apart();
  choices[0].policy.kept = {*graph::FindTensor(graph, "a")};
  const std::vector<program::HomeProblem> homes =
      program::BuildHomes(graph, WithDram(4096), choices);
  ASSERT_EQ(homes.size(), 1U);
  for (const problem::Buffer& buffer : homes[0].problem.buffers) EXPECT_NE(buffer.id, "a");
}

TEST(Homes, ThatHoldNothingAreNoProblem) {
  Profile profile = OneSram(/*capacity=*/1 << 20);
  for (hw_profiles::RoleLayout& layout : profile.roles) layout.home = profile.tile_memory;
  EXPECT_TRUE(program::BuildHomes(TwoConvs().graph, profile, Together()).empty());
}

TEST(Homes, ThatOverflowRefuseTheWholeProgramOnly) {
  const graph::Graph graph = TwoConvs().graph;
  const base::Expected<program::Program> whole =
      program::BuildProgram(graph, WithDram(195), Together());
  ASSERT_FALSE(whole.has_value());
  EXPECT_THAT(whole.error().message, HasSubstr("memory 'dram'"));
  EXPECT_TRUE(program::BuildProgram(graph, WithDram(195), {Apart().data(), 1}).has_value());
}

}  // namespace
}  // namespace tessera::encoder
