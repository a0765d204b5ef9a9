// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/refinements.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/encoder/formulation/address_constraints.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/validator.h"

// The effect of each refinement, on Problems small enough to see the cause.
namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Ladder;
using problem::Problem;
using problem::RelationKind;
using problem::Status;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

void Live(Problem& problem, Bytes size, problem::Step lower, problem::Step upper) {
  problem::Buffer& buffer = problem.buffers.emplace_back();
  buffer.id = "b" + std::to_string(problem.buffers.size() - 1);
  buffer.size = size;
  buffer.lifespans = {{lower, upper}};
}

Problem Memory(Bytes capacity) {
  Problem problem;
  problem.memories.emplace_back().capacity = capacity;
  return problem;
}

std::vector<std::vector<Bytes>> PositionsOf(const Problem& problem,
                                            const Ladder* ladder = nullptr) {
  return formulation::FindNormalPositions(problem, ladder,
                                          formulation::FindAddressConstraints(problem, ladder),
                                          {problem.memories[0].capacity}, {});
}

TEST(NormalPositions, AreSumsOfSizesBelow) {
  Problem problem = Memory(20);
  Live(problem, 3, 0, 2);
  Live(problem, 5, 0, 2);
  EXPECT_THAT(PositionsOf(problem), ElementsAre(ElementsAre(0, 5), ElementsAre(0, 3)));
}

TEST(NormalPositions, RestOnlyOnWhatLivesAtTheSameTime) {
  Problem problem = Memory(20);
  Live(problem, 3, 0, 2);
  Live(problem, 17, 0, 1);
  Live(problem, 2, 5, 6);
  EXPECT_THAT(PositionsOf(problem),
              ElementsAre(ElementsAre(0, 17), ElementsAre(0, 3), ElementsAre(0)));
}

TEST(NormalPositions, RestOnBankBoundariesAndReservedBytes) {
  Problem problem = Memory(20);
  problem.memories[0].banks = {{"a", {0, 8}, {}}, {"b", {8, 20}, {}}};
  problem.memories[0].reserved = {{{11, 13}, "vectors"}};
  Live(problem, 4, 0, 1);
  EXPECT_THAT(PositionsOf(problem), ElementsAre(ElementsAre(0, 8, 13)));
}

TEST(NormalPositions, AreAligned) {
  Problem problem = Memory(30);
  Live(problem, 5, 0, 1);
  Live(problem, 3, 0, 1);
  problem.buffers[1].alignment = 8;
  EXPECT_THAT(PositionsOf(problem)[1], ElementsAre(0, 8));
}

TEST(NormalPositions, OfALadderServeEveryCandidate) {
  Problem problem = Memory(12);
  Live(problem, 1, 0, 1);
  Live(problem, 1, 0, 1);
  const Ladder ladder = {{{"small", {6, 5}}, {"large", {6, 6}}}};
  EXPECT_THAT(PositionsOf(problem, &ladder), ElementsAre(ElementsAre(0, 5, 6), ElementsAre(0, 6)));
}

