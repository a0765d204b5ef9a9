// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// The reasons why nothing fits, from end to end.
namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class ReasonsTest : public CommandLineTest {
 protected:
  ReasonsTest() {
    Write("overload.csv", "id,lower,upper,size\nx,0,8,32\ny,7,9,32\nz,5,8,32\nw,0,1,8\n");
    // 9 bytes would be enough without the alignment of the second.
    Write("aligned.csv", "id,lower,upper,size,alignment\na,0,2,5,1\nb,1,3,4,8\nc,0,3,4,8\n");
  }
};

TEST_F(ReasonsTest, AnOverloadIsExplainedInSentences) {
  const Outcome outcome = Run({"alloc", "overload.csv", "--capacity", "64"});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_THAT(
      outcome.out,
      EndsWith(
          "reason       'x', 'y' and 'z' live together at step 7 and need 96 bytes; the memory "
          "holds 64\n"
          "             4 conditions collide; without any one of them the others can be kept:\n"
          "               'x' of 32 bytes lives in steps [0, 8)\n"
          "               'y' of 32 bytes lives in steps [7, 9)\n"
          "               'z' of 32 bytes lives in steps [5, 8)\n"
          "               the memory holds 64 bytes\n"
          "             it would fit\n"
          "               with 32 bytes more in the memory, 96 in all\n"));
}

