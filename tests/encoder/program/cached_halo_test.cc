// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_networks.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"

// Rows of x, the network input of TwoConvs and the only tensor of it that a window reads. Of 8 rows
// in tiles of 2, tiles need [0, 3), [1, 5), [3, 7) and [5, 8) of x; in tiles of 3, [0, 4), [2, 7)
// and [5, 8); in tiles of 4, [0, 5) and [3, 8).
namespace tessera::encoder {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

program::Policy Caching(HaloStorage halo) { return {WeightPolicy::kResident, false, halo}; }

program::Program BuildTwoConvs(DmaSteps dma, int64_t rows, HaloStorage halo) {
  return ProgramOf(TwoConvs().graph, TwoLevels(dma), {{0, 1}, {1, 3, rows, 4}, Caching(halo)});
}

TEST(RollingBuffer, OfSerializedHoldsKeptAndMadeRowsAllThroughTheLoop) {
  const program::Program program =
      BuildTwoConvs(DmaSteps::kSerialized, 2, HaloStorage::kRollingBuffer);
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[2,6) exits 6"));
  EXPECT_EQ(Describe(program.problem, "s0/x@rolling_buffer"),
            "s0/x@rolling_buffer: 32 bytes, [2,6), 2 dma w, 3 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/a@0"), "s0/a@0: 32 bytes, [3,5), 3 pe w, 4 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/x@0"), "");
}

TEST(RollingBuffer, OfALoadedTensorHoldsTheNextTileDuringCompute) {
  const program::Program program =
      BuildTwoConvs(DmaSteps::kDoubleBuffered, 2, HaloStorage::kRollingBuffer);
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[1,5) exits 5"));
  EXPECT_EQ(Describe(program.problem, "s0/x@rolling_buffer"),
            "s0/x@rolling_buffer: 48 bytes, [0,5), 0 dma w, 1 pe r, 1 dma w, 2 dma w, 3 pe r, 3 "
            "dma w, 4 dma w");
}

TEST(RollingBuffer, OfAFewTilesEndsWithTheLastReader) {
  const program::Program program =
      BuildTwoConvs(DmaSteps::kDoubleBuffered, 3, HaloStorage::kRollingBuffer);
  EXPECT_THAT(program.problem.loops, IsEmpty());
  EXPECT_EQ(Describe(program.problem, "s0/x@rolling_buffer"),
            "s0/x@rolling_buffer: 56 bytes, [0,6), 0 dma w, 1 pe r, 1 dma w, 2 dma w, 3 pe r, 3 "
            "dma w, 4 dma w, 5 pe r");
}

TEST(LineBuffer, OfSerializedRestoresBeforeAndSavesBehindTheReader) {
  const program::Program program =
      BuildTwoConvs(DmaSteps::kSerialized, 2, HaloStorage::kLineBuffer);
  EXPECT_THAT(DescribeSteps(TwoConvs().graph, program),
              ElementsAre("0 load: w1", "1 load: w2", "2 load: x", "3 copy conv1",
                          "4 compute conv1", "5 copy conv1", "6 compute conv2", "7 store: y"));
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[2,8) exits 8"));
  EXPECT_EQ(Describe(program.problem, "s0/x@0"),
            "s0/x@0: 32 bytes, [2,6), 2 dma w, 3 pe w, 4 pe r, 5 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/x@line"),
            "s0/x@line: 16 bytes, [2,4) [5,8), 3 pe r, 5 pe w");
}

TEST(LineBuffer, OfAFewTilesRestoresNothingFirstAndSavesNothingLast) {
  const program::Program program =
      BuildTwoConvs(DmaSteps::kDoubleBuffered, 3, HaloStorage::kLineBuffer);
  EXPECT_THAT(DescribeSteps(TwoConvs().graph, program),
              ElementsAre("0 prologue: x w1 w2", "1 compute conv1: x", "2 copy conv1: x",
                          "3 compute conv2: x", "4 copy conv1: x y", "5 compute conv1: x y",
                          "6 copy conv1: x y", "7 compute conv2: x y", "8 copy conv1: y",
                          "9 compute conv1: y", "10 compute conv2: y", "11 epilogue: y"));
  EXPECT_EQ(Describe(program.problem, "s0/x@0"),
            "s0/x@0: 40 bytes, [0,3) [4,10), 0 dma w, 1 pe r, 2 pe r, 4 dma w, 5 dma w, 6 dma w, 7 "
            "dma w, 8 pe w, "
            "9 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/x@1"),
            "s0/x@1: 40 bytes, [1,7), 1 dma w, 2 dma w, 3 dma w, 4 pe w, 5 pe r, 6 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/x@line"),
            "s0/x@line: 16 bytes, [2,5) [6,9), 2 pe w, 4 pe r, 6 pe w, 8 pe r");
}

