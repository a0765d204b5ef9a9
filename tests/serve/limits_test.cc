// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command_line.h"
#include "tessera/tests/draws.h"

// What a session of `tessera serve --jsonl` keeps apart: its stream, its memory, its requests.
namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;
using testing::AnyOf;
using testing::HasSubstr;

constexpr const char* kNetwork = R"(schema: 1
name: one
inputs: [{id: x, shape: [1, 8, 4, 4]}]
operators: [{id: r, kind: elementwise, function: relu, inputs: [x]}]
)";

class ServeLimitsTest : public CommandLineTest {
 protected:
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

  static Json Request(const std::string& method, Json network) {
    return {{"method", method},
            {"network", std::move(network)},
            {"profile", Shipped("hw_profiles/mcu_320k.yaml")}};
  }
};

TEST_F(ServeLimitsTest, StandardInputIsNoDocument) {
  Write("profile.yaml", "extends: /dev/stdin\n");
  Json extending = Request("plan", {{"text", kNetwork}});
  extending["profile"] = "profile.yaml";
  const std::string ping = "{\"method\": \"ping\"}\n";
  const std::vector<Json> answers = Serve(
      Request("plan", "-").dump() + "\n" + Request("plan", "/dev/stdin").dump() + "\n" + ping +
      extending.dump() + "\n" + R"({"method": "allocate", "problem": "-"})" + "\n" + ping);
  ASSERT_EQ(answers.size(), 6U);
  EXPECT_EQ(answers[0].at("error").at("code"), "bad_request");
  EXPECT_EQ(answers[0].at("error").at("pointer"), "/network");
  EXPECT_EQ(answers[0].at("error").at("message"), "standard input holds the requests");
  EXPECT_EQ(answers[1].at("error").at("message"), "the file is empty");
  EXPECT_EQ(answers[2].at("ok"), true);
  EXPECT_EQ(answers[3].at("error").at("code"), "bad_input");
  EXPECT_EQ(answers[4].at("error").at("pointer"), "/problem");
  EXPECT_EQ(answers[5].at("ok"), true);
}

// Each network is another one, of 3 MiB. All of them are more than the limit. A sanitizer keeps
// memory that was freed, which counts.
TEST_F(ServeLimitsTest, WhatIsKeptDoesNotCutLaterRequestsOff) {
  constexpr int kNetworks = 20;
  const std::string comment = "#" + std::string(size_t{3} << 20, '.') + "\n";
  std::string input;
  for (int i = 0; i < kNetworks; ++i) {
    const std::string text = kNetwork + ("#" + std::to_string(i)) + comment;
    input += Request("plan", {{"text", text}}).dump() + "\n";
  }
  Json last = Request("plan", Shipped("examples/networks/patent_chain.yaml"));
  last["profile"] = Shipped("hw_profiles/edge_npu_64kib.yaml");
  const std::vector<Json> answers =
      Serve(input + last.dump(), {"--memory-limit", kSanitized ? "2Gi" : "96Mi"});
  ASSERT_EQ(answers.size(), kNetworks + 1U);
  for (const Json& answer : answers) {
    EXPECT_THAT(answer.at("outcome"), AnyOf("optimal", "feasible"));
    EXPECT_FALSE(answer.contains("stopped"));
  }
  EXPECT_EQ(answers.back(), Serve(last.dump()).front());
}

// Name and text of both documents are the same when one follows the other.
TEST_F(ServeLimitsTest, ADocumentIsNameAndText) {
  const Json first = Request("plan", {{"text", kNetwork}, {"name", "n\ndtype: int16 #.yaml"}});
  const Json second =
      Request("plan", {{"text", "dtype: int16 #.yaml\n" + std::string(kNetwork)}, {"name", "n"}});
  const Json alone = Serve(second.dump()).front();
  EXPECT_NE(Serve(first.dump()).front(), alone);
  EXPECT_EQ(Serve(first.dump() + "\n" + second.dump()).at(1), alone);
}

