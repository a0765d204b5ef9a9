// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/adaptive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "fixture.h"
#include "tessera/explore/pareto.h"
#include "tessera/explore/request.h"

// Explorations of a share of the pairs, and the gap that they claim, against those of all pairs.
namespace tessera::explore {
namespace {

using testing::HasSubstr;

class AdaptiveTest : public SpecTest {
 protected:
  AdaptiveTest() : store_(*Store::Open(":memory:")) {}

  Json AskFor(const std::string& text, const Request& request) const {
    const auto spec = Read(text);
    EXPECT_TRUE(spec) << text << base::Format(spec.error());
    const auto document = Ask(*spec, store_, request, {});
    EXPECT_TRUE(document) << base::Format(document.error());
    return **document;
  }

  static std::string Space(const std::string& objectives) {
    return Heads() +
           "vary:\n  memories.sram.capacity_bytes: {name: sram, values: [3Ki, 4Ki, 8Ki]}\n"
           "  memories.dram.port.bytes_per_cycle: {name: rate, values: [1, 2, 4]}\n"
           "minimize: " +
           objectives + "\noptions: {max_operators: 2, budget: 500}\n";
  }

  static const Json& GapOf(const Json& document) {
    return document.at("adaptive").at("networks").at("patent_chain");
  }

  static size_t CountPlanned(const Json& document) {
    const Json& pairs = document.at("pairs");
    return static_cast<size_t>(std::count_if(pairs.begin(), pairs.end(), [](const Json& pair) {
      return pair.at("settled") == "planned";
    }));
  }