TEST(Adjacent, TilesHoldWhatIsMadeAndTheHaloLiesBeforeThem) {
  const program::Program program = BuildTwoConvs(DmaSteps::kSerialized, 2, HaloStorage::kAdjacent);
  EXPECT_THAT(DescribeLoops(program.problem), ElementsAre("[2,7) exits 7"));
  EXPECT_EQ(Describe(program.problem, "s0/x@0"),
            "s0/x@0: 24 bytes, [2,5), 2 dma w, 3 pe r, 4 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/x@0.halo"),
            "s0/x@0.halo: 16 bytes, [2,7), 3 pe r, 4 pe r, 4 pe w");
  ASSERT_EQ(program.problem.relations.size(), 1U);
  const problem::Relation& relation = program.problem.relations.front();
  EXPECT_EQ(relation.kind, problem::RelationKind::kAdjacent);
  EXPECT_EQ(program.problem.buffers[static_cast<size_t>(relation.first)].id, "s0/x@0.halo");
  EXPECT_EQ(program.problem.buffers[static_cast<size_t>(relation.second)].id, "s0/x@0");
}

TEST(Adjacent, OfTwoTilesTheSecondAloneHasAHalo) {
  const program::Program program =
      BuildTwoConvs(DmaSteps::kDoubleBuffered, 4, HaloStorage::kAdjacent);
  EXPECT_EQ(Describe(program.problem, "s0/x@0"),
            "s0/x@0: 40 bytes, [0,3), 0 dma w, 1 pe r, 2 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/x@1"),
            "s0/x@1: 40 bytes, [1,5), 1 dma w, 2 dma w, 3 dma w, 4 pe r");
  EXPECT_EQ(Describe(program.problem, "s0/x@0.halo"), "");
  EXPECT_EQ(Describe(program.problem, "s0/x@1.halo"),
            "s0/x@1.halo: 16 bytes, [2,5), 2 pe w, 4 pe r");
}

TEST(Adjacent, HalosAreRoundedUpToTheAlignmentOfTheirTiles) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.links[0].alignment_bytes = 12;
  profile.memories[1].alignment_bytes = 8;
  const program::Program program =
      ProgramOf(TwoConvs().graph, profile, {{0, 1}, {1, 3, 2, 4}, Caching(HaloStorage::kAdjacent)});
  EXPECT_THAT(Describe(program.problem, "s0/x@0.halo"), HasSubstr("x@0.halo: 24 bytes"));
}

TEST(Adjacent, HalosHoldThePadRowsAbove) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.implicit_padding = false;
  const program::Program program =
      ProgramOf(TwoConvs().graph, profile, {{0, 1}, {1, 3, 2, 4}, Caching(HaloStorage::kAdjacent)});
  EXPECT_THAT(Describe(program.problem, "s0/x@0.halo"),
              HasSubstr("x@0.halo: 24 bytes"));  // 16 and a row
}

//     x [1,1,6,4] --conv1 3x1--> a --conv2 3x1--> y, a read outside too
Network StoredInside() {
  Network net;
  const int x = net.Input("x", {1, 1, 6, 4});
  const int a = net.Tensor("a", {1, 1, 6, 4});
  const int y = net.Tensor("y", {1, 1, 6, 4});
  net.Output(a);
  net.Output(y);
  net.Conv("conv1", x, net.Constant("w1", {1, 1, 3, 1}), a, 3, 1);
  net.Conv("conv2", a, net.Constant("w2", {1, 1, 3, 1}), y, 3, 1);
  return net;
}

// Tiles of 1 row of y make rows [0, 2), 2, 3, 4, 5 and none of a, and hold 2, 3, 3, 3, 3, 2. A row
// leaves with the tile whose share it is in.
TEST(RollingBuffer, OfAStoredTensorKeepsRowsThatLeaveAndNewRows) {
  const program::SubgraphChoice choice = {
      {0, 1}, {1, 1, 1, 4}, Caching(HaloStorage::kRollingBuffer)};
  const program::Program own =
      ProgramOf(StoredInside().graph, TwoLevels(DmaSteps::kSerialized), choice);
  EXPECT_EQ(Describe(own.problem, "s0/a@rolling_buffer"),
            "s0/a@rolling_buffer: 12 bytes, [2,7), 3 pe w, 4 dma r, 5 pe r");
  const program::Program double_buffered =
      ProgramOf(StoredInside().graph, TwoLevels(DmaSteps::kDoubleBuffered), choice);
  EXPECT_EQ(Describe(double_buffered.problem, "s0/a@rolling_buffer"),
            "s0/a@rolling_buffer: 16 bytes, [1,6), 1 dma r, 1 pe w, 2 dma r, 2 pe r, 3 dma r, 3 pe "
            "w, 4 dma r, 4 pe r, "
            "5 dma r");
}

