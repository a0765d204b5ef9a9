// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/request.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fixture.h"
#include "tessera/base/random.h"
#include "tessera/explore/pareto.h"
#include "tessera/explore/restrictions.h"

// The questions that can be asked of a specification, against plans of all that they are about.
namespace tessera::explore {
namespace {

using testing::HasSubstr;

class RequestTest : public SpecTest {
 protected:
  RequestTest() : store_(*Store::Open(":memory:")) {}

  Json AskFor(const std::string& text, const Request& request) {
    const auto spec = Read(text);
    EXPECT_TRUE(spec) << text << base::Format(spec.error());
    const auto document = Ask(*spec, store_, request, {});
    EXPECT_TRUE(document) << base::Format(document.error());
    EXPECT_TRUE(*document);
    EXPECT_FALSE(Describe(**document).empty());
    return **document;
  }

  // The three banks of the shipped profile, with other modes.
  void WriteBanks(const std::string& modes) const {
    const auto shipped = Profile::Load(Shipped("hw_profiles/three_bank_two_mode.yaml"));
    Json profile = Json::parse(shipped->Json());
    profile["memories"]["sram"]["modes"] = Json::parse(modes);
    Write("banks.yaml", profile.dump());
  }

  static std::string BankSpec() {
    return "schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") +
           "]\nprofile: banks.yaml\nminimize: [latency, area]\narea:\n"
           "  memories.sram: accesses\n  memories.dram: 0\n  engines.*: 0\n  links.*: 0\n"
           "options: {budget: 20000}\n";
  }

  static std::string Space() {
    return "vary:\n  memories.sram.capacity_bytes: {name: sram, values: [3Ki, 4Ki, 8Ki]}\n"
           "  memories.dram.port.bytes_per_cycle: {name: rate, values: [1, 2, 4]}\n"
           "  engines.npu.operators.*.unroll.out_channels: {name: lanes, values: [4, 8]}\n"
           "minimize: [latency, energy, area]\narea:\n"
           "  memories.sram: \"capacity_bytes / 1Ki\"\n  memories.dram: \"width * 2\"\n"
           "  engines.npu: \"macs / 16\"\n  engines.host: 0\n  links.dma: 0\n"
           "options: {budget: 20000}\n";
  }

  // A plan that moves constants as the explorer's plans do.
  PlanAnswer PlanOn(const Json& profile, const std::string& metric,
                    const std::vector<MetricValue>& limits = {}) const {
    const auto network = Network::Load(Shipped("examples/networks/patent_chain.yaml"));
    PlanOptions options;
    options.minimize = {{metric, 1}};
    options.limits = limits;
    options.transfers = Transfers::kPerSubgraph;
    options.budget = 20'000;
    return *MakePlan(*network, *Profile::Parse(profile.dump()), options);
  }

  Store store_;
};

TEST_F(RequestTest, ModesThatNoNetworkNeedsAreFoundAndTheOthersAreNeeded) {
  WriteBanks(R"({"forward": ["r", "r", "w"], "drain": ["r", "r", "hold"],
                 "reverse": ["w", "w", "r"], "fill": ["hold", "w", "hold"]})");
  const Json document = AskFor(BankSpec(), {.relax = true});
  const Json& modes = document.at("profiles")[0].at("modes");
  EXPECT_THAT(modes.at("memories")[0].at("remove"), testing::SizeIs(2));
  EXPECT_EQ(modes.at("confirmed"), true);
  EXPECT_LE(modes.at("area_mm2").at("after"), modes.at("area_mm2").at("before"));
  ASSERT_EQ(modes.at("kept").size(), 2U);
  for (const Json& kept : modes.at("kept")) {
    EXPECT_EQ(kept.at("verdict"), "needed");
    EXPECT_EQ(kept.at("proven"), true);
    EXPECT_EQ(kept.at("network"), "patent_chain");
    EXPECT_THAT(kept.at("reason").get<std::string>(), HasSubstr("serves operator"));
  }
  EXPECT_TRUE(PlanOn(modes.at("profile"), "latency").plan);
  EXPECT_THAT(Describe(document), HasSubstr("no network needs"));
}

