// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/exploration.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "fixture.h"
#include "tessera/base/random.h"
#include "tessera/explore/adaptive.h"
#include "tessera/explore/output.h"
#include "tessera/explore/recheck.h"
#include "tessera/tests/draws.h"

// Explorations that skip pairs, against those that plan all of them.
namespace tessera::explore {
namespace {

class ExplorationTest : public SpecTest {
 protected:
  Json Run(const std::string& text, const Store& store, bool plan_all, int threads = 1) {
    const auto spec = Read(text);
    EXPECT_TRUE(spec) << text << base::Format(spec.error());
    const auto found =
        Explore(*spec, store, {.threads = threads, .canceller = {}, .plan_all = plan_all});
    EXPECT_TRUE(found) << base::Format(found.error());
    EXPECT_TRUE(*found);
    return AsDocument(*spec, **found);
  }

  static int CountSettled(const Json& document, const std::string& how) {
    int count = 0;
    for (const Json& pair : document.at("pairs")) count += pair.at("settled") == how ? 1 : 0;
    return count;
  }
};

const std::vector<std::string> kAxes = {
    "memories.sram.capacity_bytes: [2Ki, 3Ki, 8Ki]",
    "memories.sram.capacity_bytes: {from: 1Ki, to: 4Ki, steps: 3}",
    "memories.dram.port.bytes_per_cycle: [1, 4]",
    "engines.npu.operators.*.unroll.out_channels: {name: lanes, values: [1, 8]}",
    "memories.sram.banks: [1, 2]",
    "memories.sram.read_pj_per_byte: [1, 2]",
    "memories.sram.leakage_mw: [0, 50]",
    "memories.dram.port.read_latency_cycles: [10, 100]",
    "tiling.dma: [serialized, double_buffered]",
    "links.dma.outstanding: [1, 4]",
};

const std::vector<std::string> kObjectives = {"[latency, area]",
                                              "[latency, energy, area]",
                                              "[energy]",
                                              "[latency * area, peak]",
                                              "[energy, peak, memories.sram.capacity_bytes]",
                                              "[power * area, off_chip_bytes]"};

TEST_F(ExplorationTest, SkippingChangesNoFront) {
  base::Random random(11);
  int skipped = 0;
  int monotone = 0;
  int planned = 0;
  for (int round = 0; round < DrawsOf(8); ++round) {
    std::string text =
        "schema: 1\nnetworks:\n  - {file: " + Shipped("examples/networks/patent_chain.yaml") +
        ", weight: 3";
    if (random.Chance(0.5))
      text += fmt::format(", limit: {{latency: {}}}", random.Uniform(3000, 8000));
    text += "}\n";
    if (random.Chance(0.5)) text += "  - " + Shipped("examples/networks/patent_fig1.yaml") + "\n";
    text += "profile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") + "\nvary:\n";
    std::vector<std::string> axes = kAxes;
    random.Shuffle(std::span<std::string>(axes));
    std::set<std::string> paths;
    for (const std::string& axis : axes) {
      if (paths.size() < 3 && paths.insert(axis.substr(0, axis.find(':'))).second)
        text += "  " + axis + "\n";
    }
    text += "minimize: " + kObjectives[static_cast<size_t>(random.Uniform(0, 5))] + "\n";
    text +=
        "area: {memories.sram: \"capacity_bytes * 1e-5 + banks\", memories.dram: 0,"
        " engines.npu: \"macs * 1e-3\", engines.host: 0, links.*: 0}\n";
    text += "options: {budget: 20000}\n";
    const auto store = Store::Open(":memory:");
    ASSERT_TRUE(store);
    const Json some = Run(text, *store, false);
    const Json all = Run(text, *store, true);
    EXPECT_EQ(some.at("fronts"), all.at("fronts")) << text;
    EXPECT_EQ(some.value("set_front", Json()), all.value("set_front", Json())) << text;
    planned += CountSettled(some, "planned");
    monotone += CountSettled(some, "monotone");
    skipped += CountSettled(some, "bound") + CountSettled(some, "monotone");
  }
  EXPECT_GE(skipped, LeastOf(16));
  EXPECT_GE(monotone, LeastOf(6));
  EXPECT_GE(planned, LeastOf(16));
}

std::string Small() {
  return "vary:\n"
         "  memories.sram.capacity_bytes: [1Ki, 2Ki, 4Ki, 8Ki]\n"
         "  memories.dram.port.bytes_per_cycle: [1, 2, 4]\n"
         "minimize: [latency, energy, memories.sram.capacity_bytes]\n";
}

TEST_F(ExplorationTest, TheDocumentDependsOnNoThreadsAndNoHistory) {
  const std::string text = Heads() + Small();
  const auto store = Store::Open(":memory:");
  const std::string first = DocumentText(Run(text, *store, false, 1));
  EXPECT_EQ(DocumentText(Run(text, *store, false, 1)), first);  // from the store
  const auto other = Store::Open(":memory:");
  EXPECT_EQ(DocumentText(Run(text, *other, false, 3)), first);
  const auto full = Store::Open(":memory:");
  Run(text, *full, true);  // knows more than is asked
  EXPECT_EQ(DocumentText(Run(text, *full, false, 2)), first);
}

TEST_F(ExplorationTest, ACancelledRunGoesOnWhereItWas) {
  const std::string text = Heads() + Small();
  const auto spec = Read(text);
  ASSERT_TRUE(spec);
  const auto whole = Store::Open(":memory:");
  const std::string expected = DocumentText(Run(text, *whole, false));
  const auto store = Store::Open(":memory:");
  int runs = 0;
  for (bool ended = false; !ended; ++runs) {
    ASSERT_LT(runs, 100);
    const Canceller canceller;
    RunOptions options;
    options.canceller = canceller;
    int plans = 0;
    options.progress = [&](std::string_view) {
      if (++plans == 3) canceller.Cancel();
    };
    const auto found = Explore(*spec, *store, options);
    ASSERT_TRUE(found);
    ended = found->has_value();
    if (ended) {
      EXPECT_EQ(DocumentText(AsDocument(*spec, **found)), expected);
    }
  }
  EXPECT_GT(runs, 1);
}

TEST_F(ExplorationTest, ALimitBelowABoundIsInfeasibleWithoutAPlan) {
  const auto store = Store::Open(":memory:");
  const std::string impossible =
      "schema: 1\nnetworks: [{file: " + Shipped("examples/networks/patent_chain.yaml") +
      ", limit: {latency: 10}}]\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") + "\n" +
      Small();
  const Json none = Run(impossible, *store, false);
  EXPECT_EQ(none.at("fronts").at("patent_chain").size(), 0U);
  for (const Json& pair : none.at("pairs")) {
    EXPECT_EQ(pair.at("settled"), "bound");
    EXPECT_EQ(pair.at("outcome"), "infeasible");
  }
}