TEST(Halo, CachedTensorsAreNotInPlace) {
  Network net;
  const int x = net.Input("x", {1, 1, 6, 4});
  const int a = net.Tensor("a", {1, 1, 6, 4});
  const int b = net.Tensor("b", {1, 1, 6, 4});
  const int y = net.Tensor("y", {1, 1, 6, 4});
  net.Output(y);
  net.Elementwise("first", {x}, a);
  net.Elementwise("second", {a}, b);
  net.Conv("conv", b, net.Constant("w", {1, 1, 3, 1}), y, 3, 1);
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  const program::SubgraphChoice choice = {
      {0, 2}, {1, 1, 2, 4}, {WeightPolicy::kResident, true, HaloStorage::kRollingBuffer}};
  const program::Program program = ProgramOf(net.graph, profile, choice);
  ASSERT_EQ(program.problem.relations.size(),
            1U);  // a takes the place of x; b, a rolling buffer, does not take that of a
  EXPECT_EQ(program.problem.buffers[static_cast<size_t>(program.problem.relations[0].second)].id,
            "s0/a@0");
}

TEST(Halo, IsRefusedForTilesThatDoNotLieOneBelowTheOther) {
  const Profile profile = TwoLevels(DmaSteps::kSerialized);
  const program::SubgraphChoice choice = {
      {0, 1}, {1, 3, 8, 4}, Caching(HaloStorage::kRollingBuffer)};
  const base::Expected<program::Program> program =
      program::BuildProgram(TwoConvs().graph, profile, {&choice, 1});
  ASSERT_FALSE(program.has_value());
  EXPECT_THAT(base::Format(program.error()), HasSubstr("keeps no rows for the next"));
}

TEST(Halo, IsKeptInStripsWherePaddingIsImplicit) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  const program::SubgraphChoice choice = {
      {0, 1}, {1, 3, 2, 2}, Caching(HaloStorage::kRollingBuffer)};
  EXPECT_TRUE(program::BuildProgram(TwoConvs().graph, profile, {&choice, 1}).has_value());
  profile.tiling.implicit_padding = false;
  const base::Expected<program::Program> program =
      program::BuildProgram(TwoConvs().graph, profile, {&choice, 1});
  ASSERT_FALSE(program.has_value());
  EXPECT_THAT(base::Format(program.error()), HasSubstr("keeps no rows for the next"));
}

TEST(Halo, LaddersLeaveOutShapesThatKeepNothing) {
  const graph::Graph graph = TwoConvs().graph;
  const Profile profile = TwoLevels(DmaSteps::kSerialized);
  const std::vector<graph::tiling::TileShape> shapes = {{1, 3, 1, 4}, {1, 3, 2, 4}, {1, 3, 8, 4}};
  const auto both =
      program::BuildCandidates(graph, profile, {0, 1}, Caching(HaloStorage::kAdjacent), shapes);
  ASSERT_TRUE(both.has_value());
  ASSERT_EQ(both->size(), 1U);
  EXPECT_EQ(both->front().ladder.candidates.size(), 2U);
  EXPECT_EQ(both->front().program.problem.relations.size(), 1U);
  const auto second = program::BuildCandidates(graph, profile, {1, 1},
                                               Caching(HaloStorage::kRollingBuffer), shapes);
  ASSERT_TRUE(second.has_value());
  EXPECT_THAT(*second, IsEmpty());
}

