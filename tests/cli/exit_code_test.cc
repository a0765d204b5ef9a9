// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "command_line.h"

// Each outcome has its own exit code, so that a script need not read the text. (help_test.cc tests
// 2, the fault tests test 3; 70 means a fault of the program, which no input should reach.)
namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kTwoBuffers = "id,lower,upper,size\na,0,2,16\nb,1,3,16\n";

// Items that must be packed between walls. The load is a bound, and a placement reaches it only if
// every bin is filled to the last byte. Placing the items is easy; proving a least peak is not.
std::string ManyBins() {
  constexpr int kBins = 12, kItems = 48;
  std::string text = "id,lower,upper,size,offset\n";
  int64_t total = 0;
  uint32_t state = 1;
  for (int item = 0; item < kItems; ++item) {
    state = state * 1103515245U + 12345U;
    const int64_t size = 100'001 + (state >> 8) % 400'000;
    total += size;
    text += "item" + std::to_string(item) + ",0,1," + std::to_string(size) + ",\n";
  }
  for (int wall = 1; wall < kBins; ++wall) {
    text += "wall" + std::to_string(wall) + ",0,1,1," + std::to_string(wall * total / kBins) + "\n";
  }
  return text;
}

class ExitCodeTest : public CommandLineTest {
 protected:
  ExitCodeTest() { Write("two.csv", kTwoBuffers); }

