// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// Layers whose reduction axis is too long for the memory. Their operands come in slices along K;
// partial sums stay.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

// A row times a matrix, and a matrix times a matrix. The memory has no space for the whole K of any
// operand.
const std::string kDeep = R"(schema: 1
name: deep
dtype: int8
inputs:
  - {id: row, shape: [1, 100000]}
  - {id: left, shape: [8, 16384]}
  - {id: right, shape: [16384, 8]}
operators:
  - {id: fully_connected, kind: matmul, inputs: [row], columns: 16}
  - {id: product, kind: matmul, inputs: [left, right]}
outputs: [fully_connected, product]
)";

class SplitKTest : public CommandLineTest {
 protected:
  SplitKTest() {
    Write("deep.yaml", kDeep);
    Write("slices.yaml", "extends: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
                             "\nname: slices\ntiling: {k_granularity: 1024}\n");
    Write("wide.yaml", "extends: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
                           "\nname: wide\ntiling: {weights: [resident, streamed]}\n");
  }

  Outcome Plan(const std::string& network, const std::string& profile) {
    return Run({"plan", network, "--hw", profile, "--lowering", "--format", "json", "--output",
                "plan.json"});
  }
};

// Without the policy, the products go in parts, which are operators of their own.
TEST_F(SplitKTest, WhatFitsOnlyInSlicesIsPlannedAndRuns) {
  const Outcome planned = Plan("deep.yaml", "slices.yaml");
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const nlohmann::ordered_json plan = ReadJson("plan.json");
  ASSERT_EQ(plan["subgraphs"].size(), 2U);
  for (const auto& subgraph : plan["subgraphs"])
    EXPECT_EQ(subgraph["policies"]["weights"], "split_k");
  const Outcome run = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("\nlowered: "));
  EXPECT_EQ(Plan("deep.yaml", "wide.yaml").exit_code, 0);
  EXPECT_THAT(ReadJson("plan.json")["notes"].dump(), HasSubstr("sums of products in parts"));
  EXPECT_EQ(Run({"check", "--execute", "plan.json"}).exit_code, 0);
}

TEST_F(SplitKTest, TheClassifierOfVgg) {
  const std::string network = Shipped("examples/networks/vgg_classifier.yaml");
  ASSERT_EQ(Run({"plan", network, "--hw", Shipped("hw_profiles/edge_npu_64kib.yaml"), "--output",
                 "plan.json"})
                .exit_code,
            0);
  const nlohmann::ordered_json plan = ReadJson("plan.json");
  const auto& first = plan["subgraphs"][0];
  EXPECT_EQ(first["policies"]["weights"], "split_k");
  EXPECT_EQ(first["metrics"]["macs"], 25088 * 4096);
  int stated = 0;
  for (const auto& subgraph : plan["subgraphs"]) {
    for (const auto& other :
         subgraph.value("rejected_alternatives", nlohmann::ordered_json::array())) {
      if (other.value("weights", "") == "split_k")
        stated += other.value("k_extent", 0) > 0 ? 1 : -1000;
    }
  }
  EXPECT_GT(stated, 0);
}

TEST_F(SplitKTest, APlanThatSaysSoOfWhatCannotIsRefused) {
  ASSERT_EQ(PlanPatentChain("three_bank_two_mode", {"--output", "chain.json"}).exit_code, 0);
  nlohmann::ordered_json plan = ReadJson("chain.json");
  plan["subgraphs"][0]["policies"]["weights"] = "split_k";
  Write("chain.json", plan.dump());
  const Outcome outcome = Run({"check", "chain.json"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.out + outcome.err,
              HasSubstr("holds operands as split_k, which the profile does not"));
}

TEST_F(SplitKTest, NoProfileSplitsEverythingAlongK) {
  Write("only.yaml", "extends: wide.yaml\nname: only\ntiling: {weights: [split_k]}\n");
  const Outcome outcome = Plan("deep.yaml", "only.yaml");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("most operators cannot be cut along K"));
}

}  // namespace
}  // namespace tessera::cli
