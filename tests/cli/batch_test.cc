// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>

#include "command_line.h"

// Tiles of a batch: images, and heads with their keys and values.
namespace tessera::cli {
namespace {

using testing::HasSubstr;

const std::string kImages = R"(schema: 1
name: images
dtype: int8
inputs:
  - {id: image, shape: [4, 16, 32, 32]}
operators:
  - {id: first, kind: conv, inputs: [image], out_channels: 32, kernel: 3, pads: [1, 1, 1, 1]}
  - {id: pool, kind: pool, function: max, inputs: [first], kernel: 2, stride: 2}
  - {id: second, kind: conv, inputs: [pool], out_channels: 64, kernel: 3, pads: [1, 1, 1, 1]}
  - {id: global, kind: global_pool, function: average, inputs: [second]}
  - {id: classes, kind: matmul, inputs: [global], columns: 10}
outputs: [classes]
)";

class BatchTest : public CommandLineTest {
 protected:
  BatchTest() { Write("images.yaml", kImages); }

  // The 64 KiB accelerator cuts batches. This one has another memory and other axes, and always
  // overlaps transfers.
  void WriteProfile(const std::string& name, const std::string& capacity, const std::string& axes) {
    Write(name + ".yaml", "extends: " + Shipped("hw_profiles/edge_npu_64kib.yaml") + "\nname: " +
                              name + "\nmemories: {sram: {capacity_bytes: " + capacity +
                              "}}\ntiling: {axes: " + axes + ", dma: double_buffered}\n");
  }
};

TEST_F(BatchTest, ImagesThatDoNotFitTogetherFitOneByOne) {
  WriteProfile("images_apart", "32Ki", "[batch, rows, {axis: channels, granularity: 32}]");
  const Outcome planned = Run({"plan", "images.yaml", "--hw", "images_apart.yaml", "--minimize",
                               "off_chip_bytes", "--lowering", "--output", "plan.json"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const nlohmann::ordered_json plan = ReadJson("plan.json");
  const auto& subgraphs = plan["subgraphs"];
  EXPECT_TRUE(std::any_of(subgraphs.begin(), subgraphs.end(), [](const auto& subgraph) {
    return subgraph["tile"][0] < 4 && subgraph["tile"].size() == 4;
  })) << planned.out;
  const Outcome run = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("\nlowered: "));
  WriteProfile("images_together", "32Ki", "[rows, {axis: channels, granularity: 32}]");
  EXPECT_EQ(Run({"plan", "images.yaml", "--hw", "images_together.yaml"}).exit_code, 20);
}

// Queries, keys, values and results take 4 * 128 * 64 bytes each. A tile of one head and half its
// queries loads keys and values again for the other half, unless it keeps them.
TEST_F(BatchTest, KeysAndValuesStayForTheirHead) {
  const Outcome outcome = Run({"tile", Shipped("examples/networks/transformer_encoder.yaml"),
                               "--hw", Shipped("hw_profiles/edge_npu_64kib.yaml"), "--ops",
                               "scores..mixed", "--no-reasons", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::map<std::string, int64_t> off_chip;  // by policy
  const nlohmann::ordered_json answer = ParseJson(outcome.out);
  for (const auto& corner : answer["corners"]) {
    if (corner["tile"] == "1x64x64") off_chip[corner["policy"]] = corner["cost"]["off_chip_bytes"];
  }
  EXPECT_EQ(off_chip["resident"], 32768 * (1 + 2 + 2 + 1));
  EXPECT_EQ(off_chip["resident, halo rolling_buffer"], 32768 * 4);
}

}  // namespace
}  // namespace tessera::cli
