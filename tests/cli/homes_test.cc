// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "command_line.h"

// A role with several homes, from the profile to the check of the plan.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

// Weights of 1024, 2304 and 2304 bytes in three layers; maps of 16 KiB.
const std::string kThreeConvs = R"(schema: 1
name: three
dtype: int8
inputs:
  - {id: x, shape: [1, 16, 32, 32]}
operators:
  - {id: a, kind: conv, inputs: [x], out_channels: 16, kernel: 2}
  - {id: b, kind: conv, inputs: [a], out_channels: 16, kernel: 3, pads: same}
  - {id: c, kind: conv, inputs: [b], out_channels: 16, kernel: 3, pads: same}
outputs: [c]
)";

class SeveralHomesTest : public CommandLineTest {
 protected:
  SeveralHomesTest() { Write("three.yaml", kThreeConvs); }

  // edge_npu_1mib without tables, with a second memory of that many bytes and these lines.
  void WriteChip(const std::string& tcm, const std::string& lines) const {
    Write("chip.yaml",
          "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") +
              "\nschema: 1\nname: chip\ntable_bytes_per_channel: 0\n"
              "memories: {tcm: {capacity_bytes: " +
              tcm + ", alignment_bytes: 16, port: {bytes_per_cycle: 32}}}\n" +
              "links: {dma2: {between: [tcm, sram], setup_cycles: 2, alignment_bytes: 16}}\n" +
              lines);
  }

  Outcome Plan(const Arguments& more = {}) const {
    Arguments arguments = {"plan", "three.yaml", "--hw", "chip.yaml", "--output", "plan.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(SeveralHomesTest, AreFilledAndCheckedAndCountedInTheCosts) {
  WriteChip("3500", "roles: {constant: {home: [tcm, dram]}}\n");
  ASSERT_EQ(Plan({"--lowering"}).exit_code, 0);
  const nlohmann::ordered_json listed = ReadJson("plan.json");
  const nlohmann::ordered_json expected = {
      {"a.weights", "tcm"}, {"b.weights", "tcm"}, {"c.weights", "dram"}};
  EXPECT_EQ(listed.at("tensor_homes"), expected);
  const Outcome checked = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_EQ(Run({"eval", "plan.json"}).exit_code, 0);

  WriteChip("3500", "");
  ASSERT_EQ(Plan().exit_code, 0);
  const nlohmann::ordered_json single = ReadJson("plan.json");
  EXPECT_FALSE(single.contains("tensor_homes"));
  EXPECT_LT(listed.at("totals").at("latency_cycles"), single.at("totals").at("latency_cycles"));
  EXPECT_EQ(listed.at("lower_bounds").at("off_chip_bytes"),
            single.at("lower_bounds").at("off_chip_bytes"));
}

TEST_F(SeveralHomesTest, CannotBeAlteredInAPlan) {
  WriteChip("3500", "roles: {constant: {home: [tcm, dram]}}\n");
  ASSERT_EQ(Plan().exit_code, 0);
  const std::string plan = Read("plan.json");
  Write("altered.json", Replace(plan, "\"b.weights\": \"tcm\"", "\"b.weights\": \"dram\""));
  const Outcome checked = Run({"check", "altered.json"});
  EXPECT_EQ(checked.exit_code, 5) << checked.out << checked.err;
  EXPECT_THAT(
      checked.out + checked.err,
      HasSubstr("the home of tensor 'b.weights' is 'dram', but the profile's homes give it 'tcm'"));
}

// Two caches of 16 KiB that grow by a row: half of the SRAM holds one, or none.
TEST_F(SeveralHomesTest, HoldStatesOffChipThatFillTheTileMemory) {
  Write("caches.yaml", R"(schema: 1
name: caches
dtype: int8
inputs:
  - {id: k, shape: [1, 4, 255, 16], state: true, next: ks}
  - {id: v, shape: [1, 4, 255, 16], state: true, next: vs}
  - {id: x, shape: [1, 4, 1, 16]}
operators:
  - {id: ks, kind: concat, inputs: [k, x], axis: 2}
  - {id: vs, kind: concat, inputs: [v, x], axis: 2}
  - {id: scores, kind: matmul, inputs: [x, ks], transpose_second: true}
  - {id: y, kind: matmul, inputs: [scores, vs]}
outputs: [y]
)");
  const auto homes_with = [this](const std::string& bytes) {
    Write("chip.yaml", "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") +
                           "\nschema: 1\nname: chip\nmemories: {sram: {capacity_bytes: " + bytes +
                           "}}\n");
    const Outcome planned =
        Run({"plan", "caches.yaml", "--hw", "chip.yaml", "--lowering", "--output", "plan.json"});
    EXPECT_EQ(planned.exit_code, 0) << planned.out << planned.err;
    const Outcome checked = Run({"check", "--execute", "plan.json"});
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
    return ReadJson("plan.json").at("tensor_homes");
  };
  const nlohmann::ordered_json both = {
      {"k", "sram"}, {"v", "sram"}, {"ks", "sram"}, {"vs", "sram"}};
  const nlohmann::ordered_json one = {{"k", "sram"}, {"v", "dram"}, {"ks", "sram"}, {"vs", "dram"}};
  const nlohmann::ordered_json none = {
      {"k", "dram"}, {"v", "dram"}, {"ks", "dram"}, {"vs", "dram"}};
  EXPECT_EQ(homes_with("64Ki"), both);
  EXPECT_EQ(homes_with("65520"), one);
  EXPECT_EQ(homes_with("32752"), none);
}

