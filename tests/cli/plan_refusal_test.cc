// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// `tessera plan` without a plan: the message names what does not fit, by how much, and what would
// help. Each chip is too small in one respect.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Two slices of 32 channels of the last weights take more than 1 MiB in 32 bits. A convolution of
// several groups cannot go in parts.
constexpr std::string_view kHeavy = R"(schema: 1
name: heavy
dtype: float32
inputs:
  - {id: image, shape: [1, 512, 7, 7]}
operators:
  - {id: first, kind: conv, inputs: [image], out_channels: 64, kernel: 1}
  - {id: second, kind: conv, inputs: [first], out_channels: 1024, kernel: 1}
  - {id: third, kind: conv, inputs: [second], out_channels: 512, kernel: 3, pads: same, groups: 2}
outputs: [third]
)";

class PlanRefusalTest : public CommandLineTest {
 protected:
  PlanRefusalTest() {
    Write("heavy.yaml", std::string(kHeavy));
    Write("int8.yaml", Replace(std::string(kHeavy), "float32", "int8"));
  }

  // A profile that differs from a shipped one in these lines.
  std::string Derived(const std::string& profile, const std::string& lines) const {
    Write("chip.yaml", "schema: 1\nextends: " + Shipped("hw_profiles/" + profile + ".yaml") +
                           "\nname: chip\n" + lines);
    return "chip.yaml";
  }

  // edge_npu_1mib without split-k and serialized subgraphs, which would make room.
  std::string Edge(const std::string& lines = "") const {
    return Derived("edge_npu_1mib",
                   "tiling: {weights: [resident, streamed], dma: double_buffered}\n" + lines);
  }

  nlohmann::ordered_json Refused(const std::string& network, const std::string& profile,
                                 int exit_code, const Arguments& more = {}) const {
    Arguments arguments = {"plan", network, "--hw", profile, "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    return ParseJson(outcome.out);
  }

  // The remedy of this kind. It claims to lead to a plan.
  static nlohmann::ordered_json Remedy(const nlohmann::ordered_json& answer,
                                       const std::string& kind) {
    for (const auto& remedy : answer.at("remedies")) {
      if (remedy.at("kind") != kind) continue;
      EXPECT_EQ(remedy.at("evidence"), "plan");
      return remedy;
    }
    ADD_FAILURE() << "no remedy of kind " << kind << " in " << answer.dump(1);
    return {{"value", "0"}, {"subject", ""}};
  }

  int PlanExitCode(const std::string& network, const std::string& profile,
                   const Arguments& more = {}) const {
    Arguments arguments = {"plan", network, "--hw", profile};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments).exit_code;
  }
};

TEST_F(PlanRefusalTest, TextNamesOperatorTensorsBytesAndChanges) {
  const Outcome outcome = Run({"plan", "heavy.yaml", "--hw", Edge()});
  EXPECT_EQ(outcome.exit_code, 20);
  EXPECT_THAT(outcome.out, StartsWith("infeasible: operator 'third' fits in no subgraph: "));
  EXPECT_THAT(outcome.out,
              HasSubstr("'third' needs 1481216 bytes of 'sram' at step 1; 1048576 are there"));
  EXPECT_THAT(outcome.out, HasSubstr("590080  third.weights, slice\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\nwhat would help\n"));
  EXPECT_THAT(outcome.out, HasSubstr("--floats-as int8"));
  EXPECT_THAT(outcome.out,
              HasSubstr("1209600 bytes in memory 'sram' instead of 1048576: a plan was found"));
}

TEST_F(PlanRefusalTest, FloatingPointIsToBecomeInt8) {
  const std::string profile = Edge();
  const auto answer = Refused("heavy.yaml", profile, 20);
  EXPECT_EQ(answer.at("obstacle").at("operator"), "third");
  EXPECT_EQ(answer.at("obstacle").at("needed_bytes"), 1481216);
  EXPECT_EQ(answer.at("obstacle").at("available_bytes"), 1048576);
  EXPECT_EQ(Remedy(answer, "floats_as").at("value"), "int8");
  EXPECT_EQ(PlanExitCode("int8.yaml", profile), 0);
}

TEST_F(PlanRefusalTest, TheCapacityThatIsNamedIsEnough) {
  const auto answer =
      Refused("int8.yaml", Edge("memories: {sram: {capacity_bytes: 200000}}\n"), 20);
  const std::string enough = Remedy(answer, "capacity").at("value");
  EXPECT_EQ(PlanExitCode("int8.yaml", Edge("memories: {sram: {capacity_bytes: " + enough + "}}\n")),
            0);
}

TEST_F(PlanRefusalTest, TheHomeThatIsTooSmallIsNamed) {
  const auto answer =
      Refused("int8.yaml", Edge("memories: {dram: {capacity_bytes: 100000}}\n"), 20);
  EXPECT_EQ(answer.at("obstacle").at("kind"), "home");
  EXPECT_EQ(answer.at("obstacle").at("memory"), "dram");
  EXPECT_GT(answer.at("obstacle").at("tensors").size(), 2U);
  const std::string enough = Remedy(answer, "capacity").at("value");
  EXPECT_EQ(PlanExitCode("int8.yaml", Edge("memories: {dram: {capacity_bytes: " + enough + "}}\n")),
            0);
}

TEST_F(PlanRefusalTest, TheLimitIsNamedWithItsBoundAndAValueThatDoes) {
  const std::string profile = Edge();
  const auto answer = Refused("int8.yaml", profile, 20, {"--limit", "latency=100"});
  const auto& limit = answer.at("obstacle").at("limits").at(0);
  EXPECT_EQ(limit.at("metric"), "latency");
  EXPECT_GT(limit.at("bound").get<double>(), 100);
  EXPECT_EQ(limit.at("operator"), "third");
  EXPECT_EQ(PlanExitCode("int8.yaml", profile, {"--limit", Remedy(answer, "limit").at("value")}),
            0);
}

TEST_F(PlanRefusalTest, ReasonsCanBeLeftOut) {
  const auto answer = Refused("heavy.yaml", Edge(), 20, {"--no-reasons"});
  EXPECT_FALSE(answer.contains("remedies"));
  EXPECT_FALSE(answer.contains("explanation"));
  EXPECT_EQ(answer.at("obstacle").at("operator"), "third");
}

}  // namespace
}  // namespace tessera::cli
