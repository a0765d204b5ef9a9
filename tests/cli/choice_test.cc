// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// `tessera alloc --maximize value`.
namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ChoiceTest : public CommandLineTest {
 protected:
  // Two of a, b and c fit at step 1, and d must be placed.
  ChoiceTest() {
    Write("list.csv", "id,lower,upper,size,value\na,0,2,4,5\nb,1,3,4,6\nc,1,2,4,7\nd,4,5,8,\n");
  }
};

TEST_F(ChoiceTest, PlacesTheMostValuableAndNamesTheRest) {
  const Outcome text = Run({"alloc", "list.csv", "--capacity", "8", "--maximize", "value"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("status       optimal"));
  EXPECT_THAT(text.out, HasSubstr("placed       3 of 4 buffers"));
  EXPECT_THAT(text.out, HasSubstr("value        13\nbound        13\n"));
  EXPECT_THAT(text.out, HasSubstr("left out     a\n"));
  const auto json = ParseJson(
      Run({"alloc", "list.csv", "--capacity", "8", "--maximize", "value", "--format", "json"}).out);
  EXPECT_EQ(json.at("format"), "tessera-choice");
  EXPECT_EQ(json.at("value"), 13);
  EXPECT_EQ(json.at("gap"), 0);
  EXPECT_EQ(json.at("offsets").size(), 3U);
  EXPECT_THAT(json.at("left_out"), ElementsAre("a"));
}

TEST_F(ChoiceTest, TheChosenBuffersAreAListThatCheckAccepts) {
  const Outcome outcome = Run({"alloc", "list.csv", "--capacity", "8", "--maximize", "value",
                               "--output", "placed.csv", "--output", "all.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(Read("placed.csv"), HasSubstr("id,lower,upper,size,offset,value\nb,1,3,4,"));
  EXPECT_THAT(Read("placed.csv"), Not(HasSubstr("\na,")));
  EXPECT_EQ(Run({"check", "placed.csv", "--capacity", "8"}).exit_code, 0);
  EXPECT_EQ(ReadJson("all.json").at("value"), 13);
}

TEST_F(ChoiceTest, ValuesAreKeptInJsonAndIgnoredByOtherQuestions) {
  EXPECT_EQ(Run({"convert", "list.csv", "--to", "json", "--output", "list.json"}).exit_code, 0);
  EXPECT_EQ(ReadJson("list.json").at("buffers").at(1).at("value"), 6);
  EXPECT_EQ(Run({"convert", "list.json", "--to", "csv"}).out, Read("list.csv"));
  EXPECT_EQ(ParseJson(Run({"alloc", "list.csv", "--format", "json"}).out).at("peak"), 12);
}

TEST_F(ChoiceTest, WhatMustBePlacedMayNotFit) {
  const Outcome outcome = Run({"alloc", "list.csv", "--capacity", "7", "--maximize", "value"});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_THAT(outcome.out, HasSubstr("status       infeasible"));
  EXPECT_THAT(outcome.out, HasSubstr("of the buffers without a value"));
}

TEST_F(ChoiceTest, RefusesQuestionsThatItDoesNotAnswer) {
  for (const Arguments& more :
       std::vector<Arguments>{{},
                              {"--capacity", "8", "--minimize"},
                              {"--capacity", "8", "--gap", "1%"},
                              {"--capacity", "8", "--certificate", "proof"}}) {
    Arguments call = {"alloc", "list.csv", "--maximize", "value"};
    call.insert(call.end(), more.begin(), more.end());
    const Outcome outcome = Run(call);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_FALSE(outcome.err.empty());
  }
  EXPECT_EQ(Run({"alloc", "list.csv", "--capacity", "8", "--maximize", "peak"}).exit_code, 2);
  Write("wrong.csv", "id,lower,upper,size,value\na,0,2,4,-5\n");
  EXPECT_EQ(Run({"alloc", "wrong.csv", "--capacity", "8", "--maximize", "value"}).exit_code, 3);
}

TEST_F(ChoiceTest, GeneratedListsHaveValues) {
  Run({"generate", "random", "--buffers", "40", "--alive", "8", "--values", "--output",
       "some.csv"});
  const auto json = ParseJson(
      Run({"alloc", "some.csv", "--capacity", "16Mi", "--maximize", "value", "--format", "json"})
          .out);
  EXPECT_EQ(json.at("status"), "optimal");
  EXPECT_GT(json.at("value"), 0);
}

}  // namespace
}  // namespace tessera::cli
