// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "command_line.h"

// `tessera serve --jsonl` end to end.
namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

class ServeTest : public CommandLineTest {
 protected:
  static std::string Plan(const std::string& id, const std::string& more = "") {
    return R"({"id": )" + id + R"(, "method": "plan", "network": ")" +
           Shipped("examples/networks/patent_chain.yaml") + R"(", "profile": ")" +
           Shipped("hw_profiles/edge_npu_64kib.yaml") + "\"" + more + "}\n";
  }

  // Takes seconds.
  static std::string LongPlan(const std::string& id) {
    return Replace(Plan(id), "patent_chain", "mobilenet_v2");
  }

  static std::vector<Json> LinesOf(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(ParseJson(line));
    return lines;
  }

  std::vector<Json> Serve(const std::string& input, const Arguments& more = {}) const {
    Arguments arguments = {"serve", "--jsonl"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Run(arguments, input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return LinesOf(outcome.out);
  }
};

TEST_F(ServeTest, AnswersInTheOrderOfTheLines) {
  const std::vector<Json> answers = Serve(
      Plan("1", R"(, "transfers": "per-subgraph")") + "\n" + R"({"id": "b", "method": "ping"})" +
      "\n" +
      R"({"method": "allocate", "problem": {"text": "id,lower,upper,size\na,0,3,4\nb,2,9,8\n"}})" +
      "\n" + R"({"id": 4, "method": "quit"})" + "\n" + Plan("5"));
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[0].at("id"), 1);
  EXPECT_EQ(answers[0].at("outcome"), "optimal");
  EXPECT_EQ(answers[1], Json::parse(R"({"id": "b", "ok": true, "version": "0.1.0"})"));
  EXPECT_TRUE(answers[2].at("id").is_null());
  EXPECT_EQ(answers[2].at("peak"), 12);
  EXPECT_EQ(answers[3], Json::parse(R"({"id": 4, "ok": true})"));
}

