// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "brute_force.h"
#include "random_packing.h"
#include "tessera/base/random.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

// Compares the lazy engine with brute force on instances small enough to enumerate, each with drawn
// switches.

namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

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
      << what << ": " << result.reason;
  if (!fits) {
    EXPECT_FALSE(result.lower_bound > capacity + 1 && Enumerate(problem, result.lower_bound - 1))
        << what;
    return;
  }
  const auto violations = problem::Validate(problem, *result.allocation, capacity);
  ASSERT_TRUE(violations.empty()) << what << ": " << violations.front().message;
  ASSERT_EQ(result.peak, problem::PeakOf(problem, *result.allocation)) << what;
}

TEST(LazySoundness, AgreesWithBruteForceUnderEveryDrawOfSwitches) {
  Tally tally;
  for (uint64_t seed = 1; seed <= 2400; ++seed) {
    base::Random random(seed);
    const Problem problem = DrawPacking(random);
    ASSERT_FALSE(problem::CheckWellFormed(problem)) << seed;
    const search::engines::lazy::LazyEngine engine(DrawOptions(random));
    const Bytes capacity = problem.memories[0].capacity;
    const Result result = engine.Open(problem, nullptr)->Solve(0, capacity, {}, {});
    ExpectAgreement(result, problem, capacity, "seed " + std::to_string(seed), tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(tally.infeasible, 2400 * 3 / 10);
  EXPECT_GE(tally.feasible, 2400 * 3 / 10);
}

// Capacities go up and down. The session must drop learned clauses on the way up and may keep them
// on the way down.
TEST(LazySoundness, ASessionThatSweepsCapacitiesAnswersAsBruteForceDoes) {
  Tally tally;
  for (uint64_t seed = 1; seed <= 250; ++seed) {
    base::Random random(seed);
    const Problem problem = DrawPacking(random);
    const auto session =
        search::engines::lazy::LazyEngine(DrawOptions(random)).Open(problem, nullptr);
    for (int question = 0; question < 6; ++question) {
      const Bytes capacity = random.Uniform(1, 12);
      const Result result = session->Solve(0, capacity, {}, {});
      const std::string what =
          "seed " + std::to_string(seed) + " capacity " + std::to_string(capacity);
      ExpectAgreement(result, problem, capacity, what, tally);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(tally.infeasible, 250);
  EXPECT_GE(tally.feasible, 250);
}

TEST(LazySoundness, ASessionThatMovesOverALadderAnswersAsBruteForceDoes) {
  Tally tally;
  for (uint64_t seed = 1; seed <= 250; ++seed) {
    base::Random random(seed);
    const Problem problem = DrawPacking(random);
    const problem::Ladder ladder = DrawLadder(random, problem);
    ASSERT_FALSE(problem::CheckWellFormed(problem, ladder)) << seed;
    const auto session =
        search::engines::lazy::LazyEngine(DrawOptions(random)).Open(problem, &ladder);
    for (int question = 0; question < 6; ++question) {
      const auto candidate = static_cast<size_t>(
          random.Uniform(0, static_cast<int64_t>(ladder.candidates.size()) - 1));
      const Bytes capacity = random.Uniform(4, 12);
      const Result result = session->Solve(candidate, capacity, {}, {});
      const std::string what =
          "seed " + std::to_string(seed) + " candidate " + std::to_string(candidate);
      ExpectAgreement(result, problem::AtCandidate(problem, ladder.candidates[candidate]), capacity,
                      what, tally);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(tally.infeasible, 250);
  EXPECT_GE(tally.feasible, 250);
}

}  // namespace
}  // namespace tessera::encoder
