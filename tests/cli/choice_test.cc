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

// Of a and b one fits; each has a fallback of 2 bytes in a CSV.
TEST_F(ChoiceTest, PlacesFallbacksOfWhatIsLeftOut) {
  Write("fall.csv", "id,lower,upper,size,value,fallback\na,0,4,6,5,2\nb,0,4,6,7,2\nc,0,4,6,1,\n");
  const Outcome text = Run(
      {"alloc", "fall.csv", "--capacity", "8", "--maximize", "value", "--output", "placed.csv"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("placed       1 of 3 buffers"));
  EXPECT_THAT(text.out, HasSubstr("value        7\nbound        7\n"));
  EXPECT_THAT(text.out, HasSubstr("fallbacks    a\nleft out     c\n"));
  EXPECT_THAT(Read("placed.csv"), HasSubstr("\na,0,4,2,"));
  EXPECT_EQ(Run({"check", "placed.csv", "--capacity", "8"}).exit_code, 0);
  // Without the question for values all are placed.
  EXPECT_EQ(ParseJson(Run({"alloc", "fall.csv", "--format", "json"}).out).at("peak"), 18);
}

TEST_F(ChoiceTest, FallbacksMayLieInAnotherMemory) {
  Write("two.json", R"({"format": "tessera-problem", "version": 1,
    "memories": [{"name": "sram", "capacity": 8}, {"name": "dram", "capacity": 100}],
    "buffers": [
      {"id": "a", "size": 6, "lifespans": [[0, 4]], "value": 5,
       "fallback": {"memory": "dram", "size": 9, "value": 1}},
      {"id": "b", "size": 6, "lifespans": [[0, 4]], "value": 7, "fallback": {"memory": "dram"}},
      {"id": "c", "size": 90, "lifespans": [[0, 4]], "memory": "dram"}]})");
  const auto json =
      ParseJson(Run({"alloc", "two.json", "--maximize", "value", "--format", "json"}).out);
  EXPECT_EQ(json.at("status"), "optimal");
  EXPECT_EQ(json.at("value"), 8);
  EXPECT_EQ(json.at("fallbacks").size(), 1U);
  EXPECT_EQ(json.at("fallbacks").at("a").at("memory"), "dram");
  EXPECT_EQ(json.at("fallbacks").at("a").at("size"), 9);
  EXPECT_THAT(json.at("left_out"), IsEmpty());
}

// Memory m1 has no room for the fallback of c, so c must be placed and d left out, which is worth
// more.
TEST_F(ChoiceTest, WhatHasNoRoomElsewhereIsPlaced) {
  Write("full.json",
        R"({"format": "tessera-problem", "version": 1,
            "memories": [{"name": "m0", "capacity": 4}, {"name": "m1", "capacity": 6}],
            "buffers": [
              {"id": "a", "size": 4, "lifespans": [[0, 1]], "memory": "m1"},
              {"id": "b", "size": 3, "lifespans": [[2, 3]], "memory": "m0", "value": 4},
              {"id": "c", "size": 4, "lifespans": [[0, 1], [2, 3]], "memory": "m0", "value": 5,
               "fallback": {"memory": "m1", "value": 4}},
              {"id": "d", "size": 3, "lifespans": [[0, 1]], "memory": "m0", "value": 9}]})");
  const Outcome outcome = Run({"alloc", "full.json", "--maximize", "value", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(ParseJson(outcome.out).at("value"), 5);
}

TEST_F(ChoiceTest, FallbacksAreConvertedWithoutLoss) {
  Write("fall.csv", "id,lower,upper,size,value,fallback\na,0,4,6,5,2\nb,0,4,6,7,\n");
  EXPECT_EQ(Run({"convert", "fall.csv", "--to", "json", "--output", "fall.json"}).exit_code, 0);
  EXPECT_EQ(ReadJson("fall.json").at("buffers").at(0).at("fallback").at("size"), 2);
  EXPECT_EQ(Run({"convert", "fall.json", "--to", "csv"}).out, Read("fall.csv"));
  EXPECT_EQ(Run({"convert", "fall.json", "--to", "json"}).out, Read("fall.json"));
  Write("worth.json", Replace(Read("fall.json"), "\"size\": 2", "\"size\": 2, \"value\": 1"));
  EXPECT_THAT(Run({"convert", "worth.json", "--to", "csv"}).err, HasSubstr("value of a fallback"));
}

TEST_F(ChoiceTest, RefusesFallbacksThatMakeNoSense) {
  const std::string header = "id,lower,upper,size,value,fallback\n";
  for (const auto& [row, message] : std::vector<std::pair<std::string, std::string>>{
           {"a,0,4,6,5,6\n", "no smaller than the buffer"},
           {"a,0,4,6,,2\n", "without a value"},
           {"a,0,4,6,5,0\n", "too small"}}) {
    Write("wrong.csv", header + row);
    const Outcome outcome = Run({"alloc", "wrong.csv", "--capacity", "8", "--maximize", "value"});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("wrong.csv:2:"));
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
  const std::string json = R"({"format": "tessera-problem", "version": 1,
    "memories": [{"name": "m", "capacity": 8}],
    "buffers": [{"id": "a", "size": 6, "lifespans": [[0, 4]], "value": 5, "fallback": {}}]})";
  Write("wrong.json", json);
  EXPECT_THAT(Run({"alloc", "wrong.json", "--maximize", "value"}).err, HasSubstr("no smaller"));
  Write("wrong.json", Replace(json, "{}}", R"({"memory": "dram"}})"));
  EXPECT_EQ(Run({"alloc", "wrong.json", "--maximize", "value"}).exit_code, 3);
  Write("wrong.json", Replace(json, "{}}", R"({"size": 2, "value": 6}})"));
  EXPECT_THAT(Run({"alloc", "wrong.json", "--maximize", "value"}).err,
              HasSubstr("worth more than the buffer"));
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