TEST(NormalPositions, SayNothingWhereSumsAreDense) {
  Problem problem = Memory(10'000);
  for (const Bytes size : {1, 2, 4, 8, 16, 32, 64, 128}) Live(problem, size, 0, 1);
  EXPECT_THAT(PositionsOf(problem), testing::Each(IsEmpty()));
}

TEST(NormalPositions, SayNothingWhereARelationTies) {
  Problem problem = Memory(20);
  Live(problem, 3, 0, 1);
  Live(problem, 5, 2, 3);
  Live(problem, 7, 4, 5);
  problem.relations = {{RelationKind::kColocate, 0, 1, 4}};
  EXPECT_THAT(PositionsOf(problem), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(Symmetry, GroupsWhatIsInterchangeableForEveryCandidate) {
  Problem problem = Memory(20);
  for (int i = 0; i < 5; ++i) Live(problem, 2, 0, 3);
  problem.buffers[3].alignment = 4;
  Live(problem, 2, 0, 4);
  EXPECT_THAT(formulation::FindInterchangeable(problem, nullptr),
              ElementsAre(ElementsAre(0, 1, 2, 4)));
  const Ladder ladder = {{{"small", {1, 1, 1, 1, 1, 1}}, {"large", {2, 3, 2, 2, 3, 2}}}};
  EXPECT_THAT(formulation::FindInterchangeable(problem, &ladder),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 4)));
}

TEST(Symmetry, SparesWhatIsNamedOrFixed) {
  Problem problem = Memory(20);
  for (int i = 0; i < 5; ++i) Live(problem, 2, 0, 3);
  problem.buffers[0].offset = 4;
  problem.buffers[4].hint = 7;
  problem.relations = {{RelationKind::kSeparate, 1, 2, 0}};
  EXPECT_THAT(formulation::FindInterchangeable(problem, nullptr), ElementsAre(ElementsAre(4, 3)))
      << "hinted lower, so first";
}

// Five buffers of 4 in a row, three times, with nothing in between.
Problem ThreeBursts() {
  Problem problem = Memory(20);
  for (const problem::Step start : {0, 10, 20}) {
    for (int i = 0; i < 5; ++i) Live(problem, 4, start, start + 5);
  }
  return problem;
}

TEST(Decomposition, CutsWhereNothingLives) {
  const std::vector<formulation::Part> parts = formulation::FindParts(ThreeBursts(), nullptr);
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_THAT(parts[1].buffers, ElementsAre(5, 6, 7, 8, 9));
  EXPECT_THAT(parts[1].problem.buffers, SizeIs(5));
}

TEST(Decomposition, KeepsTogetherWhatSomethingTies) {
  Problem problem = ThreeBursts();
  problem.relations = {{RelationKind::kSeparate, 0, 14, 0}};
  EXPECT_THAT(formulation::FindParts(problem, nullptr), SizeIs(2));
  Live(problem, 1, 4, 11);
  EXPECT_THAT(formulation::FindParts(problem, nullptr), SizeIs(1));
}

TEST(Decomposition, SchedulesTieOnlyWhereTransitionsDo) {
  Problem problem = ThreeBursts();
  problem::Memory& memory = problem.memories[0];
  memory.banks = {{"a", {0, 20}, {}}};
  const problem::BankMode all{
      false, {{"", problem::AccessKind::kRead}, {"", problem::AccessKind::kWrite}}};
  memory.modes = {{"one", {all}}, {"two", {all}}};
  EXPECT_THAT(formulation::FindParts(problem, nullptr), SizeIs(3));
  memory.transitions.emplace();
  EXPECT_THAT(formulation::FindParts(problem, nullptr), SizeIs(1));
}

TEST(Decomposition, OnePartThatDoesNotFitRefutesTheWhole) {
  Problem problem = ThreeBursts();
  const sat::SatEngine engine;
  const base::Stop stop;
  EXPECT_EQ(engine.Open(problem, nullptr)->Solve(0, 20, {}, stop).status, Status::kFeasible);
  problem.memories[0].alignment = 5;  // the last no longer fits
  const problem::Result result = engine.Open(problem, nullptr)->Solve(0, 20, {}, stop);
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_EQ(result.lower_bound, 21);
}

// Problems laid end to end are decomposed again, and fit exactly when each part does.
TEST(Decomposition, PartsAnswerLikeTheWhole) {
  base::Random random(11);
  const base::Stop stop;
  const sat::SatEngine whole({.seed = 0, .refinements = formulation::Refinements::None()});
  const sat::SatEngine parts;
  int feasible = 0, apart = 0;
  for (int i = 0; i < 300; ++i) {
    Problem problem = DrawProblem(random);
    Problem again = problem;
    const int count = static_cast<int>(problem.buffers.size());
    for (problem::Buffer& buffer : again.buffers) {
      buffer.id += "'";
      for (problem::Lifespan& life : buffer.lifespans) life = {life.lower + 20, life.upper + 20};
      for (problem::Access& access : buffer.accesses) access.step += 20;
      problem.buffers.push_back(buffer);
    }
    for (problem::Relation relation : again.relations) {
      relation.first += count;
      relation.second += count;
      problem.relations.push_back(relation);
    }
    apart += formulation::FindParts(problem, nullptr).size() > 1 ? 1 : 0;
    const Bytes capacity = problem.memories[0].capacity;
    const problem::Result expected = whole.Open(problem, nullptr)->Solve(0, capacity, {}, stop);
    const problem::Result found = parts.Open(problem, nullptr)->Solve(0, capacity, {}, stop);
    EXPECT_EQ(found.status, expected.status) << "problem " << i;
    if (found.allocation) {
      EXPECT_THAT(problem::Validate(problem, *found.allocation, capacity), IsEmpty())
          << "problem " << i;
      ++feasible;
    }
  }
  EXPECT_GT(feasible, 60);
  EXPECT_GT(apart, 40);
}

}  // namespace
}  // namespace tessera::encoder
