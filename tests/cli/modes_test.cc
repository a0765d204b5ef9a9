// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// `tessera modes`: the least set of modes that plans or Problems need.
namespace tessera::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

// One buffer that is read, on one bank, and three modes. The second mode would do as well as the
// first.
const std::string kThreeModes = R"({
  "format": "tessera-problem", "version": 1, "name": "reader",
  "memories": [{"name": "sram", "capacity": 8, "banks": [{"name": "b0", "range": [0, 8]}],
                "modes": [{"name": "fill", "banks": ["w"]}, {"name": "drain", "banks": ["r"]}, {"name": "idle", "banks": ["hold"]}]}],
  "buffers": [{"id": "a", "size": 4, "lifespans": [[0, 2]], "accesses": [{"step": 1, "kind": "read"}]}]
})";

class ModesTest : public CommandLineTest {
 protected:
  ModesTest() { Write("three.json", kThreeModes); }
};

TEST_F(ModesTest, SaysWhatToKeepAndWhatIsFreed) {
  const Outcome outcome = Run({"modes", "three.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "sram: 1 of 3 modes are enough, fewer are proven not to be\n"
            "  keep    drain\n"
            "  remove  fill, idle\n"
            "  frees   write of b0\n");
}

TEST_F(ModesTest, JsonSaysTheSame) {
  const auto answer = ParseJson(Run({"modes", "three.json", "--format", "json"}).out);
  EXPECT_EQ(answer.at("status"), "optimal");
  const auto& memory = answer.at("memories").at(0);
  EXPECT_EQ(memory.at("keep"), nlohmann::ordered_json({"drain"}));
  EXPECT_EQ(memory.at("remove"), nlohmann::ordered_json({"fill", "idle"}));
  EXPECT_EQ(memory.at("frees").at(0).at("bank"), "b0");
  EXPECT_EQ(memory.at("frees").at(0).at("access"), "write");
}

TEST_F(ModesTest, TheReducedProblemIsWrittenAndSolvable) {
  EXPECT_EQ(Run({"modes", "three.json", "--output", "smaller.json"}).exit_code, 0);
  EXPECT_EQ(ReadJson("smaller.json").at("memories").at(0).at("modes").size(), 1U);
  EXPECT_EQ(Run({"alloc", "smaller.json"}).exit_code, 0);
}

TEST_F(ModesTest, ThePatentsFiveBanksNeedBothModes) {
  const Outcome outcome = Run({"modes", Shipped("examples/problems/patent_five_banks.json")});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              HasSubstr("sram: 2 of 2 modes are enough, fewer are proven not to be\n"));
  EXPECT_THAT(outcome.out, HasSubstr("patent_five_banks.json needs mode0\n"));
  EXPECT_THAT(outcome.out, HasSubstr("patent_five_banks.json needs mode1\n"));
}

TEST_F(ModesTest, WhatAllModesCannotDoIsInfeasible) {
  const Outcome outcome = Run({"modes", Shipped("examples/problems/patent_three_banks.json")});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_EQ(outcome.out, "infeasible: not even all modes are enough\n");
}

// A third mode in the shipped profile is not needed. The plan's network can be planned with the
// remaining profile.
TEST_F(ModesTest, APlansProfileLosesTheModesThatNoPlanNeeds) {
  const std::string profile = Shipped("hw_profiles/three_bank_two_mode.yaml");
  Write("wide.yaml", "extends: " + profile +
                         "\nname: wide\nmemories:\n  sram:\n    modes:\n      forward: [r, r, w]\n"
                         "      reverse: [w, w, r]\n      write: [w, w, w]\n");
  const std::string network = Shipped("examples/networks/patent_chain.yaml");
  ASSERT_EQ(Run({"plan", network, "--hw", "wide.yaml", "--output", "plan.json"}).exit_code, 0);
  const Outcome outcome =
      Run({"modes", "plan.json", "--output", "smaller.yaml", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("status"), "optimal");
  EXPECT_EQ(answer.at("memories").at(0).at("keep").size() +
                answer.at("memories").at(0).at("remove").size(),
            3U);
  EXPECT_GE(answer.at("memories").at(0).at("remove").size(), 1U);
  EXPECT_EQ(Run({"plan", network, "--hw", "smaller.yaml"}).exit_code, 0);
}

TEST_F(ModesTest, WhatHasNoModesIsRefused) {
  const Outcome outcome = Run({"modes", Shipped("examples/problems/halo_candidates.json")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, EndsWith("halo_candidates.json: error: no memory has modes\n"));
}

TEST_F(ModesTest, DifferentMemoriesAreRefused) {
  const Outcome outcome =
      Run({"modes", "three.json", Shipped("examples/problems/patent_five_banks.json")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("memories and modes differ from those of the first file"));
}

TEST_F(ModesTest, AnOutputThatIsNoProfileIsAUsageError) {
  EXPECT_EQ(Run({"modes", "three.json", "--output", "map.svg"}).exit_code, 2);
  const Outcome outcome = Run({"modes", "three.json", "three.json", "--output", "smaller.json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
}

}  // namespace
}  // namespace tessera::cli
