// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <functional>

#include "command_line.h"

// `tessera plan --lowering`, and the checks of `tessera check` on it.
namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

class LoweringTest : public CommandLineTest {
 protected:
  void Plan(const std::string& network, const std::string& profile) const {
    const Outcome outcome = Run({"plan", Shipped("examples/networks/" + network + ".yaml"), "--hw",
                                 Shipped("hw_profiles/" + profile + ".yaml"), "--minimize",
                                 "off_chip_bytes", "--lowering", "--output", "plan.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  void ExpectRefused(const std::function<void(Json&)>& spoil, const std::string& message) const {
    Json plan = ReadJson("plan.json");
    spoil(plan["lowering"]);
    Write("spoiled.json", plan.dump());
    const Outcome looked = Run({"check", "spoiled.json"});
    EXPECT_EQ(looked.exit_code, 5) << looked.out << looked.err;
    EXPECT_THAT(looked.out, HasSubstr("lowering: "));
    const Outcome run = Run({"check", "--execute", "spoiled.json"});
    EXPECT_EQ(run.exit_code, 5) << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr(message));
  }

  // The first job of this kind.
  static Json& JobIn(Json& lowering, const std::string& does) {
    for (Json& subgraph : lowering) {
      for (Json& job : subgraph["jobs"]) {
        if (job["does"] == does) return job;
      }
    }
    ADD_FAILURE() << "no job does " << does;
    return lowering;
  }
};

class ShippedLoweringTest
    : public LoweringTest,
      public testing::WithParamInterface<std::pair<std::string, std::string>> {};

TEST_P(ShippedLoweringTest, RunsInAnotherOrder) {
  Plan(GetParam().first, GetParam().second);
  const Outcome outcome = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nlowered: "));
}

INSTANTIATE_TEST_SUITE_P(Of, ShippedLoweringTest,
                         testing::Values(std::pair("patent_chain", "edge_npu_1mib"),
                                         std::pair("transformer_encoder", "mcu_320k"),
                                         std::pair("transformer_encoder", "three_bank_two_mode"),
                                         std::pair("image_pipeline", "tpu_like"),
                                         std::pair("mobilenet_v2", "ethos_u55_256"),
                                         std::pair("mobilenet_v2", "ethos_u65_256"),
                                         std::pair("transformer_encoder", "edge_npu_64kib")),
                         [](const auto& info) {
                           return info.param.first + "_on_" + info.param.second;
                         });

TEST_F(LoweringTest, IsThereOnRequestAndChangesNothingElse) {
  Plan("patent_chain", "edge_npu_1mib");
  Json lowered = ReadJson("plan.json");
  const Outcome plain =
      PlanPatentChain("edge_npu_1mib", {"--minimize", "off_chip_bytes", "--output", "plain.json"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  ASSERT_TRUE(lowered.contains("lowering"));
  EXPECT_EQ(lowered["lowering"].size(), lowered["subgraphs"].size());
  lowered.erase("lowering");
  EXPECT_EQ(lowered, ReadJson("plain.json"));
}

TEST_F(LoweringTest, FaultsAreRefused) {
  Plan("patent_chain", "edge_npu_1mib");
  ExpectRefused([](Json& lowering) { JobIn(lowering, "compute").erase("depends_on"); },
                "while #0 may still be writing it");
  ExpectRefused(
      [](Json& lowering) {
        Json& strides = JobIn(lowering, "load")["operands"][1]["strides"];
        strides.back() = strides.back().get<int64_t>() + 1;
      },
      "lowering: subgraph 0");
  ExpectRefused(
      [](Json& lowering) {
        Json& address = JobIn(lowering, "store")["operands"][1]["at"][0]["address"];
        address = address.get<int64_t>() + 1;
      },
      "is not complete");
  ExpectRefused(
      [](Json& lowering) {
        for (Json& work : lowering[0]["classes"][0]["work"]) {
          if (!work["regions"].back().contains("extent")) continue;
          Json& extent = work["regions"].back()["extent"];
          extent[2] = extent[2].get<int64_t>() - 1;
        }
      },
      "lowering: subgraph 0");
}

TEST_F(LoweringTest, AccessesThatTheProfileDoesNotAllowAreNamed) {
  Plan("patent_chain", "edge_npu_1mib");
  Json plan = ReadJson("plan.json");
  Json& input = JobIn(plan["lowering"], "compute")["operands"][0];
  input["memory"] = "dram";
  for (Json& spot : input["at"]) spot.erase("buffer");
  Write("spoiled.json", plan.dump());
  for (const char* option : {"--no-search", "--execute"}) {
    const Outcome outcome = Run({"check", option, "spoiled.json"});
    EXPECT_EQ(outcome.exit_code, 5) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("in memory 'dram', which no engine reads")) << option;
  }
}

TEST_F(LoweringTest, IsReadStrictly) {
  Plan("patent_chain", "edge_npu_1mib");
  struct Fault {
    std::function<void(Json&)> spoil;
    std::string pointer;
  };
  const std::vector<Fault> faults = {
      {[](Json& lowering) { lowering[0]["jobs"][0]["depend_on"] = 1; },
       "/lowering/0/jobs/0/depend_on"},
      {[](Json& lowering) { lowering[0]["jobs"][0]["id"] = 1; }, "/lowering/0/jobs/0/id"},
      {[](Json& lowering) { lowering[0]["jobs"][0]["does"] = "lode"; }, "/lowering/0/jobs/0/does"},
      {[](Json& lowering) { lowering[0]["jobs"][0]["tensor"] = "q"; }, "/lowering/0/jobs/0/tensor"},
      {[](Json& lowering) { lowering[0]["jobs"][0]["operands"][0]["strides"].push_back(1); },
       "/lowering/0/jobs/0/operands/0"},
      {[](Json& lowering) { lowering[0]["jobs"].back()["depends_on"][0]["job"] = 99; },
       "/depends_on/0/job"},
      {[](Json& lowering) { lowering[0]["classes"][0]["tiles"] = 2; },
       "/lowering/0/classes/0/tiles"},
      {[](Json& lowering) { lowering[0]["classes"][0]["name"] = "first"; },
       "/lowering/0/classes/0/name"},
      {[](Json& lowering) { lowering[0]["classes"][0]["work"][0]["regions"][0]["operand"] = 9; },
       "/lowering/0/classes/0/work/0/regions/0/operand"},
      {[](Json& lowering) { lowering[0]["classes"] = Json::array(); }, "/lowering/0"},
      {[](Json& lowering) { lowering.push_back(lowering[0]); }, "/lowering/1"}};
  for (const Fault& fault : faults) {
    Json plan = ReadJson("plan.json");
    fault.spoil(plan["lowering"]);
    Write("spoiled.json", plan.dump());
    const Outcome outcome = Run({"check", "spoiled.json"});
    EXPECT_EQ(outcome.exit_code, 3) << fault.pointer << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(fault.pointer));
  }
}

TEST_F(LoweringTest, IsLeftOutWhereThereIsNoTimeForIt) {
  const Outcome planned = Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                               Shipped("hw_profiles/edge_npu_1mib.yaml"), "--lowering", "--timeout",
                               "0", "--output", "plan.json"});
  EXPECT_EQ(planned.exit_code, 10) << planned.err;
  EXPECT_THAT(planned.err, HasSubstr("the plan cannot be lowered: it was stopped first"));
  EXPECT_FALSE(ReadJson("plan.json").contains("lowering"));
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

// The scratch of the first operator fills the only bank that it can be read back from while the
// operator runs. The mode in which the result is stored has no reads there.
TEST_F(LoweringTest, AModeThatForbidsToReadScratchWaits) {
  const std::string files = Shipped("tests/cli/drawn/scratch_between_modes");
  const Outcome planned = Run({"plan", files + ".yaml", "--hw", files + ".hw.yaml", "--together",
                               "t1..t4", "--lowering", "--output", "plan.json"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const Outcome checked = Run({"check", "plan.json", "--execute"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
}

}  // namespace
}  // namespace tessera::cli