TEST_F(ServeLimitsTest, MoreLinesThanWaitHaveAnAnswerAfterASignal) {
  Json plan = Request("plan", Shipped("examples/networks/mobilenet_v2.yaml"));  // takes seconds
  plan["profile"] = Shipped("hw_profiles/edge_npu_64kib.yaml");
  std::string input = "{\"id\": 0, \"method\": \"ping\"}\n" + plan.dump() + "\n";
  for (int id = 2; id < 1'500; ++id)
    input += "{\"id\": " + std::to_string(id) + ", \"method\": \"ping\"}\n";
  Process process({"serve", "--jsonl"}, Folder(), Streams(), input);
  const auto has_begun = [&] {
    std::ifstream file(Streams() / "stdout");
    std::string line;
    return static_cast<bool>(std::getline(file, line));
  };
  while (!has_begun()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  process.Signal(SIGINT);
  const Outcome outcome = process.Wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  const std::vector<Json> answers = LinesOf(outcome.out);
  ASSERT_EQ(answers.size(), 1'500U);
  for (size_t id = 2; id < answers.size(); ++id) {
    EXPECT_EQ(answers[id].at("id"), id);
    EXPECT_EQ(answers[id].at("error").at("code"), "stopped");
  }
}

// Each request with the pointer of its error.
TEST_F(ServeLimitsTest, ErrorsOfRequestsSayWhere) {
  const auto plan = [](const std::string& key, const Json& value) {
    Json request = Request("plan", {{"text", kNetwork}});
    request[key] = value;
    return request;
  };
  const Json list = {{"text", "id,lower,upper,size\na,0,3,4\n"}};
  const Json check = {
      {"method", "check"}, {"problem", list}, {"allocation", {{"format", "tessera-allocation"}}}};
  const auto with = [](Json request, const std::string& key, const Json& value) {
    request[key] = value;
    return request;
  };
  const std::vector<std::pair<Json, std::string>> cases = {
      {plan("network", ""), "/network"},
      {plan("network", {{"text", kNetwork}, {"name", 3}}), "/network/name"},
      {plan("network", {{"text", kNetwork}, {"nmae", "n"}}), "/network/nmae"},
      {plan("minimize", "speed"), "/minimize"},
      {plan("minimize", Json::object()), "/minimize"},
      {plan("minimize", {{"latency", 0}}), "/minimize"},
      {plan("minimize", {{"speed", 1}}), "/minimize/speed"},
      {plan("limits", {{"latncy", 1}}), "/limits/latncy"},
      {plan("engine", "greedily"), "/engine"},
      {with(check, "execute", true), "/execute"},
      {with(check, "timeout", 3), "/timeout"},
      {{{"method", "cancel"}, {"target", Json::object()}}, "/target"},
      {{{"method", "cancel"}, {"target", nullptr}}, "/target"}};
  std::string input;
  for (const auto& [request, pointer] : cases) input += request.dump() + "\n";
  const std::vector<Json> answers = Serve(input);
  ASSERT_EQ(answers.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    const Json& error = answers[i].at("error");
    EXPECT_EQ(error.at("code"), "bad_request") << cases[i].first;
    EXPECT_EQ(error.at("pointer"), cases[i].second) << error;
  }
  EXPECT_EQ(answers[7].at("error").at("hint"), "did you mean 'latency'?");
}

TEST_F(ServeLimitsTest, AProblemWithCandidatesNamesOne) {
  Json request = {{"method", "allocate"},
                  {"problem", Json::parse(R"({"format": "tessera-problem", "version": 1,
                    "memories": [{"name": "m", "capacity": 64}],
                    "buffers": [{"id": "a", "size": 8, "lifespans": [[0, 3]]}],
                    "tile_candidates": {"candidates": [{"name": "x", "sizes": {"a": 4}}]}})")}};
  const std::string none = request.dump() + "\n";
  request["candidate"] = "y";
  const std::string wrong = request.dump() + "\n";
  request["candidate"] = "x";
  const std::vector<Json> answers = Serve(none + wrong + request.dump());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(answers.at(i).at("error").at("pointer"), "/candidate");
    EXPECT_THAT(answers[i].at("error").at("expected").get<std::string>(), HasSubstr("one of x"));
  }
  EXPECT_EQ(answers.at(2).at("peak"), 4);
}

}  // namespace
}  // namespace tessera::cli