  Store store_;
};

// By network of a document, the logarithms of the values of all plans.
std::vector<Values> LogsOfPlans(const Json& document) {
  std::vector<Values> all;
  for (const Json& pair : document.at("pairs")) {
    for (const Json& answer : pair.value("answers", Json::array())) {
      if (!answer.contains("values")) continue;
      Values logs;
      for (const Json& value : answer.at("values")) logs.push_back(std::log(value.get<double>()));
      all.push_back(std::move(logs));
    }
  }
  return all;
}

// The corner that axes of hypervolumes end at: a tenth beyond all bounds and values.
Values FarCornerOf(const Json& document) {
  std::vector<Values> all = LogsOfPlans(document);
  for (const Json& pair : document.at("pairs")) {
    Values logs;
    for (const Json& value : pair.at("least")) logs.push_back(std::log(value.get<double>()));
    all.push_back(std::move(logs));
  }
  Values corner;
  for (size_t axis = 0; axis < all.front().size(); ++axis) {
    const auto [low, high] =
        std::minmax_element(all.begin(), all.end(),
                            [axis](const Values& a, const Values& b) { return a[axis] < b[axis]; });
    corner.push_back((*high)[axis] + 0.1 * std::max(1.0, (*high)[axis] - (*low)[axis]));
  }
  return corner;
}

TEST_F(AdaptiveTest, TheClaimedShareIsNoMoreThanThatOfAllPlans) {
  int stated = 0;
  for (const char* objectives : {"[latency, sram]", "[latency, energy, rate]", "[energy / rate]",
                                 "[latency, \"energy - 100000\"]", "[latency, \"1e9 / energy\"]"}) {
    const Json all = AskFor(Space(objectives), {.plan_all = true});
    for (const double share : {0.12, 0.4, 0.8}) {
      const Json some = AskFor(Space(objectives), {.adaptive = share});
      const Json& claimed = GapOf(some).at("hypervolume_at_least");
      ASSERT_TRUE(claimed.is_number() || GapOf(some).contains("reason")) << objectives;
      if (!claimed.is_number()) continue;
      ++stated;
      const Values corner = FarCornerOf(some);
      const double found = Hypervolume(LogsOfPlans(some), corner);
      const double best = Hypervolume(LogsOfPlans(all), corner);
      EXPECT_LE(claimed.get<double>() * best, found * (1 + 1e-9)) << objectives << share;
    }
  }
  EXPECT_GE(stated, 9);
}

// Without finite bounds nothing is predicted, and nothing is claimed; pairs are planned all the
// same.
TEST_F(AdaptiveTest, ObjectivesWithoutFiniteBoundsHaveNoGap) {
  for (const char* objective : {"-latency", "1e6 - energy", "latency - energy"}) {
    const std::string text = Space("[\"" + std::string(objective) + "\"]");
    const Json some = AskFor(text, {.adaptive = 0.5});
    EXPECT_EQ(CountPlanned(some), 4U) << objective;  // of 9
    EXPECT_FALSE(some.at("fronts").at("patent_chain").empty());
    EXPECT_TRUE(GapOf(some).at("hypervolume_at_least").is_null());
    EXPECT_THAT(GapOf(some).at("reason").get<std::string>(), HasSubstr(objective));
    EXPECT_THAT(Describe(some), HasSubstr("no gap can be stated for patent_chain: "));
    const Json whole = AskFor(text, {.adaptive = 1.0});
    EXPECT_EQ(GapOf(whole).at("hypervolume_at_least"), 1);
    EXPECT_EQ(whole.at("fronts"), AskFor(text, {.plan_all = true}).at("fronts"));
  }
}

// A bound of 0 or less has no logarithm: any number in its place would make the gap false.
TEST_F(AdaptiveTest, FiguresThatAreNotAboveZeroHaveNoGap) {
  const Json below = AskFor(Space("[latency, \"energy - 1e9\"]"), {.adaptive = 0.3});
  EXPECT_THAT(GapOf(below).at("reason").get<std::string>(), HasSubstr("not above 0"));
  const Json power = AskFor(Space("[\"power * latency * rate\"]"), {.adaptive = 0.3});
  EXPECT_TRUE(GapOf(power).at("hypervolume_at_least").is_null());
}

// A pair that was planned in vain may still have a plan.
TEST_F(AdaptiveTest, PairsWithoutAnAnswerAreAPartOfTheGap) {
  const Json none =
      AskFor("schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") +
                 "]\nprofile: " + Shipped("hw_profiles/mcu_320k.yaml") +
                 "\nvary: {memories.sram.capacity_bytes: [1408, 1600, 1700]}\n"
                 "minimize: [latency, energy]\noptions: {budget: 1}\n",
             {.adaptive = 1.0});
  ASSERT_EQ(CountPlanned(none), 3U);
  for (const Json& pair : none.at("pairs")) {
    for (const Json& answer : pair.at("answers")) ASSERT_EQ(answer.at("outcome"), "unknown");
  }
  EXPECT_EQ(GapOf(none).at("hypervolume_at_least"), 0);
}

TEST_F(AdaptiveTest, TheShareIsRoundedDownToWholePairs) {
  EXPECT_EQ(CountPlanned(AskFor(Space("[\"-latency\"]"), {.adaptive = 0.01})), 1U);
  EXPECT_EQ(CountPlanned(AskFor(Space("[\"-latency\"]"), {.adaptive = 0.33})), 2U);
  EXPECT_EQ(CountPlanned(AskFor(Space("[\"-latency\"]"), {.adaptive = 1.0 / 3})), 3U);
}

// The set's front settles pairs that may still be on the front of their network.
TEST_F(AdaptiveTest, ASetSettlesNothingOfTheFrontsOfNetworks) {
  const std::string networks = "[" + Shipped("examples/networks/patent_chain.yaml") +
                               ", {file: " + Shipped("examples/networks/patent_fig1.yaml") +
                               ", weight: 100}]";
  const std::string text =
      "schema: 1\nnetworks: " + networks +
      "\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
      "\nvary:\n  memories.sram.capacity_bytes: {name: sram, values: [1Ki, 4Ki, 8Ki]}\n"
      "  memories.dram.port.bytes_per_cycle: [1, 4]\nminimize: [latency, sram]\nfronts: set\n"
      "options: {max_operators: 2, budget: 500}\n";
  const Json some = AskFor(text, {.adaptive = 0.5});
  const Json& pairs = some.at("pairs");
  for (const auto& [name, gap] : some.at("adaptive").at("networks").items()) {
    const bool is_all_planned =
        std::all_of(pairs.begin(), pairs.end(), [network = &name](const Json& pair) {
          return pair.at("network") != *network || pair.at("settled") == "planned";
        });
    EXPECT_EQ(gap.at("hypervolume_at_least") == 1, is_all_planned) << gap;
  }
}

}  // namespace
}  // namespace tessera::explore
