// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "constraint_words.h"
#include "every_plan.h"
#include "exhaustive.h"
#include "networks.h"
#include "tessera/base/random.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/tiling/tile_driver.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/search/cost/small_machine.h"

// A plan under constraints is the best of the plans that keep them.
namespace tessera::search {
namespace {

using encoder::program::SubgraphChoice;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

partition::answer::PartitionOptions Under(std::vector<plan::PlanConstraint> constraints,
                                          const std::string& metric = "off_chip_bytes") {
  partition::answer::PartitionOptions options;
  options.objective = {.weights = {{metric, 1}}, .limits = {}};
  options.engines = TestEngines();
  options.constraints = std::move(constraints);
  return options;
}

plan::Plan PlanUnder(const graph::Graph& graph, const Profile& profile,
                     const partition::answer::PartitionOptions& options) {
  const auto result = partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(result && result->plan) << (result ? result->reason : base::Format(result.error()));
  if (!result || !result->plan) return {};
  EXPECT_TRUE(plan::verify::Validate(*result->plan).empty());
  return *result->plan;
}

std::vector<int> FirstsOf(const plan::Plan& plan) {
  std::vector<int> firsts;
  for (const plan::Subgraph& subgraph : plan.subgraphs) firsts.push_back(subgraph.interval.first);
  return firsts;
}

TEST(PlanConstraints, CutWhereRequired) {
  partition::answer::PartitionOptions options = Under({Apart(2)});
  options.keeping = partition::paths::Keeping::kNothing;
  const plan::Plan plan = PlanUnder(Chain(4), SmallMachine(DmaSteps::kSerialized), options);
  EXPECT_THAT(FirstsOf(plan), ElementsAre(0, 2));
  EXPECT_TRUE(plan.proven);
  EXPECT_EQ(plan.scope.kept, "boundary tensors, as asked");
  EXPECT_THAT(plan.notes, Contains("as required, a subgraph that begins with operator 'conv2'"));
}

TEST(PlanConstraints, HoldTogetherWhatTheSearchWouldNot) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 120);
  ASSERT_GT(FirstsOf(PlanUnder(Chain(3), profile, Under({}))).size(), 1U);
  EXPECT_THAT(FirstsOf(PlanUnder(Chain(3), profile, Under({Together(0, 2)}))), ElementsAre(0));
}

TEST(PlanConstraints, StateASubgraphWithItsTileAndPolicies) {
  Profile profile = SmallMachine(DmaSteps::kSerialized);
  profile.tiling.weights = {hw_profiles::WeightPolicy::kResident,
                            hw_profiles::WeightPolicy::kStreamed};
  profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute,
                         hw_profiles::HaloStorage::kRollingBuffer};
  const plan::TileConfigConstraint config = {
      .tile = graph::tiling::TileShape{1, 2, 3, 4},  // no even cut of 8 rows
      .weights = hw_profiles::WeightPolicy::kStreamed,
      .in_place = false,
      .halo = hw_profiles::HaloStorage::kRollingBuffer,
      .addresses = {}};
  const plan::Plan plan = PlanUnder(Chain(4), profile, Under({Subgraph(1, 2, config)}));
  ASSERT_THAT(FirstsOf(plan), ElementsAre(0, 1, 3));
  EXPECT_EQ(plan.subgraphs[1].tile, *config.tile);
  EXPECT_EQ(plan.subgraphs[1].weights, config.weights);
  EXPECT_EQ(plan.subgraphs[1].halo, config.halo);
  EXPECT_FALSE(plan.subgraphs[1].largest_proven);
}

TEST(PlanConstraints, LeaveTheBaselineAlone) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized);
  const plan::Plan free = PlanUnder(Chain(3), profile, Under({}));
  const plan::TileConfigConstraint small = {.tile = graph::tiling::TileShape{1, 2, 1, 4},
                                            .weights = {},
                                            .in_place = {},
                                            .halo = {},
                                            .addresses = {}};
  const plan::Plan plan = PlanUnder(Chain(3), profile, Under({Subgraph(1, 1, small)}));
  EXPECT_TRUE(plan.baseline->complete);
  EXPECT_EQ(plan.baseline->score, free.baseline->score);
  EXPECT_EQ(plan.subgraphs[1].tile, *small.tile);
}

