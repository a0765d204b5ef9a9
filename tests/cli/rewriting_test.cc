// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// Networks with an operator that fits in no subgraph are planned as others that compute the same.
namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RewritingTest : public CommandLineTest {
 protected:
  // The plan in plan.json, which runs.
  nlohmann::ordered_json PlanOn(const std::string& profile, const std::string& network) {
    const Outcome planned =
        Run({"plan", network, "--hw", Shipped("hw_profiles/" + profile + ".yaml"), "--lowering",
             "--output", "plan.json"});
    EXPECT_EQ(planned.exit_code, 0) << planned.out << planned.err;
    const Outcome run = Run({"check", "--execute", "plan.json"});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    return ReadJson("plan.json");
  }
};

std::vector<std::string> OperatorsOf(const nlohmann::ordered_json& plan) {
  std::vector<std::string> ids;
  for (const auto& op : plan["network"]["operators"]) ids.push_back(op["id"]);
  return ids;
}

// A normalisation over a map that is larger than the memory. Its reductions take slices.
TEST_F(RewritingTest, NormalisationsThatDoNotFitTakeTwoPasses) {
  Write("style.yaml", R"(schema: 1
name: style
dtype: int8
inputs:
  - {id: image, shape: [1, 3, 96, 96]}
operators:
  - {id: conv, kind: conv, inputs: [image], out_channels: 32, kernel: 3, pads: same}
  - {id: norm, kind: layer_norm, inputs: [conv], axis: [2, 3]}
  - {id: back, kind: conv, inputs: [norm], out_channels: 3, kernel: 3, pads: same}
outputs: [back]
)");
  const nlohmann::ordered_json plan = PlanOn("edge_npu_64kib", "style.yaml");
  EXPECT_THAT(plan["notes"].dump(),
              HasSubstr("in two passes, because one does not fit in 'sram': norm"));
  EXPECT_THAT(OperatorsOf(plan),
              ElementsAre("conv", "norm/mean", "norm/mean_square", "norm", "back"));
  // Where it fits, one pass is enough.
  EXPECT_THAT(OperatorsOf(PlanOn("edge_npu_1mib", "style.yaml")),
              ElementsAre("conv", "norm", "back"));
}

// As the embedding of positions in a transformer.
const std::string kPositions = R"(schema: 1
name: positions
dtype: int8
inputs:
  - {id: tokens, shape: [1, 400, 384]}
constants:
  - {id: positions, shape: [400, 384]}
operators:
  - {id: sum, kind: elementwise, inputs: [tokens], weights: [positions], function: add}
  - {id: norm, kind: layer_norm, inputs: [sum], axis: [2]}
outputs: [norm]
)";

TEST_F(RewritingTest, ConstantsThatDoNotFitBecomeStates) {
  Write("positions.yaml", kPositions);
  const nlohmann::ordered_json plan = PlanOn("edge_npu_64kib", "positions.yaml");
  EXPECT_THAT(plan["notes"].dump(), HasSubstr("constants as states that are written once, because "
                                              "they do not fit in 'sram': positions"));
  EXPECT_EQ(plan["network"]["operators"][0]["inputs"],
            nlohmann::ordered_json::parse(R"(["tokens", "positions"])"));
  EXPECT_EQ(PlanOn("edge_npu_1mib", "positions.yaml")["network"]["constants"][0]["id"],
            "positions");
}

// The constant is longer than a bank, and shorter than the banks together.
TEST_F(RewritingTest, ConstantsThatFitInNoBankBecomeStates) {
  Write("positions.yaml", kPositions);
  EXPECT_THAT(PlanOn("three_bank_two_mode", "positions.yaml")["notes"].dump(),
              HasSubstr("written once"));
}

TEST_F(RewritingTest, WithoutRoomForStatesNothingHelps) {
  Write("positions.yaml", kPositions);
  Write("one_home.yaml", "extends: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
                             "\nname: one_home\nroles: {state: {home: sram}}\n");
  const Outcome outcome = Run({"plan", "positions.yaml", "--hw", "one_home.yaml"});
  EXPECT_EQ(outcome.exit_code, 20) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("positions"));
}

}  // namespace
}  // namespace tessera::cli
