#include "tessera/search/tiling/tile_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../encoder/adapt/small_networks.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/canonical.h"

namespace tessera::search {
namespace {

using encoder::Network;
using encoder::Policy;
using encoder::TwoConvs;
using encoder::TwoLevels;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using problem::Status;
using testing::HasSubstr;

constexpr Policy kResident = {WeightPolicy::kResident, false};

// TwoConvs in own steps with both constants resident, 36 bytes. Rows of x, a and y take 8, 16 and 12 bytes; x and a, or a and y, are held
// at once. Tiles of 1, 2, 3, 4 and 8 rows need 3, 4, 5, 5 and 8 rows of x.
class TwoConvsTiles : public testing::Test {
 protected:
  TileOptions Options() const {
    TileOptions options;
    options.engines = {&engine_};
    options.policies = {kResident};
    return options;
  }

  CanonicalEngine engine_;
  graph::Graph graph_ = TwoConvs().graph;
};

TEST_F(TwoConvsTiles, FindsTheLargestAndProvesTheNextImpossible) {
  // 76, 100, 124, 148 and 260 bytes.
  const base::Expected<TileSearch> search =
      SearchTiles(graph_, TwoLevels(DmaSteps::kOwnSteps, 148), {0, 1}, Options(), base::Stop());
  ASSERT_TRUE(search.has_value());
  ASSERT_TRUE(search->largest.has_value());
  EXPECT_EQ(search->tiles.Candidates()[*search->largest].choice.tile, (graph::TileShape{1, 3, 4, 4}));
  EXPECT_TRUE(search->largest_proven);
  const RungAnswer& answer = search->tiles.Known(*search->largest);
  EXPECT_EQ(answer.status, Status::kOptimal);
  EXPECT_EQ(answer.peak, 148);
  EXPECT_TRUE(Validate(search->tiles.ProblemOf(*search->largest), *answer.allocation, 148).empty());
}

TEST_F(TwoConvsTiles, ProvesThatNothingFits) {
  const base::Expected<TileSearch> search =
      SearchTiles(graph_, TwoLevels(DmaSteps::kOwnSteps, 60), {0, 1}, Options(), base::Stop());
  ASSERT_TRUE(search.has_value());
  EXPECT_FALSE(search->largest.has_value());
  EXPECT_TRUE(search->largest_proven);
  EXPECT_EQ(search->tiles.Solves(), 0);
}

TEST_F(TwoConvsTiles, DecidesOneCandidateOnRequest) {
  base::Expected<IntervalTiles> tiles =
      IntervalTiles::Build(graph_, TwoLevels(DmaSteps::kOwnSteps, 148), {0, 1}, Options());
  ASSERT_TRUE(tiles.has_value());
  ASSERT_EQ(tiles->Candidates().size(), 5U);  // 1, 2, 3, 4 and 8 rows
  EXPECT_EQ(tiles->Candidates()[3].lower_bound, 148);
  EXPECT_EQ(tiles->TilingOf(3).tiles, 2);
  EXPECT_FALSE(tiles->Known(3).asked);
  EXPECT_EQ(tiles->Known(4).status, Status::kInfeasible);  // by its bound
  EXPECT_EQ(tiles->Decide(3, base::Stop()), Status::kOptimal);
  EXPECT_TRUE(Fits(tiles->Known(0)));  // implied by four rows
  EXPECT_EQ(tiles->Solves(), 1);
}

TEST_F(TwoConvsTiles, LeavesOpenWhatALimitCutOff) {
  TileOptions options = Options();
  options.engines.clear();
  const base::Expected<TileSearch> search =
      SearchTiles(graph_, TwoLevels(DmaSteps::kOwnSteps, 148), {0, 1}, options, base::Stop());
  ASSERT_TRUE(search.has_value());
  EXPECT_FALSE(search->largest.has_value());
  EXPECT_FALSE(search->largest_proven);
}

TEST_F(TwoConvsTiles, TriesEveryPolicyOfTheProfile) {
  TileOptions options = Options();
  options.policies.reset();
  Profile profile = TwoLevels(DmaSteps::kOwnSteps);
  const base::Expected<IntervalTiles> tiles = IntervalTiles::Build(graph_, profile, {0, 1}, options);
  ASSERT_TRUE(tiles.has_value());
  ASSERT_EQ(tiles->Candidates().size(), 10U);
  EXPECT_EQ(tiles->Candidates()[0].choice.policy.weights, WeightPolicy::kResident);
  EXPECT_EQ(tiles->Candidates()[9].choice.policy.weights, WeightPolicy::kStreamed);
}

TEST_F(TwoConvsTiles, RefusesWhatNoPolicyAllows) {
  Profile profile = TwoLevels(DmaSteps::kOwnSteps);
  profile.links.clear();
  const base::Expected<IntervalTiles> tiles = IntervalTiles::Build(graph_, profile, {0, 1}, Options());
  ASSERT_FALSE(tiles.has_value());
  EXPECT_THAT(tiles.error().message, HasSubstr("cannot be moved"));
  const base::Expected<IntervalTiles> none = IntervalTiles::Build(graph_, profile, {1, 0}, Options());
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, HasSubstr("1..0 is no interval"));
}

// x --conv--> a --conv--> y over 97 rows and 89 columns: 18 x 17 shapes, more than are decided as a whole.
class LargeGrid : public testing::TestWithParam<int64_t> {
 protected:
  LargeGrid() {
    const int x = net_.Input("x", {1, 1, 97, 89});
    const int a = net_.Tensor("a", {1, 2, 97, 89});
    const int y = net_.Tensor("y", {1, 1, 97, 89});
    net_.Output(y);
    net_.Conv("conv1", x, net_.Constant("w1", {2, 1, 5, 1}), a, 5, 2);
    net_.Conv("conv2", a, net_.Constant("w2", {1, 2, 3, 1}), y, 3, 1);
    profile_.tiling.axes = {{base::Axis::kRows, 1}, {base::Axis::kColumns, 1}};
    options_.engines = {&engine_};
    options_.policies = {kResident};
  }

