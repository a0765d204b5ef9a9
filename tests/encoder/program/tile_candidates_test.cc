// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"
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

std::vector<std::string> CandidateNames(const program::SubgraphCandidates& ladder) {
  std::vector<std::string> names;
  for (const problem::CandidateSizes& candidate : ladder.ladder.candidates)
    names.push_back(candidate.name);
  return names;
}

std::vector<program::SubgraphCandidates> Build(
    const graph::Graph& graph, const Profile& profile, program::Policy policy,
    const std::vector<graph::tiling::TileShape>& shapes) {
  const graph::Interval all = {0, static_cast<int>(graph.operators.size()) - 1};
  base::Expected<std::vector<program::SubgraphCandidates>> ladders =
      program::BuildCandidates(graph, profile, all, policy, shapes);
  EXPECT_TRUE(ladders.has_value());
  return *std::move(ladders);
}

// Every candidate gives the same Problem as BuildProgram.
void ExpectSamePrograms(const graph::Graph& graph, const Profile& profile, program::Policy policy,
                        const std::vector<program::SubgraphCandidates>& ladders) {
  for (const program::SubgraphCandidates& ladder : ladders) {
    ASSERT_FALSE(problem::CheckWellFormed(ladder.program.problem, ladder.ladder).has_value());
    ASSERT_EQ(ladder.tilings.size(), ladder.ladder.candidates.size());
    for (size_t candidate = 0; candidate < ladder.tilings.size(); ++candidate) {
      const program::SubgraphChoice choice = {ladder.tilings[candidate]->interval,
                                              ladder.tilings[candidate]->tile, policy};
      const base::Expected<program::Program> program =
          program::BuildProgram(graph, profile, {&choice, 1});
      ASSERT_TRUE(program.has_value());
      const problem::Problem at_candidate =
          AtCandidate(ladder.program.problem, ladder.ladder.candidates[candidate]);
      EXPECT_EQ(Describe(at_candidate), Describe(program->problem));
      EXPECT_EQ(DescribeLoops(at_candidate), DescribeLoops(program->problem));
      EXPECT_EQ(DescribeSteps(graph, ladder.program), DescribeSteps(graph, *program));
      EXPECT_EQ(at_candidate.relations.size(), program->problem.relations.size());
    }
  }
}

TEST(Ladders, OfSerializedDistinguishOneTileFromSeveral) {
  const graph::Graph graph = TwoConvs().graph;
  const Profile profile = TwoLevels(DmaSteps::kSerialized);
  const program::Policy policy = {WeightPolicy::kResident, false};
  const std::vector<program::SubgraphCandidates> ladders =
      Build(graph, profile, policy, RowShapes({8, 1, 2, 3, 4, 2}));
  ASSERT_EQ(ladders.size(), 2U);
  EXPECT_THAT(CandidateNames(ladders[0]), ElementsAre("rows=1", "rows=2", "rows=3", "rows=4"));
  EXPECT_THAT(CandidateNames(ladders[1]), ElementsAre("whole"));
  ExpectSamePrograms(graph, profile, policy, ladders);
}

TEST(Ladders, OfDoubleBufferedTransfersDistinguishFewTilesAndOddFromEven) {
  const graph::Graph graph = TwoConvs(10).graph;
  const Profile profile = TwoLevels(DmaSteps::kDoubleBuffered);
  const program::Policy policy = {WeightPolicy::kStreamed, false};
  const std::vector<program::SubgraphCandidates> ladders =
      Build(graph, profile, policy, RowShapes({1, 2, 3, 4, 5, 10}));
  ASSERT_EQ(ladders.size(), 5U);
  EXPECT_THAT(CandidateNames(ladders[0]), ElementsAre("rows=1", "rows=3"));  // ten tiles, four
  EXPECT_THAT(CandidateNames(ladders[1]), ElementsAre("rows=2"));            // five
  EXPECT_THAT(CandidateNames(ladders[2]), ElementsAre("rows=4"));            // three
  EXPECT_THAT(CandidateNames(ladders[3]), ElementsAre("rows=5"));            // two
  EXPECT_THAT(CandidateNames(ladders[4]), ElementsAre("whole"));
  ExpectSamePrograms(graph, profile, policy, ladders);
}

