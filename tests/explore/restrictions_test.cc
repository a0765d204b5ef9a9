// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/restrictions.h"

#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <set>

namespace tessera::explore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Json kBankedChip = Json::parse(R"({
  "schema": 1, "name": "chip", "clock_hz": 1000,
  "memories": {
    "sram": {"capacity_bytes": 4096, "alignment_bytes": 8, "span": "single", "banks": 4,
             "reserved": [{"begin_bytes": 0, "end_bytes": 16, "reason": "stack"}],
             "modes": {"a": ["r", "r", "w", "w"], "b": ["w", "w", "r", "rw"]},
             "transitions": [["a", "b"]]},
    "dram": {"capacity_bytes": 100000}},
  "tile_memory": "sram",
  "engines": {"pe": {"operators": {"conv": {}}}},
  "links": {"dma": {"between": ["dram", "sram"], "alignment_bytes": 4}},
  "roles": {"boundary": {"home": "dram", "row_pitch_bytes": 2}},
  "rules": [{"name": "low", "select": {"role": "constant"},
             "require": {"kind": "window", "window": [0, 2048]}}]})");

std::vector<std::string> KindsOf(const std::vector<Restriction>& restrictions) {
  std::vector<std::string> kinds;
  for (const Restriction& each : restrictions) kinds.push_back(each.kind);
  return kinds;
}

TEST(Restrictions, AreFoundAndDroppedOneByOne) {
  const std::vector<Restriction> all = RestrictionsOf(kBankedChip);
  EXPECT_THAT(KindsOf(all),
              ElementsAre("rule", "alignment", "transition", "transition", "reserved range",
                          "bank boundary", "bank boundary", "alignment", "alignment"));
  std::set<std::string> texts = {kBankedChip.dump()};
  for (const Restriction& each : all) {
    Json changed = kBankedChip;
    each.drop(changed);
    EXPECT_TRUE(texts.insert(changed.dump()).second) << each.what;
    const auto profile = Profile::Parse(changed.dump());
    EXPECT_TRUE(profile) << each.what << profile.Error().text;
  }
  Json free = kBankedChip;
  for (const Restriction& each : all) each.drop(free);
  EXPECT_TRUE(Profile::Parse(free.dump()));
  EXPECT_THAT(RestrictionsOf(free), IsEmpty()) << free.dump();
}

TEST(Restrictions, BanksJoinWhereTheirStatesAreEqual) {
  const std::vector<Restriction> all = RestrictionsOf(kBankedChip);
  Json changed = kBankedChip;
  all[6].drop(changed);  // at byte 1024; banks 2 and 3 differ in a mode
  const Json& sram = changed.at("memories").at("sram");
  EXPECT_EQ(sram.at("banks").at("bank0_bank1").at("end_bytes"), 2048);
  EXPECT_EQ(sram.at("banks").size(), 3U);
  EXPECT_EQ(sram.at("modes").at("b"), Json({"w", "r", "rw"}));
}

TEST(Restrictions, LimitsOfPortsGoForAllBanks) {
  Json chip = kBankedChip;
  chip["memories"]["sram"]["bank_ports"] = {{"total", 2}, {"reads", 1}};
  int limits = 0;
  for (const Restriction& each : RestrictionsOf(chip)) {
    if (each.kind != "port limit") continue;
    ++limits;
    Json changed = chip;
    each.drop(changed);
    EXPECT_EQ(changed.at("memories").at("sram").at("bank_ports").size(), 1U);
    EXPECT_TRUE(Profile::Parse(changed.dump()));
  }
  EXPECT_EQ(limits, 2);
}

TEST(Modes, GoWithTheirTransitions) {
  ASSERT_EQ(ModesOf(kBankedChip).size(), 2U);
  const Json changed = WithoutMode(kBankedChip, {"sram", "b"});
  EXPECT_EQ(changed.at("memories").at("sram").at("modes").size(), 1U);
  EXPECT_THAT(changed.at("memories").at("sram").at("transitions"), IsEmpty());
  EXPECT_THAT(ModesOf(changed), IsEmpty());
  EXPECT_TRUE(Profile::Parse(changed.dump()));
}

}  // namespace
}  // namespace tessera::explore
