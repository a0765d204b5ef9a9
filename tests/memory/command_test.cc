// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tessera/tests/cli/command_line.h"

// Lets the n-th allocation of the command fail, for n all over the run. The command ends with an
// exit code and a message, and files are complete or do not exist.
namespace tessera::cli {
namespace {

using testing::AnyOf;
using testing::Eq;

constexpr const char* kBuffers = "id,lower,upper,size\na,0,4,30\nb,2,6,20\nc,5,9,40\nd,1,8,10\n";

// An ONNX model of version 8, operator set 13: y = Relu(x), float32 [1, 8, 4, 4].
constexpr std::string_view kRelu =
    "08084202100d3a4b0a0c0a0178120179220452656c751201675a1b0a017812160a14080112100a0208010a0208080a"
    "0208040a020804621b0a017912160a14080112100a0208010a0208080a0208040a020804";

std::string BytesOf(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::string Space() {
  return "schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") +
         "]\nprofile: " + Shipped("hw_profiles/mcu_320k.yaml") +
         "\nvary:\n  memories.sram.capacity_bytes: {name: sram, values: [8Ki, 64Ki]}\n"
         "minimize: [latency, sram]\noptions: {max_operators: 2, budget: 200}\n";
}

struct Case {
  std::string name;
  Arguments arguments;
  double growth = 1.16;  // of the number of the failing allocation
};

class Exhausted : public CommandLineTest, public testing::WithParamInterface<Case> {
 protected:
  Outcome RunFailing(int64_t allocation) const {
    setenv("LD_PRELOAD", FAIL_NEW_LIBRARY, 1);
    setenv("FAIL_ALLOCATION", std::to_string(allocation).c_str(), 1);
    Outcome outcome = Run(GetParam().arguments);
    unsetenv("LD_PRELOAD");
    unsetenv("FAIL_ALLOCATION");
    return outcome;
  }
};

TEST_P(Exhausted, EndsWithACodeAMessageAndNoPartOfAFile) {
  constexpr int kRuns = 60;
  Write("buffers.csv", kBuffers);
  Write("relu.onnx", BytesOf(kRelu));
  Write("space.yaml", Space());
  const Outcome whole = Run(GetParam().arguments);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const bool writes = std::filesystem::exists(Folder() / "out.json");
  const std::string answer = writes ? Read("out.json") : "";
  int failures = 0;
  int answers = 0;
  double next = 1;
  for (int run = 0; run < kRuns; ++run, next = next * GetParam().growth + 1) {
    if (writes) std::filesystem::remove(Folder() / "out.json");
    const Outcome outcome = RunFailing(static_cast<int64_t>(next));
    ASSERT_THAT(outcome.exit_code, AnyOf(Eq(0), Eq(10)))
        << "allocation " << next << ": " << outcome.err;
    if (outcome.exit_code == 10) {
      ++failures;
      EXPECT_FALSE(outcome.err.empty() && outcome.out.empty()) << "allocation " << next;
    } else {
      ++answers;
    }
    for (const std::string& file : Files())
      EXPECT_THAT(file, AnyOf("buffers.csv", "relu.onnx", "space.yaml", "out.json"));
    if (!writes || !std::filesystem::exists(Folder() / "out.json")) continue;
    if (Read("out.json") == answer) continue;
    ASSERT_NE(GetParam().name, "explore") << "allocation " << next;
    EXPECT_EQ(Run({"check", "out.json", "--no-search"}).exit_code, 0) << "allocation " << next;
  }
  EXPECT_GT(failures, 10);
  EXPECT_GT(answers, 0);
}

class WithoutThreads : public CommandLineTest {
 protected:
  Outcome RunAlone(const Arguments& arguments, const std::string& input = "") const {
    setenv("LD_PRELOAD", FAIL_THREADS_LIBRARY, 1);
    Outcome outcome = Run(arguments, input);
    unsetenv("LD_PRELOAD");
    return outcome;
  }
};

TEST_F(WithoutThreads, ASessionAnswersEachRequest) {
  Write("buffers.csv", kBuffers);
  const std::string input = R"({"id": 1, "method": "allocate", "problem": "buffers.csv"}
{"id": 2, "method": "cancel", "target": 9}
no request
{"id": 3, "method": "quit"}
{"id": 4, "method": "ping"}
)";
  const Outcome outcome = RunAlone({"serve", "--jsonl", "--threads", "2"}, input);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Run({"serve", "--jsonl", "--threads", "2"}, input).out);
}