// The search begins with the shortest subgraphs that constraints permit, so it has a plan however
// little work it may do.
TEST(PlanConstraints, LeaveAPlanToASearchThatIsCutOff) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized);
  const plan::TileConfigConstraint small = {.tile = graph::tiling::TileShape{1, 2, 1, 4},
                                            .weights = {},
                                            .in_place = {},
                                            .halo = {},
                                            .addresses = {}};
  partition::answer::PartitionOptions options =
      Under({Subgraph(1, 1, small), Together(2, 3), Keep(ResultOf(Chain(4), 0))}, "peak");
  options.most_work = 1;
  EXPECT_THAT(FirstsOf(PlanUnder(Chain(4), profile, options)), ElementsAre(0, 1, 2));
}

TEST(PlanConstraints, KeepAndSpillBoundaries) {
  const graph::Graph graph = Chain(3);
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 400);
  const int first = ResultOf(graph, 0);
  partition::answer::PartitionOptions options = Under({Spill(first)});
  options.max_operators = 1;
  EXPECT_THAT(PlanUnder(graph, profile, options).kept, ElementsAre(ResultOf(graph, 1)));
  options.constraints = {Keep(first)};
  options.keeping = partition::paths::Keeping::kNothing;
  EXPECT_THAT(PlanUnder(graph, profile, options).kept, ElementsAre(first));
}

// Three results cross a cut; the search alone never keeps more than two.
TEST(PlanConstraints, KeepMoreThanASearchWouldTry) {
  NetworkBuilder net;
  const int x = net.Input({1, 2, 8, 4});
  const int a = net.Conv(x, 1, 2);
  const int b = net.Conv(x, 1, 2);
  const int c = net.Conv(x, 1, 2);
  const int d = net.Conv(x, 1, 2);
  const int e = net.Conv(x, 1, 2);
  const std::vector<int> branches = {a, b, c, d, e};
  const graph::Graph graph = net.Finish(net.Add(net.Add(net.Add(net.Add(a, b), c), d), e));
  partition::answer::PartitionOptions options = Under({});
  options.max_operators = 1;
  options.ordering = partition::answer::Ordering::kGiven;
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 2000);
  ASSERT_LT(PlanUnder(graph, profile, options).kept.size(), 8U);
  for (const int branch : branches) options.constraints.push_back(Keep(branch));
  const plan::Plan plan = PlanUnder(graph, profile, options);
  EXPECT_TRUE(std::includes(plan.kept.begin(), plan.kept.end(), branches.begin(), branches.end()));
  options.keeping = partition::paths::Keeping::kNothing;
  EXPECT_EQ(PlanUnder(graph, profile, options).kept, branches);
}

std::optional<int64_t> OffsetOf(const problem::Problem& problem,
                                const problem::Allocation& allocation, const std::string& id) {
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].id == id) return allocation.offsets[i];
  }
  return std::nullopt;
}

TEST(PlanConstraints, PinBuffersOfASubgraph) {
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 2000);
  const plan::Plan plan =
      PlanUnder(Chain(3), profile, Under({Apart(1), Subgraph(1, 2, At("t2@0", 777))}));
  EXPECT_EQ(OffsetOf(plan.problem, plan.allocation, "s1/t2@0"), 777);
  EXPECT_TRUE(
      std::none_of(plan.problem.buffers.begin(), plan.problem.buffers.end(),
                   [](const problem::Buffer& buffer) { return buffer.offset.has_value(); }));
}

TEST(PlanConstraints, PinTensorsOnChipAndAtHome) {
  const graph::Graph graph = Chain(3);
  const int boundary = ResultOf(graph, 0);
  partition::answer::PartitionOptions options =
      Under({Keep(boundary), Address(boundary, "sram", 500), Address(0, "dram", 4096)});
  options.max_operators = 1;
  const plan::Plan plan = PlanUnder(graph, SmallMachine(DmaSteps::kSerialized, 2000), options);
  EXPECT_EQ(OffsetOf(plan.problem, plan.allocation, "t0"), 500);
  ASSERT_EQ(plan.homes.size(), 1U);
  EXPECT_EQ(OffsetOf(plan.homes[0].problem, plan.homes[0].allocation, "x"), 4096);
}