TEST_F(ExplorationTest, PointsThatAreNoProfileAreRefusedWithTheReason) {
  const std::string text =
      Heads() + "vary:\n  tiling.dma: [serialized, sometimes]\nminimize: [latency]\n";
  const auto store = Store::Open(":memory:");
  const Json document = Run(text, *store, false);
  EXPECT_EQ(document.at("pairs")[0].at("settled"), "planned");
  EXPECT_EQ(document.at("pairs")[1].at("settled"), "refused");
  EXPECT_THAT(document.at("pairs")[1].at("reason").get<std::string>(),
              testing::HasSubstr("sometimes"));
}

TEST_F(ExplorationTest, ASampleIsCheckedAndChangedFiguresAreFound) {
  const auto store = Store::Open(":memory:");
  Json document = Run(Heads() + Small(), *store, false);
  const auto report = Recheck(*store, document, {.sample = 100});
  ASSERT_TRUE(report) << base::Format(report.error());
  EXPECT_THAT(report->findings, testing::IsEmpty());
  EXPECT_GT(report->planned, 0);
  EXPECT_GT(report->skipped, 0);
  Json wrong = document;
  for (Json& pair : wrong.at("pairs")) {
    if (pair.contains("answers")) pair["answers"][0]["metrics"]["latency"] = 1;
  }
  EXPECT_THAT(Recheck(*store, wrong, {.sample = 100})->findings, testing::SizeIs(report->planned));
  wrong = document;
  for (Json& pair : wrong.at("pairs")) {
    if (!pair.contains("answers")) pair["least"][0] = 1e9;
  }
  EXPECT_FALSE(Recheck(*store, wrong, {.sample = 100})->findings.empty());
  wrong = document;
  wrong.at("fronts").at("patent_chain") = Json::array();
  EXPECT_FALSE(Recheck(*store, wrong, {.sample = 100})->findings.empty());
}

// That no plan was found for one network proves nothing of the set.
TEST_F(ExplorationTest, ANetworkWithoutAProofSettlesNothingOfTheSet) {
  WriteBursts();
  const std::string text =
      "schema: 1\nnetworks: [{file: one.yaml, limit: {latency: 100000}}, {file: one.yaml, name: "
      "two}]\nprofile: bursts.yaml\nminimize: [latency]\nfronts: set\n";
  const auto spec = Read(text);
  ASSERT_TRUE(spec) << base::Format(spec.error());
  const std::vector<Point> points = *spec->space.Enumerate();
  for (const std::string outcome : {"unknown", "failed", "infeasible"}) {
    const auto store = Store::Open(":memory:");
    Planner planner(*spec, points, *store, {});
    ASSERT_FALSE(planner.Load());
    store->Add({planner.KeyOf({{0, 0}, "latency"}), "", "", "latency", "", outcome, "", "why"}, 0);
    const auto found = ExploreAdaptively(*spec, *store, 0.5, {});
    ASSERT_TRUE(found) << base::Format(found.error());
    const Pair& other = (*found)->PairAt(1, 0);
    EXPECT_EQ(other.settled, outcome == "infeasible" ? Settled::kBound : Settled::kOpen) << outcome;
  }
}

TEST_F(ExplorationTest, ASetHasTheWeightedMeanOfItsNetworks) {
  const std::string text =
      "schema: 1\nnetworks: [{file: " + Shipped("examples/networks/patent_chain.yaml") +
      ", weight: 3}, " + Shipped("examples/networks/patent_fig1.yaml") +
      "]\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") + "\n" + Small();
  const auto store = Store::Open(":memory:");
  const Json document = Run(text, *store, true);
  ASSERT_FALSE(document.at("set_front").empty());
  for (const Json& entry : document.at("set_front")) {
    double sum = 0;
    for (const Json& pair : document.at("pairs")) {
      if (pair.at("point") != entry.at("point")) continue;
      for (const Json& answer : pair.at("answers")) {
        if (answer.at("minimized") == entry.at("minimized"))
          sum += (pair.at("network") == "patent_chain" ? 3 : 1) *
                 answer.at("metrics").at("latency").get<double>();
      }
    }
    EXPECT_DOUBLE_EQ(entry.at("values")[0].get<double>(), sum / 4);
  }
}

}  // namespace
}  // namespace tessera::explore
