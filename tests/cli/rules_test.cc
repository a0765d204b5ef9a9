// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// Rules of a profile, from the YAML to the answer.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

const std::string kFreeBuffers =
    "id,lower,upper,size\n"
    "x@0,0,2,1024\n"
    "x@1,1,3,1024\n";

class RulesTest : public CommandLineTest {
 protected:
  RulesTest() { Write("buffers.csv", kFreeBuffers); }

  // A shipped profile with these rules.
  void WriteProfile(const std::string& rules) const {
    Write("mine.yaml",
          "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") + "\nrules:\n" + rules);
  }

  Outcome Alloc(const std::string& rule) const {
    WriteProfile("  - {name: mine, " + rule + "}\n");
    return Run({"alloc", "buffers.csv", "--hw", "mine.yaml", "--minimize", "--format", "json"});
  }

  Outcome Plan(const std::string& rule, const Arguments& more = {}) const {
    WriteProfile("  - {name: mine, " + rule + "}\n");
    Arguments arguments = {"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                           "mine.yaml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(RulesTest, AllocAppliesThemToAListOfBuffers) {
  const Outcome outcome =
      Alloc("select: {pair: ping_pong}, require: {kind: xor_distance, distance: 64Ki}");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = ParseJson(outcome.out);
  const int64_t ping = answer.at("offsets").at("x@0");
  const int64_t pong = answer.at("offsets").at("x@1");
  EXPECT_EQ(ping ^ pong, 65536);
  EXPECT_EQ(answer.at("peak"), 65536 + 1024);
}

TEST_F(RulesTest, AllocIsRefutedByThem) {
  EXPECT_EQ(Alloc("select: {name: 'x*'}, require: {kind: window, window: [0, 2048]}").exit_code, 0);
  const Outcome outcome = Alloc("select: {name: 'x*'}, require: {kind: window, window: [0, 2047]}");
  EXPECT_EQ(outcome.exit_code, 20) << outcome.out << outcome.err;
}

TEST_F(RulesTest, AllocRefusesOneThatAListOfBuffersCannotMeet) {
  const Outcome outcome = Alloc("select: {operator: conv}, require: {kind: natural_alignment}");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("rule 'mine', which selects by operator, type or operand"));
}

TEST_F(RulesTest, AFaultInOneStandsWhereItIs) {
  const Outcome outcome = Alloc("select: {rol: boundary}, require: {kind: natural_alignment}");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("mine.yaml:3:27: error: unknown key 'rol'"));
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 'role'?"));
}

TEST_F(RulesTest, APlanKeepsThemAndChecksAgain) {
  const Outcome outcome =
      Plan("select: {role: network_input}, require: {kind: offset, multiple: 8Ki, residue: 4Ki}",
           {"--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto plan = ReadJson("plan.json");
  ASSERT_EQ(plan.at("rules").size(), 1U);
  EXPECT_EQ(plan.at("rules")[0].at("name"), "mine");
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  for (const auto& buffer : plan.at("subgraphs")[0].at("buffers")) {
    if (buffer.at("role") == "network_input") {
      EXPECT_EQ(buffer.at("offset").get<int64_t>() % 8192, 4096);
    }
  }
}

TEST_F(RulesTest, APlanIsRefutedByThem) {
  EXPECT_EQ(Plan("select: {role: network_output}, require: {kind: natural_alignment}").exit_code,
            0);
  const Outcome outcome =
      Plan("select: {role: network_output}, require: {kind: window, window: [0, 1]}");
  EXPECT_EQ(outcome.exit_code, 20) << outcome.out << outcome.err;
}

// Four banks of 4 bytes in two groups; c fills one bank of each group unless it lies at an end.
constexpr const char* kInGroups = R"({"format": "tessera-problem", "version": 1,
  "memories": [{"name": "sram", "capacity": 16,
    "banks": [{"name": "b0", "range": [0, 4]}, {"name": "b1", "range": [4, 8]},
              {"name": "b2", "range": [8, 12]}, {"name": "b3", "range": [12, 16]}],
    "bank_groups": [["b0", "b1"], ["b2", "b3"]]}],
  "buffers": [{"id": "a", "size": 4, "lifespans": [[0, 1]]},
              {"id": "b", "size": 4, "lifespans": [[0, 1]]},
              {"id": "c", "size": 8, "lifespans": [[0, 1]], "offset": 4}],
  "rules": [{"name": "cluster", "require": {"kind": "same_bank_group"}, "pairs": [["a", "b"]]}]})";