// Tiles of 2 rows of `second`'s result store [0, 2), [1, 3) and [2, 4) of `first`'s, which has 4
// rows where the other has 6; tiles of 3 rows share none.
TEST(Halo, IsOfferedWhereTilesShareARowThatLeaves) {
  Network net;
  const int x = net.Input("x", {1, 1, 6, 4});
  const int small = net.Input("small", {1, 1, 4, 4});
  const int a = net.Tensor("a", {1, 1, 4, 4});
  const int b = net.Tensor("b", {1, 1, 6, 4});
  net.Output(a);
  net.Output(b);
  net.Elementwise("first", {small}, a);
  net.Elementwise("second", {x}, b);
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.axes = {{base::Axis::kRows, 1}};
  profile.tiling.halo = {HaloStorage::kRollingBuffer};
  const auto halos_of = [&](graph::Interval interval) {
    std::vector<HaloStorage> halos;
    for (const program::Policy& policy : program::PoliciesOf(net.graph, profile, interval))
      halos.push_back(policy.halo);
    return halos;
  };
  EXPECT_THAT(halos_of({0, 1}), ElementsAre(HaloStorage::kRollingBuffer, HaloStorage::kRecompute));
  EXPECT_THAT(halos_of({1, 1}), ElementsAre(HaloStorage::kRecompute));
  const std::vector<graph::tiling::TileShape> shapes = {{1, 1, 1, 4}, {1, 1, 2, 4}, {1, 1, 3, 4}};
  const auto candidates_of = [&](program::TilesMade made) {
    program::SharedTilings tilings(net.graph, {0, 1});
    const auto ladders = program::BuildCandidates(
        net.graph, graph::UsagesOf(net.graph), profile, {0, 1},
        Caching(HaloStorage::kRollingBuffer), shapes,
        [&](const graph::tiling::TileShape& tile, HaloStorage halo) {
          return tilings.Cut(tile, halo);
        },
        made);
    std::vector<std::string> names;
    for (const program::SubgraphCandidates& ladder : *ladders) {
      for (const problem::CandidateSizes& candidate : ladder.ladder.candidates)
        names.push_back(candidate.name);
    }
    return names;
  };
  EXPECT_THAT(candidates_of(program::TilesMade::kThatDiffer), ElementsAre("rows=1", "rows=2"));
  EXPECT_THAT(candidates_of(program::TilesMade::kAll), ElementsAre("rows=1", "rows=2", "rows=3"));
}

// In strips the narrow tiles on the right come last; row by row one comes after each wide tile.
TEST(Halo, IsOfferedLaterWhereItChangesTheOrderOfTilesAlone) {
  Network net;
  const int x = net.Input("x", {1, 1, 6, 5});
  const int y = net.Tensor("y", {1, 1, 6, 5});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  Profile profile = TwoLevels(DmaSteps::kDoubleBuffered);
  profile.tiling.axes = {{base::Axis::kRows, 1}, {base::Axis::kColumns, 1}};
  profile.tiling.halo = {HaloStorage::kRollingBuffer};
  const auto offered = program::OfferPolicies(net.graph, profile, {0, 0});
  EXPECT_THAT(offered.first, ElementsAre(program::Policy{WeightPolicy::kResident, false}));
  EXPECT_THAT(offered.further, ElementsAre(program::Policy{WeightPolicy::kResident, false,
                                                           HaloStorage::kRollingBuffer}));
  const auto ladders = program::BuildCandidates(
      net.graph, profile, {0, 0}, Caching(HaloStorage::kRollingBuffer),
      std::vector<graph::tiling::TileShape>{{1, 1, 2, 3}, {1, 1, 2, 5}, {1, 1, 6, 3}});
  ASSERT_TRUE(ladders.has_value());
  ASSERT_EQ(ladders->size(), 1U);
  EXPECT_EQ(ladders->front().ladder.candidates.size(), 1U);
  profile.tiling.dma = DmaSteps::kSerialized;
  EXPECT_THAT(program::OfferPolicies(net.graph, profile, {0, 0}).further, IsEmpty());
}

// Another profile may have had a reason to tell them apart.
TEST(Policies, ThatMakeOneProgramHaveOneName) {
  Network net;
  const int x = net.Input("x", {1, 2, 6, 1});
  const int a = net.Tensor("a", {1, 2, 6, 1});
  const int y = net.Tensor("y", {1, 2, 6, 1});
  net.Output(y);
  net.Elementwise("relu", {x}, a);
  net.Conv("conv", a, net.Constant("w", {2, 2, 1, 1}), y, 1, 0);
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.axes = {{base::Axis::kChannels, 1}};
  profile.tiling.weights = {WeightPolicy::kResident, WeightPolicy::kStreamed};
  profile.tiling.halo = {HaloStorage::kRollingBuffer};
  const program::Policy resident = {WeightPolicy::kResident, false};
  const program::Policy streamed = {WeightPolicy::kStreamed, false};
  EXPECT_EQ(program::AsOffered(net.graph, profile, {0, 0}, streamed), resident);
  EXPECT_EQ(program::AsOffered(net.graph, profile, {0, 0},
                               {WeightPolicy::kStreamed, true, HaloStorage::kRollingBuffer}),
            resident);
  EXPECT_EQ(program::AsOffered(net.graph, profile, {1, 1}, streamed), streamed);
  EXPECT_EQ(program::AsOffered(net.graph, profile, {1, 1}, resident), resident);
}

}  // namespace
}  // namespace tessera::encoder