TEST(PlanConstraints, AddressesWithoutSpaceRuleOutPlans) {
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 400);
  const auto result = partition::SearchPartition(
      Chain(3), profile,
      Under({Apart(1), Subgraph(1, 2, At("t2@0", 399)), Keep(ResultOf(Chain(3), 0))}));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible) << result->reason;
  EXPECT_THAT(result->constraints,
              ElementsAre("operators 'conv1' to 'conv2' as a subgraph, t2@0 at address 399"));
}

TEST(PlanConstraints, ReachFurtherThanTheSearchWould) {
  partition::answer::PartitionOptions options = Under({Together(3, 22)});
  options.effort = 1;  // limits intervals to 12 operators
  const plan::Plan plan = PlanUnder(Chain(24), SmallMachine(DmaSteps::kSerialized), options);
  EXPECT_TRUE(plan::verify::Keeps(plan, options.constraints.front()));
}

TEST(PlanConstraints, ThatRuleOutEveryPlanAreNamedAndNoOthers) {
  const graph::Graph graph = Chain(4);
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 100);  // 64 bytes are a whole tensor
  const plan::TileConfigConstraint whole = {.tile = graph::tiling::TileShape{1, 2, 8, 4},
                                            .weights = {},
                                            .in_place = {},
                                            .halo = {},
                                            .addresses = {}};
  ASSERT_TRUE(partition::SearchPartition(graph, profile, Under({Apart(2)}))->plan);
  const auto result = partition::SearchPartition(
      graph, profile, Under({Apart(2), Subgraph(0, 1, whole), Spill(ResultOf(graph, 2))}));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible);
  EXPECT_FALSE(result->obstacle);
  EXPECT_THAT(result->constraints,
              ElementsAre("operators 'conv0' to 'conv1' as a subgraph with tiles of 1x2x8x4"));
  EXPECT_THAT(result->reason, StartsWith("no plan keeps what is required: "));
}

TEST(PlanConstraints, ThatNeedTooMuchAreNamedWithoutOperatorsThatFitAlone) {
  const auto result = partition::SearchPartition(Chain(3), SmallMachine(DmaSteps::kSerialized, 100),
                                                 Under({Together(0, 2)}));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible);
  EXPECT_THAT(result->constraints, ElementsAre("operators 'conv0' to 'conv2' in one subgraph"));
  EXPECT_THAT(result->reason, Not(HasSubstr("alone")));
}

TEST(PlanConstraints, AreNotNamedWhereNothingFitsAnyway) {
  const auto result = partition::SearchPartition(
      Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 10), Under({Apart(1)}));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible);
  EXPECT_TRUE(result->constraints.empty());
  EXPECT_THAT(result->reason, HasSubstr("operator 'conv0' fits in no subgraph"));
}

// The meaning of a constraint, implemented a second time.
bool IsKept(const graph::Graph& graph, const plan::PlanConstraint& constraint,
            const std::vector<SubgraphChoice>& choices, const std::vector<int>& kept) {
  const auto subgraph_of = [&](int op) {
    return std::find_if(choices.begin(), choices.end(),
                        [op](const SubgraphChoice& choice) { return op <= choice.interval.last; });
  };
  const bool on_chip = std::count(kept.begin(), kept.end(), constraint.tensor) > 0;
  const SubgraphChoice& choice = *subgraph_of(constraint.interval.first);
  switch (constraint.kind) {
    case plan::PlanConstraintKind::kTogether:
      return subgraph_of(constraint.interval.first) == subgraph_of(constraint.interval.last);
    case plan::PlanConstraintKind::kApart:
      return choice.interval.first == constraint.interval.first;
    case plan::PlanConstraintKind::kSubgraph:
      return choice.interval == constraint.interval &&
             (!constraint.config.tile || choice.tile == *constraint.config.tile) &&
             (!constraint.config.halo || choice.policy.halo == *constraint.config.halo);
    case plan::PlanConstraintKind::kKeep: {
      const graph::Usage usage = graph::UsagesOf(graph)[static_cast<size_t>(constraint.tensor)];
      return on_chip ||
             std::all_of(usage.consumers.begin(), usage.consumers.end(), [&](int reader) {
               return subgraph_of(reader) == subgraph_of(usage.producer);
             });
    }
    case plan::PlanConstraintKind::kSpill:
      return !on_chip;
    case plan::PlanConstraintKind::kAddress:
      return true;  // FitsAsPinned checks it
  }
  return false;
}

