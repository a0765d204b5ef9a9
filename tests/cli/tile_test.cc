// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// `tessera tile` finds the largest tile that fits, of a network or of a ladder in a file.
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
  EXPECT_EQ(answer.at("fewest_tiles").at("tiles"), 1);
  EXPECT_EQ(answer.at("fewest_tiles").at("proven"), true);
  ASSERT_EQ(answer.at("corners").size(), 1U);
  const auto& whole = answer.at("corners").front();
  EXPECT_EQ(whole.at("tile"), "1x4x4x14");
  EXPECT_EQ(whole.at("tiles"), 1);
  EXPECT_EQ(whole.at("proven"), true);
  EXPECT_TRUE(whole.at("beyond").empty());
  EXPECT_EQ(whole.at("cost").at("recomputed_macs"), 0);
  EXPECT_FALSE(answer.contains("candidates"));
}

// Of several engines that list an operator, the cheapest runs it, as in plans.
TEST_F(TileTest, CostsAreThoseOfTheCheapestEngines) {
  Write("two.yaml", "extends: " + Shipped("hw_profiles/mcu_320k.yaml") +
                        "\nname: two\nengines:\n  fast:\n    mac_pj: 10\n    operators:\n"
                        "      conv: {cycles_per_step: 0.5}\n");
  const std::string network = Shipped("examples/networks/patent_chain.yaml");
  const auto tile = ParseJson(Run({"tile", network, "--hw", "two.yaml", "--format", "json"}).out);
  const auto plan = ParseJson(Run({"plan", network, "--hw", "two.yaml", "--format", "json"}).out);
  EXPECT_EQ(tile.at("corners").front().at("cost").at("latency_cycles"),
            plan.at("totals").at("latency_cycles"));
}

TEST_F(TileTest, ListsEveryShapeOnRequest) {
  const auto answer = ParseJson(TileChain({"--all"}).out);
  EXPECT_EQ(answer.at("candidates").size(), 21U);  // 3 extents of 4 rows times 7 of 14 columns
  EXPECT_EQ(answer.at("candidates").back().at("tile"), "1x4x4x14");
}

