// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// The commands and results in the README of examples/problems.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

class ProblemExamplesTest : public CommandLineTest {
 protected:
  static std::string Problem(const std::string& name) {
    return Shipped("examples/problems/" + name);
  }
};

TEST_F(ProblemExamplesTest, Figure1FitsIntoItsLoad) {
  const Outcome outcome =
      Run({"alloc", Problem("patent_fig1.csv"), "--capacity", "10", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(ParseJson(outcome.out).at("peak"), 10);
  EXPECT_EQ(Run({"alloc", Problem("patent_fig1.csv"), "--capacity", "9"}).exit_code, 20);
}

TEST_F(ProblemExamplesTest, MiniMallocsExampleFitsInto12) {
  const Outcome outcome = Run({"alloc", Problem("minimalloc_example.csv"), "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(ParseJson(outcome.out).at("status"), "optimal");
  EXPECT_EQ(ParseJson(outcome.out).at("peak"), 12);
}

TEST_F(ProblemExamplesTest, EveryOffsetIsAMultipleOf4) {
  const Outcome outcome = Run({"alloc", Problem("aligned.csv"), "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("status"), "optimal");
  EXPECT_EQ(answer.at("peak"), 29);
  for (const auto& [id, offset] : answer.at("offsets").items())
    EXPECT_EQ(offset.get<int64_t>() % 4, 0) << id;
}

TEST_F(ProblemExamplesTest, ThreeBanksCannotServeBothPasses) {
  const Outcome outcome = Run({"alloc", Problem("patent_three_banks.json"), "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 20) << outcome.err;
  EXPECT_EQ(ParseJson(outcome.out).at("status"), "infeasible");
}

TEST_F(ProblemExamplesTest, FiveBanksServeBothPassesByAChangeOfMode) {
  const Outcome outcome =
      Run({"alloc", Problem("patent_five_banks.json"), "--output", "answer.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ReadJson("answer.json");
  const auto schedule = answer.at("modes").at(0).at("schedule");
  ASSERT_EQ(schedule.size(), 2U);
  EXPECT_NE(schedule.at(0), schedule.at(1));
  // Only bank 3 is read, and only bank 4 written, in both modes.
  EXPECT_EQ(answer.at("offsets").at("weights").get<int64_t>() / 64, 3);
  EXPECT_EQ(answer.at("offsets").at("out").get<int64_t>() / 64, 4);
  EXPECT_EQ(Run({"check", "answer.json", "--problem", Problem("patent_five_banks.json")}).exit_code,
            0);
}

TEST_F(ProblemExamplesTest, FiveBanksWithoutTheChangeAreRefused) {
  Run({"alloc", Problem("patent_five_banks.json"), "--output", "answer.json"});
  auto answer = ReadJson("answer.json");
  answer["modes"][0]["schedule"][1] = answer["modes"][0]["schedule"][0];
  Write("answer.json", answer.dump());
  const Outcome outcome =
      Run({"check", "answer.json", "--problem", Problem("patent_five_banks.json")});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.out, HasSubstr("step 1"));
}

// At full height no halo is kept: 8 rows fit where 4 and 6 do not.
TEST_F(ProblemExamplesTest, TheSearchPassesTheGapOfTheLadder) {
  const Outcome outcome =
      Run({"tile", "--candidates", Problem("halo_candidates.json"), "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("largest"), "rows=8");
  EXPECT_EQ(answer.at("largest_proven"), true);
  std::vector<std::string> infeasible;
  for (const auto& candidate : answer.at("candidates")) {
    if (candidate.at("status") == "infeasible") infeasible.push_back(candidate.at("tile"));
  }
  EXPECT_THAT(infeasible, testing::ElementsAre("rows=4", "rows=6"));
}

TEST_F(ProblemExamplesTest, ACandidateOfTheLadderCanBePlacedAlone) {
  const Outcome outcome =
      Run({"alloc", Problem("halo_candidates.json"), "--candidate", "rows=3", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(ParseJson(outcome.out).at("peak"), 152);
}

}  // namespace
}  // namespace tessera::cli
