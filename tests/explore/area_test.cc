// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/area.h"

#include <gmock/gmock.h>

namespace tessera::explore {
namespace {

using testing::HasSubstr;

const Json kChip = Json::parse(R"({
  "memories": {
    "sram": {"capacity_bytes": 1000, "banks": 2, "modes": {"a": ["r", "w"], "b": [["read", "dma.write"], "off"]}},
    "rom": {"capacity_bytes": 500, "area_mm2": 0.25}},
  "engines": {"npu": {"operators": {"conv": {"unroll": {"out_channels": 4, "in_channels": 8}}, "pool": {}}}},
  "links": {"dma": {"setup_cycles": 1}}})");

std::optional<double> NoName(std::string_view) { return std::nullopt; }

AreaRule RuleOf(const std::string& part, const std::string& mm2) {
  return {part, {}, *Expression::Parse(mm2)};
}

TEST(Area, AddsUpPartsWithTheirOwnFigureFirst) {
  AreaModel model;
  model.Add(RuleOf("memories.*", "capacity_bytes / 1000 + 10 * accesses + 100 * banks"));
  model.Add(RuleOf("engines.npu", "macs"));
  model.Add(RuleOf("links.*", "lanes"));
  const auto area = model.Of(kChip, [](std::string_view name) {
    return name == "lanes" ? std::optional(1000.0) : std::nullopt;
  });
  ASSERT_TRUE(area);
  // sram: 1 + 10 * (bank0: read, dma.write; bank1: write) + 200; rom 0.25; npu 32; dma 1000
  EXPECT_DOUBLE_EQ(*area, 1 + 30 + 200 + 0.25 + 32 + 1000);
}

TEST(Area, AModeLessIsAnAccessLess) {
  AreaModel model;
  model.Add(RuleOf("memories.sram", "accesses"));
  model.Add(RuleOf("*", "0"));
  Json smaller = kChip;
  smaller["memories"]["sram"]["modes"].erase("b");
  EXPECT_DOUBLE_EQ(*model.Of(kChip, NoName), 3.25);
  EXPECT_DOUBLE_EQ(*model.Of(smaller, NoName), 2.25);
}

TEST(Area, IsRefusedWithoutFigures) {
  AreaModel model;
  model.Add(RuleOf("memories.sram", "1"));
  const auto area = model.Of(kChip, NoName);
  ASSERT_FALSE(area);
  EXPECT_THAT(area.error().message, HasSubstr("engines.npu, links.dma"));
}

TEST(Area, TablesMatchByFields) {
  const auto rules = ReadAreaTable(
      "part,capacity_bytes,banks,area_mm2\n"
      "memories.sram,1000,4,1\n"
      "memories.sram,1000,,2\n"
      "\n"
      "*,,,0\n",
      "areas.csv");
  ASSERT_TRUE(rules);
  AreaModel model;
  for (const AreaRule& rule : *rules) model.Add(rule);
  EXPECT_DOUBLE_EQ(*model.Of(kChip, NoName), 2.25);
}

TEST(Area, TablesSayWhereTheyAreWrong) {
  EXPECT_EQ(ReadAreaTable("area\n1\n", "a.csv").error().line, 1);
  EXPECT_EQ(ReadAreaTable("part,area_mm2\nx,1,2\n", "a.csv").error().line, 2);
  EXPECT_EQ(ReadAreaTable("part,area_mm2\nx,many\n", "a.csv").error().found, "many");
}

}  // namespace
}  // namespace tessera::explore
