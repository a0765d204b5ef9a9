// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../../encoder/program/small_networks.h"
#include "staircases.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/tiling/feasible_frontier.h"

namespace tessera::search {
namespace {

using encoder::Network;
using encoder::TwoConvs;
using encoder::TwoLevels;
using graph::tiling::TileShape;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using problem::Status;
using testing::ElementsAre;

tiling::Staircase Find(const graph::Graph& graph, const Profile& profile,
                       const tiling::TileOptions& options) {
  const graph::Interval all = {0, static_cast<int>(graph.operators.size()) - 1};
  base::Expected<tiling::Staircase> found =
      tiling::FindStaircase(graph, profile, all, options, base::Stop());
  EXPECT_TRUE(found.has_value());
  return *std::move(found);
}

// TwoConvs, serialized, with both constants resident: tiles of 1, 2, 3, 4 and 8 rows take 76, 100,
// 124, 148 and 260 bytes.
class TwoConvsStaircase : public testing::Test {
 protected:
  tiling::Staircase At(problem::Bytes capacity, const tiling::Engines& engines) const {
    return Find(graph_, TwoLevels(DmaSteps::kSerialized, capacity), ResidentWith(engines));
  }

  graph::Graph graph_ = TwoConvs().graph;
  engines::canonical::CanonicalEngine canonical_;
};

TEST_F(TwoConvsStaircase, HasOneCornerAlongOneAxis) {
  const tiling::Staircase found = At(148, {&canonical_});
  ASSERT_EQ(found.policies.size(), 1U);
  EXPECT_TRUE(found.policies[0].complete);
  EXPECT_THAT(CornersOf(found, found.policies[0]), ElementsAre(TileShape{1, 3, 4, 4}));
  const tiling::Corner& corner = found.policies[0].corners[0];
  EXPECT_TRUE(corner.proven);
  ASSERT_EQ(corner.beyond.size(), 1U);
  EXPECT_EQ(found.tiles.Candidates()[corner.beyond[0]].choice.tile, (TileShape{1, 3, 8, 4}));
  EXPECT_EQ(found.tiles.Known(corner.beyond[0]).status, Status::kInfeasible);
  EXPECT_EQ(found.tiles.Known(corner.candidate).peak, 148);
  EXPECT_EQ(found.largest, corner.candidate);
  EXPECT_TRUE(found.largest_proven);
  EXPECT_EQ(found.fewest->tiles, 2);
  EXPECT_TRUE(found.fewest->proven);
  EXPECT_EQ(found.tiles.Solves(), 1);
}

TEST_F(TwoConvsStaircase, EndsWithTheGrid) {
  const tiling::Staircase found = At(260, {&canonical_});
  const tiling::Corner& whole = found.policies[0].corners[0];
  EXPECT_TRUE(whole.proven);
  EXPECT_TRUE(whole.beyond.empty());
  EXPECT_EQ(found.fewest->tiles, 1);
}

TEST_F(TwoConvsStaircase, IsEmptyWhereBoundsRefuseEverything) {
  const tiling::Staircase found = At(60, {&canonical_});
  EXPECT_TRUE(found.policies[0].corners.empty());
  EXPECT_TRUE(found.policies[0].complete);
  EXPECT_FALSE(found.largest.has_value());
  EXPECT_TRUE(found.largest_proven);
  EXPECT_FALSE(found.fewest.has_value());
  EXPECT_EQ(found.tiles.Solves(), 0);
}

TEST_F(TwoConvsStaircase, ProvesNothingWithoutAnEngine) {
  const tiling::Staircase found = At(148, {});
  EXPECT_TRUE(found.policies[0].corners.empty());
  EXPECT_FALSE(found.policies[0].complete);
  EXPECT_FALSE(found.largest_proven);
}

// Answers by script, from the size of the greatest buffer. Where the script says kFeasible, the
// canonical engine places the buffers.
class ObedientEngine final : public problem::Engine {
 public:
  using Script = std::function<Status(problem::Bytes)>;
  explicit ObedientEngine(Script script) : script_(std::move(script)) {}
  std::string_view Name() const override { return "obedient"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override {
    class Obedient final : public problem::Session {
     public:
      Obedient(const Script& script, const problem::Ladder* ladder,
               std::unique_ptr<problem::Session> session)
          : script_(script), ladder_(ladder), session_(std::move(session)) {}
      problem::Result Solve(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
                            const base::Stop& stop) override {
        const std::vector<problem::Bytes>& sizes = ladder_->candidates[candidate].sizes;
        problem::Result result;
        result.status = script_(*std::max_element(sizes.begin(), sizes.end()));
        if (result.status == Status::kFeasible)
          return session_->Solve(candidate, capacity, budget, stop);
        result.reason = "as scripted";
        return result;
      }

     private:
      const Script& script_;
      const problem::Ladder* ladder_;
      std::unique_ptr<problem::Session> session_;
    };
    return std::make_unique<Obedient>(script_, ladder, canonical_.Open(problem, ladder));
  }

 private:
  engines::canonical::CanonicalEngine canonical_;
  Script script_;
};

// 16 rows in tiles of 1, 2, 3, 4, 6, 8 and 16; a holds 16 bytes for each row and is the greatest
// buffer.
class ScriptedStaircase : public testing::Test {
 protected:
  static constexpr problem::Bytes kRow = 16;

