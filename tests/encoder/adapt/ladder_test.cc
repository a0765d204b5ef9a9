#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/program.h"
#include "tessera/problem/well_formed.h"

namespace tessera::encoder {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::ElementsAre;

std::vector<graph::tiling::TileShape> RowShapes(const std::vector<int64_t>& rows) {
  std::vector<graph::tiling::TileShape> shapes;
  for (const int64_t each : rows) shapes.push_back({1, 3, each, 4});
  return shapes;
}

std::vector<std::string> RungNames(const program::SubgraphLadder& ladder) {
  std::vector<std::string> names;
  for (const problem::Rung& rung : ladder.ladder.rungs) names.push_back(rung.name);
  return names;
}

std::vector<program::SubgraphLadder> Build(const graph::Graph& graph, const Profile& profile,
                                           program::Policy policy,
                                           const std::vector<graph::tiling::TileShape>& shapes) {
  const graph::Interval all = {0, static_cast<int>(graph.operators.size()) - 1};
  base::Expected<std::vector<program::SubgraphLadder>> ladders =
      program::BuildLadders(graph, profile, all, policy, shapes);
  EXPECT_TRUE(ladders.has_value());
  return *std::move(ladders);
}

// Every rung says the same Problem as BuildProgram.
void ExpectSamePrograms(const graph::Graph& graph, const Profile& profile, program::Policy policy,
                        const std::vector<program::SubgraphLadder>& ladders) {
  for (const program::SubgraphLadder& ladder : ladders) {
    ASSERT_FALSE(problem::FindFault(ladder.program.problem, ladder.ladder).has_value());
    ASSERT_EQ(ladder.tilings.size(), ladder.ladder.rungs.size());
    for (size_t rung = 0; rung < ladder.tilings.size(); ++rung) {
      const program::SubgraphChoice choice = {ladder.tilings[rung]->interval, ladder.tilings[rung]->tile,
                                              policy};
      const base::Expected<program::Program> program = program::BuildProgram(graph, profile, {&choice, 1});
      ASSERT_TRUE(program.has_value());
      const problem::Problem at_rung = AtRung(ladder.program.problem, ladder.ladder.rungs[rung]);
      EXPECT_EQ(Describe(at_rung), Describe(program->problem));
      EXPECT_EQ(DescribeLoops(at_rung), DescribeLoops(program->problem));
      EXPECT_EQ(DescribeSteps(graph, ladder.program), DescribeSteps(graph, *program));
      EXPECT_EQ(at_rung.relations.size(), program->problem.relations.size());
    }
  }
}

TEST(Ladders, OfOwnStepsTellOneTileFromSeveral) {
  const graph::Graph graph = TwoConvs().graph;
  const Profile profile = TwoLevels(DmaSteps::kOwnSteps);
  const program::Policy policy = {WeightPolicy::kResident, false};
  const std::vector<program::SubgraphLadder> ladders =
      Build(graph, profile, policy, RowShapes({8, 1, 2, 3, 4, 2}));
  ASSERT_EQ(ladders.size(), 2U);
  EXPECT_THAT(RungNames(ladders[0]), ElementsAre("rows=1", "rows=2", "rows=3", "rows=4"));
  EXPECT_THAT(RungNames(ladders[1]), ElementsAre("whole"));
  ExpectSamePrograms(graph, profile, policy, ladders);
}

TEST(Ladders, OfOverlappedTransfersTellFewTilesApartAndOddFromEven) {
  const graph::Graph graph = TwoConvs(10).graph;
  const Profile profile = TwoLevels(DmaSteps::kOverlapped);
  const program::Policy policy = {WeightPolicy::kStreamed, false};
  const std::vector<program::SubgraphLadder> ladders =
      Build(graph, profile, policy, RowShapes({1, 2, 3, 4, 5, 10}));
  ASSERT_EQ(ladders.size(), 5U);
  EXPECT_THAT(RungNames(ladders[0]), ElementsAre("rows=1", "rows=3"));  // ten tiles, four
  EXPECT_THAT(RungNames(ladders[1]), ElementsAre("rows=2"));            // five
  EXPECT_THAT(RungNames(ladders[2]), ElementsAre("rows=4"));            // three
  EXPECT_THAT(RungNames(ladders[3]), ElementsAre("rows=5"));            // two
  EXPECT_THAT(RungNames(ladders[4]), ElementsAre("whole"));
  ExpectSamePrograms(graph, profile, policy, ladders);
}

// x --conv 3--> a, y = x + a: with full rows x may be overwritten, with tiles it has a halo and a is.
TEST(Ladders, TellApartWhatLiesInPlace) {
  Network net;
  const int x = net.Input("x", {1, 3, 8, 4});
  const int a = net.Tensor("a", {1, 3, 8, 4});
  const int y = net.Tensor("y", {1, 3, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {3, 3, 3, 1}), a, 3, 1);
  net.Elementwise("sum", {x, a}, y);
  Profile profile = TwoLevels(DmaSteps::kOwnSteps);
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  const program::Policy policy = {WeightPolicy::kResident, true};
  const std::vector<program::SubgraphLadder> ladders =
      Build(net.graph, profile, policy, RowShapes({2, 4, 8}));
  ASSERT_EQ(ladders.size(), 2U);
  ASSERT_EQ(ladders[0].program.problem.relations.size(), 1U);
  ASSERT_EQ(ladders[1].program.problem.relations.size(), 1U);
  EXPECT_NE(ladders[0].program.problem.relations[0].first, ladders[1].program.problem.relations[0].first);
  ExpectSamePrograms(net.graph, profile, policy, ladders);
}

TEST(Ladders, RefuseAShapeThatIsNoTile) {
  const graph::Graph graph = TwoConvs().graph;
  const base::Expected<std::vector<program::SubgraphLadder>> ladders =
      program::BuildLadders(graph, TwoLevels(DmaSteps::kOwnSteps), {0, 1}, {}, RowShapes({4, 0}));
  ASSERT_FALSE(ladders.has_value());
  EXPECT_EQ(ladders.error().message, "[1, 3, 0, 4] is no tile of an output [1, 3, 8, 4]");
}

TEST(Policies, ComeInTheOrderOfTheProfileWithoutThoseThatCannotRun) {
  Profile profile =
      TwoLevels(DmaSteps::kOwnSteps);  // names resident, streamed, direct; dram is not read directly
  const graph::Graph graph = TwoConvs().graph;
  EXPECT_THAT(program::PoliciesOf(graph, profile, {0, 1}),
              ElementsAre(program::Policy{WeightPolicy::kResident, false},
                          program::Policy{WeightPolicy::kStreamed, false}));
  profile.links.clear();
  profile.memories[0].direct_read = profile.memories[0].direct_write = true;
  EXPECT_THAT(program::PoliciesOf(graph, profile, {0, 1}),
              ElementsAre(program::Policy{WeightPolicy::kDirect, false}));
}

TEST(Policies, KeepRowsInEveryWayThatTheProfileOffers) {
  using hw_profiles::HaloStorage;
  Profile profile = TwoLevels(DmaSteps::kOwnSteps);
  profile.tiling.weights = {WeightPolicy::kResident};
  profile.tiling.axes = {{base::Axis::kRows, 1}};
  profile.tiling.halo = {HaloStorage::kAdjacent, HaloStorage::kCopy, HaloStorage::kRing};
  std::vector<HaloStorage> halos;
  for (const program::Policy& policy : program::PoliciesOf(TwoConvs().graph, profile, {0, 1}))
    halos.push_back(policy.halo);
  EXPECT_THAT(halos, ElementsAre(HaloStorage::kAdjacent, HaloStorage::kCopy, HaloStorage::kRing,
                                 HaloStorage::kRecompute));
}

TEST(Policies, DoNotStreamWhatHasNoSlices) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("scale", {x}, y);
  net.graph.operators.back().weights = {net.Constant("factors", {2, 1, 1})};
  EXPECT_THAT(program::PoliciesOf(net.graph, TwoLevels(DmaSteps::kOwnSteps), {0, 0}),
              ElementsAre(program::Policy{WeightPolicy::kResident, false}));
}

TEST(Policies, OfferOneWayOfHoldingWeightsWhereThereAreNone) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  Profile profile = TwoLevels(DmaSteps::kOwnSteps);
  EXPECT_THAT(program::PoliciesOf(net.graph, profile, {0, 0}),
              ElementsAre(program::Policy{WeightPolicy::kResident, false}));
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  EXPECT_THAT(program::PoliciesOf(net.graph, profile, {0, 0}),
              ElementsAre(program::Policy{WeightPolicy::kResident, true},
                          program::Policy{WeightPolicy::kResident, false}));
}

}  // namespace
}  // namespace tessera::encoder
