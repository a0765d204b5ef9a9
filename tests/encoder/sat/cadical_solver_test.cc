// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "tessera/encoder/sat/cadical_engine.h"

namespace tessera::encoder {
namespace {

class CadicalSolverContract : public testing::Test {
 protected:
  formulation::Satisfiability Decide(std::vector<formulation::Literal> assumptions = {}) {
    return solver_.Decide(assumptions, {}, stop_).verdict;
  }

  // n + 1 pigeons, n holes: short to write, long to refute.
  void AddPigeons(int holes) {
    std::vector<std::vector<formulation::Literal>> sits;
    for (int pigeon = 0; pigeon <= holes; ++pigeon) {
      sits.emplace_back();
      for (int hole = 0; hole < holes; ++hole) sits.back().push_back(solver_.NewVariable());
      solver_.Add(sits.back());
      for (int other = 0; other < pigeon; ++other) {
        for (size_t hole = 0; hole < sits.back().size(); ++hole) {
          solver_.Add({~sits.back()[hole], ~sits[static_cast<size_t>(other)][hole]});
        }
      }
    }
  }

  sat::CadicalSolver solver_{0, 1'000'000};
  base::Stop stop_;
};

TEST_F(CadicalSolverContract, KnowsTheConstant) {
  EXPECT_EQ(Decide(), formulation::Satisfiability::kSatisfiable);
  EXPECT_EQ(solver_.ValueOf(formulation::kTrue), true);
  EXPECT_EQ(solver_.ValueOf(formulation::kFalse), false);
  EXPECT_EQ(Decide({formulation::kFalse}), formulation::Satisfiability::kUnsatisfiable);
}

TEST_F(CadicalSolverContract, ValuesOnlyWithAModel) {
  const formulation::Literal a = solver_.NewVariable();
  EXPECT_EQ(solver_.ValueOf(a), std::nullopt) << "before Decide";
  solver_.Add({a});
  EXPECT_EQ(Decide(), formulation::Satisfiability::kSatisfiable);
  EXPECT_EQ(solver_.ValueOf(a), true);
  solver_.Add({a, solver_.NewVariable()});
  EXPECT_EQ(solver_.ValueOf(a), std::nullopt) << "after Add";
  EXPECT_EQ(Decide({~a}), formulation::Satisfiability::kUnsatisfiable);
  EXPECT_EQ(solver_.ValueOf(a), std::nullopt) << "after a refutation";
}

TEST_F(CadicalSolverContract, FailedNamesTheAssumptionsThatCollide) {
  const formulation::Literal a = solver_.NewVariable();
  const formulation::Literal b = solver_.NewVariable();
  const formulation::Literal c = solver_.NewVariable();
  EXPECT_EQ(solver_.Failed(a), std::nullopt) << "before Decide";
  solver_.Add({~a, ~b});
  EXPECT_EQ(Decide({c, a, b}), formulation::Satisfiability::kUnsatisfiable);
  EXPECT_EQ(solver_.Failed(a), true);
  EXPECT_EQ(solver_.Failed(b), true);
  EXPECT_EQ(solver_.Failed(c), false);
  EXPECT_EQ(solver_.Failed(~a), std::nullopt) << "never assumed";
}

TEST_F(CadicalSolverContract, AssumptionsHoldForOneDecideOnly) {
  const formulation::Literal a = solver_.NewVariable();
  solver_.Add({a});
  EXPECT_EQ(Decide({~a}), formulation::Satisfiability::kUnsatisfiable);
  EXPECT_EQ(Decide(), formulation::Satisfiability::kSatisfiable);
}

TEST_F(CadicalSolverContract, AForeignLiteralMakesEveryAnswerUnknown) {
  solver_.Add({formulation::Literal(77)});
  EXPECT_EQ(Decide(), formulation::Satisfiability::kUnknown);
}

TEST_F(CadicalSolverContract, AForeignAssumptionIsRefused) {
  EXPECT_EQ(Decide({formulation::Literal(77)}), formulation::Satisfiability::kUnknown);
}

TEST_F(CadicalSolverContract, AnEmptyClauseIsAContradiction) {
  solver_.Add({});
  EXPECT_EQ(Decide(), formulation::Satisfiability::kUnsatisfiable);
}

TEST_F(CadicalSolverContract, ClausesBeyondTheLimitMakeItFull) {
  sat::CadicalSolver small(0, 2);
  const formulation::Literal a = small.NewVariable();
  small.Add({a});
  small.Add({formulation::kTrue, a});
  small.Add({a, ~a});
  small.Add({~a, small.NewVariable()});
  EXPECT_FALSE(small.Full());
  small.Add({~a});
  EXPECT_TRUE(small.Full());
}

TEST_F(CadicalSolverContract, TheBudgetOfConflictsHoldsForOneCall) {
  AddPigeons(6);
  const formulation::Answer cut = solver_.Decide({}, {.units = 5}, stop_);
  EXPECT_EQ(cut.verdict, formulation::Satisfiability::kUnknown);
  EXPECT_LE(cut.conflicts, 6);
  EXPECT_EQ(solver_.Decide({}, {.units = 0}, stop_).verdict, formulation::Satisfiability::kUnknown);
  EXPECT_EQ(Decide(), formulation::Satisfiability::kUnsatisfiable);
}

TEST_F(CadicalSolverContract, AStopEndsTheWork) {
  AddPigeons(14);
  stop_.Request();
  EXPECT_EQ(Decide(), formulation::Satisfiability::kUnknown);
}

}  // namespace
}  // namespace tessera::encoder