TEST_F(ServeTest, PlacesBuffersOfSeveralMemoriesAsTheCommandDoes) {
  Write("two.json", R"({"format": "tessera-problem", "version": 1,
    "memories": [{"name": "sram", "capacity": 1000}, {"name": "tcm", "capacity": 500}],
    "buffers": [{"id": "a", "size": 100, "lifespans": [[0, 4]], "memory": "sram"},
                {"id": "b", "size": 60, "lifespans": [[2, 6]], "memory": "sram"},
                {"id": "c", "size": 50, "lifespans": [[0, 4]], "memory": "tcm"},
                {"id": "d", "size": 60, "lifespans": [[5, 6]], "memory": "tcm"}]})");
  const std::vector<std::pair<std::string, std::string>> goals = {
      {"", "true"},
      {"=relative", R"("relative")"},
      {"=tcm", R"("tcm")"},
      {"=sram=2,tcm=0.5", R"({"sram": 2, "tcm": 0.5})"}};
  for (const auto& [option, goal] : goals) {
    SCOPED_TRACE(option);
    const Outcome outcome = Run({"alloc", "two.json", "--minimize" + option, "--capacity",
                                 "sram=200,tcm=60", "--output", "placed.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json placed = ReadJson("placed.json");
    const Json answer = Serve(R"({"method": "allocate", "problem": "two.json", "document": true, )"
                              R"("capacity": {"sram": 200, "tcm": 60}, "minimize": )" +
                              goal + "}")
                            .front();
    EXPECT_EQ(answer.at("document"), placed);
    EXPECT_EQ(answer.at("score"), placed.at("score"));
    EXPECT_EQ(answer.at("memories"), placed.at("memories"));
  }
  const std::string request = R"({"method": "allocate", "problem": "two.json", )";
  EXPECT_EQ(Serve(request + R"("capacity": {"tcm": 59}})").front().at("outcome"), "infeasible");
  EXPECT_THAT(Serve(request + R"("capacity": {"tcn": 59}})").front().dump(), HasSubstr("'tcm'"));
  EXPECT_THAT(Serve(request + R"("minimize": {}})").front().dump(), HasSubstr("no memory"));
  EXPECT_THAT(Serve(request + R"("minimize": 1})").front().at("ok"), false);
}

TEST_F(ServeTest, PlansAreThoseOfTheCommand) {
  const Outcome outcome = Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                               Shipped("hw_profiles/edge_npu_64kib.yaml"), "--minimize", "energy",
                               "--output", "a.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json answer = Serve(Plan("1", R"(, "minimize": "energy", "document": true)")).front();
  const Json plan = ReadJson("a.json");
  EXPECT_EQ(answer.at("metrics").at("energy").at("value"), plan.at("totals").at("energy_pj"));
  EXPECT_EQ(answer.at("document").at("subgraphs"), plan.at("subgraphs"));
  // Checks what an answer holds.
  const Json check = {{"id", 2}, {"method", "check"}, {"plan", answer.at("document")}};
  EXPECT_EQ(Serve(check.dump()).front(),
            Json::parse(R"({"id": 2, "ok": true, "accepted": true, "findings": []})"));
}

TEST_F(ServeTest, TheSameBytesWithAnyThreadsAndAnyRequestsBefore) {
  const std::string one = Plan("1", R"(, "limits": {"peak": 2600})");
  const std::string two = Plan("2", R"(, "minimize": {"latency": 1, "energy": 2})");
  const std::string first = Run({"serve", "--jsonl", "--threads", "1"}, one + two).out;
  EXPECT_EQ(Run({"serve", "--jsonl", "--threads", "3"}, one + two).out, first);
  const std::string other = Run({"serve", "--jsonl"}, two + one + two + one).out;
  const size_t line = other.find('\n') + 1;
  EXPECT_EQ(other.substr(line, first.size()), first);
}

TEST_F(ServeTest, EvaluatesOnSeveralProfilesWithLimits) {
  const std::string request = R"({"id": 1, "method": "evaluate", "network": ")" +
                              Shipped("examples/networks/patent_chain.yaml") +
                              R"(", "profile": [")" + Shipped("hw_profiles/edge_npu_64kib.yaml") +
                              R"(", ")" + Shipped("hw_profiles/mcu_320k.yaml") + "\"]}";
  const std::string at_most = Replace(Replace(request, "evaluate", "evaluate_at_most"), "\"]}",
                                      R"("], "limits": [{"latency": 10}, {}]})");
  const std::vector<Json> answers = Serve(request + "\n" + at_most + "\n");
  const Json& both = answers.at(0).at("profiles");
  ASSERT_EQ(both.size(), 2U);
  const Json plan = Serve(Plan("1")).front();
  EXPECT_EQ(both[0].at("metrics"), plan.at("metrics"));
  EXPECT_EQ(both[1].at("outcome"), "optimal");
  const Json& limited = answers.at(1).at("profiles");
  EXPECT_EQ(limited[0].at("outcome"), "infeasible");
  EXPECT_EQ(limited[0].at("searched"), false);
  EXPECT_THAT(limited[0].at("reason").get<std::string>(), HasSubstr("latency is at least"));
  EXPECT_EQ(limited[1].at("outcome"), "unknown");
}

