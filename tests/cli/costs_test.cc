// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <sstream>

#include "command_line.h"

// `--costs`: tiles that were measured, in place of the cost model (docs/costs.md).
namespace tessera::cli {
namespace {

using testing::HasSubstr;

class CostsTest : public CommandLineTest {
 protected:
  Outcome Plan(const Arguments& more) {
    Arguments arguments = {"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                           Shipped("hw_profiles/edge_npu_64kib.yaml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  // The table that `plan` writes, with the cycles of the first row changed by `scale`.
  std::string WithCycles(const std::string& table, double scale) {
    std::string text;
    bool first = true;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      size_t begin = 0;
      for (int i = 0; i < 3; ++i) begin = line.find(',', begin) + 1;
      const size_t end = line.find(',', begin);
      if (!first) {
        const auto cycles = static_cast<int64_t>(
            scale * static_cast<double>(std::stoll(line.substr(begin, end - begin))));
        line.replace(begin, end - begin, std::to_string(cycles));
      }
      first = false;
      text += line + "\n";
    }
    return text;
  }

  static int64_t CyclesIn(const nlohmann::json& plan) {
    return plan.at("totals").at("latency_cycles");
  }
};

// What a plan writes describes its own costs: with it the plan is the same.
TEST_F(CostsTest, TheTableOfAPlanChangesNothing) {
  ASSERT_EQ(Plan({"--output", "plan.json", "--output", "tiles.csv"}).exit_code, 0);
  EXPECT_THAT(Read("tiles.csv"),
              HasSubstr("operator,tile,engine,cycles,pj,signature,tiles,source"));
  EXPECT_THAT(Read("tiles.csv"), HasSubstr(",model\n"));
  const Outcome again = Plan({"--costs", "tiles.csv", "--output", "again.json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(CyclesIn(ReadJson("again.json")), CyclesIn(ReadJson("plan.json")));
  EXPECT_THAT(again.out, HasSubstr("measured: the cycles of "));
  EXPECT_EQ(Run({"check", "--execute", "again.json"}).exit_code, 0);
}

// An engine that runs two operators at once hides the start of one of them.
TEST_F(CostsTest, HiddenStartsStayHidden) {
  Write("ahead.yaml", "extends: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
                          "\nname: ahead\nengines:\n  npu: {outstanding: 2}\n");
  const Arguments plan = {"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                          "ahead.yaml"};
  const auto with = [&plan](const Arguments& more) {
    Arguments arguments = plan;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  ASSERT_EQ(Run(with({"--output", "plan.json", "--output", "tiles.csv"})).exit_code, 0);
  ASSERT_EQ(Run(with({"--costs", "tiles.csv", "--output", "again.json"})).exit_code, 0);
  EXPECT_EQ(CyclesIn(ReadJson("again.json")), CyclesIn(ReadJson("plan.json")));
}

// A name with characters that are not shown is none in the table: the signature stands for it.
TEST_F(CostsTest, NamesWithEscapesReadBack) {
  Write("net.json",
        R"({"schema": 1, "name": "n", "inputs": [{"id": "x", "shape": [1, 3, 8, 8]}], "operators": [
            {"id": "c\u0007\u202e1", "kind": "conv", "inputs": ["x"], "out_channels": 4,
             "kernel": 3}]})");
  const Arguments plan = {"plan", "net.json", "--hw", Shipped("hw_profiles/edge_npu_64kib.yaml")};
  const auto with = [&plan](const Arguments& more) {
    Arguments arguments = plan;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  ASSERT_EQ(Run(with({"--output", "plan.json", "--output", "tiles.csv"})).exit_code, 0);
  EXPECT_EQ(Read("tiles.csv").find('\x07'), std::string::npos);
  ASSERT_EQ(Run(with({"--costs", "tiles.csv", "--output", "again.json"})).exit_code, 0);
  EXPECT_EQ(CyclesIn(ReadJson("again.json")), CyclesIn(ReadJson("plan.json")));
}

TEST_F(CostsTest, PlansFollowMeasurements) {
  ASSERT_EQ(Plan({"--output", "plan.json", "--output", "tiles.csv"}).exit_code, 0);
  Write("slow.csv", WithCycles(Read("tiles.csv"), 3));
  Write("quick.csv", WithCycles(Read("tiles.csv"), 0.25));
  const Outcome eval = Run({"eval", "plan.json", "--costs", "slow.csv", "--output", "slow.json"});
  ASSERT_EQ(eval.exit_code, 0) << eval.err;
  ASSERT_EQ(Plan({"--costs", "slow.csv", "--output", "avoids.json"}).exit_code, 0);
  ASSERT_EQ(Plan({"--costs", "quick.csv", "--output", "uses.json"}).exit_code, 0);
  const int64_t modelled = CyclesIn(ReadJson("plan.json"));
  EXPECT_GT(CyclesIn(ReadJson("slow.json")), modelled);
  EXPECT_LE(CyclesIn(ReadJson("avoids.json")), CyclesIn(ReadJson("slow.json")));
  EXPECT_LT(CyclesIn(ReadJson("uses.json")), modelled);
  for (const char* plan : {"slow.json", "avoids.json", "uses.json"}) {
    const Outcome checked = Run({"check", plan});
    EXPECT_EQ(checked.exit_code, 0) << plan << checked.out << checked.err;
  }
}

TEST_F(CostsTest, ASessionTakesThemForARequest) {
  ASSERT_EQ(Plan({"--output", "tiles.csv"}).exit_code, 0);
  const std::string quick = WithCycles(Read("tiles.csv"), 0.25);
  Write("quick.csv", quick);
  ASSERT_EQ(Plan({"--costs", "quick.csv", "--output", "plan.json"}).exit_code, 0);
  nlohmann::json request = {{"method", "plan"},
                            {"network", Shipped("examples/networks/patent_chain.yaml")},
                            {"profile", Shipped("hw_profiles/edge_npu_64kib.yaml")}};
  const std::string without = request.dump() + "\n";
  request["costs"] = "quick.csv";
  const std::string file = request.dump() + "\n";
  request["costs"] = {{"text", quick}, {"name", "mine.csv"}};
  const std::string text = request.dump() + "\n";
  request["costs"] = {{"text", "operator,tile,engine,cycles\nconv9,1,npu,5\n"}};
  const std::string unknown = request.dump() + "\n";
  request["costs"] = {{"rows", 1}};
  const std::string object = request.dump() + "\n";
  request["costs"] = "quick.csv";
  request["method"] = "evaluate";
  const std::string evaluated = request.dump() + "\n";
  const Outcome outcome =
      Run({"serve", "--jsonl"}, without + file + text + without + unknown + object + evaluated);
  std::vector<nlohmann::json> answers;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) answers.push_back(ParseJson(line));
  ASSERT_EQ(answers.size(), 7U);
  EXPECT_EQ(answers[1].at("score"), CyclesIn(ReadJson("plan.json")));
  EXPECT_LT(answers[1].at("score"), answers[0].at("score"));
  EXPECT_EQ(answers[2], answers[1]);
  EXPECT_EQ(answers[3], answers[0]);
  EXPECT_EQ(answers[4].at("error").at("code"), "bad_input");
  EXPECT_EQ(answers[4].at("error").at("line"), 2);
  EXPECT_EQ(answers[5].at("error").at("code"), "bad_request");
  EXPECT_EQ(answers[5].at("error").at("pointer"), "/costs");
  EXPECT_EQ(answers[6].at("profiles").at(0).at("metrics"), answers[1].at("metrics"));
}

TEST_F(CostsTest, AnEngineThatIsNotThereIsNamed) {
  Write("other.csv", "operator,tile,engine,cycles\nconv1,1x8x8x18,dsp,5\n");
  const Outcome outcome = Plan({"--costs", "other.csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the profile has no engine 'dsp', which 'conv1'"));
}

TEST_F(CostsTest, FaultsHaveTheirPlace) {
  Write("bad.csv", "operator,tile,engine,cycles\nconv9,1x8x8x18,npu,5\n");
  const Outcome outcome = Plan({"--costs", "bad.csv", "--output", "plan.json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("bad.csv:2:1: error: the network has no such operator"));
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 'conv"));
}

}  // namespace
}  // namespace tessera::cli
