// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/tiling/tile_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../encoder/program/small_networks.h"
#include "../../graph/graph_builder.h"
#include "tessera/search/engines/canonical/canonical.h"

namespace tessera::search {
namespace {

using encoder::Network;
using encoder::TwoConvs;
using encoder::TwoLevels;
using encoder::program::Policy;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using problem::Status;
using testing::HasSubstr;

constexpr Policy kResident = {WeightPolicy::kResident, false};

// TwoConvs, serialized, with both constants resident, 36 bytes. Rows of x, a and y take 8, 16 and
// 12 bytes; x and a, or a and y, live together. Tiles of 1, 2, 3, 4 and 8 rows need 3, 4, 5, 5 and
// 8 rows of x.
class TwoConvsTiles : public testing::Test {
 protected:
  tiling::TileOptions Options() const {
    tiling::TileOptions options;
    options.engines = {&engine_};
    options.policies = {kResident};
    return options;
  }

  engines::canonical::CanonicalEngine engine_;
  graph::Graph graph_ = TwoConvs().graph;
};

TEST_F(TwoConvsTiles, DecidesOneCandidateOnRequest) {
  base::Expected<tiling::IntervalTiles> tiles = tiling::IntervalTiles::Build(
      graph_, TwoLevels(DmaSteps::kSerialized, 148), {0, 1}, Options());
  ASSERT_TRUE(tiles.has_value());
  ASSERT_EQ(tiles->Candidates().size(), 5U);  // 1, 2, 3, 4 and 8 rows
  EXPECT_EQ(tiles->Candidates()[3].lower_bound, 148);
  EXPECT_EQ(tiles->TilingOf(3).tiles, 2);
  EXPECT_FALSE(tiles->Known(3).asked);
  EXPECT_EQ(tiles->Known(4).status, Status::kInfeasible);  // by its bound
  EXPECT_EQ(tiles->Decide(3, base::Stop()), Status::kOptimal);
  EXPECT_TRUE(tiling::Fits(tiles->Known(0)));  // implied by four rows
  EXPECT_EQ(tiles->Solves(), 1);
}

TEST_F(TwoConvsTiles, TriesEveryPolicyOfTheProfile) {
  tiling::TileOptions options = Options();
  options.policies.reset();
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  const base::Expected<tiling::IntervalTiles> tiles =
      tiling::IntervalTiles::Build(graph_, profile, {0, 1}, options);
  ASSERT_TRUE(tiles.has_value());
  ASSERT_EQ(tiles->Candidates().size(), 10U);
  EXPECT_EQ(tiles->Candidates()[0].choice.policy.weights, WeightPolicy::kResident);
  EXPECT_EQ(tiles->Candidates()[9].choice.policy.weights, WeightPolicy::kStreamed);
}

TEST_F(TwoConvsTiles, RefusesWhatNoPolicyAllows) {
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.links.clear();
  const base::Expected<tiling::IntervalTiles> tiles =
      tiling::IntervalTiles::Build(graph_, profile, {0, 1}, Options());
  ASSERT_FALSE(tiles.has_value());
  EXPECT_THAT(tiles.error().message, HasSubstr("cannot be moved"));
  const base::Expected<tiling::IntervalTiles> none =
      tiling::IntervalTiles::Build(graph_, profile, {1, 0}, Options());
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, HasSubstr("1..0 is no interval"));
}

TEST(IntervalTiles, TakeFurtherShapes) {
  const graph::Graph graph = TwoConvs().graph;
  const Profile profile = TwoLevels(DmaSteps::kSerialized, 148);
  const engines::canonical::CanonicalEngine engine;
  tiling::TileOptions options;
  options.engines = {&engine};
  options.policies = {kResident};
  options.shapes = {{{1, 3, 4, 4}}};
  base::Expected<tiling::IntervalTiles> tiles =
      tiling::IntervalTiles::Build(graph, profile, {0, 1}, options);
  ASSERT_TRUE(tiles.has_value());
  EXPECT_EQ(tiles->Decide(0, base::Stop()), Status::kOptimal);
  EXPECT_FALSE(tiles->Add({{1, 3, 1, 4}}).has_value());
  ASSERT_EQ(tiles->Candidates().size(), 2U);
  EXPECT_EQ(tiles->Known(0).status, Status::kOptimal);  // known results stay
  EXPECT_EQ(tiles->Candidates()[1].lower_bound, 76);
  tiles->Sort();
  EXPECT_EQ(tiles->Candidates()[0].choice.tile, (graph::tiling::TileShape{1, 3, 1, 4}));
  EXPECT_TRUE(tiles->Add({{1, 3, 9, 4}}).has_value());  // larger than the output
  EXPECT_EQ(tiles->Candidates().size(), 2U);
}

// x --conv--> a --relu--> y: in place where possible, and side by side.
TEST(InPlaceTiles, AreListedWithThoseThatAreNot) {
  Network net;
  const int x = net.Input("x", {1, 2, 8, 4});
  const int a = net.Tensor("a", {1, 2, 8, 4});
  const int y = net.Tensor("y", {1, 2, 8, 4});
  net.Output(y);
  net.Conv("conv", x, net.Constant("w", {2, 2, 1, 1}), a, 1, 0);
  net.Elementwise("relu", {a}, y);
  Profile profile = TwoLevels(DmaSteps::kSerialized);
  profile.tiling.weights = {WeightPolicy::kResident};
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  const engines::canonical::CanonicalEngine engine;
  tiling::TileOptions options;
  options.engines = {&engine};
  options.shapes = {{{1, 2, 4, 4}}};
  const base::Expected<tiling::IntervalTiles> both =
      tiling::IntervalTiles::Build(net.graph, profile, {0, 1}, options);
  ASSERT_TRUE(both.has_value());
  ASSERT_EQ(both->Candidates().size(), 2U);
  EXPECT_TRUE(both->Candidates()[0].choice.policy.in_place);
  EXPECT_FALSE(both->Candidates()[1].choice.policy.in_place);

  profile.tiling.in_place = {base::OperatorKind::kConv};  // none in the second operator alone
  const base::Expected<tiling::IntervalTiles> conv =
      tiling::IntervalTiles::Build(net.graph, profile, {1, 1}, options);
  ASSERT_TRUE(conv.has_value());
  EXPECT_EQ(conv->Candidates().size(), 1U);
}

// The window reaches so far into the pads that tiles have thousands of classes.
TEST_F(TwoConvsTiles, OmitsClassesOfManyTilesThatExceedTheTileMemory) {
  constexpr int64_t kExtent = 255;
  graph::GraphBuilder builder;
  builder.AddConv(builder.AddInput({1, 1, kExtent, kExtent}), 1, kExtent, 1, kExtent / 2);
  const graph::Graph graph = std::move(builder).Build();
  tiling::TileOptions options = Options();
  options.shapes = {{1, 1, 1, 1}};
  for (const int64_t capacity : {10'000, 1'000'000}) {
    const Profile profile = TwoLevels(DmaSteps::kSerialized, capacity);
    const base::Expected<tiling::IntervalTiles> tiles =
        tiling::IntervalTiles::Build(graph, profile, {0, 0}, options);
    ASSERT_TRUE(tiles.has_value());
    ASSERT_EQ(tiles->Candidates().size(), 1U);
    const bool fits = capacity > kExtent * kExtent;
    EXPECT_EQ(tiles->TilingOf(0).tiles, kExtent * kExtent);
    EXPECT_EQ(tiles->TilingOf(0).classes.empty(), !fits);
    EXPECT_EQ(tiles->Candidates()[0].lower_bound > capacity, !fits);
  }
}

}  // namespace
}  // namespace tessera::search
