// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "command_line.h"

// Published peaks of MobileNetV2-224 int8, reached by plans: weights are read in flash, the network
// input is off chip, boundary tensors are on chip, and depthwise operators, also those of stride 2,
// work in the place of their operands, channel by channel.
namespace tessera::cli {
namespace {

class MobileNetPeakTest : public CommandLineTest {
 protected:
  static std::string Profile(const std::string& in_place) {
    return "schema: 1\nname: microcontroller\nclock_hz: 216e6\n"
           "memories:\n"
           "  sram: {capacity_bytes: 2Mi}\n"
           "  flash: {capacity_bytes: 16Mi, writable: false, direct_read: true}\n"
           "  camera: {capacity_bytes: 1Mi, direct_read: true}\n"
           "tile_memory: sram\n"
           "engines: {cpu: {operators: {conv: {}, depthwise: {}, elementwise: {}, global_pool: {}, "
           "matmul: "
           "{}}}}\n"
           "roles: {network_input: {home: camera}, constant: {home: flash}}\n"
           "tiling: {axes: [rows, columns], weights: [direct], in_place: " +
           in_place + "}\n";
  }

  // The shipped network. Without additions, readers of a sum read its second operand.
  static std::string Network(bool with_additions) {
    std::ifstream file(Shipped("examples/networks/mobilenet_v2.yaml"));
    std::string text;
    for (std::string line; std::getline(file, line);) {
      const size_t sum = line.find("_add]");
      if (!with_additions && line.find("kind: elementwise") != std::string::npos) continue;
      if (!with_additions && sum != std::string::npos) line.replace(sum, 5, "_project]");
      text += line + "\n";
    }
    return text;
  }

  // The peak of a plan that `check --execute` accepts.
  int64_t PeakOf(const std::string& network, const std::string& in_place,
                 const Arguments& more) const {
    Write("hw.yaml", Profile(in_place));
    Write("net.yaml", network);
    Arguments arguments = {"plan",       "net.yaml", "--hw",     "hw.yaml",
                           "--minimize", "peak",     "--output", "plan.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome planned = Run(arguments);
    EXPECT_EQ(planned.exit_code, 0) << planned.err;
    const Outcome checked = Run({"check", "--execute", "plan.json"});
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
    return ReadJson("plan.json").at("totals").at("peak_bytes").get<int64_t>();
  }

  // Sixteen tiles up to the map of 28 x 28 x 32; the rest layer by layer.
  Arguments InPatches(const std::string& network) const {
    Write("constraints.yaml",
          "schema: 1\nsubgraphs:\n  - {operators: [stem, block3_project], tile: [1, 32, 7, 7]}\n");
    Arguments more = {"--max-operators", "13", "--constraints", "constraints.yaml"};
    const std::string key = "- {id: ";
    size_t at = network.find("id: block4_expand,") - 3;
    for (; at != std::string::npos; at = network.find(key, at + 1)) {
      const size_t name = at + key.size();
      more.insert(more.end(), {"--apart", network.substr(name, network.find(',', name) - name)});
    }
    return more;
  }
};

TEST_F(MobileNetPeakTest, OperatorByOperator) {
  const std::string network = Network(/*with_additions=*/false);
  EXPECT_EQ(PeakOf(network, "[elementwise, depthwise]", {"--max-operators", "1"}), 1372 * 1024);
  EXPECT_EQ(PeakOf(network, "[elementwise]", {"--max-operators", "1"}), 1470 * 1024);
}

TEST_F(MobileNetPeakTest, InPatches) {
  for (const bool with_additions : {false, true}) {
    const std::string network = Network(with_additions);
    EXPECT_EQ(PeakOf(network, "[elementwise, depthwise]", InPatches(network)),
              28 * 28 * (with_additions ? 32 + 192 + 32 : 32 + 192));
  }
}

}  // namespace
}  // namespace tessera::cli
