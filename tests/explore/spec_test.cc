// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/spec.h"

#include <gmock/gmock.h>

#include <vector>

#include "fixture.h"

namespace tessera::explore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(SpecTest, ReadsEveryKey) {
  Write("columns.csv", "network,accuracy\nsmall,0.7\nother,0.5\n");
  Write("areas.csv", "part,area_mm2\nlinks.*,0.5\n");
  const auto spec = Read(
      "schema: 1\nnetworks:\n  - {file: " + Shipped("examples/networks/patent_chain.yaml") +
      ", name: small, weight: 2, limit: {latency: 5000, power: 10}}\n"
      "  - {file: " +
      Shipped("examples/networks/fsrcnn_same.yaml") +
      ", name: other}\n"
      "profiles: [" +
      Shipped("hw_profiles/edge_npu_64kib.yaml") + ", " +
      Shipped("hw_profiles/edge_npu_1mib.yaml") +
      "]\n"
      "columns: columns.csv\n"
      "vary:\n"
      "  memories.sram.capacity_bytes: {name: sram, from: 16Ki, to: 70Ki, steps: powers_of_two}\n"
      "  engines.npu.operators.*.unroll.out_channels: [8, 16]\n"
      "  memories.dram.leakage_mw: {from: 0, to: 1, steps: 3}\n"
      "  memories.sram.leakage_mw: \"sram / 16Ki\"\n"
      "  tiling.dma: [serialized, double_buffered]\n"
      "  tiling.halo: [[recompute], [recompute, rolling_buffer]]\n"
      "where: [\"sram > 16Ki or memories.dram.leakage_mw == 0\"]\n"
      "minimize: [\"power * area / accuracy\", off_chip_bytes]\n"
      "area: {file: areas.csv, memories.*: 1, engines.*: 2}\n"
      "fronts: set\n"
      "options: {budget: 77, seed: 5, max_operators: 3, order: given, keep: false}\n");
  ASSERT_TRUE(spec) << base::Format(spec.error());
  EXPECT_EQ(spec->networks[0].name, "small");
  EXPECT_EQ(spec->networks[0].weight, 2);
  EXPECT_THAT(spec->networks[0].limits,
              ElementsAre(MetricValue{"latency", 5000}, MetricValue{"power", 10}));
  EXPECT_EQ(spec->networks[1].columns.at("accuracy"), 0.5);
  EXPECT_EQ(spec->space.Bases().size(), 2U);
  EXPECT_EQ(spec->space.Combinations(), 2 * 3 * 2 * 3 * 2 * 2);
  EXPECT_THAT(spec->space.Axes()[0].values, ElementsAre(Json(16384), Json(32768), Json(65536)));
  EXPECT_THAT(spec->space.Axes()[2].values, ElementsAre(Json(0), Json(0.5), Json(1)));
  EXPECT_THAT(spec->metrics, ElementsAre("latency", "energy", "off_chip_bytes"));
  EXPECT_TRUE(spec->needs_area);
  EXPECT_EQ(spec->area.Rules().size(), 3U);
  EXPECT_TRUE(spec->wants_set_front);
  EXPECT_FALSE(spec->wants_network_fronts);
  EXPECT_EQ(spec->settings.budget, 77);
  EXPECT_EQ(spec->settings.max_operators, 3);
  EXPECT_TRUE(spec->settings.keep_order);
  EXPECT_FALSE(spec->settings.keep_boundaries);
}

// Without a limit on the latency, a plan that waits has a lower ratio.
TEST_F(SpecTest, RatiosAreMinimizedWhereEveryLatencyIsLimited) {
  const auto metrics_of = [this](const std::string& limits) {
    const auto spec =
        Read("schema: 1\nnetworks:\n  - {file: " + Shipped("examples/networks/patent_chain.yaml") +
             ", limit: " + limits + "}\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
             "\nminimize: [power]\n");
    EXPECT_TRUE(spec);
    return spec ? spec->metrics : std::vector<std::string>();
  };
  EXPECT_THAT(metrics_of("{energy: 5}"), ElementsAre("latency", "energy"));
  EXPECT_THAT(metrics_of("{latency: 5000}"), ElementsAre("latency", "energy", "power"));
}

struct Fault {
  std::string text;  // behind networks and profile, so from line 4 on
  int line;
  int column;
  std::string said;
};