TEST_F(RulesTest, AllocKeepsPairsInOneBankGroup) {
  Write("groups.json", Replace(kInGroups, ", \"offset\": 4", ""));
  const Outcome outcome = Run({"alloc", "groups.json", "--capacity", "16", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto offsets = ParseJson(outcome.out).at("offsets");
  EXPECT_EQ(offsets.at("a").get<int64_t>() / 8, offsets.at("b").get<int64_t>() / 8);
  for (const char* engine : {"greedy", "canonical", "local-search", "lazy"}) {
    const Outcome refused = Run({"alloc", "groups.json", "--capacity", "16", "--engine", engine});
    EXPECT_EQ(refused.exit_code, 4) << engine;
    EXPECT_THAT(refused.out + refused.err, HasSubstr("rule 'cluster'")) << engine;
  }
}

TEST_F(RulesTest, ThatNoBankGroupHasAllOfASetIsProven) {
  const std::string set = "\"buffers\": [\"a\", \"b\", \"c\"]";
  Write("groups.json",
        Replace(Replace(kInGroups, "\"pairs\": [[\"a\", \"b\"]]", set), ", \"offset\": 4", ""));
  for (const char* engine : {"cadical", "z3"}) {
    const Outcome outcome = Run(
        {"alloc", "groups.json", "--capacity", "16", "--engine", engine, "--certificate", engine});
    EXPECT_EQ(outcome.exit_code, 20) << engine << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("in one of the bank groups")) << engine;
    EXPECT_EQ(Run({"check", "--certificate", engine}).exit_code, 0) << engine;
  }
}

TEST_F(RulesTest, ThatNoBankGroupHasBothIsProven) {
  Write("groups.json", kInGroups);
  for (const char* engine : {"cadical", "z3"}) {
    const Outcome outcome = Run(
        {"alloc", "groups.json", "--capacity", "16", "--engine", engine, "--certificate", engine});
    EXPECT_EQ(outcome.exit_code, 20) << engine << outcome.err;
    EXPECT_THAT(
        outcome.out,
        HasSubstr(
            "rule 'cluster': ('a', 'b') in one of the bank groups ('b0', 'b1') and ('b2', 'b3')"));
    EXPECT_EQ(Run({"check", "--certificate", engine}).exit_code, 0) << engine;
  }
}

// b may lie where a lay, or next to it where there is space.
TEST_F(RulesTest, AllocMinimisesCosts) {
  Write("costs.json", R"({"format": "tessera-problem", "version": 1, "memories": [{"capacity": 8}],
    "buffers": [{"id": "a", "size": 4, "lifespans": [[0, 1]], "offset": 0}, {"id": "b", "size": 4, "lifespans": [[1, 2]]}],
    "costs": [{"kind": "reuse", "first": "a", "second": "b", "weight": 3}]})");
  const auto roomy =
      ParseJson(Run({"alloc", "costs.json", "--capacity", "8", "--format", "json"}).out);
  EXPECT_EQ(roomy.at("cost"), 0);
  EXPECT_EQ(roomy.at("offsets").at("b"), 4);
  const auto lazy = ParseJson(
      Run({"alloc", "costs.json", "--capacity", "8", "--engine", "lazy", "--format", "json"}).out);
  EXPECT_EQ(lazy.at("cost"), 3);
  EXPECT_THAT(lazy.at("reason"), HasSubstr("no engine asked minimises costs"));
}

}  // namespace
}  // namespace tessera::cli
