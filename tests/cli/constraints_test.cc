// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <map>

#include "command_line.h"

// `tessera plan` with constraints on its answer.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ConstraintsTest : public CommandLineTest {
 protected:
  Outcome Plan(const Arguments& more, const std::string& input = "") const {
    Arguments arguments = {"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                           Shipped("hw_profiles/edge_npu_1mib.yaml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments, input);
  }

  std::vector<std::vector<std::string>> Partition(const Arguments& more) const {
    Arguments arguments = more;
    arguments.insert(arguments.end(), {"--format", "json"});
    const Outcome outcome = Plan(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    std::vector<std::vector<std::string>> partition;
    const auto plan = ParseJson(outcome.out);
    for (const auto& subgraph : plan.at("subgraphs")) partition.push_back(subgraph.at("operators"));
    return partition;
  }
};

using Cut = std::vector<std::vector<std::string>>;

TEST_F(ConstraintsTest, OptionsHoldOperatorsTogetherAndApart) {
  EXPECT_EQ(Partition({"--apart", "conv2", "--together", "conv2..conv3"}),
            (Cut{{"conv1"}, {"conv2", "conv3"}}));
  EXPECT_EQ(Partition({"--apart", "2", "--together", "0..1"}),
            (Cut{{"conv1", "conv2"}, {"conv3"}}));
  EXPECT_EQ(Partition({"--apart", "conv2", "--apart", "conv3"}),
            (Cut{{"conv1"}, {"conv2"}, {"conv3"}}));
}

