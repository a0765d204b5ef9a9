#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../draws.h"
#include "brute_force.h"
#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/encoder/sat/sat_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/problem/json.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

// CaDiCaL with both encodings of integers and refinements drawn for each, Z3 and an enumeration that shares no code with them answer the
// same question about 5 000 random Problems. Shares of what the Problems contain are asserted, so that an
// easy generator cannot pass.
namespace tessera::encoder {
namespace {

using problem::Problem;
using problem::RelationKind;
using problem::Result;
using problem::Status;

constexpr int kProblemsPerShard = DrawsOf(1000);

Result SolveWith(const problem::Engine& engine, const Problem& problem) {
  const base::Stop stop;
  return engine.Open(problem, nullptr)->Solve(0, problem.memories[0].capacity, {}, stop);
}

void ExpectAnswer(const problem::Engine& engine, const Problem& problem, bool feasible) {
  const Result result = SolveWith(engine, problem);
  EXPECT_EQ(result.status, feasible ? Status::kFeasible : Status::kInfeasible)
      << engine.Name() << ": " << result.reason;
  if (!result.allocation) return;
  const auto violations = problem::Validate(problem, *result.allocation, problem.memories[0].capacity);
  EXPECT_TRUE(violations.empty()) << engine.Name() << ": " << violations.front().message;
  EXPECT_GE(*result.peak, result.lower_bound) << engine.Name();
}

// How many of the Problems drawn have a property.
struct Shares {
  int infeasible = 0;
  int needs_mode_change = 0;
  std::array<int, 6> relations{};
  std::array<int, problem::kRequirementKinds> rules{};

  void Note(const Problem& problem, bool feasible) {
    if (!feasible) ++infeasible;
    if (feasible && !Enumerate(problem, problem.memories[0].capacity, ModeChanges::kForbidden))
      ++needs_mode_change;
    for (size_t kind = 0; kind < relations.size(); ++kind) {
      relations[kind] +=
          std::any_of(problem.relations.begin(), problem.relations.end(),
                      [kind](const auto& relation) { return static_cast<size_t>(relation.kind) == kind; })
              ? 1
              : 0;
    }
    for (size_t kind = 0; kind < rules.size(); ++kind) {
      rules[kind] +=
          std::any_of(problem.rules.begin(), problem.rules.end(),
                      [kind](const auto& rule) { return static_cast<size_t>(rule.requirement.kind) == kind; })
              ? 1
              : 0;
    }
  }
};

// Each of them on or off, and a third of the time all on.
Refinements DrawRefinements(base::Random& random) {
  if (random.Chance(0.33)) return {};
  return {.positions = random.Chance(0.5),
          .symmetry = random.Chance(0.5),
          .bank_sums = random.Chance(0.5),
          .decomposition = random.Chance(0.5),
          .loose_ends = random.Chance(0.5)};
}

class Differential : public testing::TestWithParam<uint64_t> {};

TEST_P(Differential, EnginesAgreeWithEnumeration) {
  base::Random random(GetParam());
  base::Random switches(GetParam() + 1000);
  const Z3Engine z3;
  Shares shares;
  for (int i = 0; i < kProblemsPerShard && !HasFailure(); ++i) {
    SCOPED_TRACE("problem " + std::to_string(i));
    const Problem problem = DrawProblem(random);
    ASSERT_FALSE(problem::FindFault(problem).has_value()) << base::Format(*problem::FindFault(problem));
    const auto answer = Enumerate(problem, problem.memories[0].capacity);
    if (answer) {
      EXPECT_TRUE(problem::Validate(problem, *answer, problem.memories[0].capacity).empty());
    }
    SCOPED_TRACE(problem::WriteProblem(problem));
    const SatEngine order({0, IntegerEncoding::kOrder, {}, DrawRefinements(switches)});
    const SatEngine bits({0, IntegerEncoding::kBits, {}, DrawRefinements(switches)});
    for (const problem::Engine* engine : std::initializer_list<const problem::Engine*>{&order, &bits, &z3}) {
      ExpectAnswer(*engine, problem, answer.has_value());
    }
    shares.Note(problem, answer.has_value());
  }
  if (kProblemsPerShard < 1000) return;  // too few to tell shares
  EXPECT_GE(shares.infeasible * 100, 30 * kProblemsPerShard);
  EXPECT_GE(shares.needs_mode_change * 100, 30 * kProblemsPerShard);
  for (const int share : shares.relations) EXPECT_GE(share * 100, 5 * kProblemsPerShard);
  for (const int share : shares.rules) EXPECT_GE(share * 100, 5 * kProblemsPerShard);
  RecordProperty("infeasible", shares.infeasible);
  RecordProperty("needs_mode_change", shares.needs_mode_change);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Differential, testing::Values(1, 2, 3, 4, 5));

}  // namespace
}  // namespace tessera::encoder