  CanonicalEngine engine_;
  Network net_;
  Profile profile_ = TwoLevels(DmaSteps::kOverlapped, GetParam());
  TileOptions options_;
};

TEST_P(LargeGrid, HasTheLargestOfAllShapesWithAProof) {
  const base::Expected<TileSearch> found = SearchTiles(net_.graph, profile_, {0, 1}, options_, base::Stop());
  ASSERT_TRUE(found.has_value());
  const graph::ShapeGrid grid = GridOf(net_.graph, profile_, {0, 1});
  EXPECT_LT(found->tiles.Candidates().size(), static_cast<size_t>(CountShapes(grid)));

  options_.shapes = ShapesOf(grid);
  const base::Expected<TileSearch> everything =
      SearchTiles(net_.graph, profile_, {0, 1}, options_, base::Stop());
  ASSERT_TRUE(everything.has_value());
  ASSERT_EQ(found->largest.has_value(), everything->largest.has_value());
  EXPECT_TRUE(found->largest_proven);
  if (!found->largest) return;
  const auto elements = [](const TileSearch& search) {
    return graph::ElementsOf(search.tiles.Candidates()[*search.largest].choice.tile);
  };
  EXPECT_EQ(elements(*found), elements(*everything));
}

INSTANTIATE_TEST_SUITE_P(Capacities, LargeGrid, testing::Values(10, 60, 200, 900, 3000, 20'000, 100'000));

TEST(SearchTiles, ProvesNothingAboutShapesThatAreNotListed) {
  Network net;
  const int x = net.Input("x", {1, 1, 10'000, 1});
  const int y = net.Tensor("y", {1, 1, 10'000, 1});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  const CanonicalEngine engine;
  TileOptions options;
  options.engines = {&engine};
  const base::Expected<TileSearch> search =
      SearchTiles(net.graph, TwoLevels(DmaSteps::kOwnSteps, 500), {0, 0}, options, base::Stop());
  ASSERT_TRUE(search.has_value());
  EXPECT_TRUE(search->largest.has_value());
  EXPECT_FALSE(search->largest_proven);
}

TEST(IntervalTiles, TakeFurtherShapes) {
  const graph::Graph graph = TwoConvs().graph;
  const Profile profile = TwoLevels(DmaSteps::kOwnSteps, 148);
  const CanonicalEngine engine;
  TileOptions options;
  options.engines = {&engine};
  options.policies = {kResident};
  options.shapes = {{{1, 3, 4, 4}}};
  base::Expected<IntervalTiles> tiles = IntervalTiles::Build(graph, profile, {0, 1}, options);
  ASSERT_TRUE(tiles.has_value());
  EXPECT_EQ(tiles->Decide(0, base::Stop()), Status::kOptimal);
  EXPECT_FALSE(tiles->Add({{1, 3, 1, 4}}).has_value());
  ASSERT_EQ(tiles->Candidates().size(), 2U);
  EXPECT_EQ(tiles->Known(0).status, Status::kOptimal);  // what was known stays
  EXPECT_EQ(tiles->Candidates()[1].lower_bound, 76);
  tiles->Sort();
  EXPECT_EQ(tiles->Candidates()[0].choice.tile, (graph::TileShape{1, 3, 1, 4}));
  EXPECT_TRUE(tiles->Add({{1, 3, 9, 4}}).has_value());  // larger than the output
  EXPECT_EQ(tiles->Candidates().size(), 2U);
}

// x --conv--> a --relu--> y: in place wherever it may be, and side by side.
TEST(InPlaceTiles, AreListedBesideThoseThatAreNot) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {2, 2, 1, 1}), a, 1, 0);
  net.Elementwise("relu", {a}, y);
  Profile profile = TwoLevels(DmaSteps::kOwnSteps);
  profile.tiling.weights = {WeightPolicy::kResident};
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  const CanonicalEngine engine;
  TileOptions options;
  options.engines = {&engine};
  options.shapes = {{{1, 2, 4, 4}}};
  const base::Expected<IntervalTiles> both = IntervalTiles::Build(net.graph, profile, {0, 1}, options);
  ASSERT_TRUE(both.has_value());
  ASSERT_EQ(both->Candidates().size(), 2U);
  EXPECT_TRUE(both->Candidates()[0].choice.policy.in_place);
  EXPECT_FALSE(both->Candidates()[1].choice.policy.in_place);

  profile.tiling.in_place = {base::OperatorKind::kConv};  // none in the second operator alone
  const base::Expected<IntervalTiles> conv = IntervalTiles::Build(net.graph, profile, {1, 1}, options);
  ASSERT_TRUE(conv.has_value());
  EXPECT_EQ(conv->Candidates().size(), 1U);
}

}  // namespace
}  // namespace tessera::search
