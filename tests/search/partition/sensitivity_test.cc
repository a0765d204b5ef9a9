// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../cost/small_machine.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/partition/analysis/analyses.h"

namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two convolutions. As one subgraph they compute the halo twice; as two they store and load the
// tensor between them. The energy of a byte of DRAM, relative to a multiply-accumulate, decides
// which is cheaper.
graph::Graph Pair() {
  NetworkBuilder net;
  return net.Finish(net.Conv(net.Conv(net.Input({1, 2, 16, 4}), 3, 2), 3, 2));
}

Profile Balanced(double mac_pj) {
  Profile profile = SmallMachine(DmaSteps::kSerialized, 168);
  profile.engines[0].mac_pj = mac_pj;
  return profile;
}

struct Found {
  plan::Plan plan;
  std::vector<partition::analysis::Sensitivity> sensitivities;
};

Found Find(const graph::Graph& graph, const Profile& profile, const std::string& metric) {
  const engines::canonical::CanonicalEngine engine;
  const std::vector<const problem::Engine*> engines = {&engine};
  partition::answer::PartitionOptions options;
  options.objective.weights = {{metric, 1}};
  options.engines = engines;
  options.keeping = partition::paths::Keeping::kNothing;
  auto result = partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(result && result->plan);
  Found found{*std::move(result->plan), {}};
  auto sensitivities = partition::analysis::FindSensitivities(graph, found.plan, options);
  EXPECT_TRUE(sensitivities);
  found.sensitivities = *std::move(sensitivities);
  return found;
}

std::vector<std::string> Sentences(const Found& found) {
  std::vector<std::string> sentences;
  for (const partition::analysis::Sensitivity& each : found.sensitivities)
    sentences.push_back(partition::analysis::Describe(each));
  return sentences;
}

TEST(Sensitivity, IsNoneWhereTheObjectiveDoesNotLookAtEnergy) {
  EXPECT_THAT(Find(Pair(), Balanced(0.5), "latency").sensitivities, IsEmpty());
}

TEST(Sensitivity, ClaimsNothingOfASearchThatWasStopped) {
  const Profile profile = Balanced(0.5);
  const graph::Graph graph = Pair();
  const plan::Plan plan = Find(graph, profile, "energy").plan;
  const engines::canonical::CanonicalEngine engine;
  const std::vector<const problem::Engine*> engines = {&engine};
  base::Stop stop;
  stop.Request();
  partition::answer::PartitionOptions options;
  options.objective.weights = {{"energy", 1}};
  options.engines = engines;
  options.stop = &stop;
  const auto sensitivities = partition::analysis::FindSensitivities(graph, plan, options);
  ASSERT_TRUE(sensitivities);
  ASSERT_FALSE(sensitivities->empty());
  for (const partition::analysis::Sensitivity& each : *sensitivities) {
    EXPECT_TRUE(each.undecided);
    EXPECT_FALSE(each.Survives());
    EXPECT_THAT(partition::analysis::Describe(each),
                HasSubstr("no better choice was found before the limit"));
  }
}

TEST(Sensitivity, LeavesOutWhatCostsNothing) {
  EXPECT_THAT(Sentences(Find(Pair(), Balanced(0), "energy")),
              ElementsAre("with the energy of dram halved the choice survives",
                          "with the energy of dram doubled the choice survives"));
}

TEST(Sensitivity, SaysWhatAnotherChoiceWouldGain) {
  EXPECT_THAT(
      Sentences(Find(Pair(), Balanced(32), "energy")),
      ElementsAre("with the energy of dram halved another choice is 1.8 % better",
                  "with the energy of dram doubled the choice survives",
                  "with the energy of a multiply-accumulate halved the choice survives",
                  "with the energy of a multiply-accumulate doubled another choice is 2 % better"));
}

// The plan found under another profile is the plan of a new search there.
TEST(Sensitivity, IsWhatAFreshSearchFinds) {
  int changed = 0;
  for (const double mac_pj : {2.0, 4.0, 8.0, 12.0, 16.0, 32.0}) {
    const Profile profile = Balanced(mac_pj);
    const Found found = Find(Pair(), profile, "energy");
    ASSERT_EQ(found.sensitivities.size(), 4U);
    for (const partition::analysis::Sensitivity& sensitivity : found.sensitivities) {
      Profile other = profile;
      if (sensitivity.what == "the energy of dram") {
        other.memories[0].read_pj_per_byte *= sensitivity.factor;
        other.memories[0].write_pj_per_byte *= sensitivity.factor;
      } else {
        other.engines[0].mac_pj *= sensitivity.factor;
      }
      const plan::Plan fresh = Find(Pair(), other, "energy").plan;
      EXPECT_NEAR(sensitivity.best_score, fresh.score, 1e-9 * fresh.score);
      EXPECT_LE(fresh.score, sensitivity.score * (1 + 1e-9));
      EXPECT_EQ(sensitivity.Survives(), fresh.score >= sensitivity.score * (1 - 1e-9));
      changed += sensitivity.Survives() ? 0 : 1;
    }
  }
  EXPECT_GE(changed, 1);
}

}  // namespace
}  // namespace tessera::search
