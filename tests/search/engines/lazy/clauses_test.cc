// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <span>
#include <string>
#include <vector>

#include "tessera/search/engines/lazy/clause_learning.h"
#include "tessera/search/engines/lazy/solver.h"

// Clauses that the caller adds. They state conditions that a Problem cannot state to this solver.

namespace tessera::search::engines::lazy {
namespace {

using problem::Problem;

Problem MakePair() {
  Problem problem;
  problem.memories.resize(1);
  for (const problem::Bytes size : {5, 3}) {
    problem::Buffer buffer;
    buffer.id = std::to_string(size);
    buffer.size = size;
    buffer.lifespans = {{0, 2}};
    problem.buffers.push_back(buffer);
  }
  return problem;
}

// Two buffers of 5 and 3 units in 8: one of them lies at 0.
class CallersClauses : public testing::Test {
 protected:
  Solver::SolveOutcome Solve(std::vector<BoundLiteral> assumptions = {}) {
    return solver_.Solve(assumptions, {}, {});
  }
  void Add(std::vector<BoundLiteral> clause) { solver_.AddClause(clause); }

  const Packing packing_ = *MakePacking(MakePair(), nullptr, {});
  Solver solver_{packing_, {.bottom_left = true}, {{5, 3}, {8}}};
};

TEST_F(CallersClauses, DecideWhoLiesBelow) {
  Add({{0, 1}});
  EXPECT_EQ(Solve(), Solver::SolveOutcome::kFeasible);
  EXPECT_EQ(solver_.OffsetOf(0), 3);
  EXPECT_EQ(solver_.OffsetOf(1), 0);
}

TEST_F(CallersClauses, LinkBooleansToOffsets) {
  const int raised = solver_.AddBoolean();
  Add({OrderLiteral(2 * raised + 1), {2, 5}});
  EXPECT_EQ(Solve({OrderLiteral(2 * raised)}), Solver::SolveOutcome::kFeasible);
  EXPECT_EQ(solver_.OffsetOf(1), 5);
  Add({OrderLiteral(2 * raised + 1), {0, 1}});
  EXPECT_EQ(Solve({OrderLiteral(2 * raised)}), Solver::SolveOutcome::kInfeasible);
  EXPECT_EQ(Solve(), Solver::SolveOutcome::kFeasible);
}

TEST_F(CallersClauses, OfTwoBoundsOnOneViewTheWeakerCounts) {
  Add({{0, 3}, {0, 100}});
  EXPECT_EQ(Solve(), Solver::SolveOutcome::kFeasible);
  EXPECT_EQ(solver_.OffsetOf(0), 3);
}

TEST_F(CallersClauses, AnEmptyOneRefutesEveryQuestion) {
  Add({});
  EXPECT_EQ(Solve(), Solver::SolveOutcome::kInfeasible);
  solver_.Ask({{1, 1}, {8}});
  EXPECT_EQ(Solve(), Solver::SolveOutcome::kInfeasible);
}

TEST_F(CallersClauses, OutliveAChangeOfSizes) {
  Add({{0, 1}});
  solver_.Ask({{2, 2}, {8}});
  EXPECT_EQ(Solve(), Solver::SolveOutcome::kFeasible);
  EXPECT_GE(solver_.OffsetOf(0), 1);
}

TEST_F(CallersClauses, OutliveAQuestionThatTheyContradict) {
  Add({{0, 1}, {2, 4}});
  solver_.Ask({{5, 3}, {3}});
  EXPECT_EQ(Solve(), Solver::SolveOutcome::kInfeasible);
  solver_.Ask({{5, 3}, {8}});
  EXPECT_EQ(Solve({{1, 0}, {3, -5}}), Solver::SolveOutcome::kFeasible);
  EXPECT_EQ(Solve({{1, 0}, {3, -3}}), Solver::SolveOutcome::kInfeasible);
}

TEST(CallersClausesAboutInterchangeableBuffers, EndTheOrderThatSymmetryAskedFor) {
  problem::Problem problem = MakePair();
  for (problem::Buffer& buffer : problem.buffers) buffer.size = 1;
  const Packing packing = *MakePacking(problem, nullptr, {});
  Solver solver(packing, {}, {{1, 1}, {2}});
  ASSERT_EQ(solver.Solve({}, {}, {}), Solver::SolveOutcome::kFeasible);
  ASSERT_EQ(solver.OffsetOf(0), 0);
  const BoundLiteral raised{0, 1};
  solver.AddClause(std::span(&raised, 1));
  ASSERT_EQ(solver.Solve({}, {}, {}), Solver::SolveOutcome::kFeasible);
  EXPECT_EQ(solver.OffsetOf(0), 1);
}

TEST(Implies, LargerBuffersUnderLowerCeilingsDo) {
  const PackingQuery loose{{2, 3}, {10}};
  EXPECT_TRUE(Implies({{2, 4}, {9}}, loose, true));
  EXPECT_FALSE(Implies({{2, 2}, {9}}, loose, true));
  EXPECT_FALSE(Implies({{2, 3}, {11}}, loose, true));
  EXPECT_FALSE(Implies({{2, 4}, {10}}, loose, false));
}

}  // namespace
}  // namespace tessera::search::engines::lazy
