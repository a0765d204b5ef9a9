// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/space.h"

#include <gmock/gmock.h>
#include <tessera/profile.h>

namespace tessera::explore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Json Load(const std::string& name) {
  const auto profile =
      Profile::Load(std::string(TESSERA_SOURCE_DIR) + "/hw_profiles/" + name + ".yaml");
  return ShortForm(Json::parse(profile->Json()));
}

Axis AxisOf(const std::string& path, std::vector<Json> values) {
  return {path, path, std::move(values), std::nullopt};
}

TEST(ShortForm, StatesRepetitionsOnceAndIsTheSameProfile) {
  for (const char* name : {"edge_npu_1mib", "three_bank_two_mode", "ethos_u55_256", "mcu_320k"}) {
    const auto profile =
        Profile::Load(std::string(TESSERA_SOURCE_DIR) + "/hw_profiles/" + name + ".yaml");
    ASSERT_TRUE(profile);
    const Json document = ShortForm(Json::parse(profile->Json()));
    const auto again = Profile::Parse(document.dump());
    ASSERT_TRUE(again) << again.Error().text;
    EXPECT_EQ(again->Json(), profile->Json()) << name;
  }
  EXPECT_EQ(Load("three_bank_two_mode").at("memories").at("sram").at("banks"), 3);
}

TEST(Paths, FindEntriesWithStarsAndDots) {
  Json document = Json::parse(R"({"a": {"b.c": {"x": 1}, "d": {"x": 2, "y": 3}}, "list": [7, 8]})");
  EXPECT_THAT(FindEntries(document, "a.*.x"), ElementsAre("/a/b.c/x", "/a/d/x"));
  EXPECT_THAT(FindEntries(document, "a.b.c.x"), ElementsAre("/a/b.c/x"));
  EXPECT_THAT(FindEntries(document, "a.*.y"), ElementsAre("/a/d/y"));
  EXPECT_THAT(FindEntries(document, "list.1"), ElementsAre("/list/1"));
  EXPECT_THAT(FindEntries(document, "a.e"), IsEmpty());
  EXPECT_THAT(FindPlaces(document, "a.e"), ElementsAre("/a/e"));
  EXPECT_THAT(FindPlaces(document, "e.f"), IsEmpty());
  EXPECT_THAT(FindPlaces(document, "a.d.x.z"), IsEmpty());
  EXPECT_EQ(NumberAt(document, "a.d.y"), 3);
  EXPECT_EQ(NumberAt(document, "a.*.x"), std::nullopt);  // they differ
  SetEntries(document, FindPlaces(document, "a.*.x"), 5);
  EXPECT_EQ(NumberAt(document, "a.*.x"), 5);
}

TEST(Space, IsTheProductOfItsAxesAndFollowsExpressions) {
  Axis lanes = AxisOf("engines.npu.operators.*.unroll.out_channels", {8, 16});
  lanes.name = "lanes";
  const Axis sram = AxisOf("memories.sram.capacity_bytes", {65536, 131072});
  Axis port = AxisOf("memories.dram.port.bytes_per_cycle", {});
  port.expression = *Expression::Parse("lanes / 4");
  const Space space({{"", "edge", Load("edge_npu_1mib")}}, {lanes, sram, port},
                    {*Expression::Parse("lanes >= 16 or memories.sram.capacity_bytes > 64Ki")});
  EXPECT_EQ(space.Combinations(), 4);
  const auto points = space.Enumerate();
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 3U);
  EXPECT_THAT((*points)[0].values, ElementsAre(Json(8), Json(131072), Json(2)));
  EXPECT_THAT((*points)[2].values, ElementsAre(Json(16), Json(131072), Json(4)));
  const auto profile = Profile::Parse((*points)[2].text);
  ASSERT_TRUE(profile) << profile.Error().text;
  const Json complete = Json::parse(profile->Json());
  EXPECT_EQ(complete["memories"]["dram"]["port"]["read_bytes_per_cycle"], 4);
  EXPECT_EQ(complete["engines"]["npu"]["operators"]["matmul"]["unroll"]["out_channels"], 16);
  EXPECT_FALSE(complete["engines"]["npu"]["operators"]["pool"].contains("unroll"));
}

// An error that was measured on the base says nothing about a point that differs from it.
TEST(Space, OnlyTheBaseHasItsKnownError) {
  const Json base = Load("ethos_u55_256");
  ASSERT_TRUE(base.contains("known_error"));
  const double clock_hz = base.at("clock_hz");
  const Space space({{"", "npu", base}}, {AxisOf("clock_hz", {clock_hz, 2 * clock_hz})}, {});
  const auto points = space.Enumerate();
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 2U);
  EXPECT_TRUE(Json::parse((*points)[0].text).contains("known_error"));
  EXPECT_FALSE(Json::parse((*points)[1].text).contains("known_error"));
}

TEST(Space, EqualBanksFollowTheCapacity) {
  const Space space({{"", "banks", Load("three_bank_two_mode")}},
                    {AxisOf("memories.sram.capacity_bytes", {196608, 393216})}, {});
  const auto points = space.Enumerate();
  ASSERT_TRUE(points);
  for (const Point& point : *points) {
    const auto profile = Profile::Parse(point.text);
    ASSERT_TRUE(profile) << profile.Error().text;
    const Json sram = Json::parse(profile->Json())["memories"]["sram"];
    EXPECT_EQ(sram["banks"]["bank2"]["end_bytes"], sram["capacity_bytes"]);
  }
}

TEST(Space, EqualProfilesAreOnePoint) {
  const Axis first = AxisOf("memories.sram.capacity_bytes", {65536, 131072});
  Axis second = AxisOf("memories.sram.leakage_mw", {1, 2});
  second.expression = *Expression::Parse("min(1, memories.sram.capacity_bytes)");
  const Axis third = AxisOf("memories.sram.capacity_bytes", {262144});
  const Space space({{"", "edge", Load("edge_npu_1mib")}}, {third, first, second}, {});
  const auto points = space.Enumerate();
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), 1U);  // the entry that is set last is the first axis
}

TEST(Space, RefusesAHugeProduct) {
  std::vector<Json> many;
  for (int i = 1; i <= 1000; ++i) many.push_back(i);
  const Space space({{"", "edge", Load("edge_npu_1mib")}},
                    {AxisOf("memories.sram.leakage_mw", many), AxisOf("clock_hz", many)}, {});
  EXPECT_EQ(space.Combinations(), 1'000'000);
  EXPECT_FALSE(space.Enumerate());
}

}  // namespace
}  // namespace tessera::explore
