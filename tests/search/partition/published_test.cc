// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "exhaustive.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/partition.h"

// Compares plans with published ones: docs/comparisons.md.
namespace tessera::search {
namespace {

base::Expected<std::string> ReadFile(std::string_view path) {
  std::stringstream text;
  text << std::ifstream(std::string(path)).rdbuf();
  return text.str();
}

std::string InExamples(const std::string& file) {
  return std::string(EXAMPLES_FOLDER) + "/" + file;
}

struct Subject {
  graph::Graph network;
  hw_profiles::Profile profile;
};

Subject ReadSubject(const std::string& network, const std::string& profile) {
  const std::string file = InExamples("networks/" + network);
  const std::string hw = InExamples(profile);
  return {graph::import::yaml::ReadNetwork(ReadFile(file).value(), file).value(),
          hw_profiles::ReadProfile(ReadFile(hw).value(), hw, ReadFile).value()};
}

partition::answer::PartitionOptions Least(const std::string& metric,
                                          std::map<std::string, double> limits = {}) {
  partition::answer::PartitionOptions options;
  options.objective = {.weights = {{metric, 1}}, .limits = std::move(limits)};
  options.engines = TestEngines();
  options.threads = 2;
  options.budget = base::Budget{200'000};
  return options;
}

struct MsfPoint {
  int64_t memory = 0;
  int64_t counted = 0;  // MACs of its partition, tile by tile (tests/plan/msf_cnn_test.cc)
  int64_t run_in = 0;   // the peak of its scheme as a plan of ours
};

// Names the tests.
void PrintTo(const MsfPoint& point, std::ostream* out) { *out << point.memory; }

class MsfCnn : public testing::TestWithParam<MsfPoint> {};

// Its scheme, mirrored, is one of ours, with as many MACs.
TEST_P(MsfCnn, SchemeRunsAsAPlan) {
  const auto [network, profile] = ReadSubject("mobilenet_v2_035.yaml", "comparisons/msf_cnn.yaml");
  const std::string file =
      InExamples("comparisons/msf_cnn_" + std::to_string(GetParam().memory) + ".yaml");
  partition::answer::PartitionOptions options = Least("peak");
  const auto constraints = partition::constraints::ReadConstraints(ReadFile(file).value(), file,
                                                                   network, profile, std::nullopt);
  ASSERT_TRUE(constraints) << constraints.error().message;
  options.constraints = *constraints;
  const auto found = partition::SearchPartition(network, profile, options);
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->plan->totals.macs, GetParam().counted);
  EXPECT_EQ(found->plan->totals.peak_bytes, GetParam().run_in);
}

void ExpectNoMoreMacs(int64_t counted, int64_t memory) {
  const auto [network, profile] = ReadSubject("mobilenet_v2_035.yaml", "comparisons/msf_cnn.yaml");
  const auto found = partition::SearchPartition(
      network, profile, Least("macs", {{"peak", static_cast<double>(memory)}}));
  ASSERT_TRUE(found && found->plan) << found->reason;
  EXPECT_LE(found->plan->totals.macs, counted);
  EXPECT_LE(found->plan->totals.peak_bytes, memory);
  EXPECT_TRUE(plan::verify::Validate(*found->plan).empty());
}

// Within the memory that it states, which may be less than its scheme needs to run.
TEST_P(MsfCnn, NeedsNoFewerMacsThanOurPlan) {
  ExpectNoMoreMacs(GetParam().counted, GetParam().memory);
}

TEST_P(MsfCnn, NeedsNoFewerMacsThanOurPlanInTheMemoryInWhichItRuns) {
  ExpectNoMoreMacs(GetParam().counted, GetParam().run_in);
}

INSTANTIATE_TEST_SUITE_P(
    Points, MsfCnn,
    testing::Values(MsfPoint{7'887, 35'512'762, 8'993}, MsfPoint{13'926, 32'064'466, 12'606},
                    MsfPoint{15'340, 27'508'810, 15'660}, MsfPoint{21'288, 25'090'906, 21'216},
                    MsfPoint{25'674, 24'038'338, 25'014}, MsfPoint{63'741, 23'868'058, 65'016},
                    MsfPoint{67'905, 20'878'258, 67'758}, MsfPoint{83'065, 19'287'490, 82'955},
                    MsfPoint{181'440, 18'909'490, 181'440}),
    [](const auto& point) { return std::to_string(point.param.memory); });

TEST(Vela, NeedsNoLessSramThanOurPlanOfMobileNetV2WithoutRecompute) {
  const auto [network, profile] =
      ReadSubject("mobilenet_v2.yaml", "../hw_profiles/ethos_u55_256.yaml");
  const auto found =
      partition::SearchPartition(network, profile, Least("peak", {{"macs", 300'774'272}}));
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->plan->totals.recomputed_macs, 0);
  EXPECT_LE(found->plan->totals.peak_bytes, 361'984);
}

int64_t FeatureBytes(const plan::Plan& plan) {
  return plan.totals.off_chip_by_cause.at("inputs") + plan.totals.off_chip_by_cause.at("outputs");
}

TEST(Vela, MovesNoFewerFeaturesThanOurPlanOfMobileNetV2) {
  const auto [network, profile] =
      ReadSubject("mobilenet_v2.yaml", "../hw_profiles/ethos_u65_256.yaml");
  const auto found = partition::SearchPartition(network, profile, Least("off_chip_bytes"));
  ASSERT_TRUE(found && found->plan);
  EXPECT_LE(FeatureBytes(*found->plan), 1'360'912 + 414'952);
}

TEST(Fsrcnn, MovesInputAndOutputAlone) {
  const auto [network, profile] =
      ReadSubject("fsrcnn_same.yaml", "../hw_profiles/edge_npu_1mib.yaml");
  const auto found = partition::SearchPartition(network, profile, Least("off_chip_bytes"));
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(FeatureBytes(*found->plan), 8'812'800);
}

}  // namespace
}  // namespace tessera::search
