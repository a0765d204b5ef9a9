// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <limits>

#include "fixture.h"

// Networks that are made of parts in code.
namespace tessera::tests {
namespace {

using testing::StartsWith;

NetworkParts TwoLayers() {
  return {"two_layers",
          "int8",
          {{"image", {1, 3, 32, 32}}},
          {},
          {{"conv", "c", {"image"}, {{"out_channels", 8}, {"kernel", {3, 3}}, {"pads", "same"}}},
           {"global_pool", "p", {"c"}, {{"keep_axes", false}, {"x-scale", 0.5}}}},
          {"p"}};
}

TEST(NetworkParts, MakeTheNetworkOfTheirDocument) {
  const Network made = Must(Network::Make(TwoLayers()));
  const Network read = Must(Network::Parse(R"(schema: 1
name: two_layers
inputs: [{id: image, shape: [1, 3, 32, 32]}]
operators:
  - {id: c, kind: conv, inputs: [image], out_channels: 8, kernel: [3, 3], pads: same}
  - {id: p, kind: global_pool, inputs: [c], keep_axes: false, x-scale: 0.5}
outputs: [p]
)"));
  EXPECT_EQ(Must(made.Json()), Must(read.Json()));
  NetworkParts parts = TwoLayers();
  parts.outputs.clear();
  parts.constants.push_back({"table", {8}, {{"dtype", "int32"}}});
  parts.operators.push_back(
      {"elementwise", "e", {"p"}, {{"function", "add"}, {"weights", "table"}}});
  EXPECT_EQ(Must(Network::Make(parts)).OperatorCount(), 3U);
}

TEST(NetworkParts, AreNamedIfTheyAreWrong) {
  const auto error_of = [](const NetworkParts& parts) {
    const Result<Network> network = Network::Make(parts);
    EXPECT_FALSE(network);
    return network ? Error() : network.Error();
  };
  NetworkParts wrong = TwoLayers();
  wrong.operators[1].keys.emplace_back("keep_axis", true);
  EXPECT_EQ(error_of(wrong).pointer, "/operators/1");
  EXPECT_THAT(error_of(wrong).text, StartsWith("at /operators/1: error: unknown key 'keep_axis'"));
  wrong = TwoLayers();
  wrong.operators[0].keys.emplace_back("kernel", 5);
  EXPECT_EQ(error_of(wrong).pointer, "/operators/0");
  wrong = TwoLayers();
  wrong.inputs[0].shape = {1, 3, 0, 32};
  EXPECT_EQ(error_of(wrong).pointer, "/inputs/0");
  wrong = TwoLayers();
  wrong.inputs[0].id = "line\nbreak \"and quotes\"";
  EXPECT_EQ(error_of(wrong).pointer, "/operators/0");
  wrong = TwoLayers();
  wrong.outputs = {"p", "q"};
  EXPECT_THAT(error_of(wrong).pointer, StartsWith("/outputs"));
  wrong = TwoLayers();
  wrong.operators[0].keys[0].second = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of(wrong).pointer, "/operators/0");
  EXPECT_EQ(error_of({}).status, CallStatus::kBadInput);
  EXPECT_EQ(error_of({.name = "empty", .inputs = {{"x", {1}}}}).status, CallStatus::kBadInput);
}

}  // namespace
}  // namespace tessera::tests
