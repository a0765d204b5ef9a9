#include "tessera/search/partition/rejections.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exhaustive.h"
#include "networks.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/simulate/simulate.h"
#include "tessera/search/tiling/tile_driver.h"

// What a plan says of ways that were passed over is so: they cost as much, they fit or they do not, and none is the plan's own.
namespace tessera::search {
namespace {

using plan::Rejection;
using plan::RejectionCause;

bool HasRoom(const problem::Problem& problem) {
  AllocateOptions options;
  options.capacity = problem.memories.front().capacity;
  return Allocate(problem, nullptr, 0, TestEngines(), options)->allocation.has_value();
}

// The least latency of the tile, and whether it fits under some policy that agrees with the rejection.
struct Truth {
  double latency = 0;
  bool fits = false;
};

Truth FindTruth(const Subject& subject, const Rejection& rejection) {
  TileOptions options;
  options.engines = TestEngines();
  options.shapes = {rejection.tile};
  const auto tiles =
      IntervalTiles::Build(subject.graph, subject.profile, rejection.interval, options).value();
  Truth truth;
  for (size_t i = 0; i < tiles.Candidates().size(); ++i) {
    const encoder::Policy& policy = tiles.Candidates()[i].choice.policy;
    if (policy.weights != rejection.weights || policy.halo != rejection.halo ||
        policy.depth != rejection.depth)
      continue;
    const plan::Metrics metrics = Simulate(subject.graph, subject.profile, tiles.TilingOf(i), policy);
    truth.latency = static_cast<double>(metrics.latency_cycles);
    truth.fits = truth.fits || HasRoom(tiles.ProblemOf(i));
  }
  return truth;
}

plan::Plan PlanOf(const Subject& subject) {
  PartitionOptions options;
  options.objective.weights = {{"latency", 1}};
  options.engines = TestEngines();
  options.keeping = Keeping::kNothing;
  const auto result = SearchPartition(subject.graph, subject.profile, options);
  return result && result->plan ? *result->plan : plan::Plan();
}

class RejectionsTest : public ::testing::Test {
 protected:
  void Check(const Subject& subject, const plan::Subgraph& subgraph, const Rejection& rejection) {
    EXPECT_EQ(rejection.interval.first, subgraph.interval.first);
    const bool joined = rejection.interval.last > subgraph.interval.last;
    joined_ += joined ? 1 : 0;
    EXPECT_TRUE(rejection.cause != RejectionCause::kScore || rejection.score.value() >= rejection.taken);
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

TEST_F(RejectionsTest, AreTrue) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Subject subject = AnySubject(seed, {2, 7}, {40, 90});
    for (const plan::Subgraph& subgraph : PlanOf(subject).subgraphs) {
      for (const Rejection& rejection : subgraph.rejected) Check(subject, subgraph, rejection);
    }
  }
  EXPECT_GE(joined_, 10);
  EXPECT_GE(without_room_, 10);
}

// Where operands come by depth, slices are as deep as it says.
TEST_F(RejectionsTest, TellTheDepthOfSlices) {
  int by_depth = 0;
  for (uint64_t seed = 0; seed < 240; ++seed) {
    SCOPED_TRACE(seed);
    Subject subject = AnySubject(seed, {1, 4}, {40, 90});
    subject.profile.tiling.weights.push_back(hw_profiles::WeightPolicy::kByDepth);
    subject.profile.tiling.depth_granule = 1;
    for (const plan::Subgraph& subgraph : PlanOf(subject).subgraphs) {
      for (const Rejection& rejection : subgraph.rejected) {
        Check(subject, subgraph, rejection);
        const bool deep = rejection.weights == hw_profiles::WeightPolicy::kByDepth;
        EXPECT_EQ(rejection.depth > 0, deep && !rejection.tile.empty());
        by_depth += deep ? 1 : 0;
      }
    }
  }
  EXPECT_GE(by_depth, 10);
}

TEST_F(RejectionsTest, NameEachWayOnceAndNeverTheOneTaken) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    for (const plan::Subgraph& subgraph : PlanOf(AnySubject(seed, {2, 7}, {40, 90})).subgraphs) {
      std::vector<Way> ways = {{subgraph.tile, subgraph.weights, subgraph.halo, subgraph.depth}};
      for (const Rejection& rejection : subgraph.rejected) {
        if (rejection.interval.last == subgraph.interval.last)
          ways.push_back({rejection.tile, rejection.weights, rejection.halo, rejection.depth});
      }
      std::sort(ways.begin(), ways.end());
      EXPECT_EQ(
          std::adjacent_find(ways.begin(), ways.end(), [](const Way& a, const Way& b) { return !(a < b); }),
          ways.end());
    }
  }
}

}  // namespace
}  // namespace tessera::search
