// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "command_line.h"

// `tessera plan --off-chip`: tensors at home share addresses tile by tile.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

class OffChipTest : public CommandLineTest {
 protected:
  // A chain of convolutions without kept tensors, on edge_npu_1mib with 2 048 bytes of tile memory.
  Outcome Plan(const std::string& off_chip, const std::string& dram) const {
    std::string profile = Replace(ProfileText(), "capacity_bytes: 1Mi", "capacity_bytes: 2048");
    Write("npu.yaml", Replace(profile, "capacity_bytes: 2Gi", "capacity_bytes: " + dram));
    return Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw", "npu.yaml",
                "--off-chip", off_chip, "--no-keep", "--max-operators", "1", "--output",
                off_chip + ".json"});
  }

  int64_t PeakIn(const std::string& file) const {
    return ReadJson(file)["homes"][0]["peak"].get<int64_t>();
  }

 private:
  static std::string ProfileText() {
    std::ifstream in(Shipped("hw_profiles/edge_npu_1mib.yaml"));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
};

TEST_F(OffChipTest, TilesShareAddressesAndKeepTheirBytes) {
  ASSERT_EQ(Plan("whole", "2Gi").exit_code, 0);
  const int64_t whole = PeakIn("whole.json");
  for (const std::string method : {"tile-aware", "paper"}) {
    const Outcome outcome = Plan(method, "2Gi");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("tensors share addresses tile by tile"));
    const Outcome check = Run({"check", method + ".json", "--execute"});
    EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  }
  EXPECT_LT(PeakIn("tile-aware.json"), whole);
  EXPECT_LE(PeakIn("tile-aware.json"), PeakIn("paper.json"));
}

TEST_F(OffChipTest, AlteredHomesAreRefused) {
  ASSERT_EQ(Plan("tile-aware", "2Gi").exit_code, 0);
  const auto plan = ReadJson("tile-aware.json");
  const int64_t bound = plan["homes"][0]["lower_bound"].get<int64_t>();
  for (const int64_t claim : {int64_t{0}, bound - 1, bound + 1}) {
    auto altered = plan;
    altered["homes"][0]["lower_bound"] = claim;
    Write("altered.json", altered.dump());
    EXPECT_EQ(Run({"check", "altered.json"}).exit_code, 5) << claim;
  }
  auto altered = plan;
  altered["homes"][0].erase("by_tiles");
  Write("altered.json", altered.dump());
  EXPECT_NE(Run({"check", "altered.json"}).exit_code, 0);
}

// No placement of whole tensors fits, which is no proof about tiles.
TEST_F(OffChipTest, WhatFitsOnlyByTilesIsNotRefuted) {
  EXPECT_EQ(Plan("whole", "2100").exit_code, 20);
  const Outcome outcome = Plan("tile-aware", "2100");
  EXPECT_EQ(outcome.exit_code, 10);
  EXPECT_THAT(outcome.out, HasSubstr("only tile by tile were not looked at"));
}

}  // namespace
}  // namespace tessera::cli