TEST_F(ConstraintsTest, OptionsKeepTensorsOnChipOrBringThemHome) {
  const auto kept = [&](Arguments more) {
    more.insert(more.end(), {"--max-operators", "1", "--format", "json"});
    const Outcome outcome = Plan(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return ParseJson(outcome.out).value("kept", std::vector<std::string>());
  };
  EXPECT_THAT(kept({"--no-keep", "--keep", "conv1"}), testing::ElementsAre("conv1"));
  EXPECT_THAT(kept({"--spill", "conv1", "--spill", "conv2"}), IsEmpty());
}

TEST_F(ConstraintsTest, AFileStatesASubgraph) {
  Write("constraints.yaml",
        "schema: 1\n"
        "subgraphs:\n"
        "  - operators: [conv1, conv2]\n"
        "    weights: resident\n"
        "spill: [conv2]\n");
  const Outcome outcome = Plan({"--constraints", "constraints.yaml", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(
      outcome.out,
      HasSubstr(
          "note: as required, operators 'conv1' to 'conv2' as a subgraph, weights resident; tensor "
          "'conv2' at home between subgraphs\n"));
  EXPECT_EQ(ReadJson("plan.json").at("subgraphs").size(), 2U);
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

// The constraints that a plan states are a file of constraints for the same plan.
TEST_F(ConstraintsTest, ThePlanStatesWhatWasRequired) {
  Write("constraints.yaml",
        "schema: 1\n"
        "subgraphs:\n"
        "  - {operators: [conv1, conv2], tile: [1, 8, 6, 16], weights: resident}\n"
        "spill: [conv2]\n");
  ASSERT_EQ(Plan({"--constraints", "constraints.yaml", "--apart", "conv3", "--output", "plan.json"})
                .exit_code,
            0);
  nlohmann::ordered_json plan = ReadJson("plan.json");
  EXPECT_EQ(plan.at("constraints"), nlohmann::ordered_json::parse(R"({"schema": 1, "subgraphs":
      [{"operators": ["conv1", "conv2"], "tile": [1, 8, 6, 16], "weights": "resident"}], "spill": ["conv2"], "apart": ["conv3"]})"));
  Write("again.yaml", plan.at("constraints").dump());
  ASSERT_EQ(Plan({"--constraints", "again.yaml", "--output", "again.json"}).exit_code, 0);
  EXPECT_EQ(ReadJson("again.json").at("constraints").at("subgraphs"),
            plan.at("constraints").at("subgraphs"));
  EXPECT_EQ(ReadJson("again.json").at("subgraphs"), plan.at("subgraphs"));

  EXPECT_THAT(Run({"show", "plan.json", "--output", "plan.svg"}).err, IsEmpty());
  ASSERT_EQ(Plan({"--output", "free.json"}).exit_code, 0);
  EXPECT_THAT(ReadJson("free.json"), testing::Not(testing::Contains("constraints")));
  EXPECT_THAT(Run({"diff", "free.json", "plan.json"}).out, HasSubstr("constraints"));

  plan["constraints"]["apart"] = {"conv2"};
  Write("spoiled.json", plan.dump());
  const Outcome refused = Run({"check", "spoiled.json"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.out + refused.err,
              HasSubstr("not as required: a subgraph that begins with operator 'conv2'"));
  plan["constraints"]["apart"] = {"conv9"};
  Write("spoiled.json", plan.dump());
  EXPECT_THAT(Run({"check", "spoiled.json"}).err, HasSubstr("there is no operator 'conv9'"));
}

TEST_F(ConstraintsTest, AFileStatesAddresses) {
  Write("constraints.yaml",
        "schema: 1\n"
        "subgraphs:\n"
        "  - {operators: [conv2, conv3], addresses: {conv3@0: 4Ki}}\n"
        "addresses:\n"
        "  - {tensor: image, memory: dram, offset: 0x1000}\n");
  const Outcome outcome = Plan({"--constraints", "constraints.yaml", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  const auto plan = ReadJson("plan.json");
  std::map<std::string, int64_t> offsets;
  for (const auto& buffer : plan.at("subgraphs")[1].at("buffers"))
    offsets[buffer.at("id")] = buffer.at("offset");
  for (const auto& tensor : plan.at("homes")[0].at("tensors"))
    offsets[tensor.at("tensor")] = tensor.at("offset");
  EXPECT_EQ(offsets.at("s1/conv3@0"), 4096);
  EXPECT_EQ(offsets.at("image"), 4096);
}

TEST_F(ConstraintsTest, AnOlderPlanDecidesBetweenEquals) {
  const Arguments bytes = {"--minimize", "off_chip_bytes"};
  const Outcome old = Plan({"--minimize", "off_chip_bytes", "--apart", "conv2", "--keep", "conv1",
                            "--output", "old.json"});
  ASSERT_EQ(old.exit_code, 0) << old.out << old.err;
  ASSERT_EQ(Partition(bytes).size(), 1U);
  const Outcome outcome =
      Plan({"--minimize", "off_chip_bytes", "--previous", "old.json", "--output", "new.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(ReadJson("new.json").at("score"), ReadJson("old.json").at("score"));
  EXPECT_THAT(Run({"diff", "old.json", "new.json"}).out,
              HasSubstr("same subgraphs, same addresses\n"));
  EXPECT_THAT(
      outcome.out,
      HasSubstr("note: previous plan: 2 of 2 subgraphs, 2 of 2 tiles with their policies and "));
}

TEST_F(ConstraintsTest, AnOlderPlanOfAnotherNetworkSaysSo) {
  ASSERT_EQ(Plan({"--transfers", "per-subgraph", "--output", "old.json"}).exit_code, 0);
  const Outcome outcome =
      Run({"plan", "-", "--hw", Shipped("hw_profiles/mcu_320k.yaml"), "--previous", "old.json"},
          "schema: 1\nname: n\ninputs: [{id: x, shape: [1, 4, 8, 8]}]\n"
          "operators: [{id: a, kind: pool, inputs: [x], kernel: 2, stride: 2}]\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("note: previous plan: operators of 0 of 1 subgraphs are unchanged; "));
}

TEST_F(ConstraintsTest, WhatIsNoPlanIsNoPreviousPlan) {
  Write("old.json", "{\"format\": \"tessera-problem\", \"version\": 1}");
  const Outcome outcome = Plan({"--previous", "old.json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("old.json"));
  EXPECT_THAT(outcome.err, HasSubstr("tessera-plan"));
}

TEST_F(ConstraintsTest, NamesThatAreNoneAreBadInput) {
  const Outcome apart = Plan({"--apart", "cnov2"});
  EXPECT_EQ(apart.exit_code, 3);
  EXPECT_THAT(apart.err, HasSubstr("--apart cnov2: there is no operator 'cnov2'"));
  EXPECT_THAT(apart.err, HasSubstr("did you mean 'conv2'?"));
  EXPECT_THAT(Plan({"--keep", "cnov2"}).err,
              HasSubstr("--keep cnov2: the network has no tensor 'cnov2'"));
  const Outcome file = Plan({"--constraints", "-"}, "schema: 1\napart: [cnov2]\n");
  EXPECT_EQ(file.exit_code, 3);
  EXPECT_THAT(file.err,
              HasSubstr("standard input:2:9: error: the network has no operator 'cnov2'"));
}

TEST_F(ConstraintsTest, ContradictionsAreBadInput) {
  const Outcome outcome =
      Plan({"--constraints", "-", "--apart", "conv2"}, "schema: 1\ntogether: [[conv1, conv3]]\n");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("--apart conv2: a subgraph that begins with operator 'conv2' "
                                     "contradicts what else is required"));
  EXPECT_THAT(outcome.err,
              HasSubstr("nothing that rules out operators 'conv1' to 'conv3' in one subgraph"));
}

TEST_F(ConstraintsTest, WhatNoPlanKeepsIsNamed) {
  const Outcome outcome =
      Plan({"--constraints", "-", "--apart", "conv3", "--limit", "peak=1500", "--format", "json"},
           "schema: 1\nsubgraphs: [{operators: [conv1, conv2], tile: [1, 8, 6, 16]}]\n");
  EXPECT_EQ(outcome.exit_code, 20) << outcome.out << outcome.err;
  const auto answer = ParseJson(outcome.out);
  EXPECT_EQ(answer.at("status"), "infeasible");
  EXPECT_EQ(answer.at("constraints").size(), 1U);
}

}  // namespace
}  // namespace tessera::cli
