// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "exhaustive.h"
#include "networks.h"
#include "search_options.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/tiling/tile_driver.h"
#include "tessera/tests/search/cost/simulate.h"
#include "tessera/tests/search/cost/small_machine.h"

// The statements of a plan about rejected alternatives are true: they have the stated cost, they
// fit or do not fit, and none is the plan's own configuration.
namespace tessera::search {
namespace {

using plan::RejectedAlternative;
using plan::RejectionCause;

bool HasRoom(const problem::Problem& problem) {
  allocate::AllocateOptions options;
  options.capacity = problem.memories.front().capacity;
  return allocate::Allocate(problem, nullptr, 0, TestEngines(), options)->allocation.has_value();
}

// The least latency of the tile, and whether it fits under some policy that agrees with the
// rejected alternative.
struct Truth {
  double latency = 0;
  bool fits = false;
};

Truth FindTruth(const Subject& subject, const RejectedAlternative& rejection) {
  tiling::TileOptions options;
  options.engines = TestEngines();
  options.shapes = {rejection.tile};
  options.policies =
      encoder::program::AllowedPolicies(subject.graph, subject.profile, rejection.interval);
  options.made = encoder::program::TilesMade::kAll;
  const auto tiles =
      tiling::IntervalTiles::Build(subject.graph, subject.profile, rejection.interval, options)
          .value();
  Truth truth;
  for (size_t i = 0; i < tiles.Candidates().size(); ++i) {
    const encoder::program::Policy& policy = tiles.Candidates()[i].choice.policy;
    if (policy.weights != rejection.weights || policy.halo != rejection.halo) continue;
    if (policy.k_extent != rejection.k_extent || policy.serialized != rejection.serialized)
      continue;
    const plan::Metrics metrics =
        cost::Simulate(subject.graph, subject.profile, tiles.TilingOf(i), policy);
    truth.latency = static_cast<double>(metrics.latency_cycles);
    truth.fits = truth.fits || HasRoom(tiles.ProblemOf(i));
  }
  return truth;
}

plan::Plan PlanOf(const Subject& subject) {
  const auto result = partition::SearchPartition(subject.graph, subject.profile,
                                                 KeepingNothing(Minimise("latency")));
  return result && result->plan ? *result->plan : plan::Plan();
}

// One convolution with so large a K that slices of several K extents are possible.
Subject DeepSubject(uint64_t seed) {
  base::Random random(seed);
  NetworkBuilder net;
  const int input = net.Input({1, random.Uniform(16, 60), random.Uniform(1, 3), 1});
  const int result = net.Conv(input, 1, random.Uniform(1, 3));
  Subject subject{net.Finish(result),
                  SmallMachine(hw_profiles::DmaSteps::kSerialized, random.Uniform(40, 250))};
  subject.profile.tiling.weights.push_back(hw_profiles::WeightPolicy::kSplitK);
  subject.profile.tiling.k_granularity = 2;
  return subject;
}

class RejectedAlternativesTest : public ::testing::Test {
 protected:
  void Check(const Subject& subject, const plan::Subgraph& subgraph,
             const RejectedAlternative& rejection) {
    EXPECT_EQ(rejection.interval.first, subgraph.interval.first);
    const bool joined = rejection.interval.last > subgraph.interval.last;
    joined_ += joined ? 1 : 0;
    EXPECT_TRUE(rejection.cause != RejectionCause::kScore ||
                rejection.score.value() >= rejection.taken);
    EXPECT_TRUE(joined || rejection.taken == static_cast<double>(subgraph.metrics.latency_cycles));
    if (rejection.tile.empty()) return;
    const Truth truth = FindTruth(subject, rejection);
    EXPECT_EQ(rejection.score.value_or(truth.latency), truth.latency);
    if (rejection.cause != RejectionCause::kRoom) return;
    EXPECT_FALSE(truth.fits);
    EXPECT_GT(rejection.needs_bytes, 0);
    ++without_room_;
  }

  int joined_ = 0;
  int without_room_ = 0;
};

TEST_F(RejectedAlternativesTest, AreTrue) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Subject subject = seed < 80 ? AnySubject(seed, {2, 7}, {40, 90}) : DeepSubject(seed);
    for (const plan::Subgraph& subgraph : PlanOf(subject).subgraphs) {
      for (const RejectedAlternative& rejection : subgraph.rejected_alternatives)
        Check(subject, subgraph, rejection);
    }
  }
  EXPECT_GE(joined_, 10);
  EXPECT_GE(without_room_, 10);
}

TEST_F(RejectedAlternativesTest, NameEachConfigOnceAndNeverThatOfThePlan) {
  // Of a subgraph or of an alternative to it.
  const auto config_of = [](const auto& of) {
    return partition::choices::TileConfig(of.tile, {.weights = of.weights,
                                                    .halo = of.halo,
                                                    .k_extent = of.k_extent,
                                                    .serialized = of.serialized});
  };
  std::set<int64_t> k_extents;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Subject subject = seed < 40 ? AnySubject(seed, {2, 7}, {40, 90}) : DeepSubject(seed);
    for (const plan::Subgraph& subgraph : PlanOf(subject).subgraphs) {
      std::vector<partition::choices::TileConfig> configs = {config_of(subgraph)};
      for (const RejectedAlternative& rejection : subgraph.rejected_alternatives) {
        if (rejection.interval.last == subgraph.interval.last)
          configs.push_back(config_of(rejection));
        k_extents.insert(rejection.k_extent);
      }
      std::sort(configs.begin(), configs.end());
      EXPECT_EQ(
          std::adjacent_find(configs.begin(), configs.end(),
                             [](const partition::choices::TileConfig& a,
                                const partition::choices::TileConfig& b) { return !(a < b); }),
          configs.end());
    }
  }
  EXPECT_GE(k_extents.size(), 4U);  // of slices; 0: not split along K
}

}  // namespace
}  // namespace tessera::search