  tiling::Staircase Where(ObedientEngine::Script script,
                          DmaSteps dma = DmaSteps::kSerialized) const {
    const ObedientEngine obedient(std::move(script));
    return Find(graph_, TwoLevels(dma, 10'000), ResidentWith({&obedient}));
  }

  graph::Graph graph_ = TwoConvs(16).graph;
};

TEST_F(ScriptedStaircase, ShrinksTheTileWhereALimitStrikes) {
  const tiling::Staircase found = Where(
      [](problem::Bytes most) { return most >= 6 * kRow ? Status::kUnknown : Status::kFeasible; });
  const tiling::PolicyStaircase& policy = found.policies[0];
  EXPECT_THAT(CornersOf(found, policy), ElementsAre(TileShape{1, 3, 4, 4}));
  EXPECT_FALSE(policy.corners[0].proven);
  EXPECT_FALSE(policy.complete);
  EXPECT_FALSE(found.largest_proven);
  EXPECT_FALSE(found.fewest->proven);
}

TEST_F(ScriptedStaircase, GrowsAgainOverALimit) {
  const tiling::Staircase found = Where([](problem::Bytes most) {
    return most == 4 * kRow || most == 16 * kRow ? Status::kUnknown : Status::kFeasible;
  });
  EXPECT_THAT(CornersOf(found, found.policies[0]), ElementsAre(TileShape{1, 3, 8, 4}));
  EXPECT_FALSE(found.policies[0].corners[0].proven);
}

// One, two, three and more tiles run through different steps, so an answer for one says nothing
// about another.
TEST_F(ScriptedStaircase, IsScannedWhereNothingDominates) {
  const tiling::Staircase found = Where(
      [](problem::Bytes most) {
        return most == 4 * kRow || most == 16 * kRow ? Status::kInfeasible : Status::kFeasible;
      },
      DmaSteps::kDoubleBuffered);
  EXPECT_THAT(CornersOf(found, found.policies[0]), ElementsAre(TileShape{1, 3, 8, 4}));
  EXPECT_TRUE(found.policies[0].corners[0].proven);
  EXPECT_TRUE(found.policies[0].complete);
}

TEST(Staircase, ProvesNothingAboutExtentsThatWereLeftOut) {
  Network net;
  const int x = net.Input("x", {1, 1, 10'000, 1});
  const int y = net.Tensor("y", {1, 1, 10'000, 1});
  net.Output(y);
  net.Elementwise("relu", {x}, y);
  const engines::canonical::CanonicalEngine engine;
  const tiling::Staircase found =
      Find(net.graph, TwoLevels(DmaSteps::kSerialized, 500), ResidentWith({&engine}));
  ASSERT_TRUE(found.grid.thinned);
  EXPECT_TRUE(found.largest.has_value());
  EXPECT_FALSE(found.policies[0].corners[0].proven);
  EXPECT_FALSE(found.largest_proven);
  EXPECT_FALSE(found.fewest->proven);
}

TEST(Staircase, AsksAboutAsOftenAsThereAreCorners) {
  Network net;
  const int x = net.Input("x", {1, 1, 97, 89});
  const int a = net.Tensor("a", {1, 2, 97, 89});
  const int y = net.Tensor("y", {1, 1, 97, 89});
  net.Output(y);
  net.Conv("conv1", x, net.Constant("w1", {2, 1, 5, 1}), a, 5, 2);
  net.Conv("conv2", a, net.Constant("w2", {1, 2, 3, 1}), y, 3, 1);
  Profile profile = TwoLevels(DmaSteps::kSerialized, 900);
  profile.tiling.axes = {{base::Axis::kRows, 1}, {base::Axis::kColumns, 1}};
  const engines::canonical::CanonicalEngine engine;
  const tiling::Staircase found = Find(net.graph, profile, ResidentWith({&engine}));
  EXPECT_GE(found.policies[0].corners.size(), 8U);
  EXPECT_TRUE(found.policies[0].complete);
  EXPECT_LE(found.tiles.Solves(), static_cast<int64_t>(found.policies[0].corners.size()) + 2);
}

}  // namespace
}  // namespace tessera::search
