// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "../../../draws.h"
#include "brute_force.h"
#include "random_packing.h"
#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/guided/learned_backtracking.h"

// Compares the guided engine with brute force on instances small enough to enumerate, with drawn
// options and policies of backtracking: on packings, and on Problems with everything that a Problem
// can state.

namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;
using search::engines::guided::Backtracking;
using search::engines::guided::GuidedEngine;
using search::engines::guided::GuidedOptions;
using search::engines::guided::Heuristic;
using search::engines::guided::MajorBacktrack;
using search::engines::guided::Recipe;

std::vector<Recipe> DrawRecipes(base::Random& random) {
  std::vector<Recipe> recipes;
  while (recipes.empty() || random.Chance(0.3)) {
    Recipe& recipe = recipes.emplace_back();
    recipe.booleans_first = random.Chance(0.3);
    recipe.phases = random.Chance(0.5);
    while (recipe.heuristics.empty() || random.Chance(0.5)) {
      recipe.heuristics.push_back(static_cast<Heuristic>(
          random.Uniform(0, static_cast<int64_t>(search::engines::guided::kHeuristics) - 1)));
    }
  }
  return recipes;
}

// Any target, by a number made of the question.
std::optional<int> PickSomeTarget(const MajorBacktrack& backtrack) {
  size_t number = backtrack.buffers.size();
  for (const Bytes offset : backtrack.offsets) number = number * 31 + static_cast<size_t>(offset);
  const size_t at = number % (backtrack.targets.size() + 1);
  if (at == backtrack.targets.size()) return std::nullopt;
  return backtrack.targets[at].point;
}

GuidedOptions DrawGuidedOptions(base::Random& random) {
  GuidedOptions options;
  if (random.Chance(0.6)) options.recipes = DrawRecipes(random);
  if (random.Chance(0.6)) options.recipes_in_banks = DrawRecipes(random);
  options.descents = random.Chance(0.2);
  options.culprits = random.Chance(0.7);
  options.stuck = random.Chance(0.7);
  if (random.Chance(0.5)) {
    options.backtracking = random.Chance(0.5) ? search::engines::guided::LearnedBacktracking()
                                              : Backtracking(PickSomeTarget);
    options.insured = random.Chance(0.5);
    options.head_start = random.Uniform(0, 4);
  }
  return options;
}

struct Tally {
  int feasible = 0;
  int infeasible = 0;
};

void ExpectAgreement(const Result& result, const Problem& problem, Bytes capacity,
                     const std::string& what, Tally& tally) {
  const bool fits = Enumerate(problem, capacity).has_value();
  ++(fits ? tally.feasible : tally.infeasible);
  ASSERT_EQ(problem::NameOf(result.status),
            problem::NameOf(fits ? Status::kFeasible : Status::kInfeasible))
      << what << ": " << result.reason << "\n"
      << problem::files::WriteProblem(problem);
  if (!fits) {
    EXPECT_FALSE(result.lower_bound > capacity + 1 && Enumerate(problem, result.lower_bound - 1))
        << what;
    return;
  }
  const auto violations = problem::Validate(problem, *result.allocation, capacity);
  ASSERT_TRUE(violations.empty()) << what << ": " << violations.front().message;
  EXPECT_EQ(result.peak, problem::PeakOf(problem, *result.allocation)) << what;
}

