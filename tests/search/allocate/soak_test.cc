// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "brute_force.h"
#include "random_instance.h"
#include "random_packing.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/local_search/local_search.h"

// Draws engines, switches and portfolios and compares them with brute force on instances small
// enough to enumerate. TESSERA_SOAK is the number of draws (scripts/soak uses twenty times the
// default); draw i is always the same.

namespace tessera::search {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

int DrawsWanted() {
  constexpr int kDefault = 10'500;
  const char* wanted = std::getenv("TESSERA_SOAK");
  return wanted != nullptr ? std::atoi(wanted) : kDefault;
}

engines::canonical::CanonicalOptions DrawCanonical(base::Random& random) {
  engines::canonical::CanonicalOptions options;
  options.seed = static_cast<uint64_t>(random.Uniform(0, 3));
  for (bool engines::canonical::CanonicalOptions::*rule :
       {&engines::canonical::CanonicalOptions::support,
        &engines::canonical::CanonicalOptions::witness,
        &engines::canonical::CanonicalOptions::sections,
        &engines::canonical::CanonicalOptions::backjumping,
        &engines::canonical::CanonicalOptions::interchangeable,
        &engines::canonical::CanonicalOptions::decomposition,
        &engines::canonical::CanonicalOptions::cache,
        &engines::canonical::CanonicalOptions::both_directions}) {
    options.*rule = random.Chance(0.5);
  }
  options.cache_after = random.Uniform(0, 8);
  return options;
}

Problem DrawProblem(base::Random& random) {
  if (random.Chance(0.5)) return encoder::DrawPacking(random);
  Problem problem = RandomInstance(random);
  if (random.Chance(0.2)) AddColocations(problem, random);
  return problem;
}

struct Tally {
  int feasible = 0;
  int infeasible = 0;
  int unsupported = 0;
};

// The engines must agree with the enumeration; only canonical search may decline.
void ExpectTruth(const Result& result, const Problem& problem, bool may_decline, Tally& tally) {
  if (may_decline && result.status == Status::kUnsupported) {
    ++tally.unsupported;
    return;
  }
  const Bytes capacity = problem.memories[0].capacity;
  const bool fits = encoder::Enumerate(problem, capacity).has_value();
  ++(fits ? tally.feasible : tally.infeasible);
  if (!fits) {
    ASSERT_EQ(problem::NameOf(result.status), problem::NameOf(Status::kInfeasible))
        << result.reason;
    return;
  }
  ASSERT_TRUE(result.allocation) << problem::NameOf(result.status) << ": " << result.reason;
  const auto violations = problem::Validate(problem, *result.allocation, capacity);
  ASSERT_TRUE(violations.empty()) << violations.front().message;
  ASSERT_LE(result.lower_bound, *result.peak);
  if (result.status == Status::kOptimal && *result.peak > 0) {
    ASSERT_FALSE(encoder::Enumerate(problem, *result.peak - 1)) << result.reason;
  }
}

Result AskPortfolio(const Problem& problem, base::Random& random) {
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical(DrawCanonical(random));
  const engines::lazy::LazyEngine lazy(encoder::DrawOptions(random));
  const engines::local_search::LocalSearchEngine local_search(random.Next());
  std::vector<const problem::Engine*> engines = {&greedy, &canonical, &lazy, &local_search};
  if (random.Chance(0.2)) engines = {&lazy};
  if (random.Chance(0.2)) engines = {&canonical, &greedy, &lazy};
  allocate::AllocateOptions options;
  options.capacity = problem.memories[0].capacity;
  options.minimize = random.Chance(0.5);
  options.threads = random.Chance(0.1) ? 2 : 1;
  auto result = allocate::Allocate(problem, nullptr, 0, engines, options);
  EXPECT_TRUE(result.has_value());
  if (result && options.minimize && result->allocation) {
    EXPECT_EQ(result->status, Status::kOptimal) << result->reason;
  }
  return result ? *std::move(result) : Result{};
}

TEST(Soak, EveryDrawOfEnginesAndSwitchesAgreesWithBruteForce) {
  Tally tally;
  const int draws = DrawsWanted();
  for (int draw = 1; draw <= draws; ++draw) {
    base::Random random(static_cast<uint64_t>(draw));
    const Problem problem = DrawProblem(random);
    ASSERT_FALSE(problem::CheckWellFormed(problem)) << "draw " << draw;
    const Bytes capacity = problem.memories[0].capacity;
    SCOPED_TRACE("draw " + std::to_string(draw));
    const int64_t engine = random.Uniform(0, 2);
    if (engine == 0) {
      const engines::canonical::CanonicalEngine canonical(DrawCanonical(random));
      ExpectTruth(canonical.Open(problem, nullptr)->Solve(0, capacity, {}, {}), problem, true,
                  tally);
    } else if (engine == 1) {
      const engines::lazy::LazyEngine lazy(encoder::DrawOptions(random));
      ExpectTruth(lazy.Open(problem, nullptr)->Solve(0, capacity, {}, {}), problem, false, tally);
    } else {
      ExpectTruth(AskPortfolio(problem, random), problem, false, tally);
    }
    if (HasFailure()) return;
  }
  EXPECT_GE(tally.infeasible, draws / 10);
  EXPECT_GE(tally.feasible, draws / 10);
  EXPECT_LE(tally.unsupported, draws / 10);
  std::printf("%d feasible, %d infeasible, %d declined\n", tally.feasible, tally.infeasible,
              tally.unsupported);
}

TEST(Soak, ThreadsChangeNothingWhereBothLanesLearn) {
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical;
  const engines::lazy::LazyEngine lazy;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &lazy};
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Problem problem = problem::generate::MakeBroken({}, seed);
    allocate::AllocateOptions options;
    options.minimize = true;
    options.capacity = 2 * problem.memories[0].capacity;
    options.budget.units = 15'000;
    const auto one = allocate::Allocate(problem, nullptr, 0, engines, options);
    for (const int threads : {2, 8}) {
      options.threads = threads;
      const auto more = allocate::Allocate(problem, nullptr, 0, engines, options);
      ASSERT_TRUE(one && more);
      ASSERT_EQ(one->status, more->status) << seed;
      ASSERT_EQ(one->lower_bound, more->lower_bound) << seed;
      ASSERT_EQ(one->engine, more->engine) << seed;
      ASSERT_EQ(one->statistics.nodes, more->statistics.nodes) << seed;
      ASSERT_EQ(one->statistics.conflicts, more->statistics.conflicts) << seed;
      ASSERT_TRUE(one->allocation && more->allocation) << seed;
      ASSERT_EQ(one->allocation->offsets, more->allocation->offsets) << seed;
    }
  }
}

}  // namespace
}  // namespace tessera::search
