// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <iterator>
#include <sstream>

#include "command_line.h"

// `tessera plan` from a shipped network and a shipped profile to files that check and show read.
namespace tessera::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class PlanTest : public CommandLineTest {
 protected:
  Outcome Plan(const std::string& network, const std::string& profile,
               const Arguments& more = {}) const {
    Arguments arguments = {"plan", Shipped("examples/networks/" + network + ".yaml"), "--hw",
                           Shipped("hw_profiles/" + profile + ".yaml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  nlohmann::ordered_json PlanAsJson(const std::string& network, const std::string& profile,
                                    Arguments more = {}) const {
    more.insert(more.end(), {"--format", "json"});
    const Outcome outcome = Plan(network, profile, more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return ParseJson(outcome.out);
  }
};

// 50 * 1.1 is rounded to more than 55, which five tiles of 10 steps take: a bound of 56 would
// refute the plan.
TEST_F(PlanTest, RatesThatAreNoBinaryFractionsHaveBoundsThatHold) {
  Write("hw.yaml", R"(schema: 1
name: h
clock_hz: 1e9
memories:
  dram: {capacity_bytes: 1Mi, direct_read: true, direct_write: true, port: {bytes_per_cycle: 1e9}}
  sram: {capacity_bytes: 1Ki, port: {bytes_per_cycle: 1e9}}
tile_memory: sram
engines:
  npu:
    operators: {conv: {cycles_per_step: 1.1}}
links: {dma: {between: [dram, sram]}}
roles:
  network_input: {home: dram}
  network_output: {home: dram}
  boundary: {home: dram}
  constant: {home: sram}
tiling: {axes: [rows], dma: double_buffered}
)");
  Write("net.yaml", R"(schema: 1
name: n
dtype: int8
inputs:
  - {id: x, shape: [1, 1, 5, 10]}
operators:
  - {id: c, kind: conv, inputs: [x], out_channels: 1, kernel: 1}
outputs: [c]
)");
  const Outcome outcome = Run({"plan", "net.yaml", "--hw", "hw.yaml", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const auto plan = ReadJson("plan.json");
  EXPECT_EQ(plan.at("totals").at("latency_cycles"), 55);
  EXPECT_EQ(plan.at("lower_bounds").at("latency_cycles"), 55);
  EXPECT_EQ(plan.at("status"), "optimal");
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
}

// Few partial plans rule out others, so such a search may have to be cut short.
TEST_F(PlanTest, ASearchForPowerEnds) {
  for (const Arguments& objective :
       {Arguments{"--score", "latency=1,power=1"},
        Arguments{"--minimize", "power", "--limit", "latency=100000"}}) {
    Arguments arguments = objective;
    arguments.insert(arguments.end(), {"--output", "plan.json"});
    ASSERT_EQ(PlanPatentChain("edge_npu_1mib", arguments).exit_code, 0);
    EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  }
}

TEST_F(PlanTest, WritesFilesThatCheckAndShowTake) {
  const Outcome outcome =
      Plan("patent_chain", "ethos_u65_256",
           {"--output", "plan.json", "--output", "plan.svg", "--report", "plan.html"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(Files(), ElementsAre("plan.html", "plan.json", "plan.svg"));
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  EXPECT_EQ(Run({"show", "plan.json"}).out, Read("plan.svg"));
  EXPECT_THAT(Read("plan.svg"), StartsWith("<svg "));
}

TEST_F(PlanTest, TextShowsSubgraphsAndTotals) {
  const Outcome outcome = Plan("patent_chain", "ethos_u65_256", {"--transfers", "per-subgraph"});
  EXPECT_THAT(outcome.out, StartsWith("patent_chain on ethos_u65_256: 3 operators in "));
  EXPECT_THAT(outcome.out, HasSubstr("layer by layer  lower bound\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\noptimal, checked; score "));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(PlanTest, NotesWhetherOtherEnergiesChangeTheChoice) {
  const Outcome energy = Plan("patent_chain", "edge_npu_1mib",
                              {"--minimize", "energy", "--sensitivity", "--output", "plan.json"});
  ASSERT_EQ(energy.exit_code, 0) << energy.err;
  for (const char* what : {"the energy of dram halved", "the energy of dram doubled",
                           "the energy of a multiply-accumulate halved",
                           "the energy of a multiply-accumulate doubled"}) {
    EXPECT_THAT(energy.out, HasSubstr(std::string("note: sensitivity: with ") + what));
  }
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  EXPECT_THAT(Plan("patent_chain", "edge_npu_1mib", {"--sensitivity"}).out,
              HasSubstr("note: sensitivity: the objective does not look at energy\n"));
}

TEST_F(PlanTest, JsonAnswersInFull) {
  const auto plan = PlanAsJson("patent_chain", "three_bank_two_mode", {"--seed", "3"});
  EXPECT_EQ(plan.at("status"), "optimal");
  EXPECT_EQ(plan.at("score"), plan.at("totals").at("latency_cycles"));
  EXPECT_EQ(plan.at("objective").at("weights"), nlohmann::ordered_json({{"latency", 1.0}}));
  EXPECT_EQ(plan.at("seed"), 3);
  EXPECT_GE(plan.at("time_ms"), 0);
  EXPECT_EQ(plan.at("baseline").at("complete"), true);
  EXPECT_EQ(plan.at("network").at("name"), "patent_chain");
  EXPECT_EQ(plan.at("profile").at("name"), "three_bank_two_mode");
  for (const char* metric :
       {"latency_cycles", "energy_pj", "off_chip_bytes", "peak_bytes", "macs"}) {
    EXPECT_GT(plan.at("totals").at(metric), 0) << metric;
    EXPECT_GT(plan.at("lower_bounds").at(metric), 0) << metric;
    EXPECT_GE(plan.at("totals").at(metric), plan.at("lower_bounds").at(metric)) << metric;
  }
}

TEST_F(PlanTest, MacsAreAMetricLikeTheOthers) {
  const auto least = PlanAsJson("patent_chain", "three_bank_two_mode", {"--minimize", "macs"});
  EXPECT_EQ(least.at("score"), least.at("lower_bounds").at("macs"));
  EXPECT_EQ(least.at("totals").at("recomputed_macs"), 0);
  const std::string bound = std::to_string(least.at("totals").at("macs").get<int64_t>());
  const auto fast = PlanAsJson("patent_chain", "three_bank_two_mode", {"--limit", "macs=" + bound});
  EXPECT_EQ(fast.at("totals").at("macs"), least.at("totals").at("macs"));
  EXPECT_EQ(fast.at("objective").at("limits"),
            nlohmann::ordered_json({{"macs", std::stod(bound)}}));
}

// Every placement gives this latency. One of them has no higher peak than the operators alone.
TEST_F(PlanTest, OfPlansThatCostTheSameTakesTheLowerPeak) {
  Write("mcu.yaml", "extends: " + Shipped("hw_profiles/mcu_320k.yaml") +
                        "\nname: mcu\nmemories: {sram: {capacity_bytes: 256Ki}}\n");
  const Outcome outcome = Run(
      {"plan", Shipped("tests/cli/person_detection.json"), "--hw", "mcu.yaml", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto plan = ParseJson(outcome.out);
  const auto& alone = plan.at("baseline").at("totals");
  EXPECT_EQ(plan.at("totals").at("latency_cycles"), alone.at("latency_cycles"));
  EXPECT_LE(plan.at("totals").at("peak_bytes"), alone.at("peak_bytes"));
}

TEST_F(PlanTest, JsonDescribesEverySubgraph) {
  const auto plan = PlanAsJson("patent_chain", "three_bank_two_mode");
  std::vector<std::string> operators;
  for (const auto& subgraph : plan.at("subgraphs")) {
    for (const auto& name : subgraph.at("operators")) operators.push_back(name);
    EXPECT_EQ(subgraph.at("tile").size(), 4U);
    EXPECT_GE(subgraph.at("tiles"), 1);
    EXPECT_TRUE(subgraph.at("policies").at("weights").is_string());
    EXPECT_GT(subgraph.at("metrics").at("latency_cycles"), 0);
    for (const auto& step : subgraph.at("steps")) EXPECT_TRUE(step.at("mode").is_string()) << step;
    for (const auto& buffer : subgraph.at("buffers")) {
      EXPECT_EQ(buffer.at("memory"), "sram");
      EXPECT_GE(buffer.at("offset"), 0);
      EXPECT_FALSE(buffer.at("banks").empty()) << buffer;
      EXPECT_FALSE(buffer.at("lifespans").empty()) << buffer;
    }
  }
  EXPECT_THAT(operators, ElementsAre("conv1", "conv2", "conv3"));
}

TEST_F(PlanTest, WhatStdoutSaysIsWhatTheFileHolds) {
  auto printed = PlanAsJson("patent_chain", "ethos_u65_256", {"--output", "plan.json"});
  EXPECT_EQ(printed.erase("time_ms"), 1U);
  EXPECT_EQ(printed, ReadJson("plan.json"));
}

TEST_F(PlanTest, ReadsTheNetworkFromStandardInput) {
  const Outcome outcome =
      Run({"plan", "-", "--hw", Shipped("hw_profiles/mcu_320k.yaml")},
          "schema: 1\nname: n\ninputs: [{id: x, shape: [1, 4, 8, 8]}]\n"
          "operators: [{id: a, kind: pool, inputs: [x], kernel: 2, stride: 2}]\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("n on mcu_320k: 1 operator in 1 subgraph\n"));
}

TEST_F(PlanTest, ALimitIsKept) {
  const auto free = PlanAsJson("patent_chain", "edge_npu_1mib");
  const int64_t peak = free.at("totals").at("peak_bytes");
  const auto limited =
      PlanAsJson("patent_chain", "edge_npu_1mib", {"--limit", "peak=" + std::to_string(peak - 1)});
  EXPECT_LT(limited.at("totals").at("peak_bytes"), peak);
  EXPECT_GE(limited.at("totals").at("latency_cycles"), free.at("totals").at("latency_cycles"));
}

TEST_F(PlanTest, AScoreIsAMeanOverLowerBounds) {
  const auto plan = PlanAsJson("patent_chain", "edge_npu_1mib", {"--score", "latency=3,energy=1"});
  const auto over = [&](const char* metric) {
    return plan.at("totals").at(metric).get<double>() /
           plan.at("lower_bounds").at(metric).get<double>();
  };
  EXPECT_NEAR(plan.at("score"), (3 * over("latency_cycles") + over("energy_pj")) / 4, 1e-9);
}

TEST_F(PlanTest, OperatorsAloneAreAsGoodAsTheBaseline) {
  const auto plan =
      PlanAsJson("patent_chain", "ethos_u65_256", {"--max-operators", "1", "--no-keep"});
  EXPECT_EQ(plan.at("subgraphs").size(), 3U);
  EXPECT_EQ(plan.at("score"), plan.at("baseline").at("score"));
}

// The options printed next to a point can be pasted.
TEST_F(PlanTest, ParetoFrontSaysHowToFindEachPoint) {
  const auto front = PlanAsJson("patent_chain", "edge_npu_1mib", {"--pareto", "--points", "8"});
  EXPECT_EQ(front.at("format"), "tessera-front");
  const auto& points = front.at("points");
  ASSERT_GE(points.size(), 2U);
  for (size_t i = 0; i < points.size(); ++i) {
    std::istringstream words(points[i].at("options").get<std::string>());
    const Arguments options{std::istream_iterator<std::string>(words), {}};
    const auto plan = PlanAsJson("patent_chain", "edge_npu_1mib", options);
    EXPECT_EQ(plan.at("totals").at("latency_cycles"), points[i].at("totals").at("latency"));
    EXPECT_EQ(plan.at("totals").at("peak_bytes"), points[i].at("totals").at("peak"));
    EXPECT_GE(points[i].at("totals").at("latency"),
              points[i == 0 ? 0 : i - 1].at("totals").at("latency"));
  }
  const Outcome text = Plan("patent_chain", "edge_npu_1mib", {"--pareto", "--points", "8"});
  EXPECT_THAT(text.out, HasSubstr("none better than another in every metric"));
  EXPECT_THAT(text.out, HasSubstr("--minimize latency\n"));
}

TEST_F(PlanTest, ParetoFrontTakesNoOptionsOfASinglePlan) {
  EXPECT_EQ(Plan("patent_chain", "edge_npu_1mib", {"--pareto", "--minimize", "energy"}).exit_code,
            2);
  EXPECT_EQ(Plan("patent_chain", "edge_npu_1mib", {"--pareto", "--output", "plan.json"}).exit_code,
            2);
  EXPECT_EQ(Plan("patent_chain", "edge_npu_1mib", {"--points", "3"}).exit_code, 2);
  EXPECT_THAT(Files(), IsEmpty());
}

// Layer by layer, FSRCNN moves 187 142 400 bytes of feature maps; fused, a tenth at most.
TEST_F(PlanTest, FsrcnnFusedMovesATenthOfItsFeatures) {
  const auto plan = PlanAsJson("fsrcnn_same", "edge_npu_1mib", {"--minimize", "off_chip_bytes"});
  const auto& bytes = plan.at("totals").at("off_chip_by_cause");
  EXPECT_LE(bytes.at("inputs").get<int64_t>() + bytes.at("outputs").get<int64_t>(),
            187'142'400 / 10);
  EXPECT_GE(bytes.at("inputs").get<int64_t>() + bytes.at("outputs").get<int64_t>(), 8'812'800);
}

}  // namespace
}  // namespace tessera::cli
