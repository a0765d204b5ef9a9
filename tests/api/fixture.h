// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

// Inputs of the tests of the C++ interface, which include public headers only.
namespace tessera::tests {

inline const std::string kNetwork = TESSERA_SOURCE_DIR "/examples/networks/mobilenet_v2.yaml";
inline const std::string kProfile = TESSERA_SOURCE_DIR "/hw_profiles/edge_npu_1mib.yaml";

inline constexpr std::string_view kChain = R"(schema: 1
name: chain
inputs:
  - {id: x, shape: [1, 16, 32, 32]}
operators:
  - {id: a, kind: conv, inputs: [x], out_channels: 16, kernel: 3, pads: same}
  - {id: b, kind: conv, inputs: [a], out_channels: 16, kernel: 3, pads: same}
outputs: [b]
)";

template <typename T>
T Must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.Error().text;
    std::abort();
  }
  return *std::move(result);
}

inline Network Chain() { return Must(Network::Parse(kChain)); }
inline Profile Npu() { return Must(Profile::Load(kProfile)); }

inline Plan PlanOf(const Network& network, const Profile& profile,
                   const PlanOptions& options = {}) {
  const PlanAnswer answer = Must(MakePlan(network, profile, options));
  if (!answer.plan) {
    ADD_FAILURE() << NameOf(answer.outcome) << ": " << answer.reason;
    std::abort();
  }
  return *answer.plan;
}

inline std::string Json(const Plan& plan) { return Must(plan.Render("json")); }

// A with B, B with C: 12 bytes suffice for the three of 8, 4 and 8.
inline Problem ThreeBuffers() {
  return Must(Problem::Make(
      {{"a", 8, {{0, 3}}}, {"b", 4, {{1, 6}, {7, 9}}}, {"c", 8, {{4, 9}}, /*alignment=*/4}}));
}

}  // namespace tessera::tests