TEST_F(ReasonsTest, ThePatentsThreeBanksCollideInTheirModes) {
  const Outcome outcome =
      Run({"alloc", Shipped("examples/problems/patent_three_banks.json"), "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 20);
  const auto answer = ParseJson(outcome.out);
  EXPECT_THAT(answer.at("reason").get<std::string>(),
              HasSubstr("no choice of banks and modes of 'sram' serves"));
  const auto& explanation = answer.at("explanation");
  EXPECT_LE(explanation.at("conditions").size(), 12U);
  EXPECT_EQ(explanation.at("minimal"), true);
  EXPECT_EQ(explanation.at("all_tried"), true);
  EXPECT_EQ(explanation.at("conditions").back().at("kind"), "modes");
  EXPECT_EQ(explanation.at("changes").at(0).at("kind"), "free_bank");
}

TEST_F(ReasonsTest, TheAlignmentThatANeighbourIsRoundedUpToIsNamed) {
  Write("adjacent.json", R"({"format": "tessera-problem", "version": 1,
 "memories": [{"name": "sram", "capacity": 6, "alignment": 3}],
 "buffers": [{"id": "a", "size": 4, "lifespans": [[0, 1]]}, {"id": "b", "size": 1, "lifespans": [[0, 1]]},
             {"id": "c", "size": 1, "lifespans": [[2, 3]]}],
 "relations": [{"kind": "adjacent", "first": "c", "second": "a"}]})");
  const Outcome outcome = Run({"alloc", "adjacent.json", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 20);
  const auto answer = ParseJson(outcome.out);
  const auto& explanation = answer.at("explanation");
  EXPECT_EQ(explanation.at("minimal"), true);
  std::vector<std::string> texts;
  for (const auto& condition : explanation.at("conditions")) texts.push_back(condition.at("text"));
  EXPECT_THAT(
      texts,
      ElementsAre("'a' of 4 bytes lives in steps [0, 1)", "'c' of 1 byte lives in steps [2, 3)",
                  "'a' is adjacent to 'c': it begins where 'c' ends, rounded up to a multiple of 3",
                  "'sram' holds 6 bytes", "every offset in 'sram' is a multiple of 3"));
}

TEST_F(ReasonsTest, TheCapacityThatIsNamedIsTheLeast) {
  const auto answer =
      ParseJson(Run({"alloc", "aligned.csv", "--capacity", "15", "--format", "json"}).out);
  const auto& change = answer.at("explanation").at("changes").at(0);
  ASSERT_EQ(change.at("kind"), "capacity");
  EXPECT_EQ(change.at("least"), true);
  const int enough = 15 + change.at("amount").get<int>();
  EXPECT_EQ(Run({"alloc", "aligned.csv", "--capacity", std::to_string(enough)}).exit_code, 0);
  EXPECT_EQ(Run({"alloc", "aligned.csv", "--capacity", std::to_string(enough - 1)}).exit_code, 20);
}

TEST_F(ReasonsTest, TheyCanBeLeftOut) {
  const Outcome outcome =
      Run({"alloc", "overload.csv", "--capacity", "64", "--no-reasons", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_FALSE(ParseJson(outcome.out).contains("explanation"));
  EXPECT_THAT(ParseJson(outcome.out).at("reason").get<std::string>(),
              HasSubstr("need 96 bytes together"));
}

TEST_F(ReasonsTest, ABudgetThatIsSpentClaimsNothing) {
  const auto answer = ParseJson(
      Run({"alloc", "overload.csv", "--capacity", "64", "--budget", "0", "--format", "json"}).out);
  EXPECT_EQ(answer.at("explanation").at("all_tried"), false);
  EXPECT_EQ(answer.at("explanation").at("changes").size(), 0U);
}

TEST_F(ReasonsTest, ThePictureShowsWhatCollidesAndShowDrawsItAgain) {
  const Outcome outcome =
      Run({"alloc", "overload.csv", "--capacity", "64", "--format", "json", "--output", "map.svg"});
  EXPECT_EQ(outcome.exit_code, 20);
  const std::string map = Read("map.svg");
  EXPECT_THAT(map, HasSubstr("what collides, piled up, 96 of 64 bytes"));
  EXPECT_THAT(map, HasSubstr("<title>y: 32 bytes"));
  EXPECT_THAT(map, Not(HasSubstr("<title>w: 8 bytes")));
  Write("answer.json", outcome.out);
  EXPECT_EQ(Run({"show", "answer.json", "--problem", "overload.csv"}).out, map);
}

TEST_F(ReasonsTest, CheckStillWantsAddresses) {
  Write("answer.json", Run({"alloc", "overload.csv", "--capacity", "64", "--format", "json"}).out);
  const Outcome outcome = Run({"check", "answer.json", "--problem", "overload.csv"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("this is an answer without addresses: infeasible"));
}

TEST_F(ReasonsTest, ASmallerCandidateIsAChange) {
  const Outcome outcome =
      Run({"alloc", Shipped("examples/problems/halo_candidates.json"), "--candidate", "rows=4"});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_THAT(outcome.out, EndsWith("with the sizes of 'rows=3'\n"));
}

TEST_F(ReasonsTest, TileSaysWhyTheNextLargerDoesNotFit) {
  Write("candidates.json", R"({
    "format": "tessera-problem", "version": 1, "memories": [{"name": "sram", "capacity": 20}],
    "buffers": [{"id": "a", "size": 1, "lifespans": [[0, 2]]}, {"id": "b", "size": 1, "lifespans": [[1, 3]]}],
    "tile_candidates": {"candidates": [{"name": "one", "sizes": {"a": 8, "b": 12}}, {"name": "two", "sizes": {"a": 9, "b": 12}},
                         {"name": "three", "sizes": {"a": 19, "b": 12}}]}})");
  const Outcome outcome = Run({"tile", "--candidates", "candidates.json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              EndsWith("why two does not fit: 'a' and 'b' live together at step 1 and need 21 "
                       "bytes; 'sram' holds 20\n"
                       "  3 conditions collide; without any one of them the others can be kept:\n"
                       "    'a' of 9 bytes lives in steps [0, 2)\n"
                       "    'b' of 12 bytes lives in steps [1, 3)\n"
                       "    'sram' holds 20 bytes\n"
                       "  it would fit\n"
                       "    with 1 byte more in 'sram', 21 in all\n"
                       "    with the sizes of 'one'\n"));
  const auto answer =
      ParseJson(Run({"tile", "--candidates", "candidates.json", "--format", "json"}).out);
  EXPECT_EQ(answer.at("refused").at("tile"), "two");
  EXPECT_EQ(answer.at("refused").at("explanation").at("minimal"), true);
}

TEST_F(ReasonsTest, TileExplainsTheNextLargerShapeOfANetwork) {
  const Outcome outcome =
      Run({"tile", Shipped("examples/networks/mobilenet_v2.yaml"), "--hw",
           Shipped("hw_profiles/ethos_u65_256.yaml"), "--ops", "0..2", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_NE(answer.at("refused").at("tile"), answer.at("largest"));
  EXPECT_EQ(answer.at("refused").at("explanation").at("minimal"), true);
}

TEST_F(ReasonsTest, PlanNamesTheOperatorAndWhatItCollidesWith) {
  const std::string network = Shipped("examples/networks/fsrcnn_same.yaml");
  const std::string profile = Shipped("hw_profiles/ethos_u55_256.yaml");
  const Outcome outcome =
      Run({"plan", network, "--hw", profile, "--output", "map.svg", "--output", "plan.json"});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_THAT(outcome.out,
              HasSubstr("why reconstruct alone does not fit with tiles of 1x16x1x1: 'expand' needs "
                        "33177600 bytes; 'sram' holds 393216\n"));
  EXPECT_THAT(Files(), ElementsAre("aligned.csv", "map.svg", "overload.csv"));
  const auto answer = ParseJson(Run({"plan", network, "--hw", profile, "--format", "json"}).out);
  EXPECT_EQ(answer.at("operator"), "reconstruct");
  EXPECT_EQ(answer.at("explanation").at("minimal"), true);
  EXPECT_FALSE(
      ParseJson(Run({"plan", network, "--hw", profile, "--format", "json", "--no-reasons"}).out)
          .contains("explanation"));
}

}  // namespace
}  // namespace tessera::cli