TEST_F(ServeTest, ErrorsSayWhatIsWrongAndWhere) {
  const std::vector<Json> answers = Serve(
      "{\"id\": 1,\n" + Replace(Plan("2"), "patent_chain", "none") +
      Plan("3", R"(, "minimise": "energy")") + Plan("4", R"(, "minimize": "speed")") +
      R"({"id": 5, "method": "plan", "network": {"text": "schema: 1\nnmae: a\n", "name": "n.yaml"}, "profile": ")" +
      Shipped("hw_profiles/mcu_320k.yaml") + "\"}\n" + R"({"id": {}, "method": "ping"})");
  ASSERT_EQ(answers.size(), 6U);
  const auto error = [&](size_t i) { return answers[i].at("error"); };
  EXPECT_TRUE(answers[0].at("id").is_null());
  EXPECT_EQ(error(0).at("code"), "bad_request");
  EXPECT_EQ(error(0).at("line"), 1);
  EXPECT_EQ(error(0).at("column"), 10);  // behind the last character
  EXPECT_EQ(answers[1].at("id"), 2);
  EXPECT_EQ(error(1).at("code"), "bad_input");
  EXPECT_THAT(error(1).at("file").get<std::string>(), HasSubstr("none.yaml"));
  EXPECT_EQ(answers[2].at("id"), 3);
  EXPECT_EQ(error(2).at("pointer"), "/minimise");
  EXPECT_EQ(error(2).at("line"), 3);
  EXPECT_EQ(error(2).at("hint"), "did you mean 'minimize'?");
  EXPECT_EQ(error(3).at("code"), "bad_request");
  EXPECT_EQ(error(3).at("pointer"), "/minimize");
  EXPECT_EQ(error(4).at("file"), "n.yaml");
  EXPECT_EQ(error(4).at("line"), 2);
  EXPECT_EQ(error(5).at("pointer"), "/id");
}

// Every line that is not blank has one answer, whatever it holds.
TEST_F(ServeTest, NoLineEndsTheSession) {
  std::mt19937 random(28);
  const std::string whole =
      R"({"id": 7, "method": "allocate", "problem": {"text": "id,lower,upper,size\na,0,3,4\n"}, "capacity": 9})";
  std::string input;
  size_t lines = 0;
  for (int i = 0; i < 400; ++i) {
    std::string line = whole;
    for (size_t edits = random() % 4; edits > 0; --edits) {
      const size_t at = random() % line.size();
      switch (random() % 3) {
        case 0:
          line[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          line.erase(at, random() % 8 + 1);
          break;
        default:
          line.insert(at, line.substr(random() % line.size(), 5));
          break;
      }
      if (line.empty()) line = "[";
    }
    line.erase(std::remove(line.begin(), line.end(), '\n'), line.end());
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    ++lines;
    input += line + "\n";
  }
  input += std::string(200, '[') + "\n{\"id\": 8, \"method\": \"ping\"}";
  const std::vector<Json> answers = Serve(input);
  ASSERT_EQ(answers.size(), lines + 2);
  EXPECT_EQ(answers.back().at("id"), 8);
}

TEST_F(ServeTest, ARequestCanBeCancelled) {
  const std::vector<Json> answers =
      Serve(LongPlan("1") + R"({"id": 2, "method": "cancel", "target": 1})" + "\n" + Plan("3"));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].at("stopped"), true);
  EXPECT_EQ(answers[1], Json::parse(R"({"id": 2, "ok": true})"));
  EXPECT_FALSE(answers[2].contains("stopped"));
}

TEST_F(ServeTest, ASignalEndsItWithAnAnswerToEachLine) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::filesystem::remove(Streams() / "stdout");
    Process process({"serve", "--jsonl"}, Folder(), Streams(),
                    "{\"id\": 0, \"method\": \"ping\"}\n" + LongPlan("1") + Plan("2"));
    const auto has_begun = [&] {
      std::ifstream file(Streams() / "stdout");
      std::string line;
      return static_cast<bool>(std::getline(file, line));
    };
    while (!has_begun()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    process.Signal(signal);
    const Outcome outcome = process.Wait();
    EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
    const std::vector<Json> answers = LinesOf(outcome.out);
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[2].at("error").at("code"), "stopped");
  }
}

TEST_F(ServeTest, NothingIsNoRequest) {
  EXPECT_EQ(Run({"serve", "--jsonl"}, "").out, "");
  EXPECT_EQ(Run({"serve", "--jsonl"}, "\n \n").exit_code, 0);
  EXPECT_EQ(Run({"serve"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera::cli