// Whether the joint Problem has a placement that keeps all addresses.
bool FitsAsPinned(const graph::Graph& graph, const Profile& profile,
                  const std::vector<plan::PlanConstraint>& constraints,
                  const std::vector<SubgraphChoice>& choices) {
  auto program = encoder::program::BuildProgram(graph, profile, choices);
  if (!program) return false;
  std::map<std::string, int64_t> pins;
  std::vector<std::string> required;
  for (const plan::PlanConstraint& constraint : constraints) {
    if (constraint.kind == plan::PlanConstraintKind::kAddress && constraint.memory == "sram")
      pins.emplace(graph.tensors[static_cast<size_t>(constraint.tensor)].id, constraint.offset);
    for (size_t s = 0; s < choices.size(); ++s) {
      if (constraint.kind != plan::PlanConstraintKind::kSubgraph ||
          choices[s].interval != constraint.interval)
        continue;
      for (const auto& [id, offset] : constraint.config.addresses) {
        required.push_back(fmt::format("s{}/{}", s, id));
        pins.emplace(required.back(), offset);
      }
    }
  }
  for (problem::Buffer& buffer : program->problem.buffers) {
    std::erase(required, buffer.id);
    if (pins.contains(buffer.id)) buffer.offset = pins.at(buffer.id);
  }
  allocate::AllocateOptions options;
  options.capacity = program->problem.memories.front().capacity;
  return required.empty() &&
         Allocate(program->problem, nullptr, 0, TestEngines(), options)->allocation.has_value();
}

plan::PlanConstraint AnyConstraint(base::Random& random, const graph::Graph& graph,
                                   const Profile& profile) {
  const auto operators = static_cast<int>(graph.operators.size());
  const auto draw = [&random](int least, int most) {
    return static_cast<int>(random.Uniform(least, most));
  };
  const int first = draw(0, operators - 1);
  const int last = draw(first, operators - 1);
  switch (draw(0, 5)) {
    case 0:
      return Together(first, last);
    case 1:
      return Apart(first);
    case 2: {
      plan::TileConfigConstraint config;
      const graph::tiling::ShapeGrid grid =
          graph::tiling::WithEveryExtent(tiling::GridOf(graph, profile, {first, last}));
      graph::tiling::TileShape tile;
      for (const std::vector<int64_t>& extents : grid.extents)
        tile.push_back(extents[static_cast<size_t>(draw(0, static_cast<int>(extents.size()) - 1))]);
      if (random.Chance(0.7)) config.tile = tile;
      if (random.Chance(0.3)) config.halo = profile.tiling.halo.back();
      if (random.Chance(0.5))
        config.addresses = {{fmt::format("t{}@{}", last, draw(0, 1)), draw(0, 90)}};
      return Subgraph(first, last, config);
    }
    case 3:
      return Address(ResultOf(graph, first), "sram", draw(0, 40));
    case 4:
      return Keep(ResultOf(graph, first));
    default:
      return Spill(ResultOf(graph, first));
  }
}

// Draws constraints until they have no contradictions. Often a constraint that the best plan keeps
// anyway is among them.
std::vector<plan::PlanConstraint> AnyConstraints(base::Random& random, const graph::Graph& graph,
                                                 const Profile& profile) {
  std::vector<plan::PlanConstraint> constraints;
  const int64_t wanted = random.Uniform(1, 3);
  for (int tries = 0; tries < 50 && static_cast<int64_t>(constraints.size()) < wanted; ++tries) {
    constraints.push_back(AnyConstraint(random, graph, profile));
    if (partition::constraints::CheckWellFormed(graph, profile, constraints, std::nullopt))
      constraints.pop_back();
  }
  return constraints;
}

