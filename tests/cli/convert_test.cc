// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// `tessera convert`, and the options of `tessera alloc` about lives and gaps.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ConvertTest : public CommandLineTest {
 protected:
  ConvertTest() {
    Write("half_open.csv", "id,lower,upper,size\na,0,2,4\nb,2,4,4\nc,1,3,4\n");
    Write("inclusive.csv", "id,start,end,size\na,0,1,4\nb,2,3,4\nc,1,2,4\n");
  }
};

TEST_F(ConvertTest, ConvertsLivesOfCsv) {
  const Outcome outcome =
      Run({"convert", "inclusive.csv", "--from-lifetimes", "inclusive", "--to", "csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Read("half_open.csv"));
  EXPECT_THAT(outcome.err, HasSubstr("3 buffers, load 8, 2 pairs"));
  EXPECT_EQ(Run({"convert", "half_open.csv", "--to", "csv", "--to-lifetimes", "inclusive"}).out,
            Read("inclusive.csv"));
}

TEST_F(ConvertTest, EveryFormatLeadsBack) {
  for (const char* format : {"csv", "json", "trace", "dsa-solver", "executorch"}) {
    EXPECT_EQ(Run({"convert", "half_open.csv", "--to", format, "--output", "list"}).exit_code, 0);
    const Outcome outcome =
        Run({"convert", "list", "--from", format, "--to", "json", "--output", "again.json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto answer = ParseJson(Run({"alloc", "again.json", "--format", "json"}).out);
    EXPECT_EQ(answer.at("peak"), 8) << format;
  }
}

TEST_F(ConvertTest, AnAnswerBecomesAnOfflinePlan) {
  Run({"alloc", "half_open.csv", "--output", "placed.csv"});
  const auto plan = ParseJson(Run({"convert", "placed.csv", "--to", "tflite-micro"}).out);
  ASSERT_EQ(plan.size(), 6U);
  EXPECT_EQ(plan[2], 3);
  EXPECT_EQ(plan[3], plan[4]);
}

TEST_F(ConvertTest, RefusesWhatTheTargetCannotState) {
  Write("gaps.csv", "id,lower,upper,size,gaps\na,0,9,4,3-5\n");
  const Outcome outcome = Run({"convert", "gaps.csv", "--to", "trace"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("the format trace cannot state the gaps of 'a'"));
}

TEST_F(ConvertTest, SaysWhatTheReaderDrops) {
  Write("kernel.json",
        R"({"schema_version": 1, "problem": {
            "pools": [{"id": 0, "name": "left"}, {"id": 1, "name": "right"}],
            "buffers": [
              {"id": 0, "size": 4, "live_intervals": [{"lower": 0, "upper": 2}],
               "allowed_pools": [0]},
              {"id": 3, "size": 4, "live_intervals": [{"lower": 0, "upper": 2}],
               "allowed_pools": [1]}],
            "constraints": {"separations": [{"first": 0, "second": 3}]}}})");
  const Outcome outcome = Run({"convert", "kernel.json", "--from", "dsa-solver", "--to", "json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("in different pools: 1 separations\n"));
  EXPECT_THAT(outcome.err, HasSubstr("2 buffers, load 4, 0 pairs"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("separate")));
}

TEST_F(ConvertTest, APairThatMeetsTwiceIsOnePair) {
  Write("gaps.csv", "id,lower,upper,size,gaps\na,0,9,64,3-5\nb,2,6,32,\n");
  for (const char* format : {"json", "tvm"}) {
    const Outcome outcome = Run({"convert", "gaps.csv", "--to", format});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("2 buffers, load 96, 1 pairs"));
  }
}

TEST_F(ConvertTest, GapsWithWindowsLeadBack) {
  const std::string text =
      "id,lower,upper,size,alignment,gaps\na,0,9,10,4,2-4@0:4 5-6 7-8@4:10\nb,2,4,6,1,\n";
  Write("windows.csv", text);
  EXPECT_EQ(Run({"convert", "windows.csv", "--to", "csv"}).out, text);
  const Outcome outcome = Run({"alloc", "windows.csv", "--output", "placed.csv"});
  EXPECT_THAT(outcome.out, HasSubstr("peak         10\n")) << outcome.err;
  EXPECT_THAT(Read("placed.csv"), HasSubstr("a,0,9,10,4,0,2-4@0:4 5-6 7-8@4:10\nb,2,4,6,1,4,\n"));
  EXPECT_EQ(Run({"check", "placed.csv", "--capacity", "10"}).exit_code, 0);
  Write("wrong.csv", Replace(Read("placed.csv"), "b,2,4,6,1,4", "b,2,4,6,1,3"));
  EXPECT_EQ(Run({"check", "wrong.csv", "--capacity", "10"}).exit_code, 5);
  EXPECT_EQ(Run({"alloc", "windows.csv", "--engine", "order-search"}).exit_code, 4);
  EXPECT_EQ(Run({"convert", "windows.csv", "--to", "executorch"}).exit_code, 3);
}

TEST_F(ConvertTest, AnOfflinePlanOfOpenOffsetsDropsNoRelation) {
  Write("tied.json",
        R"({"format": "tessera-problem", "version": 1,
            "memories": [{"name": "m", "capacity": 64}],
            "buffers": [{"id": "a", "size": 4, "lifespans": [[0, 2]]},
                        {"id": "b", "size": 4, "lifespans": [[3, 5]]}],
            "relations": [{"kind": "separate", "first": "a", "second": "b"}]})");
  const Outcome outcome = Run({"convert", "tied.json", "--to", "tflite-micro"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("cannot state relations"));
}

TEST_F(ConvertTest, AllocReadsAndWritesInclusiveLives) {
  const Outcome outcome =
      Run({"alloc", "inclusive.csv", "--lifetimes", "inclusive", "--output", "placed.csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("peak         8\n"));
  EXPECT_THAT(Read("placed.csv"), HasSubstr("id,start,end,size,offset\na,0,1,4,"));
  EXPECT_EQ(Run({"alloc", "inclusive.csv"}).exit_code, 3);
}

TEST_F(ConvertTest, AnswersOfInclusiveListsAreCheckedAndDrawn) {
  const std::vector<std::string> inclusive = {"--lifetimes", "inclusive"};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), inclusive.begin(), inclusive.end());
    return Run(words);
  };
  ASSERT_EQ(run({"alloc", "inclusive.csv", "--output", "placed.json", "--output", "placed.csv"})
                .exit_code,
            0);
  EXPECT_EQ(run({"check", "placed.csv", "--capacity", "8"}).exit_code, 0);
  EXPECT_EQ(run({"check", "placed.json", "--problem", "inclusive.csv"}).exit_code, 0);
  EXPECT_EQ(run({"show", "placed.csv", "--capacity", "8"}).exit_code, 0);
  EXPECT_EQ(run({"encode", "inclusive.csv"}).out, Run({"encode", "half_open.csv"}).out);
  auto wrong = ReadJson("placed.json");
  for (auto& offset : wrong["offsets"]) offset = 0;
  Write("wrong.json", wrong.dump());
  EXPECT_EQ(run({"check", "wrong.json", "--problem", "inclusive.csv"}).exit_code, 5);
}

TEST_F(ConvertTest, AGapEndsTheSearch) {
  const Outcome outcome = Run({"alloc", "half_open.csv", "--gap", "5%"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* wrong : {"5", "-1%", "x%", "1001%"})
    EXPECT_EQ(Run({"alloc", "half_open.csv", "--gap", wrong}).exit_code, 2) << wrong;
}

}  // namespace
}  // namespace tessera::cli
