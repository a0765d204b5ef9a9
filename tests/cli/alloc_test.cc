// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>

#include "command_line.h"
#include "sample_inputs.h"
#include "tessera/tests/draws.h"

// `tessera alloc` reads files and returns addresses.
namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class AllocTest : public CommandLineTest {
 protected:
  AllocTest() { Write("buffers.csv", kThreeBuffers); }
};

TEST_F(AllocTest, JsonAnswersInFull) {
  const Outcome outcome = Run({"alloc", "buffers.csv", "--capacity", "40", "--minimize", "--seed",
                               "7", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("status"), "optimal");
  EXPECT_EQ(answer.at("peak"), 32);
  EXPECT_EQ(answer.at("lower_bound"), 32);
  EXPECT_EQ(answer.at("gap"), 0);
  EXPECT_EQ(answer.at("capacity"), 40);
  EXPECT_EQ(answer.at("seed"), 7);
  EXPECT_TRUE(answer.at("engine").is_string());
  EXPECT_GE(answer.at("time_ms"), 0);
  ASSERT_EQ(answer.at("offsets").size(), 3U);
  for (const char* id : {"a", "b", "c"}) EXPECT_GE(answer.at("offsets").at(id), 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(AllocTest, TextGivesTheSameAnswer) {
  const Outcome outcome = Run({"alloc", "buffers.csv", "--capacity", "1Ki"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("status       optimal\n"
                                      "buffers      3\n"
                                      "capacity     1 024\n"
                                      "peak         32\n"
                                      "lower bound  32\n"
                                      "gap          0\n"));
}

TEST_F(AllocTest, WithoutAGoalItMinimises) {
  const auto answer = ParseJson(Run({"alloc", "buffers.csv", "--format", "json"}).out);
  EXPECT_EQ(answer.at("status"), "optimal");
  EXPECT_EQ(answer.at("peak"), 32);
  EXPECT_FALSE(answer.contains("capacity"));
}

// 160 bytes are needed in one memory, 60 in the other.
constexpr const char* kTwoMemories = R"({
  "format": "tessera-problem", "version": 1,
  "memories": [{"name": "sram", "capacity": 1000}, {"name": "tcm", "capacity": 500}],
  "buffers": [
    {"id": "a", "size": 100, "lifespans": [[0, 4]], "memory": "sram"},
    {"id": "b", "size": 60, "lifespans": [[2, 6]], "memory": "sram"},
    {"id": "c", "size": 50, "lifespans": [[0, 4]], "memory": "tcm"},
    {"id": "d", "size": 60, "lifespans": [[5, 6]], "memory": "tcm"}
  ]
})";

TEST_F(AllocTest, MinimisesSeveralMemories) {
  Write("two.json", kTwoMemories);
  const std::vector<std::pair<std::string, double>> scores = {{"--minimize", 220},
                                                              {"--minimize=sum", 220},
                                                              {"--minimize=relative", 2},
                                                              {"--minimize=sram=2,tcm", 380},
                                                              {"--minimize=tcm", 60}};
  for (const auto& [option, score] : scores) {
    SCOPED_TRACE(option);
    const Outcome outcome =
        Run({"alloc", "two.json", option, "--format", "json", "--output", "placed.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto answer = ParseJson(outcome.out);
    EXPECT_EQ(answer.at("status"), "optimal");
    EXPECT_EQ(answer.at("score"), score);
    EXPECT_EQ(answer.at("score_bound"), score);
    ASSERT_EQ(answer.at("memories").size(), 2U);
    EXPECT_EQ(answer.at("memories")[1].at("memory"), "tcm");
    EXPECT_EQ(answer.at("memories")[1].at("lower_bound"), 60);
    EXPECT_EQ(Run({"check", "placed.json", "--problem", "two.json"}).exit_code, 0);
  }
  EXPECT_THAT(Run({"alloc", "two.json", "--minimize"}).out,
              HasSubstr("memory       tcm: peak 60, lower bound 60\n"
                        "score        220, at least 220\n"));
}

TEST_F(AllocTest, NamesTheMemoriesOfCapacitiesAndGoals) {
  Write("two.json", kTwoMemories);
  EXPECT_EQ(Run({"alloc", "two.json", "--capacity", "sram=160,tcm=60"}).exit_code, 0);
  const Outcome less = Run({"alloc", "two.json", "--capacity", "tcm=32"});
  EXPECT_EQ(less.exit_code, 20);
  EXPECT_THAT(less.out, HasSubstr("'tcm' holds 32 bytes"));
  const Outcome unknown = Run({"alloc", "two.json", "--minimize=tcn"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'tcm'?"));
  for (const std::string weight : {"0", "-1", "nan", "inf", "1e308", "1e-200", ""}) {
    const Outcome refused = Run({"alloc", "two.json", "--minimize=tcm=" + weight});
    EXPECT_EQ(refused.exit_code, 2) << weight;
    EXPECT_THAT(refused.err, HasSubstr("bad weight of memory 'tcm'"));
  }
  EXPECT_EQ(Run({"alloc", "two.json", "--capacity", "=64"}).exit_code, 2);
  EXPECT_EQ(Run({"alloc", "two.json", "--capacity", "tcm=many"}).exit_code, 2);
  for (const std::string twice : {"--minimize=tcm,tcm=2", "--capacity=tcm=64,tcm=60"})
    EXPECT_THAT(Run({"alloc", "two.json", twice}).err, HasSubstr("memory 'tcm' is named twice"));
  EXPECT_EQ(Run({"alloc", "two.json", "--minimize=sum", "--certificate", "proof"}).exit_code, 2);
  // The proof would be about another problem than the file.
  EXPECT_EQ(Run({"alloc", "two.json", "--capacity", "tcm=32", "--certificate", "proof"}).exit_code,
            2);
}

TEST_F(AllocTest, ReadsStandardInput) {
  const Outcome outcome = Run({"alloc", "-", "--format", "json"}, kThreeBuffers);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(ParseJson(outcome.out).at("peak"), 32);
}

TEST_F(AllocTest, NamesStandardInputInFaults) {
  const Outcome outcome = Run({"alloc", "-"}, "id,lower,upper,bytes\n");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, StartsWith("standard input:1:16: error: unknown column 'bytes'\n"));
}

TEST_F(AllocTest, ABlankLineDoesNotEndTheInput) {
  Write("blank.csv", "id,lower,upper,size\na,0,2,16\n\n  \r\nb,1,3,16\n");
  const auto answer = ParseJson(Run({"alloc", "blank.csv", "--format", "json"}).out);
  EXPECT_EQ(answer.at("offsets").size(), 2U);
  EXPECT_EQ(answer.at("peak"), 32);
}

TEST_F(AllocTest, TakesCapacityAndAlignmentOfAProfile) {
  // The profile has a granularity of 16 bytes and 384 KiB of SRAM: 'c' takes 8 bytes from a
  // multiple of 16.
  const Outcome outcome =
      Run({"alloc", "buffers.csv", "--hw", Shipped("hw_profiles/ethos_u65_256.yaml"), "--minimize",
           "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("capacity"), 384 * 1024);
  for (const auto& [id, offset] : answer.at("offsets").items())
    EXPECT_EQ(offset.get<int64_t>() % 16, 0) << id;
}

TEST_F(AllocTest, SizesAreThoseOfTheCandidate) {
  Write("candidates.json", kTwoCandidates);
  const Outcome fits =
      Run({"alloc", "candidates.json", "--candidate", "rows=1", "--format", "json"});
  EXPECT_EQ(fits.exit_code, 0) << fits.err;
  EXPECT_EQ(ParseJson(fits.out).at("peak"), 20);
  EXPECT_EQ(ParseJson(fits.out).at("candidate"), "rows=1");
  EXPECT_EQ(Run({"alloc", "candidates.json", "--candidate", "rows=2"}).exit_code, 20);
}

TEST_F(AllocTest, ALadderNeedsACandidate) {
  Write("candidates.json", kTwoCandidates);
  const Outcome outcome = Run({"alloc", "candidates.json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("expected: --candidate with one of rows=1, rows=2\n"));
}

TEST_F(AllocTest, AnUnknownCandidateSuggestsTheNearest) {
  Write("candidates.json", kTwoCandidates);
  const Outcome outcome = Run({"alloc", "candidates.json", "--candidate", "row=2"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("hint: did you mean 'rows=2'?\n"));
}

TEST_F(AllocTest, CheckAndShowTakeWhatItWrites) {
  const Outcome outcome = Run({"alloc", "buffers.csv", "--capacity", "32", "--output",
                               "answer.json", "--output", "answer.csv", "--output", "map.svg"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(Files(), ElementsAre("answer.csv", "answer.json", "buffers.csv", "map.svg"));
  EXPECT_EQ(Run({"check", "answer.json", "--problem", "buffers.csv"}).out,
            "accepted: 3 buffers, peak 32 of 32 bytes\n");
  EXPECT_EQ(Run({"check", "answer.csv", "--capacity", "32"}).out,
            "accepted: 3 buffers, peak 32 of 32 bytes\n");
  EXPECT_EQ(Run({"show", "answer.json", "--problem", "buffers.csv"}).out, Read("map.svg"));
  EXPECT_EQ(Run({"show", "answer.csv", "--capacity", "32", "--output", "again.svg"}).exit_code, 0);
  EXPECT_EQ(Read("again.svg"), Read("map.svg"));
  EXPECT_THAT(Read("map.svg"), StartsWith("<svg "));
}

TEST_F(AllocTest, FilesHoldNoTimes) {
  Run({"alloc", "buffers.csv", "--output", "answer.json"});
  EXPECT_FALSE(ReadJson("answer.json").contains("time_ms"));
}

TEST_F(AllocTest, AnInfeasibleAnswerIsNoFile) {
  const Outcome outcome =
      Run({"alloc", "buffers.csv", "--capacity", "31", "--output", "answer.json"});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_THAT(
      outcome.out,
      HasSubstr("'a' and 'b' live together at step 1 and need 32 bytes; the memory holds 31"));
  EXPECT_THAT(Files(), ElementsAre("buffers.csv"));
}

// CSV cannot state one of the outputs. The command must then write none of them.
TEST_F(AllocTest, WhatCsvCannotStateIsReportedBeforeAnythingIsWritten) {
  const Outcome outcome = Run({"alloc", Shipped("examples/problems/patent_five_banks.json"),
                               "--output", "answer.json", "--output", "answer.csv"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, "answer.csv: error: CSV cannot state banks\n  hint: write JSON instead\n");
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(Files(), ElementsAre("buffers.csv"));
}

TEST_F(AllocTest, OutputMayStandBeforeTheFile) {
  EXPECT_EQ(Run({"alloc", "--output", "map.svg", "buffers.csv"}).exit_code, 0);
  EXPECT_THAT(Files(), ElementsAre("buffers.csv", "map.svg"));
}

TEST_F(AllocTest, EnginesThatAreAskedByNameAgree) {
  for (const std::string engine : {"canonical", "local-search", "lazy", "cadical", "z3"}) {
    const auto answer =
        ParseJson(Run({"alloc", "buffers.csv", "--engine", engine, "--format", "json"}).out);
    EXPECT_EQ(answer.at("engine"), engine);
    EXPECT_EQ(answer.at("peak"), 32);
    EXPECT_EQ(answer.at("status"), "optimal");
  }
}

TEST_F(AllocTest, VerboseReportsWhatEachEngineFoundAndWhen) {
  const Outcome outcome = Run({"alloc", "buffers.csv", "--engine", "lazy", "--verbose"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err,
              testing::ContainsRegex("^ +[0-9]+[.][0-9]+ ms  lazy: peak [0-9]+, bound 32 \\("
                                     "[0-9]+ nodes, [0-9]+ backtracks, [0-9]+ conflicts\\)\n"));
  EXPECT_THAT(outcome.err, HasSubstr(" ms  lazy: in all "));
}

TEST_F(AllocTest, RulesThatAreSwitchedOffChangeNoAnswer) {
  for (const std::string rule : {"support", "edge-finding", "interchangeable", "restarts"}) {
    const auto answer = ParseJson(Run({"alloc", "buffers.csv", "--switch-off", rule, "--switch-off",
                                       "cache", "--format", "json"})
                                      .out);
    EXPECT_EQ(answer.at("peak"), 32) << rule;
    EXPECT_EQ(answer.at("status"), "optimal") << rule;
  }
}

TEST_F(AllocTest, HelpNamesTheRulesThatCanBeSwitchedOff) {
  const std::string help = Run({"alloc", "--help"}).out;
  for (const char* rule : {"witness", "backjumping", "section-energy", "clause-reduction"}) {
    EXPECT_THAT(help, HasSubstr(rule));
  }
}

TEST_F(AllocTest, AnUnknownRuleIsAUsageError) {
  const Outcome outcome = Run({"alloc", "buffers.csv", "--switch-off", "luck"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--switch-off"));
}

TEST_F(AllocTest, ThreadsChangeNoByte) {
  Run({"alloc", "buffers.csv", "--threads", "1", "--output", "one.json"});
  Run({"alloc", "buffers.csv", "--threads", "8", "--output", "eight.json"});
  EXPECT_EQ(Read("one.json"), Read("eight.json"));
}

// Z3 would end by a signal where its first allocations fail.
TEST_F(AllocTest, Z3DeclinesLittleMemory) {
  const Outcome outcome = Run(
      {"alloc", "buffers.csv", "--engine", "z3", "--capacity", "1024", "--memory-limit", "190Mi"});
  EXPECT_EQ(outcome.exit_code, 10) << outcome.out;
  // A sanitizer takes more by itself.
  EXPECT_THAT(outcome.out, HasSubstr(kSanitized ? "the memory limit was reached before the search"
                                                : "z3 needs 192 MiB at least"));
}

}  // namespace
}  // namespace tessera::cli