template <typename Draw>
void CompareDraws(int draws, Draw draw) {
  Tally tally;
  for (int seed = 1; seed <= draws; ++seed) {
    base::Random random(static_cast<uint64_t>(seed));
    const Problem problem = draw(random);
    ASSERT_FALSE(problem::CheckWellFormed(problem)) << seed;
    const GuidedEngine engine(DrawGuidedOptions(random));
    const Bytes capacity = problem.memories[0].capacity;
    const Result result = engine.Open(problem, nullptr)->Solve(0, capacity, {}, {});
    ExpectAgreement(result, problem, capacity, "seed " + std::to_string(seed), tally);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(tally.infeasible, draws / 5);
  EXPECT_GE(tally.feasible, draws / 5);
}

TEST(GuidedSoundness, AgreesWithBruteForceOnPackings) { CompareDraws(DrawsOf(2000), DrawPacking); }

TEST(GuidedSoundness, AgreesWithBruteForceOnEverythingThatAProblemCanState) {
  CompareDraws(DrawsOf(2000), DrawProblem);
}

// Capacities go down and up. The search keeps its lessons on the way down only.
TEST(GuidedSoundness, ASessionThatSweepsCapacitiesAnswersAsBruteForceDoes) {
  Tally tally;
  for (int seed = 1; seed <= DrawsOf(250); ++seed) {
    base::Random random(static_cast<uint64_t>(seed));
    const Problem problem = random.Chance(0.5) ? DrawPacking(random) : DrawProblem(random);
    const GuidedEngine engine(DrawGuidedOptions(random));
    const auto session = engine.Open(problem, nullptr);
    for (int question = 0; question < 5; ++question) {
      const Bytes capacity = random.Uniform(1, problem.memories[0].capacity + 1);
      const Result result = session->Solve(0, capacity, {}, {});
      ExpectAgreement(result, problem, capacity,
                      "seed " + std::to_string(seed) + " capacity " + std::to_string(capacity),
                      tally);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(tally.infeasible, DrawsOf(200));
  EXPECT_GE(tally.feasible, DrawsOf(200));
}

TEST(GuidedSoundness, ASessionThatMovesOverALadderAnswersAsBruteForceDoes) {
  Tally tally;
  for (int seed = 1; seed <= DrawsOf(150); ++seed) {
    base::Random random(static_cast<uint64_t>(seed));
    const Problem problem = DrawPacking(random);
    const problem::Ladder ladder = DrawLadder(random, problem);
    const GuidedEngine engine(DrawGuidedOptions(random));
    const auto session = engine.Open(problem, &ladder);
    for (int question = 0; question < 5; ++question) {
      const auto candidate = static_cast<size_t>(
          random.Uniform(0, static_cast<int64_t>(ladder.candidates.size()) - 1));
      const Bytes capacity = random.Uniform(4, 12);
      const Result result = session->Solve(candidate, capacity, {}, {});
      ExpectAgreement(result, problem::AtCandidate(problem, ladder.candidates[candidate]), capacity,
                      "seed " + std::to_string(seed), tally);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(tally.infeasible, DrawsOf(100));
  EXPECT_GE(tally.feasible, DrawsOf(100));
}

// Small slices of dead ends give the answer of one large one, and the search ends.
TEST(GuidedSoundness, SlicesOfTheBudgetContinueTheSearch) {
  int checked = 0;
  for (int seed = 1; seed <= DrawsOf(600); ++seed) {
    base::Random random(static_cast<uint64_t>(seed));
    const Problem problem = random.Chance(0.5) ? DrawPacking(random) : DrawProblem(random);
    const GuidedEngine engine(DrawGuidedOptions(random));
    const Bytes capacity = problem.memories[0].capacity;
    const Result whole = engine.Open(problem, nullptr)->Solve(0, capacity, {}, {});
    const auto session = engine.Open(problem, nullptr);
    Result sliced;
    int slices = 0;
    while (sliced.status == Status::kUnknown && ++slices < 100'000)
      sliced = session->Solve(0, capacity, {1}, {});
    ASSERT_EQ(problem::NameOf(sliced.status), problem::NameOf(whole.status)) << seed;
    if (whole.allocation) {
      EXPECT_EQ(sliced.allocation->offsets, whole.allocation->offsets) << seed;
    }
    checked += slices > 1 ? 1 : 0;
  }
  ExpectEnough(checked, LeastOf(30));
}

// Heuristics alone refute nothing: where every candidate has failed, the answer is unknown.
TEST(GuidedSoundness, WithoutLessonsNothingIsRefutedBySearch) {
  int placed = 0;
  for (int seed = 1; seed <= DrawsOf(400); ++seed) {
    base::Random random(static_cast<uint64_t>(seed));
    const Problem problem = DrawPacking(random);
    GuidedOptions options = DrawGuidedOptions(random);
    options.lessons = false;
    const GuidedEngine engine(options);
    const Bytes capacity = problem.memories[0].capacity;
    const Result result = engine.Open(problem, nullptr)->Solve(0, capacity, {}, {});
    const bool fits = Enumerate(problem, capacity).has_value();
    EXPECT_TRUE(!result.allocation || fits) << seed;
    EXPECT_TRUE(result.status != Status::kInfeasible || !fits) << seed;
    placed += result.allocation ? 1 : 0;
  }
  ExpectEnough(placed, DrawsOf(120));
}

}  // namespace
}  // namespace tessera::encoder
