// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/cardinality.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "tessera/encoder/sat/cadical_engine.h"

namespace tessera::encoder {
namespace {

// Every choice of up to six literals against every limit.
TEST(AtMost, AllowsExactlyTheSmallEnoughChoices) {
  const base::Stop stop;
  for (int count = 0; count <= 6; ++count) {
    for (int most = 0; most <= count; ++most) {
      sat::CadicalSolver solver(0, 10'000);
      std::vector<formulation::Literal> literals;
      for (int i = 0; i < count; ++i) literals.push_back(solver.NewVariable());
      formulation::AddAtMost(solver, literals, most);
      for (uint32_t chosen = 0; chosen < (1U << static_cast<unsigned>(count)); ++chosen) {
        std::vector<formulation::Literal> choice;
        for (size_t i = 0; i < literals.size(); ++i)
          choice.push_back(((chosen >> i) & 1U) != 0 ? literals[i] : ~literals[i]);
        const bool allowed =
            solver.Decide(choice, {}, stop).verdict == formulation::Satisfiability::kSatisfiable;
        EXPECT_EQ(allowed, std::popcount(chosen) <= most) << count << " literals, at most " << most;
      }
    }
  }
}

TEST(AtMost, ConstantsUseUpTheLimit) {
  const base::Stop stop;
  sat::CadicalSolver solver(0, 10'000);
  const formulation::Literal a = solver.NewVariable();
  const std::vector<formulation::Literal> literals = {formulation::kTrue, a, formulation::kFalse};
  formulation::AddAtMost(solver, literals, 1);
  EXPECT_EQ(solver.Decide(std::vector{a}, {}, stop).verdict,
            formulation::Satisfiability::kUnsatisfiable);
  formulation::AddAtMost(solver, literals, 0);
  EXPECT_EQ(solver.Decide({}, {}, stop).verdict, formulation::Satisfiability::kUnsatisfiable);
}

}  // namespace
}  // namespace tessera::encoder
