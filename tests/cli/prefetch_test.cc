// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// `tessera plan --transfers`: constants that arrive while earlier subgraphs run, and the commands
// that read such plans.
namespace tessera::cli {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class PrefetchTest : public CommandLineTest {
 protected:
  Outcome Plan(const Arguments& more, const std::string& network = "mobilenet_v2_035",
               const std::string& profile = "tpu_like") {
    Arguments arguments = {"plan", Shipped("examples/networks/" + network + ".yaml"), "--hw",
                           Shipped("hw_profiles/" + profile + ".yaml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  static int64_t CyclesIn(const nlohmann::json& plan) {
    return plan.at("totals").at("latency_cycles");
  }
};

TEST_F(PrefetchTest, GainsAndSaysSo) {
  const auto plan = [this](const Arguments& more) {
    return Plan(more, "mobilenet_v2", "edge_npu_1mib");
  };
  ASSERT_EQ(plan({"--transfers", "per-subgraph", "--output", "plain.json"}).exit_code, 0);
  const Outcome outcome = plan({"--lowering", "--output", "ahead.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LT(CyclesIn(ReadJson("ahead.json")), CyclesIn(ReadJson("plain.json")));
  EXPECT_THAT(outcome.out, HasSubstr("resident, prefetched"));
  EXPECT_THAT(outcome.out, HasSubstr("streamed, first slices prefetched"));
  EXPECT_THAT(outcome.out, HasSubstr("without prefetched constants the score is " +
                                     std::to_string(CyclesIn(ReadJson("plain.json")))));
  EXPECT_THAT(Run({"diff", "plain.json", "ahead.json"}).out, HasSubstr(", prefetched"));
  const auto plain = ReadJson("plain.json");
  for (const auto& subgraph : plain.at("subgraphs"))
    EXPECT_FALSE(subgraph.at("policies").contains("prefetch"));
  const Outcome evaluated = Run({"eval", "ahead.json", "--output", "same.json"});
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(CyclesIn(ReadJson("same.json")), CyclesIn(ReadJson("ahead.json")));
  EXPECT_THAT(Run({"check", "--execute", "ahead.json"}).out,
              AllOf(HasSubstr("executed: "), HasSubstr("lowered: ")));
}

TEST_F(PrefetchTest, PlansRunAsTheyAreAndLowered) {
  ASSERT_EQ(Plan({"--lowering", "--output", "ahead.json"}).exit_code, 0);
  const Outcome checked = Run({"check", "--execute", "ahead.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("executed: "));
}

TEST_F(PrefetchTest, EvaluatesPlansThatStateIt) {
  ASSERT_EQ(Plan({"--output", "ahead.json"}).exit_code, 0);
  nlohmann::json plan = ReadJson("ahead.json");
  ASSERT_EQ(Run({"eval", "ahead.json", "--output", "same.json"}).exit_code, 0);
  EXPECT_EQ(CyclesIn(ReadJson("same.json")), CyclesIn(plan));
  for (nlohmann::json& subgraph : plan["subgraphs"]) {
    if (!subgraph["policies"].contains("prefetch")) continue;
    subgraph["policies"]["prefetch"] = {1, 1, 0};
    break;
  }
  plan.erase("lowering");
  Write("parts.json", plan.dump());
  const Outcome parts = Run({"eval", "parts.json", "--output", "in_parts.json"});
  EXPECT_EQ(parts.exit_code, 0) << parts.err;
  EXPECT_THAT(parts.out, HasSubstr("prefetched to 2/3"));
  EXPECT_EQ(Run({"check", "--execute", "in_parts.json"}).exit_code, 0);
  plan["subgraphs"][0]["policies"]["prefetch"] = {1};
  Write("first.json", plan.dump());
  const Outcome refused = Run({"eval", "first.json"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("whose constants are to be prefetched"));
}

// A plan by hand keeps this limit, because constants arrive before the subgraph that would have the
// busiest tile. Proofs about plans without prefetched constants do not refute it.
TEST_F(PrefetchTest, LimitsOfRatesAreNotRefuted) {
  const std::string files = Shipped("tests/cli/drawn/prefetched_rate");
  const Arguments arguments = {
      "plan",    files + ".yaml",      "--hw",     files + ".hw.yaml", "--apart", "p",
      "--limit", "bandwidth_peak=0.8", "--output", "plan.json"};
  const Outcome outcome = Run(arguments);
  EXPECT_THAT(outcome.exit_code, AnyOf(0, 10)) << outcome.out;
}

// The limits are those of a plan for the least latency. Without prefetched constants none keeps
// them.
TEST_F(PrefetchTest, FindsPlansThatKeepLimitsWithItAlone) {
  const std::string files = Shipped("tests/cli/drawn/prefetched_limits");
  const Outcome outcome =
      Run({"plan", files + ".yaml", "--hw", files + ".hw.yaml", "--minimize", "peak", "--limit",
           "energy=55981,bandwidth_average=0.9130029,power=52.3676334", "--output", "plan.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const Outcome checked = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

// Found by the audit: related searches drop the limit on the latency, which a ratio needs.
TEST_F(PrefetchTest, LimitsOfRatiosAreNoFault) {
  const std::string files = Shipped("tests/cli/drawn/prefetched_limits");
  for (const std::string limit : {"bandwidth_average=0.000001", "power=0.000001"}) {
    const Outcome outcome = Run({"plan", files + ".yaml", "--hw", files + ".hw.yaml", "--limit",
                                 limit, "--output", "plan.json"});
    EXPECT_THAT(outcome.exit_code, AnyOf(10, 20)) << outcome.out << outcome.err;
  }
}

TEST_F(PrefetchTest, TimelinesShowIt) {
  ASSERT_EQ(Plan({"--trace", "trace.json"}).exit_code, 0);
  const nlohmann::json trace = ReadJson("trace.json");
  bool shown = false;
  for (const auto& event : trace.at("traceEvents"))
    shown = shown || event.at("name") == "constants of the next subgraph";
  EXPECT_TRUE(shown);
}

}  // namespace
}  // namespace tessera::cli