// A mode is needed by a plan. Where there is none with all modes, none needs one.
TEST_F(RequestTest, NoModeIsNeededWhereNothingHasAPlan) {
  WriteBanks(R"({"forward": ["r", "r", "w"], "reverse": ["w", "w", "r"]})");
  const std::string chain = Shipped("examples/networks/patent_chain.yaml");
  std::string text = BankSpec();
  text.replace(text.find(chain), chain.size(), "{file: " + chain + ", limit: {latency: 9}}");
  const Json document = AskFor(text, {.relax = true});
  int modes = 0;
  for (const Json& dropped : document.at("profiles")[0].at("dropped")) {
    for (const Json& effect : dropped.at("effects")) {
      EXPECT_NE(effect.at("verdict"), "needed") << dropped;
      modes += dropped.at("kind") == "mode" && effect.at("verdict") == "impossible" ? 1 : 0;
    }
  }
  EXPECT_GE(modes, 2);
  EXPECT_THAT(Describe(document), testing::Not(HasSubstr("needed")));
}

// Every claim about a dropped restriction, against a plan on the profile without it.
TEST_F(RequestTest, WhatADroppedRestrictionGainsIsWhatPlansGain) {
  const auto shipped = Profile::Load(Shipped("hw_profiles/edge_npu_64kib.yaml"));
  Json profile = Json::parse(shipped->Json());
  Json& sram = profile["memories"]["sram"];
  sram["capacity_bytes"] = 4096;
  sram["reserved"] = {{{"begin_bytes", 1024}, {"end_bytes", 1536}, {"reason", "stack"}}};
  profile["roles"]["network_input"]["channel_block"] = 16;  // of 3 channels
  Write("tight.yaml", profile.dump());
  const Json document =
      AskFor("schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") +
                 "]\nprofile: tight.yaml\nminimize: [latency, energy]\n"
                 "options: {budget: 20000}\n",
             {.relax = true});
  const std::vector<Restriction> all = RestrictionsOf(ShortForm(profile));
  const Json& dropped = document.at("profiles")[0].at("dropped");
  ASSERT_EQ(dropped.size(), all.size());
  int gains = 0;
  int none = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(dropped[i].at("what"), all[i].what);
    Json changed = ShortForm(profile);
    all[i].drop(changed);
    for (const Json& effect : dropped[i].at("effects")) {
      const std::string metric = effect.at("minimized");
      const PlanAnswer answer = PlanOn(changed, metric);
      ASSERT_TRUE(answer.plan);
      const double value = answer.plan->FindMetric(metric)->value;
      const double before = effect.at("before");
      EXPECT_LE(effect.at("after").get<double>(), value * (1 + 1e-9)) << all[i].what;
      EXPECT_GE(effect.at("gain").get<double>(), -1e-6 * before) << all[i].what;
      gains += effect.at("verdict") == "gain" ? 1 : 0;
      if (effect.at("verdict") != "none" || effect.at("proven") != true) continue;
      ++none;
      EXPECT_GE(value, before * (1 - 1e-9)) << all[i].what;
    }
  }
  EXPECT_GT(gains, 0);
  EXPECT_GT(none, 0);
}

TEST_F(RequestTest, TheLeastChangeThatGivesAPlanIsMinimal) {
  const auto shipped = Profile::Load(Shipped("hw_profiles/edge_npu_64kib.yaml"));
  Json profile = Json::parse(shipped->Json());
  profile["memories"]["sram"]["reserved"] = {
      {{"begin_bytes", 0}, {"end_bytes", 32768}, {"reason", "one"}},
      {{"begin_bytes", 32768}, {"end_bytes", 65536}, {"reason", "other"}}};
  Write("full.yaml", profile.dump());
  const Json document =
      AskFor("schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") +
                 "]\nprofile: full.yaml\nminimize: [latency]\noptions: {budget: 20000}\n",
             {.relax = true});
  const Json& sufficient = document.at("profiles")[0].at("sufficient");
  EXPECT_EQ(sufficient.at("outcome"), "sufficient");
  ASSERT_EQ(sufficient.at("dropped").size(), 1U);
  EXPECT_EQ(sufficient.at("dropped")[0].at("kept_back"), "infeasible");
  EXPECT_TRUE(PlanOn(sufficient.at("profile"), "latency").plan);
}