TEST_F(SpecTest, SaysWhereItIsWrong) {
  const std::vector<Fault> faults = {
      {"minimise: [latency]\n", 4, 1, "did you mean 'minimize'"},
      {"minimize: []\n", 4, 11, "no objective"},
      {"minimize: [latensy]\n", 4, 12, "did you mean 'latency'"},
      {"minimize: [\"latency *\"]\n", 4, 12, "character 10"},
      {"minimize: [\"2 * 3\"]\n", 4, 12, "depends on a plan"},
      {"score: latency\nminimize: [latency]\n", 5, 1, "both given"},
      {"minimize: [latency]\nvary:\n  memories.sram.capacity: [1]\n", 6, 3,
       "did you mean 'memories.sram.capacity_bytes'"},
      {"minimize: [latency]\nvary:\n  memories.*.capacity: [1]\n", 6, 3, "no entry"},
      {"minimize: [latency]\nvary:\n  memories.sram.capacity_bytes: []\n", 6, 33, "at least one"},
      {"minimize: [latency]\nvary:\n  memories.sram.capacity_bytes: {from: 1, to: 2}\n", 6, 3,
       "steps"},
      {"minimize: [latency]\nvary:\n  memories.sram.capacity_bytes: {from: 4, to: 2, steps: 2}\n",
       6, 47, "before it begins"},
      {"minimize: [latency]\nvary:\n  memories.sram.capacity_bytes: {from: 1, to: 2, steps: no}\n",
       6, 57, "powers_of_two"},
      {"minimize: [latency]\nvary:\n  clock_hz: \"lanes * 2\"\n", 6, 13, "'lanes'"},
      {"minimize: [latency]\nwhere: [\"lanes > 2\"]\n", 5, 9, "'lanes'"},
      {"minimize: [latency]\narea: {sram: 1}\n", 5, 8, "no profile has a part 'sram'"},
      {"minimize: [area, latency]\narea: {memories.sramm: 1}\n", 5, 8,
       "did you mean 'memories.sram'"},
      {"minimize: [area, latency]\narea: {memories.sram: \"capacity_byte\"}\n", 5, 23,
       "did you mean 'capacity_bytes'"},
      {"minimize: [area, latency]\narea: {engines.npu: \"banks\"}\n", 5, 21, "stands for nothing"},
      {"minimize: [area, latency]\narea: {file: parts.csv}\n", 2, 1, "'links.dam'"},
      {"minimize: [area, latency]\narea: {file: fields.csv}\n", 2, 1, "no field 'bank'"},
      {"minimize: [latency]\nvary:\n  clock_hz: {values: [1e9], from: 1}\n", 6, 29, "both given"},
      {"minimize: [latency]\nvary:\n  clock_hz: {name: latency, values: [1e9]}\n", 6, 20,
       "a metric already"},
      {"minimize: [latency]\nvary:\n  clock_hz: {name: area, values: [1e9]}\n", 6, 20,
       "the area already"},
      {"minimize: [latency]\nvary:\n  clock_hz: {name: a-b, values: [1e9]}\n", 6, 20, "no word"},
      {"minimize: [latency]\ncolumns: metric.csv\n", 5, 10, "a metric already"},
      {"minimize: [latency]\noptions: {budgets: 1}\n", 5, 11, "did you mean 'budget'"},
      {"minimize: [latency]\ncolumns: none.csv\n", 5, 10, "none.csv"},
      {"minimize: [latency]\ncolumns: twice.csv\n", 5, 10, "two rows for 'patent_chain'"},
  };
  Write("parts.csv", "part,area_mm2\nlinks.dam,1\n");
  Write("fields.csv", "part,bank,area_mm2\nmemories.sram,2,1\n");
  Write("metric.csv", "network,energy\npatent_chain,1\n");
  Write("twice.csv", "network,accuracy\npatent_chain,1\npatent_chain,2\n");
  for (const Fault& fault : faults) {
    const auto spec = Read(Heads() + fault.text);
    ASSERT_FALSE(spec) << fault.text;
    const base::Diagnostic& found = spec.error();
    EXPECT_EQ(found.line, fault.line) << fault.text << base::Format(found);
    EXPECT_EQ(found.column, fault.column) << fault.text << base::Format(found);
    EXPECT_THAT(base::Format(found), HasSubstr(fault.said));
  }
}

TEST_F(SpecTest, OptionsOfOtherFormatsAreRefusedForYaml) {
  for (const std::string option : {"dims: {batch: 1}", "floats_as: int8"}) {
    const auto spec =
        Read("schema: 1\nnetworks:\n  - file: " + Shipped("examples/networks/patent_chain.yaml") +
             "\n    " + option + "\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
             "\nminimize: [latency]\n");
    ASSERT_FALSE(spec) << option;
    EXPECT_EQ(spec.error().line, 4);
    EXPECT_EQ(spec.error().column, 5);
    EXPECT_THAT(spec.error().message, HasSubstr("has no effect on a network in YAML"));
  }
}

// The rule is found out to have no number at a point, long after it was read.
TEST_F(SpecTest, AnAreaWithoutANumberSaysWhereItsRuleIs) {
  const auto spec = Read(Heads() +
                         "minimize: [latency, area]\narea:\n  memories.*: \"1 / (banks - 1)\"\n"
                         "  engines.*: 0\n  links.*: 0\n");
  ASSERT_TRUE(spec) << base::Format(spec.error());
  const auto area = spec->area.Of(spec->space.Bases().front().document,
                                  [](std::string_view) { return std::optional<double>(); });
  ASSERT_FALSE(area);
  EXPECT_EQ(area.error().file, PathOf("spec.yaml"));
  EXPECT_EQ(area.error().line, 6);
  EXPECT_EQ(area.error().column, 15);
}

TEST_F(SpecTest, NamesMissingAndFaultyFiles) {
  EXPECT_THAT(base::Format(Read("schema: 1\nnetworks: [none.yaml]\nprofile: " +
                                Shipped("hw_profiles/mcu_320k.yaml") + "\nminimize: [latency]\n")
                               .error()),
              HasSubstr("spec.yaml:2:12"));
  Write("bad.yaml", "schema: 1\nname: x\nclok_hz: 1\n");
  EXPECT_THAT(base::Format(Read("schema: 1\nnetworks: [none.yaml]\nprofile: bad.yaml\n"
                                "minimize: [latency]\n")
                               .error()),
              HasSubstr("bad.yaml:3:1"));
}

TEST_F(SpecTest, AbsentAreasAreRefusedBeforeAnyPlan) {
  const auto spec = Read(Heads() + "minimize: [latency, area]\n");
  ASSERT_TRUE(spec);
  EXPECT_TRUE(spec->needs_area);
  EXPECT_FALSE(spec->area.Of(spec->space.Bases().front().document,
                             [](std::string_view) { return std::optional<double>(); }));
}

TEST(Digest, IsFnv1aOf128Bits) {
  EXPECT_EQ(DigestOf(""), "6c62272e07bb014262b821756295c58d");
  EXPECT_EQ(DigestOf("a"), "d228cb696f1a8caf78912b704e4a8964");
}

}  // namespace
}  // namespace tessera::explore