// x --conv 3--> a, y = x + a: with full rows x may be overwritten. With tiles x has a halo, and a
// is overwritten.
TEST(Ladders, DistinguishResultsInPlace) {
  Network net;
  const int x = net.Input("x", {1, 3, 8, 4});
  const int a = net.Tensor("a", {1, 3, 8, 4});
  const int y = net.Tensor("y", {1, 3, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {3, 3, 3, 1}), a, 3, 1);
  net.Elementwise("sum", {x, a}, y);
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  const program::Policy policy = {WeightPolicy::kResident, true};
  const std::vector<program::SubgraphCandidates> ladders =
      Build(net.graph, profile, policy, RowShapes({2, 4, 8}));
  ASSERT_EQ(ladders.size(), 2U);
  ASSERT_EQ(ladders[0].program.problem.relations.size(), 1U);
  ASSERT_EQ(ladders[1].program.problem.relations.size(), 1U);
  EXPECT_NE(ladders[0].program.problem.relations[0].first,
            ladders[1].program.problem.relations[0].first);
  ExpectSamePrograms(net.graph, profile, policy, ladders);
}

TEST(Ladders, RefuseAShapeThatIsNoTile) {
  const graph::Graph graph = TwoConvs().graph;
  const base::Expected<std::vector<program::SubgraphCandidates>> ladders = program::BuildCandidates(
      graph, TwoLevels(DmaSteps::kSerialized), {0, 1}, {}, RowShapes({4, 0}));
  ASSERT_FALSE(ladders.has_value());
  EXPECT_EQ(ladders.error().message, "[1, 3, 0, 4] is no tile of an output [1, 3, 8, 4]");
}

TEST(Policies, ComeInTheOrderOfTheProfileWithoutThoseThatCannotRun) {
  Profile profile = TwoLevels(
      DmaSteps::kSerialized);  // names resident, streamed, direct; dram is not read directly
  const graph::Graph graph = TwoConvs().graph;
  EXPECT_THAT(program::PoliciesOf(graph, profile, {0, 1}),
              ElementsAre(program::Policy{WeightPolicy::kResident, false},
                          program::Policy{WeightPolicy::kStreamed, false}));
  profile.links.clear();
  profile.memories[0].direct_read = profile.memories[0].direct_write = true;
  EXPECT_THAT(program::PoliciesOf(graph, profile, {0, 1}),
              ElementsAre(program::Policy{WeightPolicy::kDirect, false}));
}

TEST(Policies, KeepRowsByEveryHaloPolicyOfTheProfile) {
  using hw_profiles::HaloStorage;
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.weights = {WeightPolicy::kResident};
  profile.tiling.axes = {{base::Axis::kRows, 1}};
  profile.tiling.halo = {HaloStorage::kAdjacent, HaloStorage::kLineBuffer,
                         HaloStorage::kRollingBuffer};
  std::vector<HaloStorage> halos;
  for (const program::Policy& policy : program::PoliciesOf(TwoConvs().graph, profile, {0, 1}))
    halos.push_back(policy.halo);
  EXPECT_THAT(halos, ElementsAre(HaloStorage::kAdjacent, HaloStorage::kLineBuffer,
                                 HaloStorage::kRollingBuffer, HaloStorage::kRecompute));
}

TEST(Policies, DoNotStreamWhatHasNoSlices) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("scale", {x}, y);
  net.graph.operators.back().weights = {net.Constant("factors", {2, 1, 1})};
  EXPECT_THAT(program::PoliciesOf(net.graph, TwoLevels(DmaSteps::kSerialized), {0, 0}),
              ElementsAre(program::Policy{WeightPolicy::kResident, false}));
}

TEST(Policies, OfferOneWeightPolicyWhereThereAreNoWeights) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  EXPECT_THAT(program::PoliciesOf(net.graph, profile, {0, 0}),
              ElementsAre(program::Policy{WeightPolicy::kResident, false}));
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  EXPECT_THAT(program::PoliciesOf(net.graph, profile, {0, 0}),
              ElementsAre(program::Policy{WeightPolicy::kResident, true},
                          program::Policy{WeightPolicy::kResident, false}));
}

}  // namespace
}  // namespace tessera::encoder
