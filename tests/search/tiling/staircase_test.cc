#include "tessera/search/tiling/staircase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <thread>

#include "../../encoder/adapt/small_networks.h"
#include "random_network.h"
#include "tessera/encoder/adapt/halo.h"
#include "tessera/encoder/sat/sat_engine.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/canonical.h"
#include "tessera/search/tiling/cached_engines.h"

namespace tessera::search {
namespace {

using encoder::Network;
using encoder::TwoConvs;
using encoder::TwoLevels;
using graph::TileShape;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using problem::Status;
using testing::ElementsAre;

TileOptions With(const Engines& engines) {
  TileOptions options;
  options.engines = engines;
  options.policies = {{WeightPolicy::kResident, false}};
  return options;
}

std::vector<TileShape> CornersOf(const Staircase& staircase, const PolicyStaircase& policy) {
  std::vector<TileShape> shapes;
  for (const Corner& corner : policy.corners)
    shapes.push_back(staircase.tiles.Candidates()[corner.candidate].choice.tile);
  return shapes;
}

Staircase Find(const graph::Graph& graph, const Profile& profile, const TileOptions& options) {
  const graph::Interval all = {0, static_cast<int>(graph.operators.size()) - 1};
  base::Expected<Staircase> found = FindStaircase(graph, profile, all, options, base::Stop());
  EXPECT_TRUE(found.has_value());
  return *std::move(found);
}

// TwoConvs in own steps with both constants resident: tiles of 1, 2, 3, 4 and 8 rows take 76, 100, 124, 148 and 260 bytes.
class TwoConvsStaircase : public testing::Test {
 protected:
  Staircase At(problem::Bytes capacity, const Engines& engines) const {
    return Find(graph_, TwoLevels(DmaSteps::kOwnSteps, capacity), With(engines));
  }

