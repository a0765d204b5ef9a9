#include <gmock/gmock.h>

#include "command_line.h"

// `tessera tile`: the largest tile that fits, of a network or of a ladder of one's own.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

class TileTest : public CommandLineTest {
 protected:
  Outcome TileChain(const Arguments& more) const {
    Arguments arguments = {"tile",     Shipped("examples/networks/patent_chain.yaml"),
                           "--hw",     Shipped("hw_profiles/mcu_320k.yaml"),
                           "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(TileTest, AnswersForTheWholeNetwork) {
  const Outcome outcome = TileChain({});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("subject"), "patent_chain, operators conv1 to conv3");
  EXPECT_EQ(answer.at("status"), "feasible");
  EXPECT_EQ(answer.at("largest"), "1x4x4x14");
  EXPECT_EQ(answer.at("largest_proven"), true);
  const auto& whole = answer.at("candidates").back();
  EXPECT_EQ(whole.at("tile"), "1x4x4x14");
  EXPECT_EQ(whole.at("tiles"), 1);
}

TEST_F(TileTest, TakesOperatorsByNameOrNumber) {
  const Outcome by_name = TileChain({"--ops", "conv2..conv3"});
  ASSERT_EQ(by_name.exit_code, 0) << by_name.err;
  EXPECT_EQ(ParseJson(by_name.out).at("subject"), "patent_chain, operators conv2 to conv3");
  EXPECT_EQ(TileChain({"--ops", "1..2"}).out, by_name.out);
  EXPECT_EQ(ParseJson(TileChain({"--ops", "conv1"}).out).at("subject"),
            "patent_chain, operators conv1 to conv1");
}

TEST_F(TileTest, AnUnknownOperatorIsToldFromItsNeighbour) {
  const Outcome outcome = TileChain({"--ops", "conv1..covn3"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "error: --ops conv1..covn3: there is no operator 'covn3'\n"
            "  expected: an id, or a number from 0 to 2\n"
            "  hint: did you mean 'conv3'?\n");
}

TEST_F(TileTest, AnIntervalThatRunsBackwardsIsRefused) {
  const Outcome outcome = TileChain({"--ops", "conv3..conv1"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("the first operator comes after the last"));
}

TEST_F(TileTest, TextEndsWithTheVerdict) {
  const Outcome outcome = Run({"tile", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                               Shipped("hw_profiles/mcu_320k.yaml"), "--ops", "0"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              testing::EndsWith("largest tile that fits: 1x8x8x18\nevery larger one is proven impossible\n"));
}

TEST_F(TileTest, AFileWithoutALadderIsRefused) {
  const Outcome outcome = Run({"tile", "--ladder", Shipped("examples/problems/patent_five_banks.json")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("error: the file has no ladder\n"));
  EXPECT_THAT(outcome.err, HasSubstr("hint: `tessera alloc` answers"));
}

TEST_F(TileTest, NothingThatFitsIsProvenImpossible) {
  Write("ladder.json", R"({
    "format": "tessera-problem", "version": 1, "memories": [{"capacity": 7}],
    "buffers": [{"id": "a", "size": 1, "lifespans": [[0, 2]]}],
    "ladder": {"rungs": [{"name": "small", "sizes": {"a": 8}}, {"name": "large", "sizes": {"a": 9}}]}})");
  const Outcome outcome = Run({"tile", "--ladder", "ladder.json", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 20);
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("status"), "infeasible");
  EXPECT_TRUE(answer.at("largest").is_null());
}

}  // namespace
}  // namespace tessera::cli
