// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "fixture.h"
#include "tessera/explore/analyses.h"
#include "tessera/explore/request.h"
#include "tessera/explore/store.h"

// What is said of a step to a neighbour without a plan.
namespace tessera::explore {
namespace {

using testing::HasSubstr;
using testing::Not;

class MarginalTest : public SpecTest {
 protected:
  MarginalTest() : store_(*Store::Open(":memory:")) { WriteBursts(); }

  Json StepsOf(const std::string& text) const {
    const auto spec = Read(text);
    EXPECT_TRUE(spec) << base::Format(spec.error());
    const auto document = Ask(*spec, store_, {.marginal = true}, {});
    EXPECT_TRUE(document) << base::Format(document.error());
    return **document;
  }

  static std::string Text(const std::string& network, const std::string& vary) {
    return "schema: 1\nnetworks: [" + network + "]\nprofile: bursts.yaml\nvary:\n" + vary +
           "minimize: [latency]\noptions: {budget: 500}\n";
  }

  // By axis, the outcomes of all steps.
  static std::map<std::string, std::string> OutcomesOf(const Json& document) {
    std::map<std::string, std::string> outcomes;
    for (const Json& step : document.at("marginal")) {
      outcomes[step.at("axis")] = step.at("outcome");
      EXPECT_EQ(step.at("change")[0].is_null(), step.at("outcome") != "plan");
    }
    return outcomes;
  }

  Store store_;
};

TEST_F(MarginalTest, ProofsAndFaultsAreToldApart) {
  const Json document = StepsOf(Text("one.yaml",
                                     "  memories.sram.capacity_bytes: [16, 64Ki]\n"
                                     "  roles.network_input.request_bytes: [8, 32]\n"
                                     "  tiling.dma: [double_buffered, sometimes]\n"));
  EXPECT_EQ(OutcomesOf(document),
            (std::map<std::string, std::string>{{"memories.sram.capacity_bytes", "infeasible"},
                                                {"roles.network_input.request_bytes", "plan"},
                                                {"tiling.dma", "refused"}}));
  EXPECT_THAT(Describe(document), HasSubstr("no plan, proven"));
  EXPECT_THAT(Describe(document), HasSubstr("no profile"));
}

// A budget that ends is no proof, nor is a process that ends.
TEST_F(MarginalTest, WhatIsNotKnownIsNotCalledNoPlan) {
  const std::string vary = "  roles.network_input.request_bytes: [8, 32]\n";
  const auto spec = Read(Text("one.yaml", vary));
  const std::vector<Point> points = *spec->space.Enumerate();
  for (const std::string_view outcome : {std::string_view("unknown"), kFailed}) {
    const Store store = *Store::Open(":memory:");
    Planner planner(*spec, points, store, {});
    ASSERT_FALSE(planner.Load());
    const Question question{{0, 0}, "latency"};
    store.Add({planner.KeyOf(question), "", "", "latency", "", std::string(outcome), "", "why"}, 0);
    const auto document = Ask(*spec, store, {.marginal = true}, {});
    ASSERT_TRUE(document) << base::Format(document.error());
    EXPECT_EQ(OutcomesOf(**document).begin()->second, outcome);
    EXPECT_THAT(Describe(**document), HasSubstr(std::string(outcome)));
    EXPECT_THAT(Describe(**document), Not(HasSubstr("no plan")));
  }
}

TEST_F(MarginalTest, AFrontOfTheSetAloneHasNoSteps) {
  const auto spec = Read(Text("one.yaml, {file: one.yaml, name: two}",
                              "  roles.network_input.request_bytes: [8, 32]\n") +
                         "fronts: set\n");
  ASSERT_TRUE(spec) << base::Format(spec.error());
  for (const Request& request : {Request{.marginal = true}, Request{.uncertainty = 0.1}}) {
    const auto document = Ask(*spec, store_, request, {});
    ASSERT_FALSE(document);
    EXPECT_THAT(document.error().message, HasSubstr("only that of the set"));
  }
}

}  // namespace
}  // namespace tessera::explore
