// SPDX-License-Identifier: Apache-2.0

#include "every_plan.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "exhaustive.h"
#include "networks.h"
#include "tessera/base/random.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/search/cost/small_machine.h"

// Compares the search with exhaustive search on networks of up to 12 operators. TESSERA_PARTITIONS
// is the number of draws (scripts/soak uses more); draw i is always the same.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;

constexpr int kDraws = 80;
constexpr int kMostOperators = 12;

int Draws() {
  const char* wanted = std::getenv("TESSERA_PARTITIONS");
  return wanted == nullptr ? DrawsOf(kDraws) : std::atoi(wanted);
}

partition::answer::PartitionResult Search(const graph::Graph& graph, const Profile& profile,
                                          const std::string& metric) {
  partition::answer::PartitionOptions options;
  options.objective = {.weights = {{metric, 1}}, .limits = {}};
  options.engines = TestEngines();
  auto found = partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(found) << base::Format(found.error());
  return *std::move(found);
}

// Expects the same answer on whether there is a plan, and a score as good as any.
bool ExpectBest(const graph::Graph& graph, const Profile& profile, const std::string& metric) {
  const double best = EveryPlan(graph, profile, metric).BestScore();
  const partition::answer::PartitionResult found = Search(graph, profile, metric);
  const bool fits = best < std::numeric_limits<double>::infinity();
  EXPECT_EQ(found.plan.has_value(), fits) << found.reason;
  if (!found.plan) return false;
  EXPECT_EQ(found.status, problem::Status::kOptimal);
  EXPECT_DOUBLE_EQ(found.plan->score, best) << metric;  // sums of energies differ in the last bit
  EXPECT_TRUE(plan::verify::Validate(*found.plan).empty());
  return true;
}

TEST(EveryPlan, OfRandomNetworksIsNoBetter) {
  base::Random random(66);
  int keeping = 0;
  int moving = 0;
  int impossible = 0;
  for (int draw = 0; draw < Draws(); ++draw) {
    SCOPED_TRACE(draw);
    const graph::Graph graph = AnyNetwork(random, 1 + draw % kMostOperators);
    const DmaSteps dma = random.Chance(0.5) ? DmaSteps::kSerialized : DmaSteps::kDoubleBuffered;
    Profile profile = SmallMachine(dma, random.Uniform(25, 110));
    profile.tiling.may_serialize = dma == DmaSteps::kDoubleBuffered && random.Chance(0.5);
    if (random.Chance(0.3))
      profile.tiling.halo = {hw_profiles::HaloStorage::kRollingBuffer,
                             hw_profiles::HaloStorage::kLineBuffer};
    const std::string metric = random.Chance(0.3)   ? "energy"
                               : random.Chance(0.5) ? "latency"
                                                    : "off_chip_bytes";
    if (!ExpectBest(graph, profile, metric)) {
      ++impossible;
      continue;
    }
    (Search(graph, profile, metric).plan->kept.empty() ? moving : keeping) += 1;
  }
  EXPECT_GE(keeping, Draws() / 10);
  EXPECT_GE(moving, Draws() / 10);
  RecordProperty("impossible", impossible);
}

// MobileNetV2 at the end of its features, where tiles have few rows.
TEST(EveryPlan, OfWindowsOfMobileNetIsNoBetter) {
  const std::string path = EXAMPLES_FOLDER "/networks/mobilenet_v2.yaml";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const auto network = graph::import::yaml::ReadNetwork(text.str(), path);
  ASSERT_TRUE(network);
  for (int last = 59; last > 39; last -= 20 / DrawsOf(IsLongRun() ? 20 : 5)) {
    SCOPED_TRACE(last);
    const graph::Graph window = WindowOf(*network, {last - kMostOperators + 1, last});
    Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 200'000);
    hw_profiles::Throughput depthwise = profile.engines.front().throughputs.front();
    depthwise.kind = base::OperatorKind::kDepthwise;
    profile.engines.front().throughputs.push_back(depthwise);
    EXPECT_TRUE(ExpectBest(window, profile, "latency"));
    EXPECT_TRUE(ExpectBest(window, profile, "off_chip_bytes"));
  }
}

}  // namespace
}  // namespace tessera::search
