// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fixture.h"
#include "tessera/plan/files/plan_draft.h"
#include "tessera/plan/files/plan_files.h"

namespace tessera::plan {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

Json Whole() { return Json::parse(files::WritePlanJson(OneConvPlan())); }

// Only the entries from which the rest follows.
Json Bare() {
  const Json whole = Whole();
  Json json = Json::object();
  for (const char* key : {"format", "version", "network", "profile"}) json[key] = whole[key];
  const Json& subgraph = whole["subgraphs"][0];
  json["subgraphs"] = Json::array({{{"operators", subgraph["operators"]},
                                    {"tile", subgraph["tile"]},
                                    {"policies", subgraph["policies"]}}});
  return json;
}

TEST(Draft, NeedsNoMoreThanTheRestFollowsFrom) {
  const base::Expected<files::Draft> draft = files::ReadDraft(Bare().dump(), "plan.json");
  ASSERT_TRUE(draft.has_value()) << base::Format(draft.error());
  ASSERT_EQ(draft->subgraphs.size(), 1U);
  EXPECT_EQ(draft->subgraphs[0].interval, (graph::Interval{0, 0}));
  EXPECT_EQ(draft->subgraphs[0].tile, (std::vector<int64_t>{1, 4, 4, 4}));
  EXPECT_TRUE(draft->pins.empty());
  EXPECT_TRUE(draft->objective.weights.empty());
}

TEST(Draft, OfAWholePlanHoldsEveryAddress) {
  const base::Expected<files::Draft> draft = files::ReadDraft(Whole().dump(), "plan.json");
  ASSERT_TRUE(draft.has_value()) << base::Format(draft.error());
  std::vector<std::string> pins;
  for (const files::Pin& pin : draft->pins)
    pins.push_back(pin.memory + ":" + pin.id + "=" + std::to_string(pin.offset));
  EXPECT_THAT(pins, testing::ElementsAre(":s0/x@0=0", ":s0/w=128", ":s0/y@0=64", "dram:x=0",
                                         "dram:w=64", "dram:y=224"));
  EXPECT_EQ(draft->pins[1].pointer, "/subgraphs/0/buffers/1");
  EXPECT_EQ(draft->pins[3].pointer, "/homes/0/tensors/0");
  EXPECT_EQ(draft->seed, 7U);
}

TEST(Draft, LeavesOpenWhatHasNoOffset) {
  Json json = Whole();
  json["subgraphs"][0]["buffers"][1].erase("offset");
  json["homes"] = Json::array();
  const base::Expected<files::Draft> draft = files::ReadDraft(json.dump(), "plan.json");
  ASSERT_TRUE(draft.has_value()) << base::Format(draft.error());
  EXPECT_EQ(draft->pins.size(), 2U);
}

TEST(Draft, ThatDoesNotReadIsRefusedWhereItIsWrong) {
  const auto fault_of = [](const Json& json) {
    const base::Expected<files::Draft> draft = files::ReadDraft(json.dump(), "plan.json");
    EXPECT_FALSE(draft.has_value());
    return draft ? base::Diagnostic{} : draft.error();
  };
  Json json = Bare();
  json["subgraphs"][0]["tiel"] = 1;
  EXPECT_EQ(fault_of(json).pointer, "/subgraphs/0/tiel");
  json = Bare();
  json.erase("profile");
  EXPECT_THAT(fault_of(json).message, HasSubstr("'profile' is missing"));
  json = Bare();
  json["subgraphs"][0]["operators"] = {"unknown"};
  EXPECT_EQ(fault_of(json).pointer, "/subgraphs/0/operators/0");
  json = Whole();
  json["subgraphs"][0]["buffers"][0]["offset"] = -16;
  EXPECT_EQ(fault_of(json).pointer, "/subgraphs/0/buffers/0/offset");
}

}  // namespace
}  // namespace tessera::plan
