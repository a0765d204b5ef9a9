// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exhaustive.h"
#include "files.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/search/cost/simulate.h"

// Networks whose best plan needs a policy that few other networks need, and policies that only a
// constraint selects.
namespace tessera::search {
namespace {

using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

constexpr std::string_view kFolder = "tests/search/partition/policies/";

graph::Graph NetworkOf(const std::string& name) {
  return NetworkIn(std::string(kFolder) + name + ".yaml");
}

Profile ProfileOf(const std::string& name) {
  return ProfileIn(std::string(kFolder) + name + ".hw.yaml");
}

partition::answer::PartitionResult Search(const graph::Graph& graph, const Profile& profile,
                                          const plan::Objective& objective,
                                          std::vector<plan::PlanConstraint> constraints = {}) {
  partition::answer::PartitionOptions options;
  options.objective = objective;
  static const encoder::sat::SatEngine sat;  // the only one of these engines that knows every rule
  std::vector<const problem::Engine*> engines(TestEngines().begin(), TestEngines().end());
  engines.push_back(&sat);
  options.engines = engines;
  options.constraints = std::move(constraints);
  base::Expected<partition::answer::PartitionResult> result =
      partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(result) << base::Format(result.error());
  return result ? *std::move(result) : partition::answer::PartitionResult();
}

// `best` is the score of the best of all plans, found by exhaustive search.
struct Case {
  std::string name;
  std::string metric;
  std::map<std::string, double> limits;
  double best = 0;
  friend std::ostream& operator<<(std::ostream& out, const Case& its) { return out << its.name; }
};

class BestPolicies : public ::testing::TestWithParam<Case> {};

TEST_P(BestPolicies, AreFoundAndProven) {
  const Case& its = GetParam();
  const partition::answer::PartitionResult found =
      Search(NetworkOf(its.name), ProfileOf(its.name),
             {.weights = {{its.metric, 1}}, .limits = its.limits});
  ASSERT_TRUE(found.plan) << found.reason;
  EXPECT_EQ(found.plan->score, its.best);
  EXPECT_EQ(found.plan->status, "optimal");
  EXPECT_TRUE(plan::verify::Validate(*found.plan).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BestPolicies,
    ::testing::Values(Case{"k_slices_of_2", "latency", {}, 685},
                      Case{"shared_rows_of_two_outputs", "off_chip_bytes", {}, 773},
                      Case{"shared_rows_of_three_outputs", "latency", {}, 728},
                      Case{"shared_rows_serialized", "latency", {}, 952},
                      Case{"shared_rows_of_a_branch", "off_chip_bytes", {{"peak", 575}}, 425},
                      Case{"kept_in_the_place_of_kept", "energy", {}, 6101}));

plan::PlanConstraint AsSubgraph(plan::TileConfigConstraint config) {
  plan::PlanConstraint constraint;
  constraint.kind = plan::PlanConstraintKind::kSubgraph;
  constraint.interval = {0, 1};
  constraint.config = std::move(config);
  return constraint;
}

// A required policy may give the same program as another policy. That is no reason to refuse it.
TEST(RequiredPolicies, ArePlannedThoughTheyChangeNothing) {
  const std::string name = "shared_rows_of_two_outputs";
  const graph::Graph given = NetworkOf(name);
  Profile profile = ProfileOf(name);
  profile.tiling.weights = {WeightPolicy::kResident, WeightPolicy::kStreamed};
  profile.tiling.halo = {HaloStorage::kAdjacent, HaloStorage::kRollingBuffer};
  std::vector<plan::TileConfigConstraint> configs(4);
  const std::vector<graph::tiling::TileShape> tiles = {
      {2, 1, 2, 4}, {2, 1, 4, 4}, {2, 1, 8, 4}, {2, 1, 8, 4}};
  for (size_t i = 0; i < configs.size(); ++i) configs[i].tile = tiles[i];
  configs[0].halo = HaloStorage::kAdjacent;
  configs[1].halo = HaloStorage::kRollingBuffer;
  configs[2].weights = WeightPolicy::kStreamed;
  configs[3].in_place = true;
  const graph::Graph graph = graph::Reordered(given, std::vector<int>{1, 0});
  profile.memories[static_cast<size_t>(profile.tile_memory)].capacity_bytes = 4096;
  for (const plan::TileConfigConstraint& config : configs) {
    const std::vector<plan::PlanConstraint> constraints = {AsSubgraph(config)};
    SCOPED_TRACE(plan::Describe(graph, constraints.front()));
    ASSERT_FALSE(
        partition::constraints::CheckWellFormed(graph, profile, constraints, std::nullopt));
    const partition::answer::PartitionResult found =
        Search(graph, profile, {.weights = {{"off_chip_bytes", 1}}, .limits = {}}, constraints);
    ASSERT_TRUE(found.plan) << found.reason;
    EXPECT_TRUE(plan::verify::Validate(*found.plan).empty());
    const plan::Subgraph& subgraph = found.plan->subgraphs.front();
    EXPECT_EQ(subgraph.tile, *config.tile);
    EXPECT_EQ(subgraph.halo, config.halo.value_or(subgraph.halo));
    EXPECT_EQ(subgraph.weights, config.weights.value_or(subgraph.weights));
    EXPECT_EQ(subgraph.in_place, config.in_place.value_or(subgraph.in_place));
  }
}

// An engine writes a network output at its home if its reader is in a later subgraph. In one
// subgraph with the reader, a transfer writes it. The bound on all cuts counts no transfer.
TEST(OddPlans, CostNoLessThanTheirBoundsWhereOutputsAreReadAgain) {
  for (const std::string name : {"output_read_again", "output_written_directly"}) {
    for (const std::string metric : {"latency", "energy", "off_chip_bytes", "macs"}) {
      SCOPED_TRACE(name + ", " + metric);
      const partition::answer::PartitionResult found =
          Search(NetworkOf(name), ProfileOf(name), {.weights = {{metric, 1}}, .limits = {}});
      ASSERT_TRUE(found.plan) << found.reason;
      EXPECT_TRUE(plan::verify::Validate(*found.plan).empty());
    }
  }
}

// Tiles of one row would be 4096, too many to keep rows from one to the next.
TEST(OddPlans, SayThatTilesWereTooManyToLookAt) {
  const std::string name = "many_rows";
  Profile profile = ProfileOf(name);
  const plan::Objective objective = {.weights = {{"latency", 1}}, .limits = {}};
  const partition::answer::PartitionResult found = Search(NetworkOf(name), profile, objective);
  ASSERT_TRUE(found.plan) << found.reason;
  EXPECT_EQ(found.plan->status, "feasible");
  EXPECT_NE(found.plan->scope.tile_extents, "");
  profile.tiling.axes.front().granularity = 2;
  const partition::answer::PartitionResult fewer = Search(NetworkOf(name), profile, objective);
  ASSERT_TRUE(fewer.plan) << fewer.reason;
  EXPECT_EQ(fewer.plan->status, "optimal");
}

// Engines read and write the operands at home: no step has a mode.
TEST(OddPlans, HoldNothingInAMemoryWithModes) {
  const std::string name = "modes_without_buffers";
  const partition::answer::PartitionResult found =
      Search(NetworkOf(name), ProfileOf(name), {.weights = {{"energy", 1}}, .limits = {}});
  ASSERT_TRUE(found.plan) << found.reason;
  EXPECT_TRUE(found.plan->buffers.empty());
  const std::string text = plan::files::WritePlanJson(*found.plan);
  const base::Expected<plan::Plan> read = plan::files::ReadPlanJson(text, "plan.json");
  ASSERT_TRUE(read) << base::Format(read.error());
  EXPECT_TRUE(plan::verify::Validate(*read).empty());
  EXPECT_EQ(plan::files::WritePlanJson(*read), text);
}

// All windows of the last operator lie in the padding. So nothing before it is needed, the barrier
// included.
TEST(OddPlans, LeaveOutABarrierWhoseResultsAreNotNeeded) {
  const std::string name = "barrier_without_readers";
  for (const std::string metric : {"latency", "energy", "off_chip_bytes"}) {
    const partition::answer::PartitionResult found =
        Search(NetworkOf(name), ProfileOf(name), {.weights = {{metric, 1}}, .limits = {}});
    ASSERT_TRUE(found.plan) << found.reason;
    EXPECT_TRUE(plan::verify::Validate(*found.plan).empty());
  }
}

// The order decides whether the next value lies in the place of its state. That decides the fit and
// the cost.
TEST(OrdersOfStates, AreAllTriedForEveryOrderOfTheFile) {
  for (const std::string name : {"state_read_twice", "state_that_grows"}) {
    const graph::Graph given = NetworkOf(name);
    const Profile profile = ProfileOf(name);
    const orders::Precedence precedence(given);
    const std::optional<std::vector<orders::Order>> orders =
        orders::FindEveryOrder(precedence, 100, base::Stop());
    ASSERT_TRUE(orders && orders->size() > 1);
    for (const std::string metric : {"latency", "energy", "off_chip_bytes", "peak"}) {
      std::set<double> scores;
      for (const orders::Order& order : *orders) {
        SCOPED_TRACE(name + ", " + metric + ", " + ::testing::PrintToString(order));
        const graph::Graph graph = graph::Reordered(given, order);
        const partition::answer::PartitionResult found =
            Search(graph, profile, {.weights = {{metric, 1}}, .limits = {}});
        ASSERT_TRUE(found.plan) << found.reason;
        EXPECT_EQ(found.plan->status, "optimal")
            << ::testing::PrintToString(plan::DescribeProof(*found.plan));
        EXPECT_TRUE(plan::verify::Validate(*found.plan).empty());
        scores.insert(found.plan->score);
        // A plan found in some order costs at least the bounds of every order.
        for (const orders::Order& other : *orders) {
          const plan::Metrics bounds = cost::LowerBound(graph::Reordered(given, other), profile,
                                                        {0, static_cast<int>(order.size()) - 1});
          EXPECT_LE(bounds.latency_cycles, found.plan->totals.latency_cycles);
          EXPECT_LE(bounds.energy_pj, found.plan->totals.energy_pj);
          EXPECT_LE(bounds.off_chip_bytes, found.plan->totals.off_chip_bytes);
        }
      }
      EXPECT_EQ(scores.size(), 1U);
    }
  }
}

// An operator may list the inputs that its result may overwrite in any order. They are tried in the
// order of the inputs (program.md, In place).
TEST(InPlace, TakesTheFirstInputHoweverTheyAreListed) {
  const std::string network = R"(schema: 1
name: in_place
dtype: int8
inputs: [{id: a, shape: [1, 8, 8, 8]}, {id: b, shape: [1, 8, 8, 8]}]
operators:
  - {id: x, kind: elementwise, function: relu, inputs: [a]}
  - {id: y, kind: elementwise, function: relu, inputs: [b]}
  - {id: z, kind: opaque, inputs: [x, y], outputs: [{id: z, shape: [1, 8, 8, 8]}],
     accesses: [elementwise, elementwise], in_place: [1, 0], macs: 10}
)";
  const Profile profile = ProfileIn("hw_profiles/edge_npu_1mib.yaml");
  const graph::Graph graph = graph::import::yaml::ReadNetwork(network, "in_place.yaml").value();
  const auto result = Search(graph, profile, {});
  ASSERT_TRUE(result.plan) << result.reason;
  EXPECT_TRUE(plan::verify::Validate(*result.plan).empty());
}

}  // namespace
}  // namespace tessera::search
