// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"
#include "sample_inputs.h"

// `tessera encode` writes a formula, `tessera decode` reads a model.
namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Offsets of a, b and c in units of 8: a at 0, b at 2, c at 0.
const std::string kModel =
    "sat\n"
    "((|offset of a / 8| 0) (|offset of b / 8| 2) (|offset of c / 8| 0)\n"
    " (|a below b| true) (|b below c| false))\n";

class FormulaTest : public CommandLineTest {
 protected:
  FormulaTest() {
    Write("buffers.csv", kThreeBuffers);
    Write("model.txt", kModel);
    Write("candidates.json", kTwoCandidates);
  }
};

TEST_F(FormulaTest, TheSuffixChoosesTheFormat) {
  ASSERT_EQ(Run({"encode", "buffers.csv", "--capacity", "32", "--output", "f.cnf"}).exit_code, 0);
  ASSERT_EQ(Run({"encode", "buffers.csv", "--capacity", "32", "--output", "f.smt2"}).exit_code, 0);
  ASSERT_EQ(Run({"encode", "buffers.csv", "--capacity", "32", "--output", "f.txt"}).exit_code, 0);
  EXPECT_THAT(Read("f.cnf"), HasSubstr("\np cnf "));
  EXPECT_THAT(Read("f.smt2"), HasSubstr("(set-logic QF_LIA)"));
  EXPECT_THAT(Read("f.txt"), HasSubstr("  if a below b: offset of a + 16 <= offset of b\n"));
}

TEST_F(FormulaTest, StdoutHasTheFormulaOrItsSize) {
  const Outcome formula =
      Run({"encode", "-", "--capacity", "32", "--format", "dimacs"}, kThreeBuffers);
  EXPECT_EQ(formula.exit_code, 0);
  EXPECT_THAT(formula.out, StartsWith("c tessera-formula {"));
  const Outcome size = Run({"encode", "buffers.csv", "--capacity", "32", "--output", "f.cnf"});
  EXPECT_THAT(size.out, StartsWith("topic        variables     clauses\noffsets "));
  EXPECT_EQ(Read("f.cnf"), formula.out);
}