TEST_F(RequestTest, TheLeastCapacityIsThatOfTryingAll) {
  const auto shipped = Profile::Load(Shipped("hw_profiles/edge_npu_64kib.yaml"));
  Json profile = ShortForm(Json::parse(shipped->Json()));
  profile["engines"].erase("host");
  for (const Restriction& restriction : RestrictionsOf(profile)) restriction.drop(profile);
  Write("free.yaml", profile.dump());
  const Json document =
      AskFor("schema: 1\nnetworks: [" + Shipped("examples/networks/patent_fig1.yaml") +
                 "]\nprofile: free.yaml\nvary:\n  memories.sram.capacity_bytes: [4, 24]\n"
                 "minimize: [latency]\noptions: {budget: 20000}\n",
             {.least = "memories.sram.capacity_bytes"});
  const Json& range = document.at("profiles")[0];
  const Json& found = range.at("networks")[0];
  const auto network = Network::Load(Shipped("examples/networks/patent_fig1.yaml"));
  std::optional<int64_t> least;
  for (int64_t value = 4; value <= 24 && !least; ++value) {
    profile["memories"]["sram"]["capacity_bytes"] = value;
    const auto answer = MakePlan(*network, *Profile::Parse(profile.dump()));
    ASSERT_TRUE(answer);
    if (answer->plan) {
      least = value;
    } else if (value <= found.at("insufficient").get<int64_t>()) {
      EXPECT_EQ(answer->outcome, Outcome::kInfeasible) << value;
    }
  }
  EXPECT_EQ(least, found.at("found").get<int64_t>());
  EXPECT_EQ(found.at("exact"), true) << found;
  EXPECT_EQ(range.at("set").at("found"), found.at("found"));
}

TEST_F(RequestTest, StepsAlongAFrontAreDifferencesOfPlans) {
  const Json document = AskFor(Heads() + Space(), {.marginal = true});
  const Json all = AskFor(Heads() + Space(), {.plan_all = true});
  ASSERT_FALSE(document.at("marginal").empty());
  for (const Json& step : document.at("marginal")) {
    const Json& neighbour = all.at("pairs")[step.at("neighbour").get<size_t>()];
    const Json& here = all.at("pairs")[step.at("point").get<size_t>()];
    const auto value = [&](const Json& entry, size_t objective) {
      double least = std::numeric_limits<double>::infinity();
      for (const Json& answer : entry.at("answers")) {
        const bool counts = &entry != &here || answer.at("minimized") == step.at("minimized");
        if (counts && answer.contains("values"))
          least = std::min(least, answer.at("values")[objective].get<double>());
      }
      return least;
    };
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(step.at("change")[i].is_null(), !std::isfinite(value(neighbour, i)));
      if (step.at("change")[i].is_null()) continue;
      EXPECT_NEAR(step.at("change")[i].get<double>(), value(neighbour, i) - value(here, i), 1e-6);
    }
  }
}

// Every corner of the box of factors is a front of its own.
TEST_F(RequestTest, WhatSurvivesIsOnTheFrontAtAllCorners) {
  const Json document = AskFor(Heads() + Space(), {.plan_all = true, .uncertainty = 0.3});
  struct Plans {
    size_t point;
    std::string metric;
    Values values;
  };
  std::vector<Plans> plans;
  for (const Json& pair : document.at("pairs")) {
    for (const Json& answer : pair.at("answers")) {
      if (answer.contains("values"))
        plans.push_back({pair.at("point"), answer.at("minimized"), answer.at("values")});
    }
  }
  const auto area = [&](size_t point, int corner) {
    const Json& values = document.at("points")[point].at("values");
    const std::vector<double> parts = {values[0].get<double>() / 1024, values[1].get<double>() * 2,
                                       document.at("points")[point].at("area_mm2").get<double>() -
                                           values[0].get<double>() / 1024 -
                                           values[1].get<double>() * 2};
    double sum = 0;
    for (int i = 0; i < 3; ++i)
      sum += parts[static_cast<size_t>(i)] * ((corner >> i & 1) != 0 ? 1.3 : 0.7);
    return sum;
  };
  std::map<std::pair<size_t, std::string>, bool> falls;
  for (int corner = 0; corner < 8; ++corner) {
    for (Plans& plan : plans) plan.values[2] = area(plan.point, corner);
    for (const Plans& plan : plans) {
      bool& has_fallen = falls[{plan.point, plan.metric}];
      for (const Plans& other : plans) {
        Values slack = plan.values;
        slack[2] -= 1e-9;
        has_fallen = has_fallen || Dominates(other.values, slack);
      }
    }
  }
  int survive = 0;
  int fall = 0;
  const Json& network = document.at("uncertainty").at("networks").at("patent_chain");
  for (const Json& member : network.at("members")) {
    const bool falls_somewhere = falls.at({member.at("point"), member.at("minimized")});
    EXPECT_EQ(member.at("verdict") == "survives", !falls_somewhere) << member;
    (falls_somewhere ? fall : survive) += 1;
  }
  EXPECT_GT(survive, 0);
  for (const auto& [plan, has_fallen] : falls) {
    const auto is_this = [&, point = plan.first, metric = plan.second](const Json& each) {
      return each.at("point") == point && each.at("minimized") == metric;
    };
    const auto& members = network.at("members");
    const auto& joining = network.at("may_join");
    if (!has_fallen) {
      EXPECT_TRUE(std::any_of(members.begin(), members.end(), is_this) ||
                  std::any_of(joining.begin(), joining.end(), is_this) || plan.second != "latency")
          << plan.first;
    }
  }
}

