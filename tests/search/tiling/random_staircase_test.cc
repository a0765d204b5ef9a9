// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../encoder/program/small_networks.h"
#include "random_network.h"
#include "staircases.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/validator.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/tiling/engine_cache.h"
#include "tessera/search/tiling/feasible_frontier.h"

// Staircases of random networks. They agree with a separate decision of every shape, also under a
// budget, and do not depend on the contents of the cache.
namespace tessera::search {
namespace {

using encoder::TwoConvs;
using encoder::TwoLevels;
using graph::tiling::TileShape;
using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using problem::Status;

// Decides every shape separately, and compares all pairs to find the largest that fit.
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
               std::equal(other.first.begin(), other.first.end(), shape.begin(),
                          std::greater_equal<>());
      };
      if (fit && std::none_of(fits.begin(), fits.end(), contains)) corners.push_back(shape);
    }
    return corners;
  }
};

// Canonical search knows no banks, no halos that must adjoin, and no in-place results smaller than
// their operands. CaDiCaL decides these.
struct CompleteEngines {
  engines::canonical::CanonicalEngine canonical;
  encoder::sat::SatEngine sat;
  tiling::Engines Pointers() const { return {&canonical, &sat}; }
};

bool HasBanks(const Profile& profile) {
  return !profile.memories[static_cast<size_t>(profile.tile_memory)].banks.empty();
}

bool KeepsRows(const encoder::program::Program& program) {
  return std::any_of(program.buffers.begin(), program.buffers.end(),
                     [](const encoder::program::BufferUse& buffer) {
                       return buffer.kind == encoder::program::BufferKind::kRollingBuffer ||
                              buffer.kind == encoder::program::BufferKind::kLine ||
                              buffer.kind == encoder::program::BufferKind::kHalo;
                     });
}

// All shapes that the policy applies to.
Truth DecideAll(const RandomSubject& subject, const graph::tiling::ShapeGrid& grid,
                const encoder::program::Policy& policy) {
  const CompleteEngines engines;
  const bool needs_sat = HasBanks(subject.profile) ||
                         policy.halo == hw_profiles::HaloStorage::kAdjacent || policy.in_place;
  const problem::Engine& engine = *engines.Pointers()[needs_sat ? 1 : 0];
  Truth truth;
  const bool caches = policy.halo != hw_profiles::HaloStorage::kRecompute;
  const std::vector<TileShape> shapes = ShapesOf(grid);
  for (const TileShape& shape : shapes) {
    if (caches && !encoder::program::MayKeepRows(subject.profile, shapes.back(), shape)) continue;
    const encoder::program::SubgraphChoice choice = {subject.interval, shape, policy};
    const base::Expected<encoder::program::Program> program =
        encoder::program::BuildProgram(subject.graph, subject.profile, {&choice, 1});
    EXPECT_TRUE(program.has_value());
    if (caches && !KeepsRows(*program)) continue;
    const problem::Result result =
        engine.Open(program->problem, nullptr)
            ->Solve(0, program->problem.memories[0].capacity, base::Budget(), base::Stop());
    EXPECT_TRUE(result.status == Status::kFeasible || result.status == Status::kInfeasible)
        << result.reason;
    truth.fits.emplace_back(shape, result.status == Status::kFeasible);
  }
  return truth;
}

RC_GTEST_PROP(StaircaseOfRandomNetworks, IsThatOfEveryShapeDecidedAlone, ()) {
  const RandomSubject subject = DrawSubject();
  const CompleteEngines engines;
  tiling::TileOptions options;
  options.engines = engines.Pointers();
  const base::Expected<tiling::Staircase> found = tiling::FindStaircase(
      subject.graph, subject.profile, subject.interval, options, base::Stop());
  RC_PRE(found.has_value());
  for (const tiling::PolicyStaircase& policy : found->policies) {
    const Truth truth = DecideAll(subject, found->grid, policy.policy);
    RC_ASSERT(policy.complete);
    std::vector<TileShape> corners = CornersOf(*found, policy);
    RC_ASSERT(
        std::is_sorted(corners.begin(), corners.end(), [](const TileShape& a, const TileShape& b) {
          return graph::ElementsOf(a) < graph::ElementsOf(b);
        }));
    std::sort(corners.begin(), corners.end());
    RC_ASSERT(corners == truth.Corners());
    for (const tiling::Corner& corner : policy.corners) {
      RC_ASSERT(corner.proven);
      const problem::Problem problem = found->tiles.ProblemOf(corner.candidate);
      const tiling::CandidateAnswer& answer = found->tiles.Known(corner.candidate);
      RC_ASSERT(Validate(problem, *answer.allocation, problem.memories[0].capacity).empty());
      for (const size_t larger : corner.beyond)
        RC_ASSERT(!truth.Fits(found->tiles.Candidates()[larger].choice.tile));
    }
  }
  RC_ASSERT(found->largest_proven);
  RC_ASSERT(!found->fewest || found->fewest->proven);
  RC_CLASSIFY(found->tiles.Solves() > 0, "asked engines");
  RC_CLASSIFY(
      std::any_of(found->policies.begin(), found->policies.end(),
                  [](const tiling::PolicyStaircase& policy) { return policy.corners.size() > 1; }),
      "several corners");
  RC_CLASSIFY(!found->largest, "nothing fits");
  RC_CLASSIFY(std::any_of(found->policies.begin(), found->policies.end(),
                          [](const tiling::PolicyStaircase& policy) {
                            return policy.policy.halo != hw_profiles::HaloStorage::kRecompute;
                          }),
              "keeps rows");
}