  graph::Graph graph_ = TwoConvs().graph;
  CanonicalEngine canonical_;
};

TEST_F(TwoConvsStaircase, HasOneCornerAlongOneAxis) {
  const Staircase found = At(148, {&canonical_});
  ASSERT_EQ(found.policies.size(), 1U);
  EXPECT_TRUE(found.policies[0].complete);
  EXPECT_THAT(CornersOf(found, found.policies[0]), ElementsAre(TileShape{1, 3, 4, 4}));
  const Corner& corner = found.policies[0].corners[0];
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
  const Staircase found = At(260, {&canonical_});
  const Corner& whole = found.policies[0].corners[0];
  EXPECT_TRUE(whole.proven);
  EXPECT_TRUE(whole.beyond.empty());
  EXPECT_EQ(found.fewest->tiles, 1);
}

TEST_F(TwoConvsStaircase, IsEmptyWhereBoundsRefuseEverything) {
  const Staircase found = At(60, {&canonical_});
  EXPECT_TRUE(found.policies[0].corners.empty());
  EXPECT_TRUE(found.policies[0].complete);
  EXPECT_FALSE(found.largest.has_value());
  EXPECT_TRUE(found.largest_proven);
  EXPECT_FALSE(found.fewest.has_value());
  EXPECT_EQ(found.tiles.Solves(), 0);
}

TEST_F(TwoConvsStaircase, ProvesNothingWithoutAnEngine) {
  const Staircase found = At(148, {});
  EXPECT_TRUE(found.policies[0].corners.empty());
  EXPECT_FALSE(found.policies[0].complete);
  EXPECT_FALSE(found.largest_proven);
}

// Says what it is told to of Problems with a greatest buffer of so many bytes; where that is kFeasible, has the canonical engine
// place them.
class ObedientEngine final : public problem::Engine {
 public:
  using Script = std::function<Status(problem::Bytes)>;
  explicit ObedientEngine(Script script) : script_(std::move(script)) {}
  std::string_view Name() const override { return "obedient"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override {
    class Obedient final : public problem::Session {
     public:
      Obedient(const Script& script, const problem::Ladder* ladder, std::unique_ptr<problem::Session> session)
          : script_(script), ladder_(ladder), session_(std::move(session)) {}
      problem::Result Solve(size_t rung, problem::Bytes capacity, const base::Budget& budget,
                            const base::Stop& stop) override {
        const std::vector<problem::Bytes>& sizes = ladder_->rungs[rung].sizes;
        problem::Result result;
        result.status = script_(*std::max_element(sizes.begin(), sizes.end()));
        if (result.status == Status::kFeasible) return session_->Solve(rung, capacity, budget, stop);
        result.reason = "as told";
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
  CanonicalEngine canonical_;
  Script script_;
};

// 16 rows in tiles of 1, 2, 3, 4, 6, 8 and 16; a holds 16 bytes for each, and is the greatest buffer.
class ScriptedStaircase : public testing::Test {
 protected:
  static constexpr problem::Bytes kRow = 16;

  Staircase Where(ObedientEngine::Script script, DmaSteps dma = DmaSteps::kOwnSteps) const {
    const ObedientEngine obedient(std::move(script));
    return Find(graph_, TwoLevels(dma, 10'000), With({&obedient}));
  }

  graph::Graph graph_ = TwoConvs(16).graph;
};

TEST_F(ScriptedStaircase, ShrinksTheTileWhereALimitStrikes) {
  const Staircase found =
      Where([](problem::Bytes most) { return most >= 6 * kRow ? Status::kUnknown : Status::kFeasible; });
  const PolicyStaircase& policy = found.policies[0];
  EXPECT_THAT(CornersOf(found, policy), ElementsAre(TileShape{1, 3, 4, 4}));
  EXPECT_FALSE(policy.corners[0].proven);
  EXPECT_FALSE(policy.complete);
  EXPECT_FALSE(found.largest_proven);
  EXPECT_FALSE(found.fewest->proven);
}

TEST_F(ScriptedStaircase, GrowsAgainOverALimit) {
  const Staircase found = Where([](problem::Bytes most) {
    return most == 4 * kRow || most == 16 * kRow ? Status::kUnknown : Status::kFeasible;
  });
  EXPECT_THAT(CornersOf(found, found.policies[0]), ElementsAre(TileShape{1, 3, 8, 4}));
  EXPECT_FALSE(found.policies[0].corners[0].proven);
}

// One, two, three and more tiles run through different steps, so no answer for one stands for another.
TEST_F(ScriptedStaircase, IsScannedWhereNothingDominates) {
  const Staircase found = Where(
      [](problem::Bytes most) {
        return most == 4 * kRow || most == 16 * kRow ? Status::kInfeasible : Status::kFeasible;
      },
      DmaSteps::kOverlapped);
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
  const CanonicalEngine engine;
  const Staircase found = Find(net.graph, TwoLevels(DmaSteps::kOwnSteps, 500), With({&engine}));
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
  Profile profile = TwoLevels(DmaSteps::kOwnSteps, 900);
  profile.tiling.axes = {{base::Axis::kRows, 1}, {base::Axis::kColumns, 1}};
  const CanonicalEngine engine;
  const Staircase found = Find(net.graph, profile, With({&engine}));
  EXPECT_GE(found.policies[0].corners.size(), 8U);
  EXPECT_TRUE(found.policies[0].complete);
  EXPECT_LE(found.tiles.Solves(), static_cast<int64_t>(found.policies[0].corners.size()) + 2);
}

// Every shape decided on its own, and what is largest among those that fit found by comparing all with all.
struct Truth {
  std::vector<std::pair<TileShape, bool>> fits;  // by shape, under one policy

  bool Fits(const TileShape& shape) const {
    return std::find(fits.begin(), fits.end(), std::pair(shape, true)) != fits.end();
  }

  std::vector<TileShape> Corners() const {
    std::vector<TileShape> corners;
    for (const auto& [shape, fit] : fits) {
      const auto contains = [&shape = shape](const auto& other) {
        return other.second && other.first != shape &&
               std::equal(other.first.begin(), other.first.end(), shape.begin(), std::greater_equal<>());
      };
      if (fit && std::none_of(fits.begin(), fits.end(), contains)) corners.push_back(shape);
    }
    return corners;
  }
};

// Canonical search knows neither banks nor halos that must adjoin nor results in place that are smaller than their operands, and
// leaves them to CaDiCaL.
struct CompleteEngines {
  CanonicalEngine canonical;
  encoder::SatEngine sat;
  Engines Pointers() const { return {&canonical, &sat}; }
};

bool HasBanks(const Profile& profile) {
  return !profile.memories[static_cast<size_t>(profile.tile_memory)].banks.empty();
}

bool KeepsRows(const encoder::Program& program) {
  return std::any_of(
      program.buffers.begin(), program.buffers.end(), [](const encoder::ProgramBuffer& buffer) {
        return buffer.kind == encoder::BufferKind::kRing || buffer.kind == encoder::BufferKind::kLine ||
               buffer.kind == encoder::BufferKind::kHalo;
      });
}

// Of all shapes that the policy applies to.
Truth DecideAll(const RandomSubject& subject, const graph::ShapeGrid& grid, const encoder::Policy& policy) {
  const CompleteEngines engines;
  const bool needs_sat =
      HasBanks(subject.profile) || policy.halo == hw_profiles::HaloStorage::kAdjacent || policy.in_place;
  const problem::Engine& engine = *engines.Pointers()[needs_sat ? 1 : 0];
  Truth truth;
  const bool caches = policy.halo != hw_profiles::HaloStorage::kRecompute;
  const std::vector<TileShape> shapes = ShapesOf(grid);
  for (const TileShape& shape : shapes) {
    if (caches && !encoder::MayKeepRows(subject.profile, shapes.back(), shape)) continue;
    const encoder::SubgraphChoice choice = {subject.interval, shape, policy};
    const base::Expected<encoder::Program> program =
        encoder::BuildProgram(subject.graph, subject.profile, {&choice, 1});
    EXPECT_TRUE(program.has_value());
    if (caches && !KeepsRows(*program)) continue;
    const problem::Result result =
        engine.Open(program->problem, nullptr)
            ->Solve(0, program->problem.memories[0].capacity, base::Budget(), base::Stop());
    EXPECT_TRUE(result.status == Status::kFeasible || result.status == Status::kInfeasible) << result.reason;
    truth.fits.emplace_back(shape, result.status == Status::kFeasible);
  }
  return truth;
}

RC_GTEST_PROP(StaircaseOfRandomNetworks, IsThatOfEveryShapeDecidedAlone, ()) {
  const RandomSubject subject = DrawSubject();
  const CompleteEngines engines;
  TileOptions options;
  options.engines = engines.Pointers();
  const base::Expected<Staircase> found =
      FindStaircase(subject.graph, subject.profile, subject.interval, options, base::Stop());
  RC_PRE(found.has_value());
  for (const PolicyStaircase& policy : found->policies) {
    const Truth truth = DecideAll(subject, found->grid, policy.policy);
    RC_ASSERT(policy.complete);
    std::vector<TileShape> corners = CornersOf(*found, policy);
    RC_ASSERT(std::is_sorted(corners.begin(), corners.end(), [](const TileShape& a, const TileShape& b) {
      return graph::ElementsOf(a) < graph::ElementsOf(b);
    }));
    std::sort(corners.begin(), corners.end());
    RC_ASSERT(corners == truth.Corners());
    for (const Corner& corner : policy.corners) {
      RC_ASSERT(corner.proven);
      const problem::Problem problem = found->tiles.ProblemOf(corner.candidate);
      const RungAnswer& answer = found->tiles.Known(corner.candidate);
      RC_ASSERT(Validate(problem, *answer.allocation, problem.memories[0].capacity).empty());
      for (const size_t larger : corner.beyond)
        RC_ASSERT(!truth.Fits(found->tiles.Candidates()[larger].choice.tile));
    }
  }
  RC_ASSERT(found->largest_proven);
  RC_ASSERT(!found->fewest || found->fewest->proven);
  RC_CLASSIFY(found->tiles.Solves() > 0, "asked engines");
  RC_CLASSIFY(std::any_of(found->policies.begin(), found->policies.end(),
                          [](const PolicyStaircase& policy) { return policy.corners.size() > 1; }),
              "several corners");
  RC_CLASSIFY(!found->largest, "nothing fits");
  RC_CLASSIFY(std::any_of(found->policies.begin(), found->policies.end(),
                          [](const PolicyStaircase& policy) {
                            return policy.policy.halo != hw_profiles::HaloStorage::kRecompute;
                          }),
              "keeps rows");
}

RC_GTEST_PROP(StaircaseOfRandomNetworks, ProvesNothingWrongWithinABudget, ()) {
  const RandomSubject subject = DrawSubject();
  const CompleteEngines engines;
  TileOptions options;
  options.engines = engines.Pointers();
  options.budget = base::Budget{*rc::gen::inRange<int64_t>(0, 4)};
  const base::Expected<Staircase> found =
      FindStaircase(subject.graph, subject.profile, subject.interval, options, base::Stop());
  RC_PRE(found.has_value());
  bool every_policy_right = true;
  for (const PolicyStaircase& policy : found->policies) {
    const Truth truth = DecideAll(subject, found->grid, policy.policy);
    std::vector<TileShape> corners = CornersOf(*found, policy);
    std::sort(corners.begin(), corners.end());
    const bool right = corners == truth.Corners();
    every_policy_right = every_policy_right && right;
    RC_ASSERT(right || !policy.complete);
    for (const Corner& corner : policy.corners) {
      RC_ASSERT(truth.Fits(found->tiles.Candidates()[corner.candidate].choice.tile));
      for (const size_t larger : corner.beyond)
        RC_ASSERT(!corner.proven || !truth.Fits(found->tiles.Candidates()[larger].choice.tile));
    }
    for (const auto& [shape, fits] : truth.fits) {
      if (!fits) continue;
      RC_ASSERT(!found->largest_proven || !found->largest ||
                graph::ElementsOf(shape) <=
                    graph::ElementsOf(found->tiles.Candidates()[*found->largest].choice.tile));
      RC_ASSERT(!found->largest_proven || found->largest);
      const int64_t tiles = graph::Tile(subject.graph, subject.interval, shape).tiles;
      RC_ASSERT(!found->fewest || !found->fewest->proven || found->fewest->tiles <= tiles);
    }
  }
  RC_TAG(std::string(every_policy_right ? "all found" : "cut off"));
}

std::string Describe(const Staircase& staircase) {
  std::string text;
  for (size_t i = 0; i < staircase.tiles.Candidates().size(); ++i) {
    const RungAnswer& answer = staircase.tiles.Known(i);
    text += std::to_string(static_cast<int>(answer.status)) + answer.engine + answer.reason;
    if (!answer.allocation) continue;
    for (const problem::Bytes offset : answer.allocation->offsets) text += ' ' + std::to_string(offset);
  }
  for (const PolicyStaircase& policy : staircase.policies) {
    text += policy.complete ? "|complete" : "|open";
    for (const Corner& corner : policy.corners) text += ' ' + std::to_string(corner.candidate);
  }
  return text + '|' + std::to_string(staircase.tiles.Solves());
}

RC_GTEST_PROP(StaircaseOfRandomNetworks, IsTheSameWhateverIsRemembered, ()) {
  const RandomSubject subject = DrawSubject();
  const CompleteEngines engines;
  const CachedEngines forgetful(engines.Pointers(), 0);
  const CachedEngines narrow(engines.Pointers(), 20'000);
  const CachedEngines retentive(engines.Pointers());
  const auto run = [&](const CachedEngines& cached, graph::Interval interval) {
    TileOptions options;
    options.engines = cached.Pointers();
    options.budget = base::Budget{40};
    const base::Expected<Staircase> found =
        FindStaircase(subject.graph, subject.profile, interval, options, base::Stop());
    return found ? Describe(*found) : found.error().message;
  };
  for (int first = subject.interval.first; first <= subject.interval.last; ++first) {
    const graph::Interval interval = {first, subject.interval.last};
    const std::string expected = run(forgetful, interval);
    RC_ASSERT(run(narrow, interval) == expected);
    RC_ASSERT(run(retentive, interval) == expected);
    RC_ASSERT(run(retentive, interval) == expected);
  }
  RC_ASSERT(forgetful.Count().hits == 0);
  RC_ASSERT(forgetful.Count().bytes == 0U);
}

TEST(StaircaseOfRandomNetworks, IsTheSameFromTwoThreadsThatShareWhatTheyRemember) {
  const CanonicalEngine canonical;
  const CachedEngines shared({&canonical});
  const graph::Graph graph = TwoConvs(60).graph;
  const auto run = [&graph](const Engines& engines, std::string& text) {
    for (const problem::Bytes capacity : {200, 400, 800, 1600}) {
      for (int first = 0; first < 2; ++first) {
        const auto found = FindStaircase(graph, TwoLevels(DmaSteps::kOverlapped, capacity), {first, 1},
                                         With(engines), base::Stop());
        text += Describe(*found) + '\n';
      }
    }
  };
  std::string alone;
  const CachedEngines own({&canonical});
  run(own.Pointers(), alone);
  std::string one;
  std::string two;
  std::thread other([&] { run(shared.Pointers(), one); });
  run(shared.Pointers(), two);
  other.join();
  EXPECT_EQ(one, alone);
  EXPECT_EQ(two, alone);
}

}  // namespace
}  // namespace tessera::search