TEST(PlanConstraints, BestPlanIsThatOfAllPlansThatKeepThem) {
  base::Random random(2211);
  int worse = 0;
  int none = 0;
  int same = 0;
  for (int round = 0; round < 45; ++round) {
    const graph::Graph graph = AnyNetwork(random, static_cast<int>(random.Uniform(2, 5)));
    const DmaSteps dma = random.Chance(0.5) ? DmaSteps::kSerialized : DmaSteps::kDoubleBuffered;
    Profile profile = SmallMachine(dma, random.Uniform(25, 110));
    profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute,
                           hw_profiles::HaloStorage::kRollingBuffer};
    const std::vector<plan::PlanConstraint> constraints = AnyConstraints(random, graph, profile);
    SCOPED_TRACE(fmt::format("round {}: {}", round, Describe(graph, constraints)));
    const std::string metric = random.Chance(0.5) ? "latency" : "off_chip_bytes";
    EveryPlan every(graph, profile, metric);
    const double free = every.BestScore();
    const double best = every.BestScore([&](const auto& choices, const auto& kept) {
      return std::all_of(constraints.begin(), constraints.end(),
                         [&](const plan::PlanConstraint& constraint) {
                           return IsKept(graph, constraint, choices, kept);
                         }) &&
             FitsAsPinned(graph, profile, constraints, choices);
    });
    const bool best_keeps = best == free;
    const auto found = partition::SearchPartition(graph, profile, Under(constraints, metric));
    ASSERT_TRUE(found) << base::Format(found.error());
    ASSERT_EQ(found->plan.has_value(), best < std::numeric_limits<double>::infinity())
        << found->reason;
    if (!found->plan) {
      EXPECT_EQ(found->status, problem::Status::kInfeasible) << found->reason;
      none += free < best ? 1 : 0;
      EXPECT_EQ(found->constraints.empty(), free == best) << found->reason;
      continue;
    }
    EXPECT_EQ(found->status, problem::Status::kOptimal);
    EXPECT_EQ(found->plan->score, best);
    (best_keeps ? same : worse) += 1;
  }
  EXPECT_GE(worse, 4);
  EXPECT_GE(none, 1);
  EXPECT_GE(same, 4);
}

TEST(PlanConstraints, ThatTheBestPlanKeepsAnywayChangeNoScore) {
  base::Random random(77);
  int checked = 0;
  for (int round = 0; round < 20; ++round) {
    const graph::Graph graph = AnyNetwork(random, static_cast<int>(random.Uniform(3, 7)));
    const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, random.Uniform(40, 150));
    const auto free = partition::SearchPartition(graph, profile, Under({}, "latency"));
    ASSERT_TRUE(free);
    if (!free->plan) continue;
    ++checked;
    std::vector<plan::PlanConstraint> constraints;
    for (const plan::Subgraph& subgraph : free->plan->subgraphs) {
      constraints.push_back(Subgraph(subgraph.interval.first, subgraph.interval.last,
                                     {.tile = subgraph.tile,
                                      .weights = subgraph.weights,
                                      .in_place = subgraph.in_place,
                                      .halo = subgraph.halo,
                                      .addresses = {}}));
    }
    for (const int tensor : free->plan->kept) constraints.push_back(Keep(tensor));
    const plan::Plan bound = PlanUnder(graph, profile, Under(constraints, "latency"));
    EXPECT_EQ(bound.score, free->plan->score);
    EXPECT_EQ(bound.kept, free->plan->kept);
    EXPECT_EQ(FirstsOf(bound), FirstsOf(*free->plan));
  }
  ExpectEnough(checked, 15);
}

TEST(PlanConstraints, DoNotDependOnThreads) {
  partition::answer::PartitionOptions options =
      Under({Apart(3), Keep(ResultOf(Chain(6), 2))}, "latency");
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 200);
  const plan::Plan one = PlanUnder(Chain(6), profile, options);
  options.threads = 2;
  const plan::Plan two = PlanUnder(Chain(6), profile, options);
  EXPECT_EQ(one.score, two.score);
  EXPECT_EQ(one.allocation.offsets, two.allocation.offsets);
}

}  // namespace
}  // namespace tessera::search
