// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// Plans shipped networks on shipped accelerators and runs the plans with `tessera check --execute`.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct NetworkOnProfile {
  std::string network;  // file name without its ending
  std::string profile;
  std::string folder = "examples/networks";
};

void PrintTo(const NetworkOnProfile& pair, std::ostream* out) {
  *out << pair.network << " on " << pair.profile;
}

class ShippedPlanTest : public CommandLineTest,
                        public testing::WithParamInterface<NetworkOnProfile> {};

TEST_P(ShippedPlanTest, Runs) {
  const Outcome planned =
      Run({"plan", Shipped(GetParam().folder + '/' + GetParam().network + ".yaml"), "--hw",
           Shipped("hw_profiles/" + GetParam().profile + ".yaml"), "--output", "plan.json"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const Outcome run = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("\nexecuted: "));
}

INSTANTIATE_TEST_SUITE_P(
    Of, ShippedPlanTest,
    testing::Values(NetworkOnProfile{"patent_chain", "edge_npu_1mib"},
                    NetworkOnProfile{"patent_chain", "mcu_320k"},
                    NetworkOnProfile{"patent_chain", "three_bank_two_mode"},
                    NetworkOnProfile{"transformer_encoder", "edge_npu_1mib"},
                    NetworkOnProfile{"transformer_encoder", "mcu_320k"},
                    NetworkOnProfile{"every_kind", "edge_npu_1mib", "tests/graph"},
                    NetworkOnProfile{"every_kind", "tpu_like", "tests/graph"},
                    NetworkOnProfile{"event_detector", "edge_npu_1mib"},
                    NetworkOnProfile{"event_detector", "mcu_320k"},
                    NetworkOnProfile{"mobilenet_v2", "ethos_u55_256"},
                    NetworkOnProfile{"transformer_encoder", "edge_npu_64kib"}),
    [](const auto& info) { return info.param.network + "_on_" + info.param.profile; });

struct DrawnRequest {
  std::string name;  // of two files in tests/cli/drawn
  std::vector<std::string> options;
};

void PrintTo(const DrawnRequest& question, std::ostream* out) { *out << question.name; }

// Questions that audits drew and whose plans were once refused.
class DrawnPlanTest : public CommandLineTest, public testing::WithParamInterface<DrawnRequest> {};

TEST_P(DrawnPlanTest, Runs) {
  const std::string files = Shipped("tests/cli/drawn/" + GetParam().name);
  Arguments arguments = {"plan",     files + ".yaml", "--hw", files + ".hw.yaml",
                         "--output", "plan.json"};
  arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
  const Outcome planned = Run(arguments);
  ASSERT_EQ(planned.exit_code, 0) << planned.out << planned.err;
  const Outcome run = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

INSTANTIATE_TEST_SUITE_P(Of, DrawnPlanTest,
                         testing::Values(DrawnRequest{"barrier_of_no_use",
                                                      {"--minimize", "energy"}},
                                         DrawnRequest{"rule_about_late_scratch",
                                                      {"--minimize", "energy", "--limit",
                                                       "off_chip_bytes=44,peak=112"}}),
                         [](const auto& info) { return info.param.name; });

class ExecuteTest : public CommandLineTest {
 protected:
  ExecuteTest() {
    const Outcome outcome =
        PlanPatentChain("edge_npu_1mib", {"--transfers", "per-subgraph", "--output", "plan.json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
};

TEST_F(ExecuteTest, ReportsWhatWasRun) {
  const Outcome outcome = Run({"check", "--execute", "plan.json", "--format", "json"});
  const nlohmann::ordered_json document = ParseJson(outcome.out);
  EXPECT_EQ(document["status"], "accepted");
  EXPECT_EQ(document["execution"]["tiles"], 1);
  EXPECT_EQ(document["execution"]["operators"], 3);
  EXPECT_GT(document["execution"]["cells_checked"], 0);
}

TEST_F(ExecuteTest, ReportsWhereAPlanGoesWrong) {
  nlohmann::ordered_json plan = ReadJson("plan.json");
  nlohmann::ordered_json& steps = plan["subgraphs"][0]["steps"];
  steps.front().erase("transfers");
  Write("broken.json", plan.dump());
  const Outcome outcome = Run({"check", "--execute", "broken.json"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("refused: "));
  EXPECT_THAT(outcome.out, HasSubstr("  execution: unwritten: step 1, tile 0, operator 'conv1': "));
}

TEST_F(ExecuteTest, RunsPlansOnly) {
  Write("buffers.csv", "id,lower,upper,size,offset\na,0,1,4,0\n");
  const Outcome outcome = Run({"check", "--execute", "buffers.csv", "--capacity", "4"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--execute: only a plan can be run"));
}

}  // namespace
}  // namespace tessera::cli
