// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "command_line.h"

// `tessera explore` end to end.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string FileText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class ExploreTest : public CommandLineTest {
 protected:
  ExploreTest() { Write("space.yaml", Specification()); }

  static std::string Specification() {
    return "schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") +
           "]\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
           "\nvary:\n"
           "  memories.sram.capacity_bytes: {name: sram, values: [1Ki, 4Ki, 8Ki]}\n"
           "  memories.dram.port.bytes_per_cycle: [1, 4]\n"
           "minimize: [latency, energy, sram]\n";
  }
};

TEST_F(ExploreTest, ADryRunSaysWhatVaries) {
  const Outcome outcome = Run({"explore", "space.yaml", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              StartsWith("6 points of 6 combinations, 1 networks, 6 pairs, 2 plans each\n"));
  EXPECT_THAT(outcome.out, HasSubstr("sram: 1024, 4096, 8192"));
}

TEST_F(ExploreTest, TheSameBytesWithAnyThreadsAndFromTheStore) {
  const Outcome first = Run({"explore", "space.yaml", "--store", "a.db", "--threads", "1"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("front of patent_chain"));
  EXPECT_EQ(Run({"explore", "space.yaml", "--store", "b.db", "--threads", "3"}).out, first.out);
  EXPECT_EQ(Run({"explore", "space.yaml", "--store", "a.db"}).out, first.out);
  const std::string canonical = Run({"explore", "export", "a.db", "--canonical"}).out;
  EXPECT_EQ(Run({"explore", "export", "b.db", "--canonical"}).out, canonical);
  EXPECT_EQ(ParseJson(canonical).at("format"), "tessera-exploration");
  EXPECT_EQ(ParseJson(Run({"explore", "export", "a.db", "--json"}).out), ParseJson(canonical));
}

TEST_F(ExploreTest, AKilledRunGoesOnAndExportsTheSame) {
  Run({"explore", "space.yaml", "--store", "whole.db"});
  {
    Process process({"explore", "space.yaml", "--store", "killed.db", "--threads", "1"}, Folder(),
                    Streams(), "");
    process.Signal(9);
  }
  const Outcome outcome = Run({"explore", "space.yaml", "--store", "killed.db"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Run({"explore", "export", "killed.db"}).out,
            Run({"explore", "export", "whole.db"}).out);
}

TEST_F(ExploreTest, AnAnswerOfTheStoreIsMadeAgain) {
  Run({"explore", "space.yaml", "--store", "a.db"});
  const auto document = ParseJson(Run({"explore", "export", "a.db"}).out);
  const auto& entry = document.at("fronts").at("patent_chain").at(0);
  std::string id;
  double latency = 0;
  for (const auto& pair : document.at("pairs")) {
    if (pair.at("point") != entry.at("point")) continue;
    for (const auto& answer : pair.at("answers")) {
      if (answer.at("minimized") != entry.at("minimized")) continue;
      id = answer.at("id");
      latency = answer.at("metrics").at("latency");
    }
  }
  const Outcome outcome = Run({"explore", "show", "a.db", id, "--output", "plan.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(ReadJson("plan.json").at("totals").at("latency_cycles"), latency);
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  EXPECT_THAT(Run({"explore", "show", "a.db", id}).out, StartsWith("patent_chain on"));
  EXPECT_EQ(Run({"explore", "show", "a.db", "nothing"}).exit_code, 3);
}

TEST_F(ExploreTest, ASampleIsPlannedAgain) {
  Run({"explore", "space.yaml", "--store", "a.db"});
  const Outcome outcome = Run({"explore", "check", "a.db", "--sample", "6"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("accepted: "));
}

TEST_F(ExploreTest, SkipsPairsAndFindsTheFrontOfAllOfThem) {
  const auto some = ParseJson(Run({"explore", "space.yaml", "--format", "json"}).out);
  const auto all =
      ParseJson(Run({"explore", "space.yaml", "--exhaustive", "--format", "json"}).out);
  EXPECT_EQ(some.at("fronts"), all.at("fronts"));
  int skipped = 0;
  for (const auto& pair : some.at("pairs")) {
    if (pair.at("settled") == "planned") continue;
    ++skipped;
    EXPECT_FALSE(pair.at("reason").get<std::string>().empty());
  }
  EXPECT_GT(skipped, 0);
}

TEST_F(ExploreTest, WritesTables) {
  EXPECT_EQ(Run({"explore", "space.yaml", "--output", "a.csv", "--output", "a.json"}).exit_code, 0);
  EXPECT_THAT(Read("a.csv"), StartsWith("network,point,sram,memories.dram.port.bytes_per_cycle,"
                                        "settled,outcome,minimized,id,"));
  EXPECT_EQ(ReadJson("a.json").at("pairs").size(), 6U);
  EXPECT_EQ(Run({"explore", "space.yaml", "--output", "a.txt"}).exit_code, 2);
}

TEST_F(ExploreTest, SaysWhatIsWrong) {
  Write("wrong.yaml", Replace(Specification(), "minimize", "minimise"));
  const Outcome wrong = Run({"explore", "wrong.yaml"});
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.yaml:7:1: error: unknown key 'minimise'"));
  EXPECT_THAT(wrong.out, IsEmpty());
  Write("area.yaml", Replace(Specification(), "latency,", "latency, area,"));
  const Outcome area = Run({"explore", "area.yaml"});
  EXPECT_EQ(area.exit_code, 3);
  EXPECT_THAT(area.err, HasSubstr("no area is known of memories.sram"));
  EXPECT_EQ(Run({"explore"}).exit_code, 2);
  EXPECT_EQ(Run({"explore", "export", "none.db"}).exit_code, 3);
  const Outcome nowhere = Run({"explore", "space.yaml", "--store", "missing/a.db"});
  EXPECT_EQ(nowhere.exit_code, 74);
  EXPECT_THAT(nowhere.err, HasSubstr("missing"));
}

TEST_F(ExploreTest, ADryRunMakesNoStoreAndHonoursTheFormat) {
  const Outcome text = Run({"explore", "space.yaml", "--dry-run", "--store", "none.db"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_FALSE(std::filesystem::exists(Folder() / "none.db"));
  const auto json = ParseJson(Run({"explore", "space.yaml", "--dry-run", "--format", "json"}).out);
  EXPECT_EQ(json.at("points"), 6);
  EXPECT_EQ(Run({"explore", "space.yaml", "--dry-run", "--output", "a.json"}).exit_code, 2);
  EXPECT_EQ(Run({"explore", "space.yaml", "--dry-run", "--relax"}).exit_code, 2);
}

TEST_F(ExploreTest, OptionsOfTheCommandBeforeAPartAreRefused) {
  const Outcome outcome = Run({"explore", "--threads", "2", "export", "a.db"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("explore export: --threads belongs to"));
}

TEST_F(ExploreTest, AnswersOtherQuestions) {
  const auto least = ParseJson(
      Run({"explore", "space.yaml", "--least", "memories.sram.capacity_bytes", "--format", "json"})
          .out);
  EXPECT_EQ(least.at("format"), "tessera-least");
  const Outcome relaxed = Run({"explore", "space.yaml", "--relax", "--store", "a.db"});
  EXPECT_EQ(relaxed.exit_code, 0) << relaxed.err;
  EXPECT_EQ(Run({"explore", "space.yaml", "--relax", "--store", "a.db"}).out, relaxed.out);
  EXPECT_THAT(Run({"explore", "space.yaml", "--marginal"}).out, HasSubstr("what a step of one"));
  EXPECT_THAT(Run({"explore", "space.yaml", "--adaptive", "50%"}).out, HasSubstr("not looked at"));
  Run({"explore", "space.yaml", "--adaptive", "50%", "--store", "share.db"});
  EXPECT_EQ(Run({"explore", "check", "share.db"}).exit_code, 0);
  EXPECT_EQ(Run({"explore", "space.yaml", "--adaptive", "most"}).exit_code, 2);
  EXPECT_EQ(Run({"explore", "space.yaml", "--adaptive", "150%"}).exit_code, 2);
  EXPECT_EQ(Run({"explore", "space.yaml", "--relax", "--marginal"}).exit_code, 2);
  EXPECT_EQ(Run({"explore", "space.yaml", "--uncertainty", "0"}).exit_code, 2);
  EXPECT_EQ(Run({"explore", "space.yaml", "--relax", "--output", "a.html"}).exit_code, 2);
  EXPECT_EQ(Run({"explore", "space.yaml", "--uncertainty", "20%"}).exit_code, 3);
  EXPECT_EQ(Run({"explore", "space.yaml", "--least", "memories.sram.name"}).exit_code, 3);
}

// Division by zero at one point must not hide the others.
TEST_F(ExploreTest, APointWithoutAFiniteObjectiveIsOnNoFront) {
  Write("nan.yaml", Replace(Specification(), "minimize: [latency, energy, sram]",
                            "minimize: [\"energy + 1 / (sram - 1024)\"]"));
  for (const Arguments& more : {Arguments{}, Arguments{"--exhaustive"}}) {
    Arguments arguments = {"explore", "nan.yaml", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Run(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto front = ParseJson(outcome.out).at("fronts").at("patent_chain");
    ASSERT_EQ(front.size(), 1U);
    EXPECT_TRUE(front[0].at("values")[0].is_number());
  }
}

TEST_F(ExploreTest, ASpaceWithoutPointsIsBadInput) {
  Write("none.yaml", Specification() + "where: [\"sram > 100000\"]\n");
  const Outcome outcome = Run({"explore", "none.yaml"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("no point satisfies"));
  Write("none.yaml", Specification() + "where: [\"sqrt(0 - sram)\"]\n");
  EXPECT_EQ(Run({"explore", "none.yaml"}).exit_code, 3);
}

TEST_F(ExploreTest, PlansWithoutAValueAreCounted) {
  const std::string text = Replace(Specification(), "minimize: [latency, energy, sram]",
                                   "minimize: [\"latency + sqrt(0 - sram)\"]");
  Write("no_value.yaml", text);
  const Outcome outcome = Run({"explore", "no_value.yaml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("of them on no front: an objective has no finite value here"));
}

// The front of the set needs plans of all networks.
TEST_F(ExploreTest, ASetOfWhichOneNetworkHasNoPlanIsProvenSo) {
  const std::string chain = Shipped("examples/networks/patent_chain.yaml");
  const std::string networks =
      "[{file: " + chain + ", limit: {latency: 9}}, {file: " + chain + ", name: other}";
  const std::string text = Replace(Specification(), "[" + chain, networks) + "fronts: set\n";
  Write("set.yaml", text);
  const Outcome outcome = Run({"explore", "set.yaml", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 20) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  for (const auto& pair : answer.at("pairs")) {
    EXPECT_EQ(pair.at("settled"), "bound");
    if (pair.at("network") == "other") {
      EXPECT_EQ(pair.at("reason"), "'patent_chain' has no plan here, so the set has none");
    }
  }
}

// Neither a file that the specification names, nor one that its profile extends, nor the store.
TEST_F(ExploreTest, NoInputIsAnOutput) {
  Write("net.json", FileText(Shipped("examples/networks/patent_chain.yaml")));
  Write("base.json", "extends: " + Shipped("hw_profiles/edge_npu_64kib.yaml") + "\n");
  Write("own.json", "extends: base.json\n");
  Write("columns.csv", "network,accuracy\nnet,0.5\n");
  Write("areas.csv", "part,area_mm2\n*,1\n");
  Write("spec.yaml",
        "schema: 1\nnetworks: [net.json]\nprofile: own.json\ncolumns: columns.csv\n"
        "area: {file: areas.csv}\nvary: {memories.sram.capacity_bytes: [4Ki, 8Ki]}\nminimize: "
        "[latency, "
        "area]\n");
  ASSERT_EQ(Run({"explore", "spec.yaml", "--output", "all.csv"}).exit_code, 0);
  for (const std::string name : {"net.json", "own.json", "base.json", "columns.csv", "areas.csv"}) {
    const std::string before = Read(name);
    const Outcome outcome = Run({"explore", "spec.yaml", "--output", name});
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_THAT(outcome.err, HasSubstr("this is the input " + name));
    EXPECT_EQ(Read(name), before);
  }
  EXPECT_EQ(
      Run({"explore", "spec.yaml", "--store", "new.json", "--output", "./new.json"}).exit_code, 2);
  ASSERT_EQ(Run({"explore", "spec.yaml", "--store", "a.db"}).exit_code, 0);
  const auto document = ParseJson(Run({"explore", "export", "a.db"}).out);
  const std::string id = document.at("pairs")[0].at("answers")[0].at("id");
  EXPECT_EQ(Run({"explore", "show", "a.db", id, "--output", "net.json"}).exit_code, 2);
}

// Names with commas are in quotes, and escapes are written out.
TEST_F(ExploreTest, TablesTakeAndGiveAnyName) {
  const std::string name = "a, \x1b[31mb";
  Write("columns.csv", "network,accuracy\n\"" + name + "\",0.5\n");
  Write("spec.yaml",
        "schema: 1\nnetworks: [{file: " + Shipped("examples/networks/patent_chain.yaml") +
            ", name: \"a, \\e[31mb\"}]\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
            "\ncolumns: columns.csv\nminimize: [latency]\n");
  const Outcome outcome = Run({"explore", "spec.yaml", "--output", "all.csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(Read("all.csv"), HasSubstr("\n\"a, \\u001b[31mb\",0,"));
}

TEST_F(ExploreTest, ADamagedStoreIsNoFaultOfTheProgram) {
  ASSERT_EQ(Run({"explore", "space.yaml", "--store", "a.db"}).exit_code, 0);
  std::string store = Read("a.db");
  size_t damaged = 0;
  for (size_t at = store.find("{\""); at != std::string::npos; at = store.find("{\"", at + 1)) {
    store[at] = '!';
    ++damaged;
  }
  ASSERT_GT(damaged, 3U);
  Write("a.db", store);
  for (const Arguments& words :
       {Arguments{"explore", "export", "a.db"}, Arguments{"explore", "check", "a.db"},
        Arguments{"explore", "space.yaml", "--store", "a.db"}}) {
    const Outcome outcome = Run(words);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("store"));
  }
}

TEST_F(ExploreTest, ALimitThatNothingKeepsIsProvenSo) {
  Write("limit.yaml", Replace(Specification(), "[" + Shipped("examples/networks/patent_chain.yaml"),
                              "[{file: " + Shipped("examples/networks/patent_chain.yaml") +
                                  ", limit: {latency: 9}}"));
  EXPECT_EQ(Run({"explore", "limit.yaml"}).exit_code, 20);
  EXPECT_EQ(Run({"explore", "limit.yaml", "--least", "memories.sram.capacity_bytes"}).exit_code,
            20);
}

}  // namespace
}  // namespace tessera::cli