// The first home alone is too small; the list is not.
TEST_F(SeveralHomesTest, TakeWhatDoesNotFitInTheFirst) {
  WriteChip("2Ki", "roles: {constant: {home: tcm}}\n");
  EXPECT_EQ(Plan().exit_code, 20);
  WriteChip("2Ki", "roles: {constant: {home: [tcm, dram]}}\n");
  EXPECT_EQ(Plan().exit_code, 0);
}

TEST_F(SeveralHomesTest, ThatAreAllTooSmallAreNamedAndLengthened) {
  WriteChip("2Ki", "roles: {constant: {home: [tcm, rom]}}\n");
  Write("chip.yaml", Replace(Replace(Read("chip.yaml"), "memories: {",
                                     "memories: {rom: {capacity_bytes: 4Ki}, "),
                             "links: {", "links: {dma3: {between: [rom, sram]}, "));
  const Outcome refused = Plan({"--format", "json"});
  ASSERT_EQ(refused.exit_code, 20) << refused.out << refused.err;
  const nlohmann::ordered_json answer = ParseJson(refused.out);
  EXPECT_EQ(answer.at("obstacle").at("memory"), "rom");
  EXPECT_EQ(answer.at("obstacle").at("needed_bytes"), 2304 + 2304);
  EXPECT_EQ(answer.at("obstacle").at("available_bytes"), 4096);
  EXPECT_EQ(answer.at("obstacle").at("tensors").size(), 2U);
  bool longer = false;
  for (const auto& remedy : answer.at("remedies")) {
    if (remedy.at("kind") != "home") continue;
    longer = true;
    EXPECT_EQ(remedy.at("subject"), "roles.constant");
    EXPECT_EQ(remedy.at("value"), "[tcm, rom, dram]");
    EXPECT_EQ(remedy.at("evidence"), "plan");
  }
  EXPECT_TRUE(longer) << answer.dump(1);
  Write("chip.yaml", Replace(Read("chip.yaml"), "[tcm, rom]", "[tcm, rom, dram]"));
  EXPECT_EQ(Plan().exit_code, 0);
}

TEST_F(SeveralHomesTest, ThatCannotBeReadArePointedAt) {
  WriteChip("2Ki", "roles: {constant: {home: [tcm, drum]}}\n");
  const Outcome outcome = Plan();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("chip.yaml:7:32"));
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 'dram'?"));
}

// Each operator fits alone, but the memory between subgraphs does not hold all tensors.
TEST_F(SeveralHomesTest, LayerByLayerNeedsRoomForAllTensors) {
  const std::string files = Shipped("tests/cli/drawn/full_home");
  const Arguments plan = {"plan",       files + ".yaml", "--hw",     files + ".hw.yaml",
                          "--minimize", "peak",          "--output", "plan.json"};
  const Outcome outcome = Run(plan);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("layer by layer, the memories have no room for all tensors"));
  EXPECT_FALSE(ReadJson("plan.json").at("baseline").at("complete").get<bool>());
  const Outcome checked = Run({"check", "plan.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("confirmed without the search: no plan has peak below 852"));
}

}  // namespace
}  // namespace tessera::cli
