// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// `tessera generate` and `tessera stats`.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class GenerateCommandTest : public CommandLineTest {};

TEST_F(GenerateCommandTest, WritesTheSameBytesToAFileAndToStdout) {
  const Outcome outcome = Run({"generate", "flat", "--buffers", "20", "--seed", "7"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("id,lower,upper,size\nb0,"));
  Run({"generate", "flat", "--buffers", "20", "--seed", "7", "--output", "flat.csv"});
  EXPECT_EQ(Read("flat.csv"), outcome.out);
  EXPECT_NE(Run({"generate", "flat", "--buffers", "20", "--seed", "8"}).out, outcome.out);
}

TEST_F(GenerateCommandTest, WritesJsonWhereCsvCannotStateTheList) {
  const Arguments call = {"generate", "random", "--buffers", "30", "--penalties", "5"};
  EXPECT_EQ(ParseJson(Run(call).out).at("costs").size(), 5U);
  Arguments as_csv = call;
  as_csv.insert(as_csv.end(), {"--format", "csv"});
  const Outcome outcome = Run(as_csv);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("CSV cannot state costs"));
}

TEST_F(GenerateCommandTest, FixedOffsetsOfAPackingAreSolvedAtItsCapacity) {
  Run({"generate", "perfect", "--buffers", "30", "--fixed", "30%", "--output", "fixed.json"});
  const auto answer = ParseJson(Run({"alloc", "fixed.json", "--format", "json"}).out);
  EXPECT_EQ(answer.at("capacity"), 1024);
  EXPECT_EQ(answer.at("peak"), 1024);
}

TEST_F(GenerateCommandTest, VariesAPlacedList) {
  Run({"generate", "compiler-like", "--buffers", "20", "--output", "list.json"});
  Run({"generate", "flat", "--buffers", "15", "--output", "list.csv"});
  Run({"alloc", "list.csv", "--output", "placed.csv"});
  const Outcome outcome = Run({"generate", "given", "--from", "placed.csv", "--fixed", "100%"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Read("placed.csv"));
  EXPECT_EQ(Run({"generate", "given", "--from", "list.csv", "--fixed", "10%"}).exit_code, 3);
}

TEST_F(GenerateCommandTest, DropsNoFallbacks) {
  Write("list.csv", "id,lower,upper,size,value,fallback\na,0,2,8,5,4\nb,0,2,8,,\n");
  const Outcome outcome = Run({"generate", "given", "--from", "list.csv", "--values"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("keeps no fallbacks"));
}

TEST_F(GenerateCommandTest, RefusesOptionsThatDoNothing) {
  for (const Arguments& call :
       std::vector<Arguments>{{"generate", "flat", "--alive", "3"},
                              {"generate", "given"},
                              {"generate", "flat", "--lifetimes", "inclusive"},
                              {"generate", "flat", "--from", "x.csv"},
                              {"generate", "given", "--from", "x.csv", "--buffers", "4"},
                              {"generate", "flat", "--output", "x.txt"},
                              {"generate", "nothing"},
                              {"generate", "perfect", "--steps", "2", "--capacity", "3"}}) {
    const Outcome outcome = Run(call);
    EXPECT_EQ(outcome.exit_code, 2) << call[1];
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_FALSE(outcome.err.empty());
  }
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(GenerateCommandTest, MessagesAreLines) {
  const Outcome outcome =
      Run({"generate", "perfect", "--buffers", "100", "--steps", "3", "--capacity", "7"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("do not fit"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\\n")));
  EXPECT_EQ(Run({"generate", "flat", "--fixed", "100.1%"}).exit_code, 2);
  EXPECT_THAT(Run({"generate", "--help"}).out, HasSubstr("--penalties and --values"));
}

TEST_F(GenerateCommandTest, SaysWhereThereAreFewerPairs) {
  const Outcome few = Run({"generate", "random", "--buffers", "5", "--penalties", "100",
                           "--separated", "90", "--format", "json"});
  EXPECT_EQ(few.exit_code, 0);
  const size_t penalties = ParseJson(few.out).at("costs").size();
  EXPECT_THAT(few.err, HasSubstr("--penalties 100: only " + std::to_string(penalties) + " pairs"));
  EXPECT_THAT(few.err, HasSubstr("--separated 90: only "));
  Write("few.json", few.out);
  const Arguments more = {"generate", "given", "--from", "few.json", "--penalties", "1"};
  EXPECT_EQ(Run(more).err, "");
  EXPECT_EQ(Run({"generate", "random", "--buffers", "80", "--penalties", "100"}).err, "");
}

TEST_F(GenerateCommandTest, StatsSayHowLargeAndTight) {
  Write("list.csv", "id,lower,upper,size\na,0,2,4\nb,2,4,4\nc,1,3,4\n");
  const Outcome text = Run({"stats", "list.csv"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("load             8 bytes, first at step 1"));
  EXPECT_THAT(text.out, HasSubstr("one size: interval colouring meets the load"));
  const auto figures = ParseJson(Run({"stats", "list.csv", "--format", "json"}).out)["memories"][0];
  EXPECT_EQ(figures.at("buffers"), 3);
  EXPECT_EQ(figures.at("load"), 8);
  EXPECT_EQ(figures.at("pairs"), 2);
  EXPECT_EQ(figures.at("density"), 0.6667);
  EXPECT_EQ(figures.at("sections"), 2);
  EXPECT_EQ(figures.at("elementary"), "one size");
  EXPECT_EQ(figures.at("predicted"), "at once");
}

TEST_F(GenerateCommandTest, StatsReadWhatAllocReads) {
  Write("list.csv", "id,start,end,size\na,0,1,4\nb,2,3,4\nc,1,2,4\n");
  EXPECT_EQ(Run({"stats", "list.csv"}).exit_code, 3);
  EXPECT_THAT(Run({"stats", "list.csv", "--lifetimes", "inclusive"}).out, HasSubstr("load"));
  EXPECT_EQ(Run({"stats", "none.csv"}).exit_code, 3);
}

}  // namespace
}  // namespace tessera::cli