// The second block of MobileNetV2 on 1 MiB: halves fit, the whole does not.
class CornerTest : public CommandLineTest {
 protected:
  Outcome TileBlock(const Arguments& more) const {
    Arguments arguments = {"tile",  Shipped("examples/networks/mobilenet_v2.yaml"),
                           "--hw",  Shipped("hw_profiles/edge_npu_1mib.yaml"),
                           "--ops", "block1_expand..block1_project"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(CornerTest, EachCornerStatesItsCostAndItsObstacle) {
  const Outcome outcome = TileBlock({"--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("fewest_tiles").at("tiles"), 2);
  int cached = 0;
  for (const auto& corner : answer.at("corners")) {
    EXPECT_EQ(corner.at("tiles"), 2);
    EXPECT_EQ(corner.at("proven"), true);
    EXPECT_GT(corner.at("cost").at("latency_cycles"), 0);
    if (corner.at("policy").get<std::string>().find("halo") != std::string::npos) {
      ++cached;
      EXPECT_EQ(corner.at("tile"), "1x24x28x56");
      EXPECT_EQ(corner.at("cost").at("recomputed_macs"), 0);
      EXPECT_TRUE(corner.at("beyond").empty());  // one tile keeps no rows for another
      continue;
    }
    EXPECT_GT(corner.at("cost").at("recomputed_macs"), 0);
    ASSERT_EQ(corner.at("beyond").size(), 1U);
    EXPECT_EQ(corner.at("beyond")[0].at("tile"), "1x24x56x56");
    EXPECT_EQ(corner.at("beyond")[0].at("status"), "infeasible");
    EXPECT_EQ(corner.at("beyond")[0].at("reason"),
              "'s0/block1_expand@0' needs 1204224 bytes; 'sram' holds 1048576");
  }
  // Rolling and line buffer, resident and streamed, double-buffered and serialized.
  EXPECT_EQ(cached, 2 * 2 * 2);
  // Halves along either axis, in as many policies.
  EXPECT_EQ(answer.at("corners").size(), 8U + 8U);
}

TEST_F(CornerTest, AShapeThatFitsIsAnsweredWithItsPeakAndCost) {
  const Outcome outcome = TileBlock({"--why-not", "28x28", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("tile"), "1x24x28x28");
  EXPECT_EQ(answer.at("status"), "feasible");
  // Resident and streamed, with recomputed rows, a rolling buffer, a line buffer, double-buffered
  // and serialized.
  ASSERT_EQ(answer.at("policies").size(), 2U * 3U * 2U);
  EXPECT_LE(answer.at("policies")[0].at("peak"), 1 << 20);
  EXPECT_GT(answer.at("policies")[0].at("cost").at("latency_cycles"), 0);
}

TEST_F(CornerTest, AShapeThatDoesNotFitIsExplained) {
  const Outcome outcome = TileBlock({"--why-not", "rows=56,columns=56"});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_THAT(outcome.out,
              HasSubstr("why it does not fit, resident: 's0/block1_expand@0' needs 1204224 bytes"));
  EXPECT_THAT(outcome.out, HasSubstr("with 460832 bytes more in 'sram', 1509408 in all"));
}

TEST_F(CornerTest, AShapeIsGivenByRowsByAxesOrInFull) {
  const std::string by_rows = TileBlock({"--why-not", "7x56"}).out;
  EXPECT_THAT(by_rows, HasSubstr("tile 1x24x7x56\n"));
  EXPECT_EQ(TileBlock({"--why-not", "7"}).out, by_rows);
  EXPECT_EQ(TileBlock({"--why-not", "rows=7"}).out, by_rows);
  EXPECT_EQ(TileBlock({"--why-not", "1x24x7x56"}).out, by_rows);
}

TEST_F(CornerTest, AnIllegalShapeIsRefusedWithTheNearest) {
  const Outcome outcome = TileBlock({"--why-not", "7x57"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "error: tile 1x24x7x57 is no tile of 1x24x56x56\n"
            "  expected: from 1 to 56 columns\n"
            "  hint: the nearest is 1x24x7x56\n");
  EXPECT_THAT(
      TileBlock({"--why-not", "rows=7,channels=12"}).err,
      HasSubstr(
          "expected: all 24 of axis channels: the operators inside do not allow it to be cut"));
  EXPECT_THAT(TileBlock({"--why-not", "rows=7,chanels=24"}).err,
              HasSubstr("did you mean 'channels'?"));
  EXPECT_THAT(TileBlock({"--why-not", "7xx"}).err, HasSubstr("'' gives no extent"));
  EXPECT_THAT(TileBlock({"--why-not", "7x7x7"}).err, HasSubstr("tile 7x7x7 has 3 extents"));
}

TEST_F(CornerTest, ExtentsBetweenGranularitiesHaveTwoNeighbours) {
  const Outcome outcome = Run({"tile", Shipped("examples/networks/mobilenet_v2.yaml"), "--hw",
                               Shipped("hw_profiles/edge_npu_1mib.yaml"), "--ops", "block1_expand",
                               "--why-not", "rows=7,channels=40"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "error: tile 1x40x7x112 is no tile of 1x96x112x112\n"
            "  expected: a multiple of 32 channels below 96, or all of them\n"
            "  hint: the nearest is 1x32x7x112 or 1x64x7x112\n");
}

TEST_F(TileTest, TakesOperatorsByNameOrNumber) {
  const Outcome by_name = TileChain({"--ops", "conv2..conv3"});
  ASSERT_EQ(by_name.exit_code, 0) << by_name.err;
  EXPECT_EQ(ParseJson(by_name.out).at("subject"), "patent_chain, operators conv2 to conv3");
  EXPECT_EQ(TileChain({"--ops", "1..2"}).out, by_name.out);
  EXPECT_EQ(TileChain({"--ops", "01..002"}).out, by_name.out);
  EXPECT_EQ(TileChain({"--ops", "1..03"}).exit_code, 3);
  EXPECT_EQ(TileChain({"--ops", "-0"}).exit_code, 3);
  EXPECT_EQ(ParseJson(TileChain({"--ops", "conv1"}).out).at("subject"),
            "patent_chain, operators conv1 to conv1");
}

TEST_F(TileTest, AnIdThatIsANumberIsAnId) {
  Write("numbered.yaml",
        "schema: 1\nname: numbered\ninputs: [{id: x, shape: [1, 4, 8, 8]}]\noperators:\n"
        "  - {id: first, kind: elementwise, function: r, inputs: [x]}\n"
        "  - {id: '0', kind: elementwise, function: r, inputs: [first]}\n");
  const Outcome outcome =
      Run({"tile", "numbered.yaml", "--hw", Shipped("hw_profiles/edge_npu_1mib.yaml"), "--ops", "0",
           "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(ParseJson(outcome.out).at("subject"), "numbered, operators 0 to 0");
}

TEST_F(TileTest, AnUnknownOperatorSuggestsTheNearest) {
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
              testing::EndsWith(
                  "largest tile that fits: 1x8x8x18\nevery larger one is proven impossible\n"));
}

TEST_F(TileTest, AFileWithoutALadderIsRefused) {
  const Outcome outcome =
      Run({"tile", "--candidates", Shipped("examples/problems/patent_five_banks.json")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("error: the file has no tile candidates\n"));
  EXPECT_THAT(outcome.err, HasSubstr("hint: `tessera alloc` answers"));
}

TEST_F(TileTest, NothingThatFitsIsProvenImpossible) {
  Write("candidates.json", R"({
    "format": "tessera-problem", "version": 1, "memories": [{"capacity": 7}],
    "buffers": [{"id": "a", "size": 1, "lifespans": [[0, 2]]}],
    "tile_candidates": {"candidates": [{"name": "small", "sizes": {"a": 8}}, {"name": "large", "sizes": {"a": 9}}]}})");
  const Outcome outcome = Run({"tile", "--candidates", "candidates.json", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 20);
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("status"), "infeasible");
  EXPECT_TRUE(answer.at("largest").is_null());
}

}  // namespace
}  // namespace tessera::cli