TEST_F(FormulaTest, AFileWithoutACapacityNeedsOne) {
  const Outcome outcome = Run({"encode", "buffers.csv"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("add --capacity BYTES"));
}

TEST_F(FormulaTest, AnUnknownCandidateIsRefused) {
  const Outcome outcome = Run({"encode", "candidates.json", "--candidate", "rows=3"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("there is no candidate 'rows=3'"));
}

TEST_F(FormulaTest, ACandidateHasItsSizesAndALadderItsVariables) {
  EXPECT_THAT(Run({"encode", "candidates.json", "--candidate", "rows=2", "--capacity", "24"}).out,
              HasSubstr("if a below b: offset of a + 9 <= offset of b"));
  EXPECT_THAT(Run({"encode", "candidates.json"}).out,
              HasSubstr("candidate is rows=1 or candidate is rows=2"));
}

class NetworkFormulaTest : public FormulaTest {
 protected:
  Outcome EncodeTile(const Arguments& more) const {
    Arguments arguments = {"encode", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                           Shipped("hw_profiles/three_bank_two_mode.yaml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(NetworkFormulaTest, ATileOfANetworkIsTheProblemThatItWrites) {
  const Outcome outcome =
      EncodeTile({"--tile", "rows=2", "--problem", "tile.json", "--output", "f.cnf"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_EQ(Run({"encode", "tile.json", "--output", "g.cnf"}).exit_code, 0);
  EXPECT_EQ(Read("f.cnf"), Read("g.cnf"));
  const auto tile = ParseJson(Run({"tile", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                                   Shipped("hw_profiles/three_bank_two_mode.yaml"), "--why-not",
                                   "rows=2", "--format", "json"})
                                  .out);
  const auto answer =
      ParseJson(Run({"alloc", "tile.json", "--capacity", "384Ki", "--format", "json"}).out);
  EXPECT_EQ(answer.at("lower_bound"), tile.at("policies").at(0).at("lower_bound"));
}

TEST_F(NetworkFormulaTest, WhatIsNoTileOrPolicyIsRefused) {
  EXPECT_THAT(EncodeTile({"--tile", "depth=7"}).err, HasSubstr("depth"));
  EXPECT_EQ(EncodeTile({"--tile", "depth=7"}).exit_code, 3);
  const Outcome policy = EncodeTile({"--policy", "residnt"});
  EXPECT_EQ(policy.exit_code, 3);
  EXPECT_THAT(policy.err, HasSubstr("did you mean 'resident'?"));
}

TEST_F(NetworkFormulaTest, ATileNeedsAProfile) {
  EXPECT_EQ(Run({"encode", "buffers.csv", "--capacity", "32", "--tile", "rows=7"}).exit_code, 2);
}

TEST_F(FormulaTest, AModelBecomesAVerifiedAllocation) {
  const Outcome outcome =
      Run({"decode", "buffers.csv", "model.txt", "--capacity", "32", "--format", "json", "--output",
           "a.json", "--output", "a.csv", "--output", "a.svg"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("status"), "optimal");
  EXPECT_EQ(answer.at("peak"), 32);
  EXPECT_EQ(answer.at("offsets").at("b"), 16);
  EXPECT_EQ(ReadJson("a.json").at("offsets"), answer.at("offsets"));
  EXPECT_EQ(Run({"check", "a.csv", "--capacity", "32"}).exit_code, 0);
  EXPECT_THAT(Read("a.svg"), HasSubstr("<svg"));
}

TEST_F(FormulaTest, TheFormulaGivesTheOptions) {
  ASSERT_EQ(Run({"encode", "buffers.csv", "--capacity", "32", "--output", "f.smt2"}).exit_code, 0);
  const Outcome outcome = Run({"decode", "buffers.csv", "-", "--formula", "f.smt2"}, kModel);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("peak         32\n"));
}

TEST_F(FormulaTest, TheFormulaOfAnotherProblemIsRefused) {
  ASSERT_EQ(Run({"encode", "candidates.json", "--output", "f.smt2"}).exit_code, 0);
  const Outcome outcome = Run({"decode", "buffers.csv", "model.txt", "--formula", "f.smt2"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("the formula of another problem"));
}

TEST_F(FormulaTest, OptionsTogetherWithAFormulaAreRefused) {
  const Outcome outcome =
      Run({"decode", "buffers.csv", "model.txt", "--formula", "f.smt2", "--capacity", "32"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("excludes"));
}

TEST_F(FormulaTest, AModelThatBreaksAConditionIsRefused) {
  Write("model.txt", Replace(kModel, "|offset of b / 8| 2", "|offset of b / 8| 1"));
  const Outcome text =
      Run({"decode", "buffers.csv", "model.txt", "--capacity", "32", "--output", "a.csv"});
  EXPECT_EQ(text.exit_code, 5);
  EXPECT_EQ(
      text.out,
      "refused: 1 violation\n"
      "  formula: the model breaks liveness: if a below b: offset of a + 16 <= offset of b\n");
  const Outcome json =
      Run({"decode", "buffers.csv", "model.txt", "--capacity", "32", "--format", "json"});
  EXPECT_EQ(ParseJson(json.out).at("status"), "refused");
  EXPECT_THAT(Files(), ElementsAre("buffers.csv", "candidates.json", "model.txt"));
}

TEST_F(FormulaTest, ATruncatedModelIsBadInput) {
  Write("model.txt", kModel.substr(0, 60));
  const Outcome outcome = Run({"decode", "buffers.csv", "model.txt", "--capacity", "32"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("model.txt:2:"));
  EXPECT_THAT(outcome.out, IsEmpty());
}

// The claim comes without a proof, so the answer is not infeasible but unknown.
TEST_F(FormulaTest, AClaimThatNothingFitsDecidesNothing) {
  for (const char* claim : {"s UNSATISFIABLE\n", "unsat\n"}) {
    const Outcome outcome =
        Run({"decode", "buffers.csv", "-", "--capacity", "24", "--format", "json"}, claim);
    EXPECT_EQ(outcome.exit_code, 10);
    const auto answer = ParseJson(outcome.out);
    EXPECT_EQ(answer.at("status"), "unknown");
    EXPECT_THAT(answer.at("reason"), StartsWith("the solver claims that nothing fits"));
  }
}

TEST_F(FormulaTest, ASolverThatGaveUpLeavesTheQuestionOpen) {
  const Outcome outcome = Run({"decode", "buffers.csv", "-", "--capacity", "24"}, "s UNKNOWN\n");
  EXPECT_EQ(outcome.exit_code, 10);
  EXPECT_THAT(outcome.out, HasSubstr("reason       the solver gave up\n"));
}

TEST_F(FormulaTest, FormulasAreTheSameBytesEachTime) {
  for (const char* format : {"dimacs", "smtlib", "text"}) {
    const Arguments arguments = {"encode", "candidates.json", "--format", format};
    EXPECT_EQ(Run(arguments).out, Run(arguments).out);
  }
}

}  // namespace
}  // namespace tessera::cli
