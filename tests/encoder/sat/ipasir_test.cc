// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>

#include "../../draws.h"
#include "brute_force.h"
#include "random_problem.h"
#include "tessera/encoder/sat/ipasir_engine.h"
#include "tessera/problem/validator.h"

// A solver behind IPASIR answers like any other. The build chooses the library.
namespace tessera::encoder {
namespace {

class IpasirSolverTest : public testing::Test {
 protected:
  formulation::Answer Decide(std::vector<formulation::Literal> assumptions,
                             int64_t budget = 1'000'000) {
    return solver_.Decide(assumptions, {budget}, stop_);
  }

  // 8 pigeons, each in one of 7 holes: unsatisfiable, and only a search proves it.
  void AddPigeons() {
    std::array<std::array<formulation::Literal, 7>, 8> sits;
    for (auto& pigeon : sits) {
      for (formulation::Literal& hole : pigeon) hole = solver_.NewVariable();
      solver_.Add(pigeon);
    }
    for (size_t hole = 0; hole < 7; ++hole) {
      for (size_t a = 0; a < 8; ++a) {
        for (size_t b = a + 1; b < 8; ++b) solver_.Add({~sits[a][hole], ~sits[b][hole]});
      }
    }
  }

  sat::IpasirSolver solver_{1'000'000};
  base::Stop stop_;
};

TEST_F(IpasirSolverTest, KnowsTheConstant) {
  ASSERT_EQ(Decide({}).verdict, formulation::Satisfiability::kSatisfiable);
  EXPECT_TRUE(solver_.IsTrue(formulation::kTrue));
  EXPECT_FALSE(solver_.IsTrue(formulation::kFalse));
}

TEST_F(IpasirSolverTest, AssumptionsHoldForOneDecideOnly) {
  const formulation::Literal a = solver_.NewVariable();
  const formulation::Literal b = solver_.NewVariable();
  solver_.Add({a, b});
  EXPECT_EQ(Decide({~a, ~b}).verdict, formulation::Satisfiability::kUnsatisfiable);
  ASSERT_EQ(Decide({~a}).verdict, formulation::Satisfiability::kSatisfiable);
  EXPECT_TRUE(solver_.IsTrue(b));
  EXPECT_TRUE(solver_.IsTrue(~a));
}

TEST_F(IpasirSolverTest, ForgetsItsModelWhenAClauseIsAdded) {
  const formulation::Literal a = solver_.NewVariable();
  solver_.Add({a});
  ASSERT_EQ(Decide({}).verdict, formulation::Satisfiability::kSatisfiable);
  EXPECT_TRUE(solver_.IsTrue(a));
  solver_.Add({a, formulation::kFalse});
  EXPECT_FALSE(solver_.IsTrue(a));
}

TEST_F(IpasirSolverTest, AVariableThatNoClauseNamesIsFalse) {
  const formulation::Literal unused = solver_.NewVariable();
  ASSERT_EQ(Decide({}).verdict, formulation::Satisfiability::kSatisfiable);
  EXPECT_FALSE(solver_.IsTrue(unused));
}

TEST_F(IpasirSolverTest, AnEmptyClauseIsAContradiction) {
  solver_.Add({});
  EXPECT_EQ(Decide({}).verdict, formulation::Satisfiability::kUnsatisfiable);
}

TEST_F(IpasirSolverTest, TheBudgetEndsTheWork) {
  AddPigeons();
  EXPECT_EQ(Decide({}, 0).verdict, formulation::Satisfiability::kUnknown);
  const formulation::Answer cut_off = Decide({}, 5);
  EXPECT_EQ(cut_off.verdict, formulation::Satisfiability::kUnknown);
  EXPECT_EQ(cut_off.reason, "the budget of conflicts is spent");
  EXPECT_EQ(Decide({}).verdict, formulation::Satisfiability::kUnsatisfiable);
}

TEST_F(IpasirSolverTest, AStopEndsTheWork) {
  AddPigeons();
  stop_.Request();
  const formulation::Answer answer = Decide({});
  EXPECT_EQ(answer.verdict, formulation::Satisfiability::kUnknown);
  EXPECT_EQ(answer.reason, "stopped");
}

TEST(IpasirEngineTest, AgreesWithEnumeration) {
  ASSERT_FALSE(sat::IpasirEngine::Signature().empty());
  base::Random random(11);
  const sat::IpasirEngine order({.encoding = sat::IntegerEncoding::kOrder});
  const sat::IpasirEngine bits({.encoding = sat::IntegerEncoding::kBits});
  const base::Stop stop;
  constexpr int kProblems = DrawsOf(150);
  int infeasible = 0;
  for (int i = 0; i < kProblems; ++i) {
    SCOPED_TRACE(i);
    const problem::Problem problem = DrawProblem(random);
    const problem::Bytes capacity = problem.memories[0].capacity;
    const bool feasible = Enumerate(problem, capacity).has_value();
    infeasible += feasible ? 0 : 1;
    for (const problem::Engine* engine : {&order, &bits}) {
      const problem::Result result = engine->Open(problem, nullptr)->Solve(0, capacity, {}, stop);
      ASSERT_EQ(result.status,
                feasible ? problem::Status::kFeasible : problem::Status::kInfeasible);
      EXPECT_EQ(result.engine, "ipasir");
      if (feasible) {
        EXPECT_TRUE(problem::Validate(problem, *result.allocation, capacity).empty());
      }
    }
  }
  EXPECT_GE(infeasible, LeastOf(37));
}

}  // namespace
}  // namespace tessera::encoder