TEST_F(WithoutThreads, AnExplorationHasTheSameAnswer) {
  Write("space.yaml", Space());
  const Outcome outcome = RunAlone({"explore", "space.yaml", "--threads", "4"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Run({"explore", "space.yaml", "--threads", "4"}).out);
}

class ExhaustedSession : public CommandLineTest {
 protected:
  // Also writes the number of allocations to the file "count".
  Outcome RunFailing(int64_t allocation, const std::string& input) const {
    setenv("LD_PRELOAD", FAIL_NEW_LIBRARY, 1);
    setenv("FAIL_ALLOCATION", std::to_string(allocation).c_str(), 1);
    setenv("COUNT_ALLOCATIONS", (Folder() / "count").c_str(), 1);
    Outcome outcome = Run({"serve", "--jsonl", "--threads", "1"}, input);
    unsetenv("LD_PRELOAD");
    unsetenv("FAIL_ALLOCATION");
    unsetenv("COUNT_ALLOCATIONS");
    return outcome;
  }

  static std::vector<std::string> LinesOf(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
};

// Whether reader or worker lacks memory: each line has its answer, or an error; or the session ends
// with the exit code of a limit.
TEST_F(ExhaustedSession, AnswersEachLineOrEnds) {
  constexpr int64_t kRuns = 40;
  Write("buffers.csv", kBuffers);
  const std::string input = R"({"id": 1, "method": "allocate", "problem": "buffers.csv"}
{"id": 2, "method": "ping"}
{"id": 3, "method": "allocate", "problem": {"text": "id,lower,upper,size\na,0,3,4\n"}}
)";
  ASSERT_EQ(RunFailing(0, "").exit_code, 0);
  const int64_t first = std::stoll(Read("count"));  // of those before the first line
  ASSERT_EQ(LinesOf(RunFailing(0, input).out).size(), 3U);
  const int64_t last = std::stoll(Read("count"));
  ASSERT_GT(last, first + kRuns);
  int errors = 0, answers = 0;
  for (int64_t run = 0; run < kRuns; ++run) {
    const int64_t failing = first + 1 + run * (last - first) / kRuns;
    const Outcome outcome = RunFailing(failing, input);
    ASSERT_THAT(outcome.exit_code, AnyOf(Eq(0), Eq(10)))
        << "allocation " << failing << ": " << outcome.err;
    const std::vector<std::string> lines = LinesOf(outcome.out);
    EXPECT_TRUE(lines.size() == 3 || outcome.exit_code == 10) << "allocation " << failing;
    for (const std::string& line : lines) {
      const bool is_error = line.find("\"ok\":false") != std::string::npos;
      const bool is_stopped = line.find("\"code\":\"stopped\"") != std::string::npos;
      EXPECT_TRUE(!is_error || is_stopped) << "allocation " << failing << ": " << line;
      ++(is_error ? errors : answers);
    }
  }
  EXPECT_GE(errors, 5);
  EXPECT_GE(answers, 2 * kRuns);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Exhausted,
    testing::Values(Case{"alloc", {"alloc", "buffers.csv"}},
                    Case{"plan",
                         {"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                          Shipped("hw_profiles/mcu_320k.yaml"), "--output", "out.json"}},
                    Case{"onnx",
                         {"plan", "relu.onnx", "--hw", Shipped("hw_profiles/edge_npu_1mib.yaml"),
                          "--floats-as", "int8", "--output", "out.json"}},
                    Case{"explore", {"explore", "space.yaml", "--output", "out.json"}, 1.23},
                    Case{"relax", {"explore", "space.yaml", "--relax"}, 1.23},
                    Case{"tile",
                         {"tile", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                          Shipped("hw_profiles/mcu_320k.yaml")}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tessera::cli
