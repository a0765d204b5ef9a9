// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// A network of which the accelerator runs a part: the host runs the rest.
namespace tessera::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kHostNetwork = R"(schema: 1
name: attention
inputs:
  - {id: image, shape: [1, 16, 8, 8]}
operators:
  - {id: first, kind: conv, inputs: [image], out_channels: 16, kernel: 3, pads: same}
  - {id: weigh, kind: softmax, inputs: [first], axis: 1}
  - {id: last, kind: conv, inputs: [weigh], out_channels: 8, kernel: 1}
outputs: [last]
)";

constexpr const char* kChip = R"(schema: 1
name: chip
clock_hz: 1e9
memories:
  sram: {capacity_bytes: 4Ki}
  dram: {capacity_bytes: 1Mi}
tile_memory: sram
engines:
  pe:
    operators: {conv: {start_cycles: 10}}
  cpu:
    host: {start_cycles: 500, cycles_per_output: 4}
links:
  dma: {between: [dram, sram]}
roles:
  network_input: {home: dram}
  network_output: {home: dram}
  boundary: {home: dram}
  constant: {home: dram}
tiling:
  axes: [rows]
  weights: [resident, streamed]
  dma: double_buffered
)";

class HostTest : public CommandLineTest {
 protected:
  HostTest() {
    Write("network.yaml", kHostNetwork);
    Write("chip.yaml", kChip);
  }
};

TEST_F(HostTest, APlanStatesWhatRunsThereAndWhy) {
  const Outcome planned = Run({"plan", "network.yaml", "--hw", "chip.yaml", "--output", "plan.json",
                               "--output", "plan.html", "--lowering"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const std::string note =
      "on the host: 1 of 3 operators, 0.00 % of the known MACs; 'weigh': no other engine lists "
      "softmax of int8";
  EXPECT_THAT(planned.out, HasSubstr("MACs on the host"));
  EXPECT_THAT(planned.out, HasSubstr("note: " + note));
  const auto plan = ReadJson("plan.json");
  EXPECT_THAT(plan.at("notes"), Contains(note));
  ASSERT_EQ(plan.at("subgraphs").size(), 3U);
  EXPECT_EQ(plan.at("subgraphs").at(1).at("policies").at("weights"), "direct");
  // 500 + 4 * 1024, while the DRAM moves 1024 bytes in and out.
  EXPECT_EQ(plan.at("subgraphs").at(1).at("metrics").at("latency_cycles"), 500 + 4 * 1024);
  EXPECT_THAT(Read("plan.html"), HasSubstr(R"("reason":"no other engine lists softmax of int8")"));
  const Outcome checked = Run({"check", "plan.json", "--execute"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

TEST_F(HostTest, WithoutItTheNetworkIsUnsupported) {
  Write("chip.yaml",
        Replace(kChip, "  cpu:\n    host: {start_cycles: 500, cycles_per_output: 4}\n", ""));
  const Outcome planned = Run({"plan", "network.yaml", "--hw", "chip.yaml"});
  EXPECT_EQ(planned.exit_code, 4);
  EXPECT_THAT(planned.out + planned.err, HasSubstr("'weigh'"));
}

TEST_F(HostTest, MayRunEverything) {
  Write("float.yaml",
        Replace(kHostNetwork, "name: attention\n", "name: attention\ndtype: float32\n"));
  Write("chip.yaml", Replace(kChip, "{conv: {start_cycles: 10}}", "{conv.int8: {}}"));
  const Outcome planned =
      Run({"plan", "float.yaml", "--hw", "chip.yaml", "--output", "plan.json", "--lowering"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const auto plan = ReadJson("plan.json");
  EXPECT_EQ(plan.at("status"), "optimal");
  EXPECT_THAT(plan.at("notes").dump(), HasSubstr("3 of 3 operators, 100.00 % of the known MACs"));
  EXPECT_EQ(Run({"check", "plan.json", "--execute"}).exit_code, 0);
}

}  // namespace
}  // namespace tessera::cli