RC_GTEST_PROP(StaircaseOfRandomNetworks, ProvesNothingWrongWithinABudget, ()) {
  const RandomSubject subject = DrawSubject();
  const CompleteEngines engines;
  tiling::TileOptions options;
  options.engines = engines.Pointers();
  options.budget = base::Budget{*rc::gen::inRange<int64_t>(0, 4)};
  const base::Expected<tiling::Staircase> found = tiling::FindStaircase(
      subject.graph, subject.profile, subject.interval, options, base::Stop());
  RC_PRE(found.has_value());
  bool every_policy_right = true;
  for (const tiling::PolicyStaircase& policy : found->policies) {
    const Truth truth = DecideAll(subject, found->grid, policy.policy);
    std::vector<TileShape> corners = CornersOf(*found, policy);
    std::sort(corners.begin(), corners.end());
    const bool right = corners == truth.Corners();
    every_policy_right = every_policy_right && right;
    RC_ASSERT(right || !policy.complete);
    for (const tiling::Corner& corner : policy.corners) {
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
      const int64_t tiles = graph::tiling::Tile(subject.graph, subject.interval, shape).tiles;
      RC_ASSERT(!found->fewest || !found->fewest->proven || found->fewest->tiles <= tiles);
    }
  }
  RC_TAG(std::string(every_policy_right ? "all found" : "cut off"));
}

std::string Describe(const tiling::Staircase& staircase) {
  std::string text;
  for (size_t i = 0; i < staircase.tiles.Candidates().size(); ++i) {
    const tiling::CandidateAnswer& answer = staircase.tiles.Known(i);
    text += std::to_string(static_cast<int>(answer.status)) + answer.engine + answer.reason;
    if (!answer.allocation) continue;
    for (const problem::Bytes offset : answer.allocation->offsets)
      text += ' ' + std::to_string(offset);
  }
  for (const tiling::PolicyStaircase& policy : staircase.policies) {
    text += policy.complete ? "|complete" : "|open";
    for (const tiling::Corner& corner : policy.corners)
      text += ' ' + std::to_string(corner.candidate);
  }
  return text + '|' + std::to_string(staircase.tiles.Solves());
}

RC_GTEST_PROP(StaircaseOfRandomNetworks, DoesNotDependOnTheCache, ()) {
  const RandomSubject subject = DrawSubject();
  const CompleteEngines engines;
  const tiling::CachedEngines forgetful(engines.Pointers(), 0);
  const tiling::CachedEngines narrow(engines.Pointers(), 20'000);
  const tiling::CachedEngines retentive(engines.Pointers());
  const auto run = [&](const tiling::CachedEngines& cached, graph::Interval interval) {
    tiling::TileOptions options;
    options.engines = cached.Pointers();
    options.budget = base::Budget{40};
    const base::Expected<tiling::Staircase> found =
        tiling::FindStaircase(subject.graph, subject.profile, interval, options, base::Stop());
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
  const engines::canonical::CanonicalEngine canonical;
  const tiling::CachedEngines shared({&canonical});
  const graph::Graph graph = TwoConvs(60).graph;
  const auto run = [&graph](const tiling::Engines& engines, std::string& text) {
    for (const problem::Bytes capacity : {200, 400, 800, 1600}) {
      for (int first = 0; first < 2; ++first) {
        const auto found =
            tiling::FindStaircase(graph, TwoLevels(DmaSteps::kDoubleBuffered, capacity), {first, 1},
                                  ResidentWith(engines), base::Stop());
        text += Describe(*found) + '\n';
      }
    }
  };
  std::string alone;
  const tiling::CachedEngines own({&canonical});
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
