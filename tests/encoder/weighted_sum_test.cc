// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <vector>

#include "tessera/base/random.h"
#include "tessera/encoder/formulation/cardinality.h"
#include "tessera/encoder/sat/cadical_engine.h"

namespace tessera::encoder {
namespace {

constexpr size_t kMostNodes = 1000;

// The terms' literals are variables 2, 3, ... of the solver.
std::vector<formulation::Weighted> MakeTerms(sat::CadicalSolver& solver,
                                             const std::vector<int64_t>& weights) {
  std::vector<formulation::Weighted> terms;
  terms.reserve(weights.size());
  for (const int64_t weight : weights) terms.push_back({solver.NewVariable(), weight});
  return terms;
}

int64_t SumOf(const std::vector<int64_t>& weights, uint32_t chosen) {
  int64_t sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += ((chosen >> i) & 1U) != 0 ? weights[i] : 0;
  return sum;
}

TEST(SumAtMost, AllowsExactlyTheLightEnoughChoices) {
  const base::Stop stop;
  base::Random random(3);
  for (int draw = 0; draw < 60; ++draw) {
    std::vector<int64_t> weights;
    for (int64_t i = random.Uniform(0, 6); i > 0; --i)
      weights.push_back(random.Uniform(1, draw % 2 == 0 ? 3 : 20));
    const int64_t limit = random.Uniform(0, 30);
    sat::CadicalSolver solver(0, 10'000);
    const std::vector<formulation::Weighted> terms = MakeTerms(solver, weights);
    ASSERT_TRUE(formulation::AddSumAtMost(solver, terms, limit, kMostNodes));
    for (uint32_t chosen = 0; chosen < (1U << weights.size()); ++chosen) {
      std::vector<formulation::Literal> choice;
      for (size_t i = 0; i < terms.size(); ++i)
        choice.push_back(((chosen >> i) & 1U) != 0 ? terms[i].literal : ~terms[i].literal);
      const bool allowed =
          solver.Decide(choice, {}, stop).verdict == formulation::Satisfiability::kSatisfiable;
      EXPECT_EQ(allowed, SumOf(weights, chosen) <= limit)
          << "draw " << draw << ", choice " << chosen;
    }
  }
}

TEST(SumAtMost, EqualWeightsShareNodes) {
  sat::CadicalSolver solver(0, 10'000);
  const std::vector<formulation::Weighted> terms = MakeTerms(solver, std::vector<int64_t>(20, 7));
  EXPECT_TRUE(formulation::AddSumAtMost(solver, terms, 35, 120))
      << "20 levels with six counts each";
}

TEST(SumAtMost, SaysNothingBeyondTheNodesAllowed) {
  sat::CadicalSolver solver(0, 10'000);
  std::vector<int64_t> weights(20, 1);
  for (size_t i = 1; i < weights.size(); ++i) weights[i] = 2 * weights[i - 1];
  const std::vector<formulation::Weighted> terms = MakeTerms(solver, weights);
  const formulation::TopicCounts before = solver.Counts();
  EXPECT_FALSE(formulation::AddSumAtMost(solver, terms, 333'333, 10));
  EXPECT_EQ(solver.Counts(), before);
}

TEST(SumAtMost, ConstantsUseUpTheLimit) {
  const base::Stop stop;
  sat::CadicalSolver solver(0, 10'000);
  const formulation::Literal a = solver.NewVariable();
  const std::vector<formulation::Weighted> terms = {
      {formulation::kTrue, 5}, {a, 4}, {formulation::kFalse, 100}};
  formulation::AddSumAtMost(solver, terms, 8, kMostNodes);
  EXPECT_EQ(solver.Decide({}, {}, stop).verdict, formulation::Satisfiability::kSatisfiable);
  EXPECT_EQ(solver.Decide(std::vector{a}, {}, stop).verdict,
            formulation::Satisfiability::kUnsatisfiable);
  formulation::AddSumAtMost(solver, terms, 4, kMostNodes);
  EXPECT_EQ(solver.Decide({}, {}, stop).verdict, formulation::Satisfiability::kUnsatisfiable);
}

}  // namespace
}  // namespace tessera::encoder