  Outcome Plan(const std::string& network, const std::string& profile,
               const Arguments& more = {}) const {
    Arguments arguments = {"plan", Shipped("examples/networks/" + network), "--hw",
                           Shipped("hw_profiles/" + profile)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(ExitCodeTest, AnAnswerIs0) {
  EXPECT_EQ(Run({"alloc", "two.csv", "--capacity", "32"}).exit_code, 0);
  EXPECT_EQ(Plan("patent_chain.yaml", "mcu_320k.yaml").exit_code, 0);
}

TEST_F(ExitCodeTest, AMissingFileIs3) {
  const Outcome outcome = Run({"alloc", "three.csv"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "three.csv: error: cannot read: No such file or directory\n  hint: check the path\n");
}

TEST_F(ExitCodeTest, AFolderInPlaceOfAFileIs3) {
  const Outcome outcome = Run({"alloc", "."});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, ".: error: this is a folder, not a file\n");
}

TEST_F(ExitCodeTest, AConstraintThatTheEngineCannotHonourIs4) {
  const Outcome outcome = Run({"alloc", Shipped("examples/problems/patent_five_banks.json"),
                               "--engine", "canonical", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 4);
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("status"), "unsupported");
  EXPECT_THAT(answer.at("reason").get<std::string>(), HasSubstr("modes of memory 'sram'"));
  EXPECT_FALSE(answer.contains("offsets"));
}

TEST_F(ExitCodeTest, AnOperatorThatNoEngineRunsIs4) {
  const std::string profile = Read(Shipped("hw_profiles/mcu_320k.yaml"));
  const size_t host = profile.find("  host:\n");
  Write("chip.yaml", profile.substr(0, host) + profile.substr(profile.find("\nroles:", host)));
  const Outcome outcome = Run({"plan", Shipped("examples/networks/patent_fig1.yaml"), "--hw",
                               "chip.yaml", "--format", "json", "--output", "plan.json"});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(ParseJson(outcome.out).at("status"), "unsupported");
  EXPECT_THAT(ParseJson(outcome.out).at("reason").get<std::string>(), HasSubstr("'first'"));
  EXPECT_THAT(Files(), ElementsAre("chip.yaml", "two.csv"));
}

TEST_F(ExitCodeTest, AWrongAnswerIs5) {
  Write("wrong.csv", "id,lower,upper,size,offset\na,0,2,16,0\nb,1,3,16,15\n");
  const Outcome outcome = Run({"check", "wrong.csv", "--capacity", "32"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.out,
              HasSubstr("overlap: buffers 'a' and 'b' share addresses [15, 16) at step 1"));
}

// The load of the two buffers is 32 and equals the capacity, so no bound decides.
class LimitTest : public ExitCodeTest, public testing::WithParamInterface<std::string> {
 protected:
  Arguments With(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--" + GetParam(), "0", "--format", "json"});
    return arguments;
  }
};

TEST_P(LimitTest, DecidingIs10) {
  const Outcome outcome = Run(With({"alloc", "two.csv", "--capacity", "32"}));
  EXPECT_EQ(outcome.exit_code, 10);
  EXPECT_EQ(ParseJson(outcome.out).at("status"), "unknown");
}

TEST_P(LimitTest, MinimisingIs10AndNeverInfeasible) {
  const Outcome outcome = Run(With({"alloc", "two.csv", "--capacity", "32", "--minimize"}));
  EXPECT_EQ(outcome.exit_code, 10);
  EXPECT_EQ(ParseJson(outcome.out).at("status"), "unknown");
  EXPECT_EQ(ParseJson(outcome.out).at("lower_bound"), 32);
}

TEST_P(LimitTest, BanksThatAreInfeasibleAreNotCalledSoWithoutAProof) {
  const Outcome outcome =
      Run(With({"alloc", Shipped("examples/problems/patent_three_banks.json")}));
  EXPECT_EQ(outcome.exit_code, 10);
  EXPECT_EQ(ParseJson(outcome.out).at("status"), "unknown");
}

TEST_P(LimitTest, TilingIs10) {
  const Outcome outcome = Run(With({"tile", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                                    Shipped("hw_profiles/mcu_320k.yaml")}));
  EXPECT_EQ(outcome.exit_code, 10);
  EXPECT_EQ(ParseJson(outcome.out).at("status"), "unknown");
}

TEST_P(LimitTest, PlanningGivesTheLayerByLayerPlan) {
  const Outcome outcome = Plan("mobilenet_v2_035.yaml", "edge_npu_1mib.yaml",
                               With({"--output", "plan.json", "--report", "plan.html"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto plan = ParseJson(outcome.out);
  EXPECT_EQ(plan.at("subgraphs").size(), plan.at("network").at("operators").size());
  EXPECT_EQ(plan.at("status"), "feasible");
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Zero, LimitTest, testing::Values("budget", "timeout"),
                         [](const auto& info) { return info.param; });

TEST_F(ExitCodeTest, ProvenInfeasibleIs20) {
  EXPECT_EQ(Run({"alloc", "two.csv", "--capacity", "31"}).exit_code, 20);
  // One byte above the bound only a search proves infeasibility: 16 and 16 next to a wall in the
  // middle.
  Write("wall.csv", "id,lower,upper,size,offset\na,0,2,16,\nb,0,2,16,\nwall,0,2,1,15\n");
  const Outcome outcome = Run({"alloc", "wall.csv", "--capacity", "47", "--format", "json"});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_EQ(ParseJson(outcome.out).at("status"), "infeasible");
  EXPECT_EQ(Run({"alloc", "wall.csv", "--capacity", "48"}).exit_code, 0);
}

TEST_F(ExitCodeTest, LimitsThatNoPlanKeepsAre20) {
  const Outcome outcome = Plan("patent_chain.yaml", "edge_npu_1mib.yaml", {"--limit", "peak=100"});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_THAT(outcome.out, StartsWith("infeasible: no partition of the network keeps the limits: "
                                      "peak at most 100; operator 'conv2' needs at least 713 bytes "
                                      "in the smallest tiles; "));
  EXPECT_THAT(
      outcome.out,
      HasSubstr("'conv2' needs 728 bytes of 'sram' at step 2; the limit on the peak is 100"));
  EXPECT_THAT(outcome.out,
              HasSubstr("--limit peak=728 instead of 100: a plan was found with it\n"));
}

TEST_F(ExitCodeTest, AnOutputThatCannotBeWrittenIs74) {
  const Outcome outcome = Run({"alloc", "two.csv", "--output", "missing/answer.json"});
  EXPECT_EQ(outcome.exit_code, 74);
  EXPECT_EQ(outcome.err,
            "missing/answer.json: error: cannot write: No such file or directory\n"
            "  hint: choose a folder that exists and is writable\n");
  EXPECT_EQ(Plan("patent_chain.yaml", "mcu_320k.yaml", {"--report", "missing/plan.html"}).exit_code,
            74);
  EXPECT_EQ(Plan("patent_chain.yaml", "mcu_320k.yaml", {"--output", "missing/plan.svg"}).exit_code,
            74);
  EXPECT_THAT(Files(), ElementsAre("two.csv"));
}

TEST_F(ExitCodeTest, OneOutputThatCannotBeWrittenIsFoundBeforeAnyIsWritten) {
  EXPECT_EQ(Run({"alloc", "two.csv", "--output", "answer.csv", "--output", "missing/answer.json"})
                .exit_code,
            74);
  EXPECT_THAT(Files(), ElementsAre("two.csv"));
}

TEST_F(ExitCodeTest, AFolderThatStandsWhereTheOutputShouldGoIs74) {
  std::filesystem::create_directory(Folder() / "answer.json");
  EXPECT_EQ(Run({"alloc", "two.csv", "--output", "answer.json"}).exit_code, 74);
  EXPECT_THAT(Files(), ElementsAre("answer.json", "two.csv"));
}

TEST_F(ExitCodeTest, ADashIsNoOutput) {
  EXPECT_EQ(Plan("patent_chain.yaml", "mcu_320k.yaml", {"--report", "-"}).exit_code, 74);
  EXPECT_EQ(Plan("patent_chain.yaml", "mcu_320k.yaml", {"--report", "plan.json"}).exit_code, 2);
  EXPECT_THAT(Files(), ElementsAre("two.csv"));
}

TEST_F(ExitCodeTest, ADeviceIsWrittenToAndNotReplaced) {
  std::filesystem::create_symlink("/dev/null", Folder() / "sink");
  EXPECT_EQ(Plan("patent_chain.yaml", "mcu_320k.yaml", {"--report", "sink"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(Folder() / "sink"));
  EXPECT_TRUE(std::filesystem::is_character_file(Folder() / "sink"));
}

TEST_F(ExitCodeTest, ADeviceThatTakesNothingIs74) {
  std::filesystem::create_symlink("/dev/full", Folder() / "full.json");
  EXPECT_EQ(Run({"alloc", "two.csv", "--output", "full.json"}).exit_code, 74);
}

TEST_F(ExitCodeTest, ALinkIsFollowed) {
  Write("old.json", "old");
  std::filesystem::create_symlink("old.json", Folder() / "link.json");
  EXPECT_EQ(Run({"alloc", "two.csv", "--output", "link.json"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(Folder() / "link.json"));
  EXPECT_EQ(ReadJson("old.json").at("status"), "optimal");
}

TEST_F(ExitCodeTest, InterruptedIs130AndTheIncumbentIsWritten) {
  Write("bins.csv", ManyBins());
  Process process({"alloc", "bins.csv", "--budget", "4000000000000", "--verbose", "--output",
                   "answer.csv", "--output", "answer.json", "--format", "json"},
                  Folder(), Streams(), "");
  ASSERT_TRUE(process.AwaitError("peak ")) << "no incumbent was found before the end";
  process.Signal(SIGINT);
  const Outcome outcome = process.Wait();
  EXPECT_EQ(outcome.exit_code, 130);
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("status"), "feasible");
  EXPECT_GT(answer.at("gap"), 0);
  const std::string peak = std::to_string(answer.at("peak").get<int64_t>());
  EXPECT_EQ(Run({"check", "answer.csv", "--capacity", peak}).exit_code, 0);
  EXPECT_EQ(Run({"check", "answer.json", "--problem", "bins.csv", "--capacity", peak}).exit_code,
            0);
}

TEST_F(ExitCodeTest, ASignalWhileAnInputIsReadNamesTheOldFile) {
  Write("old.json", "old");
  ASSERT_EQ(mkfifo((Folder() / "pipe.csv").c_str(), S_IRUSR | S_IWUSR), 0);
  Process process({"alloc", "pipe.csv", "--output", "old.json"}, Folder(), Streams(), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  process.Signal(SIGTERM);
  const Outcome outcome = process.Wait();
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(outcome.err, "the file at old.json is from an earlier run and was left as it was\n");
}

// No engine keeps a signal to itself, as Z3 does unless it is configured otherwise. The deadline
// ends one that does, with another exit code.
class InterruptedEngineTest : public ExitCodeTest,
                              public testing::WithParamInterface<std::string> {};

TEST_P(InterruptedEngineTest, EndsAtTheSignal) {
  Write("bins.csv", ManyBins());
  Process process({"alloc", "bins.csv", "--capacity", "13400000", "--budget", "4000000000000",
                   "--timeout", "20", "--engine", GetParam(), "--no-reasons"},
                  Folder(), Streams(), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  process.Signal(SIGINT);
  const Outcome outcome = process.Wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("unknown"));
}

INSTANTIATE_TEST_SUITE_P(Engines, InterruptedEngineTest,
                         testing::Values("canonical", "lazy", "cadical", "z3", "local-search"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(ExitCodeTest, APlanThatIsInterruptedIs130AndTheBestSoFarIsWritten) {
  Process process({"plan", Shipped("examples/networks/mobilenet_v2.yaml"), "--hw",
                   Shipped("hw_profiles/edge_npu_1mib.yaml"), "--threads", "1", "--verbose",
                   "--output", "plan.json", "--format", "json"},
                  Folder(), Streams(), "");
  ASSERT_TRUE(process.AwaitError("intervals expanded"));
  process.Signal(SIGINT);
  const Outcome outcome = process.Wait();
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(ParseJson(outcome.out).at("status"), "feasible");
  EXPECT_THAT(Files(), ElementsAre("plan.json", "two.csv"));
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

// The list is written under a passing name. The signal comes while it exists.
TEST_F(ExitCodeTest, AnInterruptedWriteLeavesNoDraft) {
  const auto drafts = [this] {
    const std::vector<std::string> files = Files();
    return std::count_if(files.begin(), files.end(),
                         [](const std::string& name) { return name.starts_with(".tessera-"); });
  };
  int interrupted = 0;
  for (int attempt = 0; attempt < 20 && interrupted == 0; ++attempt) {
    Process process({"generate", "random", "--buffers", "1000000", "--output", "list.csv"},
                    Folder(), Streams(), "");
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (drafts() == 0 && !std::filesystem::exists(Folder() / "list.csv") &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    process.Signal(SIGINT);
    interrupted += process.Wait().exit_code == 130 ? 1 : 0;
    EXPECT_EQ(drafts(), 0);
    EXPECT_TRUE(std::filesystem::exists(Folder() / "list.csv"));
    std::filesystem::remove(Folder() / "list.csv");
  }
  EXPECT_EQ(interrupted, 1);
}

}  // namespace
}  // namespace tessera::cli
