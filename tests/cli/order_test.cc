// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// `tessera plan` with the order of the operators as part of the search, and the commands that read
// a plan in another order.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// A network with long skips. A convolution on each skip leaves an eighth of the channels. In the
// file it runs just before the reader of its result, so the whole map waits.
constexpr const char* kSkips = R"(schema: 1
name: skips
dtype: int8
inputs:
  - {id: image, shape: [1, 3, 192, 192]}
operators:
  - {id: in1, kind: conv, inputs: [image], out_channels: 16, kernel: 3, pads: same}
  - {id: down1, kind: conv, inputs: [in1], out_channels: 32, kernel: 3, stride: 2, pads: same}
  - {id: in2, kind: conv, inputs: [down1], out_channels: 32, kernel: 3, pads: same}
  - {id: down2, kind: conv, inputs: [in2], out_channels: 64, kernel: 3, stride: 2, pads: same}
  - {id: deep, kind: conv, inputs: [down2], out_channels: 64, kernel: 3, pads: same}
  - {id: up2, kind: resize, mode: nearest, inputs: [deep], size: [96, 96]}
  - {id: skip2, kind: conv, inputs: [in2], out_channels: 4, kernel: 1}
  - {id: both2, kind: concat, inputs: [up2, skip2], axis: 1}
  - {id: out2, kind: conv, inputs: [both2], out_channels: 16, kernel: 3, pads: same}
  - {id: up1, kind: resize, mode: nearest, inputs: [out2], size: [192, 192]}
  - {id: skip1, kind: conv, inputs: [in1], out_channels: 2, kernel: 1}
  - {id: both1, kind: concat, inputs: [up1, skip1], axis: 1}
  - {id: out1, kind: conv, inputs: [both1], out_channels: 8, kernel: 3, pads: same}
outputs: [out1]
)";

class OrderTest : public CommandLineTest {
 protected:
  Outcome Plan(const Arguments& more) {
    Write("skips.yaml", kSkips);
    Arguments arguments = {"plan",       "skips.yaml",
                           "--hw",       Shipped("hw_profiles/ethos_u65_256.yaml"),
                           "--minimize", "off_chip_bytes"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  std::vector<std::string> OrderIn(const std::string& file) {
    std::vector<std::string> ids;
    const auto plan = ReadJson(file);
    for (const auto& op : plan.at("network").at("operators")) ids.push_back(op.at("id"));
    return ids;
  }
};

TEST_F(OrderTest, GainsAndSaysSo) {
  ASSERT_EQ(Plan({"--order", "given", "--max-operators", "3", "--output", "given.json"}).exit_code,
            0);
  const Outcome outcome = Plan({"--max-operators", "3", "--output", "found.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_LT(ReadJson("found.json").at("score"), ReadJson("given.json").at("score"));
  EXPECT_THAT(
      outcome.out,
      HasSubstr("operators run elsewhere than in the order of the file, in which the score is "));
  EXPECT_NE(OrderIn("found.json"), OrderIn("given.json"));
}

TEST_F(OrderTest, WhatWorksOnPlansWorksOnOneInAnotherOrder) {
  ASSERT_EQ(Plan({"--order", "given", "--max-operators", "3", "--output", "given.json"}).exit_code,
            0);
  ASSERT_EQ(Plan({"--max-operators", "3", "--lowering", "--output", "found.json", "--output",
                  "found.html", "--trace", "trace.json"})
                .exit_code,
            0);
  const Outcome checked = Run({"check", "--execute", "found.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("lowered: "));
  const Outcome evaluated = Run({"eval", "found.json", "--format", "json"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(ParseJson(evaluated.out).at("score"), ReadJson("found.json").at("score"));
  EXPECT_EQ(Run({"show", "found.json"}).exit_code, 0);
  const Outcome compared = Run({"diff", "given.json", "found.json"});
  EXPECT_EQ(compared.exit_code, 0);
  EXPECT_THAT(compared.out, HasSubstr("run in another order"));
}

TEST_F(OrderTest, IsTheSameOnAnyNumberOfThreads) {
  ASSERT_EQ(Plan({"--threads", "1", "--output", "one.json"}).exit_code, 0);
  ASSERT_EQ(Plan({"--threads", "3", "--output", "three.json"}).exit_code, 0);
  EXPECT_TRUE(Read("one.json") == Read("three.json"));
}

TEST_F(OrderTest, NumbersInConstraintsAreThoseOfTheFile) {
  const Outcome outcome = Plan({"--max-operators", "3", "--apart", "6", "--output", "found.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("a subgraph that begins with operator 'skip2'"));
  bool begins = false;
  const auto plan = ReadJson("found.json");
  for (const auto& subgraph : plan.at("subgraphs"))
    begins = begins || subgraph.at("operators").at(0) == "skip2";
  EXPECT_TRUE(begins);
  EXPECT_NE(OrderIn("found.json").at(6), "skip2");
}

TEST_F(OrderTest, AnOlderPlanKeepsItsOrderWhereThatCostsNothing) {
  // The order of an older plan may have a better plan, which is then the older one.
  ASSERT_EQ(Plan({"--max-operators", "3", "--output", "first.json"}).exit_code, 0);
  ASSERT_EQ(
      Plan({"--max-operators", "3", "--previous", "first.json", "--output", "old.json"}).exit_code,
      0);
  const Outcome outcome =
      Plan({"--max-operators", "3", "--previous", "old.json", "--output", "new.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(OrderIn("new.json"), OrderIn("old.json"));
  EXPECT_THAT(Run({"diff", "old.json", "new.json"}).out,
              HasSubstr("same subgraphs, same addresses"));
}

// Found by the audit: too many orders to try all, no plan within the limits in the order of the
// file.
TEST_F(OrderTest, APlanIsFoundAgainWithItsOwnMetricsAsLimits) {
  const std::string files = Shipped("tests/cli/drawn/limits_of_another_order");
  const auto plan = [&](const std::string& objective, const std::string& limits) {
    return Run({"plan", files + ".yaml", "--hw", files + ".hw.yaml", "--minimize", objective,
                "--limit", limits, "--output", "limited.json"});
  };
  EXPECT_EQ(
      plan("latency", "energy=17413.5,latency=990,macs=1488,off_chip_bytes=869,peak=518").exit_code,
      0);
  EXPECT_EQ(Run({"check", "--execute", "limited.json"}).exit_code, 0);
  EXPECT_EQ(plan("macs", "latency=990,off_chip_bytes=869,peak=518").exit_code, 0);
}

TEST_F(OrderTest, IsOneOfTwo) {
  const Outcome outcome = Plan({"--order", "random"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--order"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("checked")));
}

}  // namespace
}  // namespace tessera::cli