TEST_F(RequestTest, AShareOfThePairsIsPlannedAndTheGapIsProven) {
  const Json all = AskFor(Heads() + Space(), {.plan_all = true});
  const Json some = AskFor(Heads() + Space(), {.adaptive = 0.3});
  const auto count = [](const Json& document, const std::string& how) {
    return std::count_if(document.at("pairs").begin(), document.at("pairs").end(),
                         [&](const Json& pair) { return pair.at("settled") == how; });
  };
  EXPECT_EQ(count(some, "planned"), 5);  // of 18
  const Json& gap = some.at("adaptive").at("networks").at("patent_chain");
  EXPECT_EQ(gap.at("planned"), 5);
  EXPECT_EQ(gap.at("open"), count(some, "open"));
  EXPECT_LE(gap.at("hypervolume_at_least"), 1);
  EXPECT_GT(gap.at("hypervolume_at_least"), 0);
  const Json whole = AskFor(Heads() + Space(), {.adaptive = 1.0});
  EXPECT_EQ(whole.at("fronts"), all.at("fronts"));
  EXPECT_EQ(count(whole, "open"), 0);
  EXPECT_EQ(whole.at("adaptive").at("networks").at("patent_chain").at("hypervolume_at_least"), 1);
}

// What is said to be impossible without a search has no tile in any subgraph with the operator.
TEST_F(RequestTest, ReasonsWhyThereIsNoPlanHold) {
  const auto network = Network::Load(Shipped("examples/networks/patent_chain.yaml"));
  const auto shipped = Profile::Load(Shipped("hw_profiles/three_bank_two_mode.yaml"));
  base::Random random(9);
  const std::vector<std::string> states = {"r", "w", "hold", "[\"dma.write\"]", "[\"pe.read\"]"};
  int impossible = 0;
  int possible = 0;
  for (int round = 0; round < 60 && (impossible < 6 || possible < 3); ++round) {
    Json profile = Json::parse(shipped->Json());
    Json modes = Json::object();
    for (const char* name : {"one", "two", "three"}) {
      for (int bank = 0; bank < 3; ++bank) {
        const std::string& state = states[static_cast<size_t>(random.Uniform(0, 4))];
        modes[name].push_back(state[0] == '[' ? Json::parse(state) : Json(state));
      }
    }
    profile["memories"]["sram"]["modes"] = modes;
    const auto chip = Profile::Parse(profile.dump());
    if (!chip) continue;
    const auto why = WhyNoPlan(*network, *chip);
    ASSERT_TRUE(why);
    if (why->empty()) {
      ++possible;
      continue;
    }
    if (++impossible > 6) continue;
    EXPECT_THAT(*why, HasSubstr("no mode of 'sram' serves operator 'conv1'"));
    for (const char* operators : {"conv1", "conv1..conv2", "conv1..conv3"}) {
      TileOptions options;
      options.operators = operators;
      options.explain = false;
      options.budget = 2'000;
      const auto tiles = FindTiles(*network, *chip, options);
      ASSERT_TRUE(tiles);
      EXPECT_NE(tiles->outcome, Outcome::kOptimal) << modes;
      EXPECT_NE(tiles->outcome, Outcome::kFeasible) << modes;
    }
  }
  EXPECT_GE(impossible, 6);
  EXPECT_GE(possible, 3);
}

}  // namespace
}  // namespace tessera::explore
