// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "fixture.h"

// Explorations as calls of the library; tests/explore tests their answers.
namespace tessera::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string Specification() {
  return std::string("schema: 1\nnetworks: [") + TESSERA_SOURCE_DIR +
         "/examples/networks/patent_chain.yaml]\nprofile: " + TESSERA_SOURCE_DIR +
         "/hw_profiles/edge_npu_64kib.yaml\n"
         "vary: {memories.sram.capacity_bytes: {name: sram, values: [4Ki, 8Ki]}}\n"
         "minimize: [latency, sram]\noptions: {budget: 20000}\n";
}

TEST(Explorations, AreDocumentsTablesAndPages) {
  const ExploreAnswer answer = Must(ExploreText(Specification()));
  EXPECT_FALSE(answer.stopped);
  EXPECT_THAT(answer.json, HasSubstr("\"format\": \"tessera-exploration\""));
  EXPECT_THAT(answer.csv, HasSubstr("network,point,sram,settled"));
  EXPECT_THAT(answer.html, HasSubstr("<html"));
  EXPECT_THAT(answer.text, HasSubstr("front of patent_chain"));
  ExploreOptions least;
  least.least = "memories.sram.capacity_bytes";
  const ExploreAnswer other = Must(ExploreText(Specification(), least));
  EXPECT_THAT(other.json, HasSubstr("tessera-least"));
  EXPECT_THAT(other.csv, IsEmpty());
}

TEST(Explorations, RefuseWhatTheyCannotAnswer) {
  const auto fault = ExploreText("schema: 1\nnetwork: []\n", {}, "mine.yaml");
  ASSERT_FALSE(fault);
  EXPECT_EQ(fault.Error().file, "mine.yaml");
  EXPECT_EQ(fault.Error().line, 2);
  EXPECT_FALSE(Explore("/none.yaml"));
  ExploreOptions both;
  both.relax = true;
  both.marginal = true;
  EXPECT_FALSE(ExploreText(Specification(), both));
  ExploreOptions never;
  never.timeout_s = -1;
  EXPECT_FALSE(ExploreText(Specification(), never));
}

TEST(Explorations, EndWhenTheyAreCancelled) {
  ExploreOptions options;
  options.canceller.emplace();
  options.progress = [&](std::string_view) { options.canceller->Cancel(); };
  const ExploreAnswer answer = Must(ExploreText(Specification(), options));
  EXPECT_EQ(answer.stopped, answer.json.empty());
  EXPECT_TRUE(options.canceller->IsCancelled());
}

TEST(Bounds, SayWhyThereIsNoPlan) {
  const Profile tight = Must(Npu().With("/memories/sram/capacity_bytes", "64"));
  EXPECT_THAT(Must(WhyNoPlan(Chain(), tight)), Not(IsEmpty()));
  EXPECT_THAT(Must(WhyNoPlan(Chain(), Npu())), IsEmpty());
  EXPECT_THAT(Must(WhyNoPlan(Chain(), Npu(), {{"latency", 1}})), HasSubstr("latency"));
}

// A window of all channels exceeds the memory, and the profile has no slices along K. The plan is
// that of a network in parts, which the bounds must allow for.
TEST(Bounds, HoldForPlansInParts) {
  const Network network = Must(Network::Parse(R"(schema: 1
name: wide
dtype: int8
inputs:
  - {id: x, shape: [1, 512, 25, 25]}
operators:
  - {id: wide, kind: conv, inputs: [x], out_channels: 32, kernel: 3, dilation: 12, pads: same}
outputs: [wide]
)"));
  const Profile profile = Must(Must(Npu().With("/memories/sram/capacity_bytes", "131072"))
                                   .With("/tiling/weights", R"(["resident", "streamed"])"));
  const Plan plan = PlanOf(network, profile);
  EXPECT_THAT(Json(plan), HasSubstr("sums of products in parts"));
  EXPECT_THAT(Must(WhyNoPlan(network, profile)), IsEmpty());
  const std::vector<MetricValue> bounds = Must(LowerBounds(network, profile));
  const std::vector<PlanMetric> metrics = plan.Metrics();
  ASSERT_EQ(bounds.size(), metrics.size());
  for (size_t i = 0; i < metrics.size(); ++i)
    EXPECT_LE(bounds[i].second, metrics[i].value) << metrics[i].name;
  // With enough memory the plan is that of the network itself.
  EXPECT_FALSE(
      Must(IsAtLeastAsGood(network, Must(profile.With("/memories/sram/capacity_bytes", "1048576")),
                           profile, {"latency"})));
}

}  // namespace
}  // namespace tessera::tests
